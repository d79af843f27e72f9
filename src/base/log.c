/* The developers' log: see log.h. */
#include "base/log.h"
#include "base/clock.h"
#include <stdarg.h>
#include <stdio.h>

static FILE *out; /* the one log of the process; everything else takes it from here */

bool log_open(const char *path)
{
    log_close();
    out = path ? fopen(path, "ae") : NULL;
    return out || !path;
}

void log_line(const char *format, ...)
{
    if (!out)
        return;
    char stamp[32];
    clock_format(clock_wall_ms(), stamp);
    (void)fprintf(out, "%s ", stamp); /* a full disk must not stop the engine */
    va_list args;
    va_start(args, format);
    (void)vfprintf(out, format, args); /* see above */
    va_end(args);
    (void)fputc('\n', out); /* see above */
    (void)fflush(out);      /* see above */
}

void log_close(void)
{
    if (out)
        (void)fclose(out); /* nothing to be done about it */
    out = NULL;
}
