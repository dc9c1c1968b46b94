/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/tree/association_history.h"
#include "core/tree/transaction.h"
#include "site.h"
#include "util/text.h"

/* Adds a transaction to the history; returns false if it is not understood. */
static bool tell(struct association_history *history, int64_t at, int64_t action, const char *name,
                 const char *info)
{
    struct transaction transaction = { at, action, name, info };
    return transaction_add(&transaction, history);
}

static bool understands(int64_t action, const char *name, const char *info)
{
    struct association_history *history = association_history_create(100);
    bool understood = tell(history, 1, action, name, info);
    if (!understood && (history->count || history->removal_count))
        diag("a transaction that was not understood changed the history");
    association_history_destroy(history);
    return understood;
}

static const char added[] = "mod_time=5, acct='a\\'b', is_def=0, parent_acct='x', user='', "
                            "id_parent='3', lineage='/x/a,b(/', shares=40, qos=',1,', "
                            "delta_qos=if (qos='', replace(concat(qos, ',5,'), ',,', ','), '')";

static void parsing(void)
{
    struct association_history *history = association_history_create(100);
    ok(tell(history, 7, TRANSACTION_ADD, "id_assoc=6", added),
       "the addition of an account is understood");
    const struct change *change = history->changes;
    ok(history->count == 1 && change->at == 7 && change->id == 6 && change->kind == CHANGE_ADDED &&
           change->shares == 40 && change->parent_id == 3,
       "an added account has its id, shares and parent id");
    is_string(names_text(history->names, change->account), "a'b", "an account name is unescaped");
    is_string(names_text(history->names, change->parent_account), "x",
              "an added account has its parent's name");
    ok(tell(history, 8, TRANSACTION_ADD, "id_assoc=7", "acct='p', user='u', `partition`='gpu'") &&
           history->changes[1].shares == 1 &&
           history->changes[1].parent_account == history->changes[1].account,
       "an added user belongs to its account and defaults to 1 share");
    is_string(names_text(history->names, history->changes[1].partition), "gpu",
              "a quoted column name is understood");
    ok(tell(history, 9, TRANSACTION_MODIFY, "(id_assoc=6 || id_assoc=7)",
            "max_jobs=3, shares=2147483647"),
       "a change of shares is understood");
    ok(history->count == 4 && history->changes[3].id == 7 &&
           history->changes[3].shares == SHARES_PARENT,
       "a change of shares covers each listed association and accepts parent shares");
    ok(tell(history, 9, TRANSACTION_MODIFY, "(id_assoc=6)", "max_jobs=3") && history->count == 5 &&
           !history->changes[4].has_shares,
       "a change of other values explains a modification");
    ok(tell(history, 9, TRANSACTION_REMOVE, "id_assoc=6 || id_assoc=49", "") &&
           history->count == 7 && history->changes[6].id == 49 &&
           history->changes[6].kind == CHANGE_REMOVED,
       "the removal of associations is understood");
    ok(tell(history, 9, TRANSACTION_REMOVE_QOS, "(name='q')", "") && history->touch_count == 1,
       "the removal of a QOS is a bulk modification");
    ok(tell(history, 9, TRANSACTION_REMOVE_USERS, "name='u'", "") &&
           tell(history, 9, TRANSACTION_REMOVE_USERS, "name in('u','v')", "") &&
           tell(history, 9, TRANSACTION_REMOVE_ACCOUNTS, "name='a' || name='b'", "") &&
           history->removal_count == 5 && history->removals[4].of_account,
       "removals of users and accounts are understood in every form");
    association_history_destroy(history);
}

