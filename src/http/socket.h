/* Addresses of unix sockets. A path that is too long for the kernel's field is reached through its
 * open folder, so that a deep state folder works like any other. */
#pragma once
#include "base/err.h"
#include <sys/un.h>

typedef struct SocketAddress {
    struct sockaddr_un name;
    int folder; /* must stay open while the address is used; -1: not needed */
} SocketAddress;

bool socket_address(const char *path, SocketAddress *address, Err *err) NODISCARD;
void socket_address_done(SocketAddress *address);
