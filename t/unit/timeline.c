/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/tree/timeline.h"
#include "site.h"

/* What is known of the past, in order. */

#define NOW 100

static struct site site;
static struct past *past;
static struct timeline timeline;

/* What the source has now. */
static void begin(const char *drawing)
{
    site_draw(&site, drawing);
    past = past_create(NOW);
    names_add(past->names, "", 0);
}

static uint32_t name(const char *text)
{
    return names_add(past->names, text, strlen(text));
}

static void change(int64_t at, uint32_t id, enum change_kind kind)
{
    past_add(past, &(struct change){ .at = at, .id = id, .kind = kind });
}

/* A change that has names: an account below its parent, or a user of an account. */
static void present(int64_t at, uint32_t id, enum change_kind kind, const char *parent,
                    const char *account, const char *user)
{
    past_add(past, &(struct change){ .at = at,
                                     .id = id,
                                     .kind = kind,
                                     .account = name(account),
                                     .user = name(user),
                                     .partition = name(""),
                                     .parent_account = name(parent) });
}

static void fill(void)
{
    timeline = (struct timeline){ .past = past,
                                  .present = { site.rows, site.count, site.names, site.empty } };
    timeline_fill(&timeline);
}

static void end(void)
{
    timeline_free(&timeline);
    past_destroy(past);
    site_erase(&site);
}

/* The changes of an association, as `instant` and a letter for what it is. */
static const char *changes_of(uint32_t id)
{
    static const char letters[] = {
        [CHANGE_ADDED] = '+', [CHANGE_SHARES] = '=',    [CHANGE_REMOVED] = '-',
        [CHANGE_SEEN] = 's',  [CHANGE_SEEN_GONE] = 'g',
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
    present(30, 3, CHANGE_SEEN, "", "a", "u");
    change(30, 3, CHANGE_SHARES);
    change(20, 3, CHANGE_SHARES);
    change(10, 4, CHANGE_SHARES);
    present(20, 4, CHANGE_ADDED, "", "a", "v");
    change(20, 4, CHANGE_REMOVED);
    change(5, 3, CHANGE_REMOVED);
    fill();
    is_string(changes_of(3), "5- 20= 30= 30s",
              "the oldest is first, and what a run saw is behind what was done in that second");
    is_string(changes_of(4), "10= 20+ 20-", "what was done in one second stays in its order");
    is_string(changes_of(2), "", "one of which nothing is known has no changes");
    ok(timeline_subject(&timeline, 3)->row == 2 && timeline_subject(&timeline, 1)->row == 0,
       "each knows its row");
    end();

    begin("");
    fill();
    ok(timeline.subject_count == 0 && !timeline_subject(&timeline, 1),
       "there may be nothing at all");
    end();
}

static void gaps(void)
{
    begin(SITE);
    past_set_seen(past, 20, 80);
    present(20, 1, CHANGE_SEEN, "", "root", "");
    present(20, 2, CHANGE_SEEN, "root", "a", "");
    present(20, 9, CHANGE_SEEN, "root", "x", "");
    present(40, 3, CHANGE_SEEN, "", "a", "u");
    change(60, 9, CHANGE_SEEN_GONE);
    fill();
    is_string(changes_of(3), "20g 40s",
              "what a later run saw first was not there at the first run");
    is_string(changes_of(4), "20g", "nor was what no run saw");
    is_string(changes_of(2), "20s", "what the first run saw was there");
    ok(timeline_subject(&timeline, 9)->row == NO_ROW, "one that is not there now has no row");
    is_string(changes_of(9), "20s 60g", "but a past");
    is_string(changes_of(5), NULL, "an id that nobody named is not known");
    end();

    begin(SITE);
    past_set_times(past, 3, 11, 12);
    past_set_times(past, 77, 13, 14);
    fill();
    const struct subject *u = timeline_subject(&timeline, 3), *v = timeline_subject(&timeline, 4);
    ok(u->created == 11 && u->modified == 12, "the source's times are those of the association");
    ok(v->created == NEVER && v->modified == NEVER, "without them there are none");
    ok(!timeline_subject(&timeline, 77), "times alone make no association");
    end();
}

static void names(void)
{
    begin(SITE);
    present(20, 8, CHANGE_ADDED, "", "a", "w");
    present(30, 8, CHANGE_ADDED, "", "a", "u");
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
    present(10, 3, CHANGE_ADDED, "", "a", "u");
    present(10, 8, CHANGE_ADDED, "", "b", "u");
    present(60, 8, CHANGE_ADDED, "", "b", "u");
    past_add_removal(past, 50, false, name("u"));
    past_add_removal(past, 5, false, name("u"));
    fill();
    is_string(changes_of(8), "10+ 50- 60+", "a user is removed from what it had then");
    is_string(changes_of(3), "10+",
              "not from what is still there and was not made again: it outlived the removal");
    is_string(changes_of(4), "", "nor is another user");
    end();

    /* The same, but u is deleted now. */
    begin("1 - root - 1 0  2 root a - 1 0  !3 - a u 1 0");
    present(10, 3, CHANGE_ADDED, "", "a", "u");
    past_add_removal(past, 50, false, name("u"));
    past_add_removal(past, 70, false, name("u"));
    fill();
    is_string(changes_of(3), "10+ 50- 70-", "two removals of one user are both there");
    end();
}

static void removed_accounts(void)
{
    begin("1 - root - 1 0");
    present(10, 2, CHANGE_ADDED, "root", "a", "");
    present(11, 3, CHANGE_ADDED, "a", "c", "");
    present(12, 4, CHANGE_ADDED, "", "c", "u");
    present(12, 5, CHANGE_ADDED, "root", "b", "");
    present(70, 6, CHANGE_ADDED, "", "c", "w");
    past_add_removal(past, 50, true, name("a"));
    fill();
    is_string(changes_of(2), "10+ 50-", "an account is removed");
    is_string(changes_of(3), "11+ 50-", "with the accounts below it");
    is_string(changes_of(4), "12+ 50-", "and their users");
    is_string(changes_of(5), "12+", "not with others");
    is_string(changes_of(6), "70+", "and not with what was made later");
    end();

    begin("1 - root - 1 0");
    present(50, 2, CHANGE_ADDED, "root", "a", "");
    past_add_removal(past, 50, true, name("a"));
    present(50, 2, CHANGE_ADDED, "root", "a", "");
    fill();
    is_string(changes_of(2), "50+ 50- 50+", "within a second what came first is first");
    end();
}

int main(void)
{
    order();
    gaps();
    names();
    removed_users();
    removed_accounts();
    return done_testing();
}
