/* SPDX-License-Identifier: MIT */
#include "results/published_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "core/fairshare/release.h"
#include "report/priorities.h"
#include "results/published.h"
#include "results/rows.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* The columns of sql_query_published_jobs. */
enum {
    KEY,
    ID,
    USER,
    ACCOUNT,
    PARTITION,
    QOS,
    BEST,
    FACTORS,
    WEIGHTED = FACTORS + PRIO_PARTS,
    TRES_FACTORS = WEIGHTED + PRIO_PARTS,
    TRES_WEIGHTED,
    SITE,
    NICE,
    PRIORITY,
    NORM,
    JOB_ID,
    VALUE,
    WHY,
    TIER,
    POOL,
    PLACE,
    REASON,
    DETAIL,
    ARRAY_JOB,
    ARRAY_TASK,
    HET_JOB,
    HET_OFFSET,
    CPUS,
    GPUS,
    LIMIT,
    ELIGIBLE,
};

static const char *published_jobs_text_of(struct prio_list *list, const struct db_value *value)
{
    if (value->type != DB_TEXT)
        return "";
    return prio_list_text(list, value->text.bytes, value->text.length);
}

static void published_jobs_add_row(struct prio_list *list, const struct db_value *row)
{
    struct prio_row added = {
        .key =
            row[KEY].type == DB_UNSIGNED ? row[KEY].unsigned_integer : (uint64_t)row[KEY].integer,
        .id_job = row[ID].integer,
        .user = published_jobs_text_of(list, &row[USER]),
        .account = published_jobs_text_of(list, &row[ACCOUNT]),
        .partition = published_jobs_text_of(list, &row[PARTITION]),
        .qos = published_jobs_text_of(list, &row[QOS]),
        .best = row[BEST].integer == 1,
        .tres_factors = published_jobs_text_of(list, &row[TRES_FACTORS]),
        .tres_weighted = published_jobs_text_of(list, &row[TRES_WEIGHTED]),
        .job_id = row[JOB_ID].type == DB_TEXT ? published_jobs_text_of(list, &row[JOB_ID]) : NULL,
        .site = db_value_integer(&row[SITE], 0),
        .nice = db_value_integer(&row[NICE], 0),
        .site_known = row[SITE].type == DB_INTEGER,
        .nice_known = row[NICE].type == DB_INTEGER,
        .priority = db_value_integer(&row[PRIORITY], 0),
        .has_priority = row[PRIORITY].type == DB_INTEGER,
        .norm = db_value_real(&row[NORM]),
        .of_formula = list->of_formula,
        .value = db_value_real(&row[VALUE]),
        .why = row[WHY].type == DB_TEXT ? published_jobs_text_of(list, &row[WHY]) : NULL,
        .terms = "",
        .tier = db_value_integer(&row[TIER], PRIO_UNKNOWN),
        .pool = published_jobs_text_of(list, &row[POOL]),
        .place = db_value_integer(&row[PLACE], 0),
        .reason = published_jobs_text_of(list, &row[REASON]),
        .detail = published_jobs_text_of(list, &row[DETAIL]),
        .array_job = db_value_integer(&row[ARRAY_JOB], 0),
        .array_task = db_value_integer(&row[ARRAY_TASK], PRIO_UNKNOWN),
        .het_job = db_value_integer(&row[HET_JOB], 0),
        .het_offset = db_value_integer(&row[HET_OFFSET], PRIO_UNKNOWN),
        .facts = { .cpus = db_value_integer(&row[CPUS], JOB_FACT_UNKNOWN),
                   .gpus = db_value_integer(&row[GPUS], JOB_FACT_UNKNOWN),
                   .limit_s = db_value_integer(&row[LIMIT], JOB_FACT_UNKNOWN),
                   .eligible_at = db_value_integer(&row[ELIGIBLE], JOB_FACT_UNKNOWN) },
    };
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        added.factor[part] = db_value_real(&row[FACTORS + (int)part]);
        added.weighted[part] = db_value_real(&row[WEIGHTED + (int)part]);
    }
    prio_list_add(list, &added);
}

/* ---- values of the names in a formula ---- */

struct published_jobs_term {
    uint32_t row; /* in the list */
    struct prio_term term;
};
struct published_jobs_terms {
    struct id_index *rows; /* by key */
    struct published_jobs_term *list;
    size_t count;
};

