/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/fairshare/algorithm.h"
#include "core/insight/explain.h"
#include "site.h"

/* Tests the order of two associations and the smallest changes that reverse it.  Expected amounts
 * were computed by hand from the formulas of the four documents. */

#define CAPACITY 1000

static struct site site;
static struct fairshare_options options;
static struct explain_input input;
static uint32_t *published_order;

static void begin_as(const char *drawing, const char *algorithm, enum conformance conformance)
{
    site_draw(&site, drawing);
    if (!site_build(&site, BAD_ROWS_FAIL))
        diag(site.err.message);
    site_compute(&site, conformance, CAPACITY, 0);
    options = (struct fairshare_options){ conformance, 1, 0, CAPACITY, site.decay, NULL };
    free(published_order);
    published_order = order_of_all(site.tree, &options, algorithm_named(algorithm), site.values);
    input = (struct explain_input){ site.tree,   &options,        algorithm_named(algorithm),
                                    site.values, published_order, false };
}

static void begin(const char *drawing)
{
    begin_as(drawing, "fair_tree", CONFORMANCE_DOCUMENTS);
}

static uint32_t node(uint32_t id)
{
    return tree_place(site.tree, id);
}

static bool is_id(uint32_t place, uint32_t id)
{
    return site.tree->nodes[place].id == id;
}

static struct explanation about(uint32_t one, uint32_t other)
{
    struct explanation explanation;
    explain(&input, node(one), node(other), &explanation);
    return explanation;
}

/* Returns the amount of a change to an association, or -1 if the explanation does not contain
 * it. */
static int64_t amount_of(const struct explanation *explanation, enum reversal_kind change,
                         uint32_t id)
{
    for (uint32_t i = 0; i < explanation->reversal_count; i++) {
        const struct reversal *each = &explanation->reversals[i];
        if (each->change == change && is_id(each->node, id))
            return (int64_t)each->amount;
    }
    return -1;
}

/* root => acct1 => acct12 => usera, and acct16 => userb: the example of the Fair Tree document. */
#define OVERVIEW                                                                       \
    "1 - root - 1 0  2 root acct1 - 1 0  3 acct1 acct12 - 1 0  4 acct1 acct16 - 1 0\n" \
    "5 - acct12 usera 1 30  6 - acct16 userb 1 10"

static void overview(void)
{
    begin(OVERVIEW);
    struct explanation why = about(5, 6);
    is_int(why.order, ORDER_BEHIND, "of two users with equal shares, the heavier one ranks lower");
    is_int(order_of(&input, node(6), node(5)), ORDER_AHEAD, "the other user ranks higher");
    ok(is_id(why.divergence.ancestor, 2), "the paths diverge at the lowest common ancestor");
    ok(is_id(why.divergence.decides_one, 3) && is_id(why.divergence.decides_other, 4),
       "the members of its list on the two paths decide");
    ok(is_id(why.behind, 5) && is_id(why.ahead, 6), "changes apply to the user that ranks lower");
    /* The quotients are s / 30 for acct12 and 1 / 10 for acct16, so s = 3 is a tie. */
    is_int(amount_of(&why, MORE_SHARES, 3), 3,
           "3 more shares make 4, which is more than 3 times 1");
    is_int(amount_of(&why, FEWER_SHARES, 4), 1, "an account without shares ranks below any other");
    is_int(amount_of(&why, MORE_USAGE, 6), 21, "21 more usage makes 31, which is more than 30");
    is_int(amount_of(&why, LESS_USAGE, 5), 21, "21 less usage makes 9, which is less than 10");
    site_erase(&site);
}

static void who_cannot_be_compared(void)
{
    struct explanation why;
    begin(OVERVIEW);
    ok(explain(&input, node(5), NO_NODE, &why) && why.order == ORDER_NONE && !why.reversal_count,
       "a single association has no order and no reversals");
    ok(!explain(&input, node(5), node(5), &why), "an association cannot be compared with itself");
    ok(!explain(&input, node(2), node(5), &why) && !explain(&input, node(5), node(2), &why),
       "an association cannot be compared with one above it");
    site_erase(&site);

    begin("1 - root - 1 0  2 root empty - 1 0  3 root a - 1 0  4 - a u 1 5");
    why = about(2, 3);
    ok(why.order == ORDER_NONE && !why.reversal_count,
       "Fair Tree does not rank an account without users");
    site_erase(&site);
    begin_as("1 - root - 1 0  2 root empty - 1 0  3 root a - 1 0  4 - a u 1 5", "classic",
             CONFORMANCE_DOCUMENTS);
    is_int(order_of(&input, node(2), node(3)), ORDER_AHEAD,
           "with classic, an account without usage ranks higher");
    site_erase(&site);

    begin("1 - root - 1 0  2 - root u 1 7");
    is_int(order_of(&input, node(2), node(2)), ORDER_TIED, "a single user is tied with itself");
    site_erase(&site);
}

