/* SPDX-License-Identifier: MIT */
#include "source/slurmdbd/slurmdbd_tables.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "settings/settings.h"
#include "settings/slurm/slurm_settings.h"
#include "util/error.h"
#include "util/memory.h"

const struct slurmdbd_table slurmdbd_clusters = {
    "cluster_table", false, false, { "name", "deleted" }, { "creation_time", "id", "rpc_version" },
};
const struct slurmdbd_table slurmdbd_qos = {
    "qos_table",
    false,
    false,
    { "id", "name", "usage_factor", "priority", "deleted" },
    { "grp_tres_mins", "flags" },
};
const struct slurmdbd_table slurmdbd_tres = {
    "tres_table", false, false, { "id", "type", "name", "deleted" }, { 0 },
};
const struct slurmdbd_table slurmdbd_events = {
    "event_table", true, false, { "node_name", "time_start", "time_end", "tres", "cluster_nodes" },
    { 0 },
};
const struct slurmdbd_table slurmdbd_associations = {
    "assoc_table",
    true,
    false,
    { "id_assoc", "acct", "user", "partition", "parent_acct", "shares", "deleted", "priority" },
    { "id_parent", "lineage", "lft", "mod_time", "grp_tres_mins", "flags", "is_def" },
};
const struct slurmdbd_table slurmdbd_coordinators = {
    "acct_coord_table", false, true, { "acct", "user", "deleted" }, { 0 },
};
const struct slurmdbd_table slurmdbd_users = {
    "user_table", false, true, { "name", "admin_level", "deleted" }, { 0 },
};
const struct slurmdbd_table slurmdbd_suspends = {
    "suspend_table", true, false, { "job_db_inx", "time_start", "time_end" }, { 0 },
};
/* shows when suspended jobs were cancelled */
const struct slurmdbd_table slurmdbd_steps = {
    "step_table", true, true, { "job_db_inx", "id_step", "time_end" }, { 0 },
};
const struct slurmdbd_table slurmdbd_association_limits = {
    "assoc_table", true, false, { "id_assoc", "deleted" }, { "grp_jobs_accrue", "max_jobs_accrue" },
};
const struct slurmdbd_table slurmdbd_qos_limits = {
    "qos_table",
    false,
    false,
    { "id", "deleted" },
    { "grp_jobs_accrue", "max_jobs_accrue_pa", "max_jobs_accrue_pu" },
};
const struct slurmdbd_table slurmdbd_association_times = {
    "assoc_table", true, false, { "id_assoc", "creation_time", "mod_time" }, { 0 },
};
/* The column with the author of a change is not read: fairmill does not need it. */
const struct slurmdbd_table slurmdbd_transactions = {
    "txn_table", false, true, { "id", "timestamp", "action", "name", "cluster", "info" }, { 0 },
};
const struct slurmdbd_table slurmdbd_jobs = {
    "job_table",
    true,
    true,
    { "id_assoc", "id_qos", "time_submit", "time_start", "time_end", "timelimit", "id_job",
      "tres_alloc", "partition", "time_eligible",
      /* the key of the row, and columns of pending jobs */
      "job_db_inx", "account", "cpus_req", "priority", "tres_req" },
    { "qos_req", "id_array_job", "array_max_tasks", "array_task_pending", "state_reason_prev",
      "state", "id_array_task", "array_task_str", "het_job_id", "het_job_offset" },
};
/* Columns that every release has, but that logins with the GRANTs of 0.1.0 cannot read. */
static const struct slurmdbd_table job_table_arrays = {
    "job_table", true, true, { "id_array_job", "array_max_tasks", "array_task_pending" }, { 0 },
};
/* Columns with the ids of pending jobs.  Every release has them, but logins with the GRANTs of an
 * earlier fairmill cannot read them. */
