/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/finding.h"
#include "core/tree/association.h"
#include "core/tree/association_history.h"
#include "core/tree/transaction.h"
#include "util/index.h"
#include "util/memory.h"

/*
 * Restores random association histories and compares the result with the truth.  Each history has
 * slurmdbd's records and runs at random times.
 *
 * Any value at a past time must be correct or reported as uncertain, for every choice of runs.  If
 * fewer runs give a correct and certain value, more runs should hardly ever make it wrong and
 * uncertain.
 *
 * The histories omit changes that leave no trace.  A moved account never returns to a former
 * parent, is never added again after its removal, and is never erased.  From Slurm 23.11 on, a move
 * does not set mod_time; histories of that kind keep all rows of txn_table.
 *
 * FAIRMILL_SEED=N tests only history N.  FAIRMILL_LONG=1 tests many more histories.
 */

enum { MOST = 40, STEPS = 400, NAMES = 12 };

enum existence { ABSENT, ALIVE, DELETED };

struct thing {
    enum existence existence;
    int32_t shares;
    uint32_t parent; /* the parent account's id */
    int64_t modified;
};

/* The values that do not change, and evidence of moves. */
struct identity {
    char account[12], user[12], parent_account[12];
    int64_t created;
    bool moved;
    bool was_below[MOST];
};

struct moment {
    int64_t at;
    bool is_run;
    struct thing things[MOST]; /* the state after this time */
};

struct record {
    int64_t at, action;
    char name[64], info[128];
};

static struct history {
    uint64_t random;
    bool moves_touch, moves_touch_all;
    int64_t at;
    uint32_t count; /* the highest id; ids start at 1 */
    struct identity who[MOST];
    struct thing things[MOST];
    struct moment *moments;
    size_t moment_count;
    struct record records[STEPS];
    size_t record_count, purged;
} h;

static uint32_t any(uint32_t below)
{
    h.random ^= h.random << 13;
    h.random ^= h.random >> 7;
    h.random ^= h.random << 17;
    return (uint32_t)((h.random >> 11) % below);
}

static bool is_user(uint32_t id)
{
    return h.who[id].user[0];
}

/* ---- Changes by slurmdbd ---- */

static struct record *note(int64_t action)
{
    struct record *record = &h.records[h.record_count++];
    *record = (struct record){ .at = h.at, .action = action };
    return record;
}

static void note_of(int64_t action, uint32_t id, const char *info)
{
    struct record *record = note(action);
    snprintf(record->name, sizeof record->name, "id_assoc=%u", id);
    snprintf(record->info, sizeof record->info, "%s", info);
}

static void note_added(uint32_t id)
{
    char info[128];
    const struct identity *who = &h.who[id];
    int length = snprintf(info, sizeof info, "acct='%s', user='%s', shares=%d", who->account,
                          who->user, h.things[id].shares);
    if (!is_user(id))
        snprintf(info + length, sizeof info - (size_t)length, ", parent_acct='%s'",
                 h.who[h.things[id].parent].account);
    note_of(TRANSACTION_ADD, id, info);
}

static void touch(uint32_t id)
{
    h.things[id].modified = h.at;
}

static void touch_all(void)
{
    for (uint32_t id = 1; id <= h.count; id++)
        if (h.things[id].existence != ABSENT)
            touch(id);
}

/* Returns a random association of this kind, or 0. */
static uint32_t pick(bool user, enum existence existence)
{
    uint32_t found = 0, seen = 0;
    for (uint32_t id = 2; id <= h.count; id++)
        if (is_user(id) == user && h.things[id].existence == existence && !any(++seen))
            found = id;
    return found;
}

static uint32_t pick_above(void)
{
    uint32_t account = pick(false, ALIVE);
    return any(3) && account ? account : 1;
}