static void published_jobs_take_term(struct published_jobs_terms *terms, struct prio_list *list,
                                     const struct db_value *row)
{
    uint64_t key = row[0].type == DB_UNSIGNED ? row[0].unsigned_integer : (uint64_t)row[0].integer;
    uint32_t at = id_index_find(terms->rows, key);
    if (at == INDEX_NONE)
        return;
    *memory_append(&terms->list, &terms->count) = (struct published_jobs_term){
        at, { published_jobs_text_of(list, &row[1]), db_value_real(&row[2]) }
    };
}

static int by_row(const void *a, const void *b)
{
    const struct published_jobs_term *one = a, *other = b;
    return one->row != other->row ? (one->row > other->row ? 1 : -1)
                                  : strcmp(one->term.name, other->term.name);
}

/*
 * Sets the terms of a row to the terms from index `from` up to but not including `to` in the sorted
 * list, and builds their text.
 */
static void give_terms(struct prio_list *list, const struct published_jobs_terms *terms,
                       size_t from, size_t to)
{
    struct prio_row *row = &list->rows[terms->list[from].row];
    struct prio_term *own = arena_take(list->arena, (to - from) * sizeof *own);
    struct text text = { 0 };
    for (size_t i = from; i < to; i++) {
        own[i - from] = terms->list[i].term;
        text_format(&text, "%s%s=%.10g", i > from ? " " : "", own[i - from].name,
                    own[i - from].value);
    }
    row->first_term = own;
    row->term_count = to - from;
    row->terms = arena_copy(list->arena, text.bytes, text.length);
    text_free(&text);
}

static int read_terms(struct db *db, struct prio_list *list, struct error *err)
{
    struct published_jobs_terms terms = { .rows = id_index_create() };
    const struct db_value *row;
    struct db_value cluster = db_text(list->cluster);
    for (size_t i = 0; i < list->count; i++)
        id_index_add(terms.rows, list->rows[i].key, (uint32_t)i);
    struct db_rows *rows = db_query(db, sql_query_published_terms, &cluster, 1, "itr", err);
    while (db_fetch(rows, &row, err) > 0)
        published_jobs_take_term(&terms, list, row);
    int result = db_finish(rows);
    if (terms.count)
        qsort(terms.list, terms.count, sizeof *terms.list, by_row);
    for (size_t from = 0, to; from < terms.count; from = to) {
        for (to = from + 1; to < terms.count && terms.list[to].row == terms.list[from].row; to++)
            ;
        give_terms(list, &terms, from, to);
    }
    id_index_destroy(terms.rows);
    free(terms.list);
    return result;
}

int published_jobs_read(struct db *db, struct prio_list *list, const char *user, struct error *err)
{
    const struct db_value *row;
    struct db_value arguments[2] = { db_text(list->cluster) };
    struct text sql = { 0 }, user_text = { 0 };
    text_add(&sql, sql_query_published_jobs);
    if (user) {
        text_add(&sql, " AND \"user_name\" = ?");
        arguments[1] = rows_text(user, &user_text);
    }
    struct db_rows *rows = db_query(db, sql.bytes, arguments, user ? 2 : 1,
                                    "iittttirrrrrrrrrrrrttiiirtrtitittiiiiiiii", err);
    text_free(&sql);
    while (db_fetch(rows, &row, err) > 0)
        published_jobs_add_row(list, row);
    text_free(&user_text);
    if (db_finish(rows))
        return -1;
    return list->of_formula ? read_terms(db, list, err) : 0;
}

struct prio_list *published_job_list(const struct published_cluster *cluster)
{
    const struct settings *settings = cluster->settings;
    const struct release *release = cluster->options.release;
    struct prio_list *list = prio_list_create(cluster->name, cluster->as_of);
    list->weights = (struct prio_weights){
        .of = { settings->weight_age, settings->weight_assoc, settings->weight_fairshare,
                settings->weight_job_size, settings->weight_partition, settings->weight_qos },
        .tres = prio_list_text(list, settings->weight_tres, strlen(settings->weight_tres)),
    };
    list->of_formula = scheduler_of(settings)->orders_by_formula;
    list->names_qos = release_follows(release, RULE_SPRIO_NAMES_QOS);
    return list;
}
