/* Workers killed at random moments, and locks that killed gits leave behind (F12, F15).
 *
 * OTTO_SEED picks the moments, OTTO_ROUNDS how many passages are made. */
#include "tests/git/fixture.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static uint64_t seed_now;

static uint64_t random_next(void)
{
    seed_now ^= seed_now << 13;
    seed_now ^= seed_now >> 7;
    seed_now ^= seed_now << 17;
    return seed_now;
}

/* -- a worker process that may be killed ----------------------------------------------------- */

static pid_t worker_start(Fixture *f, const char *name, const json_t *in)
{
    char in_path[PATH_MAX + 16], out_path[PATH_MAX + 16];
    Err err = {0};
    CLEANUP(mem_freep) char *text = json_write(in);
    snprintf(in_path, sizeof in_path, "%s/in.json", f->dir);
    snprintf(out_path, sizeof out_path, "%s/out.json", f->dir);
    assert_true(file_write_plain(in_path, text, strlen(text), 0600, &err));
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, in_path, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char worker[] = GIT_WORKER, job_name[32];
    snprintf(job_name, sizeof job_name, "%s", name);
    char *argv[] = {worker, job_name, NULL};
    pid_t pid = 0;
    assert_int_equal(posix_spawn(&pid, worker, &files, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

/* True when the worker ended by itself before its time was over. */
static bool worker_wait(pid_t pid, int64_t limit_us)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd one = {fd, POLLIN, 0};
    struct timespec left = {limit_us / 1000000, (limit_us % 1000000) * 1000};
    bool has_ended = ppoll(&one, 1, limit_us < 0 ? NULL : &left, NULL) > 0;
    (void)close(fd);
    if (!has_ended)
        (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return has_ended;
}

/* The gits of this test that work on the hub; with a signal they get it. */
static int hub_gits(Fixture *f, int signo)
{
    int count = 0;
    DIR *list = opendir("/proc");
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char path[300];
        size_t length = 0;
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        CLEANUP(mem_freep) char *text = file_read(path, 1 << 20, &length, NULL);
        if (!text || strncmp(text, "git", 3) != 0 || !memmem(text, length, f->hub, strlen(f->hub)))
            continue;
        count++;
        if (signo)
            (void)kill((pid_t)strtol(entry->d_name, NULL, 10), signo);
    }
    if (list)
        (void)closedir(list);
    return count;
}

static json_t *worker_result(Fixture *f)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/out.json", f->dir);
    return json_read_file(path, 4 << 20, NULL);
}

/* Kills the job a few times at random moments, then lets it finish. */
static const json_t *job_under_fire(Fixture *f, const char *name, json_t *in)
{
    int kills = (int)(random_next() % 4);
    for (int i = 0; i < kills; i++) {
        int64_t span_us = random_next() % 4 == 0 ? 80000 : 15000;
        if (worker_wait(worker_start(f, name, in), (int64_t)(random_next() % (uint64_t)span_us)))
            break;
        if (random_next() % 2) /* a crash of the machine takes the gits too */
            while (hub_gits(f, SIGKILL) > 0)
                sched_yield();
    }
    json_t *out = NULL;
    for (int tries = 0; tries < 30; tries++) {
        if (path_is_folder(f->hub))
            job(f, "unlock", json_pack("{s:s,s:i}", "hub", f->hub, "min_age_s", 0));
        assert_true(worker_wait(worker_start(f, name, in), -1));
        json_decref(out);
        out = worker_result(f);
        assert_non_null(out);
        /* A git that outlived its worker may still hold something; the engine would try again. */
        if (json_flag(out, "ok", false) || !strstr("busy git io conflict", get(out, "kind")))
            break;
    }
    json_decref(in);
    json_array_append_new(f->kept, out);
    if (!json_flag(out, "ok", false))
        fail_msg("%s: %s", name, get(out, "error"));
    return out;
}

/* -- the passage of a task --------------------------------------------------------------------- */

static json_t *with(json_t *in, const char *key, const char *value)
{
    json_object_set_new(in, key, json_string(value));
    return in;
}

static json_t *target_in(Fixture *f)
{
    return json_pack("{s:s,s:s,s:s}", "hub", f->hub, "repo", f->repo, "target", "main");
}

static void passage(Fixture *f, int task, const char *kind)
{
    json_t *in = json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i}", "hub", f->hub, "repo", f->repo,
                           "target", "main", "root", f->root, "kind", kind, "project", 1, "task",
                           task, "run", task, "epoch", 1);
    const json_t *ws = job_under_fire(f, "prepare", in);
    assert_string_equal(sh(f, "cd '%s'; git status --porcelain", get(ws, "path")), "");
    sh(f,
       "cd '%s'; echo %d > n%d.txt; mkdir -p many; for i in $(seq 40); do echo %d $i > many/$i; "
       "done\n"
       "git add .; git commit -q -m w; echo more >> n%d.txt; rm -f b.txt",
       get(ws, "path"), task, task, task, task);
    in = json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:s}", "hub", f->hub, "path", get(ws, "path"), "kind",
                   kind, "run", task, "epoch", 1, "turn", 1, "base", get(ws, "base"));
    const json_t *shot = job_under_fire(f, "snapshot", in);
    const char *commit = get(shot, "commit");
    const json_t *merge = NULL, *landed = NULL;
    do {
        in = with(with(target_in(f), "commit", commit), "message", "m");
        merge = job_under_fire(f, "merge", in);
        if (strcmp(get(merge, "state"), "empty") == 0)
            fail_msg("landed without being told");
        assert_text(merge, "state", "clean");
        in = with(with(with(target_in(f), "commit", commit), "old", get(merge, "old")), "new",
                  get(merge, "new"));
        json_object_set_new(in, "task", json_integer(task));
        landed = job_under_fire(f, "land", in);
    } while (strcmp(get(landed, "state"), "moved") == 0);
    assert_text(job_under_fire(f, "deliver", target_in(f)), "delivered", "yes");
    in = retire_in(f, ws, task, 1, commit);
    json_object_set_new(in, "landed",
                        json_pack("{s:s,s:s}", "commit", get(landed, "tip"), "target", "main"));
    const json_t *gone = job_under_fire(f, "retire", in);
    assert_false(json_flag(gone, "kept", true));
    assert_false(path_exists(get(ws, "path")));
}

