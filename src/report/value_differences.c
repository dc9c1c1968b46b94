/* SPDX-License-Identifier: MIT */
#include "report/value_differences.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/answer.h"
#include "util/memory.h"
#include "util/times.h"

#define FIRST_AT_MOST 36 /* maximum width in terminal columns */

static const struct {
    const char *name, *meaning;
} causes[VALUE_CAUSES] = {
    [VALUE_CAUSE_NONE] = { "", "" },
    [JOB_CAUSE_PASS] = { "pass", "slurmctld's ages are from its last cycle, up to a period ago" },
    [JOB_CAUSE_CONFORMANCE] = { "conformance",
                                "fairmill's conformance mode differs from slurmctld" },
    [JOB_CAUSE_NICE] = { "nice", "the accounting database does not contain --nice" },
    [JOB_CAUSE_SITE] = { "site", "the accounting database does not contain a plugin's value" },
    [JOB_CAUSE_BY_HAND] = { "by hand", "the priority was set by hand, so factors do not count" },
    [PBS_CAUSE_CYCLE] = { "cycle",
                          "OpenPBS adds the usage of running jobs at each cycle, and misses "
                          "usage\n         after a job's last cycle; the E record has all of it" },
    [PBS_CAUSE_RUNNING] = { "running",
                            "of running jobs, OpenPBS counts the usage until its last cycle; "
                            "fairmill\n         counts the requested resources until now" },
    [PBS_CAUSE_DECAY] = { "decay",
                          "OpenPBS applies fairshare_decay_factor at intervals; fairmill decays "
                          "usage\n         each second" },
    [PBS_CAUSE_LEDGER] = { "ledger", "fairmill's ledger, which OpenPBS does not know" },
    [PBS_CAUSE_TREE] = { "tree", "the output has a different resource_group than was imported" },
    [PBS_CAUSE_USAGE] = { "usage",
                          "it follows from the printed usage and percentages on its path" },
};

/*
 * For each kind, the causes from `first` to before `end`, the width of their names on the page, and
 * the objects that are compared.
 */
static const struct {
    enum value_cause first, end;
    int width;
    const char *compared;
} kinds[VALUE_KINDS] = {
    [VALUES_OF_JOBS] = { JOB_CAUSE_PASS, PBS_CAUSE_CYCLE, 11, "job rows" },
    [VALUES_OF_ENTITIES] = { PBS_CAUSE_CYCLE, VALUE_CAUSES, 7, "entities" },
};

static void get_why(const void *row, struct cell *cell)
{
    enum value_cause cause = ((const struct value_difference *)row)->cause;
    if (cause)
        cell_text(cell, causes[cause].name);
}

static const struct column job_columns[] = {
    CLUSTER_COLUMN,
    { "jobid", "JobID", COLUMN_INTEGER, MEMBER(struct value_difference, id_job) },
    { "partition", "Partition", COLUMN_TEXT, MEMBER(struct value_difference, partition) },
    { "qos_name", "QOSName", COLUMN_TEXT, MEMBER(struct value_difference, qos) },
    { "username", "User", COLUMN_TEXT, MEMBER(struct value_difference, user) },
    { "factor", "Factor", COLUMN_TEXT, MEMBER(struct value_difference, value) },
    { "ours", "ours", COLUMN_REAL, MEMBER(struct value_difference, ours), .digits = 8 },
    { "sprio", "sprio", COLUMN_REAL, MEMBER(struct value_difference, printed), .digits = 8 },
    { "difference", "Difference", COLUMN_REAL, MEMBER(struct value_difference, difference),
      .digits = 8 },
    { "why", "Why", COLUMN_TEXT, .get = get_why, .optional = true },
    { .name = NULL },
};

