/* SPDX-License-Identifier: MIT */
#include "results/published.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/fairshare/algorithm.h"
#include "core/fairshare/release.h"
#include "core/finding.h"
#include "core/tree/tree.h"
#include "report/column.h"
#include "results/health.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/schema.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/* The published clusters. */

/* Adds a cluster from a row of sql_query_published_clusters. */
static int published_add_cluster(struct published *published, const struct db_value *row,
                                 struct error *err)
{
    char *algorithm = db_value_text(&row[1]), *conformance = db_value_text(&row[2]),
         *recorded = db_value_text(&row[6]), *slurm_version = db_value_text(&row[7]);
    struct settings *settings = settings_recorded(recorded);
    bool slurmctld = !strcmp(conformance, conformance_name(CONFORMANCE_SLURMCTLD));
    struct published_cluster *cluster = memory_append(&published->clusters, &published->count);
    *cluster = (struct published_cluster){
        .name = db_value_text(&row[0]),
        .algorithm = algorithm_named(algorithm),
        .as_of = row[3].integer,
        .half_life = (uint64_t)row[4].integer,
        .associations = db_value_integer(&row[9], 0),
        .users = db_value_integer(&row[10], 0),
        .version = db_value_text(&row[11]),
        .time_zone = db_value_text(&row[5]),
        .settings = settings,
        .usage_unit = row[8].type == DB_TEXT ? db_value_text(&row[8])
                                             : utf8_copy(USAGE_UNIT, strlen(USAGE_UNIT)),
        .options = { .conformance = slurmctld ? CONFORMANCE_SLURMCTLD : CONFORMANCE_DOCUMENTS,
                     .dampening = settings->dampening,
                     .pbs_minimum_usage = settings->pbs_minimum_usage,
                     .capacity = NAN,
                     .release = release_named(slurm_version) },
    };
    free(algorithm);
    free(conformance);
    free(recorded);
    free(slurm_version);
    return cluster->algorithm ? 0
                              : fail(err, ERROR_DATA,
                                     "fairmill_run contains an unknown algorithm; a newer fairmill "
                                     "may have written it");
}

static int published_read_clusters(struct published *published, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows =
        db_query(published->db, sql_query_published_clusters, NULL, 0, "tttiittttiit", err);
    int result = 0;
    while (!result && db_fetch(rows, &row, err) > 0)
        result = published_add_cluster(published, row, err);
    return db_finish(rows) || result ? -1 : 0;
}

const char *published_zone(const struct published *published)
{
    const char *zone = published->count ? published->clusters[0].time_zone : NULL;
    for (size_t i = 1; i < published->count; i++)
        if (strcmp(published->clusters[i].time_zone, zone) != 0)
            return NULL;
    return zone && strcmp(zone, "system") != 0 ? zone : NULL;
}

struct reset_period published_reset_period(const struct published_cluster *cluster)
{
    struct reset_period period = cluster->settings->reset_period;
    if (!time_parse(cluster->settings->reset_anchor, &period.anchor))
        period.anchor = 0;
    return period;
}

int published_begin(struct published *published, const struct settings *settings, struct error *err)
{
    *published = (struct published){ .permissions = permissions_of_user(settings) };
    if (results_open(&published->db, settings, DB_READER, err))
        return -1;
    return db_begin(published->db, err) || published_read_clusters(published, err) ||
                   permissions_read_scopes(&published->permissions, settings, published->db, err)
               ? -1
               : 0;
}

static void cluster_free_tree(struct published_cluster *cluster)
{
    tree_destroy(cluster->tree);
    free(cluster->values);
    free(cluster->order);
    free(cluster->places);
    decay_table_destroy(cluster->decay);
    if (cluster->names)
        names_destroy(cluster->names);
    cluster->tree = NULL;
    cluster->values = NULL;
    cluster->order = NULL;
    cluster->places = NULL;
    cluster->decay = NULL;
    cluster->names = NULL;
    cluster->is_part = false;
}