static const struct slurmdbd_table job_table_ids = {
    "job_table", true, true, { "id_array_task", "array_task_str", "het_job_id", "het_job_offset" },
    { 0 },
};
/* A column that every release has.  It is needed only to refund the jobs of a node. */
const struct slurmdbd_table slurmdbd_job_nodes = { "job_table", true, true, { "nodelist" }, { 0 } };
/*
 * Columns for jobs that were resized, or were held after their submission.  Every release has them,
 * but logins with the GRANTs of an earlier fairmill cannot read them.
 */
static const struct slurmdbd_table job_table_state = {
    "job_table", true, true, { "state", "state_reason_prev" }, { 0 },
};
/* A column that exists from Slurm 24.11 on; a GRANT on a missing column fails. */
static const struct slurmdbd_table job_table_wanted = {
    "job_table", true, true, { "qos_req" }, { 0 }
};

#define ASSOCIATION_USAGE(name)                                             \
    {                                                                       \
        name, true, false, { "id", "id_tres", "time_start", "alloc_secs" }, \
        {                                                                   \
            0                                                               \
        }                                                                   \
    }
const struct slurmdbd_table slurmdbd_usage[SPANS] = {
    ASSOCIATION_USAGE("assoc_usage_hour_table"),
    ASSOCIATION_USAGE("assoc_usage_day_table"),
    ASSOCIATION_USAGE("assoc_usage_month_table"),
};
#define QOS_USAGE(name)                                                               \
    {                                                                                 \
        name, true, false, { "id", "id_alt", "id_tres", "time_start", "alloc_secs" }, \
        {                                                                             \
            0                                                                         \
        }                                                                             \
    }
const struct slurmdbd_table slurmdbd_qos_usage[SPANS] = {
    QOS_USAGE("qos_usage_hour_table"),
    QOS_USAGE("qos_usage_day_table"),
    QOS_USAGE("qos_usage_month_table"),
};
#define CLUSTER_USAGE(name)                             \
    {                                                   \
        name, true, false, { "id_tres", "time_start" }, \
        {                                               \
            0                                           \
        }                                               \
    }
const struct slurmdbd_table slurmdbd_cluster_usage[SPANS] = {
    CLUSTER_USAGE("usage_hour_table"),
    CLUSTER_USAGE("usage_day_table"),
    CLUSTER_USAGE("usage_month_table"),
};
const struct slurmdbd_table slurmdbd_last_ran = {
    "last_ran_table", true, false, { "hourly_rollup", "daily_rollup", "monthly_rollup" }, { 0 },
};

static bool omits_suspended(const struct settings *settings)
{
    return settings->suspended == SUSPENDED_OMITTED;
}

unsigned slurmdbd_job_columns(const struct settings *settings)
{
    return charge_weights_have_partitions(&settings->weights) ? JOB_PARTITION + 1 : JOB_PARTITION;
}

bool slurmdbd_weighs_tres(const struct settings *settings)
{
    return charge_weights_count(&settings->weights, settings->charge) || *settings->weight_tres;
}

bool slurmdbd_reads_tres(const struct settings *settings)
{
    return slurmdbd_weighs_tres(settings) || strcasecmp(settings->tres, "none") != 0;
}

/*
 * Returns true if slurmctld charges part of the time of a resized job again.  slurmctld does this
 * only if slurm.conf enforces limits.  If slurm.conf is unknown, limits are assumed to be enforced.
 */
static bool charges_resized_again(const struct settings *settings)
{
    return settings->conformance == CONFORMANCE_SLURMCTLD &&
           (!settings->slurm || slurm_enforces_limits(settings->slurm));
}

/* Returns true if a run or `notify` with these settings reads the table. */
static bool slurmdbd_is_read(const struct slurmdbd_table *table, const struct settings *settings)
{
    bool cancelled = settings->conformance == CONFORMANCE_SLURMCTLD && !omits_suspended(settings);
    if (table == &slurmdbd_steps)
        return cancelled;
    if (table == &job_table_state)
        return settings->conformance == CONFORMANCE_SLURMCTLD ||
               settings->priority_flags & PRIORITY_CALCULATE_RUNNING;
    if (table == &slurmdbd_coordinators)
        return settings->private || *settings->mail_from;
    if (table == &slurmdbd_users)
        return settings->private;
    return table != &slurmdbd_suspends || omits_suspended(settings) || cancelled;
}

