/* The parts of the floor program. */
#pragma once
#include "base/macros.h"
#include <stdbool.h>

bool floor_fail(const char *what); /* prints errno; always false */
bool floor_fill(const char *folder, unsigned tasks);
bool floor_engine(const char *folder, unsigned tasks, unsigned slots, const char *program);
bool floor_pidfds(const char *path);
