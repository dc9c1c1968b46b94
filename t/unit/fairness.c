/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <math.h>

#include "core/insight/fairness.h"
#include "site.h"

/* Tests the fairness of the usage as a whole.  Expected values were computed by hand. */

static struct site site;

static struct fairness of(const char *drawing, enum fairness_scope scope)
{
    site_draw(&site, drawing);
    if (!site_build(&site, BAD_ROWS_FAIL))
        diag(site.err.message);
    site_compute(&site, CONFORMANCE_DOCUMENTS, NAN, 0);
    struct fairness fairness = fairness_of(site.tree, site.values, scope);
    site_erase(&site);
    return fairness;
}

static bool near(double got, double expected)
{
    return fabs(got - expected) < 1e-15;
}

static void of_accounts(void)
{
    struct fairness fair =
        of("1 - root - 1 0  2 root a - 3 0  3 root b - 1 0  4 - a u 1 75  5 - b v 1 25",
           FAIRNESS_OF_ACCOUNTS);
    ok(fair.members == 2 && fair.jain == 1,
       "the index is 1 if all usage fractions equal the shares");
    ok(fair.use_over == 0 && fair.use_under == 0, "no member is above or below its share");

    fair = of("1 - root - 1 0  2 root a - 1 0  3 root b - 1 0  4 - a u 1 100  5 - b v 1 0",
              FAIRNESS_OF_ACCOUNTS);
    ok(fair.jain == 0.5, "the index is 1/2 if one of two members has all usage");
    ok(fair.use_over == 1 && fair.share_over == 0.5 && fair.use_under == 0 &&
           fair.share_under == 0.5,
       "each of these two members has a share of 1/2");

    /* Shares 5/8, 2/8, 1/8 and usage .5, .25, .25: x = .8, 1, 2. */
    fair = of("1 - root - 1 0  2 root a - 5 0  3 root b - 2 0  4 root c - 1 0\n"
              "5 - a u 1 50  6 - b v 1 25  7 - c w 1 25",
              FAIRNESS_OF_ACCOUNTS);
    ok(fair.members == 3 && near(fair.jain, 3.8 * 3.8 / (3 * (0.64 + 1 + 4))),
       "the index is (sum of x)^2 / (n x sum of x^2)");
    ok(fair.use_over == 0.25 && fair.share_over == 0.125 && fair.use_under == 0.5 &&
           fair.share_under == 0.625,
       "a member exactly at its share is neither over nor under");
}

static void who_counts(void)
{
    /* p has `parent` shares, so c is in the root's list.  The shares of z are 0.  r is a user in
     * the root's list. */
    const char *drawing = "1 - root - 1 0  2 root p - parent 0  3 p c - 1 0  4 root z - 0 0\n"
                          "5 - root r 1 50  6 - c u 1 30  7 - c v parent 20  8 - z w 1 0";
    struct fairness accounts = of(drawing, FAIRNESS_OF_ACCOUNTS);
    ok(accounts.members == 1 && accounts.jain == 1 && accounts.use_over == 0,
       "accounts count if they are in the root's list with own shares");
    struct fairness users = of(drawing, FAIRNESS_OF_USERS);
    ok(users.members == 2 && near(users.jain, 1.6 * 1.6 / (2 * 1.36)),
       "users count if own shares are above 0 on the whole path");
    ok(near(users.use_under, 0.3) && users.share_under == 0.5,
       "a user's share is its normalized share of the cluster");
}

static void nothing(void)
{
    const char *unused = "1 - root - 1 0  2 root a - 1 0  3 - a u 1 0";
    struct fairness fair = of(unused, FAIRNESS_OF_ACCOUNTS);
    ok(fair.members == 1 && isnan(fair.jain) && isnan(fair.use_over) && isnan(fair.share_under),
       "without usage there is no index");
    fair = of("1 - root - 1 0  2 - root u 1 10", FAIRNESS_OF_ACCOUNTS);
    ok(fair.members == 0 && isnan(fair.jain), "without accounts there is no index");
}

static void order(void)
{
    struct fairness one = of("1 - root - 1 0  2 root a - 3 0  3 root b - 7 0  4 root c - 11 0\n"
                             "5 - a u 1 13  6 - b v 1 17  7 - c w 1 19",
                             FAIRNESS_OF_USERS);
    struct fairness other = of("7 - c w 1 19  4 root c - 11 0  6 - b v 1 17  3 root b - 7 0\n"
                               "5 - a u 1 13  2 root a - 3 0  1 - root - 1 0",
                               FAIRNESS_OF_USERS);
    is_double_exact(other.jain, one.jain, "the order of rows does not change a bit of the index");
    is_double_exact(other.use_over, one.use_over,
                    "the order of rows does not change a bit of the sums");
}

int main(void)
{
    of_accounts();
    who_counts();
    nothing();
    order();
    return done_testing();
}
