/* Times: see clock.h. */
#include "base/clock.h"
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static int64_t read_us(clockid_t which)
{
    struct timespec now;
    (void)clock_gettime(which, &now); /* cannot fail for these clocks */
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_wall_ms(void)
{
    return read_us(CLOCK_REALTIME) / 1000;
}

int64_t clock_mono_ms(void)
{
    return read_us(CLOCK_MONOTONIC) / 1000;
}

int64_t clock_mono_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

void clock_format(int64_t wall_ms, char out[32])
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;
    if (!localtime_r(&seconds, &parts) || !strftime(out, 32, "%Y-%m-%d %H:%M:%S", &parts))
        (void)snprintf(out, 32, "%" PRId64 " ms", wall_ms); /* always fits */
}

void clock_span(int64_t ms, char out[32])
{
    int64_t s = ms / 1000;
    if (ms < 10000)
        (void)snprintf(out, 32, "%.1f s", (double)ms / 1000); /* always fits */
    else if (s < 60)
        (void)snprintf(out, 32, "%" PRId64 " s", s); /* always fits */
    else if (s < 3600)
        (void)snprintf(out, 32, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60); /* always fits */
    else
        (void)snprintf(out, 32, "%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60); /* fits */
}
