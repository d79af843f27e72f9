/* Crashes and full disks: what was acknowledged is there, what was not is not (F1, F5). */
#include "tests/store/support.h"

#include "core/event.h"
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 3 }; /* events of one transaction */

/* In children nobody catches an assertion: any failure is exit code 1. */
static void want(bool is_done, const Err *err)
{
    if (is_done)
        return;
    fprintf(stderr, "child: %s\n", err->text);
    _exit(1);
}

static void put_rows(Store *store, int number, Err *err)
{
    char text[32];
    snprintf(text, sizeof text, "%d", number);
    for (int i = 0; i < ROWS; i++)
        want(store_event_put(store, &(StoreEvent){.kind = EV_TICK, .data = text}, NULL, err), err);
    want(store_meta_set(store, "number", text, err), err);
}

/* The number of whole transactions; half ones fail the test. */
static int64_t store_judge(Room *room)
{
    Err err = {0};
    int64_t last = 0, number = 0;
    const char *value = NULL;
    Store *store = store_must_open(room->path, 0);
    must(store_check(store, &err), &err);
    must(store_event_last(store, &last, &err), &err);
    must(store_meta_find(store, "number", &room->arena, &value, &err), &err);
    if (value)
        number = strtoll(value, NULL, 10);
    assert_int_equal(last, number * ROWS);
    store_free(store);
    return number;
}

static void die_before_the_commit(void *user)
{
    Err err = {0};
    Store *store = store_open(user, 0, &err);
    want(store, &err);
    want(store_begin(store, &err), &err);
    put_rows(store, 1, &err);
    raise(SIGKILL);
}

static void die_after_the_commit(void *user)
{
    Err err = {0};
    Store *store = store_open(user, 0, &err);
    want(store, &err);
    want(store_begin(store, &err), &err);
    put_rows(store, 1, &err);
    want(store_commit(store, &err), &err);
    raise(SIGKILL);
}

static void killed_before_the_commit_nothing_is_there(void **state)
{
    Room *room = *state;
    store_free(store_must_open(room->path, STORE_CREATE));
    int status = child_run(die_before_the_commit, room->path);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(store_judge(room), 0);
}

static void killed_after_the_commit_everything_is_there(void **state)
{
    Room *room = *state;
    store_free(store_must_open(room->path, STORE_CREATE));
    int status = child_run(die_after_the_commit, room->path);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(store_judge(room), 1);
}

/* Commits for ever, and tells the number of each transaction after its commit. */
static void commit_for_ever(const char *path, int pipe_end, int number)
{
    Err err = {0};
    Store *store = store_open(path, 0, &err);
    want(store, &err);
    for (;;) {
        number++;
        want(store_begin(store, &err), &err);
        put_rows(store, number, &err);
        want(store_commit(store, &err), &err);
        want(write(pipe_end, &number, sizeof number) == sizeof number, &err);
    }
}

/* Starts the writer, kills it after it told of `acks` commits; the last number told. */
static int kill_after(const char *path, int number, int acks)
{
    int ends[2], told = number;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        commit_for_ever(path, ends[1], number);
    }
    close(ends[1]);
    for (int i = 0; i < acks; i++)
        assert_int_equal(read(ends[0], &told, sizeof told), sizeof told);
    assert_int_equal(kill(pid, SIGKILL), 0);
    while (read(ends[0], &told, sizeof told) == sizeof told)
        ; /* told between our last look and its death */
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ends[0]);
    return told;
}

static void killed_anywhere_no_acknowledged_commit_is_lost_and_none_is_half(void **state)
{
    Room *room = *state;
    int64_t number = 0;
    store_free(store_must_open(room->path, STORE_CREATE));
    for (int round = 0; round < 40; round++) {
        int told = kill_after(room->path, (int)number, 1 + round * 7 % 13);
        number = store_judge(room);
        /* the last commit may have succeeded without being told */
        assert_true(number == told || number == told + 1);
    }
}

