/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "core/number/figure.h"
#include "report/explained.h"
#include "report/permissions.h"
#include "report/table.h"
#include "report/terminal.h"
#include "report/usage_unit.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

#define SIBLINGS_SHOWN 10
#define USAGE_DIGITS 9

/*
 * Leaves the end of a running job empty, but shows a word on the page, which alone sets a context.
 */
static void get_end(const void *row, struct cell *cell)
{
    const struct job_contributor *job = row;
    if (job->end)
        cell_integer(cell, job->end);
    else if (cell->context)
        cell_text(cell, "running");
}

static const struct column job_columns[] = {
    CLUSTER_COLUMN,
    { "job", "Job", COLUMN_TEXT, MEMBER(struct job_contributor, job_id), .right = true,
      .hidden = ONLY_FOR_PEOPLE },
    { "id_job", "JobNumber", COLUMN_INTEGER, MEMBER(struct job_contributor, id_job),
      .hidden = NOT_FOR_PEOPLE },
    { "time_start", "Started", COLUMN_TIME, MEMBER(struct job_contributor, start),
      .hidden = NOT_FOR_PEOPLE },
    { "time_end", "Ended", COLUMN_TIME, .get = get_end },
    { "used", "Used", COLUMN_REAL, MEMBER(struct job_contributor, used), .decimals = 1 },
    { "left", "Left", COLUMN_REAL, MEMBER(struct job_contributor, left), .decimals = 1 },
    { "part", "Part", COLUMN_REAL, MEMBER(struct job_contributor, part) },
    { "username", "User", COLUMN_TEXT, MEMBER(struct job_contributor, user) },
    { "job_id", "JobID", COLUMN_TEXT, MEMBER(struct job_contributor, job_id),
      .hidden = NOT_FOR_PEOPLE },
    { .name = NULL },
};

const struct table_layout weights_layout = { job_columns, "jobs", .by_cluster = true,
                                             .has_page = true };

static const struct column day_columns[] = {
    { "day", "Day", COLUMN_DAY, MEMBER(struct day_contributor, first) },
    { "used", "Used", COLUMN_REAL, MEMBER(struct day_contributor, used), .decimals = 1 },
    { "left", "Left", COLUMN_REAL, MEMBER(struct day_contributor, left), .decimals = 1 },
    { "part", "Part", COLUMN_REAL, MEMBER(struct day_contributor, part) },
    { .name = NULL },
};

struct explanation_weights_sibling {
    int64_t id;
    const char *account, *user, *name;
    double usage_raw, level_usage;
};

static const struct column sibling_columns[] = {
    { "id_assoc", "ID", COLUMN_INTEGER, MEMBER(struct explanation_weights_sibling, id),
      .hidden = ONLY_IN_JSON },
    { "account", "Account", COLUMN_TEXT, MEMBER(struct explanation_weights_sibling, account),
      .hidden = ONLY_IN_JSON },
    { "username", "User", COLUMN_TEXT, MEMBER(struct explanation_weights_sibling, user),
      .hidden = ONLY_IN_JSON },
    { "usage_raw", "Usage", COLUMN_REAL, MEMBER(struct explanation_weights_sibling, usage_raw),
      .decimals = 1 },
    { "level_usage", "Part", COLUMN_REAL, MEMBER(struct explanation_weights_sibling, level_usage) },
    { "name", "Name", COLUMN_TEXT, MEMBER(struct explanation_weights_sibling, name),
      .hidden = ONLY_FOR_PEOPLE },
    { .name = NULL },
};

static int explanation_weights_by_usage(const void *a, const void *b, void *context)
{
    const struct tree *tree = context;
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    struct natural first = natural_of_wide(&tree->nodes[one].usage);
    struct natural second = natural_of_wide(&tree->nodes[other].usage);
    int order = natural_compare(&second, &first);
    return order ? order : (one > other) - (one < other);
}

static bool explanation_weights_is_shown(const struct explained *explained, const struct node *node)
{
    /* The children of a `parent` account are members themselves. */
    if (!node->is_user)
        return !node_has_parent_shares(node);
    return permissions_show(explained->permissions, explained->cluster,
                            names_text(explained->names, node->account),
                            names_text(explained->names, node->user));
}

/*
 * Fills `rows` with the siblings of `one`, including itself, that have the most usage.  Returns
 * their number.
 */
