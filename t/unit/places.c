/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <time.h>

#include "core/priority/job_ids.h"
#include "core/priority/places.h"
#include "core/priority/queue.h"
#include "core/priority/reasons.h"
#include "util/error.h"
#include "util/index.h"
#include "util/text.h"

/* Each job is a list of `pool:tier:priority`, and the jobs are separated by spaces.  Returns their
 * places in the same form. */
static const char *places_of(const char *jobs)
{
    static char text[256];
    struct pool_places *places = places_create(16);
    struct pool_job added = { 0 };
    int used;
    size_t job = 0;
    for (const char *at = jobs; *at; at += *at == ',', job += *at == ' ', at += *at == ' ') {
        if (sscanf(at, "%" SCNu32 ":%" SCNd32 ":%" SCNu32 "%n", &added.pool, &added.tier,
                   &added.priority, &used) != 3)
            break;
        places_add(places, job, &added);
        at += used;
    }
    places_rank(places);
    *text = '\0';
    for (size_t i = 0; i <= job; i++)
        for (uint32_t pool = 0; pool < 4; pool++)
            if (places_find(places, i, pool))
                snprintf(text + strlen(text), sizeof text - strlen(text),
                         "%s%zu:%" PRIu32 "=%" PRIu32, *text ? " " : "", i, pool,
                         places_find(places, i, pool));
    places_destroy(places);
    return text;
}

static void places(void)
{
    is_string(places_of(""), "", "an empty queue has no places");
    is_string(places_of("0:1:10 0:1:30 0:1:20"), "0:0=3 1:0=1 2:0=2",
              "the job with the highest priority is at place 1");
    is_string(places_of("0:1:20 0:1:30 0:1:20 0:1:5"), "0:0=2 1:0=1 2:0=2 3:0=4",
              "ties share a place, and the next place counts them");
    is_string(places_of("0:1:900 0:5:1 0:5:2"), "0:0=3 1:0=2 2:0=1",
              "a higher PriorityTier comes before a higher priority");
    is_string(places_of("0:65535:1 0:0:9 0:-1:99"), "0:0=1 1:0=2 2:0=3",
              "an unknown tier is the lowest");
    is_string(places_of("0:1:10 1:1:5 1:1:7"), "0:0=1 1:1=2 2:1=1",
              "jobs of different pools do not compete");
    is_string(places_of("0:1:10,0:2:1,1:1:8 0:1:50 1:1:9"), "0:0=1 0:1=2 1:0=2 2:1=1",
              "a job counts once in each pool, by its best partition there");
    is_string(places_of("0:1:10,0:1:10 0:1:5"), "0:0=1 1:0=2",
              "a job in two partitions of a pool does not tie with itself");
}

static const char *id_of(uint32_t array, uint32_t task, uint32_t het, uint32_t offset,
                         const char *tasks)
{
    static char copy[128];
    struct priority_job job = {
        .id_job = 5000, .id_array = array, .array_task = task, .id_het = het, .het_offset = offset
    };
    struct text text = { 0 };
    job_id_add(&text, &job, tasks);
    snprintf(copy, sizeof copy, "%s", text.bytes);
    text_free(&text);
    return copy;
}

static void ids(void)
{
    const uint32_t none = PRIORITY_NO_NUMBER;
    is_string(id_of(0, none, 0, none, ""), "5000", "the id of a single job is its number");
    is_string(id_of(4990, 12, 0, none, ""), "4990_12",
              "a task has the number of its array and its own");
    is_string(id_of(5000, none, 0, none, "0x2A"), "5000_[1,3,5]", "the tasks of a mask are listed");
    is_string(id_of(5000, none, 0, none, "0x1FFFE"), "5000_[1-16]", "adjacent tasks are a range");
    is_string(id_of(5000, none, 0, none, "0x1"), "5000_[0]", "the last bit of a mask is task 0");
    is_string(id_of(5000, none, 0, none, "1-20%2"), "5000_[1-20]",
              "a list of tasks is shown without the limit of running tasks");
    is_string(id_of(5000, none, 0, none, "1,..."), "5000", "an incomplete list is not shown");
    is_string(id_of(5000, none, 0, none, "0xZZ"), "5000", "an invalid mask is not shown");
    is_string(id_of(5000, none, 0, none, "0x0"), "5000", "an empty mask is not shown");
    is_string(id_of(5000, none, 0, none,
                    "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,45"),
              "5000", "a long list is not shown");
    is_string(id_of(0, none, 4000, 1, ""), "4000+1",
              "a component has the number of its job and its own");

    ok(job_id_may_have_task("5000_[1-20]", 5000, "5000_12"), "a task in the list is found");
    ok(!job_id_may_have_task("5000_[1-20]", 5000, "5000_21"),
       "a task outside the list is not found");
    ok(job_id_may_have_task("5000_[1,3-9:2]", 5000, "5000_7"), "a task in steps is found");
    ok(!job_id_may_have_task("5000_[1,3-9:2]", 5000, "5000_8"),
       "a task between steps is not found");
    ok(job_id_may_have_task("5000", 5000, "5000_12"),
       "without a list, the array may have any task");
    ok(!job_id_may_have_task("5000", 5000, "5001_12"), "a task of a different array is not found");
    ok(!job_id_may_have_task("5000", 0, "5000_12"), "a job without an array has no tasks");
    ok(!job_id_may_have_task("5000", 5000, "5000_"), "an id without a task is not found");
    ok(!job_id_may_have_task("5000", 5000, "5000_1x"), "an id with more than a task is not found");
}

