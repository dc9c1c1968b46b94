/* SPDX-License-Identifier: MIT */
#include "results/published_jobs.h"

#include <string.h>

#include "core/fairshare/release.h"
#include "report/priorities.h"
#include "results/published.h"
#include "settings/settings.h"
#include "sql.h"

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
};

static const char *text_of(struct prio_list *list, const struct db_value *value)
{
    return prio_list_text(list, value->text.bytes, value->text.length);
}

static void add_row(struct prio_list *list, const struct db_value *row)
{
    struct prio_row added = {
        .key =
            row[KEY].type == DB_UNSIGNED ? row[KEY].unsigned_integer : (uint64_t)row[KEY].integer,
        .id_job = row[ID].integer,
        .user = text_of(list, &row[USER]),
        .account = text_of(list, &row[ACCOUNT]),
        .partition = text_of(list, &row[PARTITION]),
        .qos = text_of(list, &row[QOS]),
        .best = row[BEST].integer == 1,
        .tres_factors = text_of(list, &row[TRES_FACTORS]),
        .tres_weighted = text_of(list, &row[TRES_WEIGHTED]),
        .site = db_value_integer(&row[SITE], 0),
        .nice = db_value_integer(&row[NICE], 0),
        .site_known = row[SITE].type == DB_INTEGER,
        .nice_known = row[NICE].type == DB_INTEGER,
        .priority = row[PRIORITY].integer,
        .norm = row[NORM].real,
    };
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        added.factor[part] = row[FACTORS + (int)part].real;
        added.weighted[part] = row[WEIGHTED + (int)part].real;
    }
    prio_list_add(list, &added);
}

int published_jobs_read(struct db *db, struct prio_list *list, struct error *err)
{
    const struct db_value *row;
    struct db_value cluster = db_text(list->cluster);
    struct db_rows *rows =
        db_query(db, sql_query_published_jobs, &cluster, 1, "iittttirrrrrrrrrrrrttiiir", err);
    while (db_fetch(rows, &row, err) > 0)
        add_row(list, row);
    return db_finish(rows);
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
    list->names_qos = release && release->sprio_names_qos;
    return list;
}
