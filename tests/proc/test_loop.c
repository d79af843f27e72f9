/* proc/loop: descriptors, timers, signals, the turn. */
#include "tests/test.h"

#include "base/clock.h"
#include "base/str.h"
#include "proc/loop.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct Probe {
    Loop *loop;
    int fd, other_fd; /* other_fd is unwatched and closed by the callback */
    int calls, turns;
    Str *order; /* letters, in the order of calls */
    char letter;
    LoopTimer timer;
} Probe;

static int setup(void **state)
{
    Err err = {0};
    *state = loop_new(&err);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    loop_free(*state);
    return 0;
}

static void watch(Loop *loop, int fd, LoopFn *fn, void *user)
{
    Err err = {0};
    if (!loop_watch(loop, fd, EPOLLIN, fn, user, &err))
        fail_msg("%s", err.text);
}

static void count_and_drain(void *user, uint32_t events)
{
    Probe *probe = user;
    uint64_t value;
    assert_true(events & EPOLLIN);
    assert_int_equal(read(probe->fd, &value, sizeof value), sizeof value);
    probe->calls++;
}

static void count_turn(void *user)
{
    ((Probe *)user)->turns++;
}

static void a_ready_descriptor_is_delivered_until_it_is_read(void **state)
{
    Probe probe = {.loop = *state, .fd = eventfd(1, EFD_CLOEXEC)};
    watch(*state, probe.fd, count_and_drain, &probe);
    assert_int_equal(loop_run_once(*state, -1), 1);
    assert_int_equal(loop_run_once(*state, 0), 0);
    assert_int_equal(probe.calls, 1);
    loop_unwatch(*state, probe.fd);
    loop_unwatch(*state, probe.fd); /* twice is harmless */
    close(probe.fd);
}

static void the_turn_comes_once_after_all_events_of_a_wake_up(void **state)
{
    Probe a = {.fd = eventfd(1, EFD_CLOEXEC)}, b = {.fd = eventfd(1, EFD_CLOEXEC)}, turn = {0};
    watch(*state, a.fd, count_and_drain, &a);
    watch(*state, b.fd, count_and_drain, &b);
    loop_set_turn(*state, count_turn, &turn);
    assert_int_equal(loop_run_once(*state, -1), 2);
    assert_int_equal(turn.turns, 1);
    assert_int_equal(loop_run_once(*state, 0), 0);
    assert_int_equal(turn.turns, 1); /* nothing was delivered */
    loop_unwatch(*state, a.fd);
    loop_unwatch(*state, b.fd);
    close(a.fd);
    close(b.fd);
}

static void drop_both(void *user, uint32_t events)
{
    Probe *probe = user;
    (void)events;
    probe->calls++;
    loop_unwatch(probe->loop, probe->fd);
    loop_unwatch(probe->loop, probe->other_fd);
    close(probe->fd);
    close(probe->other_fd);
}

static void an_event_already_fetched_for_an_unwatched_descriptor_is_dropped(void **state)
{
    int one = eventfd(1, EFD_CLOEXEC), two = eventfd(1, EFD_CLOEXEC);
    Probe first = {.loop = *state, .fd = one, .other_fd = two};
    Probe second = {.loop = *state, .fd = two, .other_fd = one};
    watch(*state, one, drop_both, &first);
    watch(*state, two, drop_both, &second);
    assert_int_equal(loop_run_once(*state, -1), 1); /* whoever came first silenced the other */
    assert_int_equal(first.calls + second.calls, 1);
    assert_int_equal(loop_run_once(*state, 0), 0);
}

static void replace_other(void *user, uint32_t events)
{
    Probe *probe = user;
    (void)events;
    probe->calls++;
    loop_unwatch(probe->loop, probe->fd);
    if (probe->other_fd < 0)
        return;
    loop_unwatch(probe->loop, probe->other_fd);
    close(probe->other_fd);
    int again = eventfd(0, EFD_CLOEXEC); /* takes the same number, and is not ready */
    assert_int_equal(again, probe->other_fd);
    watch(probe->loop, again, replace_other, probe);
}

static void a_reused_descriptor_number_does_not_get_the_old_event(void **state)
{
    int one = eventfd(1, EFD_CLOEXEC), two = eventfd(1, EFD_CLOEXEC);
    Probe first = {.loop = *state, .fd = one, .other_fd = two};
    Probe second = {.loop = *state, .fd = two, .other_fd = one};
    watch(*state, one, replace_other, &first);
    watch(*state, two, replace_other, &second);
    assert_int_equal(loop_run_once(*state, -1), 1);
    assert_int_equal(first.calls + second.calls, 1);
    loop_unwatch(*state, one);
    loop_unwatch(*state, two);
    close(one);
    close(two);
}

static void add_letter(void *user)
{
    Probe *probe = user;
    str_add_char(probe->order, probe->letter);
}

