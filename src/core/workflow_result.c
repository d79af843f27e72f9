/* Results of phases: the words of a list, and the engine's words for them. */
#include "core/workflow.h"
#include <string.h>

enum { RESULT_SIZE = 64 };

/* What the engine reports, and the words of phases that mean the same; the first that the phase has
 * is taken. */
typedef struct Synonym {
    const char *word, *own;
} Synonym;

/* clang-format off */
static const Synonym synonyms[] = {
  /* of agents: a signal instead of the structured answer */
  { "COMPLETE",       "(done)" },
  { "COMPLETE",       "(generated)" },
  { "COMPLETE",       "(distilled)" },
  { "COMPLETE",       "(refined)" },
  { "COMPLETE",       "(collected)" },
  { "COMPLETE",       "(processed)" },
  { "COMPLETE",       "done" },
  { "COMPLETE",       "finished" },
  { "COMPLETE",       "error" },        /* of a gate: a verdict is missing, which is no verdict (B-46) */
  { "BLOCKED",        "(blocked)" },
  { "BLOCKED",        "blocked" },
  { "BLOCKED",        "failed" },
  { "(done)",         "COMPLETE" },
  { "(generated)",    "(refined)" },
  { "(refined)",      "COMPLETE" },
  { "(distilled)",    "COMPLETE" },
  { "(collected)",    "COMPLETE" },
  { "(sufficient)",   "COMPLETE" },
  { "(processed)",    "COMPLETE" },
  { "(mid-exec)",     "none" },         /* where nothing is judged on the way, the work goes on */
  { "(exhausted)",    "(blocked)" },
  { "(exhausted)",    "BLOCKED" },
  { "(generated)",    "COMPLETE" },
  { "(blocked)",      "BLOCKED" },
  { "(stage-advanced)", "(refined)" },
  { "(stage-advanced)", "COMPLETE" },
  { "invalid",        "error" },
  { "invalid",        "failed" },
  /* of self-driving sessions */
  { "none",           "continue" },
  { "vanished",       "killed" },
  { "killed",         "vanished" },
  { "limit",          "max-iterations" },
  { "max-iterations", "limit" },
  { "stall-limit",    "timeout" },
  /* of the checks */
  { "pass",           "(pass)" },
  { "fail",           "(fail)" },
  { "partial",        "(partial)" },
  { "partial",        "pass" },         /* only what was not required failed, or nothing was there to run */
  { "(pass)",         "pass" },
  { "(fail)",         "fail" },
  { "(partial)",      "pass" },
  /* of merges */
  { "landed",         "success" },
  { "empty",          "success" },
  { "empty",          "landed" },
  { "success",        "landed" },
  { "collides",       "conflict" },
  { "conflict",       "collides" },
  /* of reports */
  { "done",           "(generated)" },
  /* of people */
  { "approved",       "answered" },     /* yes to a question */
  { "redo",           "answered" },
  { "answered",       "redo" },         /* words instead of a yes: changes are wanted */
};
/* clang-format on */

bool word_at(const char *words, size_t i, char *out, size_t size)
{
    while (i > 0 && *words) {
        words += strcspn(words, " ");
        words += *words == ' ';
        i--;
    }
    size_t length = strcspn(words, " ");
    if (length == 0 || length >= size)
        return false;
    memcpy(out, words, length);
    out[length] = '\0';
    return true;
}

static bool is_step(const char *result)
{
    static const char head[] = "(step-";
    if (!text_starts(result, head))
        return false;
    const char *digits = result + sizeof head - 1;
    size_t count = strspn(digits, "0123456789");
    return count >= 1 && count <= 9 && *digits != '0' && strcmp(digits + count, ")") == 0;
}

bool result_fits(const char *word, const char *result)
{
    return strcmp(word, WF_ANY) == 0 || strcmp(word, result) == 0 ||
           (strcmp(word, "(step-N)") == 0 && is_step(result));
}

int phase_result_index(const WorkflowPhase *phase, const char *word)
{
    char own[RESULT_SIZE];
    const char *at = phase->results; /* along the words once: it is asked for every report */
    for (int i = 0; word && word_at(at, 0, own, sizeof own); i++) {
        if (strcmp(own, WF_ANY) != 0 && result_fits(own, word))
            return i;
        at += strlen(own);
        at += *at == ' ';
    }
    return -1;
}

bool phase_has_result(const WorkflowPhase *phase, const char *result)
{
    return phase_result_index(phase, result) >= 0;
}

const char *phase_result(const WorkflowPhase *phase, const char *word)
{
    if (!word || phase_has_result(phase, word))
        return word;
    for (size_t i = 0; i < COUNT(synonyms); i++) {
        if (strcmp(synonyms[i].word, word) == 0 && phase_has_result(phase, synonyms[i].own))
            return synonyms[i].own;
    }
    return NULL;
}

bool phase_result_at(const Workflow *workflow, const WorkflowPhase *phase, const char *checkpoint,
                     const char *result)
{
    for (unsigned i = 0; i < workflow->route_count; i++) {
        const WorkflowRoute *row = &workflow->routes[i];
        bool is_phase = !strcmp(row->phase, WF_ANY) || !strcmp(row->phase, phase->name);
        bool is_here = !strcmp(row->checkpoint, WF_ANY) || !strcmp(row->checkpoint, checkpoint);
        if (is_phase && is_here && result_fits(row->result, result))
            return true;
    }
    return false;
}
