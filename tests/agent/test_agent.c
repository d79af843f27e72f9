/* agent/agent: launches and parsers. */
#include "tests/test.h"

#include "agent/agent.h"

static const char *env_of(const AgentLaunch *launch, const char *name)
{
    const char *value = NULL;
    size_t length = strlen(name);
    for (size_t i = 0; launch->env[i]; i++)
        if (strncmp(launch->env[i], name, length) == 0 && launch->env[i][length] == '=') {
            assert_null(value); /* never twice */
            value = launch->env[i] + length + 1;
        }
    return value;
}

static AgentTurn turn_of(const AgentSettings *settings)
{
    return (AgentTurn){.task_id = 12,
                       .run_id = 34,
                       .epoch = 2,
                       .turn = 5,
                       .attempt = 1,
                       .task_title = "Dark mode",
                       .task_key = "dark",
                       .prompt = "Do it.",
                       .workspace = "/w/run",
                       .project_root = "/p",
                       .program = "/opt/otto/bin/otto",
                       .socket = "/s",
                       .token = "secret",
                       .signal_tag = "otto-1f",
                       .mark = "run-34-e2",
                       .settings = settings};
}

static void a_command_gets_the_prompt_on_stdin(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *items[] = {"./agent.sh", "--fast"};
    AgentSettings settings = {.name = "a", .kind = "command", .prompt = "stdin"};
    settings.command.argv = (TextList){items, 2};
    AgentTurn turn = turn_of(&settings);
    AgentLaunch launch;
    assert_true(agent_launch(&turn, &arena, &launch, NULL));
    assert_string_equal(launch.argv[0], "./agent.sh");
    assert_string_equal(launch.argv[1], "--fast");
    assert_null(launch.argv[2]);
    assert_string_equal(launch.stdin_text, "Do it.");
}

static void a_prompt_can_be_the_last_argument(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *items[] = {"agent", "-p"};
    AgentSettings settings = {.name = "a", .kind = "command", .prompt = "arg"};
    settings.command.argv = (TextList){items, 2};
    AgentTurn turn = turn_of(&settings);
    AgentLaunch launch;
    assert_true(agent_launch(&turn, &arena, &launch, NULL));
    assert_string_equal(launch.argv[2], "Do it.");
    assert_null(launch.argv[3]);
    assert_null(launch.stdin_text);
    char *huge = mem_alloc(200 << 10);
    memset(huge, 'x', (200 << 10) - 1);
    turn.prompt = huge;
    Err err = {0};
    assert_false(agent_launch(&turn, &arena, &launch, &err));
    assert_int_equal(err.kind, ERR_TOO_BIG);
    free(huge);
}

static void shell_text_is_given_to_the_shell_and_the_prompt_is_no_part_of_it(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    AgentSettings settings = {.name = "a", .kind = "command", .prompt = "arg"};
    settings.command.shell = "tool \"$1\" | tee log";
    AgentTurn turn = turn_of(&settings);
    turn.prompt = "$(rm -rf x)";
    AgentLaunch launch;
    assert_true(agent_launch(&turn, &arena, &launch, NULL));
    assert_string_equal(launch.argv[0], "/bin/sh");
    assert_string_equal(launch.argv[2], "tool \"$1\" | tee log");
    assert_string_equal(launch.argv[4], "$(rm -rf x)");
    assert_null(launch.argv[5]);
}

static void the_script_agent_is_the_program_itself(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    AgentSettings settings = {.name = "d", .kind = "script", .scenario = "a/b.yaml"};
    AgentTurn turn = turn_of(&settings);
    AgentLaunch launch;
    assert_true(agent_launch(&turn, &arena, &launch, NULL));
    assert_string_equal(launch.argv[0], "/opt/otto/bin/otto");
    assert_string_equal(launch.argv[1], "script-agent");
    assert_string_equal(launch.argv[2], "/p/a/b.yaml");
    settings.scenario = "embedded:demo/scenario.yaml";
    assert_true(agent_launch(&turn, &arena, &launch, NULL));
    assert_string_equal(launch.argv[2], "embedded:demo/scenario.yaml");
}

