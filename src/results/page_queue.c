/* SPDX-License-Identifier: MIT */
#include "results/page_queue.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/priority/formula_jobs.h"
#include "report/job_place.h"
#include "report/priorities.h"
#include "report/waits.h"
#include "results/published.h"
#include "results/published_jobs.h"
#include "results/published_waits.h"
#include "util/calendar.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

#define WAITS_DAYS 7

struct page_queue {
    struct page_cluster *page;
    struct prio_list *list;
    const struct permissions *permissions; /* NULL: no job may be shown */
    struct names *names;                   /* the associations of the rows, as keys */
    uint32_t *rows;                        /* indexed by number of the key */
    struct names *partitions;              /* numbers of page->partitions */
    /* The jobs that were added, alone and with their partitions and pools. */
    struct names *seen, *seen_partitions, *seen_pools;
    size_t *listed;   /* indexes in page->jobs, by number in `seen_pools` */
    size_t pool_jobs; /* number of jobs of the current pool */
};

/* ---- Associations ---- */

/* Returns a text that identifies an association.  The caller frees it. */
static struct text page_queue_key(const char *account, const char *user, const char *partition)
{
    struct text key = { 0 };
    const char *const names[] = { account, user, partition };
    for (size_t i = 0; i < 3; i++)
        text_add_bytes(&key, names[i], strlen(names[i]) + 1);
    return key;
}

static void page_queue_add_keys(struct page_queue *queue)
{
    const struct page_cluster *page = queue->page;
    queue->names = names_create();
    queue->rows = memory_zeroed(page->row_count, sizeof *queue->rows);
    for (uint32_t i = 0; i < page->row_count; i++) {
        const struct page_row *row = &page->rows[i];
        struct text key = page_queue_key(row->account, row->user, row->partition);
        uint32_t count = names_count(queue->names);
        if (names_add(queue->names, key.bytes, key.length) == count)
            queue->rows[count] = i;
        text_free(&key);
    }
}

/* Returns a row, or INDEX_NONE if no row has these names. */
static uint32_t page_queue_find(const struct page_queue *queue, const char *account,
                                const char *user, const char *partition)
{
    struct text key = page_queue_key(account, user, partition);
    uint32_t number = names_find(queue->names, key.bytes, key.length);
    text_free(&key);
    return number == INDEX_NONE ? INDEX_NONE : queue->rows[number];
}

/* Sets the rows of the job's user and account.  A job of an unknown account belongs to the root. */
static void page_queue_find_rows(const struct page_queue *queue, struct page_job *job)
{
    uint32_t row = page_queue_find(queue, job->account, job->user, job->partition);
    if (row == INDEX_NONE)
        row = page_queue_find(queue, job->account, job->user, "");
    uint32_t account = page_queue_find(queue, job->account, "", "");
    if (account == INDEX_NONE)
        account = row == INDEX_NONE ? 0 : queue->page->rows[row].parent;
    job->account_row = account;
    job->row = row == INDEX_NONE ? account : row;
}

/* ---- Jobs ---- */

/* With PriorityFlags=CALCULATE_RUNNING, running jobs have priorities, too. */
static bool page_queue_runs(const struct prio_row *row)
{
    return !row->of_formula && !row->place && !*row->reason;
}

/* Without a formula, jobs of OpenPBS can start but have no place. */
static bool page_queue_lacks_formula(const struct prio_row *row)
{
    return row->why && !strcmp(row->why, FORMULA_JOB_NO_FORMULA);
}

static struct page_job page_queue_job_of(const struct page_queue *queue, const struct prio_row *row)
{
    struct page_job job = {
        .job_id = row->job_id,
        .user = row->user,
        .account = row->account,
        .partition = row->partition,
        .qos = row->qos,
        .pool = row->pool,
        .priority = row->of_formula     ? row->value
                    : row->has_priority ? (double)row->priority
                                        : NAN,
        .tres = prio_tres_sum(row),
        .place = row->place,
        .reason = job_reason_label(row),
        .detail = "",
        .terms = row->terms,
        .cores = row->facts.cpus,
        .gpus = row->facts.gpus,
        .limit_s = row->facts.limit_s,
        .waiting_s = -1,
    };
    if (row->facts.eligible_at != JOB_FACT_UNKNOWN && row->facts.eligible_at <= queue->page->as_of)
        job.waiting_s = queue->page->as_of - row->facts.eligible_at;
    for (size_t i = 0; i < PAGE_PARTS; i++)
        job.parts[i] = row->weighted[i];
    struct text detail = job_reason_text(row);
    if (detail.length && !page_queue_lacks_formula(row))
        job.detail = prio_list_text(queue->list, detail.bytes, detail.length);
    text_free(&detail);
    page_queue_find_rows(queue, &job);
    return job;
}

static struct page_partition *page_queue_partition(struct page_queue *queue, const char *name)
{
    struct page_cluster *page = queue->page;
    uint32_t number = names_add(queue->partitions, name, strlen(name));
    if (number == page->partition_count)
        *memory_append(&page->partitions, &page->partition_count) = (struct page_partition){
            .name = "", .pool = "", .next = SIZE_MAX, .median_s = NAN, .most_s = NAN
        };
    return &page->partitions[number];
}

/* Counts a job in a partition. */
static void page_queue_count(struct page_partition *partition, const struct page_job *job)
{
    partition->name = job->partition;
    if (*job->pool)
        partition->pool = job->pool;
    partition->jobs++;
    if (page_job_cannot_start(job))
        partition->cannot_start++;
    else
        partition->cores =
            partition->cores < 0 || job->cores < 0 ? -1 : partition->cores + job->cores;
}

