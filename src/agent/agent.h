/* Agents: how each kind is started, and what its output means.
 *
 * A kind is one row (agent.c) and one file (kind_*.c). This room describes a launch and turns bytes
 * into events; it starts nothing, reads nothing, knows no clock. The engine hands the launch to a
 * keeper and feeds the parser from the keeper's journal. */
#pragma once
#include "base/arena.h"
#include "base/err.h"
#include "core/settings.h"

/* One prompt for one agent. Texts are borrowed; NULL where nothing applies. */
typedef struct AgentTurn {
    int64_t task_id, run_id;
    int64_t epoch, turn, attempt; /* turn and attempt from 1 */
    const char *task_title, *task_key;
    const char *prompt;
    const char *workspace;    /* the agent's folder */
    const char *project_root; /* where a relative scenario lies */
    const char *program;      /* the otto program; its folder leads PATH */
    const char *socket, *token;
    const char *signal_tag;
    const char *mark;       /* variable that finds strays of this run */
    const char *phase;      /* of the workflow */
    const char *checkpoint; /* of the workflow: "post-plan", "conflict" */
    int64_t tries;          /* of the checkpoint, from 1; 0: no checkpoint */
    int64_t visit; /* turns of this phase within the task, this one included; 0: not told */
    int64_t visit_checkpoint;               /* the same, only those at this checkpoint */
    int64_t stage;                          /* from 1; 0: the workflow has none */
    const char *task_dir;                   /* folder of a self-driving session's files */
    const char *answer_path;                /* file in which the structured answer may be left */
    const char *target_ref;                 /* what to merge at a checkpoint */
    const char *author_name, *author_email; /* of commits; NULL: "otto", "otto@localhost" */
    const char *resume_id; /* conversation that this turn goes on with; NULL or "": a new one */
    const AgentSettings *settings;
    const char *const *base_env; /* the engine's environment, NULL-terminated; may be NULL */
} AgentTurn;

typedef struct AgentLaunch {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH of env */
    const char *const *env;  /* NULL-terminated, complete */
    const char *stdin_text;  /* the prompt; NULL: stdin is empty */
} AgentLaunch;

/* Everything lives in the arena, or is borrowed from turn. */
bool agent_launch(const AgentTurn *turn, Arena *arena, AgentLaunch *launch, Err *err) NODISCARD;

/*    event           word        meaning */
#define AGENT_EVENTS(X)                                                                            \
    X(AGENT_TEXT, "text", "the agent's own words; signals are looked for here and nowhere else")   \
    X(AGENT_SESSION, "session", "the id to resume the conversation with")                          \
    X(AGENT_USAGE, "usage", "tokens and cost of this turn so far or of a step")                    \
    X(AGENT_LIMIT, "limit", "a quota is spent; says when it resets, if known")

typedef enum AgentEventKind {
#define X(kind, word, help) kind,
    AGENT_EVENTS(X)
#undef X
} AgentEventKind;

typedef struct AgentEvent {
    AgentEventKind kind;
    const char *text; /* text, session id, kind of limit; not terminated, valid during the call */
    size_t length;
    int64_t input_tokens, output_tokens, cache_tokens;
    double cost;     /* dollars */
    int64_t reset_s; /* seconds until a limit resets; -1 unknown */
} AgentEvent;

typedef void AgentSink(void *data, const AgentEvent *event);

/* Bytes in, in pieces of any size; events out, in order. Memory is bounded. */
typedef struct AgentParser AgentParser;
AgentParser *agent_parser_new(const char *kind, AgentSink *sink, void *data); /* NULL: unknown */
void agent_parser_feed(AgentParser *parser, const char *bytes, size_t length);
void agent_parser_end(AgentParser *parser); /* what is held back comes out */
void agent_parser_free(AgentParser *parser);

const char *agent_event_word(AgentEventKind kind);
const char *agent_kind_help(const char *kind); /* NULL: unknown kind */
