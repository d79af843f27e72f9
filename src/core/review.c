/* Must a person look? See review.h. */
#include "core/review.h"
#include "base/macros.h"
#include "core/excerpt.h"
#include <stdio.h>
#include <string.h>

static const char *const mode_words[] = {
#define X(mode, word, help) [mode] = word,
    REVIEW_MODES(X)
#undef X
};

static const char *const rule_words[] = {
#define X(rule, word, help) [rule] = word,
    REVIEW_RULES(X)
#undef X
};

static int word_index(const char *const *words, int count, const char *word)
{
    for (int i = 0; word && i < count; i++) {
        if (strcmp(words[i], word) == 0)
            return i;
    }
    return -1;
}

bool review_mode_find(const char *word, ReviewMode *mode)
{
    int i = word_index(mode_words, REVIEW_MODE_COUNT, word);
    if (i >= 0)
        *mode = (ReviewMode)i;
    return i >= 0;
}

const char *review_mode_word(ReviewMode mode)
{
    return mode_words[mode];
}

bool review_rule_find(const char *word, ReviewRule *rule)
{
    int i = word_index(rule_words, REVIEW_RULE_COUNT, word);
    if (i >= 0)
        *rule = (ReviewRule)i;
    return i >= 0;
}

const char *review_rule_word(ReviewRule rule)
{
    return rule_words[rule];
}

const char *review_need_word(ReviewNeed need)
{
    static const char *const words[] = {
        [REVIEW_NEED_NONE] = "none", [REVIEW_NEED_WAIT] = "wait", [REVIEW_NEED_BATCH] = "batch"};
    return words[need];
}

/* The most restrictive rule of the task's labels, the first label of the alphabet on a tie; NULL
 * when no rule names one of them (D-255). */
static const ReviewLabel *label_rule(const ReviewInput *in)
{
    const ReviewLabel *best = NULL;
    for (size_t i = 0; i < in->rule_count; i++) {
        const ReviewLabel *rule = &in->rules[i];
        bool is_ours = false;
        for (size_t j = 0; j < in->labels.count && !is_ours; j++)
            is_ours = strcmp(in->labels.items[j], rule->label) == 0;
        if (is_ours && (!best || rule->rule < best->rule ||
                        (rule->rule == best->rule && strcmp(rule->label, best->label) < 0)))
            best = rule;
    }
    return best;
}

/* D-254; NULL when all conditions hold. */
static const char *broken_condition(const ReviewInput *in)
{
    if (in->iterations > REVIEW_AUTO_ITERATIONS)
        return "it took more than 3 turns";
    if (!in->is_verified)
        return "its checks did not prove it";
    return in->was_stopped ? "it was blocked or had a question on the way" : NULL;
}

static bool guard_fired(const ReviewInput *in, const ReviewLabel *rule)
{
    (void)rule;
    return in->guards > 0;
}

static bool label_says(const ReviewLabel *rule, ReviewRule wanted)
{
    return rule && rule->rule == wanted;
}

static bool label_wait(const ReviewInput *in, const ReviewLabel *rule)
{
    (void)in;
    return label_says(rule, REVIEW_RULE_NO_AUTO) || label_says(rule, REVIEW_RULE_PER_TASK);
}

static bool label_batch(const ReviewInput *in, const ReviewLabel *rule)
{
    (void)in;
    return label_says(rule, REVIEW_RULE_BATCH);
}

static bool label_approve(const ReviewInput *in, const ReviewLabel *rule)
{
    return label_says(rule, REVIEW_RULE_AUTO_APPROVE) && !broken_condition(in);
}

static bool label_doubt(const ReviewInput *in, const ReviewLabel *rule)
{
    return label_says(rule, REVIEW_RULE_AUTO_APPROVE) && broken_condition(in);
}

static bool label_skip(const ReviewInput *in, const ReviewLabel *rule)
{
    (void)in;
    return label_says(rule, REVIEW_RULE_SKIP);
}

static bool mode_batch(const ReviewInput *in, const ReviewLabel *rule)
{
    (void)rule;
    return in->mode == REVIEW_MODE_BATCH;
}

static bool mode_per_task(const ReviewInput *in, const ReviewLabel *rule)
{
    (void)rule;
    return in->mode == REVIEW_MODE_PER_TASK;
}

static bool mode_skip(const ReviewInput *in, const ReviewLabel *rule)
{
    (void)rule;
    return in->mode == REVIEW_MODE_SKIP;
}

static bool always(const ReviewInput *in, const ReviewLabel *rule)
{
    (void)in;
    (void)rule;
    return true;
}

/* clang-format off */
static const struct ReviewRow {
    const char *id;
    bool (*holds)(const ReviewInput *in, const ReviewLabel *rule);
    ReviewNeed need;
    const char *why;
} rows[] = { /* the first that holds */
  { "guard",         guard_fired,   REVIEW_NEED_WAIT,  "a guard fired, and only a person can stand for it" },
  { "label-wait",    label_wait,    REVIEW_NEED_WAIT,  "its label asks for a person" },
  { "label-batch",   label_batch,   REVIEW_NEED_BATCH, "its label asks for the batch review" },
  { "label-approve", label_approve, REVIEW_NEED_NONE,  "its label approves it, and all conditions hold" },
  { "label-doubt",   label_doubt,   REVIEW_NEED_WAIT,  "its label would approve it, but" },
  { "label-skip",    label_skip,    REVIEW_NEED_NONE,  "its label asks for no review" },
  { "mode-batch",    mode_batch,    REVIEW_NEED_BATCH, "the review mode is batch" },
  { "mode-per-task", mode_per_task, REVIEW_NEED_WAIT,  "the review mode is per-task" },
  { "mode-skip",     mode_skip,     REVIEW_NEED_NONE,  "the review mode is skip" },
  { "mode-auto",     always,        REVIEW_NEED_NONE,  "the review mode is auto, no label asks for a person and no guard fired" },
};
/* clang-format on */

ReviewAnswer review_decide(const ReviewInput *input)
{
    const ReviewLabel *rule = label_rule(input);
    const struct ReviewRow *row = rows;
    CLEANUP(str_done) Str why = STR_INIT;
    while (!row->holds(input, rule))
        row++; /* the last row always holds */
    ReviewAnswer out = {.need = row->need, .row = row->id};
    str_add(&why, row->why);
    if (row->holds == label_doubt)
        str_addf(&why, " %s", broken_condition(input));
    if (rule && text_starts(row->id, "label")) {
        str_addf(&why, " (%s: '", review_rule_word(rule->rule));
        excerpt_add(&why, rule->label, 60);
        str_add(&why, "')");
    }
    excerpt_copy(out.why, sizeof out.why, str_text(&why));
    return out;
}
