/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "site.h"

static bool fails_with(const char *drawing, const char *words)
{
    struct site site;
    site_draw(&site, drawing);
    bool failed = !site_build(&site, BAD_ROWS_FAIL) && site.err.class == ERROR_DATA;
    bool named = failed && strstr(site.err.message, words);
    if (!named)
        diag(failed ? site.err.message : "the tree was built");
    site_erase(&site);
    return named;
}

/* Returns true if user v with this parent id is rejected with these words. */
static bool refuses_parent(uint32_t parent, const char *words)
{
    struct site site;
    site_draw(&site, "1 - root - 1 0  2 root a - 1 0  3 - a u 1 0  4 - a v 1 0");
    site.rows[3].parent_id = parent;
    bool named = !site_build(&site, BAD_ROWS_FAIL) && strstr(site.err.message, words);
    site_erase(&site);
    return named;
}

static void bad_rows(void)
{
    ok(fails_with("1 - root - 1 0  2 gone a - 1 0", "association 2 (account 'a') has no parent"),
       "the error names an account without its parent");
    ok(fails_with("1 - root - 1 0  3 - gone u 1 0", "association 3 (user 'u', account 'gone')"),
       "the error names a user without its account");
    ok(fails_with("1 - root - 1 0  2 b a - 1 0  3 a b - 1 0",
                  "association 2 (account 'a') is in a cycle of parents, with 3"),
       "the error names all associations in a cycle");
    ok(fails_with("1 - root - 1 0  2 a a - 1 0", "association 2 (account 'a') is in a cycle"),
       "an account that is its own parent is a cycle");
    ok(fails_with("1 - root - 1 0  2 b a - 1 0  3 c b - 1 0  4 d c - 1 0  5 e d - 1 0  6 f e - 1 0 "
                  "7 g f - 1 0  8 h g - 1 0  9 a h - 1 0",
                  "cycle of parents, with 3, 4, 5, 6, 7 and 2 more"),
       "the error names the first associations of a long cycle");
    ok(fails_with("1 - root - 1 0  2 - top - 1 0", "there are 2 roots: associations 1, 2"),
       "the error names two roots");
    ok(fails_with("2 root a - 1 0", "there is no root"), "a tree without a root is rejected");
    ok(fails_with("!1 - root - 1 0  2 root a - 1 0", "there is no root"),
       "a tree with a deleted root is rejected");
    ok(fails_with("1 - root - 1 0  2 root a - 1 0  2 root b - 1 0",
                  "has the same id as another association"),
       "the error reports an id that occurs twice");
    ok(fails_with("1 - root - 1 0  2 root a - 1 0  3 - a u 1 0  4 - a u 1 0",
                  "association 4 (user 'u', account 'a') has the same names as association 3"),
       "the error names both associations with the same names");
    ok(fails_with("1 - root - 1 0  !2 root a - 1 0  3 - a u 1 0",
                  "has a parent that is deleted, association 2"),
       "an association below a deleted account is rejected");
    ok(refuses_parent(
           3, "association 4 (user 'v', account 'a') has a user as its parent, association 3"),
       "the error names a user that is a parent");
    ok(refuses_parent(77, "has no parent, association 77"),
       "the error names the id of a missing parent");

    struct site site;
    site_draw(&site, "1 - root - 1 0   2 root a - 1 0   3 - a u 1 5\n"
                     "4 gone b - 1 0   5 - b v 1 7      6 d c - 1 0  7 c d - 1 0\n"
                     "8 - a u 1 9");
    ok(site_build(&site, BAD_ROWS_SKIP) && site.tree->count == 3,
       "with skipping, bad rows and their descendants are left out");
    is_int((int64_t)site.findings->kind[FINDING_ASSOCIATION_LEFT_OUT].count, 3,
           "with skipping, each bad row has a finding");
    ok(tree_place(site.tree, 5) == NO_NODE && tree_place(site.tree, 8) == NO_NODE,
       "usage below skipped rows has no owner");
    site_erase(&site);
}

/* Returns true if a tree with such an account and a user in it is rejected. */
static bool refuses(const char *name, size_t length)
{
    struct site site;
    site_draw(&site, "1 - root - 1 0  2 root a - 1 0  3 - a u 1 5  4 root b - 1 0");
    site.rows[1].account = site.rows[2].account = names_add(site.names, name, length);
    bool failed = !site_build(&site, BAD_ROWS_FAIL);
    site_erase(&site);
    return failed;
}

static void names(void)
{
    char longest[600];
    memset(longest, 'x', 256);
    ok(!refuses(longest, 255) && refuses(longest, 256), "a name has up to 255 characters");
    for (size_t i = 0; i < 256; i++)
        memcpy(longest + 2 * i, "\xc3\xa9", 2);
    ok(!refuses(longest, 510) && refuses(longest, 512),
       "a name of 255 characters may have more bytes");
    ok(refuses(longest, 511), "each byte that is not UTF-8 counts as a character");
    ok(refuses("a\0b", 3), "a name with a NUL byte is rejected");
    ok(fails_with("1 - root - 1 0  3 - caf\xe9 u 1 0", "account 'caf\xc3\xa9'"),
       "the error shows a name converted to UTF-8");

    struct site site;
    site_draw(&site, "1 - root - 1 0  2 root a - 1 0  3 - a u 1 5  4 root b - 1 0");
    site.rows[1].account = site.rows[2].account = names_add(site.names, "a\0b", 3);
    ok(site_build(&site, BAD_ROWS_SKIP) && site.tree->count == 2 &&
           tree_place(site.tree, 3) == NO_NODE,
       "with skipping, an account with such a name is left out");
    site_erase(&site);
    site_draw(&site, "1 - root - 1 0  !2 root a - 1 5");
    site.rows[1].account = names_add(site.names, "a\0b", 3);
    ok(site_build(&site, BAD_ROWS_FAIL), "a deleted account may have such a name");
    site_erase(&site);
    site_draw(&site, "1 - root - 1 0");
    site.rows[0].account = names_add(site.names, "root\0", 5);
    ok(!site_build(&site, BAD_ROWS_SKIP) && strstr(site.err.message, "the root, association 1,"),
       "a tree whose root is left out is rejected");
    site_erase(&site);
}