static void cluster_free(struct published_cluster *cluster)
{
    free(cluster->name);
    free(cluster->version);
    free(cluster->usage_unit);
    free(cluster->time_zone);
    settings_destroy(cluster->settings);
    cluster_free_tree(cluster);
}

bool published_has(const struct published *published, const char *asked)
{
    for (size_t i = 0; i < published->count; i++)
        if (name_is(asked, published->clusters[i].name))
            return true;
    return false;
}

static bool is_published(const void *published, const char *asked)
{
    return published_has(published, asked);
}

/* Releases that differ only in the last number have the same tables. */
static void published_warn_of_release(const struct published_cluster *cluster)
{
    size_t length = (size_t)(strrchr(PACKAGE_VERSION, '.') - PACKAGE_VERSION) + 1;
    if (strncmp(cluster->version, PACKAGE_VERSION, length) != 0)
        log_warning(
            "the results of cluster '%s' are from fairmill %s; until the next run, they lack "
            "what " PACKAGE_VERSION " adds",
            cluster->name, cluster->version);
}

int published_warn(const struct published *published, struct error *err)
{
    static bool warned;
    for (size_t i = 0; !warned && i < published->count; i++) {
        struct text warning = { 0 };
        published_warn_of_release(&published->clusters[i]);
        int result = health_add_age_warning(published->db, published->clusters[i].name,
                                            published->clusters[i].as_of, &warning, err);
        if (warning.length)
            log_warning("%s", warning.bytes);
        text_free(&warning);
        if (result)
            return -1;
    }
    warned = true;
    return 0;
}

int published_select(struct published *published, const struct published_filter *filter,
                     struct error *err)
{
    size_t kept = 0;
    if (!published->count)
        return fail(err, ERROR_OTHER, "no results yet");
    for (size_t i = 0; i < filter->users.count; i++)
        if (permissions_check_name(&published->permissions,
                                   filter->of_jobs ? PRIVATE_JOBS : PRIVATE_USAGE,
                                   filter->users.values[i], err))
            return -1;
    if (name_list_check(&filter->clusters, "cluster", is_published, published, err))
        return -1;
    for (size_t i = 0; i < published->count; i++)
        if (name_list_wants(&filter->clusters, published->clusters[i].name))
            published->clusters[kept++] = published->clusters[i];
        else
            cluster_free(&published->clusters[i]);
    published->count = kept;
    published->filter = *filter;
    selection_begin(&published->selection,
                    (const struct name_list[]){ filter->names, filter->accounts, filter->users });
    return filter->of_any_age ? 0 : published_warn(published, err);
}

void published_close(struct published *published)
{
    db_rollback(published->db);
    db_close(published->db);
    published->db = NULL;
}

void published_free(struct published *published)
{
    published_close(published);
    for (size_t i = 0; i < published->count; i++)
        cluster_free(&published->clusters[i]);
    free(published->clusters);
    permissions_free(&published->permissions);
    selection_free(&published->selection);
    *published = (struct published){ 0 };
}

const struct terminology *published_words(const struct published *published, const char *cluster)
{
    for (size_t i = 0; i < published->count; i++)
        if (!cluster || !strcmp(published->clusters[i].name, cluster))
            return terminology_of(published->clusters[i].settings);
    return terminology_of(NULL);
}

const char *published_unit(const struct published_cluster *cluster)
{
    return scheduler_of(cluster->settings)->has_unit ? cluster->usage_unit : NULL;
}

double published_capacity(const struct published_cluster *cluster)
{
    const struct settings *settings = cluster->settings;
    double seconds = (double)cluster->half_life * settings->capacity_half_lives;
    return settings->capacity > 0 ? settings->capacity
           : seconds > 0          ? cluster->options.capacity / seconds
                                  : NAN;
}

unsigned published_private(const struct published *published)
{
    unsigned private = published->permissions.private;
    for (size_t i = 0; i < published->count; i++)
    private |= published->clusters[i].settings->private;
    return private;
}

