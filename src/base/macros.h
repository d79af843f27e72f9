/* Compiler attributes and small macros used by every room. */
#pragma once
#include <stddef.h>

#define NODISCARD __attribute__((warn_unused_result))
#define PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define UNUSED __attribute__((unused))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* For a result that changes nothing here: what failed is shown as missing. */
#define IGNORE(call)                                                                               \
    do {                                                                                           \
        if (call) {                                                                                \
        }                                                                                          \
    } while (0)
/* Ownership leaves with the caller: yields the pointer and clears the variable. */
#define TAKE(pointer)                                                                              \
    __extension__({                                                                                \
        __typeof__(pointer) taken_ = (pointer);                                                    \
        (pointer) = NULL;                                                                          \
        taken_;                                                                                    \
    })
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CLAMP(x, low, high) MIN(MAX(x, low), high)