static bool page_queue_shows(const struct page_queue *queue, const struct page_job *job)
{
    if (!queue->page->hides_jobs)
        return true;
    return queue->permissions &&
           permissions_show_job(queue->permissions, queue->page->name, job->account, job->user);
}

/* Returns the number of a job in a partition or pool, and adds it if it is new. */
static uint32_t page_queue_number(struct names *names, uint64_t key, const char *name, bool *is_new)
{
    struct text both = { 0 };
    uint32_t count = names_count(names);
    text_format(&both, "%" PRIu64 " %s", key, name);
    uint32_t number = names_add(names, both.bytes, both.length);
    *is_new = number == count;
    text_free(&both);
    return number;
}

/* Adds a row of a job.  A job is counted once, and once in each of its partitions.  It is listed
 * once in each pool in which it can start or, if there is none, with its best row. */
static void page_queue_add(struct page_queue *queue, const struct prio_row *row)
{
    struct page_cluster *page = queue->page;
    struct page_job job = page_queue_job_of(queue, row);
    struct page_partition *partition = page_queue_partition(queue, job.partition);
    bool is_first, is_new;
    page_queue_number(queue->seen_partitions, row->key, job.partition, &is_new);
    if (is_new)
        page_queue_count(partition, &job);
    page_queue_number(queue->seen, row->key, "", &is_first);
    if (is_first) {
        page->cannot_start += page_job_cannot_start(&job);
        page->rows[job.row].jobs++;
    }
    if ((!job.place && !is_first) || !page_queue_shows(queue, &job))
        return;
    uint32_t number = page_queue_number(queue->seen_pools, row->key, job.pool, &is_new);
    if (is_new) {
        job.again = !is_first;
        job.pool_jobs = queue->pool_jobs;
        queue->listed[number] = page->job_count;
        page->jobs[page->job_count++] = job;
    }
    if (job.place && partition->next == SIZE_MAX)
        partition->next = queue->listed[number];
}

static int page_queue_read_jobs(struct page_queue *queue, struct db *db, struct error *err)
{
    struct page_cluster *page = queue->page;
    struct prio_list *list = queue->list;
    if (published_jobs_read(db, list, NULL, err))
        return -1;
    if (list->count)
        qsort(list->rows, list->count, sizeof *list->rows, job_queue_order);
    page->jobs = memory_zeroed(list->count + 1, sizeof *page->jobs);
    queue->listed = memory_zeroed(list->count + 1, sizeof *queue->listed);
    const char *pool = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        if (page_queue_runs(row) || (!row->place && !row->best))
            continue;
        if (row->place && (!pool || strcmp(pool, row->pool) != 0)) {
            queue->pool_jobs = job_pool_of(list, row).jobs;
            pool = row->pool;
        }
        page_queue_add(queue, row);
    }
    for (size_t i = page->row_count; i-- > 1;)
        page->rows[page->rows[i].parent].jobs += page->rows[i].jobs;
    return 0;
}

/* ---- Waits ---- */

/* Reads the waits of all jobs of the cluster, whichever accounts the page shows. */
static int page_queue_read_waits(struct page_queue *queue, struct published *published,
                                 const struct published_cluster *cluster, struct error *err)
{
    struct page_cluster *page = queue->page;
    struct published all = *published;
    all.filter = (struct published_filter){ .of_jobs = true };
    struct waits_request request = {
        .to = calendar_end_of_day(page->as_of),
        .by = WAITS_BY_PARTITION,
        .without_correlation = true,
    };
    request.from = calendar_start(CALENDAR_DAY, request.to - 1, -WAITS_DAYS);
    struct waits_list list = { 0 };
    int result = published_waits_read(&all, cluster, &request, &list, err);
    for (size_t i = 0; !result && i < list.count; i++) {
        const struct waits_row *row = &list.rows[i];
        struct page_partition *partition = page_queue_partition(queue, row->partition);
        if (!*partition->name)
            partition->name = prio_list_text(queue->list, row->partition, strlen(row->partition));
        partition->median_s = wait_quantile(&row->counts, 0.5);
        partition->most_s = wait_quantile(&row->counts, 0.9);
        partition->started = wait_counts_sum(&row->counts);
    }
    page->wait_s = wait_quantile(&list.total.counts, 0.5);
    page->started = wait_counts_sum(&list.total.counts);
    waits_list_free(&list);
    return result;
}

static int page_queue_by_jobs(const void *a, const void *b)
{
    const struct page_partition *one = a, *other = b;
    if (one->jobs != other->jobs)
        return one->jobs > other->jobs ? -1 : 1;
    if (one->started != other->started)
        return one->started > other->started ? -1 : 1;
    return strcmp(one->name, other->name);
}

int page_queue_read(struct page_cluster *page, struct prio_list *list, struct published *published,
                    const struct published_cluster *cluster, const struct permissions *permissions,
                    struct error *err)
{
    struct page_queue queue = {
        .page = page,
        .list = list,
        .permissions = permissions,
        .partitions = names_create(),
        .seen = names_create(),
        .seen_partitions = names_create(),
        .seen_pools = names_create(),
    };
    page_queue_add_keys(&queue);
    int result = page_queue_read_jobs(&queue, published->db, err) ||
                         page_queue_read_waits(&queue, published, cluster, err)
                     ? -1
                     : 0;
    if (page->partition_count)
        qsort(page->partitions, page->partition_count, sizeof *page->partitions,
              page_queue_by_jobs);
    names_destroy(queue.names);
    names_destroy(queue.partitions);
    names_destroy(queue.seen);
    names_destroy(queue.seen_partitions);
    names_destroy(queue.seen_pools);
    free(queue.rows);
    free(queue.listed);
    return result;
}

void page_queue_free(struct page_cluster *page)
{
    free(page->jobs);
    free(page->partitions);
}
