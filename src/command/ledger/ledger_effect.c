/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/ledger/ledger.h"

#include <math.h>
#include <stdlib.h>

#include "command/show/computed_shares.h"
#include "command/private.h"
#include "compute/compute.h"
#include "core/finding.h"
#include "db/db.h"
#include "report/shares.h"
#include "report/terminal.h"
#include "results/seal_rows.h"
#include "compute/seal_plan.h"
#include "util/error.h"
#include "util/index.h"
#include "util/text.h"

/* What an entry would do: the cluster is computed twice, each time from the seal as a run would,
 * so that it is not read as a whole where a run need not. */

struct scene {
    const struct settings *settings;
    struct db *source, *results;
    const char *cluster;
    char *source_identity;
    const struct kept_seal *kept;
    int64_t now;
};

/* *damaged: what was kept is of no use. */
static int compute_from_seal(const struct scene *scene, const struct ledger *ledger,
                             struct computation *computation, bool *damaged, struct error *err)
{
    struct sealing sealing = { .kept = scene->kept };
    const struct remembered remembered = { .ledger = ledger };
    if (compute_read(computation, scene->settings, scene->source, scene->cluster, &remembered,
                     &scene->now, false, &sealing, scene->source_identity, err)) {
        sealing_free(&sealing);
        return -1;
    }
    int result = sealing_fold(&sealing, computation, scene->results, scene->cluster, damaged, err);
    if (!result && !*damaged)
        result = compute_values(computation, scene->settings, &sealing, err);
    sealing_free(&sealing);
    if (result || *damaged)
        computation_free(computation);
    return result;
}

static struct share_list *shares_with(const struct scene *scene, const struct ledger *ledger,
                                      struct error *err)
{
    struct computation computation;
    const struct remembered remembered = { .ledger = ledger };
    bool damaged = false;
    if (compute_from_seal(scene, ledger, &computation, &damaged, err) ||
        (damaged && compute_cluster(&computation, scene->settings, scene->source, scene->cluster,
                                    &remembered, &scene->now, false, err)))
        return NULL;
    struct share_list *list = computed_shares(scene->settings, scene->cluster, &computation);
    computation_free(&computation);
    return list;
}

/* A name in so many columns of a terminal, or more where it is longer. */
static void add_column(struct text *text, const char *name, size_t width)
{
    struct text shown = { 0 };
    text_add_printable(&shown, name);
    size_t wide = shown.length ? utf8_width(shown.bytes) : 0;
    if (shown.length)
        text_add(text, shown.bytes);
    text_format(text, "%*s ", wide < width ? (int)(width - wide) : 0, "");
    text_free(&shown);
}

static void add_fairshare(struct text *text, double fairshare)
{
    if (isnan(fairshare))
        text_format(text, " %8s", "");
    else
        text_format(text, " %8.6f", fairshare);
}

static void add_change(struct text *text, const struct share_row *before,
                       const struct share_row *after)
{
    add_column(text, after->account, 12);
    add_column(text, after->user, 10);
    add_column(text, after->partition, 9);
    text_format(text, "%13.0f %13.0f", before->raw_usage, after->raw_usage);
    text_add(text, " ");
    add_fairshare(text, before->fairshare);
    add_fairshare(text, after->fairshare);
    while (text->bytes[text->length - 1] == ' ')
        text->bytes[--text->length] = '\0';
    text_add(text, "\n");
}

static bool differ(double one, double other)
{
    return one < other || one > other;
}

static void add_changes(struct text *text, const struct share_list *before,
                        const struct share_list *after)
{
    struct id_index *places = id_index_create();
    bool any = false;
    for (uint32_t i = 0; i < before->count; i++)
        id_index_add(places, (uint64_t)before->rows[i].id, i);
    for (size_t i = 0; i < after->count; i++) {
        const struct share_row *row = &after->rows[i];
        uint32_t place = id_index_find(places, (uint64_t)row->id);
        if (!row->shown || place == INDEX_NONE ||
            !differ(before->rows[place].raw_usage, row->raw_usage))
            continue;
        size_t start = text->length;
        if (!any)
            text_format(text, "%-12s %-10s %-9s %13s %13s %9s %8s\n", "Account", "User",
                        "Partition", "RawUsage", "then", "FairShare", "then");
        terminal_paint(text, start, PAINT_HEADING);
        any = true;
        add_change(text, &before->rows[place], row);
    }
    if (!any)
        text_add(text, "no usage changes\n");
    id_index_destroy(places);
}

static int add_both(struct text *text, const struct scene *scene, const struct ledger *before,
                    const struct ledger *after, struct error *err)
{
    struct share_list *one = shares_with(scene, before, err);
    struct share_list *other = one ? shares_with(scene, after, err) : NULL;
    char *login = private_login(scene->settings);
    if (other) {
        share_list_hide_others(other, login);
        text_add(text, "as of ");
        add_instant(text, scene->now);
        text_add(text, ":\n");
        add_changes(text, one, other);
    }
    if (one)
        share_list_destroy(one);
    if (other)
        share_list_destroy(other);
    free(login);
    return other ? 0 : -1;
}

int ledger_add_effect(struct text *text, const struct settings *settings, struct db *source,
                      struct db *results, const char *cluster, const struct ledger *before,
                      const struct ledger *after, int64_t now, struct error *err)
{
    struct kept_seal kept = { .findings = findings_create() };
    struct scene scene = {
        settings, source, results, cluster, db_identity(source, err), &kept, now,
    };
    int result = scene.source_identity ? 0 : -1;
    if (!result)
        result = seal_read(results, cluster, &kept, err);
    if (!result) {
        kept.ahead = kept.seal.kept && now < (int64_t)kept.seal.as_of;
        result = add_both(text, &scene, before, after, err);
    }
    kept_seal_free(&kept);
    free(scene.source_identity);
    return result;
}
