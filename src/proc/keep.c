/* The engine's side of a keeper: see keep.h. This file hears, reads and tells; keep_open.c starts
 * and finds.
 *
 * A run that prints nothing costs socketpair, spawn, watch, two receives, unwatch, close and one
 * wait: the journal is not even opened. */
#include "proc/keep.h"
#include "base/arena.h"
#include "base/clock.h"
#include "proc/keep_private.h"
#include "proc/procfs.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLICE_BYTES = 512 * 1024 }; /* read per turn: a flood must not starve the others */

static void settle(Keep *keep);

void keep_enter(Keep *keep)
{
    keep->calls_inside++;
}

void keep_leave(Keep *keep)
{
    if (--keep->calls_inside == 0 && keep->is_let_go)
        settle(keep);
}

static void close_watched(Keep *keep, int *fd)
{
    if (*fd < 0)
        return;
    loop_unwatch(keep->loop, *fd);
    (void)close(*fd); /* a socket or a handle: nothing to lose */
    *fd = -1;
}

/* -- reading and telling ----------------------------------------------------------------- */

bool keep_open_journal(Keep *keep)
{
    char path[PATH_MAX];
    if (keep->journal >= 0)
        return true;
    int length = snprintf(path, sizeof path, "%s/%s.journal", keep->folder, keep->name);
    if (length < 0 || (size_t)length >= sizeof path)
        errno = ENAMETOOLONG;
    else
        keep->journal = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return keep->journal >= 0;
}

static void send_order(Keep *keep, WireType type, int argument)
{
    WireMessage message = {.type = type, .argument = (uint32_t)argument};
    if (keep->socket >= 0)
        (void)send(keep->socket, &message, WIRE_SHORT_BYTES, MSG_DONTWAIT | MSG_NOSIGNAL);
    /* A failure means that the keeper is gone, which the loop is about to tell. */
}

static void tell_exit(Keep *keep)
{
    keep->exit_is_told = true;
    if (keep->calls.on_exit)
        keep->calls.on_exit(keep->user, &keep->exit);
}

/* At most a slice. False: there is more for the next turn. */
static bool read_slice(Keep *keep)
{
    char buffer[JOURNAL_BUFFER_BYTES];
    JournalReader reader = {
        .fd = keep->journal, .offset = keep->offset, .limit = keep->size, .buffer = buffer};
    int64_t slice_end = keep->offset + SLICE_BYTES;
    JournalFrame frame;
    while (!keep->is_let_go && keep->offset != keep->size) {
        if (keep->offset >= slice_end)
            return false;
        if (journal_next(&reader, &frame) != JOURNAL_FRAME) {
            if (keep->size >= 0) /* frames we were told of are not readable */
                keep->exit.write_failed = true;
            return true;
        }
        keep->offset = frame.offset_after;
        if (frame.type == WIRE_FRAME_DATA && keep->calls.on_output)
            keep->calls.on_output(keep->user, frame.stream, frame.bytes, frame.length,
                                  frame.offset_after);
    }
    return true;
}

static void read_journal(Keep *keep)
{
    if (keep->exit_is_told || keep->is_let_go)
        return;
    if (keep->offset != keep->size) {
        if (!keep_open_journal(keep))
            keep->exit.write_failed = true;
        else if (!read_slice(keep)) {
            keep->is_looking = false;
            loop_timer_set(keep->loop, &keep->again, clock_mono_ms());
            return;
        }
        if (keep->size >= 0)
            keep->offset = keep->size;
    }
    if (keep->is_let_go)
        return;
    if (keep->exit_is_known)
        tell_exit(keep);
    else if (keep->ack_is_due)
        send_order(keep, WIRE_ACK, 0);
    keep->ack_is_due = false;
}

static void on_again(void *user)
{
    Keep *keep = user;
    keep_enter(keep);
    if (keep->is_looking)
        keep_look(keep);
    else
        read_journal(keep);
    keep_leave(keep);
}