/* ---- full disk ---- */

/* Fills the disk inside transactions until one fails; the number of whole ones. */
static int fill_disk(Store *store, int number, Err *err)
{
    static char bytes[8192];
    char text[32];
    memset(bytes, 'x', sizeof bytes - 1);
    for (;;) {
        bool is_done = true;
        want(store_begin(store, err), err);
        for (int i = 0; i < ROWS; i++)
            is_done = store_event_put(store, &(StoreEvent){.data = bytes}, NULL, err) && is_done;
        snprintf(text, sizeof text, "%d", number + 1);
        is_done = store_meta_set(store, "number", text, err) && is_done;
        bool is_kept = store_commit(store, err);
        if (!is_kept)
            return number;
        if (!is_done)
            _exit(2); /* a commit after a failed put */
        number++;
    }
}

static void want_full(const Err *err)
{
    if (err->kind == ERR_NO_SPACE)
        return;
    fprintf(stderr, "child: expected a full disk, got %s: %s\n", err_kind_name(err->kind),
            err->text);
    _exit(3);
}

/* Ends when there is space again and a further transaction is in. */
static void write_on(Store *store, int number, Err *err)
{
    want(store_begin(store, err), err);
    put_rows(store, number + 1, err);
    want(store_commit(store, err), err);
    want(store_check(store, err), err);
    store_free(store);
}

static void write_beyond_the_file_limit(void *user)
{
    Err err = {0};
    struct rlimit old, limit;
    signal(SIGXFSZ, SIG_IGN);
    Store *store = store_open(user, 0, &err);
    want(store, &err);
    want(getrlimit(RLIMIT_FSIZE, &old) == 0, &err);
    int number = 0;
    for (rlim_t size = 300000; size < 1200000; size += 101000) {
        limit = (struct rlimit){.rlim_cur = size, .rlim_max = old.rlim_max};
        want(setrlimit(RLIMIT_FSIZE, &limit) == 0, &err);
        number = fill_disk(store, number, &err);
        want_full(&err);
    }
    want(setrlimit(RLIMIT_FSIZE, &old) == 0, &err);
    write_on(store, number, &err);
}

static void a_file_that_may_not_grow_is_a_full_disk_and_the_store_goes_on(void **state)
{
    Room *room = *state;
    store_free(store_must_open(room->path, STORE_CREATE));
    int status = child_run(write_beyond_the_file_limit, room->path);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(store_judge(room) > 10);
}

enum { NO_TMPFS = 77 };

static bool tell(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool is_told = file && fputs(text, file) >= 0;
    return file && fclose(file) == 0 && is_told;
}

/* Root without being root: our own user is number 0 of a new namespace. */
static bool become_root(void)
{
    char users[64], groups[64];
    snprintf(users, sizeof users, "0 %u 1", (unsigned)getuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getgid());
    return getuid() == 0 ||
           (unshare(CLONE_NEWUSER) == 0 && tell("/proc/self/setgroups", "deny") &&
            tell("/proc/self/gid_map", groups) && tell("/proc/self/uid_map", users));
}

/* A small file system that only this process sees, over the room's folder. */
static void small_disk(const char *folder, const char *options)
{
    if (!become_root() || unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("otto", folder, "tmpfs", 0, options) != 0)
        _exit(NO_TMPFS);
}

static void write_on_a_small_disk(void *user)
{
    Room *room = user;
    Err err = {0};
    small_disk(room->folder, "size=2m");
    Store *store = store_open(room->path, STORE_CREATE, &err);
    want(store, &err);
    int number = fill_disk(store, 0, &err);
    want_full(&err);
    number = fill_disk(store, number, &err);
    want_full(&err);
    want(mount("otto", room->folder, "tmpfs", MS_REMOUNT, "size=8m") == 0, &err);
    write_on(store, number, &err);
    _exit(store_judge(room) == number + 1 ? 0 : 4);
}

