/* Times. Monotonic for durations, wall for display and records. Never called from core/. */
#pragma once
#include <stdint.h>

int64_t clock_wall_ms(void); /* since 1970 */
int64_t clock_mono_ms(void);
int64_t clock_mono_us(void);
/* "2026-11-15 05:46:28" in local time; buffer of 32 bytes. */
void clock_format(int64_t wall_ms, char out[32]);
/* "3 s", "4 min 10 s", "2 h 5 min"; buffer of 32 bytes. */
void clock_span(int64_t ms, char out[32]);
