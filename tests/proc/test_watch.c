/* proc/watch: named files of one folder, with real notices of the kernel. */
#include "tests/test.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "proc/watch.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, NO_POLL = 0, QUICK_POLL = 20, REST = 5 };

typedef struct Room {
    Loop *loop;
    Watch *watch;
    char root[64];
    int calls[3];  /* of names[] */
    char last[32]; /* what the first name held when it was told */
    bool frees;    /* the callback frees the watch */
} Room;

static const char *const names[] = {".auto-signal", ".status.json", ".auto-stop"};

static int setup(void **state)
{
    Err err = {0};
    Room *room = calloc(1, sizeof *room);
    (void)snprintf(room->root, sizeof room->root, "/tmp/otto-watch.XXXXXX");
    room->loop = loop_new(&err);
    *state = room;
    return room->loop && mkdtemp(room->root) ? 0 : -1;
}

static int teardown(void **state)
{
    Room *room = *state;
    Err err = {0};
    watch_free(room->watch);
    loop_free(room->loop);
    bool is_removed = folder_remove(room->root, &err);
    free(room);
    return is_removed ? 0 : -1;
}

/* Paths and files of the room */

static const char *at(const Room *room, const char *path)
{
    static char full[4][PATH_MAX];
    static unsigned turn;
    char *out = full[turn++ % 4];
    (void)snprintf(out, PATH_MAX, "%s/%s", room->root, path);
    return out;
}

static void put(const Room *room, const char *path, const char *text)
{
    Err err = {0};
    if (!file_write_plain(at(room, path), text, strlen(text), 0644, &err))
        fail_msg("%s", err.text);
}

static void folder(const Room *room, const char *path)
{
    assert_int_equal(mkdir(at(room, path), 0755), 0);
}

static void move(const Room *room, const char *from, const char *to)
{
    assert_int_equal(rename(at(room, from), at(room, to)), 0);
}

static void on_change(void *user, const char *name)
{
    Room *room = user;
    for (size_t i = 0; i < COUNT(names); i++)
        room->calls[i] += strcmp(names[i], name) == 0;
    CLEANUP(str_done) Str text = STR_INIT;
    if (watch_read(room->root, names[0], sizeof room->last - 1, &text, NULL))
        (void)snprintf(room->last, sizeof room->last, "%s", str_text(&text)); /* fits */
    if (room->frees) {
        watch_free(room->watch);
        room->watch = NULL;
    }
}

static void begin(Room *room, const char *below, int64_t poll_ms)
{
    Err err = {0};
    WatchSpec spec = {.root = room->root,
                      .below = below,
                      .names = names,
                      .name_count = COUNT(names),
                      .poll_ms = poll_ms,
                      .debounce_ms = REST};
    room->watch = watch_start(room->loop, &spec, on_change, room, &err);
    if (!room->watch)
        fail_msg("%s", err.text);
}

/* Runs the loop until name number i was told more often than before. */
static void wait_told(Room *room, size_t i, int before)
{
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    while (room->calls[i] <= before) {
        if (clock_mono_ms() > until)
            fail_msg("'%s' was not told", names[i]);
        (void)loop_run_once(room->loop, 100);
    }
}

static void wait_there(Room *room, bool is_there)
{
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    while (watch_is_there(room->watch) != is_there) {
        if (clock_mono_ms() > until)
            fail_msg("the folder is %s", is_there ? "not seen" : "still seen");
        (void)loop_run_once(room->loop, 100);
    }
}

/* All that was written before is told: a change of the last name ends it. */
static void drain(Room *room, const char *last_path)
{
    int before = room->calls[2];
    put(room, last_path, "{}");
    wait_told(room, 2, before);
}

/* Cases */

static void files_that_are_there_are_told_once(void **state)
{
    Room *room = *state;
    put(room, ".auto-signal", "{}");
    begin(room, "", NO_POLL);
    assert_int_equal(room->calls[0], 0); /* from the loop, not from the call */
    wait_told(room, 0, 0);
    drain(room, ".auto-stop");
    assert_int_equal(room->calls[0], 1);
    assert_int_equal(room->calls[1], 0);
}

static void a_file_that_comes_changes_and_goes_is_told(void **state)
{
    Room *room = *state;
    begin(room, "", NO_POLL);
    put(room, ".auto-signal", "{}");
    wait_told(room, 0, 0);
    int before = room->calls[0];
    put(room, ".auto-signal", "{\"a\":1}");
    wait_told(room, 0, before);
    before = room->calls[0];
    assert_int_equal(unlink(at(room, ".auto-signal")), 0);
    wait_told(room, 0, before);
}