static void timers_fire_in_order_of_time_then_of_setting(void **state)
{
    Str order = STR_INIT;
    Probe probes[5];
    static const int after_ms[] = {3, 1, 2, 1, 0};
    int64_t now = clock_mono_ms();
    for (size_t i = 0; i < 5; i++) {
        probes[i] = (Probe){.order = &order, .letter = (char)('a' + i)};
        probes[i].timer = (LoopTimer){.fn = add_letter, .user = &probes[i]};
        loop_timer_set(*state, &probes[i].timer, now + after_ms[i]);
    }
    loop_timer_clear(*state, &probes[2].timer);
    loop_timer_clear(*state, &probes[2].timer);
    while (order.length < 4)
        (void)loop_run_once(*state, -1);
    assert_string_equal(str_text(&order), "ebda");
    assert_false(loop_timer_is_set(&probes[0].timer));
    str_done(&order);
}

static void set_again(void *user)
{
    Probe *probe = user;
    probe->calls++;
    loop_timer_set(probe->loop, &probe->timer, 0); /* long ago: the next turn */
}

static void a_timer_that_sets_itself_does_not_starve_the_loop(void **state)
{
    Probe probe = {.loop = *state};
    probe.timer = (LoopTimer){.fn = set_again, .user = &probe};
    loop_timer_set(*state, &probe.timer, 0);
    assert_int_equal(loop_run_once(*state, -1), 1);
    assert_int_equal(loop_run_once(*state, -1), 1);
    assert_int_equal(probe.calls, 2);
    loop_timer_clear(*state, &probe.timer);
}

static void thousands_of_timers_fire_in_order(void **state)
{
    enum { MANY = 5000 };
    Probe *probes = calloc(MANY, sizeof *probes);
    Str order = STR_INIT;
    uint32_t random = 1;
    for (int i = 0; i < MANY; i++) {
        random = random * 1664525 + 1013904223;
        probes[i] = (Probe){.order = &order, .letter = (char)('a' + random % 26)};
        probes[i].timer = (LoopTimer){.fn = add_letter, .user = &probes[i]};
        loop_timer_set(*state, &probes[i].timer, random % 26);
    }
    for (int i = 0; i < MANY; i += 3)
        loop_timer_clear(*state, &probes[i].timer);
    (void)loop_run_once(*state, -1);
    assert_int_equal(order.length, MANY - (MANY + 2) / 3);
    for (size_t i = 1; i < order.length; i++)
        assert_true(order.bytes[i - 1] <= order.bytes[i]);
    str_done(&order);
    free(probes);
}

static long wake_ups(void)
{
    char line[256];
    long count = -1;
    FILE *file = fopen("/proc/thread-self/status", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1)
            break;
    if (file)
        (void)fclose(file);
    return count;
}

static void an_idle_loop_does_not_wake_up(void **state)
{
    Str order = STR_INIT;
    Probe probe = {.order = &order, .letter = 'x'};
    probe.timer = (LoopTimer){.fn = add_letter, .user = &probe};
    loop_timer_set(*state, &probe.timer, clock_mono_ms() + 300);
    long before = wake_ups();
    assert_int_equal(loop_run_once(*state, -1), 1); /* one wait, one wake-up: the timer */
    assert_true(wake_ups() - before <= 2);          /* a page fault may add one */
    str_done(&order);
}

static void note_signal(void *user, int signo)
{
    Probe *probe = user;
    probe->calls += signo;
    loop_stop(probe->loop);
}

static void signals_come_through_the_loop(void **state)
{
    Err err = {0};
    Probe probe = {.loop = *state};
    assert_true(loop_on_signal(*state, SIGUSR1, note_signal, &probe, &err));
    assert_true(loop_on_signal(*state, SIGTERM, note_signal, &probe, &err));
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    loop_run(*state);
    assert_int_equal(probe.calls, SIGTERM);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    loop_run(*state);
    assert_int_equal(probe.calls, SIGTERM + SIGUSR1);
}

static void a_bad_descriptor_is_refused_with_words(void **state)
{
    Err err = {0};
    Probe probe = {0};
    assert_false(loop_watch(*state, 987, EPOLLIN, count_and_drain, &probe, &err));
    assert_int_equal(err.kind, ERR_IO);
    loop_unwatch(*state, 987);
    loop_unwatch(*state, -1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_ready_descriptor_is_delivered_until_it_is_read),
        TEST(the_turn_comes_once_after_all_events_of_a_wake_up),
        TEST(an_event_already_fetched_for_an_unwatched_descriptor_is_dropped),
        TEST(a_reused_descriptor_number_does_not_get_the_old_event),
        TEST(timers_fire_in_order_of_time_then_of_setting),
        TEST(a_timer_that_sets_itself_does_not_starve_the_loop),
        TEST(thousands_of_timers_fire_in_order),
        TEST(an_idle_loop_does_not_wake_up),
        TEST(signals_come_through_the_loop),
        TEST(a_bad_descriptor_is_refused_with_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
