/* Decisions about a turn: signal, completion, exit, verification. */
#include "base/str.h"
#include "core/completion.h"
#include "core/decide_table.h"
#include "core/exit.h"
#include "core/verification.h"
#include <string.h>

typedef struct Found {
    json_t *signals, *invalid;
    json_t *decides; /* borrowed from signals; NULL none */
} Found;

/* A report cut by the window may end inside a character. */
static json_t *raw_text(const char *text, size_t length)
{
    json_t *whole = json_stringn(text, length);
    for (unsigned i = 0; !whole && i < 3 && length > 0; i++)
        whole = json_stringn(text, --length);
    return whole ? whole : json_string("");
}

static void found(void *context, const Signal *signal)
{
    Found *all = context;
    json_t *item = json_object();
    if (signal->code != SIGNAL_OK) {
        json_object_set_new(item, "code", json_string(signal_code_word(signal->code)));
        json_object_set_new(item, "raw", raw_text(signal->raw, signal->raw_length));
        json_array_append_new(all->invalid, item);
        return;
    }
    json_object_set_new(item, "type", json_string(signal_type_word(signal->type)));
    json_object_set_new(item, "payload",
                        signal->payload ? json_stringn(signal->payload, signal->payload_length)
                                        : json_null());
    json_array_append_new(all->signals, item);
    if (signal_is_control(signal->type))
        all->decides = item;
}

bool decide_signal(DecideInput *in, json_t *out)
{
    const json_t *text = decide_value(in, in->root, "text");
    const char *tag = decide_text(in, in->root, "tag");
    if (!signal_tag_is_valid(tag))
        return decide_fail(in, "tag", json_object_get(in->root, "tag"), NULL,
                           "'tag' must be a letter, then letters, digits, '-', '_' or '.', at most "
                           "%d in all",
                           SIGNAL_TAG_MAX);
    Found all = {json_array(), json_array(), NULL};
    signal_scan(json_string_value(text), json_string_length(text), tag, found, &all);
    json_object_set_new(out, "signals", all.signals);
    json_object_set_new(out, "invalid", all.invalid);
    if (all.decides)
        json_object_set(out, "decides", all.decides);
    else
        json_object_set_new(out, "decides", json_null());
    decide_put_row(out, NULL,
                   all.decides ? "the last control signal decides; the others are only logged"
                               : "no control signal (COMPLETE, BLOCKED, PENDING) was found");
    return true;
}

static SignalType read_signal(const DecideInput *in)
{
    SignalType type = SIGNAL_NONE;
    const char *word = decide_text(in, in->root, "signal");
    if (word)
        (void)signal_type_find(word, strlen(word), &type); /* the check has seen it */
    return type;
}

bool decide_completion(DecideInput *in, json_t *out)
{
    const char *gate = decide_text(in, in->root, "verification");
    CompletionInput input = {
        .signal = read_signal(in),
        .gate = text_equal(gate, "pass")   ? GATE_PASS
                : text_equal(gate, "fail") ? GATE_FAIL
                                           : GATE_NONE,
        .mode = text_equal(decide_text(in, in->root, "mode"), "autopilot") ? MODE_AUTOPILOT
                                                                           : MODE_SEMI_AUTO,
        .iterations = decide_int(in, in->root, "iterations"),
        .max_iterations = decide_int(in, in->root, "max_iterations"),
        .elapsed_ms = decide_int(in, in->root, "elapsed_ms"),
        .timeout_ms = decide_int(in, in->root, "timeout_ms"),
    };
    const CompletionRow *row = completion_decide(&input);
    decide_put_text(out, "outcome", completion_outcome_word(row->outcome));
    decide_put_text(out, "task_state", task_state_word(row->state));
    decide_put_actions(out, "actions", row->actions);
    decide_put_row(out, row->id, row->why);
    return true;
}

static json_t *signal_names(void)
{
    size_t count;
    const char *const *names = exit_signal_names(&count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(names[i]));
    return list;
}