static uint32_t account_named(const char *name)
{
    for (uint32_t id = 1; id <= h.count; id++)
        if (!is_user(id) && h.things[id].existence == ALIVE && !strcmp(h.who[id].account, name))
            return id;
    return 0;
}

static bool is_below(uint32_t id, uint32_t above)
{
    for (; id; id = h.things[id].parent)
        if (id == above)
            return true;
    return false;
}

static void live(uint32_t id, uint32_t parent)
{
    h.things[id].existence = ALIVE;
    h.things[id].shares = (int32_t)any(4) + 1;
    h.things[id].parent = parent;
    h.who[id].was_below[parent] = true;
    touch(id);
    note_added(id);
}

static void make(bool user)
{
    uint32_t parent = pick_above();
    if (h.count + 2 >= MOST)
        return;
    struct identity who = { .created = h.at };
    snprintf(who.account, sizeof who.account, "a%u", any(NAMES));
    if (user) {
        snprintf(who.account, sizeof who.account, "%s", h.who[parent].account);
        snprintf(who.user, sizeof who.user, "u%u", any(4));
    }
    for (uint32_t id = 1; id <= h.count; id++)
        if (h.things[id].existence != ABSENT && !strcmp(h.who[id].account, who.account) &&
            !strcmp(h.who[id].user, who.user))
            return;
    h.who[++h.count] = who;
    live(h.count, parent);
}

static void make_again(void)
{
    bool user = any(2);
    uint32_t id = pick(user, DELETED);
    uint32_t parent = !id ? 0 : user ? account_named(h.who[id].account) : pick_above();
    if (parent && !h.who[id].moved)
        live(id, parent);
}

/* Removes an association.  slurmdbd erases its row if it is new. */
static void go(uint32_t id)
{
    if (h.at - h.who[id].created < 8 && !h.who[id].moved && any(2))
        h.things[id] = (struct thing){ .existence = ABSENT };
    else {
        h.things[id].existence = DELETED;
        h.things[id].shares = 1;
        touch(id);
    }
}

static void remove_one(void)
{
    uint32_t id = pick(true, ALIVE);
    if (!id)
        return;
    note_of(TRANSACTION_REMOVE, id, "");
    go(id);
}

static void remove_user(void)
{
    uint32_t of = pick(true, ALIVE);
    if (!of)
        return;
    const struct identity who = h.who[of];
    const char *name = who.user;
    struct record *record = note(TRANSACTION_REMOVE_USERS);
    snprintf(record->name, sizeof record->name, "name in('%s')", name);
    for (uint32_t id = 1; id <= h.count; id++)
        if (h.things[id].existence == ALIVE && !strcmp(h.who[id].user, name))
            go(id);
}

static void remove_account(void)
{
    uint32_t account = pick(false, ALIVE);
    bool below[MOST] = { false };
    if (!account)
        return;
    struct record *record = note(TRANSACTION_REMOVE_ACCOUNTS);
    const struct identity who = h.who[account];
    snprintf(record->name, sizeof record->name, "name='%s'", who.account);
    for (uint32_t id = 1; id <= h.count; id++)
        below[id] = h.things[id].existence == ALIVE && is_below(id, account);
    for (uint32_t id = 1; id <= h.count; id++)
        if (below[id])
            go(id);
}

static void modify(bool shares)
{
    uint32_t id = pick(any(2), ALIVE);
    char info[64];
    if (!id)
        return;
    h.things[id].shares = shares ? (int32_t)any(4) + 1 : h.things[id].shares;
    snprintf(info, sizeof info, shares ? "shares=%d" : "max_jobs=3", h.things[id].shares);
    touch(id);
    note_of(TRANSACTION_MODIFY, id, info);
}

static void move(void)
{
    uint32_t id = pick(false, ALIVE), parent = pick_above();
    if (!id || is_below(parent, id) || h.who[id].was_below[parent])
        return;
    h.things[id].parent = parent;
    h.who[id].was_below[parent] = h.who[id].moved = true;
    if (h.moves_touch)
        touch(id);
    if (h.moves_touch_all)
        touch_all();
}