static void zeros(void)
{
    begin("1 - root - 1 0  2 root a - 1 0  3 - a u 1 0  4 - a v 5 0");
    struct explanation why = about(3, 4);
    is_int(why.order, ORDER_TIED, "users without usage are tied whatever their shares");
    ok(is_id(why.behind, 3), "of tied users, the changes put the first ahead");
    is_int(amount_of(&why, MORE_SHARES, 3), 0, "no number of shares breaks a tie without usage");
    is_int(amount_of(&why, MORE_USAGE, 4), 1,
           "any usage of the other user breaks a tie without usage");
    is_int(amount_of(&why, LESS_USAGE, 3), 0, "a user without usage cannot have less");
    site_erase(&site);

    begin("1 - root - 1 0  2 root a - 1 0  3 - a u 0 0  4 - a v 1 10");
    why = about(3, 4);
    is_int(why.order, ORDER_BEHIND, "a user without shares or usage ranks lower");
    is_int(amount_of(&why, MORE_SHARES, 3), 1, "one share is enough for a user without usage");
    /* Without its one share, v has LF 0, as u has. */
    is_int(amount_of(&why, FEWER_SHARES, 4), 0,
           "taking the other user's last share only makes a tie");
    site_erase(&site);
}

/* a and b have equal usage.  LF within them: u1 .5/.6, u2 .5/.4, w1 .5/.7, w2 .5/.3. */
#define TIED_ACCOUNTS                                  \
    "1 - root - 1 0  2 root a - 1 0  3 root b - 1 0\n" \
    "4 - a u1 1 6  5 - a u2 1 4  6 - b w1 1 7  7 - b w2 1 3"

static void ties(void)
{
    begin(TIED_ACCOUNTS);
    is_int(order_of(&input, node(2), node(3)), ORDER_TIED,
           "accounts whose users are ranked as one list are tied");
    struct explanation why = about(4, 7);
    ok(why.order == ORDER_BEHIND && why.divergence.merged == 1 &&
           is_id(why.divergence.ancestor, 1) && is_id(why.divergence.decides_one, 4) &&
           is_id(why.divergence.decides_other, 7),
       "members of the merged list of tied accounts decide the order");
    ok(are_equals(&input, node(2), node(3)) && !are_equals(&input, node(4), node(5)),
       "members with equal level_fs are tied");
    site_erase(&site);
    begin_as(TIED_ACCOUNTS, "fair_tree", CONFORMANCE_SLURMCTLD);
    is_int(about(4, 7).divergence.merged, 0, "slurmctld does not merge tied accounts");
    site_erase(&site);
    begin_as(TIED_ACCOUNTS, "classic", CONFORMANCE_DOCUMENTS);
    is_int(order_of(&input, node(2), node(3)), ORDER_TIED, "accounts with equal factors are tied");
    site_erase(&site);
}

static void parent_shares(void)
{
    /* u is in the root's list, next to b: LF .5/.25 and .5/.75. */
    begin("1 - root - 1 0  2 root a - parent 0  3 root b - 1 0  4 - a u 1 10  5 - b w 1 30");
    struct explanation why = about(4, 5);
    ok(why.order == ORDER_AHEAD && is_id(why.divergence.ancestor, 1) &&
           is_id(why.divergence.decides_one, 4) && is_id(why.divergence.decides_other, 3),
       "users of a `parent` account are members of the list above");
    is_int(amount_of(&why, MORE_SHARES, 3), 3,
           "such users are compared with the accounts in that list");
    site_erase(&site);

    begin("1 - root - 1 0  2 root a - 1 0  3 - a p parent 50  4 - a u 1 10");
    why = about(4, 3);
    is_int(why.order, ORDER_BEHIND, "a user with `parent` shares ranks above users with usage");
    is_int(amount_of(&why, FEWER_SHARES, 3), -1,
           "a user with `parent` shares has no shares to lose");
    is_int(amount_of(&why, MORE_SHARES, 4), 0,
           "no number of shares ranks above a user with `parent` shares");
    site_erase(&site);
}