bool decide_exit(DecideInput *in, json_t *out)
{
    const json_t *code = decide_value(in, in->root, "exit_code");
    const json_t *killer = decide_value(in, in->root, "killed_by");
    const json_t *verified = decide_value(in, in->root, "verified");
    if (!code == !killer)
        return decide_fail(in, "exit_code", NULL, NULL, "give either 'exit_code' or 'killed_by'%s",
                           code ? ", not both" : "");
    if (killer && !exit_signal_is_known(json_string_value(killer)))
        return decide_fail(in, "killed_by", killer, signal_names(),
                           "unknown signal '%s': give a name such as SIGKILL",
                           json_string_value(killer));
    ExitInput input = {
        .end = killer                                       ? EXIT_KILLED
               : decide_int(in, in->root, "exit_code") == 0 ? EXIT_ZERO
                                                            : EXIT_NONZERO,
        .is_by_user = decide_bool(in, in->root, "by_user"),
        .signal = read_signal(in),
        .check = !verified                ? CHECK_OPEN
                 : json_is_true(verified) ? CHECK_GOOD
                                          : CHECK_BAD,
    };
    const ExitRow *row = exit_decide(&input);
    decide_put_text(out, "task_state", task_state_word(row->state));
    decide_put_actions(out, "actions", row->actions);
    decide_put_row(out, row->id, row->why);
    return true;
}

static bool read_results(DecideInput *in, const VerifyConfig *config, VerifyResult **out,
                         size_t *count)
{
    const json_t *list = decide_value(in, in->root, "results");
    *count = json_array_size(list);
    *out = arena_alloc(&in->arena, (*count + 1) * sizeof **out);
    if (*count > config->count)
        return decide_fail(in, "results", NULL, NULL, "'results' has %zu items for %zu commands",
                           *count, config->count);
    for (size_t i = 0; i < *count; i++) {
        const json_t *item = json_array_get(list, i);
        (*out)[i].is_timed_out = decide_bool(in, item, "results[].timed_out");
        (*out)[i].exit_code = (int)decide_int(in, item, "results[].exit_code");
        if (!(*out)[i].is_timed_out && !decide_value(in, item, "results[].exit_code"))
            return decide_fail(in, arena_printf(&in->arena, "results[%zu].exit_code", i), NULL,
                               NULL, "'results[%zu].exit_code' is missing and it did not time out",
                               i);
    }
    return true;
}

static void put_commands(json_t *out, const VerifyConfig *config)
{
    json_t *list = json_array();
    for (size_t i = 0; i < config->count; i++) {
        const VerifyCommand *command = &config->commands[i];
        json_t *item = json_object();
        json_object_set_new(item, "name", json_string(command->name));
        json_object_set_new(item, "command", json_string(command->command));
        json_object_set_new(item, "timeout", json_integer(command->timeout_s));
        json_object_set_new(item, "required", json_boolean(command->is_required));
        json_array_append_new(list, item);
    }
    json_object_set_new(out, "commands", list);
}

static void put_warnings(json_t *out, const VerifyConfig *config, const VerifyJudgement *verdict,
                         const VerifyResult *results, size_t count)
{
    json_t *list = json_array();
    CLEANUP(str_done) Str text = STR_INIT;
    if (verdict->row->warning)
        str_addf(&text, "%s: no verification command is configured; add at least one",
                 verdict->row->warning);
    if (verdict->row->warning)
        json_array_append_new(list, json_string(str_text(&text)));
    for (size_t i = 0; i < count && i < verdict->command; i++) {
        const VerifyCommand *command = &config->commands[i];
        const VerifyRow *row = verification_step(command, &results[i]);
        if (!row->warning)
            continue;
        str_clear(&text);
        str_addf(&text, "%s: optional command '%s' ", row->warning, command->name);
        if (results[i].is_timed_out)
            str_addf(&text, "timed out after %lld s", (long long)command->timeout_s);
        else
            str_addf(&text, "failed with exit code %d", results[i].exit_code);
        json_array_append_new(list, json_string(str_text(&text)));
    }
    json_object_set_new(out, "warnings", list);
}

bool decide_verification(DecideInput *in, json_t *out)
{
    VerifyConfig config;
    VerifyProblem problem;
    VerifyResult *results;
    size_t count;
    if (!verification_read(decide_value(in, in->root, "config"), &in->arena, &config, &problem)) {
        const char *field =
            arena_printf(&in->arena, "config%s%s",
                         *problem.field && *problem.field != '[' ? "." : "", problem.field);
        return decide_fail(in, field, problem.value, NULL, "'%s' %s", field, problem.message);
    }
    if (!read_results(in, &config, &results, &count))
        return false;
    VerifyJudgement verdict = verification_judge(&config, results, count);
    put_commands(out, &config);
    json_object_set_new(out, "pass",
                        verdict.verdict == VERIFY_OPEN
                            ? json_null()
                            : json_boolean(verdict.verdict == VERIFY_PASS));
    if (verdict.verdict == VERIFY_FAIL) {
        json_object_set_new(out, "error", json_string(verdict.row->error));
        json_object_set_new(out, "command", json_string(config.commands[verdict.command].command));
    }
    put_warnings(out, &config, &verdict, results, count);
    decide_put_row(out, verdict.row->id, verdict.row->why);
    return true;
}
