/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/tree/past.h"
#include "core/tree/transaction.h"
#include "site.h"
#include "util/text.h"

/* What slurmdbd wrote, told to a past of this instant. */
static bool tell(struct past *past, int64_t at, int64_t action, const char *name, const char *info)
{
    struct transaction transaction = { at, action, name, info };
    return transaction_add(&transaction, past);
}

static bool understands(int64_t action, const char *name, const char *info)
{
    struct past *past = past_create(100);
    bool understood = tell(past, 1, action, name, info);
    if (!understood && (past->count || past->removal_count))
        diag("told of it all the same");
    past_destroy(past);
    return understood;
}

static const char added[] = "mod_time=5, acct='a\\'b', is_def=0, parent_acct='x', user='', "
                            "id_parent='3', lineage='/x/a,b(/', shares=40, qos=',1,', "
                            "delta_qos=if (qos='', replace(concat(qos, ',5,'), ',,', ','), '')";

static void parsing(void)
{
    struct past *past = past_create(100);
    ok(tell(past, 7, TRANSACTION_ADD, "id_assoc=6", added), "an added account is understood");
    const struct change *change = past->changes;
    ok(past->count == 1 && change->at == 7 && change->id == 6 && change->kind == CHANGE_ADDED &&
           change->shares == 40 && change->parent_id == 3,
       "its id, shares and parent's id are told");
    is_string(names_text(past->names, change->account), "a'b", "its name, without what escaped it");
    is_string(names_text(past->names, change->parent_account), "x", "its parent");
    ok(tell(past, 8, TRANSACTION_ADD, "id_assoc=7", "acct='p', user='u', `partition`='gpu'") &&
           past->changes[1].shares == 1 &&
           past->changes[1].parent_account == past->changes[1].account,
       "a user hangs below the account of its name, and has one share where none are told");
    is_string(names_text(past->names, past->changes[1].partition), "gpu",
              "a quoted column is a column");
    ok(tell(past, 9, TRANSACTION_MODIFY, "(id_assoc=6 || id_assoc=7)",
            "max_jobs=3, shares=2147483647"),
       "changed shares are understood");
    ok(past->count == 4 && past->changes[3].id == 7 && past->changes[3].shares == SHARES_PARENT,
       "of each association, parent shares too");
    ok(tell(past, 9, TRANSACTION_MODIFY, "(id_assoc=6)", "max_jobs=3") && past->count == 4,
       "what changes no shares tells nothing");
    ok(tell(past, 9, TRANSACTION_REMOVE, "id_assoc=6 || id_assoc=49", "") && past->count == 6 &&
           past->changes[5].id == 49 && past->changes[5].kind == CHANGE_REMOVED,
       "removed ones are understood");
    ok(tell(past, 9, TRANSACTION_REMOVE_USERS, "name='u'", "") &&
           tell(past, 9, TRANSACTION_REMOVE_USERS, "name in('u','v')", "") &&
           tell(past, 9, TRANSACTION_REMOVE_ACCOUNTS, "name='a' || name='b'", "") &&
           past->removal_count == 5 && past->removals[4].of_account,
       "so are users and accounts that were removed, in every form");
    past_destroy(past);
}

static void not_understood(void)
{
    ok(!understands(TRANSACTION_ADD, "id_assoc=6", "user='u', shares=1"), "an account is needed");
    ok(!understands(TRANSACTION_ADD, "id_assoc=6", "acct='a"), "a text must end");
    ok(!understands(TRANSACTION_ADD, "id_assoc=6", "acct='a', user='' or so"),
       "and be all there is");
    ok(!understands(TRANSACTION_ADD, "(acct='a')", "acct='a'"), "an id is needed");
    ok(!understands(TRANSACTION_MODIFY, "(id_assoc=6 || id_assoc=0)", "shares=1"),
       "and a good one");
    ok(!understands(TRANSACTION_MODIFY, "(id_assoc=6 && id_assoc=7)", "shares=1"),
       "one of another form is not guessed at");
    ok(!understands(TRANSACTION_MODIFY, "(id_assoc=6)", "shares=if (shares=1, 2, 3)"),
       "nor are shares that are an expression");
    ok(!understands(TRANSACTION_MODIFY, "(id_assoc=6)", "shares=4294967294"),
       "or beyond their range");
    ok(!understands(TRANSACTION_MODIFY, "(id_assoc=6)", "shares=5, qos=(1"),
       "a parenthesis that stays open spoils it all");
    ok(!understands(TRANSACTION_REMOVE, "", ""), "nothing is no name");
    ok(!understands(TRANSACTION_REMOVE_USERS, "name in('u'", ""), "a list must end");
    ok(!understands(TRANSACTION_REMOVE_USERS, "(user='u')", ""), "users are removed by name");
    ok(!understands(1403, "u", "chem"), "other actions are not for us");
}

