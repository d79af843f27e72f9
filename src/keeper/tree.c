/* Everything below the keeper: see keeper.h.
 *
 * Real agents put their tool shells in sessions of their own, so a group kill is not enough. The
 * keeper is the sub-reaper: whoever loses its parent becomes the keeper's own child. Killing the
 * own children again and again until there are none therefore ends every tree, and it cannot hit
 * a stranger: the pid of an own child is not given away before we reap it. */
#include "keeper/keeper.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct PidList {
    pid_t *pids;
    size_t count, size;
} PidList;

static void list_add(PidList *list, pid_t pid)
{
    if (list->count == list->size) {
        size_t size = list->size ? list->size * 2 : 64;
        pid_t *grown = realloc(list->pids, size * sizeof *grown);
        if (!grown)
            return; /* the next round finds the rest */
        list->pids = grown;
        list->size = size;
    }
    list->pids[list->count++] = pid;
}

static ssize_t read_file(int dir, const char *path, char *text, size_t size)
{
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, text, size - 1);
    close(fd);
    if (length >= 0)
        text[length] = '\0';
    return length;
}

/* Numbers separated by spaces; a number cut off at the end of the buffer is left out. */
static void list_add_text(PidList *list, char *text)
{
    for (char *end; (end = strchr(text, ' ')); text = end + 1) {
        long pid = strtol(text, NULL, 10);
        if (pid > 0)
            list_add(list, (pid_t)pid);
    }
}

/* Field n (3 and up) of a stat line; the command in field 2 may hold anything. */
static const char *stat_field(const char *text, int n)
{
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < n; field++)
        if ((at = strchr(at, ' ')))
            at++;
    return at;
}

uint64_t tree_own_start_ticks(void)
{
    char text[1024];
    if (read_file(AT_FDCWD, "/proc/self/stat", text, sizeof text) <= 0)
        return 0;
    const char *field = stat_field(text, 22);
    return field ? strtoull(field, NULL, 10) : 0;
}

/* For kernels without /proc/.../children: everybody whose parent is `parent`. */
static void scan_for_children(PidList *list, pid_t parent)
{
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        char path[32], text[1024];
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || length > 20)
            continue;
        memcpy(path, entry->d_name, length);
        memcpy(path + length, "/stat", 6);
        if (read_file(dirfd(proc), path, text, sizeof text) <= 0)
            continue;
        const char *field = stat_field(text, 4);
        if (field && strtol(field, NULL, 10) == parent)
            list_add(list, (pid_t)strtol(entry->d_name, NULL, 10));
    }
    if (proc)
        closedir(proc);
}

static void list_own_children(PidList *list)
{
    char text[4096];
    if (read_file(AT_FDCWD, "/proc/thread-self/children", text, sizeof text) >= 0)
        list_add_text(list, text);
    else
        scan_for_children(list, getpid());
}

/* "/proc/PID/task"; the keeper does without stdio. */
static void task_path(char path[40], pid_t pid)
{
    char digits[16];
    size_t count = 0, at = 6;
    memcpy(path, "/proc/", at);
    for (unsigned rest = (unsigned)pid; rest; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    while (count)
        path[at++] = digits[--count];
    memcpy(path + at, "/task", 6);
}

/* Each thread has its own list of children. */
static void list_children_of(PidList *list, pid_t pid)
{
    char path[40];
    task_path(path, pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return;
    bool is_listed = true;
    for (struct dirent *entry; is_listed && (entry = readdir(tasks));) {
        char name[32], text[4096];
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || length > 20)
            continue;
        memcpy(name, entry->d_name, length);
        memcpy(name + length, "/children", 10);
        is_listed = read_file(dirfd(tasks), name, text, sizeof text) >= 0;
        if (is_listed)
            list_add_text(list, text);
    }
    closedir(tasks);
    if (!is_listed)
        scan_for_children(list, pid);
}

void tree_ask(pid_t agent_group)
{
    enum { MOST = 10000 }; /* a fork bomb is not asked to the end; the kill comes anyway */
    PidList list = {0};
    list_own_children(&list);
    for (size_t i = 0; i < list.count && i < MOST; i++)
        list_children_of(&list, list.pids[i]);
    if (agent_group > 0)
        kill(-agent_group, SIGTERM);
    for (size_t i = 0; i < list.count; i++)
        if (list.pids[i] != agent_group &&
            (agent_group <= 0 || getpgid(list.pids[i]) != agent_group))
            kill(list.pids[i], SIGTERM);
    free(list.pids);
}

void tree_kill(pid_t agent_group)
{
    PidList list = {0};
    if (agent_group > 0)
        kill(-agent_group, SIGKILL); /* first: it needs no list */
    list_own_children(&list);
    for (size_t i = 0; i < list.count; i++)
        kill(list.pids[i], SIGKILL);
    free(list.pids);
}
