/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "report/priorities.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/forms.h"
#include "report/terminal.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* sprio's columns, by their letters: a small one shows a factor, its capital the same times its
 * weight. */

static const struct heading {
    char letter;
    const char *heading;
    enum prio_part part; /* PRIO_PARTS: it is none */
} headings[] = {
    { 'a', "AGE", PRIO_AGE },
    { 'A', "AGE", PRIO_AGE },
    { 'b', "ASSOC", PRIO_ASSOC },
    { 'B', "ASSOC", PRIO_ASSOC },
    { 'c', "CLUSTER", PRIO_PARTS },
    { 'f', "FAIRSHARE", PRIO_FAIRSHARE },
    { 'F', "FAIRSHARE", PRIO_FAIRSHARE },
    { 'i', "JOBID", PRIO_PARTS },
    { 'j', "JOBSIZE", PRIO_JOB_SIZE },
    { 'J', "JOBSIZE", PRIO_JOB_SIZE },
    { 'n', "QOSNAME", PRIO_PARTS },
    { 'N', "NICE", PRIO_PARTS },
    { 'o', "ACCOUNT", PRIO_PARTS },
    { 'p', "PARTITION", PRIO_PARTITION },
    { 'P', "PARTITION", PRIO_PARTITION },
    { 'q', "QOS", PRIO_QOS },
    { 'Q', "QOS", PRIO_QOS },
    { 'r', "PARTITION", PRIO_PARTS },
    { 'S', "SITE", PRIO_PARTS },
    { 't', "TRES", PRIO_PARTS },
    { 'T', "TRES", PRIO_PARTS },
    { 'u', "USER", PRIO_PARTS },
    { 'y', "PRIORITY", PRIO_PARTS },
    { 'Y', "PRIORITY", PRIO_PARTS },
};

static const struct heading *heading_of(char letter)
{
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (headings[i].letter == letter)
            return &headings[i];
    return NULL;
}

/* A cell wider than this is nobody's wish. */
#define WIDEST 1000

static int parse_column(struct prio_column *column, const char **at, struct error *err)
{
    *column = (struct prio_column){ .right = **at == '.' };
    *at += column->right;
    for (; **at >= '0' && **at <= '9' && column->width <= WIDEST; ++*at)
        column->width = column->width * 10 + (size_t)(**at - '0');
    if (column->width > WIDEST)
        return fail(err, ERROR_USAGE, "prio: a column may be %d wide at most", WIDEST);
    if (!heading_of(**at))
        return **at ? fail(err, ERROR_USAGE, "prio: '%%%c' is none of sprio's columns", **at)
                    : fail(err, ERROR_USAGE, "prio: the format ends in the middle of a column");
    column->letter = *(*at)++;
    size_t length = strcspn(*at, "%");
    column->suffix = memory_bytes(*at, length);
    *at += length;
    return 0;
}

int prio_format_parse(struct prio_format *format, const char *text, struct error *err)
{
    size_t length = strcspn(text, "%");
    *format = (struct prio_format){ .prefix = memory_bytes(text, length) };
    for (const char *at = text + length; *at == '%';) {
        struct prio_column column;
        at++;
        if (parse_column(&column, &at, err)) {
            prio_format_free(format);
            return -1;
        }
        format->columns =
            memory_resized(format->columns, format->count + 1, sizeof *format->columns);
        format->columns[format->count++] = column;
    }
    return 0;
}

void prio_format_free(struct prio_format *format)
{
    free(format->prefix);
    for (size_t i = 0; i < format->count; i++)
        free(format->columns[i].suffix);
    free(format->columns);
    *format = (struct prio_format){ 0 };
}

void prio_default_format(struct text *text, const struct prio_weights *weights, bool all,
                         bool normalized, bool with_users)
{
    static const char letters[2][PRIO_PARTS + 1] = { "ABFJPQ", "abfjpq" };
    const char *dot = normalized ? "" : ".";
    text_format(text, "%%.15i %%9r%s %%%s10%c %%%s10S", all || with_users ? " %.8u" : "", dot,
                normalized ? 'y' : 'Y', dot);
    for (enum prio_part part = 0; part < PRIO_PARTS; part++)
        if (all || weights->of[part])
            text_format(text, " %%%s10%c", dot, letters[normalized][part]);
    if (all && !normalized)
        text_add(text, " %.11N");
    if (all || *weights->tres)
        text_format(text, " %%%s20%c", dot, normalized ? 't' : 'T');
}

/* Cells.  `row` NULL is the line of weights. */

static void add_part(struct text *text, const struct prio_list *list, const struct prio_row *row,
                     const struct heading *heading)
{
    uint64_t weight = list->weights.of[heading->part];
    bool normalized = heading->letter >= 'a';
    if (!row)
        text_format(text, "%" PRIu64, weight);
    else if (!normalized)
        text_format(text, "%.0f", row->weighted[heading->part]);
    else
        text_format(text, "%.7f", weight ? row->weighted[heading->part] / (double)weight : 0.0);
}