/* Sets `*readable` if the table is wanted and can be read. */
static int find_readable(const struct source *source, const struct slurmdbd_table *table,
                         bool wanted, bool *readable, struct error *err)
{
    *readable = false;
    return wanted ? slurmdbd_probe_optional(source, table, readable, err) : 0;
}

static int take_registered(void *context, const struct db_value *row, struct error *err)
{
    struct passes *passes = context;
    (void)err;
    *memory_append(&passes->registered, &passes->count) = reading_number(&row[0]);
    return 0;
}

/*
 * Reads the times of slurmctld's registrations.  slurmctld registers when it starts with changed
 * TRES.
 */
static int read_registered(const struct source *source, struct passes *passes, struct error *err)
{
    static const struct query query = {
        .sql = "SELECT \"time_start\" FROM {} WHERE \"node_name\" = '' ORDER BY \"time_start\"",
        .types = "i"
    };
    return slurmdbd_read(source, &slurmdbd_events, &query, take_registered, passes, err);
}

int slurmdbd_find_passes(const struct source *source, struct accounting *accounting,
                         struct error *err)
{
    bool suspensions, steps, cancelled = slurmdbd_is_read(&slurmdbd_steps, source->settings);
    if (find_readable(source, &slurmdbd_suspends, cancelled, &suspensions, err) ||
        find_readable(source, &slurmdbd_steps, cancelled, &steps, err) ||
        find_readable(source, &job_table_state, charges_resized_again(source->settings),
                      &accounting->tells_resized, err))
        return -1;
    accounting->tells_cancelled = suspensions && steps;
    return accounting->tells_cancelled || accounting->tells_resized
               ? read_registered(source, &accounting->passes, err)
               : 0;
}

static void slurmdbd_table_add_name(struct text *text, const struct slurmdbd_table *table,
                                    const char *cluster)
{
    if (table->per_cluster)
        text_format(text, "%s_", cluster);
    text_add(text, table->suffix);
}

void slurmdbd_add_name(struct text *text, const struct slurmdbd_table *table, const char *cluster)
{
    struct text name = { 0 };
    slurmdbd_table_add_name(&name, table, cluster);
    text_add_identifier(text, name.bytes);
    text_free(&name);
}

/*
 * Adds the GRANT for a table.  Some tables contain private data, such as users' scripts,
 * environments and command lines.  Access to these tables is granted by column.  All other tables
 * are granted as a whole, because their columns vary between releases.
 */
static void slurmdbd_table_add_grant(struct text *text, const struct slurmdbd_table *table,
                                     const struct db_settings *settings, const char *cluster)
{
    struct text name = { 0 };
    slurmdbd_table_add_name(&name, table, cluster);
    db_add_grant(text, settings, "SELECT", table->by_column ? table->needed : NULL, name.bytes);
    text_free(&name);
}

static void add_grant_line(struct text *text, const struct slurmdbd_table *table,
                           const struct settings *settings, const char *cluster, const char *before)
{
    struct text grant = { 0 };
    if (table->per_cluster == (cluster != NULL) && slurmdbd_is_read(table, settings))
        slurmdbd_table_add_grant(&grant, table, &settings->source, cluster ? cluster : "");
    /* A line break in a name would end the SQL comment, and the text after the line break would be
     * run as SQL. */
    if (grant.length && (!*before || !strpbrk(grant.bytes, "\r\n")))
        text_format(text, "%s%s;\n", before, grant.bytes);
    text_free(&grant);
}

/* Tables and columns that every release has. */
static const struct slurmdbd_table *const granted[] = {
    &slurmdbd_clusters,
    &slurmdbd_qos,
    &slurmdbd_tres,
    &slurmdbd_events,
    &slurmdbd_associations,
    &slurmdbd_jobs,
    &job_table_arrays,
    &job_table_state,
    &job_table_ids,
    &slurmdbd_steps,
    &slurmdbd_suspends,
    &slurmdbd_transactions,
    &slurmdbd_last_ran,
    &slurmdbd_coordinators,
    &slurmdbd_users,
    &slurmdbd_usage[SPAN_HOUR],
    &slurmdbd_usage[SPAN_DAY],
    &slurmdbd_usage[SPAN_MONTH],
};

