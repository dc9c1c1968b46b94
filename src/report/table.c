/* SPDX-License-Identifier: MIT */
#include "report/table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "report/table_text.h"
#include "util/error.h"
#include "util/memory.h"

/* Text that is longer than this is printed before the next row is added. */
#define PRINT_AT_BYTES ((size_t)1 << 20)
#define WIDEST 1000

struct table {
    struct text *text;
    const struct table_layout *layout;
    const struct table_options *options;
    struct chosen *chosen;
    size_t count;
    struct cell cell;
    struct text_table kept; /* rows of text output */
    size_t clusters;
    bool listing; /* JSON's list of rows has begun */
    size_t rows;  /* number of rows in that list */
    int (*print)(const struct text *text, struct error *err);
    bool failed;
    struct error reason;
};

/* ---- Chosen columns ---- */

static bool is_beginning(const char *name, size_t length, const char *whole)
{
    return !strncasecmp(name, whole, length);
}

static bool table_is_name(const char *name, size_t length, const char *whole)
{
    return is_beginning(name, length, whole) && strlen(whole) == length;
}

/*
 * Returns the column with this name or heading, or the only one with this prefix; otherwise NULL.
 */
static const struct column *find_column(const struct column *columns, const char *name,
                                        size_t length)
{
    const struct column *found = NULL;
    size_t count = 0;
    for (const struct column *each = columns; each->name; each++) {
        if (table_is_name(name, length, each->name) || table_is_name(name, length, each->heading))
            return each;
        if (is_beginning(name, length, each->name) || is_beginning(name, length, each->heading)) {
            found = each;
            count++;
        }
    }
    return count == 1 ? found : NULL;
}

static int table_refuse_name(const struct column *columns, const char *name, struct error *err)
{
    size_t count = 0, used = 0;
    while (columns[count].name)
        count++;
    const char **names = memory_zeroed(2 * count + 1, sizeof *names);
    char *lower = ascii_lower(memory_text(name));
    for (size_t i = 0; i < count; i++)
        names[used++] = columns[i].name;
    const char *nearest = nearest_word(lower, names);
    int result =
        fail(err, ERROR_USAGE, "unknown column '%s'%s%s%s", name, nearest ? "; did you mean '" : "",
             nearest ? nearest : "", nearest ? "'?" : "");
    free(lower);
    free(names);
    return result;
}

/* Parses the width of `%10` or `%-10`. */
static int parse_width(struct chosen *chosen, const char *digits, struct error *err)
{
    const char *at = digits;
    chosen->left = *at == '-';
    at += chosen->left;
    for (; *at >= '0' && *at <= '9' && chosen->width <= WIDEST; at++)
        chosen->width = chosen->width * 10 + (size_t)(*at - '0');
    if (*at || !chosen->width || chosen->width > WIDEST)
        return fail(err, ERROR_USAGE, "the width '%%%s' of a column must be from 1 to %d", digits,
                    WIDEST);
    return 0;
}

static int choose_one(struct table *table, char *name, struct error *err)
{
    struct chosen chosen = { 0 };
    char *width = strchr(name, '%');
    if (width) {
        *width = '\0';
        if (parse_width(&chosen, width + 1, err))
            return -1;
    }
    chosen.column = find_column(table->layout->columns, name, strlen(name));
    if (!chosen.column)
        return table_refuse_name(table->layout->columns, name, err);
    /* A JSON object must not have two members with the same name. */
    for (size_t i = 0; i < table->count && table->options->form == TABLE_JSON; i++)
        if (table->chosen[i].column == chosen.column)
            return 0;
    *memory_append(&table->chosen, &table->count) = chosen;
    return 0;
}

static int table_choose(struct table *table, const char *names, struct error *err)
{
    char *copy = memory_text(names), *rest = copy, *name;
    int result = 0;
    while (!result && (name = strsep(&rest, ",")))
        if (*name)
            result = choose_one(table, name, err);
    free(copy);
    if (!result && !table->count)
        return fail(err, ERROR_USAGE, "the list of columns is empty");
    return result;
}

static void choose_shown(struct table *table)
{
    static const unsigned hidden_in[] = {
        [TABLE_FOR_PEOPLE] = NOT_FOR_PEOPLE,
        [TABLE_BARS] = NOT_IN_BARS,
        [TABLE_CSV] = NOT_IN_CSV,
        [TABLE_JSON] = NOT_IN_JSON,
    };
    size_t all = 0;
    while (table->layout->columns[all].name)
        all++;
    table->chosen = memory_zeroed(all + 1, sizeof *table->chosen);
    for (size_t i = 0; i < all; i++)
        if (!(table->layout->columns[i].hidden & hidden_in[table->options->form]))
            table->chosen[table->count++].column = &table->layout->columns[i];
}

