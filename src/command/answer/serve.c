/* SPDX-License-Identifier: MIT */
#include "command/answer/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/answer/message.h"
#include "command/answer/peer.h"
#include "command/options.h"
#include "util/error.h"
#include "util/log.h"

#define LISTENER 3 /* sd_listen_fds(3) */

/* A connection waits for its request, which costs no process, and is then answered by one.  One
 * that is to be refused waits too, since the refusal is lost if the request comes after it. */
#define REQUEST_MS 5000
#define REFUSAL_MS 100
#define ANSWER_MS 60000
#define REFUSALS_OF_ONE 8 /* further connections of that user are closed without a word */
#define GUESTS 512
#define TICK_MS 1000

/* Memory of a request.  Sanitizers map more than any limit. */
#define REQUEST_BYTES (1ul << 30)
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* A connection: it waits (`pid` 0) or is being answered (`socket` -1). */
struct guest {
    int socket;
    pid_t pid;
    uid_t uid;
    bool refused;
    int64_t deadline;
};

struct house {
    const struct serve_limits *limits;
    const struct invocation *invocation;
    struct guest guests[GUESTS];
    size_t count;
};

static bool listens(int socket)
{
    int accepts = 0;
    socklen_t length = sizeof accepts;
    return !getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &length) && accepts;
}

int serve_listener(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    if (pid && count && strtol(pid, NULL, 10) == getpid() && strtol(count, NULL, 10) > 0 &&
        listens(LISTENER))
        return LISTENER;
    return listens(STDIN_FILENO) ? STDIN_FILENO : -1;
}

static void leave(struct house *house, size_t which)
{
    if (house->guests[which].socket >= 0)
        close(house->guests[which].socket);
    house->guests[which] = house->guests[--house->count];
}

/* Remove requests that have ended, and kill those that take too long. */
static void reap(struct house *house, int64_t now)
{
    for (size_t i = house->count; i-- > 0;) {
        const struct guest *guest = &house->guests[i];
        if (guest->pid && waitpid(guest->pid, NULL, WNOHANG))
            leave(house, i);
        else if (guest->pid && guest->deadline <= now)
            kill(guest->pid, SIGKILL);
    }
}

/* Sends the refusal without waiting; bytes that do not fit into the socket are lost. */
static void refuse(const struct guest *guest)
{
    char unread[4096];
    struct text text = { 0 };
    struct answer answer = { .status = error_exit_status(ERROR_LOCKED), .busy = true };
    text_format(
        &answer.errors,
        "fairmill: too many requests have no response yet, or %d of yours; try again later\n",
        SERVE_OF_ONE);
    answer_add(&text, &answer);
    while (recv(guest->socket, unread, sizeof unread, MSG_DONTWAIT) > 0)
        ;
    send(guest->socket, text.bytes, text.length, MSG_DONTWAIT | MSG_NOSIGNAL);
    text_free(&text);
    answer_free(&answer);
}

/* In a process of its own, which ends with this one. */
static void answer_one(const struct invocation *invocation, int socket)
{
    const struct rlimit limit = { REQUEST_BYTES, REQUEST_BYTES };
    char *path = (char *)invocation->settings_path, *program = program_invocation_name;
    char *const with_path[] = { program, "-c", path, "answer", NULL };
    char *const without[] = { program, "answer", NULL };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    if (!SANITIZED)
        setrlimit(RLIMIT_DATA, &limit);
    if (dup2(socket, STDIN_FILENO) >= 0 && dup2(socket, STDOUT_FILENO) >= 0)
        execvp(program, path ? with_path : without);
    fprintf(stderr, "fairmill: answer: cannot start '%s': %s\n", program, strerror(errno));
    _exit(1);
}

