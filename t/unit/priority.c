/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/priority/priority.h"
#include "core/priority/queue.h"
#include "util/error.h"
#include "util/index.h"
#include "util/text.h"

#define NOW 100000000
#define WEEK 604800

/* Sets up a cluster with 4 nodes and 32 CPUs, and all weights 1000.  The job has one node and four
 * CPUs, and has waited for half of MaxAge. */
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
        .fairshare = 0.45625, /* user 1 of Slurm's "Multifactor Priority Plugin" */
    };
    partition = (struct priority_partition){
        .name = "short", .factor = 50, .max_minutes = 120, .max_nodes = PRIORITY_NO_LIMIT
    };
    qos = (struct priority_qos){ .name = "normal", .id = 1, .priority = 50, .factor = NAN };
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
    is_double_exact(compute()->factor.age, 0.5, "the age factor at half of MaxAge is 0.5");
    is_double_exact(priority.weighted.age, 500, "the weighted age is the factor times its weight");
    job.ages_since = NOW - WEEK;
    is_double_exact(compute()->factor.age, 1, "the age factor at MaxAge is 1");
    job.ages_since = NOW - 3 * WEEK;
    is_double_exact(compute()->factor.age, 1, "the age factor does not exceed 1");
    job.ages_since = NOW - 1;
    is_double_exact(compute()->factor.age, 1.0 / WEEK, "the age factor grows with each second");
    job.ages_since = NOW;
    is_double_exact(compute()->factor.age, 0, "the age factor of a new job is 0");
    job.ages_since = 0;
    is_double_exact(compute()->factor.age, 0, "a job that depends on another does not age");
    job.ages_since = NOW + 1;
    is_double_exact(compute()->factor.age, 0, "a job with a future begin time does not age");
    job.ages_since = 0xffffffff;
    is_double_exact(compute()->factor.age, 0, "a job at the limit of its array does not age");
    options.accrue_always = true;
    is_double_exact(compute()->factor.age, 1,
                    "with ACCRUE_ALWAYS, such a job ages from its submission");
    job.held = true;
    is_double_exact(compute()->factor.age, 1, "with ACCRUE_ALWAYS, even a held job ages");
    options.accrue_always = false;
    job.ages_since = NOW - WEEK;
    is_double_exact(compute()->factor.age, 0, "without ACCRUE_ALWAYS, a held job does not age");
    job.held = false;
    options.max_age = 0;
    is_double_exact(compute()->factor.age, 1, "with MaxAge 0 the age factor is 1");
}

static void limits(void)
{
    start(CONFORMANCE_DOCUMENTS);
    job.time_limit = 120;
    is_double_exact(compute()->factor.age, 0.5, "a job at the partition's time limit ages");
    job.time_limit = 121;
    is_double_exact(compute()->factor.age, 0,
                    "a job above the partition's time limit does not age");
    options.accrue_always = true;
    is_double_exact(compute()->factor.age, 0,
                    "with ACCRUE_ALWAYS, a job above the time limit does not age");
    options.accrue_always = false;
    job.time_limit = TIME_LIMIT_INFINITE;
    is_double_exact(compute()->factor.age, 0,
                    "a job with an infinite time limit exceeds every limit");
    job.time_limit = TIME_LIMIT_NO_VALUE;
    is_double_exact(compute()->factor.age, 0.5, "a job without a time limit has the partition's");
    job.time_limit = 121;
    partition.max_minutes = PRIORITY_NO_LIMIT;
    is_double_exact(compute()->factor.age, 0.5,
                    "in a partition without a time limit, no job exceeds it");
    job.nodes = 4;
    is_double_exact(compute()->factor.age, 0.5, "a job that needs all nodes of the cluster ages");
    job.nodes = 5;
    is_double_exact(compute()->factor.age, 0,
                    "a job that needs more nodes than the cluster does not age");
    job.nodes = 3;
    partition.max_nodes = 2;
    is_double_exact(compute()->factor.age, 0,
                    "a job that needs more nodes than the partition does not age");
    options.conformance = CONFORMANCE_SLURMCTLD;
    job.nodes = 5;
    is_double_exact(compute()->factor.age, 0.5, "under slurmctld, jobs beyond the limits age");
}

