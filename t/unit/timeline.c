/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/tree/timeline.h"
#include "site.h"

/* Tests the timeline: the changes of each association in order, and its state at both ends. */

#define NOW 100

static struct site site;
static struct association_history *history;
static struct timeline timeline;

/* Starts with these current rows. */
static void begin(const char *drawing)
{
    site_draw(&site, drawing);
    history = association_history_create(NOW);
    names_add(history->names, "", 0);
}

static uint32_t name(const char *text)
{
    return names_add(history->names, text, strlen(text));
}

static void change(int64_t at, uint32_t id, enum change_kind kind)
{
    association_history_add(history, &(struct change){ .at = at, .id = id, .kind = kind });
}

/* Adds an addition with names: of an account below its parent, or of a user of an account. */
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

static void see(int64_t at, uint32_t id, const char *parent, const char *account, bool lives)
{
    association_history_observe(history, &(struct observation){ .at = at,
                                                                .id = id,
                                                                .lives = lives,
                                                                .shares = 7,
                                                                .account = name(account),
                                                                .user = name(""),
                                                                .partition = name(""),
                                                                .parent_account = name(parent),
                                                                .modified = at - 1 });
}

static void fill(void)
{
    timeline = timeline_make(
        history, &(struct associations){ site.rows, site.count, site.names, site.empty, false },
        true);
}

static void end(void)
{
    timeline_free(&timeline);
    association_history_destroy(history);
    site_erase(&site);
}

/* Returns the changes of an association, each as a time and a letter for its kind, or NULL if the
 * id is unknown. */
static const char *changes_of(uint32_t id)
{
    static const char letters[] = {
        [CHANGE_ADDED] = '+',    [CHANGE_MODIFIED] = '=',       [CHANGE_REMOVED] = '-',
        [CHANGE_CASCADED] = 's', [CHANGE_MAYBE_CASCADED] = '?',
    };
    static char text[200];
    const struct subject *subject = timeline_subject(&timeline, id);
    size_t length = 0;
    text[0] = '\0';
    if (!subject)
        return NULL;
    for (const struct change *each = subject->changes; each < subject->end; each++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRId64 "%c",
                                   length ? " " : "", each->at, letters[each->kind]);
    return text;
}

#define SITE "1 - root - 1 0  2 root a - 1 0  3 - a u 1 0  4 - a v 1 0"

static void order(void)
{
    begin(SITE);
    change(30, 3, CHANGE_MODIFIED);
    change(20, 3, CHANGE_MODIFIED);
    change(10, 4, CHANGE_MODIFIED);
    added(20, 4, "", "a", "v");
    change(20, 4, CHANGE_REMOVED);
    change(5, 3, CHANGE_REMOVED);
    fill();
    is_string(changes_of(3), "5- 20= 30=", "changes are in ascending order of time");
    is_string(changes_of(4), "10= 20+ 20-", "changes in one second keep their order");
    is_string(changes_of(2), "", "an association without evidence has no changes");
    is_string(changes_of(5), NULL, "an id that nothing mentions is unknown");
    ok(timeline_subject(&timeline, 3)->row == 2 && timeline_subject(&timeline, 1)->row == 0,
       "each association knows its current row");
    end();

    begin("");
    fill();
    ok(timeline.subject_count == 0 && !timeline_subject(&timeline, 1), "a timeline may be empty");
    end();
}