static void not_understood(void)
{
    ok(!understands(TRANSACTION_ADD, "id_assoc=6", "user='u', shares=1"),
       "an addition without an account is rejected");
    ok(!understands(TRANSACTION_ADD, "id_assoc=6", "acct='a"), "an unterminated text is rejected");
    ok(!understands(TRANSACTION_ADD, "id_assoc=6", "acct='a', user='' or so"),
       "words after a quoted value are rejected");
    ok(!understands(TRANSACTION_ADD, "(acct='a')", "acct='a'"),
       "an addition without an id is rejected");
    ok(!understands(TRANSACTION_MODIFY, "(id_assoc=6 || id_assoc=0)", "shares=1"),
       "an association id of 0 is rejected");
    ok(!understands(TRANSACTION_MODIFY, "(id_assoc=6 && id_assoc=7)", "shares=1"),
       "an unknown form of a condition is rejected");
    ok(!understands(TRANSACTION_MODIFY, "(id_assoc=6)", "shares=if (shares=1, 2, 3)"),
       "shares that are an expression are rejected");
    ok(!understands(TRANSACTION_MODIFY, "(id_assoc=6)", "shares=4294967294"),
       "shares out of range are rejected");
    ok(!understands(TRANSACTION_MODIFY, "(id_assoc=6)", "shares=5, qos=(1"),
       "an unclosed parenthesis is rejected");
    ok(!understands(TRANSACTION_REMOVE, "", ""), "a removal without a name is rejected");
    ok(!understands(TRANSACTION_REMOVE_USERS, "name in('u'", ""),
       "an unterminated list is rejected");
    ok(!understands(TRANSACTION_REMOVE_USERS, "(user='u')", ""),
       "the removal of users by another column is rejected");
    ok(!understands(1403, "u", "chem"), "other actions are ignored");
}

/* Restores a site's associations as of the history's time.  Returns one line for each that exists,
 * then one line for each past_unknown finding.  The caller frees the text. */
static struct text rebuilt(const char *drawing, struct association_history *history,
                           struct association_history_counts *counts)
{
    struct site site;
    struct text text = { 0 };
    site_draw(&site, drawing);
    struct associations was = { NULL, site.count, site.names, site.empty, false };
    was.rows = memory_resized(NULL, site.count, sizeof *was.rows);
    memcpy(was.rows, site.rows, site.count * sizeof *was.rows);
    association_history_apply(history, &was, site.findings, counts);
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
    association_history_destroy(history);
    return text;
}

static void becomes(const char *drawing, struct association_history *history, const char *expected,
                    const char *name)
{
    struct association_history_counts counts;
    struct text text = rebuilt(drawing, history, &counts);
    is_string(text.bytes ? text.bytes : "", expected, name);
    text_free(&text);
}

#define TREE "1 - root - 1 0  2 root a - 40 0  3 - a u 9 0  4 - a v 1 0"
#define AS_NOW "1 /root 1\n2 root/a 40\n3 /a.u 9\n4 /a.v 1\n"

/* A history in which the tree's rows were created at 10 and last modified at these times. */
static struct association_history *past_at(int64_t now, const int64_t modified[4])
{
    struct association_history *history = association_history_create(now);
    for (uint64_t id = 1; modified && id <= 4; id++)
        association_history_set_times(history, id, 10, modified[id - 1]);
    return history;
}

static void by_source(void)
{
    static const int64_t early[] = { 10, 10, 10, 10 }, late[] = { 10, 10, 60, 70 };
    becomes(TREE, past_at(50, early), AS_NOW,
            "an association that was not modified since is as it is now");
    becomes(TREE, past_at(50, late),
            AS_NOW "? existence, shares of user 'u' of account 'a'\n"
                   "? existence, shares of user 'v' of account 'a'\n",
            "an unexplained modification makes the state before it uncertain");
    becomes(TREE, past_at(65, late), AS_NOW "? existence, shares of user 'v' of account 'a'\n",
            "the state is certain from the last modification on");

    struct association_history *history = past_at(50, late);
    association_history_set_log_start(history, 5);
    becomes(TREE, history, AS_NOW, "a complete log without entries shows that nothing changed");

    history = past_at(50, late);
    association_history_set_log_start(history, 5);
    tell(history, 20, TRANSACTION_MODIFY, "(id_assoc=3)", "shares=4");
    tell(history, 60, TRANSACTION_MODIFY, "(id_assoc=3)", "shares=9");
    tell(history, 70, TRANSACTION_MODIFY, "(id_assoc=4)", "shares=1");
    becomes(TREE, history,
            "1 /root 1\n2 root/a 40\n3 /a.u 4\n4 /a.v 1\n? shares of user 'v' of account 'a'\n",
            "the last logged value applies; before the first one it is uncertain");

    history = past_at(50, early);
    association_history_set_times(history, 4, 55, 55);
    becomes(TREE, history, "1 /root 1\n2 root/a 40\n3 /a.u 9\n",
            "an association that was created later did not exist");

    history = past_at(50, early);
    association_history_set_log_start(history, 5);
    tell(history, 20, TRANSACTION_ADD, "id_assoc=7", "acct='a', user='w', shares=6");
    tell(history, 30, TRANSACTION_ADD, "id_assoc=8",
         "acct='b', user='', parent_acct='a', shares=5");
    tell(history, 60, TRANSACTION_REMOVE, "id_assoc=7", "");
    tell(history, 60, TRANSACTION_REMOVE_ACCOUNTS, "name='b'", "");
    becomes(TREE, history, AS_NOW "7 a/a.w 6\n8 a/b 5\n",
            "erased associations exist between their addition and removal");
}

