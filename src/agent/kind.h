/* Agent kinds, inside: the row that each kind_*.c fills. Private to this room. */
#pragma once
#include "agent/agent.h"

enum { KIND_MOST_HELD = 4096 }; /* bytes of one line that a parser may hold back */

struct AgentParser {
    const struct AgentKind *kind;
    AgentSink *sink;
    void *data;
    char held[KIND_MOST_HELD]; /* begin of a line not yet decided */
    size_t held_length;
    bool in_line; /* the rest of this line is plain text */
};

typedef struct AgentKind {
    const char *name, *help;
    /* Sets argv and stdin_text; the environment is the same for all. */
    bool (*launch)(const AgentTurn *turn, Arena *arena, AgentLaunch *launch, Err *err);
    void (*feed)(AgentParser *parser, const char *bytes, size_t length);
    void (*end)(AgentParser *parser);
} AgentKind;

extern const AgentKind agent_kind_command, agent_kind_script;

void agent_parser_text(AgentParser *parser, const char *bytes, size_t length);
/* The complete environment; see agent_env.c. */
const char *const *agent_env(const AgentTurn *turn, Arena *arena);
