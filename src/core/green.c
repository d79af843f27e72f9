/* Verification-first tracking: see green.h. */
#include "core/green.h"
#include "base/macros.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    bool is_green;
} states[] = {
#define X(state, text, green, help) [state] = {text, green},
    CHECK_STATES(X)
#undef X
};

const char *check_state_word(CheckState state)
{
    return states[state].word;
}

bool check_state_find(const char *word, CheckState *state)
{
    for (unsigned i = 0; word && i < CHECK_STATE_COUNT; i++) {
        if (strcmp(states[i].word, word) == 0) {
            *state = (CheckState)i;
            return true;
        }
    }
    return false;
}

bool check_state_is_green(CheckState state)
{
    return states[state].is_green;
}

Colour green_colour(int exit_code, bool is_timed_out)
{
    if (is_timed_out || exit_code < 0 || exit_code > 1)
        return COLOUR_BROKEN;
    return exit_code == 0 ? COLOUR_GREEN : COLOUR_RED;
}

bool green_runs_again(Colour colour, unsigned tries)
{
    return colour == COLOUR_BROKEN && tries < 2;
}

#define ANY CHECK_STATE_COUNT
#define CYCLE true
#define REGRESSION true
#define NO false

/* clang-format off */
static const GreenRow rows[] = { /* the first that fits */
  /* id               when            from             colour         to               cycle  regression  why */
  { "baseline-green", GREEN_BASELINE, ANY,             COLOUR_GREEN,  CHECK_EARLY,     NO,    NO,         "it passes before the work was done, so it proves nothing" },
  { "baseline-red",   GREEN_BASELINE, ANY,             COLOUR_RED,    CHECK_RED,       NO,    NO,         "it fails before the work, as it should" },
  { "baseline-broken", GREEN_BASELINE, ANY,            COLOUR_BROKEN, CHECK_BROKEN,    NO,    NO,         "it could not be run before the work" },
  { "cycle",          GREEN_WORK,     CHECK_RED,       COLOUR_GREEN,  CHECK_GREEN,     CYCLE, NO,         "it failed before and passes now" },
  { "mended",         GREEN_WORK,     CHECK_BROKEN,    COLOUR_GREEN,  CHECK_GREEN,     CYCLE, NO,         "it could not be run before and passes now" },
  { "recovered",      GREEN_WORK,     CHECK_REGRESSED, COLOUR_GREEN,  CHECK_GREEN,     NO,    NO,         "it is green again" },
  { "still-early",    GREEN_WORK,     CHECK_EARLY,     COLOUR_GREEN,  CHECK_EARLY,     NO,    NO,         "it passes, as it did before the work" },
  { "still-approved", GREEN_WORK,     CHECK_APPROVED,  COLOUR_GREEN,  CHECK_APPROVED,  NO,    NO,         "it was approved and passes" },
  { "green",          GREEN_WORK,     ANY,             COLOUR_GREEN,  CHECK_GREEN,     NO,    NO,         "it passes" },
  { "lost",           GREEN_WORK,     CHECK_GREEN,     COLOUR_RED,    CHECK_REGRESSED, NO,    REGRESSION, "it was green and fails now" },
  { "lost-early",     GREEN_WORK,     CHECK_EARLY,     COLOUR_RED,    CHECK_REGRESSED, NO,    REGRESSION, "it passed before the work and fails now" },
  { "lost-approved",  GREEN_WORK,     CHECK_APPROVED,  COLOUR_RED,    CHECK_REGRESSED, NO,    REGRESSION, "it was approved and fails now" },
  { "still-lost",     GREEN_WORK,     CHECK_REGRESSED, COLOUR_RED,    CHECK_REGRESSED, NO,    REGRESSION, "it was green once and still fails" },
  { "red",            GREEN_WORK,     ANY,             COLOUR_RED,    CHECK_RED,       NO,    NO,         "it fails" },
  { "lost-broken",    GREEN_WORK,     CHECK_GREEN,     COLOUR_BROKEN, CHECK_REGRESSED, NO,    REGRESSION, "it was green and cannot be run any more" },
  { "lost-early-broken", GREEN_WORK,  CHECK_EARLY,     COLOUR_BROKEN, CHECK_REGRESSED, NO,    REGRESSION, "it passed before the work and cannot be run any more" },
  { "lost-approved-broken", GREEN_WORK, CHECK_APPROVED, COLOUR_BROKEN, CHECK_REGRESSED, NO,   REGRESSION, "it was approved and cannot be run any more" },
  { "still-lost-broken", GREEN_WORK,  CHECK_REGRESSED, COLOUR_BROKEN, CHECK_REGRESSED, NO,    REGRESSION, "it was green once and cannot be run" },
  { "broken",         GREEN_WORK,     ANY,             COLOUR_BROKEN, CHECK_BROKEN,    NO,    NO,         "it could not be run, twice" },
};