static void touch_without_a_word(void)
{
    uint32_t id = pick(any(2), any(2) ? ALIVE : DELETED);
    if (id && h.moves_touch)
        touch(id);
}

static void remove_qos(void)
{
    note(TRANSACTION_REMOVE_QOS);
    touch_all();
}

static void happen(void)
{
    switch (any(16)) {
    case 0:
    case 1:
        make(false);
        break;
    case 2:
    case 3:
    case 4:
        make(true);
        break;
    case 5:
    case 6:
        make_again();
        break;
    case 7:
        remove_one();
        break;
    case 8:
        remove_user();
        break;
    case 9:
        remove_account();
        break;
    case 10:
    case 11:
        modify(true);
        break;
    case 12:
        modify(false);
        break;
    case 13:
        move();
        break;
    case 14:
        any(2) ? move() : touch_without_a_word();
        break;
    default:
        if (!any(4))
            remove_qos();
    }
}

static void keep_moment(bool is_run)
{
    struct moment *moment = &h.moments[h.moment_count++];
    *moment = (struct moment){ .at = h.at, .is_run = is_run };
    memcpy(moment->things, h.things, sizeof h.things);
}

static void draw(uint64_t seed)
{
    struct moment *moments = h.moments ? h.moments : memory_zeroed(2 * STEPS, sizeof *moments);
    h = (struct history){ .random = seed * 0x9e3779b97f4a7c15 + 1, .moments = moments, .at = 10 };
    for (int i = 0; i < 4; i++)
        any(2);
    h.moves_touch = any(4);
    h.moves_touch_all = h.moves_touch && !any(3);
    h.count = 1;
    snprintf(h.who[1].account, sizeof h.who[1].account, "root");
    h.who[1].created = 10;
    h.things[1] = (struct thing){ .existence = ALIVE, .shares = 1, .modified = 10 };
    keep_moment(false);
    for (uint32_t step = 0, steps = 5 + any(60); step < steps; step++) {
        h.at += any(6);
        happen();
        keep_moment(false);
        if (!any(3)) {
            h.at += any(3);
            keep_moment(true);
        }
    }
    if (h.moves_touch && !any(2))
        h.purged = any(5) ? any((uint32_t)h.record_count + 1) : h.record_count;
    while (h.purged && h.purged < h.record_count &&
           h.records[h.purged].at == h.records[h.purged - 1].at)
        h.purged++;
}

/* ---- Records of runs ---- */

static uint32_t name_of(struct association_history *history, const char *name)
{
    return names_add(history->names, name, strlen(name));
}

static struct observation seen(struct association_history *history, const struct moment *run,
                               uint32_t id)
{
    const struct thing *thing = &run->things[id];
    return (struct observation){
        .at = run->at,
        .id = id,
        .lives = thing->existence == ALIVE,
        .shares = thing->shares,
        .account = name_of(history, h.who[id].account),
        .user = name_of(history, h.who[id].user),
        .partition = name_of(history, ""),
        .parent_account = name_of(history, thing->parent ? h.who[thing->parent].account : ""),
        .modified = thing->existence == ABSENT ? NEVER : thing->modified,
    };
}

/* Returns true if a run records a new state.  `before` is the last recorded state, or NULL. */
static bool is_noted(const struct thing *before, const struct thing *thing,
                     const struct thing *root)
{
    bool lives = thing->existence == ALIVE;
    if (!before)
        return lives;
    if (thing->existence == ABSENT)
        return before->existence == ALIVE;
    bool is_with_root = thing != root && thing->modified == root->modified;
    return lives != (before->existence == ALIVE) ||
           (before->modified != thing->modified && !is_with_root) ||
           (lives && (before->shares != thing->shares || before->parent != thing->parent));
}

