/* Replays recorded events through a fresh machine and compares every decision. */
#pragma once
#include "base/err.h"
#include "base/json.h"

typedef struct ReplayResult {
    int64_t events;      /* replayed */
    int64_t differences; /* decisions that came out otherwise */
    json_t *first;       /* first difference {id, event, recorded, replayed} or NULL; owned */
} ReplayResult;

/* path: a file written by replay_save (JSON lines). */
bool replay_file(const char *path, ReplayResult *result, Err *err) NODISCARD;
bool replay_store(const char *database, ReplayResult *result, Err *err) NODISCARD;
bool replay_save(const char *database, const char *path, int64_t *events, Err *err) NODISCARD;
void replay_result_done(ReplayResult *result);