static void size_by_document(void)
{
    start(CONFORMANCE_DOCUMENTS);
    is_double_exact(compute()->factor.job_size, 0.25,
                    "the size factor of one node of four is 0.25");
    job.cpus = 32;
    is_double_exact(compute()->factor.job_size, 0.25, "CPUs do not count in the size factor");
    job.nodes = 4;
    is_double_exact(compute()->factor.job_size, 1, "the size factor of all nodes is 1");
    job.nodes = 9;
    is_double_exact(compute()->factor.job_size, 1, "the size factor does not exceed 1");
    job.nodes = 0;
    is_double_exact(compute()->factor.job_size, 0.25,
                    "a job without a number of nodes counts as one node");
    options.favor_small = true;
    is_double_exact(compute()->factor.job_size, 1,
                    "with favor_small, a single node has size factor 1");
    job.nodes = 4;
    is_double_exact(compute()->factor.job_size, 0.25,
                    "with favor_small, all nodes have the lowest size factor");
    job.nodes = 9;
    is_double_exact(compute()->factor.job_size, 0,
                    "with favor_small, the size factor is not below 0");
    options.nodes = 0;
    is_double_exact(compute()->factor.job_size, 0,
                    "in a cluster of unknown size, the size factor is 0");
}

static void size_as_slurmctld(void)
{
    start(CONFORMANCE_SLURMCTLD);
    /* (1/4 + 4/32) / 2 */
    is_double_exact(compute()->factor.job_size, 0.1875,
                    "under slurmctld, the size factor averages nodes and CPUs");
    job.cpus = 0;
    is_double_exact(compute()->factor.job_size, 0.25,
                    "without known CPUs, the size factor counts only nodes");
    job.cpus = 32;
    job.nodes = 4;
    is_double_exact(compute()->factor.job_size, 1, "all nodes and CPUs have size factor 1");
    job.cpus = 64;
    is_double_exact(compute()->factor.job_size, 1,
                    "with too many CPUs, the size factor is still 1");
    options.favor_small = true;
    job.nodes = 1;
    job.cpus = 4;
    /* (3/4 + 28/32) / 2 */
    is_double_exact(compute()->factor.job_size, 0.8125,
                    "with FavorSmall, the size factor averages the remaining parts of both");
    job.nodes = 4;
    job.cpus = 32;
    is_double_exact(compute()->factor.job_size, 0,
                    "with FavorSmall, the whole cluster has size factor 0");
    job.nodes = 6;
    job.cpus = 16;
    is_double_exact(compute()->factor.job_size, 0.25,
                    "with FavorSmall, too many nodes leave a node part of 0");
}

static void size_relative_to_time(void)
{
    start(CONFORMANCE_SLURMCTLD);
    options.relative_to_time = true;
    /* 1 x 32 / 4 = 8 CPUs on its nodes, of 32 CPUs, for 60 minutes. */
    is_double_exact(compute()->factor.job_size, 8.0 / 60 / 32,
                    "relative to time, the size is CPUs of the nodes per minute");
    job.cpus = 16;
    is_double_exact(compute()->factor.job_size, 16.0 / 60 / 32,
                    "relative to time, the job's own CPUs count if more");
    options.favor_small = true;
    is_double_exact(compute()->factor.job_size, 1 - 16.0 / 60 / 32,
                    "relative to time with FavorSmall, the size is subtracted from 1");
    job.time_limit = 1;
    job.cpus = 32;
    is_double_exact(compute()->factor.job_size, 0,
                    "with FavorSmall, the whole cluster for a minute has size factor 0");
    job.time_limit = TIME_LIMIT_NO_VALUE;
    is_double_exact(compute()->factor.job_size, 1 - 32.0 / 120 / 32,
                    "relative to time, a job without a time limit has the partition's");
    partition.max_minutes = PRIORITY_NO_LIMIT;
    is_double_exact(compute()->factor.job_size, 1 - 32 / 4294967295.0 / 32,
                    "relative to time, no time limit counts as 2^32 - 1 minutes");
    options.favor_small = false;
    job.time_limit = TIME_LIMIT_INFINITE;
    is_double_exact(compute()->factor.job_size, 32 / 4294967295.0 / 32,
                    "relative to time, UNLIMITED counts as 2^32 - 1 minutes");
    options.conformance = CONFORMANCE_DOCUMENTS;
    is_double_exact(compute()->factor.job_size, 32 / 4294967295.0 / 32,
                    "under documents, the size relative to time is the same");
    options.cpus = 0;
    is_double_exact(compute()->factor.job_size, 0,
                    "in a cluster without CPUs, the size relative to time is 0");
}

