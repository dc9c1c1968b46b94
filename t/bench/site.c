/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HAVE_SQLITE
#include <sqlite3.h>
#endif

/*
 * Generates the accounting database of a large imaginary site for benchmarks, as slurmdbd would
 * store it.  Prints the rows of one table as text for LOAD DATA and COPY, or adds them to an SQLite
 * file.
 *
 *     `site [OPTION]... TABLE`
 *         The rows of TABLE: associations, clusters, events, jobs, qos, tres, or one of the
 *         rollup's: hours, days, months, cluster-days, cluster-months, last-ran.
 *
 *     `site [OPTION]... changes`
 *         The rows of jobs that are new or have changed since the last step.
 *
 *     `site [OPTION]... columns TABLE`
 *         The names of the columns.
 *
 *     `site [OPTION]... instant`
 *         The time of the step.
 *
 * Options:
 *
 *     `--jobs N`, `--associations N`
 *         The size of the site.  Each step adds a thousandth of the jobs.
 *
 *     `--step N`
 *         The number of steps after the first.
 *
 *     `--sqlite FILE`
 *         Add the rows to this file instead of printing them.
 *
 * Every row is a function of its number, so the same options give the same site.  Jobs are
 * submitted over sixty days, more of them by day than by night.  A third belong to arrays, and a
 * tenth are cancelled before they start.  With their time limits and waits, one job in a hundred is
 * open.
 */

#define CLUSTER "bench"
#define FIRST_TIME 2050500000.0 /* in 2034, so that no run is at a past time */
#define DAY 86400.0
#define DAYS 60.0
#define JOBS_OF_ARRAY 10
#define NO_TASK UINT64_C(4294967294)
#define SHARES_PARENT 2147483647
#define PI 3.14159265358979323846

/* Pseudorandom numbers. */

enum trait {
    TRAIT_ACCOUNT = 1,
    TRAIT_ARRAY,
    TRAIT_CANCELLED,
    TRAIT_CPUS,
    TRAIT_DELETED,
    TRAIT_DURATION,
    TRAIT_ENDING,
    TRAIT_GPU,
    TRAIT_LIMIT,
    TRAIT_QOS,
    TRAIT_SHARES,
    TRAIT_WAIT,
    TRAIT_WAITS,
    TRAIT_WHO,
};

/* splitmix64 */
static uint64_t hash(enum trait trait, uint64_t number)
{
    uint64_t h = (number * 64 + trait + 1) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

/* Returns a number of at least 0 and below 1. */
static double chance(enum trait trait, uint64_t number)
{
    return (double)(hash(trait, number) >> 11) * 0x1p-53;
}

static uint64_t choice(enum trait trait, uint64_t number, uint64_t count)
{
    return hash(trait, number) % count;
}

/* The output buffer, or the SQLite statement. */

static char *buffer;
static size_t used, room;
static bool row_begun;
#ifdef HAVE_SQLITE
static sqlite3 *database;
static sqlite3_stmt *statement;
static int place;
#endif

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "site: %s\n", what);
    exit(1);
}

static void add_bytes(const char *bytes, size_t length)
{
    if (used + length > room) {
        room = (used + length) * 2 + 65536;
        buffer = realloc(buffer, room);
        if (!buffer)
            die("out of memory");
    }
    memcpy(buffer + used, bytes, length);
    used += length;
}

static void flush_rows(void)
{
    if (used && fwrite(buffer, used, 1, stdout) != 1)
        die("cannot write");
    used = 0;
}

static void begin_value(void)
{
    if (row_begun)
        add_bytes("\t", 1);
    row_begun = true;
}

static void put_text(const char *text)
{
#ifdef HAVE_SQLITE
    if (statement) {
        sqlite3_bind_text(statement, ++place, text, -1, SQLITE_TRANSIENT);
        return;
    }
#endif
    begin_value();
    add_bytes(text, strlen(text));
}

