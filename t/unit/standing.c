/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <math.h>

#include "core/fairshare/algorithm.h"
#include "core/insight/standing.h"
#include "site.h"

/*
 * Tests the reasons for the places of users.  The random trees have tied accounts, shares of 0,
 * `parent` shares and associations with partitions.  FAIRMILL_SEED=N tests only tree N.
 */

static struct site site;
static struct standings *standings;

static void standing_publish(const char *algorithm, enum conformance conformance)
{
    if (!site_build(&site, BAD_ROWS_FAIL))
        diag(site.err.message);
    site_compute(&site, conformance, 1000, 0);
    const struct fairshare_options options = { conformance, 1, 0, 1000, site.decay, NULL };
    const struct algorithm *known = algorithm_named(algorithm);
    uint32_t *order = order_of_all(site.tree, &options, known, site.values);
    standings = standings_create(site.tree, known, site.values, order);
    free(order);
}

static void standing_erase(void)
{
    standings_destroy(standings);
    site_erase(&site);
}

static void draw(const char *drawing, const char *algorithm)
{
    site_draw(&site, drawing);
    standing_publish(algorithm, CONFORMANCE_DOCUMENTS);
}

static uint32_t node(uint32_t id)
{
    return tree_place(site.tree, id);
}

static struct standing_step step_of(uint32_t id, size_t number)
{
    struct standing standing;
    standing_find(standings, node(id), &standing);
    struct standing_step step = standing.steps[number];
    standing_free(&standing);
    return step;
}

/* Usage of the level of a and b: a 60 of a share of 1/4, b 40 of 3/4.  So b's users are ahead. */
#define TWO_GROUPS                                     \
    "1 - root - 1 0  2 root a - 1 0  3 root b - 3 0\n" \
    "4 - a u 1 50  5 - a v 1 10  6 - b w 1 30  7 - b x 1 10  8 - b y 1 0"

static void levels(void)
{
    draw(TWO_GROUPS, "fair_tree");
    is_int(standings->users, 5, "all five users have a place");
    is_int(standing_place(standings, node(8)), 1,
           "the user without usage in the group ahead is next");
    is_int(standing_place(standings, node(4)), 5,
           "the user with most usage in the other group is last");
    ok(fabs(standings->ratios[node(2)] - 2.4) < 1e-12, "a has used 0.6 / 0.25 of its share");
    is_int(standings->ahead[node(2)], 3, "three users of b are ahead of a");
    is_int(standings->ahead[node(3)], 0, "no user of a is ahead of b");
    is_int(standings->owners[node(4)], node(2), "u is compared within a");
    is_int(standings->below[node(3)].users, 3, "b has three users");
    is_int(standings->below[node(2)].first, 4, "the first place of a is 4");
    is_int(standings->below[node(2)].last, 5, "the last place of a is 5");

    struct standing standing;
    standing_find(standings, node(4), &standing);
    is_int((int64_t)standing.count, 2, "u has two levels");
    standing_free(&standing);
    is_int(step_of(4, 1).ahead, 1, "one user is ahead of u within a");
    is_int(step_of(4, 1).position, 2, "u is second of a");
    is_int(step_of(4, 1).members, 2, "a has two members");
    standing_erase();
}

static void other_algorithms(void)
{
    draw(TWO_GROUPS, "classic");
    struct standing standing;
    standing_find(standings, node(4), &standing);
    ok(!standing.count && !standings->by_level, "classic has no levels");
    is_int(standings->ahead[node(2)], 0, "with classic, no user is ahead because of a level");
    is_int(standing_place(standings, node(4)), 5, "with classic, users have places");
    standing_erase();
}