void keep_look_again(Keep *keep, int64_t after_ms)
{
    keep->is_looking = true;
    loop_timer_set(keep->loop, &keep->again, clock_mono_ms() + after_ms);
}

void keep_read_start(Keep *keep)
{
    struct {
        WireHead head;
        WireStart start;
    } first;
    if (keep->start.keeper_pid == 0 &&
        pread(keep->journal, &first, sizeof first, 0) == (ssize_t)sizeof first &&
        first.head.type == WIRE_FRAME_START)
        keep->start = first.start;
}

/* A keeper of ours that died before its first word has no journal; one of that name is from
 * another run. */
static bool journal_is_ours(Keep *keep)
{
    if (!keep_open_journal(keep))
        return false;
    keep_read_start(keep);
    return !keep->started_pid || keep->started_pid == keep->start.keeper_pid;
}

void keep_conclude(Keep *keep)
{
    bool has_failed = keep->exit.write_failed;
    bool is_ours = journal_is_ours(keep);
    if (is_ours)
        journal_find_exit(keep->journal, keep->offset, &keep->exit);
    else
        keep->exit = (KeepExit){.exit_code = -1, .lost = true, .text = "the keeper is gone"};
    keep->exit.write_failed |= has_failed;
    keep->exit_is_known = true;
    keep->size = is_ours ? -1 : keep->offset;
    read_journal(keep);
}

/* -- hearing ----------------------------------------------------------------------------- */

static void hear_started(Keep *keep, const WireMessage *message)
{
    bool is_fresh = keep->start.keeper_pid == 0 && keep->child;
    keep->start = message->body.start;
    if (is_fresh)
        keep->offset = (int64_t)message->journal_bytes; /* the START frame: nothing to read */
    if (keep->started_is_told)
        return;
    keep->started_is_told = true;
    if (keep->calls.on_started)
        keep->calls.on_started(keep->user, keep->start.agent_pid,
                               ident_from(keep->start.keeper_pid, keep->start.keeper_start_ticks));
}

static void hear_exited(Keep *keep, const WireMessage *message)
{
    bool has_failed = keep->exit.write_failed;
    bool is_silent = message->body.exit.output_bytes == 0;
    keep_exit_from(&message->body.exit, &keep->exit);
    keep->exit.write_failed |= has_failed;
    keep->exit_is_known = true;
    if (is_silent)
        keep->offset = keep->size; /* START and EXIT only: do not open the journal for them */
}

static void hear(Keep *keep, const WireMessage *message, size_t length)
{
    bool is_whole = length == sizeof *message;
    if (keep->exit_is_known)
        return;
    keep->size = MAX((int64_t)message->journal_bytes, keep->offset);
    if (message->type == WIRE_STARTED && is_whole)
        hear_started(keep, message);
    else if (message->type == WIRE_DATA)
        keep->ack_is_due = true;
    else if (message->type == WIRE_EXITED && is_whole)
        hear_exited(keep, message);
    if (!loop_timer_is_set(&keep->again))
        read_journal(keep); /* else the rest of an earlier slice comes first */
}

/* -1: nothing there now; 0: the other end is closed; else a message. */
static ssize_t receive(Keep *keep, WireMessage *message)
{
    for (;;) {
        ssize_t length = recv(keep->socket, message, sizeof *message, MSG_DONTWAIT);
        if (length >= WIRE_SHORT_BYTES)
            return length;
        if (length >= 0)
            return 0;
        /* A keeper that ended with an order of ours unread makes the first call fail with
         * ECONNRESET; its last messages are still there behind it. */
        if (errno == EAGAIN)
            return -1;
        if (errno != EINTR && errno != ECONNRESET)
            return 0;
    }
}

static void socket_is_closed(Keep *keep)
{
    close_watched(keep, &keep->socket);
    if (!keep->exit_is_known) {
        keep_await_death(keep);
    } else if (keep->child) {
        (void)waitpid(keep->child, NULL, 0); /* it said goodbye and is past its last line */
        keep->child = 0;
    }
}