static void add_weight_cell(struct text *text, const struct prio_list *list, char letter)
{
    if (letter == 'i')
        text_add(text, "Weights");
    else if (letter == 'S')
        text_add(text, "1");
    else if (letter == 'T')
        text_add_printable(text, list->weights.tres);
    else if (letter == 'c')
        text_add_printable(text, list->cluster);
}

static void add_job_cell(struct text *text, const struct prio_list *list,
                         const struct prio_row *row, char letter)
{
    switch (letter) {
    case 'c':
        text_add_printable(text, list->cluster);
        break;
    case 'i':
        text_format(text, "%" PRId64, row->id_job);
        break;
    case 'n':
        text_add_printable(text, row->qos);
        break;
    case 'N':
        text_format(text, "%" PRId64, row->nice);
        break;
    case 'o':
        text_add_printable(text, row->account);
        break;
    case 'r':
        text_add_printable(text, row->partition);
        break;
    case 'S':
        text_format(text, "%" PRId64, row->site);
        break;
    case 't':
        text_add_printable(text, row->tres_factors);
        break;
    case 'T':
        text_add_printable(text, row->tres_weighted);
        break;
    case 'u':
        text_add_printable(text, row->user);
        break;
    case 'y':
        text_format(text, "%16.14f", row->norm);
        break;
    default: /* 'Y' */
        text_format(text, "%" PRId64, row->priority);
    }
}

static void add_cell(struct text *cell, const struct prio_list *list, const struct prio_row *row,
                     char letter)
{
    const struct heading *heading = heading_of(letter);
    cell->length = 0;
    text_add(cell, "");
    if (heading->part != PRIO_PARTS)
        add_part(cell, list, row, heading);
    else if (row)
        add_job_cell(cell, list, row, letter);
    else
        add_weight_cell(cell, list, letter);
}

/* Leave so many columns of a cell, whole characters. */
static void cut(struct text *cell, size_t width)
{
    while (utf8_width(cell->bytes) > width) {
        do
            cell->length--;
        while (cell->length && (cell->bytes[cell->length] & 0xc0) == 0x80);
        cell->bytes[cell->length] = '\0';
    }
}

static void add_column(struct text *text, const struct prio_column *column, struct text *cell)
{
    size_t width = column->width ? column->width : utf8_width(cell->bytes);
    cut(cell, width);
    form_add_padded(text, cell->bytes, width, !column->right);
    text_add(text, column->suffix);
}

static void end_line(struct text *text, size_t start)
{
    while (text->length > start && text->bytes[text->length - 1] == ' ')
        text->length--;
    text_add(text, "\n");
}

static void add_line(struct text *text, const struct prio_format *format,
                     const struct prio_list *list, const struct prio_row *row)
{
    struct text cell = { 0 };
    size_t start = text->length;
    text_add(text, format->prefix);
    for (size_t i = 0; i < format->count; i++) {
        add_cell(&cell, list, row, format->columns[i].letter);
        add_column(text, &format->columns[i], &cell);
    }
    text_free(&cell);
    end_line(text, start);
}

static void add_headings(struct text *text, const struct prio_format *format)
{
    struct text cell = { 0 };
    size_t start = text->length;
    text_add(text, format->prefix);
    for (size_t i = 0; i < format->count; i++) {
        cell.length = 0;
        text_add(&cell, heading_of(format->columns[i].letter)->heading);
        add_column(text, &format->columns[i], &cell);
    }
    text_free(&cell);
    end_line(text, start);
    terminal_paint(text, start, PAINT_HEADING);
}

/* Make the columns of sprio's own format so wide that nothing is cut but digits. */
static void widen(struct prio_format *format, const struct prio_list *list)
{
    struct text cell = { 0 };
    for (size_t i = 0; i < format->count; i++)
        for (size_t j = 0; format->columns[i].letter != 'y' && j < list->count; j++) {
            add_cell(&cell, list, &list->rows[j], format->columns[i].letter);
            size_t needed = utf8_width(cell.bytes);
            if (needed > format->columns[i].width)
                format->columns[i].width = needed;
        }
    text_free(&cell);
}

static void nothing(struct text *text, const struct prio_look *look)
{
    (void)text;
    (void)look;
}

static void nothing_more(struct text *text)
{
    (void)text;
}

static void table_add(struct text *text, const struct prio_list *list, const struct prio_look *look,
                      bool first)
{
    struct prio_format format;
    struct error ignored;
    struct text own = { 0 };
    if (!look->format)
        prio_default_format(&own, &list->weights, look->all, look->normalized, look->with_users);
    if (!prio_format_parse(&format, look->format ? look->format : own.bytes, &ignored)) {
        if (!look->format && !look->only_weights)
            widen(&format, list);
        if (look->named) {
            text_add(text, first ? "CLUSTER: " : "\nCLUSTER: ");
            text_add_printable(text, list->cluster);
            text_add(text, "\n");
        }
        if (!look->no_header)
            add_headings(text, &format);
        if (look->only_weights)
            add_line(text, &format, list, NULL);
        for (size_t i = 0; !look->only_weights && i < list->count; i++)
            add_line(text, &format, list, &list->rows[i]);
        prio_format_free(&format);
    }
    text_free(&own);
}

const struct prio_form prio_table = { nothing, table_add, nothing_more };