static void put_number(uint64_t number)
{
    char digits[24], *digit = digits + sizeof digits;
#ifdef HAVE_SQLITE
    if (statement) {
        sqlite3_bind_int64(statement, ++place, (int64_t)number);
        return;
    }
#endif
    do {
        *--digit = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    begin_value();
    add_bytes(digit, (size_t)(digits + sizeof digits - digit));
}

static void put_real(double real)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%g", real);
    put_text(digits);
}

static void put_null(void)
{
#ifdef HAVE_SQLITE
    if (statement) {
        sqlite3_bind_null(statement, ++place);
        return;
    }
#endif
    begin_value();
    add_bytes("\\N", 2);
}

static void end_row(void)
{
#ifdef HAVE_SQLITE
    if (statement) {
        if (sqlite3_step(statement) != SQLITE_DONE)
            die(sqlite3_errmsg(database));
        sqlite3_reset(statement);
        place = 0;
        return;
    }
#endif
    add_bytes("\n", 1);
    row_begun = false;
    if (used > 65536)
        flush_rows();
}

/* Associations: one in ten is an account, about five levels deep, and the others are users. */

static uint64_t job_count = 10000000, association_count = 100000, step;

static bool is_account(uint64_t id)
{
    return id % 10 == 1;
}

/* Returns the id of the parent of an account or a user, or 0 for the root. */
static uint64_t parent_of(uint64_t id)
{
    uint64_t number = id / 10; /* number of accounts with a lower id */
    if (!number)
        return id == 1 ? 0 : 1;
    if (is_account(id))
        return (number / 8 + choice(TRAIT_ACCOUNT, id, 2) * (number > 8)) * 10 + 1;
    return choice(TRAIT_ACCOUNT, id, number) * 10 + 1;
}

static uint64_t account_of(uint64_t id)
{
    return is_account(id) ? id : parent_of(id);
}

/* Returns the id from which the user's name is made.  About one user in four is in two accounts. */
static uint64_t user_of(uint64_t id)
{
    uint64_t half = association_count / 20 * 10, other = id > half ? id - half : 0;
    if (other && other % 4 == 2 && !is_account(other) && account_of(other) != account_of(id))
        return other;
    return id;
}

static const char *account_name(uint64_t id)
{
    static char name[32];
    if (id == 1)
        return "root";
    snprintf(name, sizeof name, "acct%06" PRIu64, id / 10);
    return name;
}

static const char *user_name(uint64_t id)
{
    static char name[32];
    snprintf(name, sizeof name, "user%06" PRIu64, user_of(id));
    return name;
}

static void put_lineage(uint64_t id)
{
    char lineage[1024], part[128];
    size_t start = sizeof lineage - 1;
    lineage[start] = '\0';
    if (!is_account(id)) {
        int length = snprintf(part, sizeof part, "0-%s/", user_name(id));
        start -= (size_t)length;
        memcpy(lineage + start, part, (size_t)length);
    }
    for (uint64_t account = account_of(id); account > 1; account = parent_of(account)) {
        int length = snprintf(part, sizeof part, "%s/", account_name(account));
        start -= (size_t)length;
        memcpy(lineage + start, part, (size_t)length);
    }
    lineage[--start] = '/';
    put_text(lineage + start);
}

static uint64_t shares_of(uint64_t id)
{
    uint64_t shares = choice(TRAIT_SHARES, id, 100);
    return id == 1 ? 1 : shares < 2 ? SHARES_PARENT : shares;
}

static const char association_columns[] =
    "id_assoc,id_parent,acct,user,parent_acct,lineage,shares,deleted,creation_time,mod_time,is_def";

static void put_associations(void)
{
    for (uint64_t id = 1; id <= association_count; id++) {
        bool account = is_account(id);
        put_number(id);
        put_number(parent_of(id));
        put_text(account_name(account_of(id)));
        put_text(account ? "" : user_name(id));
        put_text(account && id > 1 ? account_name(parent_of(id)) : "");
        put_lineage(id);
        put_number(shares_of(id));
        put_number(!account && !choice(TRAIT_DELETED, id, 50));
        put_number(1700000000);
        put_number(1700000000);
        put_number(!account && user_of(id) == id);
        end_row();
    }
}

/* Jobs. */

