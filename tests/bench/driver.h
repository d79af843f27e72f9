/* The real decisions on the real store, without processes: every effect is answered at once by the
 * event that an ideal world would report. */
#pragma once
#include "base/err.h"

typedef struct Driver Driver;

typedef struct DriverSpec {
    const char *path; /* of the database */
    unsigned tasks, edges, slots;
} DriverSpec;

/* Stores and loads the tasks, then starts the autopilot. NULL: see err. */
Driver *driver_new(const DriverSpec *spec, Err *err) NODISCARD;
void driver_free(Driver *driver);
/* One event: decided, and its rows put into the open transaction (begun when there is none). */
bool driver_step(Driver *driver, Err *err) NODISCARD;
bool driver_commit(Driver *driver, Err *err) NODISCARD;
unsigned driver_done(const Driver *driver); /* tasks that are done */
