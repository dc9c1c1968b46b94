/* SPDX-License-Identifier: MIT */
#include "results/slurm_difference.h"

#include <string.h>

#include "core/fairshare/algorithm.h"
#include "db/db.h"
#include "results/published.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "sql.h"

const char *slurm_difference_note(bool advice)
{
    return advice ? "Slurm schedules by its own values unless `fairmill apply` gives it fairmill's."
                  : "Slurm schedules by its own values, which may differ from fairmill's.";
}

/* slurmctld has two algorithms.  It computes their values as with conformance = slurmctld. */
static bool slurm_computes(const struct published_cluster *cluster)
{
    const char *algorithm = cluster->algorithm->name;
    return cluster->settings->conformance == CONFORMANCE_SLURMCTLD &&
           (!strcmp(algorithm, "fair_tree") || !strcmp(algorithm, "classic"));
}

int slurm_difference_read(const struct published *published,
                          const struct published_cluster *cluster, bool *differs, struct error *err)
{
    const struct settings *settings = cluster->settings;
    const struct db_value name = db_text(cluster->name), *row;
    *differs = false;
    if (!source_type_of(settings)->is_slurmdbd)
        return 0;
    *differs = !settings->slurm_path || !*settings->slurm_path || !slurm_computes(cluster);
    if (*differs)
        return 0;
    struct db_rows *rows = db_query(published->db, sql_query_ledger_count, &name, 1, "i", err);
    if (db_fetch(rows, &row, err) > 0)
        *differs = row[0].integer > 0;
    return db_finish(rows);
}
