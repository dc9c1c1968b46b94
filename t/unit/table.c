/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <locale.h>
#include <math.h>

#include <jansson.h>

#include "report/table.h"
#include "util/error.h"

struct fruit {
    const char *name, *colour;
    uint32_t depth;
    int64_t count, picked;
    double weight, usage;
    bool ripe;
};

static void get_name(const void *row, struct cell *cell)
{
    const struct fruit *fruit = row;
    cell_text(cell, fruit->name);
    cell->depth = fruit->depth;
}

static void get_count(const void *row, struct cell *cell)
{
    const struct fruit *fruit = row;
    if (fruit->count < 0)
        cell_text(cell, "many");
    else if (fruit->count)
        cell_integer(cell, fruit->count);
}

static void get_label(const void *row, struct cell *cell)
{
    const struct fruit *fruit = row;
    cell_format(cell, "%s%d", (const char *)cell->context, cell->column->index + (int)fruit->count);
}

static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "name", "Fruit", COLUMN_TEXT, .get = get_name },
    { "colour", "Colour", COLUMN_TEXT, MEMBER(struct fruit, colour), .optional = true },
    { "count", "NumberOf", COLUMN_INTEGER, .get = get_count },
    { "weight", "Weight", COLUMN_REAL, MEMBER(struct fruit, weight), .decimals = 3 },
    { "usage_raw", "RawUsage", COLUMN_USAGE, MEMBER(struct fruit, usage) },
    { "ripe", "Ripe", COLUMN_YES_NO, MEMBER(struct fruit, ripe), .hidden = NOT_FOR_PEOPLE },
    { "picked", "Picked", COLUMN_DURATION, MEMBER(struct fruit, picked), .hidden = ONLY_IN_JSON },
    { "label", "Label", COLUMN_TEXT, .get = get_label, .index = 40, .hidden = ONLY_IF_CHOSEN },
    { .name = NULL },
};

static const struct table_layout by_cluster = { columns, "fruits", .by_cluster = true };
static const struct table_layout flat = { columns, "fruits", .by_cluster = false };

static const struct fruit fruits[] = {
    { "apple", "red", 0, 3, 7200, 0.25, 7.9, true },
    { "-pear, \"x\"", NULL, 1, -1, 119, NAN, NAN, false },
    { "a|b\nc", "=1+1", 2, 0, -5, INFINITY, -0.5, true },
};
#define HOW_MANY (sizeof fruits / sizeof *fruits)

/* Returns the output of a table with these rows, or an error message.  Valid until the next
 * call. */
static const char *printed(const struct table_options *options, const struct fruit *rows,
                           size_t count)
{
    static struct text text;
    struct error err;
    text_free(&text);
    text_add(&text, "");
    struct table *table = table_create(&text, &by_cluster, options, &err);
    if (!table) {
        text_add(&text, err.message);
        return text.bytes;
    }
    table_open(table, &(struct table_cluster){ .name = "tiny",
                                               .title = "tiny:\n",
                                               .facts = json_pack("{s:i}", "as_of", 5),
                                               .context = "no " });
    for (size_t i = 0; i < count; i++)
        table_add(table, &rows[i]);
    table_close(table);
    table_end(table, &err);
    table_destroy(table);
    return text.bytes;
}

static void prints(struct table_options options, const char *expected, const char *statement)
{
    is_string(printed(&options, fruits, HOW_MANY), expected, statement);
}

static void forms(void)
{
    prints((struct table_options){ .form = TABLE_FOR_PEOPLE },
           "tiny:\n"
           "Fruit       Colour NumberOf Weight RawUsage\n"
           "apple       red           3  0.250        7\n"
           " -pear, \"x\"            many\n"
           "  a|b\\x0Ac  =1+1               inf       -1\n",
           "in text output, texts are left-aligned, numbers right-aligned, trees indented");
    prints((struct table_options){ .form = TABLE_BARS },
           "Cluster|Fruit|Colour|NumberOf|Weight|RawUsage|Ripe\n"
           "tiny|apple|red|3|0.25|7|1\n"
           "tiny|-pear, \"x\"||many|||0\n"
           "tiny|a\\x7Cb\\x0Ac|=1+1||inf|-1|1\n",
           "output with bars has headings, and bars in names are escaped");
    prints((struct table_options){ .form = TABLE_BARS, .ends_with_bar = true, .columns = "name" },
           "Fruit|\napple|\n-pear, \"x\"|\na\\x7Cb\\x0Ac|\n", "each line may end with a bar");
    prints((struct table_options){ .form = TABLE_CSV },
           "cluster,name,colour,count,weight,usage_raw,ripe\r\n"
           "tiny,apple,red,3,0.25,7,1\r\n"
           "tiny,\"'-pear, \"\"x\"\"\",,many,,,0\r\n"
           "tiny,a|b\\x0Ac,'=1+1,,inf,-1,1\r\n",
           "CSV quotes names and prevents formulas, but keeps negative numbers");
    prints((struct table_options){ .form = TABLE_JSON },
           "{\"clusters\": [\n{\"cluster\": \"tiny\", \"as_of\": 5, \"fruits\": [\n"
           "{\"cluster\":\"tiny\",\"name\":\"apple\",\"colour\":\"red\",\"count\":3,"
           "\"weight\":0.25,\"usage_raw\":7.9000000000000004,\"ripe\":true,\"picked\":7200},\n"
           "{\"cluster\":\"tiny\",\"name\":\"-pear, \\\"x\\\"\",\"colour\":null,"
           "\"count\":\"many\",\"weight\":null,\"usage_raw\":null,\"ripe\":false,"
           "\"picked\":119},\n"
           "{\"cluster\":\"tiny\",\"name\":\"a|b\\nc\",\"colour\":\"=1+1\",\"count\":null,"
           "\"weight\":null,\"usage_raw\":-0.5,\"ripe\":true,\"picked\":-5}\n"
           "]}\n]}\n",
           "JSON has all digits, and null for values that are not numbers");
}

