/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "site.h"

/* The example trees of the four documents.  Values are compared with the digits in the
 * documents. */

static struct site site;

static void begin(const char *drawing)
{
    site_draw(&site, drawing);
    if (!site_build(&site, BAD_ROWS_FAIL))
        diag(site.err.message);
}

static void prints(double got, const char *format, const char *expected, const char *statement)
{
    char text[40];
    snprintf(text, sizeof text, format, got);
    is_string(text, expected, statement);
}

static void seed_002(void)
{
    begin("1 - root - 1 0    2 root a - 40 0   3 root d - 60 0   4 a b - 30 0  5 a c - 10 0\n"
          "6 d e - 25 0      7 d f - 35 0      8 - b user1 1 20  9 - c user2 1 25\n"
          "10 - c user3 1 0  11 - e user4 1 25 12 - f user5 1 0");
    site_compute(&site, CONFORMANCE_DOCUMENTS, 100, 0);
    static const struct {
        uint32_t id;
        const char *usage;
    } effective[] = {
        { 4, "0.3875" }, { 5, "0.3000" },  { 6, "0.2500" },  { 7, "0.1458" },  { 8, "0.3875" },
        { 9, "0.2750" }, { 10, "0.1500" }, { 11, "0.2500" }, { 12, "0.1458" },
    };
    for (size_t i = 0; i < sizeof effective / sizeof *effective; i++)
        prints(site_values(&site, effective[i].id)->linear_usage, "%.4f", effective[i].usage,
               "Multifactor Priority: effective usage matches the example");
    prints(site_values(&site, 8)->linear_factor, "%.5f", "0.45625",
           "Multifactor Priority: user 1's factor matches the example");
    prints(site_values(&site, 9)->linear_factor, "%.4f", "0.3875",
           "Multifactor Priority: user 2's factor matches the example");
    prints(site_values(&site, 10)->linear_factor, "%.2f", "0.45",
           "Multifactor Priority: user 3's factor matches the example");
    prints(site_values(&site, 11)->linear_factor, "%.1f", "0.5",
           "Multifactor Priority: user 4's factor matches the example");
    prints(site_values(&site, 12)->linear_factor, "%.4f", "0.6021",
           "Multifactor Priority: user 5's factor matches the example");
    prints(site_values(&site, 9)->shares_norm, "%.2f", "0.05",
           "Multifactor Priority: normalized shares match the example");
    site_erase(&site);
}

static void seed_000(void)
{
    /* Directly below the root, the formula is the classic one. */
    begin("1 - root - 1 0  2 root a - 1 0  3 root b - 3 0  4 - a u 1 60  5 - a v 2 30\n"
          "6 - b w 1 10");
    site_compute(&site, CONFORMANCE_DOCUMENTS, 1, 0);
    const struct values *a = site_values(&site, 2), *u = site_values(&site, 4);
    is_close(a->depth_oblivious_ratio, 0.9 / 0.25, 1e-15,
             "Depth-Oblivious: r = U/S directly below the root");
    is_double_exact(a->depth_oblivious_factor, a->classic_factor,
                    "Depth-Oblivious: the factor directly below the root is the classic one");
    /* u: r = .6/(.25/3) and its siblings' ratio is .9/.25, so rl = 2.  Both a and u are above
     * target, so k = 1. */
    is_close(u->depth_oblivious_ratio, 3.6 * 2, 1e-14,
             "Depth-Oblivious: k = 1 if both are on the same side");
    /* v: rl = (.3/(.25 2/3))/(.9/.25) = .5 */
    double k = 1 / (1 + pow(5 * log(3.6), 2));
    is_close(site_values(&site, 5)->depth_oblivious_ratio, 3.6 * pow(0.5, k), 1e-14,
             "Depth-Oblivious: k = 1/(1+(5 ln R)^2) if they are on opposite sides");
    site_erase(&site);
}

static void seed_001(void)
{
    begin("1 - root - 1 0  2 root acct1 - 1 0  3 acct1 acct12 - 1 0  4 acct1 acct16 - 1 0\n"
          "5 - acct12 usera 1 30  6 - acct16 userb 1 10");
    site_compute(&site, CONFORMANCE_DOCUMENTS, 1, 0);
    ok(site_values(&site, 4)->level_fs > site_values(&site, 3)->level_fs &&
           site_values(&site, 6)->fair_tree_rank > site_values(&site, 5)->fair_tree_rank,
       "Fair Tree, Overview: the first differing ancestor decides");
    is_double_exact(site_values(&site, 6)->fair_tree_factor, 1,
                    "Fair Tree, Overview: the highest user has factor 1.0");
    is_close(site_values(&site, 3)->level_fs, 0.5 / 0.75, 1e-15, "Fair Tree: LF = S / U");
    site_erase(&site);
}

