/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/insight/scenario.h"
#include "core/tree/tree.h"
#include "site.h"

/* Creates rows from a tree, changes them and builds a new tree. */

static struct site site;
static struct scenario scenario;
static struct tree *built;
static struct error err;

static void take_apart(const char *drawing)
{
    site_draw(&site, drawing);
    if (!site_build(&site, BAD_ROWS_FAIL))
        diag(site.err.message);
    scenario_create(&scenario, site.tree, site.names, true);
}

static size_t row(uint32_t id)
{
    return scenario_find(&scenario, id);
}

static bool build(void)
{
    built = NULL;
    if (scenario_build(&scenario, &built, &err)) {
        built = NULL;
        return false;
    }
    return !tree_roll_up_usage(built, &err);
}

static void end(void)
{
    scenario_free(&scenario);
    tree_destroy(built);
    built = NULL;
    site_erase(&site);
}

static const struct node *at(uint32_t id)
{
    return &built->nodes[tree_place(built, id)];
}

static bool used(uint32_t id, double expected)
{
    return decay_table_usage(site.decay, &at(id)->usage) == expected;
}

/* a and its user w are below the root.  b is also below the root, with the user v and the account
 * c, which has the user u. */
#define SITE                                                        \
    "1 - root - 1 0  7 root a - 5 3  3 root b - 2 0  4 b c - 1 0\n" \
    "5 - c u 1 10    6 - b v 4 20    9 - a w parent 40"

static void unchanged(void)
{
    take_apart(SITE);
    bool ascending = true;
    for (size_t i = 1; i < scenario.count; i++)
        ascending &= scenario.rows[i - 1].id < scenario.rows[i].id;
    ok(scenario.count == 7 && ascending, "rows are the associations by ascending id");
    ok(scenario.rows[row(7)].id == 7 && row(8) == NO_ROW,
       "a row is found by its id; a missing one is not");
    ok(build() && used(1, 73) && used(3, 30) && used(7, 43) && used(9, 40),
       "an unchanged tree has the same usage, also of deleted users");
    ok(at(9)->shares == SHARES_PARENT && at(7)->shares == 5 &&
           at(5)->parent == tree_place(built, 4),
       "an unchanged tree has the same shares and parents");
    end();

    take_apart("1 - root - 1 0");
    ok(scenario.count == 1 && build() && built->user_count == 0, "a tree may have no users");
    end();
}

static void moved(void)
{
    take_apart(SITE);
    ok(!scenario_move(&scenario, row(3), row(4)) && !scenario_move(&scenario, row(3), row(3)),
       "an account cannot move below itself or its descendants");
    ok(!scenario.moved && scenario.rows[row(3)].parent_id == 1, "a rejected move changes nothing");
    ok(scenario_move(&scenario, row(4), row(7)), "an account can move below another account");
    ok(build() && at(4)->parent == tree_place(built, 7) && at(4)->depth == 2 && used(7, 53) &&
           used(3, 20) && used(1, 73),
       "a moved account keeps its usage and descendants");
    end();

    take_apart(SITE);
    ok(scenario_move(&scenario, row(7), row(4)) && scenario_move(&scenario, row(3), row(1)) &&
           !scenario_move(&scenario, row(3), row(7)) && build() && used(4, 53),
       "a second move takes the first one into account");
    end();
}

static void removed(void)
{
    take_apart(SITE);
    scenario.rows[row(5)].deleted = true;
    ok(build() && tree_place(built, 5) == tree_place(built, 4) && used(4, 10) &&
           built->user_count == 2,
       "a removed user leaves its usage to the account");
    end();

    take_apart(SITE);
    scenario.rows[row(4)].deleted = scenario.rows[row(5)].deleted = true;
    ok(build() && tree_place(built, 5) == tree_place(built, 3) && used(3, 30),
       "a user removed with its account leaves usage to the account above");
    end();

    take_apart(SITE);
    scenario.rows[row(4)].deleted = true;
    ok(!build() && err.class == ERROR_DATA, "an account with users cannot be removed alone");
    end();

    take_apart(SITE);
    scenario.rows[row(1)].deleted = true;
    ok(!build() && err.class == ERROR_DATA, "the root cannot be removed");
    end();
}