static const uint64_t limits[] = { 60,  60,  60,  60,   240,  240,  240,  240,  240,  480,
                                   480, 480, 480, 1440, 1440, 1440, 1440, 2880, 2880, 10080 };

struct job {
    uint64_t number, array; /* the array's first job, or 0 without an array */
    uint64_t who;           /* number from which the user's choices are derived */
    uint64_t submit, start, end;
    bool cancelled; /* before it started */
    uint64_t association, account, limit, cpus, gpus;
};

/* Returns the submission time of a job.  Times are evenly distributed except for the time of
 * day. */
static double submitted_at(double number)
{
    double even = number * DAYS * DAY / (double)job_count;
    return FIRST_TIME - DAYS * DAY + even + 0.6 * DAY / (2 * PI) * sin(2 * PI * even / DAY);
}

static uint64_t jobs_of_step(void)
{
    return job_count < 1000 ? 1 : job_count / 1000;
}

static uint64_t time_of(uint64_t of_step)
{
    return (uint64_t)submitted_at((double)(job_count + of_step * jobs_of_step()));
}

/* Returns a random association.  A few users have most of the jobs. */
static uint64_t association_of(uint64_t who)
{
    uint64_t users = association_count - (association_count + 9) / 10;
    double skewed = pow(chance(TRAIT_WHO, who), 3);
    uint64_t user = (uint64_t)(skewed * (double)users) * 7919 % users;
    return user / 9 * 10 + 2 + user % 9;
}

static void draw(uint64_t number, struct job *job)
{
    uint64_t block = number / JOBS_OF_ARRAY * JOBS_OF_ARRAY;
    bool in_array = chance(TRAIT_ARRAY, block) < 0.33;
    uint64_t who = in_array ? block : number;
    *job = (struct job){
        .number = number,
        .array = in_array ? block + 1000 : 0,
        .who = who,
        .submit = (uint64_t)submitted_at((double)who),
        .cancelled = chance(TRAIT_CANCELLED, number) < 0.1,
        .association = association_of(who),
        .limit = limits[choice(TRAIT_LIMIT, who, sizeof limits / sizeof *limits)],
        .cpus = UINT64_C(1) << choice(TRAIT_CPUS, who, 9),
        .gpus = chance(TRAIT_GPU, who) < 0.1 ? 1 + choice(TRAIT_GPU, who, 4) : 0,
    };
    job->account = account_of(job->association);
    double wait = 1 + 30 * chance(TRAIT_WAIT, number);
    if (chance(TRAIT_WAITS, who) < 0.6)
        wait -= 6 * 3600 * log(1 - chance(TRAIT_WAIT, number));
    uint64_t moved = job->submit + (uint64_t)wait;
    double lasted = chance(TRAIT_DURATION, number) * 1.05;
    job->start = job->cancelled ? UINT64_MAX : moved;
    job->end = job->cancelled
                   ? moved
                   : moved + 1 + (uint64_t)((lasted < 1 ? lasted : 1) * (double)job->limit * 60);
}

static bool is_seen(const struct job *job, uint64_t now)
{
    return job->submit <= now;
}

static bool changed(const struct job *job, uint64_t before, uint64_t now)
{
    return is_seen(job, now) &&
           (job->submit > before || (job->start > before && job->start <= now) ||
            (job->end > before && job->end <= now));
}

enum { PENDING, RUNNING, COMPLETED = 3, CANCELLED, FAILED, TIMEOUT };

static uint64_t state_of(const struct job *job, uint64_t now)
{
    if (job->end <= now)
        return job->cancelled                             ? CANCELLED
               : job->end - job->start >= job->limit * 60 ? TIMEOUT
               : chance(TRAIT_ENDING, job->number) < 0.07 ? FAILED
                                                          : COMPLETED;
    return job->start <= now ? RUNNING : PENDING;
}

