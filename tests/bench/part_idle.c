/* P11: what a daemon costs that has nothing to do. P26: memory, also per supervised run. */
#include "http/client.h"
#include "tests/bench/count.h"
#include "tests/bench/watchers.h"
#include <unistd.h>

enum { WAITING = 10000, SLEEPERS = 64, SETTLE_MS = 3000 };

static void wait_ms(int64_t ms)
{
    (void)wait_readable(-1, ms); /* a descriptor that is never ready; Ctrl-C ends it */
}

static bool idle_for(pid_t pid, int64_t ms, double *wakeups, double *ticks, Err *err)
{
    ProcFacts before, after;
    if (!proc_facts(pid, &before, err))
        return false;
    wait_ms(ms);
    if (!proc_facts(pid, &after, err))
        return false;
    *wakeups = (after.wakeups - before.wakeups) * 60000 / (double)ms;
    *ticks = (after.ticks - before.ticks) * 60000 / (double)ms;
    return true;
}

static void idle_rows(Bench *bench, const Daemon *daemon, const char *what, double most_wakeups)
{
    Err err = {0};
    double wakeups = 0, ticks = 0;
    bool is_fine = idle_for(daemon->pid, pick(bench, 60000, 20000), &wakeups, &ticks, &err);
    Row *row =
        table_add(&bench->table, "P11", "/min", "wake-ups, %d tasks waiting, %s", WAITING, what);
    if (is_fine) {
        row->otto = wakeups;
        row_goal(row, wakeups <= most_wakeups, "<= %g a minute", most_wakeups);
    } else {
        row_fail(row, "%s", err.text);
    }
    row = table_add(&bench->table, "P11", "/min", "CPU ticks, %d tasks waiting, %s", WAITING, what);
    if (is_fine) {
        row->otto = ticks;
        row_goal(row, ticks == 0, "0");
    } else {
        row_fail(row, "%s", err.text);
    }
}

static void memory_rows(Bench *bench, const Daemon *daemon)
{
    Err err = {0};
    ProcFacts facts = {0};
    bool is_fine = proc_facts(daemon->pid, &facts, &err);
    Row *row =
        table_add(&bench->table, "P11", "MB", "idle daemon, %d tasks waiting, resident", WAITING);
    if (!is_fine) {
        row_fail(row, "%s", err.text);
        return;
    }
    row->otto = facts.rss_kb / 1024;
    row_note(row, "private %.1f MB, peak %.1f MB", facts.private_kb / 1024, facts.peak_kb / 1024);
    row_goal(row, row->otto <= 10, "<= 10 MB");
    row = table_add(&bench->table, "P26", "MB", "engine with %d tasks, peak", WAITING);
    row->otto = facts.peak_kb / 1024;
    row_goal(row, row->otto <= 25, "<= 25 MB");
}

static bool open_idle(Bench *bench, Subject *subject, Daemon *daemon, Err *err)
{
    SubjectSpec spec = {.below = bench->disk, .slots = 4, .agent = {bench->agent}};
    return subject_make(bench, &spec, subject, err) && subject_add(subject, 1, err) &&
           subject_fill(subject, WAITING, 1, err) && subject_serve(subject, daemon, err);
}

static void idle(Bench *bench)
{
    Err err = {0};
    Subject subject;
    Daemon daemon = {0, -1};
    if (!open_idle(bench, &subject, &daemon, &err)) {
        row_fail(table_add(&bench->table, "P11", "", "idle daemon, %d tasks waiting", WAITING),
                 "%s", err.text);
        return;
    }
    wait_ms(SETTLE_MS); /* what follows a start is not idleness */
    memory_rows(bench, &daemon);
    idle_rows(bench, &daemon, "nobody looks", 1);
    HttpStream *stream = http_stream_open(subject.socket, "/api/v1/events", NULL, &err);
    if (stream) {
        wait_ms(1000);
        idle_rows(bench, &daemon, "one event stream", 6);
        http_stream_close(stream);
    }
    daemon_stop(&daemon);
}

/* Memory of 64 supervised runs: the engine's growth, and the keepers. */
static bool measure_runs(Bench *bench, const Subject *subject, const Daemon *daemon,
                         const char *file, double *per_run_kb, double *keeper_kb, Err *err)
{
    (void)bench;
    ProcFacts before, after, keeper;
    Watched watched = {.count = 0}, keepers = {.count = 0};
    if (!proc_facts(daemon->pid, &before, err) ||
        !subject_call(subject, "POST", "/api/v1/projects/1/run", "{}", NULL, err) ||
        !watched_wait(&watched, file, SLEEPERS, err))
        return false;
    wait_ms(1000); /* until the last start is stored */
    watched_add_parents(&keepers, &watched, daemon->pid);
    if (!keepers.count)
        return err_set(err, ERR_PROCESS, "no keeper was found");
    if (!proc_facts(daemon->pid, &after, err) || !proc_facts(keepers.pids[0], &keeper, err))
        return false;
    *per_run_kb = (after.private_kb - before.private_kb) / SLEEPERS;
    *keeper_kb = keeper.private_kb;
    return true;
}

static void runs(Bench *bench)
{
    Err err = {0};
    Subject subject;
    Daemon daemon = {0, -1};
    double per_run_kb = 0, keeper_kb = 0;
    const char *file = arena_printf(&bench->arena, "%s/pids", bench_folder(bench, bench->disk));
    SubjectSpec spec = {
        .below = bench->disk, .slots = SLEEPERS, .agent = {bench->agent, "sleep", file}};
    bool is_fine = subject_make(bench, &spec, &subject, &err) &&
                   subject_add(&subject, SLEEPERS, &err) &&
                   subject_serve(&subject, &daemon, &err) &&
                   measure_runs(bench, &subject, &daemon, file, &per_run_kb, &keeper_kb, &err);
    daemon_stop(&daemon);
    (void)children_end(); /* agents live on by design */
    Row *row = table_add(&bench->table, "P26", "KB", "engine per supervised run, private, %d runs",
                         SLEEPERS);
    if (!is_fine) {
        row_fail(row, "%s", err.text);
        return;
    }
    row->otto = per_run_kb;
    row_goal(row, per_run_kb <= 64, "<= 64 KB");
    row = table_add(&bench->table, "P26", "KB", "keeper, private");
    row->otto = keeper_kb;
    row_goal(row, keeper_kb <= 400, "<= 400 KB");
}

void part_idle(Bench *bench)
{
    idle(bench);
    if (!is_interrupted())
        runs(bench);
}
