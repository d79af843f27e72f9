/* Reading /proc: see procfs.h. */
#include "proc/procfs.h"
#include "base/str.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool parse(char *text, ProcStat *out)
{
    /* The command in field 2 may hold blanks and parentheses: start after its last one. */
    char *at = strrchr(text, ')');
    int parent, session;
    if (!at || sscanf(at + 1, " %c %d %*d %d", &out->state, &parent, &session) != 3)
        return false;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    out->parent = parent;
    out->session = session;
    return at && sscanf(at, " %" SCNu64, &out->start_ticks) == 1;
}

bool procfs_stat(pid_t pid, ProcStat *stat)
{
    char path[32], text[1024];
    ProcStat found;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid); /* always fits */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    int failed = length < 0 ? errno : 0;
    (void)close(fd); /* only read from */
    if (length > 0) {
        text[length] = '\0';
        if (parse(text, &found)) {
            *stat = found;
            return true;
        }
    }
    errno = failed ? failed : EPROTO;
    return false;
}

pid_t procfs_next(DIR *proc)
{
    for (struct dirent *entry; (entry = readdir(proc));) {
        int64_t pid;
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && text_to_int(entry->d_name, &pid))
            return (pid_t)pid;
    }
    return 0;
}

int procfs_pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by itself */
}

bool procfs_signal(int pidfd, int signo)
{
    return syscall(SYS_pidfd_send_signal, pidfd, signo, NULL, 0) == 0;
}