static void seed_003(void)
{
    const char *drawing =
        "1 - root - 1 0  2 root group1 - 40 0  3 root group2 - 60 0  4 - group1 bob 50 100\n"
        "5 - group1 cathy 50 100  6 - group2 suzy 60 0  7 - group2 scott 40 1000";
    begin(drawing);
    site_compute(&site, CONFORMANCE_DOCUMENTS, 1, 0);
    prints(site_values(&site, 4)->pbs_tree_usage, "%.3f", "0.125",
           "PP-718: Bob's effective usage matches");
    prints(site_values(&site, 4)->pbs_factor, "%.3f", "0.648", "PP-718: Bob's factor matches");
    prints(site_values(&site, 6)->pbs_tree_usage, "%.1f", "0.5",
           "PP-718: Suzy's effective usage matches");
    prints(site_values(&site, 6)->pbs_factor, "%.3f", "0.382", "PP-718: Suzy's factor matches");
    prints(site_values(&site, 7)->shares_norm, "%.2f", "0.24", "PP-718: Scott's target matches");
    site_compute(&site, CONFORMANCE_DOCUMENTS, 1, 1);
    prints(site_values(&site, 7)->pbs_tree_usage, "%.6f", "0.831728",
           "PBS: Scott's usage is added to a base of 1");
    for (uint32_t i = 0; i < site.tree->count; i++)
        site.tree->nodes[i].usage_is_set = true;
    site_compute(&site, CONFORMANCE_DOCUMENTS, 1, 1);
    prints(site_values(&site, 7)->pbs_tree_usage, "%.6f", "0.832973",
           "PP-718: Scott's effective usage matches pbsfs");
    prints(site_values(&site, 4)->pbs_tree_usage, "%.6f", "0.125312",
           "PP-718: Bob's effective usage matches pbsfs");
    prints(site_values(&site, 6)->pbs_tree_usage, "%.6f", "0.500416",
           "PP-718: Suzy's effective usage matches pbsfs");
    site_erase(&site);
}

static bool ranks_are(const uint32_t (*expected)[2], size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t got = site_values(&site, expected[i][0])->fair_tree_rank;
        if (got != expected[i][1])
            printf("# association %u has rank %u, not %u\n", expected[i][0], got, expected[i][1]);
        all &= got == expected[i][1];
    }
    return all;
}
#define RANKS(...)                                  \
    ranks_are((const uint32_t[][2]){ __VA_ARGS__ }, \
              sizeof((const uint32_t[][2]){ __VA_ARGS__ }) / sizeof(uint32_t[2]))