static void check_world(Fixture *f, int landings)
{
    while (hub_gits(f, 0) > 0)
        sched_yield(); /* gits that outlived their worker end by themselves */
    job(f, "unlock", json_pack("{s:s,s:i}", "hub", f->hub, "min_age_s", 0));
    assert_string_equal(sh(f, "cd \"$R\"; git status --porcelain"), "");
    assert_string_equal(sh(f, "cd \"$R\"; git rev-parse main"),
                        sh(f, "git --git-dir=\"$H\" rev-parse refs/heads/main"));
    assert_string_equal(
        sh(f, "cd \"$R\"; git log --first-parent --merges --oneline main | wc -l | tr -d ' '"),
        arena_printf(&f->arena, "%d", landings));
    assert_string_equal(sh(f, "git -C \"$R\" fsck 2>&1 | grep -v dangling || true"), "");
    assert_string_equal(
        sh(f, "git --git-dir=\"$H\" fsck 2>&1 | grep -v 'dangling\\|notice' || true"), "");
    assert_string_equal(sh(f, "ls -A \"$R/.git\" | grep 'otto\\|lock' || true"), "");
    assert_string_equal(
        sh(f, "ls \"$H/otto/tmp\" | grep -v delivery-turn || true; find \"$H\" -name '*.lock'"),
        "");
    assert_string_equal(sh(f, "ls '%s'", f->root), "");
}

static void killed_workers_are_finished_by_the_next(void **state)
{
    Fixture *f = *state;
    const char *seed = getenv("OTTO_SEED"), *rounds = getenv("OTTO_ROUNDS");
    seed_now = seed ? strtoull(seed, NULL, 10) : (uint64_t)clock_wall_ms() | 1;
    print_message("OTTO_SEED=%llu\n", (unsigned long long)seed_now);
    int count = rounds ? (int)strtol(rounds, NULL, 10) : 6;
    for (int i = 0; i < count; i++)
        passage(f, i + 1, i % 3 == 2 ? "worktree" : "clone");
    check_world(f, count);
}

