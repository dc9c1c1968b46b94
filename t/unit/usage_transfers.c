/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/tree/usage_transfers.h"
#include "core/tree/association_history.h"
#include "core/usage/usage_owners.h"
#include "site.h"

/* Tests which association owns the usage that was charged before an association was removed. */

static struct site site;
static struct association_history *history;
static struct usage_transfers usage_transfers;

static uint32_t name(const char *text)
{
    return names_add(history->names, text, strlen(text));
}

/* Starts with these current rows, as of a time. */
static void begin(const char *drawing, int64_t now)
{
    site_draw(&site, drawing);
    history = association_history_create(now);
    name("");
}

static void added(int64_t at, uint32_t id, const char *parent, const char *account,
                  const char *user)
{
    association_history_add(history, &(struct change){ .at = at,
                                                       .id = id,
                                                       .kind = CHANGE_ADDED,
                                                       .account = name(account),
                                                       .user = name(user),
                                                       .partition = name(""),
                                                       .parent_account = name(parent) });
}

static void removed(int64_t at, uint32_t id)
{
    association_history_add(history,
                            &(struct change){ .at = at, .id = id, .kind = CHANGE_REMOVED });
}

static struct associations present(void)
{
    return (struct associations){ site.rows, site.count, site.names, site.empty, false };
}

static void find(void)
{
    struct associations rows = present();
    usage_transfers = usage_transfers_find(history, &rows);
}

static void end(void)
{
    usage_transfers_free(&usage_transfers);
    association_history_destroy(history);
    site_erase(&site);
}

/* Returns the transfers of an association, each as `until>owner`. */
static const char *transfers_of(uint64_t id)
{
    static char text[200];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < usage_transfers.count; i++)
        if (usage_transfers.rows[i].association == id)
            length += (size_t)snprintf(
                text + length, sizeof text - length, "%s%" PRIu64 ">%" PRIu64, length ? " " : "",
                usage_transfers.rows[i].until, usage_transfers.rows[i].owner);
    return text;
}

/* Returns the transfers that differ from the tree, in the same form. */
static const char *owners_of(uint64_t id)
{
    static char text[200];
    size_t length = 0;
    text[0] = '\0';
    site_build(&site, BAD_ROWS_FAIL);
    struct usage_owners *owners = usage_transfers_owners(&usage_transfers, site.tree);
    for (const struct usage_owner *each = usage_owners_find(owners, id); each; each = each->later)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRIu64 ">%" PRIu64,
                                   length ? " " : "", each->until, each->association);
    usage_owners_destroy(owners);
    tree_destroy(site.tree);
    site.tree = NULL;
    return text;
}

#define SITE "1 - root - 1 0  2 root a - 1 0  3 a b - 1 0  4 - b u 1 0  5 - b v 1 0"

static void users(void)
{
    begin(SITE, 100);
    association_history_add_removal(history, 20, false, name("u"));
    association_history_add_removal(history, 20, false, name("u"));
    added(30, 4, "", "b", "u");
    removed(50, 4);
    added(60, 4, "", "b", "u");
    removed(200, 5);
    find();
    is_string(transfers_of(4), "20>3 50>3", "usage before a removal belongs to the account");
    is_string(owners_of(4), "20>3 50>3",
              "a transfer overrides the tree if the user was added again");
    is_string(transfers_of(5), "", "a removal after the given time does not count");
    end();

    begin("1 - root - 1 0  2 root a - 1 0  3 a b - 1 0  !4 - b u 1 0", 100);
    removed(20, 4);
    find();
    is_string(transfers_of(4), "20>3", "usage of a removed association belongs to the account");
    is_string(owners_of(4), "", "the tree itself gives that usage to the account");
    end();

    begin(SITE, 100);
    removed(20, 4);
    find();
    is_string(transfers_of(4), "20>3", "an existing association was added again, logged or not");
    end();
}