static void parts_of_the_highest(void)
{
    start(CONFORMANCE_SLURMCTLD);
    is_double_exact(compute()->factor.partition, 0.5,
                    "a partition's factor is divided by the highest");
    is_double_exact(priority.factor.qos, 0.25, "a QOS's priority is divided by the highest");
    is_double_exact(priority.factor.association, 0,
                    "an association without a priority has factor 0");
    job.association_priority = 10;
    is_double_exact(compute()->factor.association, 0.25,
                    "an association's priority is divided by the highest");
    options.no_normal_partition = options.no_normal_qos = options.no_normal_association = true;
    compute();
    is_double_exact(priority.factor.partition, 50,
                    "with NO_NORMAL_PART, a partition's factor is not divided");
    is_double_exact(priority.factor.qos, 50, "with NO_NORMAL_QOS, a QOS's priority is not divided");
    is_double_exact(priority.factor.association, 10,
                    "with NO_NORMAL_ASSOC, an association's priority is not divided");
    job.association_priority = PRIORITY_NONE;
    is_double_exact(compute()->factor.association, 0,
                    "with NO_NORMAL_ASSOC, an association without a priority has 0");
    start(CONFORMANCE_SLURMCTLD);
    options.highest_qos = options.highest_association = 0;
    qos.priority = 0;
    partition.factor = 0;
    compute();
    ok(priority.factor.qos == 0 && priority.factor.association == 0 &&
           priority.factor.partition == 0,
       "if the highest is 0, the factors are 0");
    options.highest_qos = options.highest_association = 1;
    qos.priority = job.association_priority = 1;
    compute();
    ok(priority.factor.qos == 1 && priority.factor.association == 1,
       "a highest priority of 1 gives factor 1");
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
    is_double_exact(compute()->tres, 0, "a job that requests no TRES has no TRES part");
    is_string(tres_text(true), "", "no TRES are printed for a job that requests none");
    counts[0] = 4;
    counts[1] = 1000;
    counts[2] = 3;
    /* 4/32 x 100 + 1000/64000 x 50 + 3/4 x 1000 */
    is_double_exact(compute()->tres, 12.5 + 0.78125 + 750,
                    "each TRES adds its part of the total times its weight");
    is_string(tres_text(false), "cpu=0.12,mem=0.02,gres/gpu=0.75",
              "TRES factors are printed as by sprio");
    is_string(tres_text(true), "cpu=12,mem=1,gres/gpu=750",
              "weighted TRES are printed as by sprio");
    counts[1] = 0;
    is_string(tres_text(true), "cpu=12,gres/gpu=750", "a TRES that is not requested is left out");
    static const uint64_t totals[] = { 8, 16000, 0 };
    partition.tres_totals = totals;
    is_double_exact(compute()->tres, 50, "a partition's own totals replace the cluster's");
    is_string(tres_text(true), "cpu=50", "a TRES that the partition lacks has no part");
    options.no_normal_tres = true;
    counts[1] = 1000;
    is_double_exact(compute()->tres, 400 + 50000 + 3000,
                    "NO_NORMAL_TRES multiplies counts by weights");
    is_string(tres_text(false), "cpu=4.00,mem=1000.00,gres/gpu=3.00",
              "NO_NORMAL_TRES prints the counts");
}

