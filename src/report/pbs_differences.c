/* SPDX-License-Identifier: MIT */
#include "report/pbs_differences.h"

#include <inttypes.h>
#include <stdlib.h>

#include <jansson.h>

#include "report/table.h"
#include "util/instant.h"
#include "util/memory.h"

#define FIRST_AT_MOST 36 /* columns of the terminal */

static const char *const names[PBS_CAUSES] = {
    [PBS_CAUSE_NONE] = "",       [PBS_CAUSE_CYCLE] = "cycle",   [PBS_CAUSE_RUNNING] = "running",
    [PBS_CAUSE_DECAY] = "decay", [PBS_CAUSE_LEDGER] = "ledger", [PBS_CAUSE_TREE] = "tree",
    [PBS_CAUSE_USAGE] = "usage",
};

static const char *const meanings[PBS_CAUSES] = {
    [PBS_CAUSE_NONE] = "left unexplained",
    [PBS_CAUSE_CYCLE] =
        "OpenPBS adds what it sees of running jobs at each cycle, and loses what a\n"
        "         job used behind its last look; its E record has all of it",
    [PBS_CAUSE_RUNNING] =
        "of jobs that run OpenPBS has what they had used at its last cycle, and we\n"
        "         what they asked for, all the time until now",
    [PBS_CAUSE_DECAY] =
        "OpenPBS multiplies by fairshare_decay_factor at once, ours decays by each\n"
        "         second",
    [PBS_CAUSE_LEDGER] = "our ledger, which OpenPBS does not know",
    [PBS_CAUSE_TREE] = "the print has another resource_group than was imported",
    [PBS_CAUSE_USAGE] = "it follows from the usage and percentages on its path in the print",
};

static void get_why(const void *row, struct cell *cell)
{
    enum pbs_cause cause = ((const struct pbs_difference *)row)->cause;
    if (cause)
        cell_text(cell, names[cause]);
}

static void get_difference(const void *of, struct cell *cell)
{
    const struct pbs_difference *row = of;
    cell_real(cell, row->printed - row->ours);
}

static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "entity", "Entity", COLUMN_TEXT, MEMBER(struct pbs_difference, entity),
      .at_most = FIRST_AT_MOST },
    { "value", "Value", COLUMN_TEXT, MEMBER(struct pbs_difference, value) },
    { "ours", "ours", COLUMN_REAL, MEMBER(struct pbs_difference, ours), .digits = 10 },
    { "pbsfs", "pbsfs", COLUMN_REAL, MEMBER(struct pbs_difference, printed), .digits = 10 },
    { "difference", "Difference", COLUMN_REAL, .get = get_difference, .digits = 6 },
    { "why", "Why", COLUMN_TEXT, .get = get_why, .optional = true },
    { .name = NULL },
};

const struct table_layout pbs_differences_layout = { columns, "differences", .by_cluster = true };

void pbs_differences_free(struct pbs_differences *differences)
{
    free(differences->rows);
    if (differences->texts)
        arena_destroy(differences->texts);
    *differences = (struct pbs_differences){ 0 };
}

static size_t count_of(const struct pbs_differences *differences, enum pbs_cause cause)
{
    size_t count = 0;
    for (size_t i = 0; i < differences->count; i++)
        count += differences->rows[i].cause == cause;
    return count;
}

bool pbs_differences_are_explained(const struct pbs_differences *differences)
{
    return !count_of(differences, PBS_CAUSE_NONE) && !differences->only_printed &&
           !differences->only_ours && !differences->other_unit;
}

static void add_missing(struct text *text, const char *where, size_t count, const char *first)
{
    if (!count)
        return;
    text_format(text, "%s: %zu entit%s, first ", where, count, count == 1 ? "y" : "ies");
    text_add_printable(text, first);
    text_add(text, "\n");
}