static void formulas(void)
{
    static const char *const texts[][2] = {
        { "=1", "'=1" },      { "+1", "'+1" },      { "-1", "'-1" },  { "@a", "'@a" },
        { "\tx", "'\\x09x" }, { "\rx", "'\\x0Dx" }, { "'x", "''x" },  { "\uff1d1", "'\uff1d1" },
        { "a=1", "a=1" },     { "", "" },           { "a-b", "a-b" },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fruit fruit = { .name = texts[i][0] };
        struct table_options options = { .form = TABLE_CSV, .no_header = true, .columns = "name" };
        char expected[32];
        snprintf(expected, sizeof expected, "%s\r\n", texts[i][1]);
        is_string(printed(&options, &fruit, 1), expected,
                  "CSV makes a spreadsheet read a name as text");
    }
}

static void choices(void)
{
    prints((struct table_options){ .columns = "RAWUSAGE,fru%-5,weight%4,num%5,ripe,pick" },
           "tiny:\n"
           "RawUsage Fruit Wei+ Numb+ Ripe Picked\n"
           "       7 apple 0.25     3  yes    2 h\n"
           "          -pe+       many   no  119 s\n"
           "      -1   a|+  inf        yes   -5 s\n",
           "columns are chosen by name, heading or abbreviation, with widths");
    prints((struct table_options){ .columns = "fruit%-3,label,label%7", .no_header = true },
           "ap+ no 43   no 43\n -+ no 39   no 39\n  + no 40   no 40\n",
           "a hidden column can be chosen, and a column chosen twice");
    prints((struct table_options){ .columns = "colour,name" },
           "tiny:\nColour Fruit\nred    apple\n        -pear, \"x\"\n"
           "=1+1     a|b\\x0Ac\n",
           "columns have the order in which they were chosen");
    prints((struct table_options){ .form = TABLE_JSON, .columns = "ripe,Fruit" },
           "{\"clusters\": [\n{\"cluster\": \"tiny\", \"as_of\": 5, \"fruits\": [\n"
           "{\"ripe\":true,\"name\":\"apple\"},\n"
           "{\"ripe\":false,\"name\":\"-pear, \\\"x\\\"\"},\n"
           "{\"ripe\":true,\"name\":\"a|b\\nc\"}\n]}\n]}\n",
           "columns can be chosen for JSON");
    prints((struct table_options){ .columns = "fruit,colr" },
           "unknown column 'colr'; did you mean 'colour'?",
           "the error for an unknown column suggests the nearest name");
    prints((struct table_options){ .columns = "Wieght%3" },
           "unknown column 'Wieght'; did you mean 'weight'?", "the suggestion ignores case");
    prints((struct table_options){ .columns = "zzzzzzzz" }, "unknown column 'zzzzzzzz'",
           "without a similar name the error suggests none");
    prints((struct table_options){ .columns = "r" }, "unknown column 'r'",
           "an ambiguous abbreviation is rejected");
    prints((struct table_options){ .columns = "," }, "the list of columns is empty",
           "an empty list of columns is rejected");
    for (size_t i = 0; i < 4; i++) {
        const char *const wrong[] = { "name%0", "name%", "name%1001", "name%4x" };
        ok(strstr(printed(&(struct table_options){ .columns = wrong[i] }, fruits, 1),
                  "must be from 1 to 1000") != NULL,
           "an invalid width is rejected");
    }
}

