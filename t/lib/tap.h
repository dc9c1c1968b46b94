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

/* TAP for tests in C.  Each test is named by a statement that is true if the test passes.  Each
 * test function prints one result and returns true if the test passed.  main() must end with
 * `return done_testing();`.  A program that ends earlier prints no plan and therefore fails. */

#define TAP_FUNCTION __attribute__((unused)) static

static struct {
    unsigned run, failed;
} tap;

/* Prints a comment of one or more lines. */
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

/* Compares bits: 0 differs from -0. */
TAP_FUNCTION bool is_double_exact(double got, double expected, const char *statement)
{
    bool same = memcmp(&got, &expected, sizeof got) == 0;
    if (!ok(same, statement))
        printf("# got      %a (%.17g)\n# expected %a (%.17g)\n", got, got, expected, expected);
    return same;
}

/* Passes if the relative error is at most `tolerance`.  If `expected` is 0, only 0 passes. */
TAP_FUNCTION bool is_close(double got, double expected, double tolerance, const char *statement)
{
    bool near = fabs(got - expected) <= tolerance * fabs(expected);
    if (!ok(near, statement))
        printf("# got      %.17g\n# expected %.17g within %g of it\n", got, expected, tolerance);
    return near;
}

/* NULL equals only NULL. */
TAP_FUNCTION bool is_string(const char *got, const char *expected, const char *statement)
{
    bool same = got && expected ? strcmp(got, expected) == 0 : got == expected;
    if (!ok(same, statement))
        printf("# got      %s\n# expected %s\n", got ? got : "(null)",
               expected ? expected : "(null)");
    return same;
}

/* Skips a test that this machine cannot run.  If the environment variable CI is `true`, the test
 * fails instead, because CI must be able to run all tests. */
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

/* Prints the plan and returns main()'s exit status.  A program without tests fails. */
TAP_FUNCTION int done_testing(void)
{
    printf("1..%u\n", tap.run);
    return tap.failed || !tap.run ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
