/* Oid: the name of a git object, as text. Empty means none. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct Oid {
    char hex[65]; /* 40 or 64 lower-case hex digits, NUL */
} Oid;

/* The length is 40 or 64 and every byte a lower-case hex digit. */
static inline bool oid_is_hex(const char *text, size_t length)
{
    if (length != 40 && length != 64)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    return true;
}

/* Takes the name when it is one; otherwise the result is empty. */
static inline Oid oid_from(const char *text)
{
    Oid oid = {""};
    if (text && oid_is_hex(text, strlen(text)))
        memcpy(oid.hex, text, strlen(text) + 1);
    return oid;
}

static inline bool oid_is_set(const Oid *oid)
{
    return oid->hex[0] != '\0';
}

static inline bool oid_equal(const Oid *a, const Oid *b)
{
    return strcmp(a->hex, b->hex) == 0;
}