static void widths(void)
{
    static const struct fruit wide[] = { { .name = "\u65e5\u672c", .colour = "x" },
                                         { .name = "\u00e9", .colour = "y" } };
    struct table_options options = { .columns = "name,colour", .no_header = true };
    is_string(printed(&options, wide, 2), "\u65e5\u672c x\n\u00e9    y\n",
              "a character two columns wide counts as two");
    options.columns = "name%-3,colour";
    is_string(printed(&options, wide, 2), "\u65e5+ x\n\u00e9   y\n",
              "a wide character is cut as a whole");
    options.columns = "name%3,colour";
    is_string(printed(&options, wide, 2), "\u65e5+ x\n  \u00e9 y\n",
              "with a width, cells are right-aligned unless it is negative");
}

/* Tests a table without clusters, with no rows and with one. */
static void without_clusters(enum table_form form, const char *empty, const char *one)
{
    struct table_options options = { .form = form, .columns = "name" };
    struct error err;
    for (size_t count = 0; count < 2; count++) {
        struct text text = { 0 };
        struct table *table = table_create(&text, &flat, &options, &err);
        text_add(&text, "");
        for (size_t i = 0; i < count; i++)
            table_add(table, &fruits[i]);
        ok(!table_end(table, &err), "the table ends without an error");
        is_string(text.bytes, count ? one : empty,
                  count ? "a table with one row is complete" : "a table without rows is complete");
        table_destroy(table);
        text_free(&text);
    }
}

static void without_any(void)
{
    struct error err;
    struct text text = { 0 };
    struct table_options options = { .form = TABLE_JSON };
    struct table *table = table_create(&text, &by_cluster, &options, &err);
    table_end(table, &err);
    is_string(text.bytes, "{\"clusters\": []}\n", "JSON without clusters is a complete object");
    table_destroy(table);
    text_free(&text);
}

/* Tests headings of groups, units, signs, and columns without values. */
static void for_people(void)
{
    static const struct column grouped[] = {
        { "name", "Fruit", COLUMN_TEXT, MEMBER(struct fruit, name), .at_most = 4 },
        { "a", "Now", COLUMN_REAL, MEMBER(struct fruit, weight), .group = "Weight", .decimals = 1 },
        { "b", "Change", COLUMN_REAL, MEMBER(struct fruit, usage), .group = "Weight", .decimals = 2,
          .plus = true },
        { "c", "Took", COLUMN_INTEGER, MEMBER(struct fruit, picked), .unit = "ms" },
        { "d", "Colour", COLUMN_TEXT, MEMBER(struct fruit, colour), .optional = true },
        { .name = NULL },
    };
    static const struct table_layout layout = { grouped, "fruits", .by_cluster = false };
    struct table_options options = { .form = TABLE_FOR_PEOPLE };
    struct error err;
    struct text text = { 0 };
    struct table *table = table_create(&text, &layout, &options, &err);
    table_add(table,
              &(struct fruit){ .name = "strawberry", .weight = 1, .usage = 0.5, .picked = 7 });
    table_add_gap(table);
    table_add(table, &(struct fruit){ .name = "fig", .weight = 10, .usage = -1, .picked = 12 });
    table_end(table, &err);
    is_string(text.bytes,
              "           Weight\n"
              "Fruit  Now Change  Took\n"
              "str+   1.0  +0.50  7 ms\n"
              "...\n"
              "fig   10.0  -1.00 12 ms\n",
              "groups have headings, numbers have units, and empty columns are omitted");
    table_destroy(table);
    text_free(&text);
}

static size_t printed_bytes;

static int count_bytes(const struct text *text, struct error *err)
{
    printed_bytes += text->length;
    return printed_bytes > 2500000 ? fail(err, ERROR_OTHER, "full") : 0;
}

/* Tests that long output is written before the table ends. */
static void printing(enum table_form form)
{
    struct error err;
    struct text text = { 0 };
    struct table_options options = { .form = form };
    struct table *table = table_create(&text, &flat, &options, &err);
    size_t longest = 0;
    printed_bytes = 0;
    table_print_with(table, count_bytes);
    for (size_t i = 0; i < 100000; i++) {
        table_add(table, &fruits[0]);
        longest = text.length > longest ? text.length : longest;
    }
    int result = table_end(table, &err);
    ok(longest < 1100000 && text.length < 1100000, "long output is written in parts");
    ok(result == (printed_bytes > 2500000 ? -1 : 0) && (!result || !strcmp(err.message, "full")),
       "a write error is returned at the end");
    table_destroy(table);
    text_free(&text);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    forms();
    formulas();
    choices();
    widths();
    without_clusters(TABLE_FOR_PEOPLE, "Fruit\n", "Fruit\napple\n");
    without_clusters(TABLE_BARS, "Fruit\n", "Fruit\napple\n");
    without_clusters(TABLE_CSV, "name\r\n", "name\r\napple\r\n");
    without_clusters(TABLE_JSON, "{\"fruits\": []}\n",
                     "{\"fruits\": [\n{\"name\":\"apple\"}\n]}\n");
    without_any();
    for_people();
    printing(TABLE_FOR_PEOPLE);
    printing(TABLE_CSV);
    printing(TABLE_JSON);
    return done_testing();
}
