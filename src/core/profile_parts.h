/* Shared by the profile*.c files only. */
#pragma once
#include "core/profile.h"

typedef struct ProfileKey {
    const char *key;
    const char *group, *name; /* where it stands in the settings; group "": at the top */
    double fallback;          /* of what is no checkpoint's; see profile_fallback */
    double min, max;
    bool is_whole;
} ProfileKey;

const ProfileKey *profile_key_row(unsigned value);
double profile_fallback(unsigned value);
bool profile_seed(const char *type, unsigned value, double *out);
double profile_sum(const json_t *object, const char *key);
double profile_average(const json_t *observed, const char *group, const char *key);
