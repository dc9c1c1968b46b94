/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/tree/transaction.h"
#include "core/usage/factor_history.h"

/* Tests the usage factors that result from recorded points, rows of txn_table and current rows. */

#define NOW 10000

static struct factor_history *history;

static bool told(int64_t at, int64_t action, const char *name, const char *info)
{
    return factor_history_add(history, &(struct transaction){ at, action, name, info });
}

static void note(int64_t at, enum factor_evidence by, int64_t before, double factor)
{
    factor_history_note(history, &(struct factor_point){ 2, at, by, before, factor, "low" });
}

/* Returns the points of the QOS `low` (id 2) if its current factor is `factor`, and starts a new
 * history.  Overruled points are in parentheses. */
static int64_t time = NOW;
static const char *known(double factor, bool deleted, bool whole)
{
    static char line[400];
    const struct qos_row rows[] = {
        { .id = 2, .name = "low", .deleted = deleted, .factor = factor },
        { .id = 1, .name = "normal", .factor = 1 },
    };
    size_t length = 0;
    history->complete = history->whole = whole;
    factor_history_make(history, rows, 2, (struct factor_times){ NOW, time });
    *line = '\0';
    for (size_t i = 0; i < history->point_count; i++) {
        const struct factor_point *point = &history->points[i];
        if (point->id == 2)
            length += (size_t)snprintf(
                line + length, sizeof line - length,
                factor_is_overruled(point) ? "%s(%" PRId64 " %s %g)" : "%s%" PRId64 " %s %g",
                length ? ", " : "", point->at, factor_evidence_name(point->told), point->factor);
    }
    if (history->undated)
        snprintf(line + length, sizeof line - length, " undated");
    factor_history_destroy(history);
    history = factor_history_create();
    return line;
}

static void transactions(void)
{
    told(100, TRANSACTION_ADD_QOS, "low", "mod_time=100, description='a,b', usage_factor=2.500000");
    told(200, TRANSACTION_MODIFY_QOS, "(name='high' || name='low')", "usage_factor=4.000000");
    told(300, TRANSACTION_MODIFY_QOS, "(id='2')", "priority=5, usage_factor=1");
    told(400, TRANSACTION_MODIFY_QOS, "(name='low')", "priority=7");
    told(500, TRANSACTION_MODIFY_QOS, "name in('low', 'high')", "usage_factor=3.000000");
    told(600, TRANSACTION_MODIFY_QOS, "(name='lower' or id=22)", "usage_factor=9.000000");
    is_string(known(3, false, false), "100 added 2.5, 200 changed 4, 300 changed 1, 500 changed 3",
              "txn_table gives each factor and its date, by names or by ids");
    told(100, TRANSACTION_ADD_QOS, "low", "mod_time=100");
    told(200, TRANSACTION_MODIFY_QOS, "(name='low')", "usage_factor=2.000000");
    told(200, TRANSACTION_MODIFY_QOS, "(name='low')", "usage_factor=5.000000");
    is_string(known(5, false, false), "100 added 1, 200 changed 5",
              "an addition defaults to 1; the last change in a second counts");
    told(200, TRANSACTION_MODIFY_QOS, "(name='low')", "usage_factor=2.000000");
    is_string(known(2, false, false), "200 changed 2",
              "the factor before the first change is unknown");
    told(200, TRANSACTION_MODIFY_QOS, "(name='low')", "usage_factor=2.000000");
    is_string(known(2, false, true), "0 added 1, 200 changed 2",
              "a QOS never added began with 1 if txn_table is whole");
    told(100, TRANSACTION_ADD_QOS, "low", "usage_factor=2.000000");
    told(300, TRANSACTION_ADD_QOS, "low", "usage_factor=6.000000");
    is_string(known(6, false, false), "100 added 2, 300 added 6",
              "a QOS that is added again has a new factor");
    told(100, TRANSACTION_ADD_QOS, "low", "usage_factor=2.000000");
    is_string(known(1, true, false), "100 added 2", "the current row of a removed QOS is ignored");
    is_string(known(1, true, false), "", "a removed QOS without other evidence has no point");
    ok(!told(1, TRANSACTION_MODIFY_QOS, "who knows", "usage_factor=2.000000") &&
           !told(1, TRANSACTION_MODIFY_QOS, "(name='low')", "usage_factor=two") &&
           !told(1, TRANSACTION_MODIFY_QOS, "(name='low')", "usage_factor=-2") &&
           !told(1, TRANSACTION_MODIFY_QOS, "(name='low' || shares=1)", "usage_factor=2.0") &&
           told(1, TRANSACTION_MODIFY_QOS, "who knows", "priority=2"),
       "only transactions about a factor are rejected if not understood");
    is_string(known(3, false, false), "10000 seen 3", "a rejected transaction adds no point");
}

