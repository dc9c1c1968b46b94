/* SPDX-License-Identifier: MIT */
#include "command/setup/servers.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Maximum time of a connection, and of each read. */
#define SERVER_WAIT_MS 3000

static bool server_waits_for(int fd, short event)
{
    struct pollfd poller = { .fd = fd, .events = event };
    int ready;
    do
        ready = poll(&poller, 1, SERVER_WAIT_MS);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

/* Connects a new socket.  Returns its descriptor, or -1. */
static int server_connect(const struct sockaddr *address, socklen_t length)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int failure = 0;
    socklen_t size = sizeof failure;
    if (fd < 0)
        return -1;
    if (!connect(fd, address, length) ||
        (errno == EINPROGRESS && server_waits_for(fd, POLLOUT) &&
         !getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) && !failure))
        return fd;
    close(fd);
    return -1;
}

static int server_connect_path(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    return server_connect((const struct sockaddr *)&address, sizeof address);
}

static struct addrinfo *server_addresses(const char *host, const char *port)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *list = NULL;
    return getaddrinfo(host, port, &hints, &list) ? NULL : list;
}

/* Offset of the version in a greeting, after three bytes of length, a number, and the protocol. */
#define GREETING_VERSION 5
/* Offset of the flags from the end of the version: a connection id, a nonce and a zero are between.
 */
#define GREETING_FLAGS 13
#define GREETING_TLS 0x0800

/* Returns the offset of the flags, or 0 if the greeting is incomplete. */
static size_t server_flags_at(const unsigned char *packet, size_t length)
{
    const unsigned char *end = length > GREETING_VERSION
                                   ? memchr(packet + GREETING_VERSION, 0, length - GREETING_VERSION)
                                   : NULL;
    size_t at = end ? (size_t)(end + 1 - packet) + GREETING_FLAGS : 0;
    return at + 2 <= length ? at : 0;
}

/* Reads a greeting and closes the descriptor. */
static bool server_read_greeting(int fd, struct greeting *greeting)
{
    unsigned char packet[GREETING_VERSION + sizeof greeting->version + GREETING_FLAGS + 2];
    size_t length = 0;
    ssize_t got = 1;
    while (got > 0 && length < sizeof packet && !server_flags_at(packet, length))
        if (server_waits_for(fd, POLLIN) &&
            (got = read(fd, packet + length, sizeof packet - length)) > 0)
            length += (size_t)got;
        else
            got = 0;
    close(fd);
    size_t flags = server_flags_at(packet, length);
    if (!flags || packet[4] != 10)
        return false;
    /* MariaDB before 11.0 puts 5.5.5- before its version, for clients of MySQL. */
    const char *version = (const char *)packet + GREETING_VERSION;
    version += strncmp(version, "5.5.5-", 6) ? 0 : 6;
    snprintf(greeting->version, sizeof greeting->version, "%.*s", (int)sizeof greeting->version - 1,
             version);
    greeting->is_mariadb = strstr(version, "MariaDB") != NULL;
    greeting->has_tls = (packet[flags] | packet[flags + 1] << 8) & GREETING_TLS;
    return true;
}

bool server_greets_at(const char *path, struct greeting *greeting)
{
    int fd = server_connect_path(path);
    return fd >= 0 && server_read_greeting(fd, greeting);
}

bool server_greets_on(const char *host, const char *port, struct greeting *greeting)
{
    bool greets = false;
    struct addrinfo *list = server_addresses(host, port);
    for (struct addrinfo *each = list; each && !greets; each = each->ai_next) {
        int fd = server_connect(each->ai_addr, each->ai_addrlen);
        greets = fd >= 0 && server_read_greeting(fd, greeting);
    }
    if (list)
        freeaddrinfo(list);
    return greets;
}

bool server_is_postgres(const char *path)
{
    /* A request for TLS, to which the server replies with one byte. */
    static const unsigned char request[] = { 0, 0, 0, 8, 4, 210, 22, 47 };
    char reply = 0;
    int fd = server_connect_path(path);
    if (fd < 0)
        return false;
    bool replies = send(fd, request, sizeof request, MSG_NOSIGNAL) == (ssize_t)sizeof request &&
                   server_waits_for(fd, POLLIN) && read(fd, &reply, 1) == 1;
    close(fd);
    return replies && (reply == 'S' || reply == 'N');
}

/* A process can bind a socket only to addresses of its own host. */
bool server_host_is_here(const char *host)
{
    bool is_here = false;
    struct addrinfo *list = server_addresses(host, "0");
    for (struct addrinfo *each = list; each && !is_here; each = each->ai_next) {
        int fd = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        is_here = fd >= 0 && !bind(fd, each->ai_addr, each->ai_addrlen);
        if (fd >= 0)
            close(fd);
    }
    if (list)
        freeaddrinfo(list);
    return is_here;
}
