/* Opens pidfds for others: the other end of pidfd_shim.c. */
#include "tests/bench/floor_loop.h"
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static void send_fd(int to, int fd)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    (void)sendmsg(to, &message, MSG_NOSIGNAL); /* it may be gone; then it needs no answer */
}

static void serve_one(int epoll, int fd)
{
    long pid;
    if (recv(fd, &pid, sizeof pid, 0) != sizeof pid) {
        (void)epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL); /* it ended */
        (void)close(fd);
        return;
    }
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    send_fd(fd, pidfd);
    if (pidfd >= 0)
        (void)close(pidfd); /* the other one has its own now */
}

bool floor_pidfds(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path); /* checked by bind */
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 64) ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) != 0)
        return floor_fail(path);
    while (epoll_wait(epoll, &event, 1, -1) == 1) {
        if (event.data.fd != listener) {
            serve_one(epoll, event.data.fd);
            continue;
        }
        event = (struct epoll_event){.events = EPOLLIN, .data.fd = accept(listener, NULL, NULL)};
        if (event.data.fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event) != 0)
            return floor_fail("accept");
    }
    return true;
}
