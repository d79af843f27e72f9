/* Verification-first tracking: the checks of a plan, red before the work and green after it (B-192
 * to B-203).
 *
 * A table of moves (state, when, colour) -> state. The engine runs the commands; here is only what
 * their results mean. Pure. */
#pragma once
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    state             word         is green  meaning */
#define CHECK_STATES(X)                                                                            \
    X(CHECK_NEW, "new", false, "not run yet")                                                      \
    X(CHECK_RED, "red", false, "fails, as it should before the work")                              \
    X(CHECK_GREEN, "green", true, "passes")                                                        \
    X(CHECK_BROKEN, "broken", false, "could not be run, twice")                                    \
    X(CHECK_EARLY, "early", true, "passed before the work: it proves nothing")                     \
    X(CHECK_REGRESSED, "regressed", false, "was green and is not any more")                        \
    X(CHECK_APPROVED, "approved", true, "a person approved it")                                    \
    X(CHECK_WAITS, "waits", false, "waits for a person")

typedef enum CheckState {
#define X(state, word, green, help) state,
    CHECK_STATES(X)
#undef X
        CHECK_STATE_COUNT
} CheckState;

const char *check_state_word(CheckState state);
bool check_state_find(const char *word, CheckState *state);
bool check_state_is_green(CheckState state);

typedef enum Colour { COLOUR_GREEN, COLOUR_RED, COLOUR_BROKEN } Colour;

/* B-199: 0 green, 1 red, above 1 (or killed, or out of time) broken. */
Colour green_colour(int exit_code, bool is_timed_out);
/* A broken check is run once more. tries: runs so far. */
bool green_runs_again(Colour colour, unsigned tries);

typedef enum GreenWhen { GREEN_BASELINE, GREEN_WORK } GreenWhen; /* before the work; during it */

typedef struct GreenRow {
    const char *id;
    GreenWhen when;
    CheckState from;
    Colour colour;
    CheckState to;
    bool is_cycle;      /* one red-to-green cycle more (B-193) */
    bool is_regression; /* to be named (B-201) */
    const char *why;
} GreenRow;

/* Never NULL. */
const GreenRow *green_step(GreenWhen when, CheckState from, Colour colour);
const GreenRow *green_rows(size_t *count);

typedef struct GreenCheck {
    unsigned step;    /* of the plan, from 1 */
    const char *mode; /* "executable", "inspectable", "human" */
    CheckState state;
} GreenCheck;

typedef struct GreenTotals {
    unsigned total, green; /* cycles completed / total is green / total without the early ones */
    unsigned red, broken, early, regressed, waiting;
} GreenTotals;

/* The reviewer's word on an inspectable check (B-198), "approve" or "reject"; false: neither. */
bool green_inspected(const char *answer, Colour *colour);

GreenTotals green_totals(const GreenCheck *checks, size_t count);

/* The red baseline (B-200): "ok", "early" (some passed: flagged), "generation_failed" (the
 * plan has no check that can be run: the work goes on unrated); why is one sentence. */
typedef struct GreenBaseline {
    const char *word;
    char why[160];
} GreenBaseline;

GreenBaseline green_baseline(const GreenCheck *checks, size_t count);

/* Percent of the rated steps whose checks all went from red to green (B-65). Rated are steps with
 * executable checks that were not green before the work; a step with an inspectable check that the
 * reviewer refused is not full; -1 when no step can be rated. steps: finished ones; 0 all. */
int green_discipline(const GreenCheck *checks, size_t count, unsigned steps);

enum { GREEN_QUIET_STEPS = 3 };

typedef struct GreenTrend {
    unsigned quiet_steps; /* steps in a row without a new green */
    unsigned green_before, green_now;
    bool was_triggered; /* at most one such check */
} GreenTrend;

/* Why a check in between is due (B-194); NULL: none. */
const char *green_wants_check(const GreenTrend *trend);

/* A human check (B-202). answer "approve", "reject" or NULL; is_overdue: nobody answered in time.
 */
typedef struct HumanRow {
    const char *id;
    CheckState to;
    bool is_pending;     /* the work stops with (hil-pending) */
    bool is_inspectable; /* the reviewer judges it instead, flagged */
    const char *why;
} HumanRow;

const HumanRow *green_human(const char *answer, bool is_overdue);