static const struct column entity_columns[] = {
    CLUSTER_COLUMN,
    { "entity", "Entity", COLUMN_TEXT, MEMBER(struct value_difference, user),
      .at_most = FIRST_AT_MOST },
    { "value", "Value", COLUMN_TEXT, MEMBER(struct value_difference, value) },
    { "ours", "ours", COLUMN_REAL, MEMBER(struct value_difference, ours), .digits = 10 },
    { "pbsfs", "pbsfs", COLUMN_REAL, MEMBER(struct value_difference, printed), .digits = 10 },
    { "difference", "Difference", COLUMN_REAL, MEMBER(struct value_difference, difference),
      .digits = 6 },
    { "why", "Why", COLUMN_TEXT, .get = get_why, .optional = true },
    { .name = NULL },
};

const struct table_layout value_differences_layouts[VALUE_KINDS] = {
    [VALUES_OF_JOBS] = { job_columns, "differences", .by_cluster = true, .has_page = true },
    [VALUES_OF_ENTITIES] = { entity_columns, "differences", .by_cluster = true, .has_page = true },
};

void value_differences_free(struct value_differences *differences)
{
    free(differences->rows);
    if (differences->texts)
        arena_destroy(differences->texts);
    *differences = (struct value_differences){ 0 };
}

const char *value_differences_copy(struct value_differences *differences, const char *text)
{
    return arena_copy(differences->texts, text, strlen(text));
}

void value_differences_add(struct value_differences *differences,
                           const struct value_difference *difference)
{
    struct value_difference *added = memory_append(&differences->rows, &differences->count);
    *added = *difference;
    added->difference = difference->printed - difference->ours;
}

void value_differences_note(struct value_differences *differences, const char *sentence)
{
    size_t count = 0;
    while (differences->notes[count])
        count++;
    differences->notes[count] = sentence;
}

static size_t value_cause_count(const struct value_differences *differences, enum value_cause cause)
{
    size_t count = 0;
    for (size_t i = 0; i < differences->count; i++)
        count += differences->rows[i].cause == cause;
    return count;
}

bool value_differences_are_explained(const struct value_differences *differences)
{
    return !value_cause_count(differences, VALUE_CAUSE_NONE) && !differences->only_printed &&
           (differences->kind == VALUES_OF_JOBS ||
            (!differences->only_ours && !differences->other_unit));
}

/* For jobs, lists only the differences without a cause; the page shows the number of other
 * differences for each cause. */
static void add_differing(struct text *text, const struct value_differences *differences)
{
    size_t count = 0;
    struct value_difference *rows = memory_zeroed(differences->count + 1, sizeof *rows);
    for (size_t i = 0; i < differences->count; i++)
        if (differences->kind == VALUES_OF_ENTITIES || !differences->rows[i].cause)
            rows[count++] = differences->rows[i];
    if (count)
        table_add_paragraph(
            text, value_differences_layouts[differences->kind].columns,
            &(struct table_rows){ .rows = rows, .count = count, .size = sizeof *rows });
    free(rows);
    text_format(text, "%s%zu %s were compared\n", count ? "\n" : "", differences->compared,
                kinds[differences->kind].compared);
}

static void add_missing_entities(struct text *text, const char *where, size_t count,
                                 const char *first)
{
    if (count)
        text_format_printable(text, "%s: %zu entit%s, first %s\n", where, count,
                              count == 1 ? "y" : "ies", first);
}

static void value_differences_add_missing(struct text *text,
                                          const struct value_differences *differences)
{
    if (differences->kind == VALUES_OF_ENTITIES) {
        add_missing_entities(text, "only in the output", differences->only_printed,
                             differences->first_only_printed);
        add_missing_entities(text, "not in the output", differences->only_ours,
                             differences->first_only_ours);
    } else if (differences->only_printed) {
        text_format(text,
                    "only in the output: %zu rows, first of job %" PRId64 "; slurmctld reports\n"
                    "  new jobs to slurmdbd some seconds later\n",
                    differences->only_printed, differences->first_job_printed);
    }
}

static void value_differences_add_left(struct text *text,
                                       const struct value_differences *differences)
{
    size_t start = text->length, left = value_cause_count(differences, VALUE_CAUSE_NONE);
    bool explained = value_differences_are_explained(differences);
    if (explained)
        text_add(text, "left unexplained: nothing\n");
    else if (left)
        text_format(text, "left unexplained: %zu value%s\n", left, left > 1 ? "s" : "");
    if (differences->other_unit)
        text_format_printable(text, "the output counts usage in %s, fairmill's run in %s\n",
                              differences->other_unit, differences->unit);
    value_differences_add_missing(text, differences);
    terminal_paint(text, start, explained ? PAINT_GOOD : PAINT_BAD);
}