void slurmdbd_add_grants(struct text *text, const struct settings *settings, const char *cluster)
{
    static const char newer[] = "-- Slurm 24.11 or later: ";
    for (size_t i = 0; i < sizeof granted / sizeof *granted; i++)
        add_grant_line(text, granted[i], settings, cluster, "");
    add_grant_line(text, &slurmdbd_cluster_usage[SPAN_DAY], settings, cluster, "");
    add_grant_line(text, &slurmdbd_cluster_usage[SPAN_MONTH], settings, cluster, "");
    add_grant_line(text, &slurmdbd_job_nodes, settings, cluster,
                   "-- For `fairmill ledger refund --node`: ");
    add_grant_line(text, &job_table_wanted, settings, cluster, newer);
    for (int span = 0; span < SPANS; span++)
        add_grant_line(text, &slurmdbd_qos_usage[span], settings, cluster, newer);
}

/* Sets `err` to the missing table or column and the GRANT that may help. */
static int fail_missing(const struct source *source, const struct slurmdbd_table *table,
                        const char *column, struct error *err)
{
    struct text name = { 0 }, grant = { 0 };
    struct db_settings told = *source->db->settings;
    char *login = told.login ? NULL : db_login(source->db);
    if (login)
        told.login = login;
    slurmdbd_table_add_name(&name, table, source->cluster);
    slurmdbd_table_add_grant(&grant, table, &told, source->cluster);
    free(login);
    fail(err, ERROR_MISSING, "%s%s%s'%s' of the accounting database is missing or not readable%s%s",
         column ? "column '" : "table ", column ? column : "", column ? "' of table " : "",
         name.bytes, grant.length ? "; if it exists, run: " : "", grant.length ? grant.bytes : "");
    text_free(&name);
    text_free(&grant);
    return -1;
}

/* The columns of a table that were found, one bit each. */
struct probe {
    const struct slurmdbd_table *table;
    unsigned needed, wanted;
    bool any;
};

static unsigned seen(const char *const *columns, size_t count, const struct db_value *name)
{
    for (unsigned i = 0; i < count && columns[i]; i++)
        if (strlen(columns[i]) == name->text.length &&
            !memcmp(columns[i], name->text.bytes, name->text.length))
            return 1u << i;
    return 0;
}

static int take_column(void *context, const struct db_value *row, struct error *err)
{
    struct probe *probe = context;
    (void)err;
    if (row[0].type != DB_TEXT)
        return 0;
    probe->any = true;
    probe->needed |= seen(probe->table->needed, COLUMNS_NEEDED, &row[0]);
    probe->wanted |= seen(probe->table->wanted, COLUMNS_WANTED, &row[0]);
    return 0;
}

int slurmdbd_probe(const struct source *source, const struct slurmdbd_table *table,
                   unsigned *wanted, struct error *err)
{
    struct db *db = source->db;
    struct probe found = { .table = table };
    struct text name = { 0 };
    slurmdbd_table_add_name(&name, table, source->cluster);
    struct db_value argument = db_text(name.bytes);
    const struct query query = { db->driver->columns_query, &argument, 1, "t", false };
    int result = db_check_table_name(db, name.bytes, err);
    if (!result)
        result = reading_each(db, &query, take_column, &found, err);
    text_free(&name);
    if (result)
        return -1;
    for (unsigned i = 0; i < COLUMNS_NEEDED && table->needed[i]; i++)
        if (!(found.needed >> i & 1))
            return fail_missing(source, table, found.any ? table->needed[i] : NULL, err);
    if (wanted)
        *wanted = found.wanted;
    return 0;
}

