/* Rows of store/flow.h with a value in every field, for files that must be read for ever: what
 * flow_write wrote is never changed, or the fixtures do not fit any more. */
#pragma once
#include "tests/store/support.h"

/* A row or more in every table: of project 1, task 1, run 1. */
void flow_write(Store *store);
/* All of it is there; the file knows this many kinds of records, each with its word. */
void flow_assert(Store *store, Arena *arena, unsigned record_kinds);
/* Nothing of it is there, as in a file that an older version wrote. */
void flow_assert_empty(Store *store, Arena *arena);