struct published_cluster *published_only(const struct published *published, struct error *err)
{
    if (published->count == 1)
        return &published->clusters[0];
    fail(err, ERROR_USAGE, "there are %zu clusters; name one with --cluster", published->count);
    return NULL;
}

/* Rows of associations. */

/* The columns of sql_query_published_rows. */
enum { ID, PARENT_ID, ACCOUNT, USER, PARTITION, SHARES, RANK, ORDER, TIES, INFINITE, FIRST_VALUE };
enum { GRP_TRES_MINS = FIRST_VALUE + 17, TRES_RUN_MINS, IS_SET, PLACES };

static struct values published_values_of(const struct db_value *row)
{
    const struct db_value *value = &row[FIRST_VALUE];
    struct values values = {
        .shares_norm = db_value_real(&value[0]),
        .usage_raw = db_value_real(&value[1]),
        .usage_norm = db_value_real(&value[2]),
        .capacity_usage = db_value_real(&value[3]),
        .level_shares_norm = db_value_real(&value[4]),
        .level_usage = db_value_real(&value[5]),
        .classic_usage = db_value_real(&value[6]),
        .classic_factor = db_value_real(&value[7]),
        .linear_usage = db_value_real(&value[8]),
        .linear_factor = db_value_real(&value[9]),
        .depth_oblivious_ratio = db_value_real(&value[10]),
        .depth_oblivious_factor = db_value_real(&value[11]),
        .level_fs = db_value_real(&value[12]),
        .fair_tree_factor = db_value_real(&value[13]),
        .pbs_tree_usage = db_value_real(&value[14]),
        .pbs_factor = db_value_real(&value[15]),
        .depth_oblivious_usage = db_value_real(&value[16]),
        .fair_tree_rank = row[RANK].type == DB_INTEGER ? (uint32_t)row[RANK].integer : 0,
    };
    if (row[INFINITE].type == DB_INTEGER && row[INFINITE].integer)
        values.level_fs = INFINITY;
    return values;
}

/* A user has only places. */
static struct user_places published_places_of(const struct db_value *places)
{
    uint32_t first = (uint32_t)db_value_integer(&places[1], 0);
    return (struct user_places){
        .users = (uint32_t)db_value_integer(&places[0], first != 0),
        .first = first,
        .last = (uint32_t)db_value_integer(&places[2], 0),
        .interleaved = places[3].type == DB_INTEGER,
    };
}

void published_check_point(const char *cluster, int64_t id, int64_t at,
                           const struct db_value *values)
{
    static const char *const names[] = { "fairshare", "usage_raw", "level_fs" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct error err;
        struct text time = { 0 };
        if (values[i].type != DB_REAL || !isnan(values[i].real))
            continue;
        time_add(&time, at);
        fail(&err, ERROR_DATA,
             "fairmill_history of cluster '%s': association %" PRId64
             " at %s: '%s' is not a number",
             cluster, id, time.bytes, names[i]);
        complain(&err);
        text_free(&time);
    }
}

/* Returns the text with a terminating NUL, valid until the next row. */
static const char *text_in(struct text *text, const struct db_value *value)
{
    text->length = 0;
    text_add(text, "");
    text_add_bytes(text, value->text.bytes, value->text.length);
    return text->bytes;
}

static const char *text_or_null(struct text *text, const struct db_value *value)
{
    return value->type == DB_TEXT ? text_in(text, value) : NULL;
}