/* The states that each of the chosen runs recorded, by id; NULL if it recorded none. */
static struct notes {
    const struct thing *of[2 * STEPS][MOST];
    bool any[2 * STEPS];
} notes;

static void note_all(const bool *chosen)
{
    const struct thing *last[MOST] = { NULL };
    const struct moment *before = NULL;
    memset(notes.of, 0, h.moment_count * sizeof *notes.of);
    memset(notes.any, 0, sizeof notes.any);
    for (size_t i = 0; i < h.moment_count; i++) {
        const struct moment *run = &h.moments[i];
        if (!chosen[i])
            continue;
        for (uint32_t id = 1; id <= h.count; id++)
            if (is_noted(last[id], &run->things[id], &run->things[1])) {
                notes.of[i][id] = last[id] = &run->things[id];
                notes.any[i] = true;
            }
        /* An association that was removed before may have been modified.  The run then records the
         * root. */
        if (!notes.any[i] && memcmp(before->things, run->things, sizeof run->things)) {
            notes.of[i][1] = &run->things[1];
            notes.any[i] = true;
        }
        before = run;
    }
}

/* Sets the chosen runs next to the history's time, as far as the records show them. */
static void find_runs(struct association_history *history, const bool *chosen)
{
    int64_t last = NEVER, next = NEVER, before = NEVER;
    for (size_t i = 0; i < h.moment_count; i++) {
        if (!chosen[i])
            continue;
        const int64_t at[] = { h.moments[i].at, before };
        for (int j = 0; notes.any[i] && j < 2; j++) {
            if (at[j] != NEVER && at[j] <= history->now && at[j] > last)
                last = at[j];
            if (at[j] > history->now && (next == NEVER || at[j] < next))
                next = at[j];
        }
        before = h.moments[i].at;
    }
    if (before <= history->now)
        last = before;
    else if (next == NEVER)
        next = before;
    association_history_set_runs(history, last, next);
}

static void see_all(struct association_history *history)
{
    for (uint32_t id = 1; id <= h.count; id++) {
        const struct moment *lived = NULL;
        for (size_t i = 0; i < h.moment_count; i++) {
            if (!notes.of[i][id])
                continue;
            struct observation observation = seen(history, &h.moments[i], id);
            if (observation.lives)
                lived = &h.moments[i];
            struct observation had = seen(history, lived, id);
            had.at = observation.at;
            had.lives = observation.lives;
            had.modified = observation.modified;
            association_history_observe(history, &had);
        }
    }
}

/* ---- Restored states ---- */

struct told {
    bool lives, is_row;
    int32_t shares;
    char parent[12];
    bool existence_doubt, shares_doubt, parent_doubt;
};

static void take_doubts(const struct findings *findings, struct told *told)
{
    for (size_t i = 0; i < findings->kind[FINDING_PAST_UNKNOWN].count; i++) {
        const char *detail = findings->kind[FINDING_PAST_UNKNOWN].kept[i].detail;
        uint64_t id = findings->kind[FINDING_PAST_UNKNOWN].kept[i].subject;
        told[id].existence_doubt = strstr(detail, "existence");
        told[id].shares_doubt = strstr(detail, "shares");
        told[id].parent_doubt = strstr(detail, "parent");
    }
}

static struct associations now_of_source(struct names *names)
{
    struct associations now = { .names = names };
    now.empty_name = names_add(names, "", 0);
    now.rows = memory_zeroed(MOST, sizeof *now.rows);
    for (uint32_t id = 1; id <= h.count; id++) {
        const struct thing *thing = &h.things[id];
        const struct identity *who = &h.who[id];
        const char *above = thing->parent && !is_user(id) ? h.who[thing->parent].account : "";
        if (thing->existence != ABSENT)
            now.rows[now.count++] = (struct association){
                .id = id,
                .account = names_add(names, who->account, strlen(who->account)),
                .user = names_add(names, who->user, strlen(who->user)),
                .partition = now.empty_name,
                .parent_account = names_add(names, above, strlen(above)),
                .shares = thing->shares,
                .deleted = thing->existence == DELETED,
            };
    }
    return now;
}

