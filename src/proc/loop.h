/* The event loop: descriptors, timers and signals, delivered one after the other on one thread.
 *
 * Touches the kernel only: one epoll, and one signalfd once a signal is asked for.
 * Not libuv: libuv starts programs with fork, and a fork of a daemon with 1 GiB resident costs
 * 45 ms where posix_spawn costs 0.6 ms; its loop would be used without its processes then, and
 * costs a third more per line of output. What is needed fits into one file.
 *
 * There is no tick: an idle loop sleeps in one epoll_wait until a descriptor or the next timer.
 * Callbacks may watch, unwatch (also other descriptors), set and clear timers and stop the loop;
 * they must not free it. */
#pragma once
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

typedef struct Loop Loop;

typedef void LoopFn(void *user, uint32_t events); /* events: EPOLLIN, EPOLLHUP, ... */
typedef void LoopTimerFn(void *user);
typedef void LoopSignalFn(void *user, int signo);
typedef void LoopTurnFn(void *user);

Loop *loop_new(Err *err) NODISCARD;
/* Ends what is left: watches are dropped (their descriptors stay open and belong to whoever opened
 * them), timers are cleared, LoopGuests are told, blocked signals are unblocked. */
void loop_free(Loop *loop);

/* Level-triggered. Watching a watched descriptor changes its events and callback. */
bool loop_watch(Loop *loop, int fd, uint32_t events, LoopFn *fn, void *user, Err *err) NODISCARD;
/* Always before close(): a descriptor that another child still holds between vfork and exec would
 * stay in the epoll set and spin. After this call fn is not called again, also not for an event
 * that was already fetched. Not watched: nothing happens. */
void loop_unwatch(Loop *loop, int fd);

/* Lives in the caller's struct. Fill in fn and user; leave the rest zero. */
typedef struct LoopTimer {
    LoopTimerFn *fn;
    void *user;
    int64_t at_mono_ms; /* set by loop_timer_set */
    uint64_t order;     /* private: equal times fire in the order they were set */
    uint32_t place;     /* private: position in the heap + 1; 0 when not set */
} LoopTimer;

/* Fires once, not before at_mono_ms (clock_mono_ms). Setting a set timer moves it. A time that
 * has passed means the next turn. */
void loop_timer_set(Loop *loop, LoopTimer *timer, int64_t at_mono_ms);
void loop_timer_clear(Loop *loop, LoopTimer *timer);
bool loop_timer_is_set(const LoopTimer *timer);

/* Blocks the signal for this process (children started by spawn.h get an empty mask) and delivers
 * it from the loop. fn NULL: it is swallowed. */
bool loop_on_signal(Loop *loop, int signo, LoopSignalFn *fn, void *user, Err *err) NODISCARD;

/* Called once after everything of one wake-up was delivered: descriptors, signals, due timers.
 * The place for a group commit. Not called for a wake-up that delivered nothing. */
void loop_set_turn(Loop *loop, LoopTurnFn *fn, void *user);

void loop_run(Loop *loop); /* until loop_stop */
/* One wake-up, waiting at most max_wait_ms (-1: without limit). Returns how many callbacks it
 * made, the turn not counted. */
int loop_run_once(Loop *loop, int64_t max_wait_ms);
void loop_stop(Loop *loop); /* loop_run returns after the present turn */

/* Something that lives on in the loop after its user has let it go (a process to reap). fn is
 * called by loop_free, and must free it. Lives in the guest's struct. */
typedef struct LoopGuest LoopGuest;
struct LoopGuest {
    void (*fn)(void *user);
    void *user;
    LoopGuest *next, **link; /* private */
};
void loop_guest_add(Loop *loop, LoopGuest *guest);
void loop_guest_remove(LoopGuest *guest); /* not added: nothing happens */
