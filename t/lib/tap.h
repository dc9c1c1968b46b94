/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_T_LIB_TAP_H
#define FAIRMILL_T_LIB_TAP_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* TAP for tests in C.  Each test is named by a statement that is true when it passes; each
 * function prints one result and returns whether it passed.  main ends with
 * `return done_testing();`, so that a program that dies early has no plan and fails. */

#define TAP_FUNCTION __attribute__((unused)) static

static struct {
    unsigned run, failed;
} tap;

/* Something to read beside the results, one line or several. */
TAP_FUNCTION void diag(const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, "\n");
        printf("# %.*s\n", length, text);
        text += length;
        text += *text == '\n';
    }
}

TAP_FUNCTION bool ok(bool passed, const char *statement)
{
    tap.run++;
    tap.failed += !passed;
    printf("%s %u - %s\n", passed ? "ok" : "not ok", tap.run, statement);
    fflush(stdout);
    return passed;
}

TAP_FUNCTION bool is_int(int64_t got, int64_t expected, const char *statement)
{
    if (!ok(got == expected, statement))
        printf("# got      %" PRId64 "\n# expected %" PRId64 "\n", got, expected);
    return got == expected;
}

/* The same bits: 0 is not -0. */
TAP_FUNCTION bool is_double_exact(double got, double expected, const char *statement)
{
    bool same = memcmp(&got, &expected, sizeof got) == 0;
    if (!ok(same, statement))
        printf("# got      %a (%.17g)\n# expected %a (%.17g)\n", got, got, expected, expected);
    return same;
}

/* Within `tolerance` of each other, as a fraction of what was expected; 0 has only itself near. */
TAP_FUNCTION bool is_close(double got, double expected, double tolerance, const char *statement)
{
    bool near = fabs(got - expected) <= tolerance * fabs(expected);
    if (!ok(near, statement))
        printf("# got      %.17g\n# expected %.17g within %g of it\n", got, expected, tolerance);
    return near;
}

/* NULL is only itself. */
TAP_FUNCTION bool is_string(const char *got, const char *expected, const char *statement)
{
    bool same = got && expected ? strcmp(got, expected) == 0 : got == expected;
    if (!ok(same, statement))
        printf("# got      %s\n# expected %s\n", got ? got : "(null)",
               expected ? expected : "(null)");
    return same;
}

/* A test that this machine cannot run; where CI is `true` every machine can. */
TAP_FUNCTION void skip(const char *statement, const char *reason)
{
    const char *ci = getenv("CI");
    if (ci && strcmp(ci, "true") == 0) {
        ok(false, statement);
        diag(reason);
    } else {
        printf("ok %u - %s # SKIP %s\n", ++tap.run, statement, reason);
    }
}

/* The plan, and main's exit status.  No tests at all are a failure. */
TAP_FUNCTION int done_testing(void)
{
    printf("1..%u\n", tap.run);
    return tap.failed || !tap.run ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
