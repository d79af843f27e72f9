/* Which process: a pid alone is reused, pid + start time + boot is not (T15).
 *
 * Reads /proc. Three answers, and a probe that fails is "unknown", never "dead" (T16). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct ProcIdent {
    pid_t pid;
    uint64_t start_ticks; /* field 22 of /proc/PID/stat; 0: not known */
    char boot_id[37];     /* of the kernel; "": not known */
} ProcIdent;

typedef enum ProcLife {
    PROC_UNKNOWN,
    PROC_ALIVE,
    PROC_DEAD, /* gone, a zombie, another process by now, or of an earlier boot */
} ProcLife;

bool ident_of(pid_t pid, ProcIdent *ident); /* false: no such process, or it cannot be read */
/* From parts that were stored or reported; the boot is the present one. */
ProcIdent ident_from(pid_t pid, uint64_t start_ticks);
ProcLife ident_is_alive(const ProcIdent *ident);