static void sums(void)
{
    start(CONFORMANCE_DOCUMENTS);
    job.association_priority = 10;
    /* 500 + 456.25 + 250 + 500 + 250 + 250 */
    is_int(compute()->value, 2206, "the priority is truncated to an integer");
    is_double_exact(priority.norm, 2206.25 / 4294967295.0,
                    "the normalized priority is not truncated");
    job.held = true;
    is_int(compute()->value, 0, "a held job has priority 0");
    is_double_exact(priority.norm, 0, "a held job has normalized priority 0");
    job.held = false;
    options.weights = (struct priority_weights){ 0 };
    is_int(compute()->value, 1, "without weights the priority is 1");
    options.weights.fairshare = 1;
    is_int(compute()->value, 1, "with small weights the priority is at least 1");
    options.weights.fairshare = 4294967295.0;
    options.weights.age = 4294967295.0;
    job.fairshare = 1;
    is_int(compute()->value, 4294967295, "the priority does not exceed 32 bits");
    is_double_exact(priority.norm, 1, "the highest priority is 1 normalized");
    options.weights.age = 0;
    is_int(compute()->value, 4294967295, "a weight may be 2^32 - 1");
    job.fairshare = NAN;
    is_double_exact(compute()->factor.fairshare, 0,
                    "a job without an association has fairshare factor 0");

    /* The example of "Multifactor Priority Plugin": a site's weights, and users with the factors in
     * the document. */
    static const double factors[] = { 0.45625, 0.3875, 0.45, 0.5, 0.6020833333333333 };
    static const uint32_t priorities[] = { 4562, 3875, 4500, 5000, 6020 };
    start(CONFORMANCE_DOCUMENTS);
    options.weights = (struct priority_weights){ .fairshare = 10000 };
    for (size_t i = 0; i < 5; i++) {
        char statement[96];
        job.fairshare = factors[i];
        snprintf(statement, sizeof statement, "user %zu of the Slurm 2.0 document has priority %u",
                 i + 1, priorities[i]);
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
    rows_are(queue, "7 short normal 105*", "a job in one partition has one row, which is the best");
    add_job(queue, 7, "long,short", "", 2);
    rows_are(queue, "7 long high 60; 7 short high 110*",
             "a job has a row for each of its partitions");
    add_job(queue, 7, "short,short,long", "", 2);
    rows_are(queue, "7 short high 110*; 7 long high 60", "a repeated partition counts once");
    add_job(queue, 7, "short", "normal,high", 1);
    rows_are(queue, "7 short normal 105; 7 short high 110*", "a job has a row for each of its QOS");
    add_job(queue, 7, "short,long", "high,1", 1);
    rows_are(queue, "7 short high 110*; 7 short normal 105; 7 long high 60; 7 long normal 55",
             "a job has a row for each pair of partition and QOS");
    add_job(queue, 7, "short", "high", 1);
    rows_are(queue, "7 short normal 105*", "a single requested QOS does not replace the job's QOS");
    add_job(queue, 7, "short", "high,unheard", 1);
    rows_are(queue, "7 short normal 105*",
             "a list with one known QOS does not replace the job's QOS");
    add_job(queue, 7, "short", "", 3);
    rows_are(queue, "7 short gone 100*", "a deleted QOS adds nothing");
    add_job(queue, 7, "short", "", 99);
    rows_are(queue, "7 short 99 100*", "an unknown QOS is shown by its number");
    add_job(queue, 7, "short", "", 0);
    rows_are(queue, "7 short  100*", "a job without a QOS has an empty name");
    add_job(queue, 7, "other", "", 1);
    rows_are(queue, "7 other normal 5*", "a partition without settings has no factor");
    queue->unnamed_factor = 1;
    add_job(queue, 7, "another,", "", 1);
    rows_are(queue, "7 another normal 7*", "a partition without settings has the default factor");
    add_job(queue, 7, "", "", 1);
    rows_are(queue, "7  normal 7*", "a job without a partition has an empty name");
    queue_add_partition(queue, &(struct priority_partition){ .name = "twin", .factor = 40 });
    add_job(queue, UINT64_MAX, "twin,short", "", 1);
    rows_are(queue, "18446744073709551615 twin normal 105*; 18446744073709551615 short normal 105",
             "the first of several tied rows is the best");
    add_job(queue, 1, "short,long", "", 1);
    struct seen seen = { "", 1 };
    struct error err;
    is_int(queue_each(queue, note, &seen, &err), -1, "a failed row makes the iteration fail");
    is_string(seen.text, "1 short normal 105*", "a failed row ends the iteration");
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
