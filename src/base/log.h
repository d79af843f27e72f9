/* The developers' log: one line per fact, `event key=value`. Users get history rows instead. */
#pragma once
#include "base/macros.h"
#include <stdbool.h>

/* Opens (appends to) the file; NULL turns the log off, which is the start state. */
bool log_open(const char *path);
void log_line(const char *format, ...) PRINTF(1, 2);
void log_close(void);