static size_t siblings_of(const struct explained *explained,
                          struct explanation_weights_sibling rows[SIBLINGS_SHOWN])
{
    const struct tree *tree = explained->input->tree;
    uint32_t one = explained->explanation->one, count = 0;
    if (!one)
        return 0;
    const struct node *above = &tree->nodes[tree->nodes[one].fairshare_parent];
    uint32_t *nodes = memory_zeroed(above->child_count, sizeof *nodes);
    for (uint32_t i = 0; i < above->child_count; i++) {
        uint32_t child = tree->children[above->first_child + i];
        if (explanation_weights_is_shown(explained, &tree->nodes[child]))
            nodes[count++] = child;
    }
    qsort_r(nodes, count, sizeof *nodes, explanation_weights_by_usage, (void *)tree);
    for (uint32_t i = 0; i < count && i < SIBLINGS_SHOWN; i++) {
        const struct node *node = &tree->nodes[nodes[i]];
        const struct values *values = &explained->input->values[nodes[i]];
        const char *account = names_text(explained->names, node->account);
        const char *user = names_text(explained->names, node->user);
        rows[i] = (struct explanation_weights_sibling){
            node->id,           account, user, node->is_user ? user : account, values->usage_raw,
            values->level_usage
        };
    }
    free(nodes);
    return count < SIBLINGS_SHOWN ? count : SIBLINGS_SHOWN;
}

static void explanation_weights_add_jobs(struct text *text, const struct explained *explained,
                                         const struct weights *weights)
{
    text_add(text, "\n");
    terminal_say(text, 0, "%s of %" PRIu64 " job records, before decay (Used) and after it (Left):",
                 permissions_only_login(explained->permissions) ? "Yours among the largest"
                                                                : "The largest",
                 weights->all_records);
    table_add_paragraph(text, job_columns,
                        &(struct table_rows){ weights->jobs, weights->job_count,
                                              sizeof *weights->jobs, .context = weights,
                                              .terms = explained->terms });
    terminal_say(
        text, 0, "The remaining usage of all records is %s %s%s%s; Part is a fraction of it.",
        figure_text(weights->left, USAGE_DIGITS).bytes, explained->unit ? "(" : "",
        explained->unit ? explained->unit : explained->usage->seconds, explained->unit ? ")" : "");
    double published = explained->input->values[explained->explanation->one].usage_raw;
    if (weights->left != published)
        text_format(text, "The published usage is %s.\n",
                    figure_text(published, USAGE_DIGITS).bytes);
    if (fabs(weights->ledger) > 0)
        text_format(text, "The ledger %s %s.\n", weights->ledger > 0 ? "adds" : "subtracts",
                    figure_text(fabs(weights->ledger), USAGE_DIGITS).bytes);
}

void weights_add_page(struct text *text, const struct explained *explained,
                      const struct weights *weights)
{
    struct explanation_weights_sibling siblings[SIBLINGS_SHOWN];
    size_t count = siblings_of(explained, siblings);
    if (weights->days_only) {
        text_add(text, "\n");
        terminal_add_wrapped(
            text,
            "Job records are not available, because the accounting database was not read. Days are "
            "from the published usage by day, as if it was spread evenly over each day.",
            0);
    } else {
        explanation_weights_add_jobs(text, explained, weights);
    }
    if (weights->day_count) {
        text_format(text, "\nThe largest of %zu days:\n", weights->all_days);
        table_add_paragraph(text, day_columns,
                            &(struct table_rows){ weights->days, weights->day_count,
                                                  sizeof *weights->days, .context = NULL });
    }
    if (count) {
        text_add(text, "\nThe siblings with the most usage:\n");
        table_add_paragraph(
            text, sibling_columns,
            &(struct table_rows){ siblings, count, sizeof *siblings, .context = NULL });
    }
}

void weights_add_facts(json_t *facts, const struct explained *explained,
                       const struct weights *weights)
{
    struct explanation_weights_sibling siblings[SIBLINGS_SHOWN];
    size_t count = siblings_of(explained, siblings);
    json_object_set_new(facts, "job_records",
                        weights->days_only ? json_null()
                                           : json_integer((json_int_t)weights->all_records));
    json_object_set_new(facts, "jobs_left",
                        weights->days_only ? json_null() : json_real(weights->left));
    json_object_set_new(facts, "days",
                        table_rows_json(day_columns, &(struct table_rows){
                                                         weights->days, weights->day_count,
                                                         sizeof *weights->days, .context = NULL }));
    json_object_set_new(
        facts, "siblings",
        table_rows_json(sibling_columns, &(struct table_rows){ siblings, count, sizeof *siblings,
                                                               .context = NULL }));
}