int published_read_rows_of(struct published *published, const struct published_cluster *cluster,
                           const struct row_ids *ids, published_row_taker *take, void *context,
                           struct error *err)
{
    const struct db_value *row;
    struct id_rows rows = { .db = published->db,
                            .sql = sql_query_published_rows,
                            .cluster = cluster->name,
                            .column_types = "iittti"
                                            "iiii"
                                            "rrrrrrrrrrrrrrrrr"
                                            "tti"
                                            "iiii",
                            .ids = ids };
    struct text names[5] = { { 0 } };
    const struct permissions *permissions = &published->permissions;
    bool of_jobs = published->filter.of_jobs;
    while (id_rows_fetch(&rows, &row, err) > 0) {
        bool parent_shares = row[SHARES].type != DB_INTEGER;
        struct published_row association = {
            .id = row[ID].integer,
            .parent_id = db_value_integer(&row[PARENT_ID], 0),
            .account = text_in(&names[0], &row[ACCOUNT]),
            .user = text_in(&names[1], &row[USER]),
            .partition = text_in(&names[2], &row[PARTITION]),
            .parent_shares = parent_shares,
            .shares = parent_shares ? 0 : row[SHARES].integer,
            .values = published_values_of(row),
            .order = row[ORDER].type == DB_INTEGER ? (uint32_t)row[ORDER].integer : 0,
            .grp_tres_mins = text_or_null(&names[3], &row[GRP_TRES_MINS]),
            .tres_run_mins = text_or_null(&names[4], &row[TRES_RUN_MINS]),
            .usage_is_set = row[IS_SET].type == DB_INTEGER,
            .places = published_places_of(&row[PLACES]),
            .tie_order = row[TIES].type == DB_INTEGER ? (uint32_t)row[TIES].integer : NO_TIE_ORDER,
        };
        /* Do not reveal whether a hidden user exists. */
        bool is_seen =
            permissions_show(permissions, cluster->name, association.account, association.user) &&
            (!of_jobs || permissions_show_job(permissions, cluster->name, association.account,
                                              association.user));
        selection_note(&published->selection,
                       &(const struct association_name){ association.account,
                                                         is_seen ? association.user : "",
                                                         is_seen ? association.partition : "" });
        take(context, &association);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        text_free(&names[i]);
    return id_rows_finish(&rows);
}

int published_read_rows(struct published *published, const struct published_cluster *cluster,
                        published_row_taker *take, void *context, struct error *err)
{
    return published_read_rows_of(published, cluster, NULL, take, context, err);
}

int published_check_names(const struct published *published, struct error *err)
{
    enum selection_kind kind;
    const char *missing = selection_missing(&published->selection, &kind);
    const char *const kinds[] = { [SELECTION_NAMES] = published_words(published, NULL)->either,
                                  [SELECTION_ACCOUNTS] = "account",
                                  [SELECTION_USERS] = "user" };
    if (!missing)
        return 0;
    return kind == SELECTION_NAMES &&
                   permissions_are_limited(&published->permissions, PRIVATE_USAGE)
               ? permissions_deny(missing, err)
               : name_unknown(kinds[kind], missing, err);
}

/* The tree. */

/* The rows while they are read: the input of the tree, and the published values. */
struct published_reading {
    struct names *names;
    struct association *rows;
    struct values *values;
    uint32_t *order;
    struct user_places *places;
    size_t count;
    uint32_t empty_name;
};

static uint32_t published_number_of(struct names *names, const char *name)
{
    return names_add(names, name, strlen(name));
}

static void published_add_row(void *context, const struct published_row *row)
{
    struct published_reading *reading = context;
    reading->rows = memory_grown(reading->rows, reading->count, sizeof *reading->rows);
    reading->values = memory_grown(reading->values, reading->count, sizeof *reading->values);
    reading->order = memory_grown(reading->order, reading->count, sizeof *reading->order);
    reading->places = memory_grown(reading->places, reading->count, sizeof *reading->places);
    uint32_t account = published_number_of(reading->names, row->account);
    reading->rows[reading->count] = (struct association){
        .id = (uint32_t)row->id,
        .parent_id = (uint32_t)row->parent_id,
        .account = account,
        .user = published_number_of(reading->names, row->user),
        .partition = published_number_of(reading->names, row->partition),
        .parent_account = row->parent_id ? account : reading->empty_name,
        .shares = row->parent_shares ? SHARES_PARENT : (int32_t)row->shares,
        .order = row->tie_order,
        .usage_is_set = row->usage_is_set,
    };
    reading->order[reading->count] = row->order;
    reading->places[reading->count] = row->places;
    reading->values[reading->count++] = row->values;
}

/*
 * Converts published usage to units of the decay table, rounded to the nearest unit.  Usage above 0
 * becomes at least one unit.  With decay, nothing needs to be rounded, because a unit is smaller
 * than the precision of a double.  Returns false if the usage is out of range.
 */
static bool published_usage_of(const struct decay_table *decay, double published,
                               struct wide *usage)
{
    if (!(published > 0))
        return true;
    double half = decay_table_half_life(decay) ? 0 : 0.5 / (double)UNITS_PER_TRES;
    if (!decay_table_sum_of(decay, published + half, usage))
        return false;
    if (wide_is_zero(usage))
        usage->word[0] = 1;
    return true;
}

/* Computes the order, because releases before 0.2.0 did not publish it. */
static void decide_order(struct published_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->tree->count; i++)
        if (cluster->order[i])
            return;
    free(cluster->order);
    cluster->order =
        order_of_all(cluster->tree, &cluster->options, cluster->algorithm, cluster->values);
}

