# SPDX-License-Identifier: MIT
"""Sets another wall clock for one program, with a library that is loaded before all others."""

import preload

SOURCE = r'''
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t ahead(void)
{
    const char *seconds = getenv("CLOCK_AHEAD");
    return seconds ? (time_t)atoll(seconds) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += ahead();
    return result;
}

time_t time(time_t *to)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to)
        *to = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *to = (struct timeval){ .tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000 };
    return 0;
}
'''


def make(folder):
    """Builds the library in this directory and returns its path."""
    return preload.make(folder, 'clock', SOURCE)


def environment(library, seconds):
    """Returns the environment of a program whose clock is this number of seconds ahead."""
    return preload.environment(library) | {'CLOCK_AHEAD': str(seconds)}