static void special_shares(void)
{
    /* p has `parent` shares, so u and c are in the root's level.  z has no shares. */
    draw("1 - root - 1 0  2 root p - parent 0  3 p c - 1 0  4 root z - 0 0  5 - p u 2 90\n"
         "6 - c v 1 10  7 - z w 1 0  8 - c x parent 5  9 root empty - 1 0",
         "fair_tree");
    ok(isnan(standings->ratios[node(2)]), "an account with `parent` shares has no ratio");
    ok(isinf(standings->ratios[node(4)]), "an account without shares has an infinite ratio");
    is_int(standings->owners[node(5)], 0,
           "a user below `parent` shares is compared in the level above");
    is_int(step_of(5, 0).ahead, 2, "the users of c are ahead");
    is_int(step_of(5, 0).members, 4, "c, z, empty and u are members of the level");
    is_int(step_of(5, 0).position, 3, "u is third by ratio");
    is_int(step_of(7, 0).position, 4, "an account without shares is last");
    is_int(step_of(2, 0).position, 0, "an account with `parent` shares has no position");
    is_int(step_of(8, 1).position, 1, "a user with `parent` shares is first");
    is_int(standings->below[node(9)].first, 0, "an account without users has no place");
    standing_erase();
}

/* ---- random trees ---- */

static uint64_t state;

static uint32_t any(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 11) % below);
}

/* Draws accounts a2, a3 and so on, then users.  Small numbers lead to ties on each level. */
static void draw_random(void)
{
    char drawing[64 * 48];
    uint32_t accounts = 2 + any(12), users = 1 + any(50);
    static const char *const shares[] = { "1", "1", "2", "parent", "0", "3" };
    int length = snprintf(drawing, sizeof drawing, "1 - root - 1 0");
    for (uint32_t id = 2; id <= accounts; id++) {
        uint32_t parent = 1 + any(id - 1);
        char name[24] = "root";
        if (parent > 1)
            snprintf(name, sizeof name, "a%u", parent);
        length += snprintf(drawing + length, sizeof drawing - (size_t)length, "\n%u %s a%u - %s 0",
                           id, name, id, shares[any(6)]);
    }
    for (uint32_t id = accounts + 1; id <= accounts + users; id++)
        length +=
            snprintf(drawing + length, sizeof drawing - (size_t)length, "\n%u - a%u u%u %s %u", id,
                     2 + any(accounts - 1), any(users), shares[any(6)], any(3) * any(40));
    site_draw(&site, drawing);
    for (size_t i = accounts; i < site.count; i++) {
        char name[24];
        snprintf(name, sizeof name, "p%zu", i);
        site.rows[i].partition = site_name(&site, name);
    }
}

static uint32_t brute_below(uint32_t top, uint32_t place)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < site.tree->count; i++)
        for (uint32_t at = i; at != NO_NODE; at = site.tree->nodes[at].parent)
            if (at == top)
                count += standing_place(standings, i) && standing_place(standings, i) < place;
    return count;
}

static bool is_open(uint32_t i)
{
    return !site.tree->nodes[i].is_user && site.tree->nodes[i].shares == SHARES_PARENT;
}

/* Counts the users ahead below the members of the owner's level, except `member`. */
static uint32_t brute_ahead(uint32_t owner, uint32_t member, uint32_t place)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < site.tree->count; i++) {
        uint32_t up = site.tree->nodes[i].parent;
        while (up != owner && up != NO_NODE && is_open(up))
            up = site.tree->nodes[up].parent;
        if (up == owner && i != member && !is_open(i))
            count += brute_below(i, place);
    }
    return count;
}

static bool is_explained(uint32_t user)
{
    struct standing standing;
    uint32_t place = standing_place(standings, user), sum = 0, at = user;
    standing_find(standings, user, &standing);
    bool same = place && standing.count;
    for (size_t i = standing.count; i-- > 0;) {
        const struct standing_step *step = &standing.steps[i];
        uint32_t up = site.tree->nodes[at].parent;
        while (up && is_open(up))
            up = site.tree->nodes[up].parent;
        same &= step->member == at && step->owner == up &&
                step->ahead == brute_ahead(up, at, place) && step->position >= 1 &&
                step->position <= step->members;
        sum += step->ahead;
        at = up;
    }
    standing_free(&standing);
    return same && at == 0 && sum == place - 1;
}

