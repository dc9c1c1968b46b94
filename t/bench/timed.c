/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Runs a command and discards its output.  Prints the elapsed seconds, the seconds of processor
 * time, the peak memory in KiB and the number of page faults:
 *
 *     timed COMMAND [ARGUMENT]...
 *
 * A process inherits the peak memory of its parent, so this program is small.
 */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double processor_seconds(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static int run(char **command)
{
    int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    execvp(*command, command);
    fprintf(stderr, "timed: cannot run '%s': %s\n", *command, strerror(errno));
    return 127;
}

int main(int argc, char **argv)
{
    int status;
    struct rusage usage;
    if (argc < 2)
        return 64;
    double began = seconds();
    pid_t child = fork();
    if (child == 0)
        _exit(run(argv + 1));
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror("timed");
        return 1;
    }
    double ended = seconds();
    printf("%.6f %.6f %ld %ld\n", ended - began, processor_seconds(&usage), usage.ru_maxrss,
           usage.ru_minflt + usage.ru_majflt);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