static const char *tres_of(const struct job *job, bool allocated)
{
    static char text[160];
    uint64_t nodes = (job->cpus + 63) / 64;
    int length =
        snprintf(text, sizeof text, "1=%" PRIu64 ",2=%" PRIu64 ",", job->cpus, job->cpus * 4000);
    if (allocated)
        length += snprintf(text + length, sizeof text - (size_t)length, "3=18446744073709551614,");
    length += snprintf(text + length, sizeof text - (size_t)length, "4=%" PRIu64 ",5=%" PRIu64,
                       nodes, job->cpus + 16 * job->gpus);
    if (job->gpus)
        snprintf(text + length, sizeof text - (size_t)length, ",1001=%" PRIu64 ",1002=%" PRIu64,
                 job->gpus, job->gpus);
    return text;
}

static const char job_columns[] =
    "job_db_inx,mod_time,account,array_task_str,array_max_tasks,constraints,cpus_req,exit_code,"
    "flags,"
    "job_name,id_assoc,id_array_job,id_array_task,id_job,id_qos,id_resv,id_wckey,id_user,id_group,"
    "het_job_id,het_job_offset,state_reason_prev,mem_req,nodelist,nodes_alloc,node_inx,partition,"
    "priority,sluid,state,timelimit,time_submit,time_eligible,time_start,time_end,work_dir,std_err,"
    "std_in,std_out,submit_line,tres_alloc,tres_req";

/* Writes the values in the order of job_columns. */
static void put_job(const struct job *job, uint64_t now)
{
    char text[256];
    bool started = job->start <= now, ended = job->end <= now;
    uint64_t user = user_of(job->association), nodes = (job->cpus + 63) / 64;
    uint64_t first_node = hash(TRAIT_CPUS, job->number) % 1000, last_node = first_node + nodes - 1;
    uint64_t seen = ended ? job->end : started ? job->start : job->submit;
    uint64_t id = job->number + 1000, task = job->array ? job->number % JOBS_OF_ARRAY : NO_TASK;

    put_number(job->number + 1);
    put_number(seen);
    put_text(account_name(job->account));
    put_null();
    put_number(0);
    put_text("");
    put_number(job->cpus);
    put_number(state_of(job, now) == FAILED ? 256 : 0);
    put_number(8);
    snprintf(text, sizeof text, "run_%" PRIu64, hash(TRAIT_WHO, job->who) % 10000);
    put_text(text);

    put_number(job->association);
    put_number(job->array);
    put_number(task);
    put_number(id);
    put_number(1 + choice(TRAIT_QOS, job->who, 10) / 7);
    put_number(0);
    put_number(0);
    put_number(10000 + user);
    put_number(10000 + job->account);
    put_number(0);
    put_number(NO_TASK);
    put_number(0);
    put_number(UINT64_C(4000));

    snprintf(text, sizeof text, nodes > 1 ? "node[%04" PRIu64 "-%04" PRIu64 "]" : "node%04" PRIu64,
             first_node, last_node);
    put_text(started ? text : "None assigned");
    put_number(started ? nodes : 0);
    snprintf(text, sizeof text, nodes > 1 ? "%" PRIu64 "-%" PRIu64 : "%" PRIu64, first_node,
             last_node);
    put_text(started ? text : "");
    put_text(job->gpus ? "gpu" : "batch");
    put_number(hash(TRAIT_WHO, job->number) % 1000000);
    put_number(UINT64_C(1) << 62 | job->number);

    put_number(state_of(job, now));
    put_number(job->limit);
    put_number(job->submit);
    put_number(job->submit);
    put_number(started ? job->start : 0);
    put_number(ended ? job->end : 0);

    const char *name = user_name(job->association);
    snprintf(text, sizeof text, "/home/%s/projects/%s/run", name, account_name(job->account));
    put_text(text);
    snprintf(text, sizeof text, "/home/%s/projects/%s/run/slurm-%%A_%%a.err", name,
             account_name(job->account));
    put_text(text);
    put_text("/dev/null");
    snprintf(text, sizeof text, "/home/%s/projects/%s/run/slurm-%%A_%%a.out", name,
             account_name(job->account));
    put_text(text);
    snprintf(text, sizeof text,
             "sbatch --account=%s --time=%" PRIu64 " --ntasks=%" PRIu64 " job.sh",
             account_name(job->account), job->limit, job->cpus);
    put_text(text);
    put_text(started ? tres_of(job, true) : "");
    put_text(tres_of(job, false));
    end_row();
}

