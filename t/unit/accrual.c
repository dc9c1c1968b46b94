/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/priority/accrual.h"
#include "site.h"

/* Whom which accrue limit bounds: acct_policy.c of Slurm 22.05, and of 24.05. */

#define NONE ACCRUAL_UNLIMITED
#define STILL UINT64_MAX

/* Two accounts with two users each; bio is below lab; ann is in both. */
#define SITE                                                             \
    "1 - root - 1 0  2 root lab - 1 0  3 lab bio - 1 0  4 - bio ann 1 0" \
    "  5 - bio bob 1 0  6 - lab ann 1 0  7 - lab cid 1 0  !8 - lab dan 1 0"
enum { LAB = 2, BIO, ANN, BOB, ANN_OF_LAB, CID, DAN };

static struct site site;
static struct accrual *accrual;

static void start(void)
{
    accrual = accrual_create();
}

static void limit_qos(uint64_t id, uint32_t group, uint32_t account, uint32_t user)
{
    accrual_limit_qos(accrual, &(struct accrual_of_qos){ id, group, account, user });
}

static void limit(uint32_t id, uint32_t group, uint32_t own)
{
    accrual_limit_association(accrual, &(struct accrual_of_association){ id, group, own });
}

/* A job of this number, which is its key as well. */
static void waits(uint64_t job, uint32_t association, uint64_t qos, uint64_t since, uint64_t until)
{
    accrual_add(accrual, &(struct accrual_wait){ .key = job,
                                                 .id_job = job,
                                                 .association = association,
                                                 .qos = qos,
                                                 .since = since,
                                                 .until = until });
}

static void task(uint64_t job, uint64_t since, uint64_t until, bool is_rest)
{
    accrual_add(accrual, &(struct accrual_wait){ .key = job,
                                                 .id_job = job,
                                                 .array = 10,
                                                 .submitted = 95,
                                                 .association = ANN,
                                                 .qos = 1,
                                                 .since = since,
                                                 .until = until,
                                                 .is_rest = is_rest });
}

/* `job=since job=since...` of all that wait. */
static void age_by(struct accrual_rules rules, const char *expected, const char *name)
{
    char got[400] = "";
    size_t length = 0;
    accrual_replay(accrual, site.tree, rules);
    for (uint64_t job = 1; job < 100; job++) {
        const uint64_t *since = accrual_since(accrual, job);
        if (since)
            length += (size_t)snprintf(got + length, sizeof got - length, "%s%d=%d",
                                       length ? " " : "", (int)job, (int)*since);
    }
    is_string(got, expected, name);
}

static void age(bool least, const char *expected, const char *name)
{
    age_by((struct accrual_rules){ .takes_least = least }, expected, name);
}

static void end(void)
{
    accrual_destroy(accrual);
}

static void of_qos(void)
{
    start();
    limit_qos(2, NONE, NONE, 1);
    waits(1, ANN, 2, 100, 500);
    waits(2, ANN_OF_LAB, 2, 110, STILL);
    waits(3, BOB, 2, 120, STILL);
    waits(4, ANN, 1, 130, STILL);
    waits(5, ANN, 2, 140, STILL);
    waits(6, DAN, 2, 150, STILL);
    age(false, "1=100 2=500 3=120 4=130 5=0 6=0",
        "a user has so many slots in a QOS, whatever the account; others are not bounded");
    ok(accrual_may_bound(accrual, 2) && !accrual_may_bound(accrual, 1),
       "only jobs of that QOS are");
    is_int((int64_t)*accrual_since(accrual, 5), 0, "a second replay finds the same");
    end();

    start();
    limit_qos(2, NONE, 2, NONE);
    waits(1, ANN, 2, 100, STILL);
    waits(2, BOB, 2, 110, STILL);
    waits(3, BOB, 2, 120, STILL);
    waits(4, CID, 2, 130, STILL);
    age(false, "1=100 2=110 3=0 4=130", "an account has so many, without those below it");
    end();

    start();
    limit_qos(2, 3, 1, NONE);
    waits(1, ANN, 2, 100, STILL);
    waits(2, BOB, 2, 110, STILL);
    waits(3, CID, 2, 120, STILL);
    waits(4, CID, 2, 130, STILL);
    age(false, "1=100 2=110 3=120 4=0", "of several limits of a QOS that of all comes first");
    age(true, "1=100 2=0 3=120 4=0", "from 24.05 on the least one");
    end();
}

