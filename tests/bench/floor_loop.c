/* Floors that start programs, as a program of their own so that they are measured from outside.
 *
 *   otto-floor loop N SLOTS PROGRAM        bare: epoll, posix_spawn, pidfd, nothing kept
 *   otto-floor fill DIR N                  tasks for the next one
 *   otto-floor engine DIR N SLOTS PROGRAM  what an engine cannot do without: both streams in a log,
 *                                          durable before the start and after the end, group commit
 *   otto-floor answer SOCKET               answers each byte on a unix socket with one byte
 *   otto-floor pidfds SOCKET               opens pidfds for pidfd_shim.c */
#include "tests/bench/floor_loop.h"
#include "base/str.h"
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool floor_fail(const char *what)
{
    (void)fprintf(stderr, "otto-floor: %s: %s\n", what, strerror(errno)); /* nowhere else to tell */
    return false;
}

static bool bare_start(int epoll, const char *program, posix_spawn_file_actions_t *actions)
{
    pid_t pid;
    char *argv[] = {(char *)program, NULL};
    if (posix_spawn(&pid, program, actions, NULL, argv, environ) != 0)
        return floor_fail(program);
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = pidfd};
    return pidfd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, pidfd, &event) == 0;
}

static bool bare_loop(unsigned tasks, unsigned slots, const char *program)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1 /* O_WRONLY */, 0);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    unsigned started = 0, ended = 0;
    while (started < MIN(slots, tasks))
        if (!bare_start(epoll, program, &actions))
            return false;
        else
            started++;
    while (ended < tasks) {
        struct epoll_event events[64];
        int count = epoll_wait(epoll, events, COUNT(events), -1);
        for (int i = 0; i < count; i++, ended++) {
            siginfo_t info;
            (void)waitid(P_PIDFD, (id_t)events[i].data.fd, &info, WEXITED); /* it has ended */
            (void)close(events[i].data.fd); /* takes it out of the epoll set */
            if (started < tasks && !bare_start(epoll, program, &actions))
                return false;
            started++;
        }
    }
    posix_spawn_file_actions_destroy(&actions);
    return true;
}

static bool answer(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path); /* checked by bind */
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1))
        return floor_fail(path);
    int fd = accept(listener, NULL, NULL);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        return floor_fail("epoll");
    char byte;
    while (epoll_wait(epoll, &event, 1, -1) == 1 && read(fd, &byte, 1) == 1)
        if (write(fd, &byte, 1) != 1)
            return false;
    return true;
}

static unsigned count_of(const char *text)
{
    int64_t number = 0;
    return text_to_int(text, &number) && number > 0 && number < 10000000 ? (unsigned)number : 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && text_equal(argv[1], "loop"))
        return !bare_loop(count_of(argv[2]), count_of(argv[3]), argv[4]);
    if (argc == 6 && text_equal(argv[1], "engine"))
        return !floor_engine(argv[2], count_of(argv[3]), count_of(argv[4]), argv[5]);
    if (argc == 4 && text_equal(argv[1], "fill"))
        return !floor_fill(argv[2], count_of(argv[3]));
    if (argc == 3 && text_equal(argv[1], "answer"))
        return !answer(argv[2]);
    if (argc == 3 && text_equal(argv[1], "pidfds"))
        return !floor_pidfds(argv[2]);
    (void)fputs("usage: otto-floor loop|fill|engine|answer|pidfds ...\n",
                stderr); /* nowhere else to tell */
    return 2;
}
