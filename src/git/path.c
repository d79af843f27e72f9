/* Paths as text: see path.h. */
#include "git/path.h"
#include <stdio.h>
#include <string.h>

bool path_is_plain(const char *path)
{
    size_t length = strlen(path);
    if (path[0] != '/' || length < 2 || length >= PATH_MAX - 64 || path[length - 1] == '/')
        return false;
    for (const char *part = path; *part;) {
        size_t size = strcspn(++part, "/");
        if (size == 0 || (size == 1 && part[0] == '.') || (size == 2 && !strncmp(part, "..", 2)))
            return false;
        part += size;
    }
    return true;
}

bool path_join(char out[PATH_MAX], const char *folder, const char *name, Err *err)
{
    if (snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX)
        return true;
    out[0] = '\0';
    return err_set(err, ERR_USAGE, "path too long: '%.200s'", folder);
}
