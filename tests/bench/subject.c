/* The subject: see subject.h. */
#include "tests/bench/subject.h"
#include "base/clock.h"
#include "base/file.h"
#include "http/client.h"
#include "store/store.h"
#include "tests/bench/floor_sql.h"
#include <unistd.h>

static const char *const identity[] = {"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost",
                                       "GIT_COMMITTER_NAME=bench",
                                       "GIT_COMMITTER_EMAIL=bench@localhost"};

static bool git(const Subject *subject, const char *const *argv, Err *err)
{
    Program program = {.argv = argv, .envp = subject->env, .cwd = subject->repo, .is_beside = true};
    return program_run(&program, NULL, NULL, err);
}

static bool write_settings(const Subject *subject, const SubjectSpec *spec, Err *err)
{
    Str text = STR_INIT;
    str_addf(&text, "target: main\nagent: bench\nslots: %u\nverify: []\n", spec->slots);
    str_add(&text, "workspace: {kind: none}\nlimits: {pause_after_failures: 0}\n");
    str_add(&text, "agents:\n  bench:\n    kind: command\n    command:\n");
    for (size_t i = 0; i < COUNT(spec->agent) && spec->agent[i]; i++)
        str_addf(&text, "      - %s\n", spec->agent[i]);
    const char *path = arena_printf(&subject->bench->arena, "%s/otto.yaml", subject->repo);
    bool is_written = file_write_plain(path, text.bytes, text.length, 0644, err);
    str_done(&text);
    return is_written;
}

static bool make_repository(const Subject *subject, const SubjectSpec *spec, Err *err)
{
    return git(subject, (const char *[]){"git", "init", "-q", "-b", "main", NULL}, err) &&
           write_settings(subject, spec, err) &&
           git(subject, (const char *[]){"git", "add", "otto.yaml", NULL}, err) &&
           git(subject, (const char *[]){"git", "commit", "-q", "-m", "begin", NULL}, err);
}

bool subject_make(Bench *bench, const SubjectSpec *spec, Subject *subject, Err *err)
{
    Arena *arena = &bench->arena;
    if (access(bench->otto, X_OK) != 0)
        return err_set(err, ERR_NOT_FOUND, "there is no program '%s'", bench->otto);
    *subject = (Subject){.bench = bench,
                         .state = bench_folder(bench, spec->below),
                         .repo = bench_folder(bench, spec->below)};
    subject->socket = arena_printf(arena, "%s/sock", subject->state);
    const char *entries[] = {arena_printf(arena, "OTTO_STATE_DIR=%s", subject->state),
                             identity[0],
                             identity[1],
                             identity[2],
                             identity[3],
                             NULL};
    subject->env = env_with(arena, NULL, entries);
    return make_repository(subject, spec, err) || err_add(err, "making a repository");
}

Program subject_program(const Subject *subject, const char *const *argv)
{
    return (Program){.argv = argv, .envp = subject->env, .cwd = subject->repo};
}

bool subject_add(const Subject *subject, unsigned tasks, Err *err)
{
    Str text = STR_INIT;
    for (unsigned i = 1; i <= tasks; i++)
        str_addf(&text, "# Task number %u\n", i);
    const char *argv[] = {subject->bench->otto, "add", "--from", "-", NULL};
    Program program = subject_program(subject, argv);
    program.input = text.bytes;
    program.input_length = text.length;
    program.is_beside = true;
    bool is_added = program_run(&program, NULL, NULL, err);
    str_done(&text);
    return is_added;
}

static bool fill_one(Store *store, TaskId id, unsigned edges, int64_t at_ms, Err *err)
{
    char title[32];
    (void)snprintf(title, sizeof title, "Task number %u", id); /* fits */
    Task task = {.id = id,
                 .project = 1,
                 .state = TASK_PENDING,
                 .priority = PRIORITY_NONE,
                 .created_ms = at_ms,
                 .ready_ms = edge_of(id, 0) ? 0 : at_ms};
    StoreTaskText text = {.id = id, .project = 1, .title = title, .created_ms = at_ms};
    if (!store_task_save(store, &task, err) || !store_task_text_save(store, &text, err))
        return false;
    for (unsigned e = 0; e < edges; e++) {
        Dependency dependency = {.task = id, .on = edge_of(id, e), .need = NEED_DONE};
        if (dependency.on && !store_dependency_add(store, &dependency, err))
            return false;
    }
    return true;
}

bool subject_fill(const Subject *subject, unsigned tasks, unsigned edges, Err *err)
{
    int64_t at_ms = clock_wall_ms();
    const char *path = arena_printf(&subject->bench->arena, "%s/otto.db", subject->state);
    Store *store = store_open(path, 0, err);
    StoreCounts counts = {0};
    bool is_fine = store && store_counts(store, &counts, err) && store_begin(store, err);
    for (TaskId id = counts.max_task + 1; is_fine && id <= tasks; id++)
        is_fine = fill_one(store, id, edges, at_ms, err);
    is_fine = is_fine && store_commit(store, err);
    store_free(store);
    return is_fine;
}

bool subject_run(const Subject *subject, Cost *cost, Err *err)
{
    const char *argv[] = {subject->bench->otto, "run", "--quiet", NULL};
    Program program = subject_program(subject, argv);
    return program_run(&program, cost, NULL, err);
}

bool subject_wait(const Subject *subject, const Daemon *daemon, Err *err)
{
    int64_t until = clock_mono_ms() + 30000;
    Err not_yet;
    while (!subject_call(subject, "GET", "/api/v1/projects", NULL, NULL, &not_yet)) {
        if (!daemon_lives(daemon))
            return err_set(err, ERR_PROCESS, "'otto serve' has ended");
        if (clock_mono_ms() > until || is_interrupted())
            return err_set(err, ERR_BUSY, "'otto serve' does not answer: %s", not_yet.text);
        usleep(100); /* the wait of this loop */
    }
    return true;
}

bool subject_serve(const Subject *subject, Daemon *daemon, Err *err)
{
    const char *argv[] = {subject->bench->otto, "serve", NULL};
    Program program = subject_program(subject, argv);
    if (!daemon_start(&program, daemon, err))
        return false;
    if (subject_wait(subject, daemon, err))
        return true;
    daemon_kill(daemon);
    return false;
}

bool subject_call(const Subject *subject, const char *method, const char *path, const char *body,
                  json_t **reply, Err *err)
{
    int status = 0;
    Str text = STR_INIT;
    bool is_fine = http_call(subject->socket, method, path, body, NULL, &status, &text, err);
    if (is_fine && status >= 400)
        is_fine = err_set(err, ERR_PROCESS, "%s %s answered %d: %.200s", method, path, status,
                          str_text(&text));
    if (is_fine && reply) {
        *reply = json_read(str_text(&text), text.length, err);
        is_fine = *reply != NULL;
    }
    str_done(&text);
    return is_fine;
}
