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
        diag(failed ? site.err.message : "it was built");
    site_erase(&site);
    return named;
}

/* The words where user v names this parent by its id. */
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
       "an account without its parent is named");
    ok(fails_with("1 - root - 1 0  3 - gone u 1 0", "association 3 (user 'u', account 'gone')"),
       "so is a user");
    ok(fails_with("1 - root - 1 0  2 b a - 1 0  3 a b - 1 0",
                  "association 2 (account 'a') is in a cycle of parents, with 3"),
       "a cycle is found, and all in it are named");
    ok(fails_with("1 - root - 1 0  2 a a - 1 0", "association 2 (account 'a') is in a cycle"),
       "also the shortest one");
    ok(fails_with("1 - root - 1 0  2 b a - 1 0  3 c b - 1 0  4 d c - 1 0  5 e d - 1 0  6 f e - 1 0 "
                  "7 g f - 1 0  8 h g - 1 0  9 a h - 1 0",
                  "cycle of parents, with 3, 4, 5, 6, 7 and 2 more"),
       "and the first ones of a long one");
    ok(fails_with("1 - root - 1 0  2 - top - 1 0", "there are 2 roots: associations 1, 2"),
       "two roots are named");
    ok(fails_with("2 root a - 1 0", "there is no root"), "no root is an error");
    ok(fails_with("!1 - root - 1 0  2 root a - 1 0", "there is no root"),
       "a deleted root is no root");
    ok(fails_with("1 - root - 1 0  2 root a - 1 0  2 root b - 1 0",
                  "has the same id as another association"),
       "an id that is there twice is named");
    ok(fails_with("1 - root - 1 0  2 root a - 1 0  3 - a u 1 0  4 - a u 1 0",
                  "association 4 (user 'u', account 'a') has the same names as association 3"),
       "so are both associations of the same names");
    ok(fails_with("1 - root - 1 0  !2 root a - 1 0  3 - a u 1 0",
                  "has a parent that is deleted, association 2"),
       "nobody lives below a deleted account");
    ok(refuses_parent(
           3, "association 4 (user 'v', account 'a') has a user as its parent, association 3"),
       "nor below a user, who is named");
    ok(refuses_parent(77, "has no parent, association 77"),
       "and the id of a parent that is not there is");

    struct site site;
    site_draw(&site, "1 - root - 1 0   2 root a - 1 0   3 - a u 1 5\n"
                     "4 gone b - 1 0   5 - b v 1 7      6 d c - 1 0  7 c d - 1 0\n"
                     "8 - a u 1 9");
    ok(site_build(&site, BAD_ROWS_SKIP) && site.tree->count == 3,
       "skipped, bad rows are left out with all below them");
    is_int((int64_t)site.findings->kind[FINDING_ASSOCIATION_LEFT_OUT].count, 3,
           "each with a finding: no parent, a cycle, twice");
    ok(tree_place(site.tree, 5) == NO_NODE && tree_place(site.tree, 8) == NO_NODE,
       "usage below them belongs to nobody");
    site_erase(&site);
}

/* Whether a tree with one such account and a user in it fails. */
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
    ok(!refuses(longest, 510) && refuses(longest, 512), "however many bytes these are");
    ok(refuses(longest, 511), "bytes that are no UTF-8 are a character each");
    ok(refuses("a\0b", 3), "a NUL byte cannot be published");
    ok(fails_with("1 - root - 1 0  3 - caf\xe9 u 1 0", "account 'caf\xc3\xa9'"),
       "a message names names as readers know them");

    struct site site;
    site_draw(&site, "1 - root - 1 0  2 root a - 1 0  3 - a u 1 5  4 root b - 1 0");
    site.rows[1].account = site.rows[2].account = names_add(site.names, "a\0b", 3);
    ok(site_build(&site, BAD_ROWS_SKIP) && site.tree->count == 2 &&
           tree_place(site.tree, 3) == NO_NODE,
       "skipped, it is left out with all below it");
    site_erase(&site);
    site_draw(&site, "1 - root - 1 0  !2 root a - 1 5");
    site.rows[1].account = names_add(site.names, "a\0b", 3);
    ok(site_build(&site, BAD_ROWS_FAIL), "what is deleted is not published, and may be called so");
    site_erase(&site);
    site_draw(&site, "1 - root - 1 0");
    site.rows[0].account = names_add(site.names, "root\0", 5);
    ok(!site_build(&site, BAD_ROWS_SKIP) && strstr(site.err.message, "the root, association 1,"),
       "without its root there is no tree");
    site_erase(&site);
}

static void places(void)
{
    struct site site;
    site_draw(&site, "1 - root - 1 0      2 root a - 1 0    3 - a u 1 5\n"
                     "!4 - a gone 1 10    !5 a sub - 1 0    !6 - sub w 1 100\n"
                     "!7 missing x - 1 0  !8 - x y 1 1000");
    ok(site_build(&site, BAD_ROWS_FAIL), "deleted rows fail nothing, even if their parent is gone");
    is_int(site.tree->count, 3, "they are not in the tree");
    is_double_exact(decay_table_usage(site.decay, &site_node(&site, 2)->usage), 115,
                    "their usage goes to the nearest living ancestor");
    ok(tree_place(site.tree, 8) == NO_NODE, "or to nobody where there is none");
    is_int((int64_t)site.findings->kind[FINDING_DELETED_WITHOUT_PARENT].count, 2,
           "which is a finding");
    ok(tree_place(site.tree, 4000000000u) == NO_NODE, "an unknown id belongs to nobody");
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
       "below parent accounts the fairshare parent is the nearest ancestor that is none");
    is_int(site_node(&site, 2)->child_count, 0, "a parent account has no children of its own");
    is_int(site_node(&site, 1)->child_count, 5, "they are siblings of its siblings");
    const struct level *level = &site.tree->levels[site_node(&site, 1)->level];
    is_int((int64_t)level->shares, 5, "the level's shares are those of who has shares");
    is_double_exact(decay_table_usage(site.decay, &level->usage), 25,
                    "in its usage parent users count, parent accounts don't");
    is_double_exact(decay_table_usage(site.decay, &level->sharer_usage), 9,
                    "of those with shares there is another sum");
    is_double_exact(decay_table_usage(site.decay, &site_node(&site, 2)->usage), 17,
                    "usage sums along the direct parents all the same");
    is_int(site.tree->user_count, 2, "every living user counts");
    site_erase(&site);

    site_draw(&site, "1 - root - 1 0  2 root a - -5 0  3 - a u -1 1");
    ok(site_build(&site, BAD_ROWS_FAIL) && site_node(&site, 2)->shares == 0,
       "negative shares are 0");
    is_int((int64_t)site.findings->kind[FINDING_SHARES_NEGATIVE].count, 2, "and a finding");
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
    ok(wide_is_zero(usage), "an association's sum below 0 counts as 0");
    is_int((int64_t)site.tree->nodes[0].usage.word[0], 45, "before it is added upwards");

    struct wide most = { { 0, 0, 0, UINT64_C(1) << 62 } };
    site.tree->nodes[tree_place(site.tree, 3)].usage = most;
    site.tree->nodes[tree_place(site.tree, 4)].usage = most;
    ok(tree_roll_up_usage(site.tree, &site.err) && site.err.class == ERROR_DATA,
       "a sum beyond the integers fails");
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