static void of_associations(void)
{
    start();
    limit(LAB, 3, NONE);
    limit(BIO, NONE, 1);
    waits(1, ANN, 1, 100, STILL);
    waits(2, ANN, 1, 110, STILL);
    waits(3, BOB, 1, 120, STILL);
    waits(4, CID, 1, 130, 170);
    waits(5, CID, 1, 140, STILL);
    age(false, "1=100 2=0 3=120 4=130 5=170",
        "a user has an account's own limit, where that of a group bounds all below it");
    end();

    start();
    limit(ANN, 2, 1);
    limit(BIO, 1, NONE);
    waits(1, ANN, 1, 100, STILL);
    waits(2, ANN, 1, 110, STILL);
    waits(3, ANN, 1, 120, STILL);
    waits(4, BOB, 1, 130, STILL);
    age(false, "1=100 2=110 3=0 4=0",
        "the nearest limit bounds, that of the group first, and all count further up");
    age(true, "1=100 2=0 3=0 4=0", "from 24.05 on the least of an association");
    end();

    start();
    limit_qos(2, NONE, NONE, 2);
    limit(BIO, 1, NONE);
    waits(1, ANN, 2, 100, STILL);
    waits(2, ANN, 2, 110, 150);
    waits(3, ANN, 1, 120, STILL);
    waits(4, BOB, 1, 130, STILL);
    age(false, "1=100 2=110 3=0 4=0", "a QOS comes before associations, in which its jobs count");
    end();

    start();
    limit(BIO, 0, NONE);
    limit(99, 1, 1);
    waits(1, ANN, 1, 100, STILL);
    waits(2, CID, 1, 100, STILL);
    age(false, "1=0 2=100", "a limit of 0 lets nothing age");
    end();
}

static void of_arrays(void)
{
    start();
    limit(ANN, 2, NONE);
    waits(5, ANN, 1, 90, 200);
    task(12, 100, 300, false);
    task(15, 310, STILL, false);
    task(10, 310, STILL, true);
    waits(11, ANN, 1, 105, STILL);
    waits(14, ANN, 1, 106, STILL);
    age(false, "5=90 10=0 11=200 12=100 14=0 15=300",
        "tasks are split off an array for slots, and the rest goes behind what came before that");
    end();

    start();
    limit(ANN, 2, NONE);
    task(12, 100, STILL, false);
    task(13, 100, STILL, false);
    task(10, 100, STILL, true);
    waits(11, ANN, 1, 97, STILL);
    age(false, "10=0 11=0 12=100 13=100",
        "an array takes all slots that there are before what follows it");
    end();

    start();
    limit(LAB, 5, NONE);
    accrual_add(accrual, &(struct accrual_wait){ .key = 1,
                                                 .id_job = 1,
                                                 .array = 1,
                                                 .association = CID,
                                                 .qos = 3,
                                                 .since = 50,
                                                 .until = STILL,
                                                 .is_rest = true });
    waits(2, CID, 1, 60, STILL);
    waits(3, CID, 3, 70, STILL);
    age(false, "1=0 2=60 3=70", "what is not split off has no slot");
    end();

    start();
    limit_qos(2, 2, NONE, NONE);
    limit(BIO, 8, NONE);
    accrual_add(accrual, &(struct accrual_wait){ .key = 1,
                                                 .id_job = 1,
                                                 .array = 1,
                                                 .association = CID,
                                                 .qos = 3,
                                                 .since = 50,
                                                 .until = STILL,
                                                 .is_rest = true });
    age(false, "1=50", "where nothing bounds it all of an array ages");
    end();
}

/* From Slurm 24.11 on slurmdbd is told of a task that waits only if it is the last one. */
static void of_hidden_tasks(void)
{
    const struct accrual_rules rules = { .takes_least = true, .hides_tasks = true };
    start();
    limit(ANN, 2, NONE);
    task(10, 100, STILL, true);
    waits(11, ANN, 1, 105, STILL);
    age_by(rules, "10=0 11=0",
           "tasks that nobody sees have slots as long as the array has more of them");
    end();

    start();
    limit(ANN, 3, NONE);
    task(12, 100, 300, false);
    task(13, 100, 310, false);
    task(10, 100, STILL, true);
    waits(11, ANN, 1, 97, STILL);
    waits(14, ANN, 1, 250, STILL);
    age_by(rules, "10=0 11=300 12=100 13=100 14=0",
           "they had them beside those that have started, and the rest is behind what came before "
           "that");
    end();

    start();
    limit(ANN, 2, NONE);
    task(10, 100, 200, true);
    waits(11, ANN, 1, 105, STILL);
    age_by(rules, "10=0 11=200", "what is cancelled gives them back");
    end();
}

int main(void)
{
    site_draw(&site, SITE);
    if (!site_build(&site, BAD_ROWS_FAIL))
        diag(site.err.message);
    of_qos();
    of_associations();
    of_arrays();
    of_hidden_tasks();
    site_erase(&site);
    return done_testing();
}
