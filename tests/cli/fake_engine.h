/* A stand-in for the engine: the server and the caller are tested against it. */
#pragma once
#include "engine/api.h"
#include "engine/engine.h"

typedef struct FakeEngine {
    int calls;
    char last[256];     /* "METHOD path?query token=... body=..." of the last request */
    int stored;         /* events 1..stored exist */
    size_t event_bytes; /* how large each is */
    EngineListener *listener;
    void *user;
    bool with_output;
    int listen_count; /* listeners now */
} FakeEngine;

extern FakeEngine fake;
void fake_publish(const char *json);