static void removals(void)
{
#define GONE "1 - root - 1 0  !2 root a - 1 0  !3 - a u 1 0  4 root b - 1 0  5 - b u 2 0"
    static const int64_t modified[] = { 9, 60, 60, 9, 55 }, at_once[] = { 9, 40, 40, 9, 10 };
    struct association_history *history = association_history_create(50);
    association_history_set_log_start(history, 5);
    for (uint64_t id = 1; id <= 5; id++)
        association_history_set_times(history, id, 9, modified[id - 1]);
    tell(history, 10, TRANSACTION_ADD, "id_assoc=2",
         "acct='a', parent_acct='root', user='', shares=7");
    tell(history, 10, TRANSACTION_ADD, "id_assoc=3", "acct='a', user='u', shares=8");
    tell(history, 40, TRANSACTION_REMOVE_USERS, "name in('u')", "");
    tell(history, 55, TRANSACTION_ADD, "id_assoc=5", "acct='b', user='u', shares=2");
    tell(history, 60, TRANSACTION_REMOVE_ACCOUNTS, "name='a'", "");
    becomes(GONE, history, "1 /root 1\n2 root/a 7\n4 root/b 1\n",
            "a removed user has no associations until it is added again");

    history = association_history_create(50);
    association_history_set_log_start(history, 5);
    for (uint64_t id = 1; id <= 5; id++)
        association_history_set_times(history, id, 9, at_once[id - 1]);
    tell(history, 10, TRANSACTION_ADD, "id_assoc=2",
         "acct='a', parent_acct='root', user='', shares=7");
    tell(history, 11, TRANSACTION_ADD, "id_assoc=9",
         "acct='c', parent_acct='a', user='', shares=3");
    tell(history, 12, TRANSACTION_ADD, "id_assoc=8", "acct='c', user='u', shares=8");
    tell(history, 40, TRANSACTION_REMOVE_ACCOUNTS, "name='a'", "");
    becomes(GONE, history, "1 /root 1\n4 root/b 1\n5 /b.u 2\n",
            "removing an account removes everything below it");
}

static void see(struct association_history *history, int64_t at, uint32_t id, const char *parent,
                const char *account, const char *user, int32_t shares, int64_t modified)
{
    association_history_observe(
        history, &(struct observation){
                     .at = at,
                     .id = id,
                     .lives = shares >= 0,
                     .shares = shares,
                     .account = names_add(history->names, account, strlen(account)),
                     .user = names_add(history->names, user, strlen(user)),
                     .partition = names_add(history->names, "", 0),
                     .parent_account = names_add(history->names, parent, strlen(parent)),
                     .modified = modified,
                 });
}

/* Runs at 20, 30, 40, 50, 60 and 80, without modification times.  The runs at 40 and 60 recorded
 * changes. */
static struct association_history *seen_at(int64_t now)
{
    static const int64_t runs[] = { NEVER, 20, 30, 40, 50, 60, 80, NEVER };
    struct association_history *history = association_history_create(now);
    size_t next = 1;
    while (runs[next] != NEVER && runs[next] <= now)
        next++;
    association_history_set_runs(history, runs[next - 1], runs[next]);
    see(history, 20, 1, "", "root", "", 1, NEVER);
    see(history, 20, 2, "x", "a", "", 30, NEVER);
    see(history, 40, 2, "root", "a", "", 40, NEVER);
    see(history, 20, 3, "a", "a", "u", 5, NEVER);
    see(history, 40, 3, "a", "a", "u", 9, NEVER);
    see(history, 60, 4, "a", "a", "v", 1, NEVER);
    see(history, 20, 9, "root", "x", "", 2, NEVER);
    see(history, 40, 9, "root", "x", "", -1, NEVER);
    return history;
}

