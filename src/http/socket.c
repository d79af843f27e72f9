/* Addresses of unix sockets: see socket.h. */
#include "http/socket.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool socket_address(const char *path, SocketAddress *address, Err *err)
{
    *address = (SocketAddress){.name.sun_family = AF_UNIX, .folder = -1};
    size_t length = strlen(path), size = sizeof address->name.sun_path;
    if (length < size) {
        memcpy(address->name.sun_path, path, length + 1);
        return true;
    }
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    if (!slash || slash == path || length >= sizeof folder)
        return err_set(err, ERR_USAGE, "the path of the socket '%s' is too long", path);
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = '\0';
    address->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (address->folder < 0)
        return err_errno(err, "cannot open '%s'", folder);
    int used =
        snprintf(address->name.sun_path, size, "/proc/self/fd/%d/%s", address->folder, slash + 1);
    if (used > 0 && (size_t)used < size)
        return true;
    socket_address_done(address);
    return err_set(err, ERR_USAGE, "the name of the socket '%s' is too long", slash + 1);
}

void socket_address_done(SocketAddress *address)
{
    if (address->folder >= 0)
        (void)close(address->folder); /* only a handle */
    address->folder = -1;
}
