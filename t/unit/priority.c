/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/priority/priority.h"
#include "core/priority/queue.h"
#include "util/error.h"
#include "util/index.h"
#include "util/text.h"

#define NOW 100000000
#define WEEK 604800

/* A cluster of 4 nodes and 32 CPUs, weights of 1000, and a job of a node and four CPUs that has
 * waited half of MaxAge. */
static struct priority_options options;
static struct priority_job job;
static struct priority_partition partition;
static struct priority_qos qos;
static uint64_t counts[3];
static struct priority priority;

static void start(enum conformance conformance)
{
    options = (struct priority_options){
        .conformance = conformance,
        .now = NOW,
        .max_age = WEEK,
        .weights = { 1000, 1000, 1000, 1000, 1000, 1000 },
        .nodes = 4,
        .cpus = 32,
        .highest_partition = 100,
        .highest_qos = 200,
        .highest_association = 40,
    };
    job = (struct priority_job){
        .submitted = NOW - WEEK,
        .ages_since = NOW - WEEK / 2,
        .time_limit = 60,
        .nodes = 1,
        .cpus = 4,
        .association_priority = PRIORITY_NONE,
        .fairshare = 0.45625, /* seed 002's user 1 */
    };
    partition = (struct priority_partition){
        .name = "short", .factor = 50, .max_minutes = 120, .max_nodes = PRIORITY_NO_LIMIT
    };
    qos = (struct priority_qos){ "normal", 1, 50, NAN };
    memset(counts, 0, sizeof counts);
}

static const struct priority *compute(void)
{
    priority_compute(&options, &job, counts, &partition, &qos, &priority);
    return &priority;
}

static void age(void)
{
    start(CONFORMANCE_DOCUMENTS);
    is_double_exact(compute()->factor.age, 0.5, "half of MaxAge is an age factor of a half");
    is_double_exact(priority.weighted.age, 500, "times its weight");
    job.ages_since = NOW - WEEK;
    is_double_exact(compute()->factor.age, 1, "at MaxAge it is 1");
    job.ages_since = NOW - 3 * WEEK;
    is_double_exact(compute()->factor.age, 1, "and stays there");
    job.ages_since = NOW - 1;
    is_double_exact(compute()->factor.age, 1.0 / WEEK, "each second counts");
    job.ages_since = NOW;
    is_double_exact(compute()->factor.age, 0, "a job that came just now is 0 old");
    job.ages_since = 0;
    is_double_exact(compute()->factor.age, 0, "one that depends on another does not age");
    job.ages_since = NOW + 1;
    is_double_exact(compute()->factor.age, 0, "nor does one whose begin time is to come");
    job.ages_since = 0xffffffff;
    is_double_exact(compute()->factor.age, 0, "nor one behind the limit of its array");
    options.accrue_always = true;
    is_double_exact(compute()->factor.age, 1, "with ACCRUE_ALWAYS it does, from its submission");
    job.held = true;
    is_double_exact(compute()->factor.age, 1, "even if it is held");
    options.accrue_always = false;
    job.ages_since = NOW - WEEK;
    is_double_exact(compute()->factor.age, 0, "otherwise a held one does not");
    job.held = false;
    options.max_age = 0;
    is_double_exact(compute()->factor.age, 1, "MaxAge 0 is reached at once");
}

static void limits(void)
{
    start(CONFORMANCE_DOCUMENTS);
    job.time_limit = 120;
    is_double_exact(compute()->factor.age, 0.5, "a time limit at the partition's ages");
    job.time_limit = 121;
    is_double_exact(compute()->factor.age, 0, "one that exceeds it does not");
    options.accrue_always = true;
    is_double_exact(compute()->factor.age, 0, "nor with ACCRUE_ALWAYS, which is about waiting");
    options.accrue_always = false;
    job.time_limit = TIME_LIMIT_INFINITE;
    is_double_exact(compute()->factor.age, 0, "no limit exceeds every limit");
    job.time_limit = TIME_LIMIT_NO_VALUE;
    is_double_exact(compute()->factor.age, 0.5, "none given is the partition's own");
    job.time_limit = 121;
    partition.max_minutes = PRIORITY_NO_LIMIT;
    is_double_exact(compute()->factor.age, 0.5, "where there is no limit none is exceeded");
    job.nodes = 4;
    is_double_exact(compute()->factor.age, 0.5, "all nodes of the cluster age");
    job.nodes = 5;
    is_double_exact(compute()->factor.age, 0, "more nodes than the cluster has do not");
    job.nodes = 3;
    partition.max_nodes = 2;
    is_double_exact(compute()->factor.age, 0, "nor more than the partition has");
    options.conformance = CONFORMANCE_SLURMCTLD;
    job.nodes = 5;
    is_double_exact(compute()->factor.age, 0.5, "slurmctld lets them all age");
}

