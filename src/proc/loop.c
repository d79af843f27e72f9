/* The event loop: see loop.h. */
#include "proc/loop.h"
#include "base/arena.h"
#include "base/clock.h"
#include "proc/timers.h"
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { BATCH = 64, SIGNALS = 65 };

/* Found by descriptor number. An event carries the generation it was registered with, so one that
 * is already fetched for an unwatched (or closed and reused) descriptor is recognised as old. */
typedef struct Watch {
    LoopFn *fn; /* NULL: not watched */
    void *user;
    uint32_t generation;
} Watch;

typedef struct SignalRow {
    LoopSignalFn *fn;
    void *user;
} SignalRow;

struct Loop {
    int epoll, signals;
    Watch *watches;
    size_t watch_size;
    TimerHeap timers;
    sigset_t taken; /* signals delivered here */
    sigset_t ours;  /* those of them that we blocked ourselves */
    SignalRow rows[SIGNALS];
    LoopTurnFn *turn;
    void *turn_user;
    LoopGuest *guests;
    bool is_stopped;
};

Loop *loop_new(Err *err)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) {
        err_errno(err, "epoll");
        return NULL;
    }
    Loop *loop = mem_alloc(sizeof *loop);
    *loop = (Loop){.epoll = epoll, .signals = -1, .timers = TIMER_HEAP_INIT};
    sigemptyset(&loop->taken);
    sigemptyset(&loop->ours);
    return loop;
}

void loop_free(Loop *loop)
{
    if (!loop)
        return;
    for (LoopGuest *guest; (guest = loop->guests);) {
        loop_guest_remove(guest);
        guest->fn(guest->user);
    }
    if (loop->signals >= 0) {
        (void)close(loop->signals);                        /* only read from */
        (void)sigprocmask(SIG_UNBLOCK, &loop->ours, NULL); /* cannot fail with these arguments */
    }
    (void)close(loop->epoll); /* nothing to lose */
    timers_done(&loop->timers);
    free(loop->watches);
    free(loop);
}

/* -- descriptors ------------------------------------------------------------------------- */

static Watch *watch_slot(Loop *loop, int fd)
{
    size_t need = (size_t)fd + 1;
    if (need > loop->watch_size) {
        size_t size = MAX(need, loop->watch_size * 2);
        loop->watches = mem_grow(loop->watches, size, sizeof *loop->watches);
        memset(loop->watches + loop->watch_size, 0,
               (size - loop->watch_size) * sizeof *loop->watches);
        loop->watch_size = size;
    }
    return &loop->watches[fd];
}

bool loop_watch(Loop *loop, int fd, uint32_t events, LoopFn *fn, void *user, Err *err)
{
    assert(fd >= 0 && fn);
    Watch *watch = watch_slot(loop, fd);
    int operation = watch->fn ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    struct epoll_event event = {.events = events,
                                .data.u64 = (uint64_t)watch->generation << 32 | (uint32_t)fd};
    if (epoll_ctl(loop->epoll, operation, fd, &event) != 0)
        return err_errno(err, "watching descriptor %d", fd);
    watch->fn = fn;
    watch->user = user;
    return true;
}

void loop_unwatch(Loop *loop, int fd)
{
    if (fd < 0 || (size_t)fd >= loop->watch_size || !loop->watches[fd].fn)
        return;
    loop->watches[fd].fn = NULL;
    loop->watches[fd].generation++;
    (void)epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL); /* EBADF: closed too early by a caller */
}

static int deliver(Loop *loop, const struct epoll_event *event)
{
    uint32_t fd = (uint32_t)event->data.u64;
    const Watch *watch = &loop->watches[fd];
    if (!watch->fn || watch->generation != (uint32_t)(event->data.u64 >> 32))
        return 0;
    watch->fn(watch->user, event->events); /* may move the table: watch is stale now */
    return 1;
}

/* -- timers ------------------------------------------------------------------------------ */

