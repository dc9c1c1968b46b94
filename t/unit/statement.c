/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/insight/statement.h"
#include "site.h"

/* Tests usage statements.  Expected values were computed by hand.  Periods have 100 seconds. */

static struct association_times times;
static struct statement *statement;
static struct error err;

/* The results, by period and id. */
#define PERIODS 8
#define IDS 8
static double due[PERIODS][IDS], used[PERIODS][IDS];
static struct statement_period periods[PERIODS];
static size_t count;

static void take(void *context, const struct statement_period *period)
{
    (void)context;
    for (uint32_t id = 0; id < IDS; id++) {
        uint32_t node = tree_place(period->tree, id);
        due[count][id] = node == NO_NODE ? NAN : period->due[node];
        used[count][id] = node == NO_NODE ? NAN : period->used[node];
    }
    periods[count++] = *period;
}

static int64_t next_hundred(int64_t time)
{
    return (time / 100 + 1) * 100;
}

static uint32_t name(const char *text)
{
    return names_add(times.names, text, strlen(text));
}

static void know(int64_t at, uint32_t id, uint32_t parent, const char *account, const char *user,
                 int32_t shares)
{
    const struct association_since since = {
        at,
        { .id = id,
          .parent_id = parent,
          .account = name(account),
          .user = name(user),
          .partition = times.empty_name,
          .parent_account = times.empty_name,
          .shares = shares < 0 ? 1 : shares,
          .deleted = shares < 0 },
    };
    association_times_add(&times, &since);
}
#define GONE (-1)

/* Association 1 is the root, 2 and 3 are the accounts a and b, 4 is u in a, and 5 is v in b. */
static void begin(void)
{
    times = (struct association_times){ .names = names_create() };
    times.empty_name = name("");
    know(SINCE_EVER, 1, 0, "root", "", 1);
    know(SINCE_EVER, 2, 1, "a", "", 3);
    know(SINCE_EVER, 3, 1, "b", "", 1);
    know(SINCE_EVER, 4, 2, "a", "u", 1);
    know(SINCE_EVER, 5, 3, "b", "v", 1);
}

static void open_from(int64_t from, int64_t to, double capacity)
{
    static const struct fairshare_options options = { .conformance = CONFORMANCE_DOCUMENTS };
    count = 0;
    statement = statement_create(&(const struct statement_options){
        .times = &times,
        .fairshare = &options,
        .capacity = capacity,
        .from = from,
        .to = to,
        .end_of = next_hundred,
        .take = take,
    });
}

static void use(uint32_t id, int64_t from, int64_t to, double amount)
{
    if (statement_add(statement, id, from, to, amount, &err))
        diag(err.message);
}

static void end(void)
{
    if (statement_end(statement, &err))
        diag(err.message);
    statement_destroy(statement);
    association_times_free(&times);
    names_destroy(times.names);
}

static void cut(void)
{
    begin();
    open_from(50, 250, NAN);
    use(4, 0, 100, 100);
    use(5, 100, 450, 350);
    end();
    ok(count == 4 && periods[0].from == 50 && periods[0].to == 100 && periods[1].to == 200 &&
           periods[2].to == 250,
       "the first and the last period are shortened");
    ok(used[0][4] == 50 && used[0][2] == 50, "only usage within the statement counts");
    ok(used[0][5] == 0 && used[1][5] == 100 && used[2][5] == 50,
       "usage over several periods is spread evenly until the end");
    ok(used[0][1] == 50 && due[0][1] == 50 && due[0][2] == 37.5 && due[0][5] == 12.5,
       "entitlement is the delivered usage divided by shares");
    ok(periods[3].is_total && periods[3].from == 50 && periods[3].to == 250 && used[3][5] == 150 &&
           due[3][2] == 150,
       "the total is the sum of the periods");
}

static void changed(void)
{
    begin();
    know(150, 2, 1, "a", "", 1);
    know(180, 3, 1, "b", "", GONE);
    open_from(0, 200, NAN);
    use(4, 100, 200, 100);
    end();
    ok(due[0][2] == 0 && due[0][3] == 0, "without usage there is no entitlement");
    ok(due[1][2] == 50 * 0.75 + 30 * 0.5 + 20 && due[1][3] == 50 * 0.25 + 30 * 0.5,
       "each part of a period has its own shares");
    ok(used[1][1] == 100 && due[1][1] == 100, "the parts of a period add up to the whole");
}

static void moved(void)
{
    begin();
    know(150, 4, 3, "b", "u", 1);
    open_from(100, 200, NAN);
    use(4, 100, 200, 100);
    use(7, 100, 200, 11); /* unknown association */
    end();
    ok(count == 1 && used[0][2] == 50 && used[0][3] == 50 && used[0][4] == 100,
       "an account has the usage of its users at the time");
    ok(used[0][1] == 111, "the root has the usage of unknown associations");
}

static void of_capacity(void)
{
    begin();
    open_from(0, 200, 4);
    use(4, 0, 100, 100);
    end();
    ok(due[0][1] == 400 && due[1][1] == 400 && due[1][2] == 300 && used[1][1] == 0,
       "a share of the capacity is due even without usage");
}

static void parents(void)
{
    begin();
    know(0, 2, 1, "a", "", SHARES_PARENT);
    know(0, 5, 3, "b", "v", SHARES_PARENT);
    open_from(0, 100, NAN);
    use(4, 0, 100, 100);
    end();
    ok(due[0][2] == 50 && due[0][4] == 50 && due[0][3] == 50,
       "an account with parent shares has its members' entitlement");
    ok(isnan(due[0][5]), "a user with parent shares has no entitlement");
}

int main(void)
{
    cut();
    changed();
    moved();
    of_capacity();
    parents();
    return done_testing();
}