static void tell_source(struct association_history *history)
{
    for (uint32_t id = 1; id <= h.count; id++)
        if (h.things[id].existence != ABSENT)
            association_history_set_times(history, id, h.who[id].created, h.things[id].modified);
    if (h.purged < h.record_count)
        association_history_set_log_start(history, h.records[h.purged].at);
    for (size_t i = h.purged; i < h.record_count; i++)
        transaction_add(&(struct transaction){ h.records[i].at, h.records[i].action,
                                               h.records[i].name, h.records[i].info },
                        history);
}

static void ask(int64_t at, const bool *chosen, struct told told[MOST])
{
    struct association_history *history = association_history_create(at);
    struct names *names = names_create();
    struct findings *findings = findings_create();
    struct association_history_counts counts;
    struct associations then = now_of_source(names);
    memset(told, 0, MOST * sizeof *told);
    note_all(chosen);
    find_runs(history, chosen);
    see_all(history);
    tell_source(history);
    association_history_apply(history, &then, findings, &counts);
    for (size_t i = 0; i < then.count; i++) {
        const struct association *row = &then.rows[i];
        struct told *one = &told[row->id];
        one->is_row = true;
        one->lives = !row->deleted;
        one->shares = row->shares;
        snprintf(one->parent, sizeof one->parent, "%s", names_text(names, row->parent_account));
    }
    take_doubts(findings, told);
    free(then.rows);
    association_history_destroy(history);
    findings_destroy(findings);
    names_destroy(names);
}

/* ---- Comparison ---- */

static struct {
    size_t values, doubts, wrong_doubts, discordant, lost, shown;
} sums;

static const char *parent_then(const struct moment *moment, uint32_t id)
{
    uint32_t parent = moment->things[id].parent;
    return parent ? h.who[parent].account : "";
}

enum { EXISTENCE, SHARES, PARENT, ATTRIBUTES };

/* Sets, for each attribute: 1 if it is correct, 0 if it is wrong, -1 if it does not apply. */
static void judge(const struct moment *truth, uint32_t id, const struct told *told,
                  int right[ATTRIBUTES])
{
    const struct thing *thing = &truth->things[id];
    bool lives = thing->existence == ALIVE;
    right[EXISTENCE] = told->lives == lives;
    right[SHARES] = lives && told->lives ? told->shares == thing->shares : -1;
    right[PARENT] =
        !is_user(id) && told->is_row && told->lives == lives && thing->existence != ABSENT
            ? !strcmp(told->parent, parent_then(truth, id))
            : -1;
}

static bool is_doubted(const struct told *told, int attribute)
{
    return attribute == EXISTENCE ? told->existence_doubt
           : attribute == SHARES  ? told->shares_doubt
                                  : told->parent_doubt;
}

static void show(const char *what, int64_t at, uint32_t id, int attribute)
{
    static const char *const names[] = { "existence", "shares", "parent" };
    char text[200];
    if (sums.shown++ > 5)
        return;
    snprintf(text, sizeof text, "%s: %s of id %u (%s.%s) at %" PRId64, what, names[attribute], id,
             h.who[id].account, h.who[id].user, at);
    diag(text);
}

/* Returns the state after the last change up to a time.  If a chosen run took place in the same
 * second, sets `*also` to the state that it recorded, which is also correct. */
static const struct moment *truth_at(int64_t at, const bool *chosen, const struct moment **also)
{
    const struct moment *truth = &h.moments[0];
    *also = NULL;
    for (size_t i = 0; i < h.moment_count && h.moments[i].at <= at; i++) {
        truth = &h.moments[i];
        if (chosen[i] && h.moments[i].at == at)
            *also = truth;
    }
    return truth;
}