static bool is_first_of(uint32_t i)
{
    uint32_t first = standings->below[i].first;
    return standings->ahead[i] == (first ? brute_below(standings->owners[i], first) : 0);
}

static void random_trees(enum conformance conformance, const char *statement)
{
    const char *seed = getenv("FAIRMILL_SEED");
    unsigned from = seed ? (unsigned)atoi(seed) : 1, end = seed ? from + 1 : 400, wrong = 0;
    unsigned tied = 0;
    for (unsigned number = from; number < end; number++) {
        state = number * UINT64_C(0x9e3779b97f4a7c15);
        draw_random();
        standing_publish("fair_tree", conformance);
        for (uint32_t i = 1; i < site.tree->count; i++)
            if (site.tree->nodes[i].is_user ? !is_explained(i) : !is_first_of(i)) {
                is_int(number, 0, "the number of a tree with a wrong explanation");
                wrong++;
                break;
            }
        for (uint32_t i = 1; i < site.tree->count; i++)
            tied += brute_below(0, standing_place(standings, i) + 1) > standing_place(standings, i);
        standing_erase();
    }
    ok(!wrong, statement);
    ok(seed || tied > 100, "many users of the random trees are tied");
}

/* ---- a part of a tree ---- */

/* Chooses the nodes on the path to a node and the members of the levels on this path. */
static void choose_part(uint32_t top, bool *chosen)
{
    const struct node *nodes = site.tree->nodes;
    bool above[64] = { false };
    for (uint32_t at = nodes[top].parent; at != NO_NODE; at = nodes[at].parent)
        above[at] = true;
    chosen[0] = true;
    for (uint32_t i = 1; i < site.tree->count; i++)
        chosen[i] = above[nodes[i].parent] || (chosen[nodes[i].parent] && is_open(nodes[i].parent));
}

/* Builds the tree of the chosen nodes as readers of the published rows do. */
static struct tree *build_part(const bool *chosen)
{
    struct tree *part = NULL;
    struct association rows[64];
    size_t count = 0;
    for (uint32_t i = 0; i < site.tree->count; i++) {
        const struct node *from = &site.tree->nodes[i];
        if (chosen[i])
            rows[count++] = (struct association){
                .id = from->id,
                .parent_id = i ? site.tree->nodes[from->parent].id : 0,
                .account = from->account,
                .user = from->user,
                .partition = from->partition,
                .parent_account = i ? from->account : site.empty,
                .shares = from->shares,
            };
    }
    if (tree_build(&part, &(struct associations){ rows, count, site.names, site.empty, true },
                   BAD_ROWS_FAIL, site.findings, &site.err))
        diag(site.err.message);
    return part;
}

static bool is_same_step(const struct tree *part, const struct standing_step *one,
                         const struct standing_step *other)
{
    const struct node *whole = site.tree->nodes;
    return part->nodes[one->owner].id == whole[other->owner].id &&
           part->nodes[one->member].id == whole[other->member].id &&
           !memcmp(&one->ratio, &other->ratio, sizeof one->ratio) && one->ahead == other->ahead &&
           one->position == other->position && one->members == other->members;
}

/* Returns true if the standings of a part have the same facts about a node as those of the whole
 * tree. */
static bool is_same(const struct standings *of_part, uint32_t in_part, uint32_t node)
{
    struct standing one, other;
    standing_find(of_part, in_part, &one);
    standing_find(standings, node, &other);
    bool same = of_part->users == standings->users && one.count == other.count &&
                standing_place(of_part, in_part) == standing_place(standings, node) &&
                of_part->below[in_part].users == standings->below[node].users &&
                of_part->below[in_part].first == standings->below[node].first &&
                of_part->below[in_part].last == standings->below[node].last;
    for (size_t i = 0; same && i < one.count; i++)
        same = is_same_step(of_part->tree, &one.steps[i], &other.steps[i]);
    standing_free(&one);
    standing_free(&other);
    return same;
}