static void put_jobs(void)
{
    uint64_t now = time_of(step);
    struct job job;
    for (uint64_t number = 0;; number++) {
        draw(number, &job);
        if (!is_seen(&job, now))
            return;
        put_job(&job, now);
    }
}

static void put_changes(void)
{
    uint64_t before = time_of(step - 1), now = time_of(step);
    struct job job;
    for (uint64_t number = 0;; number++) {
        draw(number, &job);
        if (!is_seen(&job, now))
            return;
        if (changed(&job, before, now))
            put_job(&job, now);
    }
}

/* slurmdbd's rollup, at a site that keeps hours for two days: the CPU time and billing of each
 * association in past hours, days and months (UTC). */

#define HOUR UINT64_C(3600)
#define HOURS_KEPT 48
#define TRES_CPU 1
#define TRES_BILLING 5
#define MOST_SPANS 128

enum span { SPAN_HOUR, SPAN_DAY, SPAN_MONTH };

static uint64_t span_start(enum span span, uint64_t t)
{
    time_t seconds = (time_t)t;
    struct tm date;
    if (span != SPAN_MONTH)
        return t - t % (span == SPAN_DAY ? (uint64_t)DAY : HOUR);
    gmtime_r(&seconds, &date);
    date.tm_mday = 1;
    date.tm_hour = date.tm_min = date.tm_sec = 0;
    return (uint64_t)timegm(&date);
}

/* Lists the starts of all periods that are kept, and the start of the unfinished period. */
static size_t list_spans(enum span span, uint64_t now, uint64_t *starts)
{
    size_t count = 0;
    uint64_t first = (uint64_t)(FIRST_TIME - DAYS * DAY);
    if (span == SPAN_HOUR)
        first = now - HOURS_KEPT * HOUR;
    for (uint64_t t = span_start(span, first); t <= now && count < MOST_SPANS; count++) {
        starts[count] = t;
        t = span == SPAN_MONTH ? span_start(span, t + 31 * (uint64_t)DAY)
            : span == SPAN_DAY ? t + (uint64_t)DAY
                               : t + HOUR;
    }
    return count;
}

struct used {
    uint64_t cpu, billing;
};

static void add_use(const struct job *job, const uint64_t *starts, size_t count, struct used *uses)
{
    for (size_t i = 0; i + 1 < count; i++) {
        uint64_t from = job->start > starts[i] ? job->start : starts[i];
        uint64_t to = job->end < starts[i + 1] ? job->end : starts[i + 1];
        if (from >= to)
            continue;
        struct used *sum = &uses[job->association * MOST_SPANS + i];
        sum->cpu += job->cpus * (to - from);
        sum->billing += (job->cpus + 16 * job->gpus) * (to - from);
    }
}

static void put_use(uint64_t association, uint64_t tres, uint64_t start, uint64_t seconds)
{
    put_number(1700000000);
    put_number(start);
    put_number(association);
    put_number(tres);
    put_number(start);
    put_number(seconds);
    end_row();
}

static void put_rollup(enum span span)
{
    uint64_t starts[MOST_SPANS], now = time_of(0);
    size_t count = list_spans(span, now, starts);
    struct used *uses = calloc((association_count + 1) * MOST_SPANS, sizeof *uses);
    if (!uses)
        die("out of memory");
    struct job job;
    for (uint64_t number = 0; draw(number, &job), is_seen(&job, now); number++)
        if (!job.cancelled)
            add_use(&job, starts, count, uses);
    for (uint64_t association = 1; association <= association_count; association++)
        for (size_t i = 0; i + 1 < count; i++) {
            const struct used *sum = &uses[association * MOST_SPANS + i];
            if (sum->cpu)
                put_use(association, TRES_CPU, starts[i], sum->cpu);
            if (sum->billing)
                put_use(association, TRES_BILLING, starts[i], sum->billing);
        }
    free(uses);
}

static void put_hours(void)
{
    put_rollup(SPAN_HOUR);
}

