/* Which process: see ident.h. */
#include "proc/ident.h"
#include "proc/procfs.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Cached for the life of the process: it cannot change while we run, and each start of an agent
 * asks for it. */
static const char *boot_id(void)
{
    static char cached[37];
    if (cached[0])
        return cached;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return "";
    char text[36];
    bool is_whole = read(fd, text, sizeof text) == (ssize_t)sizeof text;
    (void)close(fd); /* only read from */
    if (is_whole)
        memcpy(cached, text, sizeof text);
    return cached;
}

ProcIdent ident_from(pid_t pid, uint64_t start_ticks)
{
    ProcIdent ident = {.pid = pid, .start_ticks = start_ticks};
    memcpy(ident.boot_id, boot_id(), strlen(boot_id()));
    return ident;
}

bool ident_of(pid_t pid, ProcIdent *ident)
{
    ProcStat stat;
    if (pid <= 0 || !procfs_stat(pid, &stat))
        return false;
    *ident = ident_from(pid, stat.start_ticks);
    return true;
}

ProcLife ident_is_alive(const ProcIdent *ident)
{
    ProcStat stat;
    if (ident->pid <= 0 || !ident->start_ticks || !ident->boot_id[0] || !boot_id()[0])
        return PROC_UNKNOWN;
    if (strcmp(ident->boot_id, boot_id()) != 0)
        return PROC_DEAD;
    if (procfs_stat(ident->pid, &stat))
        return stat.start_ticks == ident->start_ticks && stat.state != 'Z' && stat.state != 'X'
                   ? PROC_ALIVE
                   : PROC_DEAD;
    /* A missing entry is proof only when the kernel agrees: /proc may be hidden or not mounted. */
    bool is_missing = errno == ENOENT || errno == ESRCH;
    return is_missing && kill(ident->pid, 0) != 0 && errno == ESRCH ? PROC_DEAD : PROC_UNKNOWN;
}