static void on_socket(void *user, uint32_t events)
{
    Keep *keep = user;
    WireMessage message;
    ssize_t length = 0;
    keep_enter(keep);
    bool has_hung_up = events & (EPOLLHUP | EPOLLERR);
    do { /* one message a wake-up; all of them when nothing else will wake us */
        if (keep->exit_is_known) {
            length = has_hung_up ? 0 : -1;
            break;
        }
        length = receive(keep, &message);
        if (length > 0)
            hear(keep, &message, (size_t)length);
    } while (length > 0 && has_hung_up && keep->socket >= 0);
    if (length == 0 && keep->socket >= 0)
        socket_is_closed(keep);
    keep_leave(keep);
}

bool keep_listen(Keep *keep, int socket, Err *err)
{
    keep->socket = socket;
    return loop_watch(keep->loop, socket, EPOLLIN, on_socket, keep, err);
}

/* -- orders ------------------------------------------------------------------------------ */

static void order(Keep *keep, WireType type, int argument)
{
    if (keep->exit_is_known)
        return;
    if (keep->socket >= 0)
        send_order(keep, type, argument);
    else if (keep->pidfd >= 0)
        (void)procfs_signal(keep->pidfd, SIGTERM); /* alive and not talking to us: its own grace */
    else
        keep->wish = (WireMessage){.type = type, .argument = (uint32_t)argument};
}

void keep_stop(Keep *keep, int grace_ms)
{
    order(keep, WIRE_STOP, MAX(grace_ms, 0));
}

void keep_kill(Keep *keep)
{
    order(keep, WIRE_KILL, 0);
}

/* -- life -------------------------------------------------------------------------------- */

static void guest_is_done(void *user)
{
    keep_destroy(user); /* the loop ends first: init reaps the keeper */
}

Keep *keep_new(Loop *loop, const char *folder, const char *name, const KeepCalls *calls, void *user)
{
    Keep *keep = mem_alloc(sizeof *keep);
    *keep = (Keep){.loop = loop,
                   .calls = *calls,
                   .user = user,
                   .folder = mem_strdup(folder),
                   .name = mem_strdup(name),
                   .socket = -1,
                   .journal = -1,
                   .pidfd = -1,
                   .again = {.fn = on_again, .user = keep},
                   .guest = {.fn = guest_is_done, .user = keep}};
    return keep;
}

void keep_destroy(Keep *keep)
{
    loop_guest_remove(&keep->guest);
    loop_timer_clear(keep->loop, &keep->again);
    close_watched(keep, &keep->socket);
    close_watched(keep, &keep->pidfd);
    if (keep->journal >= 0)
        (void)close(keep->journal); /* only read from */
    free(keep->folder);
    free(keep->name);
    free(keep);
}

/* The user let go. A keeper that is our child must be reaped once it ends, so the struct stays in
 * the loop until then. */
static void settle(Keep *keep)
{
    Err ignored = {0};
    loop_timer_clear(keep->loop, &keep->again);
    if (keep->child && !keep->exit_is_known) {
        close_watched(keep, &keep->socket); /* the keeper notices and goes on alone */
        if (keep->pidfd < 0)
            keep->pidfd = procfs_pidfd(keep->child);
        if (keep->pidfd < 0 ||
            !loop_watch(keep->loop, keep->pidfd, EPOLLIN, keep_on_death, keep, &ignored))
            keep->child = 0; /* out of descriptors: a zombie until we end */
    }
    if (!keep->child)
        keep_destroy(keep);
    else if (!keep->guest.link)
        loop_guest_add(keep->loop, &keep->guest);
}

void keep_free(Keep *keep)
{
    if (!keep || keep->is_let_go)
        return;
    keep->is_let_go = true;
    keep->calls = (KeepCalls){0};
    if (!keep->calls_inside)
        settle(keep);
}
