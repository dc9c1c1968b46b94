/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/memories.h"

#include <time.h>

#include "core/ledger.h"
#include "core/past.h"
#include "db/db.h"
#include "results/ledger_rows.h"
#include "results/schema.h"
#include "results/share_rows.h"
#include "util/error.h"

static int read_past(struct memories *memories, const struct settings *settings,
                     const char *cluster, int64_t now, struct error *err)
{
    struct db *results;
    if (results_open(&results, settings, DB_READER, err))
        return -1;
    memories->remembered.past = past_create(now);
    int result = share_rows_read(results, cluster, memories->remembered.past, err);
    db_close(results);
    return result ? results_explain(settings, err) : 0;
}

int memories_read(struct memories *memories, const struct settings *settings, const char *cluster,
                  const int64_t *now, struct error *err)
{
    *memories = (struct memories){ 0 };
    int result = ledger_look_up(settings, cluster, &memories->ledger, err);
    memories->remembered.ledger = memories->ledger;
    if (!result && now && *now < time(NULL))
        result = read_past(memories, settings, cluster, *now, err);
    if (result)
        memories_free(memories);
    return result;
}

void memories_free(struct memories *memories)
{
    ledger_destroy(memories->ledger);
    past_destroy(memories->remembered.past);
    *memories = (struct memories){ 0 };
}
