/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/ledger/ledger.h"

#include <math.h>
#include <stdlib.h>

#include "command/show/computed_shares.h"
#include "results/private.h"
#include "compute/compute.h"
#include "compute/prior.h"
#include "compute/seal_plan.h"
#include "core/finding.h"
#include "db/db.h"
#include "report/forms.h"
#include "report/shares.h"
#include "report/terminal.h"
#include "results/seal_rows.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/text.h"

/* What an entry would do: the cluster is computed twice, each time from the seal as a run would,
 * so that it is not read as a whole where a run need not. */

struct scene {
    struct source source; /* as of an instant */
    struct db *results;
    char *source_identity;
    const struct kept_seal *kept;
};

/* *damaged: what was kept is of no use. */
static int compute_from_seal(const struct scene *scene, const struct prior *prior,
                             struct computation *computation, bool *damaged, struct error *err)
{
    struct seal_plan plan = { .kept = scene->kept, .source_identity = scene->source_identity };
    *computation = computation_of(&scene->source);
    if (compute_read(computation, prior, &plan, err)) {
        seal_plan_free(&plan);
        return -1;
    }
    int result = seal_plan_fold(&plan, computation, scene->results, damaged, err);
    if (!result && !*damaged)
        result = compute_values(computation, &plan, err);
    seal_plan_free(&plan);
    if (result || *damaged)
        computation_free(computation);
    return result;
}

static struct share_list *shares_with(const struct scene *scene, struct ledger *ledger,
                                      struct error *err)
{
    struct computation computation;
    const struct prior prior = { .ledger = ledger };
    bool damaged = false;
    if (compute_from_seal(scene, &prior, &computation, &damaged, err))
        return NULL;
    if (damaged) {
        computation = computation_of(&scene->source);
        if (compute_cluster(&computation, &prior, err))
            return NULL;
    }
    struct share_list *list =
        computed_shares(scene->source.settings, scene->source.cluster, &computation);
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

static int add_both(struct text *text, const struct scene *scene, struct ledger *before,
                    struct ledger *after, struct error *err)
{
    struct share_list *one = shares_with(scene, before, err);
    struct share_list *other = one ? shares_with(scene, after, err) : NULL;
    char *login = private_login(scene->source.settings);
    if (other) {
        share_list_hide_others(other, login);
        text_add(text, "as of ");
        form_add_instant(text, *scene->source.instant);
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

int ledger_add_effect(struct text *text, const struct source *source, struct db *results,
                      struct ledger *before, struct ledger *after, struct error *err)
{
    struct kept_seal kept = { .findings = findings_create() };
    struct scene scene = { *source, results, db_identity(source->db, err), &kept };
    int result = scene.source_identity ? 0 : -1;
    if (!result)
        result = seal_read(results, source->cluster, &kept, err);
    if (!result) {
        kept.ahead = kept.seal.kept && *source->instant < (int64_t)kept.seal.as_of;
        result = add_both(text, &scene, before, after, err);
    }
    kept_seal_free(&kept);
    free(scene.source_identity);
    return result;
}
