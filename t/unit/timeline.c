/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/tree/timeline.h"
#include "site.h"

/* What is known of the past, in order. */

#define NOW 100

static struct site site;
static struct association_history *history;
static struct timeline timeline;

/* What the source has now. */
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

/* One that has names: an account below its parent, or a user of an account. */
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

/* The changes of an association, as `instant` and a letter for what it is. */
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
    is_string(changes_of(3), "5- 20= 30=", "the oldest is first");
    is_string(changes_of(4), "10= 20+ 20-", "what was done in one second stays in its order");
    is_string(changes_of(2), "", "one of which nothing is known has no changes");
    is_string(changes_of(5), NULL, "an id that nobody named is not known");
    ok(timeline_subject(&timeline, 3)->row == 2 && timeline_subject(&timeline, 1)->row == 0,
       "each knows its row");
    end();

    begin("");
    fill();
    ok(timeline.subject_count == 0 && !timeline_subject(&timeline, 1),
       "there may be nothing at all");
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
       "the last that a run up to then noted is the one end");
    ok(after.lives && after.row.parent_account == site_name(&site, "z"),
       "the last up to the run behind it the other");
    after = timeline_after(&timeline, timeline_subject(&timeline, 8));
    ok(after.lives && after.row.account == site_name(&site, "b"),
       "what a run did not note was as before");
    after = timeline_after(&timeline, timeline_subject(&timeline, 9));
    ok(!after.lives && after.named && !after.has_parent,
       "one that was gone has its names, and where it was then is not known");
    before = timeline_before(&timeline, timeline_subject(&timeline, 3));
    after = timeline_after(&timeline, timeline_subject(&timeline, 3));
    ok(before.known && !before.lives && !after.lives, "what no run saw did not live");
    ok(after.modified == 119, "when it was touched up to a run is known from now");
    ok(timeline_after(&timeline, timeline_subject(&timeline, 4)).modified == NEVER,
       "what was touched later is not");
    ok(timeline_subject(&timeline, 3)->created == 11 &&
           timeline_subject(&timeline, 2)->created == NEVER,
       "the source's times are those of the association");
    ok(!timeline_subject(&timeline, 77), "times alone make no association");
    end();

    begin(SITE);
    fill();
    ok(!timeline_before(&timeline, timeline_subject(&timeline, 3)).known &&
           timeline_after(&timeline, timeline_subject(&timeline, 3)).lives,
       "without runs the ends are nothing and now");
    end();
}

static void names(void)
{
    begin(SITE);
    added(20, 8, "", "a", "w");
    added(30, 8, "", "a", "u");
    fill();
    const struct subject *subject = timeline_subject(&timeline, 8);
    is_int(subject->changes[0].account, site_name(&site, "a"), "names of the past are found again");
    is_string(names_text(site.names, subject->changes[0].user), "w", "or are added");
    is_int(subject->changes[1].user, site.rows[2].user, "one name has one number");
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
    is_string(changes_of(8), "10+ 15s 50s 60+", "a user is removed from all that it has");
    is_string(changes_of(3), "50s", "not from what was made later");
    is_string(changes_of(4), "", "nor is another user");
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
    is_string(changes_of(2), "10+ 50s", "an account is removed");
    is_string(changes_of(7), "13+ 50s", "with its users");
    is_string(changes_of(3), "11+ 50?", "perhaps with accounts that were below it at some time");
    is_string(changes_of(4), "12+ 50?", "and their users");
    is_string(changes_of(5), "12+", "not with others");
    end();

    begin("1 - root - 1 0");
    added(50, 2, "root", "a", "");
    association_history_add_removal(history, 50, true, name("a"));
    added(50, 2, "root", "a", "");
    fill();
    is_string(changes_of(2), "50+ 50s 50+", "within a second what came first is first");
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