/* What a drawing becomes at an instant: those that live, a line each, then what is in doubt. */
static struct text rebuilt(const char *drawing, struct past *past, struct past_counts *counts)
{
    struct site site;
    struct text text = { 0 };
    site_draw(&site, drawing);
    struct associations was = { NULL, site.count, site.names, site.empty, false };
    was.rows = memory_resized(NULL, site.count, sizeof *was.rows);
    memcpy(was.rows, site.rows, site.count * sizeof *was.rows);
    past_apply(past, &was, site.findings, counts);
    const struct association *rows = was.rows;
    for (size_t i = 0; i < was.count; i++)
        if (!rows[i].deleted)
            text_format(&text, "%u %s/%s%s%s %d\n", rows[i].id,
                        names_text(site.names, rows[i].parent_account),
                        names_text(site.names, rows[i].account),
                        rows[i].user == site.empty ? "" : ".", names_text(site.names, rows[i].user),
                        rows[i].shares);
    for (size_t i = 0; i < site.findings->kind[FINDING_PAST_UNKNOWN].count; i++)
        text_format(&text, "? %s\n", site.findings->kind[FINDING_PAST_UNKNOWN].kept[i].detail);
    free(was.rows);
    site_erase(&site);
    past_destroy(past);
    return text;
}

static void becomes(const char *drawing, struct past *past, const char *expected, const char *name)
{
    struct past_counts counts;
    struct text text = rebuilt(drawing, past, &counts);
    is_string(text.bytes ? text.bytes : "", expected, name);
    text_free(&text);
}

#define TREE "1 - root - 1 0  2 root a - 40 0  3 - a u 9 0  4 - a v 1 0"
#define AS_NOW "1 /root 1\n2 root/a 40\n3 /a.u 9\n4 /a.v 1\n"

/* The tree's rows were made at 10, and touched at these. */
static struct past *past_at(int64_t now, const int64_t modified[4])
{
    struct past *past = past_create(now);
    for (uint64_t id = 1; modified && id <= 4; id++)
        past_set_times(past, id, 10, modified[id - 1]);
    return past;
}

static void by_source(void)
{
    static const int64_t early[] = { 10, 10, 10, 10 }, late[] = { 10, 10, 60, 70 };
    becomes(TREE, past_at(50, early), AS_NOW, "what was not touched since is as it is now");
    becomes(TREE, past_at(50, late),
            AS_NOW "? shares of user 'u' of account 'a'\n? shares of user 'v' of account 'a'\n",
            "what was touched without a word is in doubt");

    struct past *past = past_at(50, late);
    past_set_reach(past, 5);
    becomes(TREE, past, AS_NOW, "not where the source tells everything and has nothing to tell");

    past = past_at(50, late);
    past_set_reach(past, 5);
    tell(past, 20, TRANSACTION_MODIFY, "(id_assoc=3)", "shares=4");
    tell(past, 60, TRANSACTION_MODIFY, "(id_assoc=3)", "shares=9");
    tell(past, 70, TRANSACTION_MODIFY, "(id_assoc=4)", "shares=1");
    becomes(
        TREE, past,
        "1 /root 1\n2 root/a 40\n3 /a.u 4\n4 /a.v 1\n? shares of user 'v' of account 'a'\n",
        "the last told before counts; where the first one is behind, what was before is in doubt");

    past = past_at(50, early);
    past_set_times(past, 4, 55, 55);
    becomes(TREE, past, "1 /root 1\n2 root/a 40\n3 /a.u 9\n", "what was made later was not there");

    past = past_at(50, NULL);
    past_set_reach(past, 5);
    tell(past, 20, TRANSACTION_ADD, "id_assoc=7", "acct='a', user='w', shares=6");
    tell(past, 30, TRANSACTION_ADD, "id_assoc=8", "acct='b', user='', parent_acct='a', shares=5");
    tell(past, 60, TRANSACTION_REMOVE, "id_assoc=7", "");
    tell(past, 60, TRANSACTION_REMOVE_ACCOUNTS, "name='b'", "");
    becomes(TREE, past, AS_NOW "7 a/a.w 6\n8 a/b 5\n",
            "what was deleted without a trace is there, with its names");
}