static void accounts(void)
{
    begin("1 - root - 1 0  2 root a - 1 0  3 root b - 1 0  4 - b u 1 0  !5 - b v 1 0", 100);
    added(10, 2, "root", "a", "");
    added(11, 3, "a", "b", "");
    added(12, 4, "", "b", "u");
    removed(20, 4);
    added(21, 4, "", "b", "u");
    association_history_add_removal(history, 30, true, name("b"));
    added(40, 3, "root", "b", "");
    added(41, 4, "", "b", "u");
    find();
    is_string(transfers_of(3), "30>2", "usage of an account belongs to its parent at that time");
    is_string(transfers_of(4), "20>2 30>2", "usage of the account's users belongs to that parent");
    is_string(transfers_of(5), "30>2",
              "usage of users that were not added again belongs to that parent");
    is_string(owners_of(5), "30>2", "a transfer overrides the tree if the account was added again");
    end();

    begin("1 - root - 1 0  2 root a - 1 0  3 root b - 1 0  4 - b u 1 0", 100);
    added(10, 2, "root", "a", "");
    added(11, 3, "a", "b", "");
    association_history_add_removal(history, 30, true, name("a"));
    added(40, 2, "root", "a", "");
    added(41, 3, "root", "b", "");
    added(42, 4, "", "b", "u");
    association_history_add_removal(history, 50, true, name("a"));
    added(60, 2, "root", "a", "");
    find();
    is_string(transfers_of(4), "30>1",
              "removing an account moves usage of all descendants above it");
    is_string(transfers_of(2), "30>1 50>1", "each removal moves usage");
    end();

    begin("1 - root - 1 0  2 b a - 1 0  3 a b - 1 0", 100);
    removed(20, 2);
    removed(20, 3);
    find();
    is_string(transfers_of(2), "", "accounts below each other have no owner");
    end();
}

/* ---- Random histories, compared with a simulated controller ---- */

#define ACCOUNTS 6 /* account 0 is the root */
#define USERS 3
#define SLOTS (ACCOUNTS + ACCOUNTS * USERS) /* each account and its users */
#define SECONDS 40
#define IDS 400
#define ROOT 0

static const char *const account_names[ACCOUNTS] = { "root", "a", "b", "c", "d", "e" };
static const char *const user_names[USERS] = { "u", "v", "w" };

static uint64_t state;