void loop_timer_set(Loop *loop, LoopTimer *timer, int64_t at_mono_ms)
{
    timers_set(&loop->timers, timer, at_mono_ms);
}

void loop_timer_clear(Loop *loop, LoopTimer *timer)
{
    timers_clear(&loop->timers, timer);
}

bool loop_timer_is_set(const LoopTimer *timer)
{
    return timer->place != 0;
}

/* -- signals ----------------------------------------------------------------------------- */

static void on_signals(void *user, uint32_t events)
{
    Loop *loop = user;
    struct signalfd_siginfo taken[8];
    (void)events;
    ssize_t length = read(loop->signals, taken, sizeof taken);
    for (size_t i = 0; length > 0 && i < (size_t)length / sizeof taken[0]; i++) {
        const SignalRow *row = &loop->rows[taken[i].ssi_signo % SIGNALS];
        if (row->fn)
            row->fn(row->user, (int)taken[i].ssi_signo);
    }
}

bool loop_on_signal(Loop *loop, int signo, LoopSignalFn *fn, void *user, Err *err)
{
    sigset_t one, before;
    assert(signo > 0 && signo < SIGNALS);
    loop->rows[signo] = (SignalRow){fn, user};
    if (sigismember(&loop->taken, signo))
        return true;
    sigemptyset(&one);
    sigaddset(&one, signo);
    sigaddset(&loop->taken, signo);
    if (sigprocmask(SIG_BLOCK, &one, &before) != 0)
        return err_errno(err, "blocking signal %d", signo);
    if (!sigismember(&before, signo))
        sigaddset(&loop->ours, signo);
    bool is_first = loop->signals < 0;
    loop->signals = signalfd(loop->signals, &loop->taken, SFD_CLOEXEC | SFD_NONBLOCK);
    if (loop->signals < 0)
        return err_errno(err, "signalfd");
    return !is_first || loop_watch(loop, loop->signals, EPOLLIN, on_signals, loop, err);
}

/* -- running ----------------------------------------------------------------------------- */

void loop_set_turn(Loop *loop, LoopTurnFn *fn, void *user)
{
    loop->turn = fn;
    loop->turn_user = user;
}

static int wait_ms(const Loop *loop, int64_t max_wait_ms)
{
    int64_t wait = max_wait_ms < 0 ? INT64_MAX : max_wait_ms;
    if (loop->timers.count) {
        int64_t left = loop->timers.slots[0]->at_mono_ms - clock_mono_ms();
        wait = MIN(wait, MAX(left, 0));
    }
    return wait == INT64_MAX ? -1 : (int)MIN(wait, INT_MAX);
}

int loop_run_once(Loop *loop, int64_t max_wait_ms)
{
    struct epoll_event batch[BATCH];
    int delivered = 0;
    int count = epoll_wait(loop->epoll, batch, BATCH, wait_ms(loop, max_wait_ms));
    for (int i = 0; i < count; i++) /* count is -1 after an interruption */
        delivered += deliver(loop, &batch[i]);
    if (loop->timers.count)
        delivered += timers_fire(&loop->timers, clock_mono_ms());
    if (delivered && loop->turn)
        loop->turn(loop->turn_user);
    return delivered;
}

void loop_run(Loop *loop)
{
    loop->is_stopped = false;
    while (!loop->is_stopped)
        (void)loop_run_once(loop, -1); /* the count is for tests */
}

void loop_stop(Loop *loop)
{
    loop->is_stopped = true;
}

/* -- guests ------------------------------------------------------------------------------ */

void loop_guest_add(Loop *loop, LoopGuest *guest)
{
    guest->next = loop->guests;
    guest->link = &loop->guests;
    if (guest->next)
        guest->next->link = &guest->next;
    loop->guests = guest;
}

void loop_guest_remove(LoopGuest *guest)
{
    if (!guest->link)
        return;
    *guest->link = guest->next;
    if (guest->next)
        guest->next->link = guest->link;
    guest->link = NULL;
}
