/* Shared by the files that read workflow files only. */
#pragma once
#include "core/workflow_file.h"

/* Growing lists in the arena of the workflow. */
typedef struct Rows {
    void *items;
    size_t item_size;
    unsigned count, size;
} Rows;

typedef struct Reader {
    Arena *arena;
    Err *err;
    const json_t *root;
    const Workflow *base; /* of extends; NULL none */
    Workflow flow;        /* lists point into the Rows below once they are complete */
    Rows phases, statuses, checkpoints, commands, limits, thresholds, hooks;
    Rows entries, routes, transitions;
    const char **stops; /* checkpoint that a phase is entered at; by phase; NULL or "" none */
    unsigned own;       /* phases of the file and its base; what is added comes after them */
    bool has_states;    /* its statuses are the states of tasks */
    bool is_short;      /* no statuses given: those of loop */
} Reader;

void *rows_add(Reader *reader, Rows *rows); /* a zeroed item at the end */
void *rows_at(const Rows *rows, unsigned i);
void rows_set(Rows *rows, unsigned i, const void *item);
void rows_insert(Reader *reader, Rows *rows, unsigned i, const void *item);
void reader_publish(Reader *reader); /* the lists so far become those of the workflow */

/* All return false after setting the error "PATH: text". */
bool read_bad(Reader *reader, const char *path, const char *format, ...) PRINTF(3, 4);
/* "unknown WHAT 'word', did you mean 'near'?"; words: by number, NULL at the end. */
typedef const char *WordFn(const void *list, size_t i);
bool read_unknown(Reader *reader, const char *path, const char *what, const char *word,
                  WordFn *words, const void *list);
const char *read_path(Reader *reader, const char *format, ...) PRINTF(2, 3);
/* Keys of an object against a NULL-ended list. */
bool read_keys(Reader *reader, const char *path, const json_t *object, const char *const *keys);
/* Missing: *out stays. */
bool read_text(Reader *reader, const char *path, const json_t *object, const char *key,
               const char **out);
bool read_flag(Reader *reader, const char *path, const json_t *object, const char *key, bool *out);
bool read_name(Reader *reader, const char *path, const char *name, const char *what);

/* Lists: Rows of phases, of statuses, of words; an array of texts ended by NULL. */
WordFn word_of_phase, word_of_status, word_of_checkpoint, word_of_command, word_of_list;

/* workflow_file_rows.c */
bool read_entries(Reader *reader);
bool read_routes(Reader *reader);
bool read_transitions(Reader *reader);
bool reader_add_checkpoint(Reader *reader, const char *name, const char *help);

/* workflow_aim.c */
/* Actions of a stop, of a stop that asks a person, of a way back that shows what failed. */
/* clang-format off */
#define STOPPED { ACTION_KEEP_WORKSPACE, ACTION_ALERT, ACTION_FREE_SLOT }
#define ASKED   { ACTION_ASK_PERSON, ACTION_ALERT, ACTION_KEEP_WORKSPACE, ACTION_FREE_SLOT }
#define MENDED  { ACTION_COUNT_RETRY, ACTION_SHOW_FAILURE, ACTION_START_TURN }
/* clang-format on */

const WorkflowPhase *reader_phase(const Reader *reader, unsigned i);
int reader_phase_index(const Reader *reader, const char *name); /* or -1 */
/* The agent whose work a later phase judges: the last one before it, else the first. NULL none. */
const WorkflowPhase *reader_agent_before(const Reader *reader, unsigned before);
const WorkflowPhase *reader_merge(const Reader *reader); /* NULL none */
bool reader_has_limit(const Reader *reader, const char *counter);
void reader_need_checkpoint(Reader *reader, const char *name, const char *help);
const char *reader_need_ask(Reader *reader); /* the phase in which people answer */
void row_set_actions(WorkflowRoute *row, const Action actions[ACTIONS_MAX]);
void row_aim_phase(Reader *reader, WorkflowRoute *row, unsigned index, bool has_effects);
void row_aim_stop(Reader *reader, WorkflowRoute *row, const char *state, bool has_effects);
void reader_add_route(Reader *reader, const WorkflowRoute *row); /* with its limits, checkpoints */
/* Makes the word in row->next a phase or a stop (a state or status to stop in is one too) and fills
 * in status, checkpoint and, unless they were given, effects. */
bool route_aim(Reader *reader, const char *path, WorkflowRoute *row, bool has_effects);
/* Adds a short row with the rows that go before it: a limit for a way back, a review for a merge.
 */
void route_add_short(Reader *reader, WorkflowRoute row);
/* "HEAD-tail" in small letters, without brackets. */
const char *row_id_of(Reader *reader, const char *head, const char *tail);

/* workflow_defaults.c */
extern const char *const default_results[PHASE_KIND_COUNT];
/* Statuses, commands, limits of loop where the file has none. */
void defaults_lists(Reader *reader);
/* Entries, rows for results that nothing routes, commands. */
void defaults_rows(Reader *reader);