static void add(struct association added)
{
    scenario.rows = memory_resized(scenario.rows, scenario.count + 1, sizeof *scenario.rows);
    scenario.usage = memory_resized(scenario.usage, scenario.count + 1, sizeof *scenario.usage);
    scenario.rows[scenario.count] = added;
    scenario.usage[scenario.count++] = (struct wide){ { 0 } };
}

static struct association user_row(uint32_t id, const char *account, const char *user)
{
    return (struct association){ .id = id,
                                 .account = site_name(&site, account),
                                 .user = site_name(&site, user),
                                 .partition = site.empty,
                                 .parent_account = site.empty,
                                 .shares = 2 };
}

static void added(void)
{
    take_apart(SITE);
    add(user_row(10, "b", "x"));
    ok(build() && at(10)->parent == tree_place(built, 3) && used(10, 0) && built->user_count == 4,
       "an added user belongs to its account and has no usage");
    end();

    take_apart(SITE);
    add(user_row(10, "b", "v"));
    ok(!build() && err.class == ERROR_DATA, "a user cannot be added twice to an account");
    end();

    take_apart(SITE);
    add(user_row(10, "nowhere", "v"));
    ok(!build() && err.class == ERROR_DATA, "a user cannot be added to a missing account");
    end();
}

static void order(void)
{
    /* In bytes, the `0-` of users sorts before the names of accounts. */
    take_apart("1 - root - 1 0  2 root z - 1 0  3 root b - 1 0  4 - root v 1 0  5 b m - 1 0\n"
               "6 - m u 1 0  7 - b x 1 0");
    ok(build(), "a tree can be built from the rows");
    tree_order_by_lineage(built, scenario.names);
    ok(at(1)->order == 0 && at(4)->order == 1 && at(3)->order == 2 && at(7)->order == 3 &&
           at(5)->order == 4 && at(6)->order == 5 && at(2)->order == 6,
       "lineage order is depth first, with users before accounts");
    tree_destroy(built);
    ok(build() && at(2)->order == 2 && at(3)->order == 3,
       "without a move, the source's order is kept");
    tree_destroy(built);
    ok(scenario_move(&scenario, row(2), row(3)) && build() && at(3)->order == 2 &&
           at(7)->order == 3 && at(5)->order == 4 && at(6)->order == 5 && at(2)->order == 6,
       "after a move, the lineage order is rebuilt");
    ok(scenario_move(&scenario, row(5), row(1)), "an account can move to the root");
    tree_destroy(built);
    ok(build() && at(3)->order == 2 && at(7)->order == 3 && at(2)->order == 4 &&
           at(5)->order == 5 && at(6)->order == 6,
       "after a second move, all descendants are in lineage order");
    end();
}

static void usage(void)
{
    /* 2^39 and 2^41 TRES-seconds, next to 1. */
    take_apart("1 - root - 1 0  2 root a - 1 1  3 - a u 1 549755813888\n"
               "4 root b - 1 1  5 - b v 1 2199023255552");
    ok(wide_is_zero(&scenario.usage[row(4)]) && !wide_is_zero(&scenario.usage[row(2)]),
       "an account's own usage counts unless it may be a rounding error");
    end();

    take_apart(SITE);
    scenario.usage[row(5)].word[3] = scenario.usage[row(4)].word[3] = UINT64_MAX >> 1;
    scenario.rows[row(5)].deleted = true;
    ok(!build() && err.class == ERROR_DATA, "usage beyond the integer range is rejected");
    end();
}

int main(void)
{
    unchanged();
    moved();
    removed();
    added();
    order();
    usage();
    return done_testing();
}