static void observations(void)
{
    is_string(known(2, false, false), "10000 seen 2",
              "without txn_table, a run observes the current factor");
    history->last_seen = 9000;
    note(5000, FACTOR_SEEN, FACTOR_UNSEEN, 2);
    is_string(known(2, false, false), "5000 seen 2", "an unchanged factor is recorded once");
    history->last_seen = 9000;
    note(5000, FACTOR_SEEN, FACTOR_UNSEEN, 2);
    is_string(known(3, false, false), "5000 seen 2, 10000 seen 3 undated",
              "an undated change applies from the run that observes it");
    history->last_seen = NOW;
    note(5000, FACTOR_SEEN, FACTOR_UNSEEN, 2);
    note(NOW, FACTOR_SEEN, 9000, 3);
    is_string(known(3, false, false), "5000 seen 2, 10000 seen 3",
              "another run at the same time is not the first observer");
    history->last_seen = NOW;
    note(5000, FACTOR_SEEN, FACTOR_UNSEEN, 2);
    note(NOW, FACTOR_SEEN, 9000, 3);
    is_string(known(4, false, false), "5000 seen 2, 10000 seen 4 undated",
              "a run at the same time replaces an observed factor");
    history->last_seen = 12000;
    note(5000, FACTOR_SEEN, FACTOR_UNSEEN, 2);
    is_string(known(3, false, false), "5000 seen 2", "a run at a past time observes no change");
    history->last_seen = 9000;
    note(5000, FACTOR_SEEN, FACTOR_UNSEEN, 2);
    note(7000, FACTOR_SEEN, 6000, 3);
    told(6500, TRANSACTION_MODIFY_QOS, "(name='low')", "usage_factor=3.000000");
    is_string(known(3, false, false), "5000 seen 2, 6500 changed 3",
              "a change that txn_table dates later applies from that date");
    history->last_seen = 9000;
    note(5000, FACTOR_SEEN, FACTOR_UNSEEN, 2);
    note(7000, FACTOR_SEEN, 6000, 3);
    told(7200, TRANSACTION_MODIFY_QOS, "(name='low')", "usage_factor=3.000000");
    is_string(known(3, false, false), "5000 seen 2, 7200 changed 3",
              "a date some minutes after the observation also applies");
    history->last_seen = 9000;
    note(5000, FACTOR_SEEN, FACTOR_UNSEEN, 2);
    told(10200, TRANSACTION_MODIFY_QOS, "(name='low')", "usage_factor=3.000000");
    is_string(known(3, false, false), "5000 seen 2, 10200 changed 3",
              "a date after the run, by a fast clock, still counts");
    history->last_seen = 9000;
    note(100, FACTOR_ADDED, FACTOR_UNSEEN, 2);
    note(200, FACTOR_CHANGED, FACTOR_UNSEEN, 3);
    is_string(known(3, false, false), "100 added 2, 200 changed 3",
              "factors from txn_table remain known when it is purged");
    history->last_seen = 9000;
    note(100, FACTOR_ADDED, FACTOR_UNSEEN, 2);
    note(7000, FACTOR_SEEN, 6000, 3);
    told(8000, TRANSACTION_MODIFY_QOS, "(name='low')", "usage_factor=2.000000");
    is_string(known(2, false, false), "100 added 2, 7000 seen 3, 8000 changed 2",
              "all kinds of evidence may be mixed");
}

/* Adds the first observation, by a run at 5000 that found no row in txn_table. */
static void see_first(double factor)
{
    history->last_seen = 9000;
    note(5000, FACTOR_SEEN, FACTOR_UNSEEN, factor);
}

static void change(int64_t at, double factor)
{
    char info[40];
    snprintf(info, sizeof info, "usage_factor=%f", factor);
    told(at, TRANSACTION_MODIFY_QOS, "(name='low')", info);
}