/* Returns true if anything still refers to the association. */
static bool has_trace(uint32_t id, const bool *chosen)
{
    char name[32];
    snprintf(name, sizeof name, "id_assoc=%u", id);
    for (size_t i = 0; i < h.moment_count; i++)
        if (chosen[i] && h.moments[i].things[id].existence == ALIVE)
            return true;
    for (size_t i = h.purged; i < h.record_count; i++)
        if (!strcmp(h.records[i].name, name))
            return true;
    return h.things[id].existence != ABSENT;
}

/* Returns true if each restored value is correct or uncertain, with the few runs and with more. */
static bool is_told_well(int64_t at, const bool *few, const bool *more)
{
    struct told by_few[MOST], by_more[MOST];
    const struct moment *also, *truth = truth_at(at, more, &also);
    bool good = true;
    ask(at, few, by_few);
    ask(at, more, by_more);
    for (uint32_t id = 1; id <= h.count; id++) {
        if (!has_trace(id, few))
            continue;
        int first[ATTRIBUTES], then[ATTRIBUTES], seen_then[ATTRIBUTES];
        judge(truth, id, &by_few[id], first);
        judge(truth, id, &by_more[id], then);
        judge(also ? also : truth, id, &by_more[id], seen_then);
        for (int i = 0; i < ATTRIBUTES; i++) {
            bool doubted = is_doubted(&by_more[id], i);
            bool wrong = !then[i] && !seen_then[i];
            sums.values += then[i] >= 0;
            sums.doubts += then[i] >= 0 && doubted;
            sums.wrong_doubts += wrong && doubted;
            if (wrong && !doubted && !by_more[id].existence_doubt) {
                show("wrong but not uncertain", at, id, i);
                good = false;
            }
            if (wrong && first[i] == 1 && !is_doubted(&by_few[id], i) &&
                !by_few[id].existence_doubt) {
                sums.discordant++;
            }
        }
    }
    return good;
}

static bool try_history(uint64_t seed)
{
    bool few[2 * STEPS] = { false }, more[2 * STEPS] = { false }, good = true;
    draw(seed);
    uint32_t density = any(4) + 1;
    int64_t last = NEVER;
    for (size_t i = 0; i < h.moment_count; i++) {
        more[i] = h.moments[i].is_run && h.moments[i].at > last && !any(density);
        last = more[i] ? h.moments[i].at : last;
        few[i] = more[i] && !any(2);
    }
    for (int i = 0; i < 6; i++)
        good &= is_told_well(10 + any((uint32_t)(h.at - 9)), few, more);
    return good;
}

int main(void)
{
    const char *seed = getenv("FAIRMILL_SEED"), *many = getenv("FAIRMILL_LONG");
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1, bad = 0, last_bad = 0;
    uint64_t count = seed ? 1 : many && *many == '1' ? 100000 : 15000;
    for (uint64_t i = first; i < first + count; i++)
        if (!try_history(i)) {
            if (bad++ < 20)
                printf("# history %" PRIu64 "\n", i);
            last_bad = i;
        }
    char text[200];
    ok(!bad, "restored values are correct or uncertain, with few runs and with more");
    snprintf(text, sizeof text,
             "%" PRIu64 " of %" PRIu64 " histories are wrong, the last is %" PRIu64
             "; %zu values, %zu uncertain, %zu of these wrong, %zu correct with fewer runs",
             bad, count, last_bad, sums.values, sums.doubts, sums.wrong_doubts, sums.discordant);
    diag(text);
    ok(seed || (sums.doubts * 4 < sums.values && sums.wrong_doubts * 50 > sums.doubts),
       "most values are certain, and uncertain values are often wrong");
    /* Exception: two runs may record no modification, and a third run between them may record
     * one. */
    ok(sums.discordant * 1000000 <= sums.values,
       "more runs hardly ever make a correct value uncertain");
    free(h.moments);
    return done_testing();
}