static void size_by_document(void)
{
    start(CONFORMANCE_DOCUMENTS);
    is_double_exact(compute()->factor.job_size, 0.25, "one node of four is a quarter");
    job.cpus = 32;
    is_double_exact(compute()->factor.job_size, 0.25, "CPUs do not count");
    job.nodes = 4;
    is_double_exact(compute()->factor.job_size, 1, "all the nodes on the machine are 1.0");
    job.nodes = 9;
    is_double_exact(compute()->factor.job_size, 1, "more are not more");
    job.nodes = 0;
    is_double_exact(compute()->factor.job_size, 0.25, "no number of nodes is one");
    options.favor_small = true;
    is_double_exact(compute()->factor.job_size, 1, "with favor_small the single node has 1.0");
    job.nodes = 4;
    is_double_exact(compute()->factor.job_size, 0.25, "and the whole machine least");
    job.nodes = 9;
    is_double_exact(compute()->factor.job_size, 0, "but never less than 0");
    options.nodes = 0;
    is_double_exact(compute()->factor.job_size, 0, "a cluster of unknown size tells nothing");
}

static void size_as_slurmctld(void)
{
    start(CONFORMANCE_SLURMCTLD);
    /* (1/4 + 4/32) / 2 */
    is_double_exact(compute()->factor.job_size, 0.1875, "the mean of the parts of nodes and CPUs");
    job.cpus = 0;
    is_double_exact(compute()->factor.job_size, 0.25, "or of nodes alone, where no CPUs are known");
    job.cpus = 32;
    job.nodes = 4;
    is_double_exact(compute()->factor.job_size, 1, "all of both is 1");
    job.cpus = 64;
    is_double_exact(compute()->factor.job_size, 1, "at most");
    options.favor_small = true;
    job.nodes = 1;
    job.cpus = 4;
    /* (3/4 + 28/32) / 2 */
    is_double_exact(compute()->factor.job_size, 0.8125, "with FavorSmall what is left of both");
    job.nodes = 4;
    job.cpus = 32;
    is_double_exact(compute()->factor.job_size, 0, "which is nothing for the whole machine");
    job.nodes = 6;
    job.cpus = 16;
    is_double_exact(compute()->factor.job_size, 0.25, "and too many nodes leave none");
}

static void size_relative_to_time(void)
{
    start(CONFORMANCE_SLURMCTLD);
    options.relative_to_time = true;
    /* 1 x 32 / 4 = 8 CPUs of nodes, of 32 CPUs, a minute of 60 */
    is_double_exact(compute()->factor.job_size, 8.0 / 60 / 32, "the CPUs of its nodes a minute");
    job.cpus = 16;
    is_double_exact(compute()->factor.job_size, 16.0 / 60 / 32, "or its own, if they are more");
    options.favor_small = true;
    is_double_exact(compute()->factor.job_size, 1 - 16.0 / 60 / 32, "from 1 with FavorSmall");
    job.time_limit = 1;
    job.cpus = 32;
    is_double_exact(compute()->factor.job_size, 0, "the whole machine for a minute is 0 then");
    job.time_limit = TIME_LIMIT_NO_VALUE;
    is_double_exact(compute()->factor.job_size, 1 - 32.0 / 120 / 32,
                    "without a time limit the partition's counts");
    partition.max_minutes = PRIORITY_NO_LIMIT;
    is_double_exact(compute()->factor.job_size, 1 - 32 / 4294967295.0 / 32,
                    "and without that one 2^32 - 1 minutes");
    options.favor_small = false;
    job.time_limit = TIME_LIMIT_INFINITE;
    is_double_exact(compute()->factor.job_size, 32 / 4294967295.0 / 32, "as with UNLIMITED");
    options.conformance = CONFORMANCE_DOCUMENTS;
    is_double_exact(compute()->factor.job_size, 32 / 4294967295.0 / 32,
                    "a flag that no seed knows means the same under documents");
    options.cpus = 0;
    is_double_exact(compute()->factor.job_size, 0, "without CPUs it is 0");
}