static void ends(void)
{
    begin(SITE);
    association_history_set_runs(history, 20, 120);
    see(10, 2, "x", "a", true);
    see(20, 2, "y", "a", true);
    see(110, 2, "z", "a", true);
    see(130, 2, "w", "a", true);
    see(20, 8, "root", "b", true);
    see(20, 9, "root", "c", true);
    see(120, 9, "root", "c", false);
    change(19, 3, CHANGE_MODIFIED);
    change(20, 3, CHANGE_MODIFIED);
    change(120, 3, CHANGE_MODIFIED);
    change(121, 3, CHANGE_MODIFIED);
    association_history_set_times(history, 3, 11, 119);
    association_history_set_times(history, 4, 11, 121);
    association_history_set_times(history, 77, 13, 14);
    fill();
    is_string(changes_of(3), "19= 20= 120=", "changes up to the later run count");
    struct state before = timeline_before(&timeline, timeline_subject(&timeline, 2));
    struct state after = timeline_after(&timeline, timeline_subject(&timeline, 2));
    ok(before.lives && before.row.parent_account == site_name(&site, "y") && before.modified == 19,
       "the earlier end is the last observation up to the earlier run");
    ok(after.lives && after.row.parent_account == site_name(&site, "z"),
       "the later end is the last observation up to the later run");
    after = timeline_after(&timeline, timeline_subject(&timeline, 8));
    ok(after.lives && after.row.account == site_name(&site, "b"),
       "without a newer observation, the earlier state applies");
    after = timeline_after(&timeline, timeline_subject(&timeline, 9));
    ok(!after.lives && after.named && !after.has_parent,
       "a removed association has names, but its parent is unknown");
    before = timeline_before(&timeline, timeline_subject(&timeline, 3));
    after = timeline_after(&timeline, timeline_subject(&timeline, 3));
    ok(before.known && !before.lives && !after.lives,
       "an association that no run recorded did not exist");
    ok(after.modified == 119, "a modification before the later run is known from the current row");
    ok(timeline_after(&timeline, timeline_subject(&timeline, 4)).modified == NEVER,
       "a modification after the later run is not used");
    ok(timeline_subject(&timeline, 3)->created == 11 &&
           timeline_subject(&timeline, 2)->created == NEVER,
       "creation times come from the source");
    ok(!timeline_subject(&timeline, 77), "times alone do not create an association");
    end();

    begin(SITE);
    fill();
    ok(!timeline_before(&timeline, timeline_subject(&timeline, 3)).known &&
           timeline_after(&timeline, timeline_subject(&timeline, 3)).lives,
       "without runs, the ends are unknown and the current row");
    end();
}

static void names(void)
{
    begin(SITE);
    added(20, 8, "", "a", "w");
    added(30, 8, "", "a", "u");
    fill();
    const struct subject *subject = timeline_subject(&timeline, 8);
    is_int(subject->changes[0].account, site_name(&site, "a"),
           "names of the history are mapped to current names");
    is_string(names_text(site.names, subject->changes[0].user), "w",
              "names that the current rows lack are added");
    is_int(subject->changes[1].user, site.rows[2].user, "a name has one number");
    end();
}

static void removed_users(void)
{
    begin(SITE);
    added(10, 8, "", "b", "u");
    added(60, 8, "", "b", "u");
    association_history_set_times(history, 3, 20, 20);
    association_history_add_removal(history, 15, false, name("u"));
    association_history_add_removal(history, 50, false, name("u"));
    fill();
    is_string(changes_of(8), "10+ 15s 50s 60+",
              "removing a user removes its associations each time");
    is_string(changes_of(3), "50s", "removing a user does not remove an association created later");
    is_string(changes_of(4), "", "removing a user does not remove another user");
    end();
}

static void removed_accounts(void)
{
    begin("1 - root - 1 0");
    added(10, 2, "root", "a", "");
    added(11, 3, "a", "c", "");
    added(12, 4, "", "c", "u");
    added(12, 5, "root", "b", "");
    added(13, 7, "", "a", "u");
    association_history_add_removal(history, 50, true, name("a"));
    fill();
    is_string(changes_of(2), "10+ 50s", "removing an account removes it");
    is_string(changes_of(7), "13+ 50s", "removing an account removes its users");
    is_string(changes_of(3), "11+ 50?",
              "removing an account may remove accounts that were below it");
    is_string(changes_of(4), "12+ 50?", "removing an account may remove users of such accounts");
    is_string(changes_of(5), "12+", "removing an account does not remove other accounts");
    end();

    begin("1 - root - 1 0");
    added(50, 2, "root", "a", "");
    association_history_add_removal(history, 50, true, name("a"));
    added(50, 2, "root", "a", "");
    fill();
    is_string(changes_of(2), "50+ 50s 50+",
              "changes of one second keep their order around a removal");
    end();
}

int main(void)
{
    order();
    ends();
    names();
    removed_users();
    removed_accounts();
    return done_testing();
}
