/* The verification gate: see verification.h. */
#include "core/verification.h"
#include "base/str.h"
#include <string.h>

typedef enum Row {
    ROW_OK,
    ROW_REQUIRED_TIMEOUT,
    ROW_REQUIRED_FAILED,
    ROW_OPTIONAL_TIMEOUT,
    ROW_OPTIONAL_FAILED,
    ROW_EMPTY,
    ROW_ALL_PASSED,
    ROW_WAITING,
} Row;

/* clang-format off */
static const VerifyRow rows[] = {
  [ROW_OK]               = { "ok",               VERIFY_OPEN, NULL, NULL, "the command succeeded, the next one runs (D-70)" },
  [ROW_REQUIRED_TIMEOUT] = { "required-timeout", VERIFY_FAIL, "VERIFICATION_TIMEOUT", NULL, "a required command ran out of time (D-66)" },
  [ROW_REQUIRED_FAILED]  = { "required-failed",  VERIFY_FAIL, "VERIFICATION_FAILED", NULL, "a required command failed (D-68)" },
  [ROW_OPTIONAL_TIMEOUT] = { "optional-timeout", VERIFY_OPEN, NULL, "VERIFICATION_SKIPPED", "an optional command ran out of time, which blocks nothing (D-67)" },
  [ROW_OPTIONAL_FAILED]  = { "optional-failed",  VERIFY_OPEN, NULL, "VERIFICATION_SKIPPED", "an optional command failed, which blocks nothing (D-69)" },
  [ROW_EMPTY]            = { "empty",            VERIFY_PASS, NULL, "VERIFICATION_EMPTY", "no command is configured, so COMPLETE alone finishes a task (D-76)" },
  [ROW_ALL_PASSED]       = { "all-passed",       VERIFY_PASS, NULL, NULL, "no required command failed (D-70)" },
  [ROW_WAITING]          = { "waiting",          VERIFY_OPEN, NULL, NULL, "no required command has failed, but not all have run yet" },
};
/* clang-format on */

const VerifyRow *verification_rows(size_t *count)
{
    *count = COUNT(rows);
    return rows;
}

const VerifyRow *verification_step(const VerifyCommand *command, const VerifyResult *result)
{
    if (result->is_timed_out)
        return &rows[command->is_required ? ROW_REQUIRED_TIMEOUT : ROW_OPTIONAL_TIMEOUT];
    if (result->exit_code != 0)
        return &rows[command->is_required ? ROW_REQUIRED_FAILED : ROW_OPTIONAL_FAILED];
    return &rows[ROW_OK];
}

VerifyJudgement verification_judge(const VerifyConfig *config, const VerifyResult *results,
                                   size_t result_count)
{
    if (config->count == 0)
        return (VerifyJudgement){VERIFY_PASS, &rows[ROW_EMPTY], 0};
    for (size_t i = 0; i < config->count && i < result_count; i++) {
        const VerifyRow *row = verification_step(&config->commands[i], &results[i]);
        if (row->verdict == VERIFY_FAIL)
            return (VerifyJudgement){VERIFY_FAIL, row, i};
    }
    if (result_count < config->count)
        return (VerifyJudgement){VERIFY_OPEN, &rows[ROW_WAITING], result_count};
    return (VerifyJudgement){VERIFY_PASS, &rows[ROW_ALL_PASSED], config->count};
}

/* Reading the setting. `where` is the path of the thing being read. */
static bool problem_set(VerifyProblem *problem, const json_t *value, const char *where,
                        const char *key, const char *message)
{
    (void)snprintf(problem->field, sizeof problem->field, "%s%s%s", where,
                   *where && *key ? "." : "", key); /* a cut path is still a path */
    (void)snprintf(problem->message, sizeof problem->message, "%s", message); /* likewise */
    problem->value = value;
    return false;
}

static bool read_text(const json_t *object, const char *key, const char *where, const char **out,
                      VerifyProblem *problem)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return true;
    const char *text = json_string_value(value);
    if (!text || strlen(text) != json_string_length(value))
        return problem_set(problem, value, where, key, "must be a text");
    *out = text;
    return true;
}