static struct priority_job job;
static struct priority_partition partition;
static struct priority_qos qos;
static struct job_request request;
static struct gres_count asked[2], limits[3];
static bool has_partitions;

/* Fits exactly into the partition. */
static void begin(void)
{
    job = (struct priority_job){ .time_limit = 1440, .blocked = "" };
    limits[0] = (struct gres_count){ 1001, "gres/gpu", 8 };
    limits[1] = (struct gres_count){ 1002, "gres/gpu:a100", 4 };
    limits[2] = (struct gres_count){ 1003, "gres/shard", 0 };
    partition = (struct priority_partition){
        .name = "cpu",
        .max_minutes = 1440,
        .limits = { .nodes = 4,
                    .cpus = 1536,
                    .memory = 4000,
                    .node_memory = 1000,
                    .max_nodes = 3,
                    .gres = limits,
                    .gres_count = 3 },
    };
    qos = (struct priority_qos){ .name = "normal" };
    asked[0] = (struct gres_count){ 1001, NULL, 8 };
    request = (struct job_request){
        .cpus = 1536, .memory = 4000, .nodes = 3, .gres = asked, .gres_count = 1
    };
    has_partitions = false;
}

static void is_blocked(const char *reason, const char *detail, const char *statement)
{
    char found[256];
    struct text text = { 0 };
    const struct reason_case given = { &job, &request, &partition, &qos, has_partitions };
    text_add(&text, "");
    const char *without = reason_of(&given, NULL);
    snprintf(found, sizeof found, "%s %s: %s", without, reason_of(&given, &text), text.bytes);
    text_free(&text);
    struct text expected = { 0 };
    text_format(&expected, "%s %s: %s", reason, reason, detail);
    is_string(found, expected.bytes, statement);
    text_free(&expected);
    begin();
}

static void too_large(void)
{
    begin();
    is_blocked("", "", "a job that fits exactly can start");
    request.cpus = 2048;
    is_blocked("too_large", "asks for 2,048 CPUs, partition cpu has 1,536",
               "a job may ask for too many CPUs");
    request.nodes = 5;
    is_blocked("too_large", "asks for 5 nodes, partition cpu has 4",
               "a job may ask for too many nodes");
    request.nodes = 4;
    is_blocked("too_large", "asks for 4 nodes, partition cpu allows 3",
               "a job may exceed MaxNodes");
    request.nodes = 4;
    qos.lifts_nodes = true;
    is_blocked("", "", "PartitionMaxNodes of the QOS lifts MaxNodes");
    request.nodes = 5;
    qos.lifts_nodes = true;
    is_blocked("too_large", "asks for 5 nodes, partition cpu has 4",
               "PartitionMaxNodes does not add nodes");
    request.memory = 12000;
    is_blocked("too_large", "asks for 12,000 MB of memory, partition cpu has 4,000",
               "a job may ask for too much memory");
    request.memory = 4001;
    request.nodes = 3;
    is_blocked("too_large", "asks for 4,001 MB of memory, partition cpu has 4,000",
               "a job may ask for a little too much memory");
    partition.limits.node_memory = 2000;
    request.memory = 6000;
    is_blocked("", "", "memory that Slurm may have derived from the largest node is not too large");
    request.memory = 12000;
    has_partitions = true;
    is_blocked("", "",
               "memory of a job with several partitions may be derived from another partition");
    asked[0].count = 9;
    is_blocked("too_large", "asks for 9 GPUs, partition cpu has 8",
               "a job may ask for too many GPUs");
    asked[0] = (struct gres_count){ 1003, NULL, 1 };
    is_blocked("too_large", "asks for 1 gres/shard, partition cpu has 0",
               "a partition may lack a resource that other nodes have");
    asked[0] = (struct gres_count){ 1002, NULL, 8 };
    is_blocked("", "", "GPUs without a type in slurm.conf may have the requested type");
    asked[0] = (struct gres_count){ 1002, NULL, 9 };
    is_blocked("too_large", "asks for 9 a100 GPUs, partition cpu has 8",
               "a job may ask for too many GPUs of a type");
    asked[0] = (struct gres_count){ 1009, NULL, 9 };
    is_blocked("", "", "a resource that slurm.conf does not have is not too large");
    job.time_limit = 1441;
    is_blocked("too_large", "asks for 1-00:01:00, partition cpu allows 1-00:00:00",
               "a job may exceed MaxTime");
    job.time_limit = TIME_LIMIT_INFINITE;
    is_blocked("too_large", "asks for unlimited time, partition cpu allows 1-00:00:00",
               "no time limit exceeds MaxTime");
    job.time_limit = 1441;
    qos.lifts_time = true;
    is_blocked("", "", "PartitionTimeLimit of the QOS lifts MaxTime");
    job.time_limit = 0;
    is_blocked("", "", "a job without a time limit gets the partition's");
    partition.limits = (struct partition_limits){ .max_nodes = PRIORITY_NO_LIMIT };
    partition.max_minutes = PRIORITY_NO_LIMIT;
    request.cpus = request.memory = request.nodes = UINT32_MAX;
    is_blocked("", "", "nothing is too large for an unknown partition");
}