static void put_days(void)
{
    put_rollup(SPAN_DAY);
}

static void put_months(void)
{
    put_rollup(SPAN_MONTH);
}

/* Writes the rows of the whole cluster, each with all CPUs of the registration as idle. */
static void put_cluster_rollup(enum span span)
{
    uint64_t starts[MOST_SPANS];
    size_t count = list_spans(span, time_of(0), starts);
    for (size_t i = 0; i + 1 < count; i++) {
        put_number(1700000000);
        put_number(starts[i]);
        put_number(TRES_CPU);
        put_number(starts[i]);
        put_number(64256);
        put_number(64256 * (starts[i + 1] - starts[i]));
        end_row();
    }
}

static void put_cluster_days(void)
{
    put_cluster_rollup(SPAN_DAY);
}

static void put_cluster_months(void)
{
    put_cluster_rollup(SPAN_MONTH);
}

static const char cluster_use_columns[] =
    "creation_time,mod_time,id_tres,time_start,count,idle_secs";

static const char use_columns[] = "creation_time,mod_time,id,id_tres,time_start,alloc_secs";

static const char last_ran_columns[] = "hourly_rollup,daily_rollup,monthly_rollup";

static void put_last_ran(void)
{
    for (enum span span = SPAN_HOUR; span <= SPAN_MONTH; span++)
        put_number(span_start(span, time_of(0)));
    end_row();
}

/* The small tables. */

static const char cluster_columns[] =
    "name,creation_time,mod_time,control_host,control_port,rpc_version,federation,fed_state";

static void put_clusters(void)
{
    put_text(CLUSTER);
    put_number(1700000000);
    put_number(1700000000);
    put_text("127.0.0.1");
    put_number(6817);
    put_number(11264);
    put_text("");
    put_number(0);
    end_row();
}

static const char qos_columns[] =
    "id,name,creation_time,mod_time,description,usage_factor,priority,max_tres_pa,preempt";

static void put_qos(void)
{
    static const struct {
        const char *name;
        double factor;
    } all[] = { { "normal", 1 }, { "urgent", 2 }, { "scavenger", 0.25 } };
    for (uint64_t i = 0; i < sizeof all / sizeof *all; i++) {
        put_number(i + 1);
        put_text(all[i].name);
        put_number(1700000000);
        put_number(1700000000);
        put_text(all[i].name);
        put_real(all[i].factor);
        put_number(0);
        put_text("");
        put_text("");
        end_row();
    }
}

static const char tres_columns[] = "id,creation_time,type,name";

static void put_tres(void)
{
    static const struct {
        uint64_t id;
        const char *type, *name;
    } all[] = { { 1, "cpu", "" },         { 2, "mem", "" },     { 3, "energy", "" },
                { 4, "node", "" },        { 5, "billing", "" }, { 6, "fs", "disk" },
                { 7, "vmem", "" },        { 8, "pages", "" },   { 1001, "gres", "gpu" },
                { 1002, "gres", "gpu:a" } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        put_number(all[i].id);
        put_number(1700000000);
        put_text(all[i].type);
        put_text(all[i].name);
        end_row();
    }
}

static const char event_columns[] = "time_start,time_end,node_name,cluster_nodes,reason,state,tres";

/* Writes the cluster's registration, and nodes that were down for an hour. */
static void put_events(void)
{
    put_number(1700000000);
    put_number(0);
    put_text("");
    put_text("node[0000-1003]");
    put_text("Cluster Registered TRES");
    put_number(0);
    put_text("1=64256,2=257024000,4=1004,5=64256,1001=400,1002=400");
    end_row();
    for (uint64_t i = 0; i < 1000; i++) {
        char name[24];
        snprintf(name, sizeof name, "node%04" PRIu64, i);
        put_number(1746000000 + i * 3600);
        put_number(1746000000 + i * 3600 + 3600);
        put_text(name);
        put_text("");
        put_text("Not responding");
        put_number(1);
        put_text("1=64,2=256000,4=1,5=64");
        end_row();
    }
}