static void the_environment_names_the_run_and_hides_the_engine(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    const char *extra[] = {"LEVEL=high", "LANG=C", "OTTO_TOKEN=forged"};
    const char *base[] = {"PATH=/usr/bin",
                          "LANG=de",
                          "OTTO_STATE_DIR=/state",
                          "OTTO_TASK_ID=99",
                          "GIT_DIR=/x/.git",
                          "GIT_INDEX_FILE=/x",
                          "OTTO_SCRIPT_PACE=0",
                          "OLDPWD=/secret",
                          "GIT_AUTHOR_NAME=Ada",
                          "broken",
                          NULL};
    AgentSettings settings = {.name = "a", .kind = "script", .scenario = "x", .model = "m"};
    settings.env = (TextList){extra, 3};
    AgentTurn turn = turn_of(&settings);
    turn.base_env = base;
    AgentLaunch launch;
    assert_true(agent_launch(&turn, &arena, &launch, NULL));
    assert_string_equal(env_of(&launch, "PATH"), "/opt/otto/bin:/usr/bin");
    assert_string_equal(env_of(&launch, "LANG"), "C");
    assert_string_equal(env_of(&launch, "LEVEL"), "high");
    assert_null(env_of(&launch, "OTTO_STATE_DIR"));
    assert_null(env_of(&launch, "GIT_DIR"));
    assert_null(env_of(&launch, "GIT_INDEX_FILE"));
    assert_null(env_of(&launch, "OLDPWD"));
    assert_string_equal(env_of(&launch, "OTTO_SCRIPT_PACE"), "0");
    assert_string_equal(env_of(&launch, "OTTO_TASK_ID"), "12");
    assert_string_equal(env_of(&launch, "OTTO_RUN_ID"), "34");
    assert_string_equal(env_of(&launch, "OTTO_EPOCH"), "2");
    assert_string_equal(env_of(&launch, "OTTO_TURN"), "5");
    assert_string_equal(env_of(&launch, "OTTO_ATTEMPT"), "1");
    assert_string_equal(env_of(&launch, "OTTO_SIGNAL_TAG"), "otto-1f");
    assert_string_equal(env_of(&launch, "OTTO_SOCKET"), "/s");
    assert_string_equal(env_of(&launch, "OTTO_TOKEN"), "secret");
    assert_string_equal(env_of(&launch, "OTTO_TASK_TITLE"), "Dark mode");
    assert_string_equal(env_of(&launch, "OTTO_TASK_KEY"), "dark");
    assert_string_equal(env_of(&launch, "OTTO_MARK"), "run-34-e2");
    assert_string_equal(env_of(&launch, "OTTO_MODEL"), "m");
    assert_string_equal(env_of(&launch, "PWD"), "/w/run");
    assert_null(env_of(&launch, "OTTO_CHECKPOINT"));
    assert_string_equal(env_of(&launch, "GIT_AUTHOR_NAME"), "Ada");
    assert_string_equal(env_of(&launch, "GIT_COMMITTER_NAME"), "otto");
    assert_string_equal(env_of(&launch, "GIT_COMMITTER_EMAIL"), "otto@localhost");
}

static void the_environment_says_where_the_task_stands(void **state)
{
    (void)state;
    static const char *const names[] = {"OTTO_PHASE",  "OTTO_CHECKPOINT",       "OTTO_STAGE",
                                        "OTTO_VISIT",  "OTTO_VISIT_CHECKPOINT", "OTTO_TASK_DIR",
                                        "OTTO_ANSWER", "OTTO_SESSION"};
    static const char *const texts[] = {"check", "post-exec", "3", "5", "2", "/t", "/a", "s-1"};
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    AgentSettings settings = {.name = "a", .kind = "script", .scenario = "x"};
    AgentTurn turn = turn_of(&settings);
    AgentLaunch launch;
    turn.checkpoint = turn.resume_id = ""; /* nothing said is no variable */
    assert_true(agent_launch(&turn, &arena, &launch, NULL));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_null(env_of(&launch, names[i]));
    turn.phase = "check";
    turn.checkpoint = "post-exec";
    turn.stage = 3;
    turn.visit = 5;
    turn.visit_checkpoint = 2;
    turn.task_dir = "/t";
    turn.answer_path = "/a";
    turn.resume_id = "s-1";
    assert_true(agent_launch(&turn, &arena, &launch, NULL));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(env_of(&launch, names[i]), texts[i]);
}

static void settings_and_adapters_know_the_same_kinds(void **state)
{
    (void)state;
    CLEANUP(arena_done) Arena arena = ARENA_INIT;
    char *words = arena_strdup(&arena, AGENT_KIND_WORDS), *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        assert_non_null(agent_kind_help(word));
    assert_null(agent_kind_help("magic"));
    assert_null(agent_parser_new("magic", NULL, NULL));
}

typedef struct Seen {
    Str text, others;
} Seen;