/* Returns the order of ids[0] relative to ids[1] after the change to ids[2], in a newly built
 * tree. */
static enum order order_after(const char *drawing, const struct algorithm *algorithm,
                              enum conformance conformance, const struct reversal *reversal,
                              const uint32_t ids[3])
{
    struct site changed;
    site_draw(&changed, drawing);
    for (size_t i = 0; i < changed.count; i++) {
        if (changed.rows[i].id != ids[2])
            continue;
        if (reversal->change == MORE_SHARES)
            changed.rows[i].shares += (int32_t)reversal->amount;
        else if (reversal->change == FEWER_SHARES)
            changed.rows[i].shares -= (int32_t)reversal->amount;
        else if (reversal->change == MORE_USAGE)
            changed.usage[i] += (double)reversal->amount;
        else
            changed.usage[i] -= (double)reversal->amount;
    }
    site_build(&changed, BAD_ROWS_FAIL);
    site_compute(&changed, conformance, CAPACITY, 0);
    struct fairshare_options of_changed = { conformance, 1, 0, CAPACITY, changed.decay, NULL };
    uint32_t *decided = order_of_all(changed.tree, &of_changed, algorithm, changed.values);
    struct explain_input after = { changed.tree,   &of_changed, algorithm,
                                   changed.values, decided,     false };
    enum order order =
        order_of(&after, tree_place(changed.tree, ids[0]), tree_place(changed.tree, ids[1]));
    free(decided);
    site_erase(&changed);
    return order;
}

struct verified {
    unsigned found, least;
};

static void verify(const char *drawing, const struct explanation *why, struct verified *verified)
{
    const struct node *nodes = site.tree->nodes;
    for (uint32_t i = 0; i < why->reversal_count; i++) {
        struct reversal reversal = why->reversals[i];
        const uint32_t ids[] = { nodes[why->behind].id, nodes[why->ahead].id,
                                 nodes[reversal.node].id };
        /* A drawing cannot give an account itself a negative usage. */
        if (!reversal.amount || (reversal.change == LESS_USAGE && !nodes[reversal.node].is_user))
            continue;
        verified->found++;
        bool turns = order_after(drawing, input.algorithm, options.conformance, &reversal, ids) ==
                     ORDER_AHEAD;
        reversal.amount--;
        bool too_early = order_after(drawing, input.algorithm, options.conformance, &reversal,
                                     ids) == ORDER_AHEAD;
        verified->least += turns && !too_early;
    }
}

/* Users at two depths, with uneven shares and usage; one has no usage and one no shares. */
#define UNEVEN                                                                           \
    "1 - root - 1 0    2 root a - 40 0   3 root d - 60 0   4 a b - 30 0  5 a c - 10 0\n" \
    "6 d e - 25 0      7 d f - 35 0      8 - b user1 1 20  9 - c user2 1 25\n"           \
    "10 - c user3 2 0  11 - e user4 1 25 12 - f user5 1 3  13 - a user6 3 11 14 - b user7 0 4"

static void every_reversal(enum conformance conformance)
{
    for (const struct algorithm *const *each = algorithms; *each; each++) {
        struct verified verified = { 0, 0 };
        begin_as(UNEVEN, (*each)->name, conformance);
        for (uint32_t one = 8; one <= 14; one++)
            for (uint32_t other = one + 1; other <= 14; other++) {
                struct explanation why = about(one, other);
                verify(UNEVEN, &why, &verified);
            }
        site_erase(&site);
        char statement[120];
        snprintf(statement, sizeof statement,
                 "%s: each change found is the smallest that reverses the order", (*each)->name);
        ok(verified.found > 20 && verified.least == verified.found, statement);
    }
}

int main(void)
{
    overview();
    who_cannot_be_compared();
    zeros();
    ties();
    parent_shares();
    every_reversal(CONFORMANCE_DOCUMENTS);
    every_reversal(CONFORMANCE_SLURMCTLD);
    free(published_order);
    return done_testing();
}