static void parts_of_the_highest(void)
{
    start(CONFORMANCE_SLURMCTLD);
    is_double_exact(compute()->factor.partition, 0.5, "a partition's factor is of the highest");
    is_double_exact(priority.factor.qos, 0.25, "so is the priority of a QOS");
    is_double_exact(priority.factor.association, 0, "an association without a priority has 0");
    job.association_priority = 10;
    is_double_exact(compute()->factor.association, 0.25, "another one its part of the highest");
    options.no_normal_partition = options.no_normal_qos = options.no_normal_association = true;
    compute();
    is_double_exact(priority.factor.partition, 50, "NO_NORMAL_PART takes it as it is");
    is_double_exact(priority.factor.qos, 50, "so does NO_NORMAL_QOS");
    is_double_exact(priority.factor.association, 10, "and NO_NORMAL_ASSOC");
    job.association_priority = PRIORITY_NONE;
    is_double_exact(compute()->factor.association, 0, "where none is still 0");
    start(CONFORMANCE_SLURMCTLD);
    options.highest_qos = options.highest_association = 0;
    qos.priority = 0;
    partition.factor = 0;
    compute();
    ok(priority.factor.qos == 0 && priority.factor.association == 0 &&
           priority.factor.partition == 0,
       "nothing of nothing is 0");
    options.highest_qos = options.highest_association = 1;
    qos.priority = job.association_priority = 1;
    compute();
    ok(priority.factor.qos == 1 && priority.factor.association == 1,
       "the highest is 1, also where it is 1 itself");
}

static const char *tres_text(bool weighted)
{
    static struct text text;
    text.length = 0;
    text_add(&text, "");
    priority_add_tres(&text, &options, counts, &partition, weighted);
    return text.bytes;
}

static void tres(void)
{
    static const struct priority_tres weighted[] = { { "cpu", 1, 100, 32 },
                                                     { "mem", 2, 50, 64000 },
                                                     { "gres/gpu", 1001, 1000, 4 } };
    start(CONFORMANCE_SLURMCTLD);
    options.tres = weighted;
    options.tres_count = 3;
    is_double_exact(compute()->tres, 0, "a job that asks for nothing gets nothing");
    is_string(tres_text(true), "", "and nothing is printed");
    counts[0] = 4;
    counts[1] = 1000;
    counts[2] = 3;
    /* 4/32 x 100 + 1000/64000 x 50 + 3/4 x 1000 */
    is_double_exact(compute()->tres, 12.5 + 0.78125 + 750,
                    "each TRES adds its part of all there is");
    is_string(tres_text(false), "cpu=0.12,mem=0.02,gres/gpu=0.75", "printed as sprio prints parts");
    is_string(tres_text(true), "cpu=12,mem=1,gres/gpu=750", "and what they weigh");
    counts[1] = 0;
    is_string(tres_text(true), "cpu=12,gres/gpu=750", "one that is not asked for is left out");
    static const uint64_t totals[] = { 8, 16000, 0 };
    partition.tres_totals = totals;
    is_double_exact(compute()->tres, 50, "a partition that has less counts for itself");
    is_string(tres_text(true), "cpu=50", "one without GPUs has no part of them");
    options.no_normal_tres = true;
    counts[1] = 1000;
    is_double_exact(compute()->tres, 400 + 50000 + 3000, "NO_NORMAL_TRES multiplies bare counts");
    is_string(tres_text(false), "cpu=4.00,mem=1000.00,gres/gpu=3.00", "which are printed then");
}

static void sums(void)
{
    start(CONFORMANCE_DOCUMENTS);
    job.association_priority = 10;
    /* 500 + 456.25 + 250 + 500 + 250 + 250 */
    is_int(compute()->value, 2206, "the sum is cut to an integer");
    is_double_exact(priority.norm, 2206.25 / 4294967295.0, "which the normalized one is not");
    job.held = true;
    is_int(compute()->value, 0, "a held job has priority 0");
    is_double_exact(priority.norm, 0, "also normalized");
    job.held = false;
    options.weights = (struct priority_weights){ 0 };
    is_int(compute()->value, 1, "without weights it is 1, as 0 is for held jobs");
    options.weights.fairshare = 1;
    is_int(compute()->value, 1, "and not less with little weight");
    options.weights.fairshare = 4294967295.0;
    options.weights.age = 4294967295.0;
    job.fairshare = 1;
    is_int(compute()->value, 4294967295, "it is never more than 32 bits hold");
    is_double_exact(priority.norm, 1, "which is 1 normalized");
    options.weights.age = 0;
    is_int(compute()->value, 4294967295, "and a weight may be that large");
    job.fairshare = NAN;
    is_double_exact(compute()->factor.fairshare, 0,
                    "a job without an association has no fairshare");

    /* The example of seed 002: weights of a site, and users whose factors the document gives. */
    static const double factors[] = { 0.45625, 0.3875, 0.45, 0.5, 0.6020833333333333 };
    static const uint32_t priorities[] = { 4562, 3875, 4500, 5000, 6020 };
    start(CONFORMANCE_DOCUMENTS);
    options.weights = (struct priority_weights){ .fairshare = 10000 };
    for (size_t i = 0; i < 5; i++) {
        char statement[64];
        job.fairshare = factors[i];
        snprintf(statement, sizeof statement, "user %zu of seed 002 gets %u", i + 1, priorities[i]);
        is_int(compute()->value, priorities[i], statement);
    }
}