static void add_left(struct text *text, const struct pbs_differences *differences)
{
    size_t start = text->length, left = count_of(differences, PBS_CAUSE_NONE);
    bool explained = pbs_differences_are_explained(differences);
    if (explained)
        text_add(text, "left unexplained: nothing\n");
    else if (left)
        text_format(text, "left unexplained: %zu value%s\n", left, left > 1 ? "s" : "");
    if (differences->other_unit) {
        text_add(text, "the print counts usage in ");
        text_add_printable(text, differences->other_unit);
        text_add(text, ", our run in ");
        text_add_printable(text, differences->unit);
        text_add(text, "\n");
    }
    add_missing(text, "only in the print", differences->only_printed,
                differences->first_only_printed);
    add_missing(text, "not in the print", differences->only_ours, differences->first_only_ours);
    terminal_paint(text, start, explained ? PAINT_GOOD : PAINT_BAD);
}

void pbs_differences_add_page(struct text *text, const struct pbs_differences *differences)
{
    text_add_printable(text, differences->cluster);
    text_add(text, ", printed ");
    instant_add(text, differences->printed_at);
    text_add(text, ", our values as of ");
    instant_add(text, differences->as_of);
    text_add(text, "\n\n");
    if (differences->count)
        table_add_paragraph(text, columns,
                            &(struct table_rows){ .rows = differences->rows,
                                                  .count = differences->count,
                                                  .size = sizeof *differences->rows });
    text_format(text, "%s%zu entities were compared\n", differences->count ? "\n" : "",
                differences->compared);
    for (enum pbs_cause cause = PBS_CAUSE_CYCLE; cause < PBS_CAUSES; cause++)
        if (count_of(differences, cause))
            text_format(text, "%-7s  %zu: %s\n", names[cause], count_of(differences, cause),
                        meanings[cause]);
    for (size_t i = 0; differences->unknown[i]; i++)
        text_format(text, "note: %s\n", differences->unknown[i]);
    add_left(text, differences);
}

/* A meaning in one line. */
static json_t *json_of_meaning(enum pbs_cause cause)
{
    struct text text = { 0 };
    bool blank = false;
    for (const char *at = meanings[cause]; *at; at++) {
        bool is_blank = *at == ' ' || *at == '\n';
        if (!is_blank)
            text_format(&text, "%s%c", blank ? " " : "", *at);
        blank = is_blank;
    }
    json_t *meaning = json_string(text.bytes);
    text_free(&text);
    return meaning;
}

static json_t *facts_of(const struct pbs_differences *differences)
{
    json_t *causes = json_array(), *notes = json_array();
    for (enum pbs_cause cause = PBS_CAUSE_CYCLE; cause < PBS_CAUSES; cause++)
        json_array_append_new(causes, json_pack("{s:s, s:o, s:I}", "cause", names[cause], "meaning",
                                                json_of_meaning(cause), "values",
                                                (json_int_t)count_of(differences, cause)));
    for (size_t i = 0; differences->unknown[i]; i++)
        json_array_append_new(notes, json_string(differences->unknown[i]));
    const char *printed_unit =
        differences->other_unit ? differences->other_unit : differences->unit;
    return json_pack("{s:I, s:I, s:I, s:b, s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "as_of",
                     (json_int_t)differences->as_of, "printed_at",
                     (json_int_t)differences->printed_at, "period", (json_int_t)differences->cycle,
                     "explained", pbs_differences_are_explained(differences), "unit",
                     differences->unit, "printed_unit", printed_unit, "compared",
                     (json_int_t)differences->compared, "left",
                     (json_int_t)count_of(differences, PBS_CAUSE_NONE), "only_printed",
                     (json_int_t)differences->only_printed, "only_ours",
                     (json_int_t)differences->only_ours, "causes", causes, "notes", notes);
}

void pbs_differences_print(const struct pbs_differences *differences, struct table *table)
{
    table_open(table, &(struct table_cluster){
                          .name = differences->cluster,
                          .facts = table_has_facts(table) ? facts_of(differences) : NULL });
    for (size_t i = 0; i < differences->count; i++)
        table_add(table, &differences->rows[i]);
    table_close(table);
}
