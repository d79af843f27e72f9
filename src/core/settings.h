/* Settings: what otto.yaml may say, with defaults, bounds and where each value came from.
 *
 * One table of rows (settings_rows.c) feeds reading, `config show`, `config check` and the page in
 * docs/. Order of calls: settings_init, settings_read (the file), settings_read_env,
 * settings_set_flag (D-193: a flag beats the environment, which beats the file). Every call
 * collects all problems; a value with a problem keeps what it had before. Pure: the file is read
 * and the environment looked up by the caller. */
#pragma once
#include "base/err.h"
#include "base/yaml.h"
#include "core/field.h"
#include "core/verification.h"

#define SETTINGS_FILE "otto.yaml"

typedef struct VerifySettings {
    int64_t default_timeout_s;
    VerifyCommand *commands; /* may be empty: a claim is then believed, with a warning (D-76) */
    size_t count;
} VerifySettings;

typedef struct AgentSettings {
    const char *name; /* its key below agents: */
    const char *kind; /* one of AGENT_KIND_WORDS */
    CommandText command;
    const char *prompt;     /* stdin or arg */
    const char *model;      /* NULL: the agent's own default */
    TextList env;           /* NAME=value */
    const char *scenario;   /* file of a script agent */
    const char *signal_tag; /* NULL: one with a fresh nonce per run (D-62) */
    int line;
} AgentSettings;

typedef struct LimitSettings { /* 0: no limit, where 0 is allowed */
    int64_t max_turns, timeout_minutes, max_retries, max_output_mb, max_conflict_tries;
    int64_t pause_after_failures, stuck_turns;
    int64_t max_steps; /* of a stage */
    int64_t max_tokens, memory_mb, processes;
    double max_cost;
} LimitSettings;

/* Of the gates, by checkpoint. Below 0: not set; the profile, then the workflow decides. */
typedef struct ThresholdSettings {
    double post_plan, mid_exec, post_exec; /* 0 to 1 */
} ThresholdSettings;

typedef struct RetrySettings {
    int64_t post_plan, mid_exec, post_exec;
} RetrySettings;

enum { SETTING_UNSET = -1 };

/* Rules of labels, the most restrictive first (D-255). */
#define REVIEW_RULE_WORDS "per-task-no-auto per-task batch auto-approve skip"
#define REVIEW_MODE_WORDS "auto batch per-task skip"
#define CONVERGENCE_POLICY_WORDS "strict allow-equal ask"

typedef struct SettingOrigin {
    enum { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENV, ORIGIN_FLAG } from;
    int line; /* of the file */
} SettingOrigin;

typedef struct Settings {
    const char *target;   /* NULL: the branch that is checked out */
    const char *workflow; /* a built-in one or one of the user's files; not looked up here */
    const char *agent;    /* NULL: none configured; see settings_agent */
    const char *reviewer; /* agent of the checks; NULL: the task's own */
    int64_t slots;
    bool pause_on_stuck;
    bool learn; /* observed averages and experiences are kept (B-289) */
    VerifySettings verify;
    LimitSettings limits;
    ThresholdSettings thresholds;
    RetrySettings retries;
    AgentSettings *agents;
    size_t agent_count;
    struct {
        const char *kind, *setup;
        TextList copy;
        int64_t setup_timeout_s;
    } workspace;
    struct {
        const char *mode, *network;
        TextList write;
    } sandbox;
    struct {
        const char *mode;
    } land;
    struct {
        const char *mode; /* one of REVIEW_MODE_WORDS (D-253) */
        TextMap labels;   /* label: one of REVIEW_RULE_WORDS */
    } review;
    TextList protect; /* patterns, see base/glob.h */
    struct {
        const char *policy; /* one of CONVERGENCE_POLICY_WORDS */
    } convergence;
    struct {
        const char *confirm; /* ask: a person, once; auto: approved beforehand (B-11) */
    } objective;
    struct {
        bool tests, scope, base_tests;
        TextList test_files; /* patterns; empty: the built-in ones */
    } guards;
    struct {
        int64_t grace_s, poll_ms;
    } observe;
    struct {
        int64_t timeout_s;
        TextMap on_status; /* status: shell text */
    } hooks;
    struct {
        int64_t grace_s, pause_wait_s;
    } stop;
    struct {
        int64_t days;
    } trash;
    SettingOrigin *origins; /* one per row of the table */
    Arena arena;            /* owns every text above */
} Settings;

typedef struct SettingsProblem {
    int line;         /* 0: not from the file */
    const char *key;  /* full path */
    const char *text; /* whole sentence with place, key, value, what is allowed, what was meant */
} SettingsProblem;

enum { SETTINGS_MOST_PROBLEMS = 100 };

typedef struct SettingsProblems {
    SettingsProblem *items;
    size_t count;
    Arena arena;
} SettingsProblems;

#define SETTINGS_PROBLEMS_INIT                                                                     \
    {                                                                                              \
        NULL, 0, ARENA_INIT                                                                        \
    }

typedef const char *SettingsLookup(void *data, const char *variable); /* NULL: not set */

void settings_init(Settings *settings); /* defaults only */
void settings_done(Settings *settings);
void settings_problems_done(SettingsProblems *problems);

/* true when nothing was wrong. */
bool settings_read(const YamlDoc *doc, Settings *settings, SettingsProblems *problems);
bool settings_read_env(SettingsLookup *lookup, void *data, Settings *settings,
                       SettingsProblems *problems);
/* key is the full path ("slots", "limits.max_turns"); an unknown one is a problem. */
bool settings_set_flag(const char *key, const char *text, Settings *settings,
                       SettingsProblems *problems);

/* The named agent, or the default one for NULL. NULL with a clear error: "no agent configured", or
 * an unknown name with the known ones. */
const AgentSettings *settings_agent(const Settings *settings, const char *name, Err *err);

/* [{key, value, origin, help}, ...]; values of environment variables are left out. */
json_t *settings_show_json(const Settings *settings);
void settings_markdown(Str *out); /* the reference page, from the rows */

/* The rows, for help, completion and tests. */
FieldTable settings_rows(void);
FieldTable settings_agent_rows(void);
FieldTable settings_verify_rows(void);
#define AGENT_KIND_WORDS "command script"