struct seen {
    char text[256];
    int stop_after;
};

static int note(void *context, const struct queue_row *row, struct error *err)
{
    struct seen *seen = context;
    size_t length = strlen(seen->text);
    snprintf(seen->text + length, sizeof seen->text - length, "%s%" PRIu64 " %s %s %u%s",
             length ? "; " : "", row->job->key, row->partition->name, row->qos->name,
             row->priority.value, row->best ? "*" : "");
    return --seen->stop_after ? 0 : fail(err, ERROR_OTHER, "enough");
}

static void add_job(struct queue *queue, uint64_t key, const char *partitions, const char *qos_list,
                    uint64_t qos_id)
{
    struct priority_job added = { .key = key, .ages_since = NOW, .nodes = 1 };
    added.association_priority = PRIORITY_NONE;
    added.partitions = queue_partitions(queue, partitions, strlen(partitions));
    added.qos = queue_qos(queue, qos_list, strlen(qos_list), qos_id);
    queue_add_job(queue, &added, NULL);
}

static void rows_are(struct queue *queue, const char *expected, const char *statement)
{
    struct seen seen = { "", -1 };
    struct error err;
    queue_each(queue, note, &seen, &err);
    is_string(seen.text, expected, statement);
    queue->count = 0;
}

static void queues(void)
{
    struct names *names = names_create();
    struct queue *queue = queue_create(names);
    queue->options.now = NOW;
    queue->options.max_age = 1;
    queue->options.nodes = 1;
    queue->options.weights.partition = 100;
    queue->options.weights.qos = 10;
    for (int i = 0; i < 2; i++)
        queue_add_partition(queue, &(struct priority_partition){ .name = i ? "long" : "short",
                                                                 .factor = i ? 20 : 40 });
    queue_add_qos(queue, 1, "normal", 5);
    queue_add_qos(queue, 2, "high", 10);
    queue_add_qos(queue, 3, "gone", 0);

    add_job(queue, 7, "short", "", 1);
    rows_are(queue, "7 short normal 105*", "a job in one partition has one row, the best");
    add_job(queue, 7, "long,short", "", 2);
    rows_are(queue, "7 long high 60; 7 short high 110*", "in several it has one each");
    add_job(queue, 7, "short,short,long", "", 2);
    rows_are(queue, "7 short high 110*; 7 long high 60", "each counts once");
    add_job(queue, 7, "short", "normal,high", 1);
    rows_are(queue, "7 short normal 105; 7 short high 110*", "several QOS have one each as well");
    add_job(queue, 7, "short,long", "high,1", 1);
    rows_are(queue, "7 short high 110*; 7 short normal 105; 7 long high 60; 7 long normal 55",
             "also by number, and all pairs of both");
    add_job(queue, 7, "short", "high", 1);
    rows_are(queue, "7 short normal 105*", "a single QOS that was asked for is the one it has");
    add_job(queue, 7, "short", "high,unheard", 1);
    rows_are(queue, "7 short normal 105*", "so it is with one that is known");
    add_job(queue, 7, "short", "", 3);
    rows_are(queue, "7 short gone 100*", "a deleted QOS adds nothing");
    add_job(queue, 7, "short", "", 99);
    rows_are(queue, "7 short 99 100*", "one that is not there is shown by its number");
    add_job(queue, 7, "short", "", 0);
    rows_are(queue, "7 short  100*", "and no QOS has no name");
    add_job(queue, 7, "other", "", 1);
    rows_are(queue, "7 other normal 5*", "a partition that nobody names has no factor");
    queue->unnamed_factor = 1;
    add_job(queue, 7, "another,", "", 1);
    rows_are(queue, "7 another normal 7*", "or what unnamed ones have");
    add_job(queue, 7, "", "", 1);
    rows_are(queue, "7  normal 7*", "no partition at all is one without a name");
    queue_add_partition(queue, &(struct priority_partition){ .name = "twin", .factor = 40 });
    add_job(queue, UINT64_MAX, "twin,short", "", 1);
    rows_are(queue, "18446744073709551615 twin normal 105*; 18446744073709551615 short normal 105",
             "of equal rows the first is the best");
    add_job(queue, 1, "short,long", "", 1);
    struct seen seen = { "", 1 };
    struct error err;
    is_int(queue_each(queue, note, &seen, &err), -1, "where a row fails, so does the walk");
    is_string(seen.text, "1 short normal 105*", "and goes no further");
    queue_destroy(queue);
    names_destroy(names);
}

int main(void)
{
    age();
    limits();
    size_by_document();
    size_as_slurmctld();
    size_relative_to_time();
    parts_of_the_highest();
    tres();
    sums();
    queues();
    return done_testing();
}