static void by_runs(void)
{
#define FIRST "1 /root 1\n2 x/a 30\n3 /a.u 5\n9 root/x 2\n"
    becomes(TREE, seen_at(20), FIRST, "at the time of a run, its recorded state applies");
    becomes(TREE, seen_at(29), FIRST, "between two runs that agree, the recorded state applies");
    becomes(TREE, seen_at(40), "1 /root 1\n2 root/a 40\n3 /a.u 9\n",
            "moves and removals are known from the run that recorded them");
    becomes(TREE, seen_at(39),
            "1 /root 1\n2 root/a 40\n3 /a.u 9\n? shares, parent of account 'a'\n"
            "? shares of user 'u' of account 'a'\n? existence of account 'x'\n",
            "between two runs that differ, the current state applies and is uncertain");
    becomes(TREE, seen_at(70), AS_NOW, "new associations exist from the run that recorded them");
    becomes(TREE, seen_at(90), AS_NOW,
            "after the last run, the recorded state matches the current state");
    becomes(TREE, seen_at(5),
            AS_NOW "? existence, shares of account 'root'\n"
                   "? existence, shares, parent of account 'a'\n"
                   "? existence, shares of user 'u' of account 'a'\n"
                   "? existence, shares of user 'v' of account 'a'\n"
                   "? existence of account 'x'\n",
            "without modification times, the state before the first run is uncertain");
}

/* An account that was added below a and later moved below b, with one run, which may be NEVER. */
#define MOVED "1 - root - 1 0  2 root a - 1 0  3 root b - 1 0  4 b c - 1 0"
#define AT_B "1 /root 1\n2 root/a 1\n3 root/b 1\n4 b/c 1\n"
#define AT_A "1 /root 1\n2 root/a 1\n3 root/b 1\n4 a/c 1\n"
#define DOUBT "? parent of account 'c'\n"

static struct association_history *moved(int64_t now, int64_t modified, int64_t run)
{
    struct association_history *history = association_history_create(now);
    association_history_set_runs(history, run <= now ? run : NEVER, run > now ? run : NEVER);
    for (uint64_t id = 1; id <= 3; id++)
        association_history_set_times(history, id, 9, 9);
    association_history_set_times(history, 4, 20, modified);
    association_history_set_log_start(history, 5);
    tell(history, 20, TRANSACTION_ADD, "id_assoc=4",
         "acct='c', parent_acct='a', user='', shares=1");
    if (run == NEVER)
        return history;
    see(history, run, 1, "", "root", "", 1, 9);
    see(history, run, 2, "root", "a", "", 1, 9);
    see(history, run, 3, "root", "b", "", 1, 9);
    see(history, run, 4, run < 40 ? "a" : "b", "c", "", 1, run < 40 ? 20 : modified);
    return history;
}

static void moves(void)
{
    becomes(MOVED, moved(50, 40, NEVER), AT_B,
            "since its last modification, an account has its current parent");
    becomes(MOVED, moved(50, 40, 90), AT_B,
            "since its last modification, a later run confirms the parent");
    becomes(MOVED, moved(30, 40, NEVER), AT_A DOUBT,
            "before its last modification, an account's parent is uncertain");
    becomes(MOVED, moved(30, 40, 90), AT_A DOUBT,
            "a run after the modification cannot resolve the parent before it");
    becomes(MOVED, moved(30, 40, 30), AT_A, "a run before the move resolves the parent");
    becomes(MOVED, moved(35, 40, 30), AT_A DOUBT,
            "an earlier run resolves the parent only for its own time");
    becomes(MOVED, moved(45, 40, 30), AT_B, "a modification after the last run dates the move");
    becomes(MOVED, moved(50, 20, NEVER), AT_B DOUBT, "a move without a modification has no date");
    becomes(MOVED, moved(50, 20, 90), AT_B DOUBT,
            "a later run cannot date a move without a modification");
    struct association_history *history = moved(50, 45, 30);
    tell(history, 45, TRANSACTION_MODIFY, "(id_assoc=4)", "max_jobs=1");
    becomes(MOVED, history, AT_B DOUBT, "a modification with another reason does not date a move");
    history = moved(50, 45, NEVER);
    association_history_add_bulk_change(history, 45);
    becomes(MOVED, history, AT_B DOUBT, "a bulk modification does not date a move");
}

