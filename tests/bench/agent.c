/* The agent of the benchmark: does nothing, as fast as a program can, and says so.
 *
 *   bench-agent             prints the completion signal
 *   bench-agent stamp FILE  the same, and appends when it began and ended (two int64, monotonic ns)
 *   bench-agent tree FILE   a tree of TREE_PROCESSES processes that never end; each appends its pid
 *   bench-agent sleep FILE  never ends; appends its pid
 *   bench-agent relay PROG  starts PROG and waits for it: what a keeper cannot do without
 *
 * C library only; it is linked statically where that can be, so that its start hides nothing. */
#include "tests/bench/agent.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int64_t now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void say_complete(void)
{
    char line[256];
    const char *tag = getenv("OTTO_SIGNAL_TAG");
    int length =
        snprintf(line, sizeof line, "<%s>COMPLETE</%s>\n", tag ? tag : "otto", tag ? tag : "otto");
    if (write(1, line, (size_t)length) != length)
        _exit(1);
}

static void append(const char *path, const void *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
        _exit(1);
    close(fd);
}

static void stay(const char *path)
{
    int32_t pid = getpid();
    append(path, &pid, sizeof pid);
    for (;;)
        pause();
}

/* Two children, one of which has a child of its own. */
static void grow_tree(const char *path)
{
    if (fork() == 0)
        stay(path);
    if (fork() == 0) {
        if (fork() == 0)
            stay(path);
        stay(path);
    }
    stay(path);
}

static int relay(char **argv)
{
    pid_t pid;
    int status = 1;
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0)
        return 127;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    int64_t began = now();
    if (argc > 2 && strcmp(argv[1], "relay") == 0)
        return relay(argv + 2);
    if (argc > 2 && strcmp(argv[1], "tree") == 0)
        grow_tree(argv[2]);
    if (argc > 2 && strcmp(argv[1], "sleep") == 0)
        stay(argv[2]);
    say_complete();
    if (argc > 2 && strcmp(argv[1], "stamp") == 0) {
        AgentStamp stamp = {began, now()};
        append(argv[2], &stamp, sizeof stamp);
    }
    return 0;
}