static const HumanRow human_rows[] = {
  /* id             to              pending inspectable why */
  { "approved",     CHECK_APPROVED, false,  false, "a person approved it" },
  { "rejected",     CHECK_RED,      false,  false, "a person rejected it" },
  { "overdue",      CHECK_WAITS,    false,  true,  "nobody answered in time; the reviewer judges it, which is noted" },
  { "hil-pending",  CHECK_WAITS,    true,   false, "it waits for a person" },
};
/* clang-format on */

const GreenRow *green_step(GreenWhen when, CheckState from, Colour colour)
{
    const GreenRow *row = rows;
    while (row->when != when || row->colour != colour || (row->from != ANY && row->from != from))
        row++; /* each colour of each time ends with a row for any state */
    return row;
}

const GreenRow *green_rows(size_t *count)
{
    *count = COUNT(rows);
    return rows;
}

const HumanRow *green_human(const char *answer, bool is_overdue)
{
    if (answer && strcmp(answer, "approve") == 0)
        return &human_rows[0];
    if (answer && strcmp(answer, "reject") == 0)
        return &human_rows[1];
    return &human_rows[is_overdue ? 2 : 3];
}

bool green_inspected(const char *answer, Colour *colour)
{
    bool is_yes = answer && strcmp(answer, "approve") == 0;
    if (!is_yes && (!answer || strcmp(answer, "reject") != 0))
        return false;
    *colour = is_yes ? COLOUR_GREEN : COLOUR_RED;
    return true;
}

GreenTotals green_totals(const GreenCheck *checks, size_t count)
{
    GreenTotals totals = {.total = (unsigned)count};
    for (size_t i = 0; i < count; i++) {
        CheckState state = checks[i].state;
        totals.green += state == CHECK_GREEN || state == CHECK_APPROVED;
        totals.red += state == CHECK_RED || state == CHECK_NEW;
        totals.broken += state == CHECK_BROKEN;
        totals.early += state == CHECK_EARLY;
        totals.regressed += state == CHECK_REGRESSED;
        totals.waiting += state == CHECK_WAITS;
    }
    return totals;
}

static bool is_executable(const GreenCheck *check)
{
    return !check->mode || strcmp(check->mode, "executable") == 0;
}

/* The reviewer looked and said no. */
static bool is_refused(const GreenCheck *check)
{
    return check->mode && strcmp(check->mode, "inspectable") == 0 &&
           (check->state == CHECK_RED || check->state == CHECK_REGRESSED);
}

GreenBaseline green_baseline(const GreenCheck *checks, size_t count)
{
    unsigned total = 0, early = 0, broken = 0;
    GreenBaseline out = {.word = "ok"};
    for (size_t i = 0; i < count; i++) {
        total += is_executable(&checks[i]);
        early += is_executable(&checks[i]) && checks[i].state == CHECK_EARLY;
        broken += is_executable(&checks[i]) && checks[i].state == CHECK_BROKEN;
    }
    if (total == 0)
        out.word = "generation_failed";
    else if (early)
        out.word = "early";
    if (total == 0)
        (void)snprintf(out.why, sizeof out.why, "the plan has no check that can be run"); /* fits */
    else
        (void)snprintf(out.why, sizeof out.why,
                       "%u checks: %u red, %u green already, %u could not be run", total,
                       total - early - broken, early, broken); /* fits */
    return out;
}

/* A step is rated when it has checks that can be run and did not pass before the work: no work can
 * turn an early one green, so it would ask for the impossible. What the reviewer refused takes the
 * step back; nobody could see it red before the work, so its approval alone rates nothing. */
int green_discipline(const GreenCheck *checks, size_t count, unsigned steps)
{
    unsigned rated = 0, full = 0, last = 0;
    for (size_t i = 0; i < count; i++)
        last = MAX(last, checks[i].step);
    for (unsigned step = 1; step <= (steps ? MIN(steps, last) : last); step++) {
        unsigned have = 0, good = 0, refused = 0;
        for (size_t i = 0; i < count; i++) {
            bool is_here = checks[i].step == step && is_executable(&checks[i]) &&
                           checks[i].state != CHECK_EARLY;
            have += is_here;
            good += is_here && checks[i].state == CHECK_GREEN;
            refused += checks[i].step == step && is_refused(&checks[i]);
        }
        rated += have > 0;
        full += have > 0 && good == have && !refused;
    }
    return rated ? (int)(full * 100 / rated) : -1;
}

const char *green_wants_check(const GreenTrend *trend)
{
    if (trend->was_triggered)
        return NULL;
    if (trend->green_now < trend->green_before)
        return "fewer checks are green than before";
    return trend->quiet_steps >= GREEN_QUIET_STEPS
               ? "three steps in a row turned no check green: tests come first"
               : NULL;
}