static void choose_format(struct table *table, const struct table_format *format)
{
    table->count = format->count;
    table->chosen = memory_zeroed(format->count + 1, sizeof *table->chosen);
    for (size_t i = 0; i < format->count; i++)
        table->chosen[i] = format->columns[i];
}

/* ---- Headings of bars and CSV ---- */

static void add_headings(struct table *table)
{
    bool csv = table->options->form == TABLE_CSV;
    for (size_t i = 0; i < table->count; i++) {
        text_add(table->text, !i ? "" : csv ? "," : "|");
        text_add(table->text,
                 csv ? table->chosen[i].column->name : table->chosen[i].column->heading);
    }
    text_add(table->text, csv ? "\r\n" : table->options->ends_with_bar ? "|\n" : "\n");
}

bool table_is_page(const struct table_options *options)
{
    return options->form == TABLE_FOR_PEOPLE && !options->columns && !options->no_header;
}

struct table *table_create(struct text *text, const struct table_layout *layout,
                           const struct table_options *options, struct error *err)
{
    struct table *table = memory_zeroed(1, sizeof *table);
    *table = (struct table){
        .text = text, .layout = layout, .options = options, .cell.has_dates = options->iso
    };
    if (options->format)
        choose_format(table, options->format);
    else if (!options->columns)
        choose_shown(table);
    else if (table_choose(table, options->columns, err)) {
        table_destroy(table);
        return NULL;
    }
    if (options->form == TABLE_FOR_PEOPLE) {
        text_table_begin(&table->kept, table->chosen, table->count);
        table->kept.before = options->format ? options->format->before : NULL;
        table->kept.all = options->columns || options->format;
        table->kept.line = options->format        ? 0
                           : layout->as_paragraph ? terminal_line()
                                                  : terminal_width();
    } else if (options->form == TABLE_JSON) {
        text_add(text, "{");
        if (layout->by_cluster)
            text_format(text, "\"%s\": [", layout->groups ? layout->groups : "clusters");
    } else if (!options->no_header) {
        add_headings(table);
    }
    return table;
}

void table_destroy(struct table *table)
{
    if (!table)
        return;
    text_table_free(&table->kept);
    text_free(&table->cell.composed);
    free(table->chosen);
    free(table);
}

void table_print_with(struct table *table, int (*print)(const struct text *text, struct error *err))
{
    table->print = print;
}

void table_print_if_long(struct table *table)
{
    if (!table->print || table->text->length < PRINT_AT_BYTES)
        return;
    if (!table->failed && table->print(table->text, &table->reason))
        table->failed = true;
    table->text->length = 0;
}

static void print_if_long(void *context)
{
    table_print_if_long(context);
}

/* ---- Clusters ---- */

static void table_begin_list(struct table *table)
{
    form_add_json(table->text, json_string(table->layout->rows));
    text_add(table->text, ": [");
    table->listing = true;
    table->rows = 0;
}

static void table_end_list(struct table *table)
{
    text_add(table->text, table->rows ? "\n]" : "]");
    table->listing = false;
}

static void open_json(struct table *table, const struct table_cluster *cluster)
{
    const char *key;
    json_t *fact;
    text_add(table->text, table->clusters ? ",\n{\"cluster\": " : "\n{\"cluster\": ");
    form_add_json(table->text, json_string(cluster->name));
    json_object_foreach(cluster->facts, key, fact)
    {
        text_add(table->text, ", ");
        form_add_json(table->text, json_string(key));
        text_add(table->text, ": ");
        form_add_json(table->text, json_incref(fact));
    }
    text_add(table->text, ", ");
    table_begin_list(table);
}

void table_open(struct table *table, const struct table_cluster *cluster)
{
    table->cell.cluster = cluster->name;
    table->cell.context = cluster->context;
    table->kept.terms = cluster->terms;
    if (table->options->form == TABLE_JSON) {
        open_json(table, cluster);
    } else if (table->options->form == TABLE_FOR_PEOPLE && !table->options->no_header) {
        text_add(table->text, table->clusters ? "\n" : "");
        text_add(table->text, cluster->title ? cluster->title : "");
    }
    table->clusters++;
    json_decref(cluster->facts);
}

bool table_has_facts(const struct table *table)
{
    return table->options->form == TABLE_JSON;
}

static void print_kept(struct table *table)
{
    struct text_printing printing = { table->text, table->options->no_header, print_if_long,
                                      table };
    text_table_print(&table->kept, &printing);
}