/* For scripts: a header, `|` between fields, 17 digits; factors with `normalized`, else weighted
 * values, in the order of a long list. */

static void parsable_begin(struct text *text, const struct prio_look *look)
{
    if (!look->no_header)
        text_add(text, "Cluster|JobID|Partition|QOSName|User|Account|Priority|Site|Age|Assoc|"
                       "FairShare|JobSize|PartitionPriority|QOS|Nice|TRES|Best\n");
}

static void parsable_weights(struct text *text, const struct prio_list *list)
{
    form_add_field(text, list->cluster);
    text_add(text, "|Weights||||||1");
    for (enum prio_part part = 0; part < PRIO_PARTS; part++)
        text_format(text, "|%" PRIu64, list->weights.of[part]);
    text_add(text, "||");
    form_add_field(text, list->weights.tres);
    text_add(text, "|\n");
}

static void parsable_row(struct text *text, const struct prio_list *list,
                         const struct prio_row *row, bool normalized)
{
    const char *const names[] = { row->partition, row->qos, row->user, row->account };
    form_add_field(text, list->cluster);
    text_format(text, "|%" PRId64, row->id_job);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        text_add(text, "|");
        form_add_field(text, names[i]);
    }
    if (normalized)
        text_format(text, "|%.17g|", row->norm);
    else
        text_format(text, "|%" PRId64 "|", row->priority);
    if (row->site_known)
        text_format(text, "%" PRId64, row->site);
    for (enum prio_part part = 0; part < PRIO_PARTS; part++)
        text_format(text, "|%.17g", normalized ? row->factor[part] : row->weighted[part]);
    text_add(text, "|");
    if (row->nice_known)
        text_format(text, "%" PRId64, row->nice);
    text_add(text, "|");
    form_add_field(text, normalized ? row->tres_factors : row->tres_weighted);
    text_format(text, "|%d\n", row->best);
}

static void parsable_add(struct text *text, const struct prio_list *list,
                         const struct prio_look *look, bool first)
{
    (void)first;
    if (look->only_weights)
        parsable_weights(text, list);
    for (size_t i = 0; !look->only_weights && i < list->count; i++)
        parsable_row(text, list, &list->rows[i], look->normalized);
}

const struct prio_form prio_parsable = { parsable_begin, parsable_add, nothing_more };

/* For programs: one object with a list of clusters, each with its weights and a list of jobs. */

static void json_begin(struct text *text, const struct prio_look *look)
{
    (void)look;
    text_add(text, "{\"clusters\": [");
}

static const char *const part_names[PRIO_PARTS] = {
    "age", "assoc", "fairshare", "job_size", "partition", "qos",
};

static json_t *json_parts(const double parts[PRIO_PARTS])
{
    json_t *object = json_object();
    for (enum prio_part part = 0; part < PRIO_PARTS; part++)
        json_object_set_new(object, part_names[part], form_json_real(parts[part]));
    return object;
}

static json_t *json_weights(const struct prio_weights *weights)
{
    json_t *object = json_object();
    for (enum prio_part part = 0; part < PRIO_PARTS; part++)
        json_object_set_new(object, part_names[part], json_integer((json_int_t)weights->of[part]));
    json_object_set_new(object, "tres", json_string(weights->tres));
    return object;
}

/* Keys are texts, as JSON's numbers end at 2^53 for many who read it. */
static json_t *json_row(const char *cluster, const struct prio_row *row)
{
    char key[24];
    snprintf(key, sizeof key, "%" PRIu64, row->key);
    return json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:s, s:b, s:I, s:f, s:o, s:o, s:s, s:s, s:o, "
                     "s:o}",
                     "cluster", cluster, "job_db_inx", key, "id_job", (json_int_t)row->id_job,
                     "user", row->user, "account", row->account, "partition", row->partition, "qos",
                     row->qos, "best", row->best, "priority", (json_int_t)row->priority,
                     "priority_norm", row->norm, "factors", json_parts(row->factor), "weighted",
                     json_parts(row->weighted), "tres_factors", row->tres_factors, "tres_weighted",
                     row->tres_weighted, "site",
                     row->site_known ? json_integer(row->site) : json_null(), "nice",
                     row->nice_known ? json_integer(row->nice) : json_null());
}

static void json_add(struct text *text, const struct prio_list *list, const struct prio_look *look,
                     bool first)
{
    const char *between = "\n";
    text_add(text, first ? "\n{\"cluster\": " : ",\n{\"cluster\": ");
    form_add_json(text, json_string(list->cluster));
    text_format(text, ", \"as_of\": %" PRId64 ", \"weights\": ", list->as_of);
    form_add_json(text, json_weights(&list->weights));
    text_add(text, ", \"jobs\": [");
    for (size_t i = 0; !look->only_weights && i < list->count; i++) {
        text_add(text, between);
        form_add_json(text, json_row(list->cluster, &list->rows[i]));
        between = ",\n";
    }
    text_add(text, "\n]}");
}

static void json_end(struct text *text)
{
    text_add(text, "\n]}\n");
}

const struct prio_form prio_json = { json_begin, json_add, json_end };
