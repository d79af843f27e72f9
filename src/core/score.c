/* Score: see score.h. */
#include "core/score.h"
#include "base/macros.h"
#include "base/str.h"

static const struct {
    const char *word, *help;
} names[SCORE_PART_COUNT] = {
#define X(part, word, help) [part] = {word, help},
    SCORE_PARTS(X)
#undef X
};

/* clang-format off */
static const struct { const char *word; uint8_t bit; ScorePart part; int32_t weight; } tags[] = {
  { "critical",  TAG_CRITICAL,  PART_CRITICAL,    50 },
  { "quick-win", TAG_QUICK_WIN, PART_QUICK_WIN,   30 },
  { "next",      TAG_NEXT,      PART_NEXT,       200 },
  { "later",     TAG_LATER,     PART_LATER,     -200 },
};
/* clang-format on */

enum {
    WEIGHT_UNBLOCKS = 10,
    WEIGHT_PARENT = 20,
    WEIGHT_RETRY = -15,
    WEIGHT_LEVEL = 100,
    LEVEL_PLAIN = 2, /* P2: a task without a priority */
    WEIGHT_WAITED = 50,
    WEIGHT_STARVED = 100,
};

const char *score_part_word(ScorePart part)
{
    return names[part].word;
}

const char *score_part_help(ScorePart part)
{
    return names[part].help;
}

uint8_t score_tag_bit(const char *tag)
{
    for (size_t i = 0; i < COUNT(tags); i++) {
        if (text_equal(tags[i].word, tag))
            return tags[i].bit;
    }
    return 0;
}

static void add(Score *score, ScorePart part, int32_t value)
{
    score->parts[part] += value;
    score->total += value;
}

static int32_t bounded(int64_t count)
{
    return (int32_t)MAX(0, MIN(count, SCORE_COUNT_MAX));
}

Score score_static(const ScoreInput *input)
{
    Score score = {0};
    add(&score, PART_UNBLOCKS, WEIGHT_UNBLOCKS * bounded(input->unblocks));
    for (size_t i = 0; i < COUNT(tags); i++) {
        if (input->tags & tags[i].bit)
            add(&score, tags[i].part, tags[i].weight);
    }
    /* More than half, without a product that could overflow. */
    if (input->parent_done > 0 && input->parent_done > input->parent_total - input->parent_done)
        add(&score, PART_PARENT, WEIGHT_PARENT);
    add(&score, PART_RETRIES, WEIGHT_RETRY * bounded(input->retries));
    if (input->priority != PRIORITY_NONE)
        add(&score, PART_PRIORITY, (LEVEL_PLAIN - (int32_t)input->priority) * WEIGHT_LEVEL);
    return score;
}

static int32_t age_points(int64_t minutes)
{
    return (int32_t)MAX(0, MIN(minutes, AGE_MAX_MINUTES));
}

static int32_t waited_points(int64_t minutes)
{
    return minutes >= AGE_BONUS_MINUTES ? WEIGHT_WAITED : 0;
}

static int32_t starved_points(int64_t cycles)
{
    return cycles >= STARVED_CYCLES ? WEIGHT_STARVED : 0;
}

void score_age(Score *score, int64_t waited_minutes, int64_t missed_cycles)
{
    add(score, PART_AGE, age_points(waited_minutes));
    add(score, PART_WAITED, waited_points(waited_minutes));
    add(score, PART_STARVED, starved_points(missed_cycles));
}

int32_t score_age_bonus(int64_t waited_minutes, int64_t missed_cycles)
{
    return age_points(waited_minutes) + waited_points(waited_minutes) +
           starved_points(missed_cycles);
}

int64_t score_ready_minute(int64_t ready_ms)
{
    return ready_ms / 60000 + (ready_ms % 60000 > 0);
}

int64_t score_minutes_waited(int64_t ready_ms, int64_t now_ms)
{
    return MAX(0, now_ms / 60000 - score_ready_minute(ready_ms));
}