static void removals(void)
{
#define GONE "1 - root - 1 0  !2 root a - 1 0  !3 - a u 1 0  4 root b - 1 0  5 - b u 2 0"
    struct past *past = past_create(50);
    past_set_reach(past, 5);
    tell(past, 10, TRANSACTION_ADD, "id_assoc=2",
         "acct='a', parent_acct='root', user='', shares=7");
    tell(past, 10, TRANSACTION_ADD, "id_assoc=3", "acct='a', user='u', shares=8");
    tell(past, 40, TRANSACTION_REMOVE_USERS, "name in('u')", "");
    tell(past, 55, TRANSACTION_ADD, "id_assoc=5", "acct='b', user='u', shares=2");
    tell(past, 60, TRANSACTION_REMOVE_ACCOUNTS, "name='a'", "");
    becomes(GONE, past, "1 /root 1\n2 root/a 7\n4 root/b 1\n",
            "a user that was removed is gone from all accounts until it is added again");

    past = past_create(50);
    past_set_reach(past, 5);
    tell(past, 10, TRANSACTION_ADD, "id_assoc=2",
         "acct='a', parent_acct='root', user='', shares=7");
    tell(past, 11, TRANSACTION_ADD, "id_assoc=9", "acct='c', parent_acct='a', user='', shares=3");
    tell(past, 12, TRANSACTION_ADD, "id_assoc=3", "acct='c', user='u', shares=8");
    tell(past, 40, TRANSACTION_REMOVE_ACCOUNTS, "name='a'", "");
    becomes(GONE, past, "1 /root 1\n4 root/b 1\n5 /b.u 2\n",
            "with an account goes all that is below it");
}

static void see(struct past *past, int64_t at, uint32_t id, const char *parent, const char *account,
                const char *user, int32_t shares)
{
    struct change change = {
        .at = at,
        .id = id,
        .kind = shares < 0 ? CHANGE_SEEN_GONE : CHANGE_SEEN,
        .has_shares = shares >= 0,
        .shares = shares,
        .account = names_add(past->names, account, strlen(account)),
        .user = names_add(past->names, user, strlen(user)),
        .partition = names_add(past->names, "", 0),
        .parent_account = names_add(past->names, parent, strlen(parent)),
    };
    past_add(past, &change);
}

/* The first run at 20, the last one at 80. */
static struct past *seen_at(int64_t now)
{
    struct past *past = past_create(now);
    see(past, 20, 1, "", "root", "", 1);
    see(past, 20, 2, "x", "a", "", 30);
    see(past, 20, 3, "a", "a", "u", 5);
    see(past, 20, 9, "root", "x", "", 2);
    see(past, 40, 3, "a", "a", "u", 9);
    see(past, 40, 9, "root", "x", "", -1);
    see(past, 40, 2, "root", "a", "", 40);
    see(past, 60, 4, "a", "a", "v", 1);
    past_set_seen(past, 20, 80);
    return past;
}

static void by_runs(void)
{
#define FIRST "1 /root 1\n2 x/a 30\n3 /a.u 5\n9 root/x 2\n"
    becomes(TREE, seen_at(20), FIRST, "the instant of a run is what that run saw");
    becomes(TREE, seen_at(39), FIRST, "so is what follows, up to the next run that saw a change");
    becomes(TREE, seen_at(5), FIRST, "and what was before the first run");
    becomes(TREE, seen_at(40), "1 /root 1\n2 root/a 40\n3 /a.u 9\n",
            "moves and deletions count from the run that saw them");
    becomes(TREE, seen_at(70), AS_NOW, "as do new associations");
    struct past *past = seen_at(30);
    tell(past, 25, TRANSACTION_MODIFY, "(id_assoc=3)", "shares=9");
    becomes(TREE, past, "1 /root 1\n2 x/a 30\n3 /a.u 9\n9 root/x 2\n",
            "the source dates what happened between two runs");
    past = past_at(90, (const int64_t[]){ 10, 10, 10, 10 });
    see(past, 20, 1, "", "root", "", 1);
    see(past, 20, 2, "x", "a", "", 40);
    see(past, 20, 3, "a", "a", "u", 5);
    see(past, 20, 4, "a", "a", "v", 1);
    past_set_seen(past, 20, 80);
    becomes(TREE, past, AS_NOW "? parent of account 'a'\n",
            "behind the last run it is as now, in doubt where an account was moved");
}

static void words(void)
{
    struct past_counts counts;
    struct text text = rebuilt(TREE, seen_at(20), &counts);
    ok(counts.by_runs == 4 && !counts.by_source && !counts.by_times && !counts.unknown,
       "it is counted whose word is taken");
    text_free(&text);
    struct past *past = seen_at(20);
    tell(past, 10, TRANSACTION_MODIFY, "(id_assoc=3)", "shares=9");
    past_forget_source(past);
    is_int((int64_t)past->count, 8, "the source may tell again from the start");
    past_destroy(past);
}

int main(void)
{
    parsing();
    not_understood();
    by_source();
    removals();
    by_runs();
    words();
    return done_testing();
}