static bool read_timeout(const json_t *object, const char *key, const char *where, int64_t *out,
                         VerifyProblem *problem)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return true;
    double seconds = json_is_number(value) ? json_number_value(value) : 0;
    if (!(seconds >= 1 && seconds <= VERIFY_TIMEOUT_MAX_S) || seconds != (double)(int64_t)seconds)
        return problem_set(problem, value, where, key,
                           "must be a whole number of seconds from 1 to 604800");
    *out = (int64_t)seconds;
    return true;
}

static bool read_required(const json_t *object, const char *where, bool *out,
                          VerifyProblem *problem)
{
    const json_t *value = json_object_get(object, "required");
    if (!value || json_is_null(value))
        return true;
    if (!json_is_boolean(value))
        return problem_set(problem, value, where, "required", "must be true or false");
    *out = json_is_true(value);
    return true;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n\v\f")] == '\0';
}

static bool read_command(const json_t *item, const char *where, VerifyCommand *out,
                         VerifyProblem *problem)
{
    if (json_is_string(item)) {
        out->command = json_string_value(item);
        if (strlen(out->command) != json_string_length(item))
            return problem_set(problem, item, where, "", "must not hold a NUL byte");
    } else if (!json_is_object(item)) {
        return problem_set(problem, item, where, "", "must be a command text or an object");
    } else if (!read_text(item, "command", where, &out->command, problem) ||
               !read_text(item, "name", where, &out->name, problem) ||
               !read_timeout(item, "timeout", where, &out->timeout_s, problem) ||
               !read_required(item, where, &out->is_required, problem)) {
        return false;
    }
    if (!out->command)
        return problem_set(problem, NULL, where, "command", "is missing");
    if (is_blank(out->command))
        return problem_set(problem, json_is_string(item) ? item : json_object_get(item, "command"),
                           where, json_is_string(item) ? "" : "command", "must not be empty");
    if (!out->name || is_blank(out->name))
        out->name = out->command;
    return true;
}

static bool read_list(const json_t *list, const char *prefix, int64_t timeout_s, Arena *arena,
                      VerifyConfig *out, VerifyProblem *problem)
{
    size_t count = json_array_size(list);
    if (count > VERIFY_COMMANDS_MAX)
        return problem_set(problem, NULL, prefix, "", "holds more than 1000 commands");
    VerifyCommand *commands = arena_alloc(arena, (count + 1) * sizeof *commands);
    for (size_t i = 0; i < count; i++) {
        char where[48];
        (void)snprintf(where, sizeof where, "%s[%zu]", prefix, i); /* fits: prefix is ours */
        commands[i] = (VerifyCommand){.timeout_s = timeout_s, .is_required = true};
        if (!read_command(json_array_get(list, i), where, &commands[i], problem))
            return false;
    }
    *out = (VerifyConfig){commands, count};
    return true;
}

bool verification_read(const json_t *config, Arena *arena, VerifyConfig *out,
                       VerifyProblem *problem)
{
    int64_t timeout_s = VERIFY_DEFAULT_TIMEOUT_S;
    if (!config || json_is_null(config))
        return read_list(NULL, "", timeout_s, arena, out, problem);
    if (json_is_array(config))
        return read_list(config, "", timeout_s, arena, out, problem);
    if (!json_is_object(config))
        return problem_set(problem, config, "", "",
                           "must be a list of commands or an object with commands");
    if (!read_timeout(config, "defaultTimeout", "", &timeout_s, problem) ||
        !read_timeout(config, "default_timeout", "", &timeout_s, problem))
        return false;
    const json_t *list = json_object_get(config, "commands");
    if (list && !json_is_null(list) && !json_is_array(list))
        return problem_set(problem, list, "", "commands", "must be a list");
    return read_list(json_is_array(list) ? list : NULL, "commands", timeout_s, arena, out, problem);
}