static void a_hub_half_made_is_made_anew(void **state)
{
    Fixture *f = *state;
    seed_now = (uint64_t)clock_wall_ms() | 1;
    for (int i = 0; i < 3; i++) {
        json_t *in = json_pack("{s:s,s:s}", "hub", f->hub, "repo", f->repo);
        (void)worker_wait(worker_start(f, "hub", in), (int64_t)(random_next() % 12000));
        json_decref(in);
    }
    job(f, "hub", json_pack("{s:s,s:s}", "hub", f->hub, "repo", f->repo));
    assert_text(sync_main(f), "state", "forwarded");
}

/* -- a delivery that stopped half-way -----------------------------------------------------------
 */

/* What a worker leaves that dies after writing some files of the user's checkout. */
static void half_deliver(Fixture *f, const char *old, const char *new)
{
    sh(f,
       "cd \"$R\"; git fetch -q \"$H\" refs/heads/main; touch .git/otto-own-lock.1; ln "
       ".git/otto-own-lock.1 .git/index.lock\n"
       "printf "
       "'{\"target\":\"main\",\"old\":\"%s\",\"new\":\"%s\",\"inode\":%%s,\"is_started\":true}' "
       "$(stat -c %%i .git/index.lock) > \"$H/otto/tmp/forward-main\"\n"
       "cp .git/index .git/otto-own-index.1",
       old, new);
}

static void a_delivery_that_stopped_half_way_is_finished(void **state)
{
    Fixture *f = *state;
    sh(f, "echo dirty > \"$R/b.txt\"");
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    const char *old = get(ws, "base");
    sh(f,
       "cd '%s'; seq 1000 > long.txt; echo n > n.txt; echo changed > a.txt; git rm -q dir/c.txt; "
       "git add .; git commit -q -m w",
       get(ws, "path"));
    const char *commit = get(snapshot_at(f, ws, 1, 1, 1), "commit");
    const json_t *merge = merge_commit(f, commit, 1);
    land_merge(f, merge, commit, 1);
    sh(f, "git -C \"$R\" checkout -q b.txt");
    half_deliver(f, old, get(merge, "new"));
    sh(f,
       "cd \"$R\"; seq 1000 | head -c 500 > long.txt; echo changed > a.txt; rm dir/c.txt"); /* cut
                                                                                               short,
                                                                                               new,
                                                                                               gone
                                                                                             */
    assert_text(job(f, "deliver", target_in(f)), "delivered", "yes");
    assert_string_equal(
        sh(f, "cd \"$R\"; git status --porcelain; git rev-parse main; ls; ls -A .git | grep "
              "'otto\\|lock' || true"),
        arena_printf(&f->arena, "%s\na.txt\nb.txt\nlong.txt\nn.txt", get(merge, "new")));
    assert_string_equal(sh(f, "ls \"$H/otto/tmp\""), "delivery-turn");
}

static void work_done_after_a_half_delivery_is_not_overwritten(void **state)
{
    Fixture *f = *state;
    sh(f, "echo dirty > \"$R/b.txt\"");
    const json_t *ws = prepare_at(f, "clone", 1, 1);
    sh(f, "cd '%s'; echo n > n.txt; echo changed > a.txt; git add .; git commit -q -m w",
       get(ws, "path"));
    const char *commit = get(snapshot_at(f, ws, 1, 1, 1), "commit");
    const json_t *merge = merge_commit(f, commit, 1);
    land_merge(f, merge, commit, 1);
    sh(f, "git -C \"$R\" checkout -q b.txt");
    half_deliver(f, get(ws, "base"), get(merge, "new"));
    sh(f, "cd \"$R\"; echo mine > a.txt; echo n > n.txt");
    assert_text(job(f, "deliver", target_in(f)), "delivered", "dirty");
    assert_string_equal(sh(f, "cat \"$R/a.txt\"; ls \"$R/.git/index.lock\" 2>/dev/null || true"),
                        "mine");
    sh(f, "git -C \"$R\" checkout -q a.txt");
    assert_text(job(f, "deliver", target_in(f)), "delivered", "yes");
    assert_string_equal(sh(f, "cd \"$R\"; git status --porcelain; cat a.txt n.txt"), "changed\nn");
}

/* -- locks ------------------------------------------------------------------------------------- */