static void start(struct house *house, size_t which, int64_t now)
{
    struct guest *guest = &house->guests[which];
    pid_t pid = fork();
    if (!pid)
        answer_one(house->invocation, guest->socket);
    if (pid < 0) {
        refuse(guest);
        leave(house, which);
        return;
    }
    close(guest->socket);
    *guest = (struct guest){ -1, pid, guest->uid, false, now + ANSWER_MS };
}

static size_t count_of(const struct house *house, uid_t uid, bool refused)
{
    size_t count = 0;
    for (size_t i = 0; i < house->count; i++)
        count += house->guests[i].uid == uid && house->guests[i].refused == refused;
    return count;
}

static size_t count_admitted(const struct house *house)
{
    size_t count = 0;
    for (size_t i = 0; i < house->count; i++)
        count += !house->guests[i].refused;
    return count;
}

static void admit(struct house *house, int listener, int64_t now)
{
    struct guest guest = { .socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC) };
    struct error ignored;
    if (guest.socket < 0)
        return;
    if (house->count < GUESTS && !peer_uid(guest.socket, &guest.uid, &ignored)) {
        guest.refused = count_of(house, guest.uid, false) >= SERVE_OF_ONE ||
                        count_admitted(house) >= house->limits->most;
        guest.deadline = now + (guest.refused ? REFUSAL_MS : REQUEST_MS);
        if (!guest.refused || count_of(house, guest.uid, true) < REFUSALS_OF_ONE) {
            house->guests[house->count++] = guest;
            return;
        }
    }
    close(guest.socket);
}

/* Start, refuse or drop a connection that waits, if its request has arrived, its client is gone or
 * its time is over. */
static void attend(struct house *house, size_t which, short events, int64_t now)
{
    const struct guest *guest = &house->guests[which];
    bool is_gone = events & (POLLHUP | POLLERR | POLLNVAL), is_late = guest->deadline <= now;
    if (!is_gone && (events & POLLIN) && !guest->refused) {
        start(house, which, now);
        return;
    }
    if (!is_gone && !is_late && !(events & POLLIN))
        return;
    if (!is_gone && guest->refused)
        refuse(guest);
    leave(house, which);
}

/* Milliseconds until the next deadline. */
static int wait_ms(const struct house *house, int64_t now)
{
    int64_t wait = house->count ? TICK_MS : (int64_t)house->limits->idle_s * 1000;
    for (size_t i = 0; i < house->count; i++)
        if (house->guests[i].deadline - now < wait)
            wait = house->guests[i].deadline > now ? house->guests[i].deadline - now : 0;
    return wait < INT_MAX ? (int)wait : INT_MAX;
}

/* Returns how many files were ready; -1 if they cannot be polled. */
static int serve_once(struct house *house, int listener)
{
    struct pollfd files[GUESTS + 1] = { { .fd = listener, .events = POLLIN } };
    size_t count = house->count;
    for (size_t i = 0; i < count; i++) /* poll() skips -1 */
        files[i + 1] = (struct pollfd){ .fd = house->guests[i].socket, .events = POLLIN };
    int ready = poll(files, count + 1, wait_ms(house, clock_milliseconds()));
    int64_t now = clock_milliseconds();
    if (ready < 0)
        return errno == EINTR ? 1 : -1;
    for (size_t i = count; i-- > 0;) /* backwards, since leave() moves the last one */
        if (house->guests[i].socket >= 0)
            attend(house, i, files[i + 1].revents, now);
    reap(house, now);
    if (files[0].revents)
        admit(house, listener, now);
    return ready;
}

int serve(int listener, const struct serve_limits *limits, const struct invocation *invocation,
          struct error *err)
{
    static struct house house;
    house = (struct house){ .limits = limits, .invocation = invocation };
    fcntl(listener, F_SETFD, FD_CLOEXEC);
    for (;;) {
        size_t before = house.count;
        int ready = serve_once(&house, listener);
        if (ready < 0)
            return fail(err, ERROR_OTHER, "answer: cannot poll: %s", strerror(errno));
        if (!ready && !before)
            return 0;
    }
}