/* A user that was removed at 60. */
static struct association_history *deleted(int64_t now, int64_t reach, int64_t run)
{
    struct association_history *history = association_history_create(now);
    association_history_set_runs(history, run <= now ? run : NEVER, run > now ? run : NEVER);
    for (uint64_t id = 1; id <= 3; id++)
        association_history_set_times(history, id, 10, id == 3 ? 60 : 10);
    association_history_set_log_start(history, reach);
    if (run != NEVER) {
        see(history, run, 1, "", "root", "", 1, 10);
        see(history, run, 2, "root", "a", "", 40, 10);
    }
    return history;
}

static void deletions(void)
{
#define LEFT "1 - root - 1 0  2 root a - 40 0  !3 - a u 1 0"
#define WITH_U "1 /root 1\n2 root/a 40\n3 /a.u 1\n"
#define WITHOUT_U "1 /root 1\n2 root/a 40\n"
    static const char all[] = WITH_U "? existence, shares of user 'u' of account 'a'\n";
    static const char shares[] = WITH_U "? shares of user 'u' of account 'a'\n";
    becomes(LEFT, deleted(50, NEVER, NEVER), all, "before its removal, a user probably existed");
    becomes(LEFT, deleted(50, NEVER, 90), all,
            "a run after the removal does not make the existence certain");
    becomes(LEFT, deleted(50, 5, NEVER), shares,
            "with a complete log, a removed user certainly existed before");
    becomes(LEFT, deleted(50, 5, 90), shares,
            "with a complete log and a run, a removed user certainly existed");
    becomes(LEFT, deleted(60, NEVER, NEVER), WITHOUT_U,
            "a user does not exist from the second of its removal on");
    becomes(LEFT, deleted(70, NEVER, 65), WITHOUT_U,
            "a run confirms that a removed user does not exist");
}

/* A row that was modified at 22 and first recorded by a run at 30.  It was lost, and added again at
 * 50. */
static struct association_history *lost(int64_t now)
{
    struct association_history *history = association_history_create(now);
    association_history_set_runs(history, 20, 30);
    for (uint64_t id = 1; id <= 3; id++)
        association_history_set_times(history, id, id == 3 ? 50 : 10, id == 3 ? 50 : 10);
    association_history_set_log_start(history, 5);
    see(history, 20, 1, "", "root", "", 1, 10);
    see(history, 20, 2, "root", "a", "", 40, 10);
    see(history, 30, 3, "a", "a", "u", 9, 22);
    return history;
}

static void lost_rows(void)
{
    becomes("1 - root - 1 0  2 root a - 40 0  3 - a u 9 0", lost(25),
            "1 /root 1\n2 root/a 40\n3 /a.u 9\n",
            "a recorded association exists although its row was lost and added again");
}

static void clocks(void)
{
    /* The source's clock is slow: a change after the run at 50 is dated 40. */
    struct association_history *history = moved(45, 40, 50);
    history->after.rows[3].parent_account = names_add(history->names, "a", 1);
    becomes(MOVED, history, AT_A, "a run's record is valid up to its time");
    history = moved(60, 40, 50);
    history->before.rows[3].parent_account = names_add(history->names, "a", 1);
    history->before.rows[3].modified = 20;
    becomes(MOVED, history, AT_B DOUBT, "a contradiction after the run makes the parent uncertain");
}

static void words(void)
{
    struct association_history_counts counts;
    struct text text = rebuilt(TREE, seen_at(20), &counts);
    ok(counts.by_runs == 4 && !counts.by_source && !counts.by_times && !counts.unknown,
       "associations that differ are counted by their source of evidence");
    text_free(&text);
    struct association_history *history = seen_at(20);
    tell(history, 10, TRANSACTION_MODIFY, "(id_assoc=3)", "shares=9");
    association_history_forget_source(history);
    ok(!history->count && history->before.count == 4,
       "forgetting the source's changes keeps the observations");
    association_history_destroy(history);
}

int main(void)
{
    parsing();
    not_understood();
    by_source();
    removals();
    by_runs();
    moves();
    deletions();
    lost_rows();
    clocks();
    words();
    return done_testing();
}
