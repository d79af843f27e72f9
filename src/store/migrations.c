/* The schema, step by step. */
#include "store/migrations.h"
#include "core/event.h"
#include "core/signal.h"
#include "store/flow.h"
#include <assert.h>

#define LONGER "the list changed: see the comment in store/migrations.h"
static_assert(TASK_STATE_COUNT == V1_TASK_STATES, LONGER);
static_assert(RUN_STATE_COUNT == V2_RUN_STATES, LONGER);
static_assert(NEED_COUNT == V1_NEEDS, LONGER);
static_assert(AUTO_STATE_COUNT == V1_AUTO_STATES, LONGER);
static_assert(STOP_WISH_COUNT == V2_STOPS, LONGER);
/* an answer is a record and never the control signal of a turn, so no column takes it */
static_assert(SIGNAL_TYPE_COUNT == V1_SIGNALS + 1 && SIGNAL_RESULT == V1_SIGNALS, LONGER);
static_assert(EVENT_COUNT == V2_EVENTS, LONGER);
static_assert(SUBSTATE_COUNT == V2_SUBSTATES, LONGER);
static_assert(RECORD_KIND_COUNT == V2_RECORD_KINDS, LONGER);

const char *const store_migrations[] = {
    store_v1,
    store_v2,
};

const int store_migration_count = (int)COUNT(store_migrations);
