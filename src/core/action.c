/* Actions: see action.h. */
#include "core/action.h"
#include "base/str.h"

static const struct {
    const char *word, *help;
} rows[ACTION_COUNT] = {
#define X(action, word, help) [action] = {word, help},
    ACTIONS(X)
#undef X
};

const char *action_word(Action action)
{
    return rows[action].word;
}

const char *action_help(Action action)
{
    return rows[action].help;
}

bool action_find(const char *word, Action *action)
{
    for (unsigned i = 0; i < ACTION_COUNT; i++) {
        if (text_equal(rows[i].word, word)) {
            *action = (Action)i;
            return true;
        }
    }
    return false;
}