static void a_full_disk_rolls_back_and_the_store_goes_on(void **state)
{
    Room *room = *state;
    int status = child_run(write_on_a_small_disk, room);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_TMPFS)
        skip(); /* not allowed here; the file limit above stands for it */
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void open_on_a_full_disk(void *user)
{
    Room *room = user;
    Err err = {0};
    small_disk(room->folder, "size=16k");
    Store *store = store_open(room->path, STORE_CREATE, &err);
    _exit(store ? 5 : (int)err.kind);
}

static void a_store_that_cannot_be_made_says_that_the_disk_is_full(void **state)
{
    Room *room = *state;
    int status = child_run(open_on_a_full_disk, room);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_TMPFS)
        skip(); /* not allowed here */
    assert_int_equal(WEXITSTATUS(status), ERR_NO_SPACE);
}

/* ---- two processes ---- */

typedef struct Talk {
    const char *path;
    int ask, tell; /* ends of two pipes */
} Talk;

static void wait_for_word(int end)
{
    char word;
    if (read(end, &word, 1) != 1)
        _exit(6);
}

/* Writes one transaction for each word it hears: opens it, tells, hears, commits, tells. */
static void write_when_told(const Talk *talk)
{
    Err err = {0};
    Store *store = store_open(talk->path, 0, &err);
    want(store, &err);
    for (int number = 1; number <= 5; number++) {
        wait_for_word(talk->ask);
        want(store_begin(store, &err), &err);
        put_rows(store, number, &err);
        want(write(talk->tell, "o", 1) == 1, &err);
        wait_for_word(talk->ask);
        want(store_commit(store, &err), &err);
        want(write(talk->tell, "c", 1) == 1, &err);
    }
    store_free(store);
    _exit(0);
}

static int64_t last_event(Store *store)
{
    Err err = {0};
    int64_t last = -1;
    must(store_event_last(store, &last, &err), &err);
    return last;
}

static void say(int to, int from)
{
    char word;
    assert_int_equal(write(to, "g", 1), 1);
    assert_int_equal(read(from, &word, 1), 1);
}

static void a_reader_in_another_process_sees_committed_states_only(void **state)
{
    Room *room = *state;
    Err err = {0};
    int there[2], back[2], status = 0;
    store_free(store_must_open(room->path, STORE_CREATE));
    assert_int_equal(pipe(there), 0);
    assert_int_equal(pipe(back), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        write_when_told(&(Talk){room->path, there[0], back[1]});

    Store *reader = store_must_open(room->path, STORE_READ_ONLY);
    for (int number = 1; number <= 5; number++) {
        say(there[1], back[0]); /* its transaction is open */
        assert_int_equal(last_event(reader), (number - 1) * ROWS);
        must(store_begin(reader, &err), &err);
        assert_int_equal(last_event(reader), (number - 1) * ROWS);
        say(there[1], back[0]); /* committed */
        assert_int_equal(last_event(reader), (number - 1) * ROWS);
        store_rollback(reader);
        assert_int_equal(last_event(reader), number * ROWS);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    store_free(reader);
    for (int i = 0; i < 2; i++) {
        close(there[i]);
        close(back[i]);
    }
    assert_int_equal(store_judge(room), 5);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_setup, room_teardown)
    const struct CMUnitTest tests[] = {
        ROOM(killed_before_the_commit_nothing_is_there),
        ROOM(killed_after_the_commit_everything_is_there),
        ROOM(killed_anywhere_no_acknowledged_commit_is_lost_and_none_is_half),
        ROOM(a_file_that_may_not_grow_is_a_full_disk_and_the_store_goes_on),
        ROOM(a_full_disk_rolls_back_and_the_store_goes_on),
        ROOM(a_store_that_cannot_be_made_says_that_the_disk_is_full),
        ROOM(a_reader_in_another_process_sees_committed_states_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
