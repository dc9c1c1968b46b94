/* SPDX-License-Identifier: MIT */
#include "report/job_differences.h"

#include <inttypes.h>
#include <stdlib.h>

#include <jansson.h>

#include "report/table.h"
#include "util/instant.h"
#include "util/memory.h"

static const char *const names[JOB_CAUSES] = {
    [JOB_CAUSE_NONE] = "",     [JOB_CAUSE_PASS] = "pass", [JOB_CAUSE_CONFORMANCE] = "conformance",
    [JOB_CAUSE_NICE] = "nice", [JOB_CAUSE_SITE] = "site", [JOB_CAUSE_BY_HAND] = "by hand",
};

static const char *const meanings[JOB_CAUSES] = {
    [JOB_CAUSE_NONE] = "left unexplained",
    [JOB_CAUSE_PASS] = "slurmctld's ages are of its newest pass, up to a period ago",
    [JOB_CAUSE_CONFORMANCE] = "our conformance is another one than slurmctld's",
    [JOB_CAUSE_NICE] = "no accounting database has what --nice said",
    [JOB_CAUSE_SITE] = "no accounting database has what a site's plugin said",
    [JOB_CAUSE_BY_HAND] = "the priority was set by hand, and no factor counts",
};

static void get_why(const void *row, struct cell *cell)
{
    enum job_cause cause = ((const struct job_difference *)row)->cause;
    if (cause)
        cell_text(cell, names[cause]);
}

static void get_difference(const void *of, struct cell *cell)
{
    const struct job_difference *row = of;
    cell_real(cell, row->printed - row->ours);
}

static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "jobid", "JobID", COLUMN_INTEGER, MEMBER(struct job_difference, id_job) },
    { "partition", "Partition", COLUMN_TEXT, MEMBER(struct job_difference, partition) },
    { "qos_name", "QOSName", COLUMN_TEXT, MEMBER(struct job_difference, qos) },
    { "username", "User", COLUMN_TEXT, MEMBER(struct job_difference, user) },
    { "factor", "Factor", COLUMN_TEXT, MEMBER(struct job_difference, factor) },
    { "ours", "ours", COLUMN_REAL, MEMBER(struct job_difference, ours), .digits = 8 },
    { "sprio", "sprio", COLUMN_REAL, MEMBER(struct job_difference, printed), .digits = 8 },
    { "difference", "Difference", COLUMN_REAL, .get = get_difference, .digits = 8 },
    { "why", "Why", COLUMN_TEXT, .get = get_why, .optional = true },
    { .name = NULL },
};

const struct table_layout job_differences_layout = { columns, "differences", .by_cluster = true };

void job_differences_free(struct job_differences *differences)
{
    free(differences->rows);
    if (differences->texts)
        arena_destroy(differences->texts);
    *differences = (struct job_differences){ 0 };
}

static size_t count_of(const struct job_differences *differences, enum job_cause cause)
{
    size_t count = 0;
    for (size_t i = 0; i < differences->count; i++)
        count += differences->rows[i].cause == cause;
    return count;
}

bool job_differences_are_explained(const struct job_differences *differences)
{
    return !count_of(differences, JOB_CAUSE_NONE) && !differences->only_printed;
}

/* First what nobody explains: of the rest a page has the counts only. */
static void add_unexplained(struct text *text, const struct job_differences *differences)
{
    size_t count = 0;
    struct job_difference *rows = memory_zeroed(differences->count + 1, sizeof *rows);
    for (size_t i = 0; i < differences->count; i++)
        if (!differences->rows[i].cause)
            rows[count++] = differences->rows[i];
    text_add(text, "\n");
    if (count)
        table_add_paragraph(
            text, columns,
            &(struct table_rows){ .rows = rows, .count = count, .size = sizeof *rows });
    free(rows);
    text_format(text, "%s%zu rows of jobs were compared\n", count ? "\n" : "",
                differences->compared);
}

void job_differences_add_page(struct text *text, const struct job_differences *differences)
{
    size_t left = count_of(differences, JOB_CAUSE_NONE);
    text_add_printable(text, differences->cluster);
    text_add(text, ", printed ");
    instant_add(text, differences->printed_at);
    text_add(text, ", our values as of ");
    instant_add(text, differences->as_of);
    text_add(text, "\n");
    add_unexplained(text, differences);
    for (enum job_cause cause = JOB_CAUSE_PASS; cause < JOB_CAUSES; cause++)
        if (count_of(differences, cause))
            text_format(text, "%-11s  %zu: %s\n", names[cause], count_of(differences, cause),
                        meanings[cause]);
    if (differences->only_ours)
        text_format(
            text,
            "not in the print: %zu rows; sprio leaves out jobs that are held, that depend\n"
            "  on others, or that begin later, and no accounting database has all of that\n",
            differences->only_ours);
    if (differences->nice_unknown)
        text_add(text, "note: this print has no nice; sprio -l and its format %N print it\n");
    size_t start = text->length;
    if (job_differences_are_explained(differences))
        text_add(text, "left unexplained: nothing\n");
    else if (left)
        text_format(text, "left unexplained: %zu value%s\n", left, left > 1 ? "s" : "");
    if (differences->only_printed)
        text_format(text,
                    "only in the print: %zu rows, first of job %" PRId64
                    "; slurmctld tells slurmdbd\n"
                    "  of a new job some seconds later\n",
                    differences->only_printed, differences->first_only_printed);
    terminal_paint(text, start,
                   job_differences_are_explained(differences) ? PAINT_GOOD : PAINT_BAD);
}

static json_t *facts_of(const struct job_differences *differences)
{
    json_t *causes = json_array();
    for (enum job_cause cause = JOB_CAUSE_PASS; cause < JOB_CAUSES; cause++)
        json_array_append_new(causes, json_pack("{s:s, s:s, s:I}", "cause", names[cause], "meaning",
                                                meanings[cause], "values",
                                                (json_int_t)count_of(differences, cause)));
    return json_pack(
        "{s:I, s:I, s:b, s:I, s:I, s:I, s:I, s:o}", "as_of", (json_int_t)differences->as_of,
        "printed_at", (json_int_t)differences->printed_at, "explained",
        job_differences_are_explained(differences), "compared", (json_int_t)differences->compared,
        "left", (json_int_t)count_of(differences, JOB_CAUSE_NONE), "only_printed",
        (json_int_t)differences->only_printed, "only_ours", (json_int_t)differences->only_ours,
        "causes", causes);
}

void job_differences_print(const struct job_differences *differences, struct table *table)
{
    table_open(table, &(struct table_cluster){
                          .name = differences->cluster,
                          .facts = table_has_facts(table) ? facts_of(differences) : NULL });
    for (size_t i = 0; i < differences->count; i++)
        table_add(table, &differences->rows[i]);
    table_close(table);
}
