/* One engine per state folder: see lock.h.
 *
 * Waiting is one blocking flock that a timer signal interrupts: no polling. Rejected: inotify on
 * the file (the kernel reports the close before it releases the lock) and a pidfd of the holder
 * (it may let go without ending). The signal is a real-time one, sent to this thread only, and
 * keeps coming, because the first may arrive just before the call blocks. */
#include "proc/lock.h"
#include "base/clock.h"
#include "base/str.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id /* the kernel's name for it; older headers lack it */
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { AGAIN_MS = 50 };

typedef struct Alarm {
    int timer; /* the kernel's own: the C library's timers bring its threads along, 37 KB */
    int signo;
    struct sigaction old_action;
    sigset_t old_mask;
} Alarm;

static void on_alarm(int signo)
{
    (void)signo; /* it only has to interrupt */
}

static struct timespec span(int64_t ms)
{
    return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
}

static bool alarm_start(Alarm *alarm, int64_t after_ms)
{
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART: that is the point */
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID};
    struct itimerspec when = {.it_value = span(MAX(after_ms, 1)), .it_interval = span(AGAIN_MS)};
    sigset_t one;
    alarm->signo = event.sigev_signo = SIGRTMAX - 1;
    event.sigev_notify_thread_id = gettid();
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &alarm->timer) != 0)
        return false;
    sigemptyset(&one);
    sigaddset(&one, alarm->signo);
    (void)sigaction(alarm->signo, &action, &alarm->old_action);     /* valid arguments */
    (void)sigprocmask(SIG_UNBLOCK, &one, &alarm->old_mask);         /* valid arguments */
    (void)syscall(SYS_timer_settime, alarm->timer, 0, &when, NULL); /* valid arguments */
    return true;
}

static void alarm_end(Alarm *alarm)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)syscall(SYS_timer_delete, alarm->timer);           /* made above */
    (void)sigaction(alarm->signo, &ignore, NULL);            /* drops one that is pending */
    (void)sigprocmask(SIG_SETMASK, &alarm->old_mask, NULL);  /* what was there before */
    (void)sigaction(alarm->signo, &alarm->old_action, NULL); /* what was there before */
}

/* false with errno; EWOULDBLOCK: time is up (or there are no timers: the same to the caller). */
static bool wait_for(int fd, int64_t wait_ms)
{
    Alarm alarm;
    int64_t until_ms = wait_ms < 0 ? INT64_MAX : clock_mono_ms() + wait_ms;
    if (wait_ms >= 0 && !alarm_start(&alarm, wait_ms))
        return false;
    bool is_taken;
    do {
        is_taken = flock(fd, LOCK_EX) == 0;
    } while (!is_taken && errno == EINTR && clock_mono_ms() < until_ms);
    int failed = errno;
    if (wait_ms >= 0)
        alarm_end(&alarm);
    errno = failed == EINTR ? EWOULDBLOCK : failed;
    return is_taken;
}

static bool say_busy(int fd, const char *path, Err *err)
{
    char text[32] = "";
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    text[strcspn(text, "\n")] = '\0';
    int64_t pid;
    if (length > 0 && text_to_int(text, &pid))
        return err_set(err, ERR_BUSY, "'%s' is held by process %d", path, (int)pid);
    return err_set(err, ERR_BUSY, "'%s' is held by another process", path);
}

static void write_pid(int fd)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%d\n", (int)getpid());
    /* For messages only: a full disk must not keep the engine from starting. */
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)length, 0) != length)
        return;
}

bool lock_take(const char *path, bool wait, int64_t wait_ms, int *fd, Err *err)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return err_errno(err, "'%s'", path);
    bool is_taken = flock(file, LOCK_EX | LOCK_NB) == 0;
    if (!is_taken && errno == EWOULDBLOCK && wait)
        is_taken = wait_for(file, wait_ms);
    if (!is_taken) {
        bool is_busy = errno == EWOULDBLOCK;
        (void)(is_busy ? say_busy(file, path, err) : err_errno(err, "locking '%s'", path));
        (void)close(file); /* nothing was written */
        return false;
    }
    write_pid(file);
    *fd = file;
    return true;
}

void lock_drop(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* releases the lock; the pid in it is not data */
    *fd = -1;
}