static void reasons(void)
{
    begin();
    partition.limits.closed = "DOWN";
    request.cpus = 2048;
    is_blocked("partition_down", "partition cpu has State=DOWN",
               "the state of the partition comes before its size");
    partition.limits.is_missing = true;
    is_blocked("partition_unknown", "slurm.conf has no partition cpu",
               "a partition may be missing");
    job.blocked = PRIORITY_JOB_DEPENDENCY;
    partition.limits.closed = "DOWN";
    is_blocked("dependency", "waits for another job",
               "a dependency comes before the state of the partition");
    job.held = true;
    job.blocked = PRIORITY_JOB_DEPENDENCY;
    is_blocked("held", "held by its user or an administrator", "a held job is held first");
    job.held = job.lost = true;
    is_blocked("lost", "pending since 1970-01-01T00:00:00", "a lost job is lost first");
    job.blocked = PRIORITY_JOB_ARRAY_LIMIT;
    job.array_limit = 1;
    is_blocked("array_limit", "its array may run 1 task at a time", "an array may be at its limit");
    job.blocked = PRIORITY_JOB_BEGIN;
    job.eligible = 86400;
    is_blocked("begin", "waits until 1970-01-02T00:00:00, its begin time",
               "a job may have a begin time");
    job.started = true;
    request.cpus = 2048;
    is_blocked("", "", "a running job has no reason");
}

/* Draws a queue with two pools: `urgent` and `normal` share nodes, `gpu` has its own. */
static struct queue *queue_with_jobs(struct names *names)
{
    static const struct {
        const char *name, *pool;
        int32_t tier;
    } partitions[] = { { "normal", "normal", 1 }, { "urgent", "normal", 9 }, { "gpu", "gpu", 1 } };
    static const char *const jobs[] = { "normal", "urgent", "gpu", "normal,gpu", "normal,urgent" };
    struct queue *queue = queue_create(names);
    for (size_t i = 0; i < 3; i++)
        queue_add_partition(
            queue, &(struct priority_partition){ .name = partitions[i].name,
                                                 .pool = partitions[i].pool,
                                                 .tier = partitions[i].tier,
                                                 .max_minutes = PRIORITY_NO_LIMIT,
                                                 .limits = { .max_nodes = PRIORITY_NO_LIMIT } });
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct priority_job added = { .key = i,
                                      .association_priority = PRIORITY_NONE,
                                      .blocked = "" };
        added.partitions = queue_partitions(queue, jobs[i], strlen(jobs[i]));
        added.qos = queue_qos(queue, "", 0, 1);
        queue_add_job(queue, &added, NULL);
    }
    return queue;
}

static int note_place(void *context, const struct queue_row *row, struct error *err)
{
    struct text *text = context;
    (void)err;
    text_format(text, "%s%" PRIu64 " %s %" PRIu32 "%s%s", text->length ? "; " : "", row->job->key,
                row->partition->name, row->place, row->reason, row->best ? "*" : "");
    return 0;
}

static void queue_is(const struct queue *queue, const char *expected, const char *statement)
{
    struct text text = { 0 };
    struct error err;
    queue_each(queue, note_place, &text, &err);
    is_string(text.bytes, expected, statement);
    text_free(&text);
}

static void queues(void)
{
    struct names *names = names_create();
    struct queue *queue = queue_with_jobs(names);
    queue_is(queue,
             "0 normal 0*; 1 urgent 0*; 2 gpu 0*; 3 normal 0*; 3 gpu 0; 4 normal 0; 4 urgent 0*",
             "before queue_rank(), there are no places");
    queue_rank(queue);
    queue_is(queue,
             "0 normal 3*; 1 urgent 1*; 2 gpu 1*; 3 normal 3*; 3 gpu 1; 4 normal 1; 4 urgent 1*",
             "a job has a place in each of its pools; the row with the highest tier is the best");
    queue->partitions[1].limits.closed = "DOWN";
    queue_rank(queue);
    queue_is(queue,
             "0 normal 1*; 1 urgent 0partition_down*; 2 gpu 1*; 3 normal 1*; 3 gpu 1; 4 normal 1*; "
             "4 urgent 0partition_down",
             "a row in which the job can start is better than one with a higher tier");
    queue->jobs[3].held = true;
    queue->jobs[4].started = true;
    queue_rank(queue);
    queue_is(queue,
             "0 normal 1*; 1 urgent 0partition_down*; 2 gpu 1*; 3 normal 0held*; 3 gpu 0held; 4 "
             "normal 0; 4 urgent 0*",
             "held and running jobs have no place");
    queue_destroy(queue);
    names_destroy(names);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
    places();
    ids();
    too_large();
    reasons();
    queues();
    return done_testing();
}
