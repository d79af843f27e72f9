/* The scripted agent: finds its turn and plays it. See script.h. */
#include "agent/script.h"
#include "agent/embedded.h"
#include "agent/scenario.h"
#include "agent/script_parts.h"
#include "base/file.h"
#include <unistd.h>

enum { MOST_PROMPT = 8 << 20 };

static bool play_turn(Player *player, const json_t *steps, const char *path, Err *err)
{
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const StepRow *row;
        StepArgs args;
        const char *place = arena_printf(&player->arena, "%s[%zu]", path, i);
        if (!scenario_step(&player->doc, json_array_get(steps, i), place, &player->arena, &row,
                           &args, err))
            return false;
        if ((args.if_exists && !script_file_has(args.if_exists)) ||
            (args.if_missing && script_file_has(args.if_missing)))
            continue;
        if (!script_step(player, row, &args, err))
            return err_add(err, "line %d: %s", yaml_line(&player->doc, place), row->name);
    }
    return true;
}

static char *scenario_text(const char *path, size_t *length, Err *err)
{
    static const char head[] = "embedded:";
    if (!text_starts(path, head))
        return file_read(path, SCENARIO_MOST_BYTES, length, err);
    const EmbeddedFile *file = embedded_find(path + strlen(head));
    if (!file) {
        (void)err_set(err, ERR_NOT_FOUND, "there is no '%s'", path); /* NULL says it failed */
        return NULL;
    }
    *length = file->length;
    return mem_strdup(file->bytes);
}

static bool player_load(Player *player, const char *path, Err *err)
{
    size_t length;
    CLEANUP(mem_freep) char *text = scenario_text(path, &length, err);
    return text && yaml_read(text, length, &player->doc, err) && scenario_check(&player->doc, err);
}

/* Taken whole before anything else: whoever writes it must not wait for a turn that sleeps. */
static void player_prompt(Player *player)
{
    char block[16384];
    ssize_t count = isatty(0) ? 0 : 1;
    while (count > 0 && player->prompt.length < MOST_PROMPT) {
        count = read(0, block, sizeof block);
        if (count > 0)
            str_add_bytes(&player->prompt, block, (size_t)count);
    }
}

static int64_t env_int(const char *name, int64_t fallback)
{
    int64_t number;
    return text_to_int(getenv(name), &number) ? number : fallback;
}

static double env_pace(void)
{
    const char *text = getenv("OTTO_SCRIPT_PACE");
    char *end = NULL;
    double pace = text ? strtod(text, &end) : 1;
    return text && (end == text || *end || !(pace >= 0 && pace <= 1000)) ? 1 : pace;
}

static int complain(const char *path, const Err *err, int code)
{
    CLEANUP(str_done) Str line = STR_INIT;
    str_addf(&line, "script-agent: %s: %s\n", path, err->text);
    (void)script_write(2, str_text(&line), line.length); /* there is nobody else to tell */
    return code;
}

static int player_play(Player *player, const char *path)
{
    Err err = {0};
    if (!player_load(player, path, &err))
        return complain(path, &err, SCRIPT_BAD_SCENARIO);
    ScenarioTask task = {.key = getenv("OTTO_TASK_KEY"),
                         .title = getenv("OTTO_TASK_TITLE"),
                         .phase = getenv("OTTO_PHASE"),
                         .checkpoint = getenv("OTTO_CHECKPOINT"),
                         .turn = env_int("OTTO_TURN", 1),
                         .attempt = env_int("OTTO_ATTEMPT", 1),
                         .tries = env_int("OTTO_TRY", 1),
                         .visit = env_int("OTTO_VISIT", 1),
                         .visit_checkpoint = env_int("OTTO_VISIT_CHECKPOINT", 1)};
    CLEANUP(str_done) Str place = STR_INIT;
    const json_t *steps = scenario_find(&player->doc, &task, &place);
    if (!steps) {
        (void)err_set(&err, ERR_USAGE, "no turns for the task '%s'",
                      task.key     ? task.key
                      : task.title ? task.title
                                   : "*"); /* told below */
        return complain(path, &err, SCRIPT_BAD_SCENARIO);
    }
    player_prompt(player);
    if (!play_turn(player, steps, str_text(&place), &err))
        return complain(path, &err, SCRIPT_FAILED);
    return 0;
}

int script_main(const char *scenario_path)
{
    const char *tag = getenv("OTTO_SIGNAL_TAG");
    Player player = {.tag = tag && *tag ? tag : "otto", .pace = env_pace()};
    int code = player_play(&player, scenario_path);
    yaml_done(&player.doc);
    arena_done(&player.arena);
    str_done(&player.prompt);
    return code;
}