/* Assigns the values that were read to their nodes. */
static int place_values(struct published_cluster *cluster, const struct published_reading *reading,
                        struct error *err)
{
    struct tree *tree = cluster->tree;
    cluster->decay = decay_table_create(cluster->half_life, (uint64_t)cluster->as_of, 0);
    cluster->options.decay = cluster->decay;
    cluster->values = memory_zeroed(tree->count, sizeof *cluster->values);
    cluster->order = memory_zeroed(tree->count, sizeof *cluster->order);
    cluster->places = memory_zeroed(tree->count, sizeof *cluster->places);
    bool fits = true;
    for (size_t i = 0; i < reading->count; i++) {
        uint32_t node = tree_place(tree, reading->rows[i].id);
        cluster->values[node] = reading->values[i];
        cluster->order[node] = reading->order[i];
        cluster->places[node] = reading->places[i];
        fits &= published_usage_of(cluster->decay, reading->values[i].usage_raw,
                                   &tree->nodes[node].usage);
    }
    if (!fits || !tree_sum_levels(tree))
        return fail(err, ERROR_DATA, "fairmill_fairshare contains a usage that is out of range");
    /*
     * Under `conformance = documents`, and by releases before 0.2.0, no order of ties is published.
     */
    if (tree->nodes[0].order == NO_TIE_ORDER)
        tree_order_by_lineage(tree, cluster->names);
    const struct values *root = &cluster->values[0];
    if (root->capacity_usage > 0)
        cluster->options.capacity = root->usage_raw / root->capacity_usage;
    decide_order(cluster);
    return 0;
}

int published_read_tree_of(struct published *published, struct published_cluster *cluster,
                           const struct row_ids *ids, struct error *err)
{
    struct findings *findings = findings_create();
    cluster_free_tree(cluster);
    struct published_reading reading = { .names = cluster->names = names_create() };
    reading.empty_name = names_add(cluster->names, "", 0);
    int result = published_read_rows_of(published, cluster, ids, published_add_row, &reading, err);
    if (!result && !reading.count)
        result = fail(err, ERROR_OTHER, "no results yet");
    if (!result) {
        result = tree_build(&cluster->tree,
                            &(struct associations){ reading.rows, reading.count, cluster->names,
                                                    reading.empty_name, .linked_by_id = true },
                            BAD_ROWS_FAIL, findings, err);
        if (result && !permissions_administer(&published->permissions, cluster->name))
            fail(err, err->class, "the published rows of cluster '%s' are damaged", cluster->name);
    }
    if (!result)
        result = place_values(cluster, &reading, err);
    free(reading.rows);
    free(reading.values);
    free(reading.order);
    free(reading.places);
    findings_destroy(findings);
    if (result)
        cluster_free_tree(cluster);
    return result;
}

int published_read_tree(struct published *published, struct published_cluster *cluster,
                        struct error *err)
{
    return published_read_tree_of(published, cluster, NULL, err);
}