static void places(void)
{
    struct site site;
    site_draw(&site, "1 - root - 1 0      2 root a - 1 0    3 - a u 1 5\n"
                     "!4 - a gone 1 10    !5 a sub - 1 0    !6 - sub w 1 100\n"
                     "!7 missing x - 1 0  !8 - x y 1 1000");
    ok(site_build(&site, BAD_ROWS_FAIL), "deleted rows without a parent are accepted");
    is_int(site.tree->count, 3, "deleted rows are not in the tree");
    is_double_exact(decay_table_usage(site.decay, &site_node(&site, 2)->usage), 115,
                    "usage of deleted rows goes to the nearest existing ancestor");
    ok(tree_place(site.tree, 8) == NO_NODE, "usage without an existing ancestor has no owner");
    is_int((int64_t)site.findings->kind[FINDING_DELETED_WITHOUT_PARENT].count, 2,
           "usage without an owner is a finding");
    ok(tree_place(site.tree, 4000000000u) == NO_NODE, "usage of an unknown id has no owner");
    site_erase(&site);
}

static void parents(void)
{
    /* root - a(parent) - b(parent) - c(3) - u;  root - d(2);  b - v(parent) */
    struct site site;
    site_draw(&site, "1 - root - 1 0      2 root a - parent 0   3 a b - parent 0\n"
                     "4 b c - 3 0         5 - c u 4 1           6 root d - 2 8\n"
                     "7 - b v parent 16");
    ok(site_build(&site, BAD_ROWS_FAIL), "a tree with parent shares is built");
    ok(site_node(&site, 4)->fairshare_parent == 0 && site_node(&site, 3)->fairshare_parent == 0 &&
           site_node(&site, 7)->fairshare_parent == 0,
       "the fairshare parent is the nearest ancestor without parent shares");
    is_int(site_node(&site, 2)->child_count, 0, "a parent account has no fairshare children");
    is_int(site_node(&site, 1)->child_count, 5,
           "fairshare children of a parent account join its siblings");
    const struct level *level = &site.tree->levels[site_node(&site, 1)->level];
    is_int((int64_t)level->shares, 5, "a level's shares are the sum of actual shares");
    is_double_exact(decay_table_usage(site.decay, &level->usage), 25,
                    "a level's usage includes parent users but not parent accounts");
    is_double_exact(decay_table_usage(site.decay, &level->sharer_usage), 9,
                    "the usage of members with shares is a separate sum");
    is_double_exact(decay_table_usage(site.decay, &site_node(&site, 2)->usage), 17,
                    "usage is rolled up along direct parents");
    is_int(site.tree->user_count, 2, "every existing user counts");
    site_erase(&site);

    site_draw(&site, "1 - root - 1 0  2 root a - -5 0  3 - a u -1 1");
    ok(site_build(&site, BAD_ROWS_FAIL) && site_node(&site, 2)->shares == 0,
       "negative shares count as 0");
    is_int((int64_t)site.findings->kind[FINDING_SHARES_NEGATIVE].count, 2,
           "negative shares are a finding");
    site_erase(&site);
}

static void sums(void)
{
    struct site site;
    site_draw(&site, "1 - root - 1 0  2 root a - 1 0  3 - a u 1 0  4 - a v 1 0");
    tree_build(&site.tree,
               &(struct associations){ site.rows, site.count, site.names, site.empty, false },
               BAD_ROWS_FAIL, site.findings, &site.err);
    struct wide *usage = &site.tree->nodes[tree_place(site.tree, 3)].usage;
    wide_add_product(usage, 5, 7, true);
    wide_add_product(&site.tree->nodes[tree_place(site.tree, 4)].usage, 5, 9, false);
    tree_roll_up_usage(site.tree, &site.err);
    ok(wide_is_zero(usage), "a negative sum of an association counts as 0");
    is_int((int64_t)site.tree->nodes[0].usage.word[0], 45,
           "a negative sum counts as 0 before it is rolled up");

    struct wide most = { { 0, 0, 0, UINT64_C(1) << 62 } };
    site.tree->nodes[tree_place(site.tree, 3)].usage = most;
    site.tree->nodes[tree_place(site.tree, 4)].usage = most;
    ok(tree_roll_up_usage(site.tree, &site.err) && site.err.class == ERROR_DATA,
       "a sum beyond the integer range fails");
    site_erase(&site);
}

int main(void)
{
    bad_rows();
    names();
    places();
    parents();
    sums();
    return done_testing();
}