static const struct table {
    const char *name, *stored, *columns;
    void (*put)(void);
} tables[] = {
    { "associations", CLUSTER "_assoc_table", association_columns, put_associations },
    { "changes", CLUSTER "_job_table", job_columns, put_changes },
    { "cluster-days", CLUSTER "_usage_day_table", cluster_use_columns, put_cluster_days },
    { "cluster-months", CLUSTER "_usage_month_table", cluster_use_columns, put_cluster_months },
    { "clusters", "cluster_table", cluster_columns, put_clusters },
    { "days", CLUSTER "_assoc_usage_day_table", use_columns, put_days },
    { "events", CLUSTER "_event_table", event_columns, put_events },
    { "hours", CLUSTER "_assoc_usage_hour_table", use_columns, put_hours },
    { "jobs", CLUSTER "_job_table", job_columns, put_jobs },
    { "last-ran", CLUSTER "_last_ran_table", last_ran_columns, put_last_ran },
    { "months", CLUSTER "_assoc_usage_month_table", use_columns, put_months },
    { "qos", "qos_table", qos_columns, put_qos },
    { "tres", "tres_table", tres_columns, put_tres },
};

static const struct table *table_named(const char *name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!strcmp(tables[i].name, name))
            return &tables[i];
    die("no such table");
}

#ifdef HAVE_SQLITE
static void run(const char *sql)
{
    if (sqlite3_exec(database, sql, NULL, NULL, NULL))
        die(sqlite3_errmsg(database));
}

/* Quotes all column names, because `user` and `partition` are keywords of SQL. */
static void put_into_sqlite(const struct table *table, const char *path)
{
    char sql[4096];
    int length = snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO \"%s\" (\"", table->stored);
    size_t columns = 1;
    for (const char *at = table->columns; *at; at++) {
        length +=
            snprintf(sql + length, sizeof sql - (size_t)length, *at == ',' ? "\",\"" : "%c", *at);
        columns += *at == ',';
    }
    length += snprintf(sql + length, sizeof sql - (size_t)length, "\") VALUES (?");
    while (--columns)
        length += snprintf(sql + length, sizeof sql - (size_t)length, ",?");
    snprintf(sql + length, sizeof sql - (size_t)length, ")");
    if (sqlite3_open(path, &database) || sqlite3_busy_timeout(database, 10000))
        die(sqlite3_errmsg(database));
    run("BEGIN");
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL))
        die(sqlite3_errmsg(database));
    table->put();
    sqlite3_finalize(statement);
    run("COMMIT");
    sqlite3_close(database);
}
#else
static void put_into_sqlite(const struct table *table, const char *path)
{
    (void)table;
    (void)path;
    die("built without SQLite");
}
#endif

static uint64_t count_of(const char *text)
{
    char *end;
    uint64_t count = strtoull(text, &end, 10);
    if (!*text || *end)
        die("a count is not a number");
    return count;
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        { "jobs", required_argument, NULL, 'j' },
        { "associations", required_argument, NULL, 'a' },
        { "step", required_argument, NULL, 's' },
        { "sqlite", required_argument, NULL, 'f' },
        { NULL, 0, NULL, 0 },
    };
    const char *path = NULL;
    int got;
    while ((got = getopt_long(argc, argv, "", known, NULL)) != -1)
        switch (got) {
        case 'j':
            job_count = count_of(optarg);
            break;
        case 'a':
            association_count = count_of(optarg);
            break;
        case 's':
            step = count_of(optarg);
            break;
        case 'f':
            path = optarg;
            break;
        default:
            return 64;
        }
    if (association_count < 20 || !job_count)
        die("a site needs at least twenty associations and one job");
    const char *what = optind < argc ? argv[optind] : "";
    if (!strcmp(what, "instant")) {
        printf("%" PRIu64 "\n", time_of(step));
    } else if (!strcmp(what, "columns") && optind + 1 < argc) {
        printf("%s\n", table_named(argv[optind + 1])->columns);
    } else if (path) {
        put_into_sqlite(table_named(what), path);
    } else {
        table_named(what)->put();
        flush_rows();
    }
    return fflush(stdout) ? 1 : 0;
}
