/* SPDX-License-Identifier: MIT */
#include "run/replays.h"

#include "compute/replay.h"
#include "results/schema.h"
#include "run/retry.h"
#include "run/run.h"
#include "settings/settings.h"
#include "util/error.h"

int replay_run(struct replay *replay, const struct settings *settings, struct db **source,
               size_t *readings, struct error *err)
{
    struct retry retry = { deadline_of(settings), 0 };
    *readings = 0;
    for (size_t done = 0; done < replay->count;) {
        size_t before = done;
        int result = replay_some(replay, &done, err);
        ++*readings;
        if (done > before)
            retry = (struct retry){ deadline_of(settings), 0 };
        if (!result)
            continue;
        bool gone = err->class == ERROR_GONE;
        if (!try_again(&retry, err))
            return -1;
        if (gone) {
            db_close(*source);
            *source = NULL;
            if (run_open_source(source, settings, err))
                return -1;
            replay->source.db = *source;
        }
    }
    return 0;
}

int replay_notes_find(const struct settings *settings, const char *cluster,
                      struct replay_notes *notes, struct error *err)
{
    struct db *results;
    *notes = (struct replay_notes){ 0 };
    if (results_open(&results, settings, DB_READER, err))
        return err->class == ERROR_MISSING ? 0 : -1;
    int result = db_begin(results, err) ? -1 : replay_notes_read(results, cluster, notes, err);
    db_rollback(results);
    db_close(results);
    return result ? results_explain(settings, err) : 0;
}