/* Compares the part of each node with the whole tree.  Adds to `usable` and `unusable` the numbers
 * of parts that can and cannot be used. */
static bool parts_agree(const struct algorithm *algorithm, unsigned *usable, unsigned *unusable)
{
    bool agree = true;
    for (uint32_t node = 1; agree && node < site.tree->count; node++) {
        bool chosen[64] = { false };
        struct user_places places[64];
        struct values values[64];
        choose_part(node, chosen);
        struct tree *part = build_part(chosen);
        for (uint32_t i = 0; i < site.tree->count; i++) {
            uint32_t place = tree_place(part, site.tree->nodes[i].id);
            if (place == NO_NODE)
                continue;
            places[place] = standings->below[i];
            values[place] = site.values[i];
        }
        uint32_t in_part = tree_place(part, site.tree->nodes[node].id);
        bool has = standings_part_has(part, algorithm, places, in_part);
        *(has ? usable : unusable) += 1;
        struct standings *of_part = standings_create_part(part, algorithm, values, places);
        agree = !has || is_same(of_part, in_part, node);
        standings_destroy(of_part);
        tree_destroy(part);
    }
    return agree;
}

static void random_parts(void)
{
    static const char *const conformances[] = { "documents", "slurmctld" };
    for (const struct algorithm *const *algorithm = algorithms; *algorithm; algorithm++)
        for (int conformance = 0; conformance < 2; conformance++) {
            unsigned wrong = 0, usable = 0, unusable = 0;
            for (unsigned number = 1; number < 100; number++) {
                state = number * UINT64_C(0x9e3779b97f4a7c15);
                draw_random();
                standing_publish((*algorithm)->name,
                                 conformance ? CONFORMANCE_SLURMCTLD : CONFORMANCE_DOCUMENTS);
                wrong += !parts_agree(*algorithm, &usable, &unusable);
                standing_erase();
            }
            char statement[128];
            snprintf(statement, sizeof statement,
                     "%s, %s: a part with stored places has the same facts as the whole tree",
                     (*algorithm)->name, conformances[conformance]);
            ok(!wrong && usable > 3 * unusable, statement);
        }
}

static void interleaved(void)
{
    /* a and b are tied, and their users form one list: u, w and v, x. */
    draw("1 - root - 1 0  2 root a - 1 0  3 root b - 1 0  4 root c - 1 0\n"
         "5 - a u 1 10  6 - a v 1 30  7 - b w 1 10  8 - b x 1 30  9 - c y 1 90",
         "fair_tree");
    ok(standings->below[node(2)].interleaved, "the users of tied accounts are interleaved");
    ok(!standings->below[node(4)].interleaved && !standings->below[0].interleaved,
       "the users of another account and of the root are not interleaved");
    ok(!standings_part_has(site.tree, algorithm_named("fair_tree"), standings->below, node(6)),
       "stored places do not give the users ahead within an account that is interleaved");
    ok(standings_part_has(site.tree, algorithm_named("fair_tree"), standings->below, node(9)),
       "stored places give the users ahead within other accounts");
    struct user_places none[64] = { { 0 } };
    ok(!standings_part_has(site.tree, algorithm_named("classic"), none, node(9)),
       "the places that an older release did not store cannot be used");
    standing_erase();
}

int main(void)
{
    levels();
    other_algorithms();
    special_shares();
    random_trees(CONFORMANCE_DOCUMENTS,
                 "documents: the users ahead on all levels add up to the place minus 1");
    random_trees(CONFORMANCE_SLURMCTLD,
                 "slurmctld: the users ahead on all levels add up to the place minus 1");
    random_parts();
    interleaved();
    standings_destroy(NULL);
    return done_testing();
}