void table_close(struct table *table)
{
    if (table->options->form == TABLE_JSON) {
        table_end_list(table);
        text_add(table->text, "}");
    } else if (table->options->form == TABLE_FOR_PEOPLE) {
        print_kept(table);
    }
}

/* ---- Rows ---- */

static json_t *json_of_row(struct cell *cell, const struct chosen *chosen, size_t count,
                           const void *row)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        cell_of(cell, chosen[i].column, row);
        json_object_set_new(object, chosen[i].column->name, cell_json(cell));
    }
    return object;
}

/*
 * Writes a row directly if none of its texts needs escapes.  Otherwise writes nothing and returns
 * false.
 */
static bool add_plain_json(struct table *table, const void *row)
{
    struct text *text = table->text;
    size_t start = text->length;
    for (size_t i = 0; i < table->count; i++) {
        const struct column *column = table->chosen[i].column;
        text_add(text, i ? ",\"" : "{\"");
        text_add(text, column->name);
        text_add(text, "\":");
        cell_of(&table->cell, column, row);
        if (!cell_add_json(text, &table->cell)) {
            text->length = start;
            return false;
        }
    }
    text_add(text, "}");
    return true;
}

static void table_add_json(struct table *table, const void *row)
{
    if (!table->listing)
        table_begin_list(table);
    text_add(table->text, table->rows++ ? ",\n" : "\n");
    if (!add_plain_json(table, row))
        form_add_json(table->text, json_of_row(&table->cell, table->chosen, table->count, row));
}

static void add_separated(struct table *table, const void *row)
{
    bool csv = table->options->form == TABLE_CSV;
    for (size_t i = 0; i < table->count; i++) {
        cell_of(&table->cell, table->chosen[i].column, row);
        text_add(table->text, !i ? "" : csv ? "," : "|");
        (csv ? cell_add_csv : cell_add_between_bars)(table->text, &table->cell);
    }
    text_add(table->text, csv ? "\r\n" : table->options->ends_with_bar ? "|\n" : "\n");
}

static void table_keep(struct table *table, const void *row)
{
    for (size_t i = 0; i < table->count; i++) {
        cell_of(&table->cell, table->chosen[i].column, row);
        text_table_add(&table->kept, i, &table->cell);
    }
    text_table_end_row(&table->kept);
}

void table_add(struct table *table, const void *row)
{
    if (table->options->form == TABLE_FOR_PEOPLE)
        table_keep(table, row);
    else if (table->options->form == TABLE_JSON)
        table_add_json(table, row);
    else
        add_separated(table, row);
    table_print_if_long(table);
}

void table_add_gap(struct table *table)
{
    if (table->options->form == TABLE_FOR_PEOPLE)
        text_table_add_gap(&table->kept);
}

int table_end(struct table *table, struct error *err)
{
    const struct table_options *options = table->options;
    if (options->form == TABLE_FOR_PEOPLE && !table->layout->by_cluster)
        print_kept(table);
    if (options->form == TABLE_JSON && table->layout->by_cluster)
        text_add(table->text, table->clusters ? "\n]}\n" : "]}\n");
    else if (options->form == TABLE_JSON) {
        if (!table->listing)
            table_begin_list(table);
        table_end_list(table);
        text_add(table->text, "}\n");
    }
    if (table->failed)
        *err = table->reason;
    return table->failed ? -1 : 0;
}

void table_add_paragraph(struct text *text, const struct column *columns,
                         const struct table_rows *rows)
{
    static const struct table_options for_people = { 0 };
    const struct table_layout layout = { columns, .by_cluster = true, .as_paragraph = true };
    struct error ignored;
    struct table *table = table_create(text, &layout, &for_people, &ignored);
    table_open(table, &(struct table_cluster){ .context = rows->context, .terms = rows->terms });
    for (size_t i = 0; i < rows->count; i++)
        table_add(table, (const char *)rows->rows + i * rows->size);
    table_close(table);
    table_destroy(table);
}

static json_t *row_json(const struct column *columns, struct cell *cell, const void *row)
{
    json_t *object = json_object();
    for (const struct column *each = columns; each->name; each++)
        if (!(each->hidden & NOT_IN_JSON)) {
            cell_of(cell, each, row);
            json_object_set_new(object, each->name, cell_json(cell));
        }
    return object;
}

json_t *table_rows_json(const struct column *columns, const struct table_rows *rows)
{
    struct cell cell = { .cluster = rows->cluster, .context = rows->context };
    json_t *list = json_array();
    for (size_t i = 0; i < rows->count; i++)
        json_array_append_new(list,
                              row_json(columns, &cell, (const char *)rows->rows + i * rows->size));
    text_free(&cell.composed);
    return list;
}