static void ties(void)
{
    begin("1 - root - 1 0  2 root a - 1 0  3 root b - 1 0  4 - a a1 1 10  5 - a a2 1 90\n"
          "6 - b b1 1 40  7 - b b2 1 60");
    site_compute(&site, CONFORMANCE_DOCUMENTS, 1, 0);
    ok(RANKS({ 4, 4 }, { 6, 3 }, { 7, 2 }, { 5, 1 }), "the children of tied accounts are merged");
    site_compute(&site, CONFORMANCE_SLURMCTLD, 1, 0);
    ok(RANKS({ 4, 4 }, { 5, 3 }, { 6, 3 }, { 7, 1 }),
       "slurmctld ranks tied accounts in turn; the second's best user ties");
    site_erase(&site);

    /* Both accounts have an infinite level_fs.  The first user of the second account is therefore
     * tied, but no user ranks before it. */
    begin("1 - root - 1 0  2 root A - 1 0  3 root B - 1 0  4 - B b1 1 0  5 - B b2 0 0");
    site_compute(&site, CONFORMANCE_SLURMCTLD, 1, 0);
    ok(RANKS({ 4, 2 }, { 5, 1 }), "a user tied with an empty account before any user ranks first");
    site_erase(&site);

    /* a1 has 1 of 10 shares and 10 of 100 usage, and b1 has 1 of 2 and 50 of 100.  Both have LF 1,
     * although 1 x 50 is not 1 x 10. */
    begin("1 - root - 1 0  2 root a - 1 0  3 root b - 1 0  4 - a a1 1 10  5 - a a2 9 90\n"
          "6 - b b1 1 50  7 - b b2 1 50");
    site_compute(&site, CONFORMANCE_DOCUMENTS, 1, 0);
    ok(RANKS({ 4, 4 }, { 5, 4 }, { 6, 4 }, { 7, 4 }),
       "merged members keep the sums of their own level");
    site_erase(&site);

    begin("1 - root - 1 0  2 - root u 1 10  3 root a - 1 0  4 a b - 1 0  5 - b v 1 4  6 - b w 1 6\n"
          "7 - root x 1 20");
    site_compute(&site, CONFORMANCE_DOCUMENTS, 1, 0);
    ok(RANKS({ 2, 4 }, { 5, 4 }, { 6, 2 }, { 7, 1 }),
       "a user tied with an account has its best user's rank");
    site_erase(&site);

    begin("1 - root - 1 0  2 - root u 1 0  3 root a - 1 0  4 - root v 1 0  5 - root w 0 0\n"
          "6 - root x parent 9  7 - root y 0 9");
    site_compute(&site, CONFORMANCE_DOCUMENTS, 1, 0);
    ok(RANKS({ 2, 5 }, { 4, 5 }, { 6, 5 }, { 5, 2 }, { 7, 2 }),
       "zero usage and parent shares tie for first, zero shares for last");
    ok(isnan(site_values(&site, 6)->level_fs), "the level_fs of parent shares is undefined");
    ok(isinf(site_values(&site, 2)->level_fs) && site_values(&site, 5)->level_fs == 0,
       "level_fs is infinite without usage and 0 without shares");
    ok(site_values(&site, 3)->fair_tree_rank == 0, "an account has no rank");
    site_erase(&site);

    begin("1 - root - 1 0  2 - root u 1 1000  3 - root v 3 3000  4 - root w 7 7001");
    site_compute(&site, CONFORMANCE_DOCUMENTS, 1, 0);
    ok(RANKS({ 2, 3 }, { 3, 3 }, { 4, 1 }), "equal fractions are tied and different ones never");
    site_erase(&site);
}

static void zeros(void)
{
    begin("1 - root - 1 0  2 root a - 0 0  3 - a u 0 5  4 - a v 0 5  5 - a w parent 10");
    site_compute(&site, CONFORMANCE_DOCUMENTS, 40, 0);
    const struct values *a = site_values(&site, 2), *u = site_values(&site, 3);
    ok(a->shares_norm == 0 && a->classic_factor == 0 && a->linear_factor == 0 &&
           a->depth_oblivious_factor == 0 && a->pbs_factor == 0 && a->level_fs == 0,
       "every factor is 0 in a level without shares");
    ok(u->classic_usage == a->classic_usage && u->linear_usage == a->linear_usage &&
           u->pbs_tree_usage == a->pbs_tree_usage && u->level_usage == 0.25,
       "without shares, effective usage is the parent's and level_usage is normal");
    ok(isnan(u->depth_oblivious_ratio), "without shares the ratio is undefined");
    site_erase(&site);

    begin("1 - root - 1 0  2 root a - 1 0  3 - a u 1 0");
    site_compute(&site, CONFORMANCE_DOCUMENTS, NAN, 0);
    const struct values *root = site_values(&site, 1);
    u = site_values(&site, 3);
    ok(root->usage_norm == 0 && root->classic_usage == 0 && root->pbs_tree_usage == 0 &&
           root->shares_norm == 1 && isnan(root->classic_factor) && isnan(root->level_fs),
       "a root without usage has shares 1, usage 0 and no factor");
    ok(u->usage_norm == 0 && u->level_usage == 0 && u->classic_factor == 1 && isinf(u->level_fs),
       "0 / 0 is 0, and no usage gives the best factor");
    ok(isnan(u->capacity_usage) && isnan(u->linear_factor),
       "without a capacity, the linear values are undefined");
    ok(u->fair_tree_rank == 1 && u->fair_tree_factor == 1,
       "a single user has the best rank and factor");
    site_erase(&site);

    begin("1 - root - 1 0");
    site_compute(&site, CONFORMANCE_DOCUMENTS, 1, 1);
    ok(site.values[0].shares_norm == 1, "a root alone is a tree with shares 1");
    site_compute(&site, CONFORMANCE_SLURMCTLD, 1, 0);
    ok(site.values[0].fair_tree_rank == 0, "with slurmctld, a root alone has no rank");
    site_erase(&site);
}

int main(void)
{
    seed_002();
    seed_000();
    seed_001();
    seed_003();
    ties();
    zeros();
    return done_testing();
}
