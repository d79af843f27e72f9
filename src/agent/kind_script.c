/* Agent kind "script": the built-in player of scenario files (script.h).
 *
 * Its stdout is its text, except lines {"otto":"usage"|"limit"|"session",...}. */
#include "agent/kind.h"
#include "base/json.h"

static const char control_head[] = "{\"otto\":";

static bool script_launch(const AgentTurn *turn, Arena *arena, AgentLaunch *launch, Err *err)
{
    const char *scenario = turn->settings->scenario;
    if (!scenario)
        return err_set(err, ERR_USAGE, "the key 'scenario' is missing");
    bool is_relative = *scenario != '/' && !text_starts(scenario, "embedded:");
    if (is_relative && turn->project_root)
        scenario = arena_printf(arena, "%s/%s", turn->project_root, scenario);
    const char **argv = arena_alloc(arena, 4 * sizeof *argv);
    argv[0] = turn->program ? turn->program : "otto";
    argv[1] = "script-agent";
    argv[2] = scenario;
    launch->argv = argv;
    launch->stdin_text = arena_strdup(arena, turn->prompt);
    return true;
}

static int64_t bounded(const json_t *line, const char *key, int64_t least)
{
    enum { MOST = INT32_MAX };
    int64_t number = json_int(line, key, least);
    return number < least ? least : MIN(number, (int64_t)MOST);
}

static bool control_line(AgentParser *parser, const char *bytes, size_t length)
{
    CLEANUP(json_freep) json_t *line = json_read(bytes, length, NULL);
    const char *word = json_text(line, "otto", "");
    double cost = json_number_value(json_object_get(line, "cost"));
    AgentEvent event = {.kind = AGENT_TEXT,
                        .input_tokens = bounded(line, "input", 0),
                        .output_tokens = bounded(line, "output", 0),
                        .cache_tokens = bounded(line, "cache", 0),
                        .cost = cost > 0 && cost < 1e6 ? cost : 0,
                        .reset_s = bounded(line, "reset_s", -1)};
    if (text_equal(word, "usage"))
        event.kind = AGENT_USAGE, event.text = "";
    else if (text_equal(word, "limit"))
        event.kind = AGENT_LIMIT, event.text = json_text(line, "kind", "");
    else if (text_equal(word, "session"))
        event.kind = AGENT_SESSION, event.text = json_text(line, "id", "");
    else
        return false;
    event.length = strlen(event.text);
    parser->sink(parser->data, &event);
    return true;
}

/* Gives out what is held: as an event when the line is whole and ours, else as text. */
static void release(AgentParser *parser, bool is_whole)
{
    size_t length = parser->held_length;
    parser->held_length = 0;
    if (!is_whole || !control_line(parser, parser->held, length))
        agent_parser_text(parser, parser->held, length);
}

static bool may_be_control(const AgentParser *parser)
{
    size_t length = MIN(parser->held_length, sizeof control_head - 1);
    return memcmp(parser->held, control_head, length) == 0;
}

/* Takes bytes of the line's begin until it is decided; returns how many. */
static size_t hold(AgentParser *parser, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        parser->held[parser->held_length++] = bytes[i];
        bool is_end = bytes[i] == '\n';
        bool is_text = !may_be_control(parser) || parser->held_length == sizeof parser->held;
        if (!is_end && !is_text)
            continue;
        release(parser, is_end && !is_text);
        parser->in_line = !is_end;
        return i + 1;
    }
    return length;
}

static void script_feed(AgentParser *parser, const char *bytes, size_t length)
{
    while (length) {
        size_t used;
        if (parser->in_line) {
            const char *end = memchr(bytes, '\n', length);
            used = end ? (size_t)(end - bytes) + 1 : length;
            agent_parser_text(parser, bytes, used);
            parser->in_line = !end;
        } else {
            used = hold(parser, bytes, length);
        }
        bytes += used;
        length -= used;
    }
}

static void script_end(AgentParser *parser)
{
    release(parser, true);
}

const AgentKind agent_kind_script = {
    .name = "script",
    .help = "built in: plays a scenario file, for demos and tests",
    .launch = script_launch,
    .feed = script_feed,
    .end = script_end,
};