int slurmdbd_explain(const struct source *source, const struct slurmdbd_table *table,
                     struct error *err)
{
    if (err->class == ERROR_MISSING)
        err->class = ERROR_RETRY;
    struct text name = { 0 };
    slurmdbd_table_add_name(&name, table, source->cluster);
    fail_in(err, "cannot read '%s'", name.bytes);
    text_free(&name);
    return -1;
}

int slurmdbd_probe_optional(const struct source *source, const struct slurmdbd_table *table,
                            bool *there, struct error *err)
{
    *there = !slurmdbd_probe(source, table, NULL, err);
    return *there || err->class == ERROR_MISSING ? 0 : -1;
}

int slurmdbd_read(const struct source *source, const struct slurmdbd_table *table,
                  const struct query *query, row_taker take, void *context, struct error *err)
{
    struct query named = *query;
    struct text sql = { 0 };
    const char *place = strstr(query->sql, "{}");
    text_add_bytes(&sql, query->sql, (size_t)(place - query->sql));
    slurmdbd_add_name(&sql, table, source->cluster);
    text_add(&sql, place + strlen("{}"));
    named.sql = sql.bytes;
    int result = reading_each(source->db, &named, take, context, err);
    text_free(&sql);
    return result ? slurmdbd_explain(source, table, err) : 0;
}

int slurmdbd_probe_and_read(const struct source *source, const struct slurmdbd_table *table,
                            const struct query *query, row_taker take, void *context,
                            struct error *err)
{
    return slurmdbd_probe(source, table, NULL, err)
               ? -1
               : slurmdbd_read(source, table, query, take, context, err);
}

int slurmdbd_each_cluster(const struct source *source, row_taker take, void *context,
                          struct error *err)
{
    unsigned has;
    if (slurmdbd_probe(source, &slurmdbd_clusters, &has, err))
        return -1;
    struct text sql = { 0 };
    text_format(&sql, "SELECT \"name\", \"deleted\", %s, %s, %s FROM {}",
                has & HAS_CREATION_TIME ? "\"creation_time\"" : "0", has & HAS_ID ? "\"id\"" : "0",
                has & HAS_RPC_VERSION ? "\"rpc_version\"" : "0");
    const struct query query = { .sql = sql.bytes, .types = "tiiii" };
    int result = slurmdbd_read(source, &slurmdbd_clusters, &query, take, context, err);
    text_free(&sql);
    return result;
}

int slurmdbd_take_number(void *number, const struct db_value *row, struct error *err)
{
    (void)err;
    *(uint64_t *)number = reading_number(&row[0]);
    return 0;
}

struct db_value slurmdbd_time(uint64_t time)
{
    return db_integer(time > INT64_MAX ? INT64_MAX : (int64_t)time);
}

size_t slurmdbd_add_keys(struct text *sql, struct db_value *arguments, const uint64_t *keys,
                         size_t count)
{
    size_t some = count < KEYS_A_QUERY ? count : KEYS_A_QUERY;
    for (size_t i = 0; i < some; i++) {
        text_add(sql, i ? ", ?" : " IN (?");
        arguments[i] = db_unsigned(keys[i]);
    }
    text_add(sql, some ? ")" : " IN (NULL)");
    return some;
}

int slurmdbd_add_missing(struct text *text, const struct source *source, struct error *err)
{
    if (!source->db->driver->privileges)
        return 0;
    for (size_t i = 0; i < sizeof granted / sizeof *granted; i++) {
        const struct slurmdbd_table *table = granted[i];
        struct error why;
        if (table->per_cluster != (source->cluster != NULL) ||
            !slurmdbd_is_read(table, source->settings) ||
            !slurmdbd_probe(source, table, NULL, &why))
            continue;
        if (why.class != ERROR_MISSING) {
            *err = why;
            return -1;
        }
        struct text grant = { 0 };
        slurmdbd_table_add_grant(&grant, table, source->db->settings,
                                 source->cluster ? source->cluster : "");
        text_add(text, "    ");
        text_add_printable(text, grant.bytes);
        text_add(text, ";\n");
        text_free(&grant);
    }
    return 0;
}