static void value_differences_add_page(struct text *text,
                                       const struct value_differences *differences)
{
    text_format_printable(text, "%s, printed %s, fairmill's values as of %s\n\n",
                          differences->cluster, time_text(differences->printed_at).bytes,
                          time_text(differences->as_of).bytes);
    add_differing(text, differences);
    for (enum value_cause cause = kinds[differences->kind].first;
         cause < kinds[differences->kind].end; cause++)
        if (value_cause_count(differences, cause))
            text_format(text, "%-*s  %zu: %s\n", kinds[differences->kind].width, causes[cause].name,
                        value_cause_count(differences, cause), causes[cause].meaning);
    if (differences->kind == VALUES_OF_JOBS && differences->only_ours)
        text_format(
            text,
            "not in the output: %zu rows; sprio omits jobs that are held, depend on other\n"
            "  jobs or begin later, and the accounting database does not have all of this\n",
            differences->only_ours);
    for (size_t i = 0; differences->notes[i]; i++)
        text_format(text, "note: %s\n", differences->notes[i]);
    value_differences_add_left(text, differences);
}

/* Returns the meaning of a cause in one line. */
static json_t *json_of_meaning(enum value_cause cause)
{
    struct text text = { 0 };
    bool blank = false;
    for (const char *at = causes[cause].meaning; *at; at++) {
        bool is_blank = *at == ' ' || *at == '\n';
        if (!is_blank)
            text_format(&text, "%s%c", blank ? " " : "", *at);
        blank = is_blank;
    }
    json_t *meaning = json_string(text.bytes);
    text_free(&text);
    return meaning;
}

static json_t *value_facts(const struct value_differences *differences)
{
    bool of_entities = differences->kind == VALUES_OF_ENTITIES;
    json_t *counts = json_array(), *notes = of_entities ? json_array() : NULL;
    for (enum value_cause cause = kinds[differences->kind].first;
         cause < kinds[differences->kind].end; cause++)
        json_array_append_new(counts, json_pack("{s:s, s:o, s:I}", "cause", causes[cause].name,
                                                "meaning", json_of_meaning(cause), "values",
                                                (json_int_t)value_cause_count(differences, cause)));
    for (size_t i = 0; notes && differences->notes[i]; i++)
        json_array_append_new(notes, json_string(differences->notes[i]));
    const char *printed_unit =
        differences->other_unit ? differences->other_unit : differences->unit;
    return json_pack("{s:I, s:I, s:o*, s:b, s:s*, s:s*, s:I, s:I, s:I, s:I, s:o, s:o*}", "as_of",
                     (json_int_t)differences->as_of, "printed_at",
                     (json_int_t)differences->printed_at, "period",
                     of_entities ? json_integer((json_int_t)differences->cycle) : NULL, "explained",
                     value_differences_are_explained(differences), "unit", differences->unit,
                     "printed_unit", printed_unit, "compared", (json_int_t)differences->compared,
                     "left", (json_int_t)value_cause_count(differences, VALUE_CAUSE_NONE),
                     "only_printed", (json_int_t)differences->only_printed, "only_ours",
                     (json_int_t)differences->only_ours, "causes", counts, "notes", notes);
}

void value_differences_answer(const struct value_differences *differences, struct answer *answer)
{
    bool wants_facts = answer_wants_facts(answer);
    if (answer_wants_page(answer)) {
        value_differences_add_page(answer_text(answer), differences);
        return;
    }
    answer_cluster(
        answer, &(struct table_cluster){ .name = differences->cluster,
                                         .facts = wants_facts ? value_facts(differences) : NULL });
    for (size_t i = 0; i < differences->count; i++)
        answer_row(answer, &differences->rows[i]);
}
