/* Agents: the list of kinds. See agent.h. */
#include "agent/agent.h"
#include "agent/kind.h"

static const AgentKind *const kinds[] = {&agent_kind_command, &agent_kind_script};

static const AgentKind *kind_find(const char *name)
{
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (text_equal(kinds[i]->name, name))
            return kinds[i];
    return NULL;
}

const char *agent_kind_help(const char *kind)
{
    const AgentKind *row = kind_find(kind);
    return row ? row->help : NULL;
}

const char *agent_event_word(AgentEventKind kind)
{
    static const char *const words[] = {
#define X(event, word, help) [event] = word,
        AGENT_EVENTS(X)
#undef X
    };
    return words[kind];
}

bool agent_launch(const AgentTurn *turn, Arena *arena, AgentLaunch *launch, Err *err)
{
    const AgentKind *kind = kind_find(turn->settings->kind);
    if (!kind)
        return err_set(err, ERR_USAGE, "agent '%s': unknown kind '%s'", turn->settings->name,
                       turn->settings->kind);
    AgentLaunch fresh = {0};
    if (!kind->launch(turn, arena, &fresh, err))
        return err_add(err, "agent '%s'", turn->settings->name);
    fresh.env = agent_env(turn, arena);
    *launch = fresh;
    return true;
}

AgentParser *agent_parser_new(const char *kind, AgentSink *sink, void *data)
{
    const AgentKind *row = kind_find(kind);
    if (!row)
        return NULL;
    AgentParser *parser = mem_alloc(sizeof *parser);
    parser->kind = row;
    parser->sink = sink;
    parser->data = data;
    return parser;
}

void agent_parser_feed(AgentParser *parser, const char *bytes, size_t length)
{
    parser->kind->feed(parser, bytes, length);
}

void agent_parser_end(AgentParser *parser)
{
    parser->kind->end(parser);
}

void agent_parser_free(AgentParser *parser)
{
    free(parser);
}

void agent_parser_text(AgentParser *parser, const char *bytes, size_t length)
{
    AgentEvent event = {.kind = AGENT_TEXT, .text = bytes, .length = length, .reset_s = -1};
    if (length)
        parser->sink(parser->data, &event);
}
