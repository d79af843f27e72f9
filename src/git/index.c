/* Copying a git index: see index.h. */
#include "git/index.h"
#include "base/arena.h"
#include "base/file.h"
#include <fcntl.h>
#include <sys/stat.h>

enum { MOST_INDEX_BYTES = 1 << 30 };

bool index_copy(const char *from, const char *to, mode_t mode, Err *err)
{
    struct stat info;
    size_t length = 0;
    if (stat(from, &info) != 0) /* before reading: older is safe, newer is not */
        return err_errno(err, "cannot read '%s'", from);
    CLEANUP(mem_freep) char *bytes = file_read(from, MOST_INDEX_BYTES, &length, err);
    if (!bytes || !file_write_plain(to, bytes, length, mode, err))
        return false;
    const struct timespec times[2] = {info.st_mtim, info.st_mtim};
    return utimensat(AT_FDCWD, to, times, 0) == 0 || err_errno(err, "cannot date '%s'", to);
}
