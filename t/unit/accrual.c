/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/priority/accrual.h"
#include "site.h"

/* The expected values follow acct_policy.c of Slurm 22.05 and 24.05. */

#define NONE ACCRUAL_UNLIMITED
#define STILL UINT64_MAX

/* bio is below lab, and ann is a user of both. */
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

/* Adds a job; its key equals its id. */
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

/* Compares the times since which the pending jobs age, as `job=since job=since...`. */
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
        "a QOS limits a user's slots across accounts, but not other users");
    ok(accrual_may_bound(accrual, 2) && !accrual_may_bound(accrual, 1),
       "only jobs of the limited QOS may be bounded");
    is_int((int64_t)*accrual_since(accrual, 5), 0, "a second replay gives the same result");
    end();

    start();
    limit_qos(2, NONE, 2, NONE);
    waits(1, ANN, 2, 100, STILL);
    waits(2, BOB, 2, 110, STILL);
    waits(3, BOB, 2, 120, STILL);
    waits(4, CID, 2, 130, STILL);
    age(false, "1=100 2=110 3=0 4=130",
        "a QOS limits an account's slots, without the accounts below it");
    end();

    start();
    limit_qos(2, 3, 1, NONE);
    waits(1, ANN, 2, 100, STILL);
    waits(2, BOB, 2, 110, STILL);
    waits(3, CID, 2, 120, STILL);
    waits(4, CID, 2, 130, STILL);
    age(false, "1=100 2=110 3=120 4=0", "before 24.05, the group limit of a QOS takes precedence");
    age(true, "1=100 2=0 3=120 4=0", "from 24.05 on, the lowest limit of a QOS applies");
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
        "accounts' own limits apply per user, group limits to all descendants");
    end();

    start();
    limit(ANN, 2, 1);
    limit(BIO, 1, NONE);
    waits(1, ANN, 1, 100, STILL);
    waits(2, ANN, 1, 110, STILL);
    waits(3, ANN, 1, 120, STILL);
    waits(4, BOB, 1, 130, STILL);
    age(false, "1=100 2=110 3=0 4=0",
        "the nearest group limit applies first; jobs count in all limits above");
    age(true, "1=100 2=0 3=0 4=0", "from 24.05 on, the lowest limit of an association applies");
    end();

    start();
    limit_qos(2, NONE, NONE, 2);
    limit(BIO, 1, NONE);
    waits(1, ANN, 2, 100, STILL);
    waits(2, ANN, 2, 110, 150);
    waits(3, ANN, 1, 120, STILL);
    waits(4, BOB, 1, 130, STILL);
    age(false, "1=100 2=110 3=0 4=0",
        "a QOS limit precedes association limits, in which its jobs still count");
    end();

    start();
    limit(BIO, 0, NONE);
    limit(99, 1, 1);
    waits(1, ANN, 1, 100, STILL);
    waits(2, CID, 1, 100, STILL);
    age(false, "1=0 2=100", "with a limit of 0 no job ages");
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
        "split-off tasks get slots; the rest moves after earlier jobs");
    end();

    start();
    limit(ANN, 2, NONE);
    task(12, 100, STILL, false);
    task(13, 100, STILL, false);
    task(10, 100, STILL, true);
    waits(11, ANN, 1, 97, STILL);
    age(false, "10=0 11=0 12=100 13=100",
        "an array takes all free slots before later jobs get any");
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
    age(false, "1=0 2=60 3=70", "the rest of an array has no slot");
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
    age(false, "1=50", "without an applicable limit, the rest of an array ages");
    end();
}

/* From Slurm 24.11 on, slurmdbd gets no record of a pending task unless it is the array's last
 * one. */
static void of_hidden_tasks(void)
{
    const struct accrual_rules rules = { .takes_least = true, .hides_tasks = true };
    start();
    limit(ANN, 2, NONE);
    task(10, 100, STILL, true);
    waits(11, ANN, 1, 105, STILL);
    age_by(rules, "10=0 11=0", "hidden tasks have slots while the array has enough tasks");
    end();

    start();
    limit(ANN, 3, NONE);
    task(12, 100, 300, false);
    task(13, 100, 310, false);
    task(10, 100, STILL, true);
    waits(11, ANN, 1, 97, STILL);
    waits(14, ANN, 1, 250, STILL);
    age_by(rules, "10=0 11=300 12=100 13=100 14=0",
           "hidden tasks age with started tasks; the rest moves after earlier jobs");
    end();

    start();
    limit(ANN, 2, NONE);
    task(10, 100, 200, true);
    waits(11, ANN, 1, 105, STILL);
    age_by(rules, "10=0 11=200", "a cancelled array frees the slots of its hidden tasks");
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
