/* SPDX-License-Identifier: MIT */
#include "command/ledger/ledger_effect.h"

#include <stdlib.h>

#include "command/command_line.h"
#include "command/show/computed_shares.h"
#include "compute/compute.h"
#include "compute/recorded_state.h"
#include "report/shares.h"
#include "report/table.h"
#include "results/ledger_book.h"
#include "results/permissions_rows.h"
#include "results/slurm_difference.h"
#include "settings/scheduler.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/* The state for showing the effect of an entry.  The cluster is computed without and with the
 * entry.  Both computations start from the checkpoint, so they read no more jobs than a run would.
 */

struct effect {
    struct source source; /* as of a given time */
    struct checkpointed_read last;
    struct recorded_state notes; /* the recorded state, without a ledger */
};

static struct share_list *shares_with(struct effect *effect, struct ledger *ledger,
                                      struct error *err)
{
    struct computation computation = computation_of(&effect->source);
    const struct recorded_state recorded = { .ledger = ledger, .factors = effect->notes.factors };
    struct share_list *list = NULL;
    if (checkpointed_read_compute(&effect->last, &computation, &recorded, err))
        return NULL;
    if (!compute_values(&computation, NULL, err))
        list = computed_shares(effect->source.settings, effect->source.cluster, &computation);
    computation_free(&computation);
    return list;
}

/* An association's values before and after the entry is added to the ledger. */
struct effect_row {
    const struct share_row *before, *after;
};

#define SIDE(side, member) MEMBER_BEHIND(struct effect_row, side, struct share_row, member)
static const struct column columns[] = {
    { "account", "Account", COLUMN_TEXT, SIDE(after, account) },
    { "username", "User", COLUMN_TEXT, SIDE(after, user) },
    { "partition", "Partition", COLUMN_TEXT, SIDE(after, partition), .optional = true },
    { "rawusage_before", "RawUsage", COLUMN_USAGE, SIDE(before, raw_usage) },
    { "rawusage_after", "then", COLUMN_USAGE, SIDE(after, raw_usage) },
    { "fairshare_before", "FairShare", COLUMN_REAL, SIDE(before, fairshare) },
    { "fairshare_after", "then", COLUMN_REAL, SIDE(after, fairshare) },
    { .name = NULL },
};

static bool differ(double one, double other)
{
    return one < other || one > other;
}

static void ledger_effect_add_changes(struct text *text, const struct share_list *before,
                                      const struct share_list *after)
{
    struct effect_row *rows = memory_zeroed(after->count + 1, sizeof *rows);
    struct id_index *places = id_index_create();
    size_t count = 0;
    for (uint32_t i = 0; i < before->count; i++)
        id_index_add(places, (uint64_t)before->rows[i].id, i);
    for (size_t i = 0; i < after->count; i++) {
        const struct share_row *row = &after->rows[i];
        uint32_t place = id_index_find(places, (uint64_t)row->id);
        if (row->shown && place != INDEX_NONE &&
            differ(before->rows[place].raw_usage, row->raw_usage))
            rows[count++] = (struct effect_row){ &before->rows[place], row };
    }
    if (count)
        table_add_paragraph(
            text, columns,
            &(struct table_rows){ rows, count, sizeof *rows, .terms = before->terms });
    else
        text_add(text, "no usage would change\n");
    id_index_destroy(places);
    free(rows);
}

static int add_both(struct text *text, struct effect *effect, const struct permissions *permissions,
                    struct ledger *before, struct ledger *after, struct error *err)
{
    struct share_list *one = shares_with(effect, before, err);
    struct share_list *other = one ? shares_with(effect, after, err) : NULL;
    if (other) {
        share_list_hide_others(other, permissions);
        text_add(text, "as of ");
        time_add(text, *effect->source.time);
        text_add(text, ":\n");
        ledger_effect_add_changes(text, one, other);
    }
    if (one)
        share_list_destroy(one);
    if (other)
        share_list_destroy(other);
    return other ? 0 : -1;
}

int ledger_add_effect(struct text *text, const struct source *source, struct db *results,
                      struct ledger *before, struct ledger *after, struct error *err)
{
    struct effect effect = { .source = *source };
    if (checkpointed_read_begin(&effect.last, source, results, err))
        return -1;
    struct permissions permissions = permissions_of_user(source->settings);
    int result = recorded_state_read_records(&effect.notes, results, source->cluster, NULL, err);
    if (!result)
        result = permissions_read_scopes(&permissions, source->settings, results, err);
    if (!result)
        result = add_both(text, &effect, &permissions, before, after, err);
    permissions_free(&permissions);
    recorded_state_free(&effect.notes);
    checkpointed_read_free(&effect.last);
    return result;
}

void ledger_add_slurm_note(struct text *text, const struct settings *settings,
                           const struct ledger_record *record, bool from_now_on)
{
    struct command_line line = { 0 };
    if (!source_type_of(settings)->is_slurmdbd)
        return;
    text_format(text, "%s\n", slurm_difference_note(true));
    if (record->entry.kind != LEDGER_RESET || record->entry.of_cluster || !from_now_on)
        return;
    command_line_add_words(&line, *record->user ? "sacctmgr modify user where"
                                                : "sacctmgr modify account where");
    command_line_add_name(&line, "name", *record->user ? record->user : record->account);
    if (*record->user && *record->account)
        command_line_add_name(&line, "account", record->account);
    if (*record->partition)
        command_line_add_name(&line, "partition", record->partition);
    command_line_add_name(&line, "cluster", record->cluster);
    command_line_add_words(&line, "set rawusage=0");
    if (!line.obstacle)
        text_format(text, "To reset Slurm's usage, too:\n%s\n", line.text.bytes);
    text_free(&line.text);
}