static void locks_of_the_dead_go_and_others_stay(void **state)
{
    Fixture *f = *state;
    sync_main(f);
    sh(f, "cd \"$H\"; touch refs/heads/main.lock packed-refs.lock config.lock shallow.lock "
          "otto/index/x.lock; mkdir -p refs/heads/feature\n"
          "touch refs/heads/feature/x.lock; touch -d '1 hour ago' refs/heads/main.lock "
          "packed-refs.lock config.lock shallow.lock otto/index/x.lock refs/heads/feature/x.lock\n"
          "touch HEAD.lock; echo data > \"$R/.git/index.lock\"; touch -d '1 hour ago' "
          "\"$R/.git/index.lock\"");
    int fd = open(arena_printf(&f->arena, "%s/shallow.lock", f->hub), O_RDONLY | O_CLOEXEC);
    /* Our own process does not count as an owner; a child that holds it open does. */
    pid_t pid = 0;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fd, 5);
    char *argv[] = {"sleep", "1000", NULL};
    assert_int_equal(posix_spawnp(&pid, "sleep", &files, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    const json_t *out = job(f, "unlock", json_pack("{s:s}", "hub", f->hub));
    (void)kill(pid, SIGKILL); /* before anything can fail: nothing may be left behind */
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    (void)close(fd);
    assert_int_equal(json_array_size(json_object_get(out, "removed")), 5);
    assert_int_equal(json_array_size(json_object_get(out, "kept")), 2);
    assert_string_equal(
        sh(f, "cd \"$H\"; find . -name '*.lock' | sort; cat \"$R/.git/index.lock\""),
        "./HEAD.lock\n./shallow.lock\ndata");
    out = job(f, "unlock", json_pack("{s:s,s:i}", "hub", f->hub, "min_age_s", 0));
    assert_int_equal(json_array_size(json_object_get(out, "removed")), 2);
}

static void no_lock_goes_while_git_works_on_the_hub(void **state)
{
    Fixture *f = *state;
    sync_main(f);
    sh(f, "touch -d '1 hour ago' \"$H/packed-refs.lock\"");
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = 0;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[0], 0);
    char *argv[] = {"git", arena_printf(&f->arena, "--git-dir=%s", f->hub), "cat-file", "--batch",
                    NULL};
    assert_int_equal(posix_spawnp(&pid, "git", &files, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    while (hub_gits(f, 0) == 0)
        sched_yield();
    const json_t *out = job(f, "unlock", json_pack("{s:s}", "hub", f->hub));
    (void)close(ends[0]);
    (void)close(ends[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(json_array_size(json_object_get(out, "removed")), 0);
    out = job(f, "unlock", json_pack("{s:s}", "hub", f->hub));
    assert_int_equal(json_array_size(json_object_get(out, "removed")), 1);
}

/* -- the worker itself ---------------------------------------------------------------------------
 */

static void the_worker_answers_in_json_and_by_exit_code(void **state)
{
    Fixture *f = *state;
    const char *worker = GIT_WORKER;
    assert_string_equal(sh(f, "echo '{}' | %s nonsense 2>/dev/null && echo 0 || echo $?", worker),
                        "1");
    assert_string_equal(
        sh(f, "echo '{' | %s inspect | cut -c1-32; echo '{}' | %s inspect", worker, worker),
        "{\"ok\":false,\"kind\":\"bad-input\",\"\n{\"ok\":false,\"kind\":\"bad-input\",\"error\":"
        "\"field 'path' is missing\"}");
    assert_string_equal(
        sh(f, "head -c 5000000 /dev/zero | tr '\\0' ' ' | %s inspect | cut -c1-30", worker),
        "{\"ok\":false,\"kind\":\"too-big\",\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GIT_TEST(killed_workers_are_finished_by_the_next),
        GIT_TEST(a_hub_half_made_is_made_anew),
        GIT_TEST(a_delivery_that_stopped_half_way_is_finished),
        GIT_TEST(work_done_after_a_half_delivery_is_not_overwritten),
        GIT_TEST(locks_of_the_dead_go_and_others_stay),
        GIT_TEST(no_lock_goes_while_git_works_on_the_hub),
        GIT_TEST(the_worker_answers_in_json_and_by_exit_code),
    };
    return cmocka_run_group_tests_name("git crash", tests, NULL, NULL);
}