static void other_files_are_not_told(void **state)
{
    Room *room = *state;
    begin(room, "", NO_POLL);
    put(room, ".auto-signal.tmp", "{}");
    put(room, "notes.md", "x");
    drain(room, ".auto-stop");
    assert_int_equal(room->calls[0] + room->calls[1], 0);
}

static void a_rename_over_the_file_is_told(void **state)
{
    Room *room = *state;
    put(room, ".auto-signal", "old");
    begin(room, "", NO_POLL);
    wait_told(room, 0, 0);
    int before = room->calls[0];
    put(room, ".auto-signal.tmp", "new");
    move(room, ".auto-signal.tmp", ".auto-signal");
    wait_told(room, 0, before);
    CLEANUP(str_done) Str text = STR_INIT;
    Err err = {0};
    assert_true(watch_read(room->root, ".auto-signal", 100, &text, &err));
    assert_string_equal(str_text(&text), "new");
}

static void a_half_written_file_is_told_again_when_it_is_whole(void **state)
{
    Room *room = *state;
    Err err = {0};
    CLEANUP(str_done) Str text = STR_INIT;
    begin(room, "", NO_POLL);
    int fd = open(at(room, ".auto-signal"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(write(fd, "{\"step\":", 8), 8);
    wait_told(room, 0, 0);
    assert_true(watch_read(room->root, ".auto-signal", 100, &text, &err));
    assert_string_equal(str_text(&text), "{\"step\":"); /* the reader decides */
    int before = room->calls[0];
    assert_int_equal(write(fd, "\"plan\"}", 7), 7);
    close(fd);
    wait_told(room, 0, before);
    assert_true(watch_read(room->root, ".auto-signal", 100, &text, &err));
    assert_string_equal(str_text(&text), "{\"step\":\"plan\"}");
}

static void a_folder_that_is_made_later_is_found(void **state)
{
    Room *room = *state;
    begin(room, "AiTasks/one/deep", NO_POLL);
    assert_false(watch_is_there(room->watch));
    folder(room, "AiTasks");
    folder(room, "AiTasks/one");
    folder(room, "AiTasks/one/deep"); /* made faster than notices are read */
    put(room, "AiTasks/one/deep/.auto-signal", "{}");
    wait_told(room, 0, 0);
    assert_true(watch_is_there(room->watch));
    assert_true(watch_has_notices(room->watch));
}

static void a_folder_that_is_made_part_by_part_is_found(void **state)
{
    Room *room = *state;
    begin(room, "AiTasks/one", NO_POLL);
    folder(room, "AiTasks");
    (void)loop_run_once(room->loop, 1000);
    folder(room, "AiTasks/other");
    folder(room, "AiTasks/one");
    wait_there(room, true);
    put(room, "AiTasks/one/.status.json", "{}");
    wait_told(room, 1, 0);
}

static void a_folder_moved_into_place_is_found(void **state)
{
    Room *room = *state;
    begin(room, "work", NO_POLL);
    folder(room, "beside");
    put(room, "beside/.auto-signal", "{}");
    move(room, "beside", "work");
    wait_told(room, 0, 0);
}

static void a_folder_removed_and_made_again_is_watched_again(void **state)
{
    Room *room = *state;
    Err err = {0};
    folder(room, "work");
    put(room, "work/.auto-signal", "{}");
    begin(room, "work", NO_POLL);
    wait_told(room, 0, 0);
    for (int i = 0; i < 5; i++) {
        int before = room->calls[0];
        assert_true(folder_remove(at(room, "work"), &err));
        wait_told(room, 0, before); /* the file has gone */
        wait_there(room, false);
        before = room->calls[0];
        folder(room, "work");
        put(room, "work/.auto-signal", "{}");
        wait_told(room, 0, before);
        wait_there(room, true);
    }
}

static void a_folder_replaced_between_two_looks_is_watched_anew(void **state)
{
    Room *room = *state;
    folder(room, "work");
    begin(room, "work", NO_POLL);
    move(room, "work", "old");
    folder(room, "work");
    put(room, "work/.auto-signal", "{}");
    wait_told(room, 0, 0);
    int before = room->calls[0];
    put(room, "old/.auto-signal", "{}"); /* no longer ours */
    drain(room, "work/.auto-stop");
    assert_int_equal(room->calls[0], before);
}

/* No notice tells that a parent was moved: only the poll can see it. */
static void the_poll_finds_what_notices_do_not_tell(void **state)
{
    Room *room = *state;
    folder(room, "a");
    folder(room, "a/work");
    begin(room, "a/work", QUICK_POLL);
    wait_there(room, true);
    move(room, "a", "gone");
    wait_there(room, false);
    folder(room, "a");
    folder(room, "a/work");
    put(room, "a/work/.auto-signal", "{}");
    wait_told(room, 0, 0);
}

static void a_link_in_place_of_the_folder_is_not_followed(void **state)
{
    Room *room = *state;
    Err err = {0};
    folder(room, "secret");
    put(room, "secret/.auto-signal", "{}");
    assert_int_equal(symlink("secret", at(room, "work")), 0);
    begin(room, "work", QUICK_POLL);
    assert_int_equal(watch_open(room->root, "work", false, &err), -1);
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_int_equal(watch_open(room->root, "work", true, &err), -1);
    put(room, "secret/.auto-signal", "{\"a\":1}");
    assert_int_equal(unlink(at(room, "work")), 0);
    folder(room, "work");
    drain(room, "work/.auto-stop");
    assert_int_equal(room->calls[0], 0); /* what lies behind the link was never told */
}

static void a_link_in_place_of_the_file_is_refused(void **state)
{
    Room *room = *state;
    Err err = {0};
    CLEANUP(str_done) Str text = STR_INIT;
    put(room, "secret", "hidden");
    begin(room, "", NO_POLL);
    assert_int_equal(symlink("secret", at(room, ".auto-signal")), 0);
    wait_told(room, 0, 0);
    assert_false(watch_read(room->root, ".auto-signal", 100, &text, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_string_equal(str_text(&text), "");
}

static void only_small_regular_files_are_read(void **state)
{
    Room *room = *state;
    Err err = {0};
    CLEANUP(str_done) Str text = STR_INIT;
    assert_int_equal(mkfifo(at(room, "pipe"), 0644), 0);
    folder(room, "folder");
    put(room, "large", "0123456789");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.80s/socket", room->root);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    static const struct {
        const char *name;
        ErrKind kind;
    } cases[] = {
        {"pipe", ERR_REFUSED},     {"folder", ERR_REFUSED},    {"socket", ERR_REFUSED},
        {"large", ERR_TOO_BIG},    {"missing", ERR_NOT_FOUND}, {"../x", ERR_REFUSED},
        {"folder/x", ERR_REFUSED}, {"", ERR_REFUSED},          {"..", ERR_REFUSED},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        err = (Err){0};
        assert_false(watch_read(room->root, cases[i].name, 9, &text, &err));
        assert_int_equal(err.kind, cases[i].kind);
    }
    assert_true(watch_read(room->root, "large", 10, &text, &err));
    assert_int_equal(text.length, 10);
}

static void a_write_replaces_a_planted_link(void **state)
{
    Room *room = *state;
    Err err = {0};
    CLEANUP(str_done) Str text = STR_INIT;
    put(room, "victim", "safe");
    assert_int_equal(symlink("victim", at(room, ".auto-stop")), 0);
    assert_int_equal(symlink("victim", at(room, ".auto-stop.tmp")), 0);
    int fd = watch_open(room->root, "", false, &err);
    assert_true(watch_write_at(fd, ".auto-stop", "stop", &err));
    close(fd);
    assert_true(watch_read(room->root, ".auto-stop", 100, &text, &err));
    assert_string_equal(str_text(&text), "stop");
    assert_true(watch_read(room->root, "victim", 100, &text, &err));
    assert_string_equal(str_text(&text), "safe");
    assert_false(path_exists(at(room, ".auto-stop.tmp")));
}

static void folders_are_made_without_leaving_the_root(void **state)
{
    Room *room = *state;
    Err err = {0};
    int fd = watch_open(room->root, "AiTasks/one", true, &err);
    assert_true(fd >= 0);
    close(fd);
    assert_true(path_is_folder(at(room, "AiTasks/one")));
    assert_int_equal(watch_open(room->root, "../x", true, &err), -1);
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_int_equal(watch_open(room->root, "AiTasks/./one", true, &err), -1);
    assert_int_equal(watch_open(room->root, "nothing", false, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

/* How many notices the kernel keeps for one reader. */
static int64_t queue_size(void)
{
    Err err = {0};
    int64_t size = 0;
    char *text = file_read("/proc/sys/fs/inotify/max_queued_events", 100, NULL, &err);
    if (text) {
        text[strcspn(text, "\n")] = '\0';
        if (!text_to_int(text, &size))
            size = 0;
    }
    free(text);
    return size;
}

static void a_full_queue_leads_to_a_new_look(void **state)
{
    Room *room = *state;
    int64_t size = queue_size();
    if (size <= 0 || size > 200000)
        skip();
    begin(room, "", NO_POLL);
    int fd[2] = {open(at(room, "x"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644),
                 open(at(room, "y"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)};
    for (int64_t i = 0; i < size + 100; i++) /* two in turn: equal notices would become one */
        assert_int_equal(write(fd[i % 2], "z", 1), 1);
    put(room, ".auto-signal", "{}"); /* its own notices find no place */
    close(fd[0]);
    close(fd[1]);
    wait_told(room, 0, 0);
    int before = room->calls[0];
    put(room, ".auto-signal", "{\"a\":1}"); /* and the watch works again */
    wait_told(room, 0, before);
}

static void ten_thousand_writes_end_with_the_last_one_told(void **state)
{
    Room *room = *state;
    begin(room, "", NO_POLL);
    char number[32];
    for (int i = 1; i <= 10000; i++) {
        (void)snprintf(number, sizeof number, "%d", i);
        put(room, ".auto-signal.tmp", number);
        move(room, ".auto-signal.tmp", ".auto-signal");
        if (i % 100 == 0)
            (void)loop_run_once(room->loop, 0);
    }
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    while (strcmp(room->last, "10000") != 0 && clock_mono_ms() < until)
        (void)loop_run_once(room->loop, 100);
    assert_string_equal(room->last, "10000");
    assert_in_range(room->calls[0], 1, 10000);
}

static void a_steady_stream_is_told_before_it_ends(void **state)
{
    Room *room = *state;
    begin(room, "", NO_POLL);
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    while (room->calls[0] < 2 && clock_mono_ms() < until) {
        put(room, ".auto-signal", "{}"); /* never a rest between two */
        (void)loop_run_once(room->loop, 0);
    }
    assert_in_range(room->calls[0], 2, 1000000);
}

static void the_callback_may_end_the_watch(void **state)
{
    Room *room = *state;
    room->frees = true;
    put(room, ".auto-signal", "{}");
    put(room, ".status.json", "{}");
    begin(room, "", QUICK_POLL);
    wait_told(room, 0, 0);
    assert_null(room->watch);
    assert_int_equal(room->calls[1], 0);
    assert_int_equal(loop_run_once(room->loop, 0), 0); /* nothing is left in the loop */
}

static void nothing_is_polled_after_the_end(void **state)
{
    Room *room = *state;
    begin(room, "not/there", QUICK_POLL);
    watch_free(room->watch);
    room->watch = NULL;
    assert_int_equal(loop_run_once(room->loop, 3 * QUICK_POLL), 0);
}

static void bad_specifications_are_refused(void **state)
{
    Room *room = *state;
    Err err = {0};
    const char *const bad[] = {"a/b"}, *const good[] = {"a"};
    const char *const many[WATCH_NAMES_MAX + 1] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    WatchSpec spec = {.root = room->root, .below = "", .names = bad, .name_count = 1};
    assert_null(watch_start(room->loop, &spec, on_change, room, &err));
    spec.names = many;
    spec.name_count = COUNT(many);
    assert_null(watch_start(room->loop, &spec, on_change, room, &err));
    spec = (WatchSpec){.root = at(room, "none"), .below = "", .names = good, .name_count = 1};
    assert_null(watch_start(room->loop, &spec, on_change, room, &err));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(files_that_are_there_are_told_once),
        CASE(a_file_that_comes_changes_and_goes_is_told),
        CASE(other_files_are_not_told),
        CASE(a_rename_over_the_file_is_told),
        CASE(a_half_written_file_is_told_again_when_it_is_whole),
        CASE(a_folder_that_is_made_later_is_found),
        CASE(a_folder_that_is_made_part_by_part_is_found),
        CASE(a_folder_moved_into_place_is_found),
        CASE(a_folder_removed_and_made_again_is_watched_again),
        CASE(a_folder_replaced_between_two_looks_is_watched_anew),
        CASE(the_poll_finds_what_notices_do_not_tell),
        CASE(a_link_in_place_of_the_folder_is_not_followed),
        CASE(a_link_in_place_of_the_file_is_refused),
        CASE(only_small_regular_files_are_read),
        CASE(a_write_replaces_a_planted_link),
        CASE(folders_are_made_without_leaving_the_root),
        CASE(a_full_queue_leads_to_a_new_look),
        CASE(ten_thousand_writes_end_with_the_last_one_told),
        CASE(a_steady_stream_is_told_before_it_ends),
        CASE(the_callback_may_end_the_watch),
        CASE(nothing_is_polled_after_the_end),
        CASE(bad_specifications_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
