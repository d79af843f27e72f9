/* proc/ident, proc/lock, proc/sweep: who is alive, who holds, who is ours. */
#include "tests/test.h"

#include "base/file.h"
#include "proc/ident.h"
#include "proc/lock.h"
#include "proc/spawn.h"
#include "proc/sweep.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static char folder[64];

static int setup_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s", "/tmp/otto-ident-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    Err err = {0};
    (void)state;
    return folder_remove(folder, &err) ? 0 : -1;
}

/* Starts a child and waits for the first byte it prints. */
static pid_t start_and_hear(const char *const *argv, const char *const *envp)
{
    int ends[2];
    char byte;
    Err err = {0};
    Spawned child;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    SpawnSpec spec = {.argv = argv,
                      .envp = envp,
                      .in = -1,
                      .out = ends[1],
                      .err = -1,
                      .flags = SPAWN_GROUP | SPAWN_NO_PIDFD};
    if (!spawn_process(&spec, &child, &err))
        fail_msg("%s", err.text);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child.pid;
}

static void end(pid_t pid)
{
    kill(-pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_process_is_alive_until_it_is_not(void **state)
{
    ProcIdent self, child;
    (void)state;
    assert_true(ident_of(getpid(), &self));
    assert_int_equal(ident_is_alive(&self), PROC_ALIVE);
    pid_t pid = start_and_hear(ARGV("sh", "-c", "echo; exec sleep 1000"), NULL);
    assert_true(ident_of(pid, &child));
    assert_int_equal(ident_is_alive(&child), PROC_ALIVE);
    kill(pid, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(ident_is_alive(&child), PROC_DEAD); /* a zombie */
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(ident_is_alive(&child), PROC_DEAD);
    assert_false(ident_of(pid, &child));
}

static void a_reused_pid_and_another_boot_are_dead(void **state)
{
    ProcIdent ident;
    (void)state;
    assert_true(ident_of(getpid(), &ident));
    ident.start_ticks++;
    assert_int_equal(ident_is_alive(&ident), PROC_DEAD);
    ident.start_ticks--;
    ident.boot_id[0] ^= 1;
    assert_int_equal(ident_is_alive(&ident), PROC_DEAD);
}

static void what_cannot_be_known_is_not_dead(void **state)
{
    (void)state;
    ProcIdent nothing = {0}, half = ident_from(getpid(), 0);
    assert_int_equal(ident_is_alive(&nothing), PROC_UNKNOWN);
    assert_int_equal(ident_is_alive(&half), PROC_UNKNOWN);
}

static void one_holder_at_a_time_and_the_message_names_it(void **state)
{
    char path[128], expected[32];
    int fd = -1, second = -1;
    Err err = {0};
    (void)state;
    (void)snprintf(path, sizeof path, "%s/lock", folder);
    pid_t holder = start_and_hear(ARGV("/proc/self/exe", "hold", path), NULL);
    assert_false(lock_take(path, false, 0, &fd, &err));
    assert_int_equal(err.kind, ERR_BUSY);
    (void)snprintf(expected, sizeof expected, "process %d", (int)holder);
    assert_non_null(strstr(err.text, expected));
    assert_false(lock_take(path, true, 30, &fd, &err)); /* comes back by itself */
    assert_int_equal(err.kind, ERR_BUSY);
    end(holder); /* kill -9 frees it */
    assert_true(lock_take(path, false, 0, &fd, &err));
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_false(lock_take(path, false, 0, &second, &err));
    lock_drop(&fd);
    lock_drop(&fd);
    assert_true(lock_take(path, true, 1000, &fd, &err));
    lock_drop(&fd);
}

static void a_waiter_gets_the_lock_when_it_is_dropped(void **state)
{
    char path[128], byte;
    int fd = -1, ends[2];
    Err err = {0};
    Spawned waiter;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/lock2", folder);
    assert_true(lock_take(path, false, 0, &fd, &err));
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    SpawnSpec spec = {.argv = ARGV("/proc/self/exe", "wait", path),
                      .in = -1,
                      .out = ends[1],
                      .err = -1,
                      .flags = SPAWN_GROUP | SPAWN_NO_PIDFD};
    assert_true(spawn_process(&spec, &waiter, &err));
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1); /* "about to wait" */
    lock_drop(&fd);
    assert_int_equal(read(ends[0], &byte, 1), 1); /* "has it" */
    end(waiter.pid);
    close(ends[0]);
}

static void only_the_marked_die_and_the_decoy_lives(void **state)
{
    Err err = {0};
    int killed = -1;
    char mark[64], longer_mark[64], inside_mark[64];
    (void)state;
    (void)snprintf(mark, sizeof mark, "OTTO_MARK=9-1-%d", (int)getpid());
    (void)snprintf(longer_mark, sizeof longer_mark, "OTTO_MARK=9-1-%d0", (int)getpid());
    (void)snprintf(inside_mark, sizeof inside_mark, "X=OTTO_MARK=9-1-%d", (int)getpid());
    const char *const *argv = ARGV("sh", "-c", "sleep 1000 & echo; wait");
    pid_t ours = start_and_hear(argv, ARGV("PATH=/usr/bin:/bin", mark));
    pid_t longer = start_and_hear(argv, ARGV("PATH=/usr/bin:/bin", longer_mark));
    pid_t inside = start_and_hear(argv, ARGV("PATH=/usr/bin:/bin", inside_mark));
    pid_t none = start_and_hear(argv, ARGV("PATH=/usr/bin:/bin"));
    assert_true(sweep_marked(mark, &killed, &err));
    assert_int_equal(killed, 2); /* the shell and its sleep */
    int status = 0;
    assert_int_equal(waitpid(ours, &status, 0), ours);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(waitpid(longer, &status, WNOHANG), 0);
    assert_int_equal(waitpid(inside, &status, WNOHANG), 0);
    assert_int_equal(waitpid(none, &status, WNOHANG), 0);
    end(longer);
    end(inside);
    end(none);
    assert_true(sweep_marked(mark, &killed, &err));
    assert_int_equal(killed, 0);
}

static void a_mark_without_value_is_refused(void **state)
{
    Err err = {0};
    (void)state;
    assert_false(sweep_marked("", NULL, &err));
    assert_false(sweep_marked("OTTO_MARK=", NULL, &err));
    assert_false(sweep_marked("=x", NULL, &err));
    assert_int_equal(err.kind, ERR_USAGE);
}

/* The other process of the lock tests. */
static int hold(const char *what, const char *path)
{
    int fd = -1;
    Err err = {0};
    bool is_waiting = strcmp(what, "wait") == 0;
    if (is_waiting && write(1, "w", 1) != 1)
        return 1;
    if (!lock_take(path, is_waiting, -1, &fd, &err) || write(1, "h", 1) != 1)
        return 1;
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return hold(argv[1], argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_is_alive_until_it_is_not),
        cmocka_unit_test(a_reused_pid_and_another_boot_are_dead),
        cmocka_unit_test(what_cannot_be_known_is_not_dead),
        cmocka_unit_test(one_holder_at_a_time_and_the_message_names_it),
        cmocka_unit_test(a_waiter_gets_the_lock_when_it_is_dropped),
        cmocka_unit_test(only_the_marked_die_and_the_decoy_lives),
        cmocka_unit_test(a_mark_without_value_is_refused),
    };
    return cmocka_run_group_tests(tests, setup_folder, remove_folder);
}
