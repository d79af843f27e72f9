/* Retry delay: see retry.h. */
#include "core/retry.h"
#include "base/macros.h"

int64_t retry_delay_ms(int64_t attempt, bool is_clean, int64_t cap_ms)
{
    int64_t delay = is_clean ? RETRY_CLEAN_MS : RETRY_FIRST_MS;
    if (!is_clean) {
        for (int64_t n = 1; n < attempt && delay < cap_ms && delay <= INT64_MAX / 2; n++)
            delay *= 2;
    }
    return MIN(delay, cap_ms);
}
