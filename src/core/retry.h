/* Retry: how long to wait before trying again. 1 s after a clean end, else 10 s doubled with each
 * attempt, up to a cap. Pure; no attempt number is too large. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { RETRY_CLEAN_MS = 1000, RETRY_FIRST_MS = 10000, RETRY_CAP_MS = 300000 };

/* attempt counts from 1; less is taken as 1. cap_ms limits both kinds. */
int64_t retry_delay_ms(int64_t attempt, bool is_clean, int64_t cap_ms);