static void restored(void)
{
    see_first(1), change(5100, 3), change(5250, 1);
    is_string(known(1, false, false), "5000 seen 1, 5100 changed 3, 5250 changed 1",
              "a factor that is changed and changed back applies only in between");
    see_first(1), change(4800, 3), change(4900, 1);
    is_string(known(1, false, false), "4799 seen 1, 4800 changed 3, 4900 changed 1",
              "with a slow clock, the first observation precedes the changes");
    see_first(1), note(5100, FACTOR_CHANGED, FACTOR_UNSEEN, 3);
    note(5250, FACTOR_CHANGED, FACTOR_UNSEEN, 1);
    is_string(known(1, false, false), "5000 seen 1, 5100 changed 3, 5250 changed 1",
              "a change and its reversal remain known when txn_table is purged");
    see_first(1), change(5100, 3), change(5200, 3), change(5250, 2), change(5260, 1);
    is_string(known(1, false, false),
              "5000 seen 1, 5100 changed 3, 5200 changed 3, 5250 changed 2, 5260 changed 1",
              "several changes between two runs apply one after another");
    see_first(1), note(7000, FACTOR_SEEN, 6000, 3), change(7100, 5), change(7250, 3);
    is_string(known(3, false, false), "5000 seen 1, 7000 seen 3, 7100 changed 5, 7250 changed 3",
              "a change that restores a factor does not date an earlier one");
    see_first(1), note(7000, FACTOR_SEEN, 6000, 3), change(7000, 5);
    is_string(known(5, false, false), "5000 seen 1, 7000 changed 5",
              "two changes in one second are one point");
    see_first(1), told(6000, TRANSACTION_ADD_QOS, "low", "usage_factor=4"), change(8000, 1);
    is_string(known(1, false, false), "5000 seen 1, 6000 added 4, 8000 changed 1",
              "a QOS that was added again had its first factor until then");
    see_first(2);
    is_string(known(1, true, false), "5000 seen 2", "a removed QOS keeps the observed factor");
}

static void late(void)
{
    see_first(1), change(2000, 3);
    is_string(known(1, false, false), "2000 changed 3, (10000 seen 1)",
              "a late row of txn_table overrules later observations");
    see_first(1), change(2000, 3);
    is_string(known(1, false, true), "0 added 1, 2000 changed 3, (10000 seen 1)",
              "with a whole txn_table, a late row follows factor 1");
    see_first(1), change(8000, 3);
    is_string(
        known(1, false, false), "5000 seen 1, 8000 changed 3, (10000 seen 1)",
        "a change that is recorded late replaces later observations, even after the first run");
    history->last_seen = 9000;
    note(2000, FACTOR_CHANGED, FACTOR_UNSEEN, 3), note(8000, FACTOR_SEEN, 8000, 1);
    is_string(known(1, false, false), "2000 changed 3, (10000 seen 1)",
              "the next run knows that no run observed a change");
    history->last_seen = 9000;
    note(2000, FACTOR_CHANGED, FACTOR_UNSEEN, 3), note(8000, FACTOR_SEEN, 8000, 1);
    is_string(known(2, false, false), "2000 changed 3, 10000 seen 2 undated",
              "a change that a run observes counts after a late row");
    history->last_seen = 9000;
    note(2000, FACTOR_CHANGED, FACTOR_UNSEEN, 3), note(8000, FACTOR_SEEN, 8000, 1);
    change(3000, 1);
    is_string(known(1, false, false), "2000 changed 3, 3000 changed 1",
              "the row that restores the factor may arrive even later");
    see_first(1), note(7000, FACTOR_SEEN, 6000, 3), change(6500, 2), change(8000, 3);
    is_string(known(3, false, false), "5000 seen 1, 6500 changed 2, 8000 changed 3",
              "a late row between two runs overrules the later one");
    see_first(3), change(2000, 3);
    is_string(known(3, false, false), "2000 changed 3", "a late row may date an observed factor");
    change(2000, 3);
    is_string(known(1, false, false), "2000 changed 3, 10000 seen 1 undated",
              "the first run of all trusts the factor that it observes");
    change(2000, 3);
    time = NOW + 5000;
    is_string(known(1, false, false), "2000 changed 3, (10000 seen 1)",
              "the first run for a future time trusts txn_table");
    time = NOW;
}

static void reach(void)
{
    history->last_seen = 1000000;
    is_int(factor_history_since(history), 0, "without recorded points, all of txn_table is needed");
    note(5000, FACTOR_SEEN, FACTOR_UNSEEN, 2);
    is_int(factor_history_since(history), 1000000 - 86400,
           "with recorded points, rows from a day before the last run suffice");
    factor_history_destroy(history);
}

int main(void)
{
    history = factor_history_create();
    transactions();
    observations();
    restored();
    late();
    reach();
    return done_testing();
}