static uint32_t any(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

struct controller {
    struct {
        uint32_t id; /* 0: it never existed, or its row was erased */
        bool lives;
        int parent; /* slot of the parent */
        int64_t created;
    } slots[SLOTS];
    uint32_t ids;
    uint32_t holder[IDS][SECONDS]; /* owner of an id's usage by second; 0: no usage */
};

static struct controller controller;

static bool is_account(int slot)
{
    return slot < ACCOUNTS;
}

static const char *account_of(int slot)
{
    return account_names[is_account(slot) ? slot : (slot - ACCOUNTS) / USERS];
}

static const char *user_of(int slot)
{
    return is_account(slot) ? "" : user_names[(slot - ACCOUNTS) % USERS];
}

static bool is_within(int slot, int account)
{
    while (slot != account && slot != ROOT)
        slot = controller.slots[slot].parent;
    return slot == account;
}

static void add(int64_t at, int slot, int parent)
{
    if (controller.slots[slot].lives || !controller.slots[parent].lives || slot == parent)
        return;
    if (!controller.slots[slot].id) {
        controller.slots[slot].id = ++controller.ids;
        controller.slots[slot].created = at;
    }
    controller.slots[slot].parent = parent;
    controller.slots[slot].lives = true;
    if (history)
        added(at, controller.slots[slot].id, is_account(slot) ? account_of(parent) : "",
              account_of(slot), user_of(slot));
}

/* Moves the usage of removed associations at once, so that the order of removals does not
 * matter. */
static void bury(const bool *gone)
{
    uint32_t heir[IDS + 1];
    for (uint32_t id = 0; id <= IDS; id++)
        heir[id] = id;
    for (int slot = 0; slot < SLOTS; slot++) {
        int up = slot;
        while (gone[up])
            up = controller.slots[up].parent;
        heir[controller.slots[slot].id] = controller.slots[up].id;
    }
    for (uint32_t id = 0; id < IDS; id++)
        for (int second = 0; second < SECONDS; second++)
            if (controller.holder[id][second])
                controller.holder[id][second] = heir[controller.holder[id][second]];
    for (int slot = 0; slot < SLOTS; slot++)
        controller.slots[slot].lives &= !gone[slot];
}

/* Erases the row of an account, which is possible if it had no usage.  It will get a new id. */
static void forget(int slot)
{
    if (is_account(slot) && !controller.slots[slot].lives && !any(4))
        controller.slots[slot].id = 0;
}

static void remove_some(int64_t at)
{
    bool gone[SLOTS] = { false };
    int chosen = 1 + (int)any(SLOTS - 1), turn = (int)any(SLOTS);
    bool by_name = any(2);
    for (int slot = 1; slot < SLOTS; slot++)
        gone[slot] =
            controller.slots[slot].lives && (is_account(chosen) ? is_within(slot, chosen)
                                             : by_name ? !strcmp(user_of(slot), user_of(chosen))
                                                       : slot == chosen);
    if (by_name && history)
        association_history_add_removal(
            history, at, is_account(chosen),
            name(is_account(chosen) ? account_of(chosen) : user_of(chosen)));
    for (int i = 0; i < SLOTS; i++) {
        int slot = (i + turn) % SLOTS;
        if (!by_name && history && gone[slot])
            removed(at, controller.slots[slot].id);
    }
    bury(gone);
    for (int slot = 1; slot < SLOTS; slot++)
        if (gone[slot])
            forget(slot);
}

static void live_through(uint64_t seed, int64_t until)
{
    state = seed * 2654435761u + 88172645463325252u;
    memset(&controller, 0, sizeof controller);
    controller.slots[ROOT].lives = true;
    controller.slots[ROOT].id = ++controller.ids;
    for (int64_t second = 1; second <= until; second++) {
        for (uint32_t events = any(4); events; events--) {
            int slot = 1 + (int)any(SLOTS - 1);
            int parent = is_account(slot) ? (int)any(ACCOUNTS) : (slot - ACCOUNTS) / USERS;
            if (any(4))
                add(second, slot, parent);
            else
                remove_some(second);
        }
        for (int slot = ACCOUNTS; slot < SLOTS; slot++)
            if (controller.slots[slot].lives) {
                uint32_t id = controller.slots[slot].id;
                controller.holder[id][second] = id;
            }
    }
}

static void draw_present(void)
{
    site_draw(&site, "");
    for (int slot = 0; slot < SLOTS; slot++) {
        uint32_t id = controller.slots[slot].id;
        if (!id)
            continue;
        site.rows[site.count++] = (struct association){
            .id = id,
            .account = site_name(&site, account_of(slot)),
            .user = *user_of(slot) ? site_name(&site, user_of(slot)) : site.empty,
            .partition = site.empty,
            .parent_account = is_account(slot) && slot != ROOT
                                  ? site_name(&site, account_of(controller.slots[slot].parent))
                                  : site.empty,
            .shares = 1,
            .deleted = !controller.slots[slot].lives,
        };
        association_history_set_times(history, id, controller.slots[slot].created,
                                      controller.slots[slot].created);
    }
}

static uint64_t owner_of(uint64_t id, uint64_t second)
{
    for (size_t i = 0; i < usage_transfers.count; i++)
        if (usage_transfers.rows[i].association == id && usage_transfers.rows[i].until > second)
            return usage_transfers.rows[i].owner;
    return id;
}

/* Finds the transfers from a later time, and compares the changes up to `now`. */
static bool try_history(uint64_t seed, size_t *moved)
{
    int64_t now = 1 + (int64_t)(seed * 7 % (SECONDS - 1));
    bool good = true;
    history = association_history_create(now);
    name("");
    live_through(seed, SECONDS - 1);
    draw_present();
    find();
    struct association_history *told = history;
    history = NULL;
    live_through(seed, now);
    for (uint32_t id = 1; id < IDS; id++)
        for (int64_t second = 1; second <= now; second++) {
            uint64_t holder = controller.holder[id][second];
            if (!holder)
                continue;
            good &= owner_of(id, (uint64_t)second) == holder;
            *moved += holder != id;
        }
    history = told;
    end();
    return good;
}

static void histories(void)
{
    const char *seed = getenv("FAIRMILL_SEED");
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1, bad = 0;
    size_t moved = 0;
    for (uint64_t i = first; i < first + (seed ? 1 : 1500); i++)
        if (!try_history(i, &moved) && bad++ < 20)
            printf("# history %" PRIu64 "\n", i);
    ok(!bad, "each second of usage has the controller's owner at any time");
    ok(seed || moved > 10000, "usage has many transfers");
}

int main(void)
{
    users();
    accounts();
    histories();
    return done_testing();
}
