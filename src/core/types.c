/* Words of the enumerations: see types.h and effect.h. */
#include "core/types.h"
#include "base/macros.h"
#include "base/str.h"
#include "core/effect.h"

static const char *const task_words[] = {
#define X(state, word, help) [state] = word,
    TASK_STATES(X)
#undef X
};
static const char *const need_words[] = {
#define X(need, word, help) [need] = word,
    NEEDS(X)
#undef X
};
static const char *const auto_words[] = {
#define X(state, word, help) [state] = word,
    AUTO_STATES(X)
#undef X
};
static const char *const substate_words[] = {
#define X(sub, word, help) [sub] = word,
    SUBSTATES(X)
#undef X
};
static const char *const effect_words[] = {
#define X(effect, word, help) [effect] = word,
    EFFECTS(X)
#undef X
};

typedef struct RunStateRow {
    const char *word;
    bool holds_slot;
    EffectKind owes;
} RunStateRow;

static const RunStateRow run_rows[] = {
#define X(state, word, slot, effect, help) [state] = {word, slot, effect},
    RUN_STATES(X)
#undef X
};

static bool find(const char *const *words, unsigned count, const char *word, unsigned *index)
{
    for (unsigned i = 0; i < count; i++)
        if (text_equal(words[i], word)) {
            *index = i;
            return true;
        }
    return false;
}

const char *task_state_word(TaskState state)
{
    return task_words[state];
}

bool task_state_find(const char *word, TaskState *state)
{
    unsigned index;
    if (!find(task_words, COUNT(task_words), word, &index))
        return false;
    *state = (TaskState)index;
    return true;
}

const char *substate_word(Substate sub)
{
    return substate_words[sub];
}

bool substate_find(const char *word, Substate *sub)
{
    unsigned index;
    if (!find(substate_words, COUNT(substate_words), word, &index))
        return false;
    *sub = (Substate)index;
    return true;
}

const char *need_word(Need need)
{
    return need_words[need];
}

bool need_find(const char *word, Need *need)
{
    unsigned index;
    if (!find(need_words, COUNT(need_words), word, &index))
        return false;
    *need = (Need)index;
    return true;
}

const char *auto_state_word(AutoState state)
{
    return auto_words[state];
}

bool auto_state_find(const char *word, AutoState *state)
{
    unsigned index;
    if (!find(auto_words, COUNT(auto_words), word, &index))
        return false;
    *state = (AutoState)index;
    return true;
}

const char *run_state_word(RunState state)
{
    return run_rows[state].word;
}

bool run_state_find(const char *word, RunState *state)
{
    for (unsigned i = 0; i < COUNT(run_rows); i++)
        if (text_equal(run_rows[i].word, word)) {
            *state = (RunState)i;
            return true;
        }
    return false;
}

bool run_holds_slot(RunState state)
{
    return run_rows[state].holds_slot;
}

EffectKind run_owes(RunState state)
{
    return run_rows[state].owes;
}

const char *effect_word(EffectKind effect)
{
    return effect_words[effect];
}