static void see(void *data, const AgentEvent *event)
{
    Seen *seen = data;
    if (event->kind == AGENT_TEXT) {
        str_add_bytes(&seen->text, event->text, event->length);
        return;
    }
    str_addf(&seen->others, "%s:%.*s:%d:%d:%.2f:%d;", agent_event_word(event->kind),
             (int)event->length, event->text, (int)event->input_tokens, (int)event->output_tokens,
             event->cost, (int)event->reset_s);
}

static void feed(const char *kind, const char *bytes, size_t length, size_t piece, Seen *seen)
{
    AgentParser *parser = agent_parser_new(kind, see, seen);
    for (size_t at = 0; at < length; at += piece)
        agent_parser_feed(parser, bytes + at, MIN(piece, length - at));
    agent_parser_end(parser);
    agent_parser_free(parser);
}

static void all_output_of_a_command_is_its_text(void **state)
{
    (void)state;
    const char bytes[] = "hello\n{\"otto\":\"usage\",\"input\":5}\n\0x";
    Seen seen = {STR_INIT, STR_INIT};
    feed("command", bytes, sizeof bytes - 1, 3, &seen);
    assert_int_equal(seen.text.length, sizeof bytes - 1);
    assert_memory_equal(seen.text.bytes, bytes, sizeof bytes - 1);
    assert_int_equal(seen.others.length, 0);
    str_done(&seen.text);
}

static void the_script_agent_reports_in_lines_however_they_are_cut(void **state)
{
    (void)state;
    const char bytes[] =
        "a\n{\"otto\":\"usage\",\"input\":5,\"output\":7,\"cost\":0.5}\n{\"x\":1}\n\n"
        "{\"otto\":\"limit\",\"kind\":\"plan\",\"reset_s\":60}\n"
        "b {\"otto\":\"usage\"}\n{\"otto\":\"odd\"}\n{\"otto\": broken\n"
        "{\"otto\":\"session\",\"id\":\"s1\"}";
    for (size_t piece = 1; piece < sizeof bytes; piece++) {
        Seen seen = {STR_INIT, STR_INIT};
        feed("script", bytes, sizeof bytes - 1, piece, &seen);
        assert_string_equal(str_text(&seen.text), "a\n{\"x\":1}\n\nb {\"otto\":\"usage\"}\n"
                                                  "{\"otto\":\"odd\"}\n{\"otto\": broken\n");
        assert_string_equal(str_text(&seen.others),
                            "usage::5:7:0.50:-1;limit:plan:0:0:0.00:60;session:s1:0:0:0.00:-1;");
        str_done(&seen.text);
        str_done(&seen.others);
    }
}

static void an_endless_line_is_text_and_costs_no_memory(void **state)
{
    (void)state;
    CLEANUP(str_done) Str bytes = STR_INIT;
    str_add(&bytes, "{\"otto\":\"usage\",\"pad\":\"");
    while (bytes.length < 100000)
        str_add(&bytes, "xxxxxxxxxxxxxxxx");
    Seen seen = {STR_INIT, STR_INIT};
    feed("script", bytes.bytes, bytes.length, 1000, &seen);
    assert_string_equal(str_text(&seen.text), str_text(&bytes));
    assert_int_equal(seen.others.length, 0);
    str_done(&seen.text);
}

static void wild_numbers_are_bounded(void **state)
{
    (void)state;
    const char bytes[] =
        "{\"otto\":\"usage\",\"input\":-5,\"output\":99999999999999,\"cost\":-1}\n";
    Seen seen = {STR_INIT, STR_INIT};
    feed("script", bytes, sizeof bytes - 1, 100, &seen);
    assert_string_equal(str_text(&seen.others), "usage::0:2147483647:0.00:-1;");
    str_done(&seen.text);
    str_done(&seen.others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_gets_the_prompt_on_stdin),
        cmocka_unit_test(a_prompt_can_be_the_last_argument),
        cmocka_unit_test(shell_text_is_given_to_the_shell_and_the_prompt_is_no_part_of_it),
        cmocka_unit_test(the_script_agent_is_the_program_itself),
        cmocka_unit_test(the_environment_names_the_run_and_hides_the_engine),
        cmocka_unit_test(the_environment_says_where_the_task_stands),
        cmocka_unit_test(settings_and_adapters_know_the_same_kinds),
        cmocka_unit_test(all_output_of_a_command_is_its_text),
        cmocka_unit_test(the_script_agent_reports_in_lines_however_they_are_cut),
        cmocka_unit_test(an_endless_line_is_text_and_costs_no_memory),
        cmocka_unit_test(wild_numbers_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
