/* SPDX-License-Identifier: MIT */
#include "import/sched_config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "import/lines.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

int dated_check(const char *name, int64_t since, int64_t time, struct error *err)
{
    if (since < time)
        return 0;
    struct text text = { 0 };
    time_add(&text, since);
    fail(err, ERROR_DATA, "'%s' last changed at %s; a new change must be later", name, text.bytes);
    text_free(&text);
    return -1;
}

/* The last stored value of a setting. */
struct noted {
    bool there;
    int64_t since;
    char *value;
};

struct dating {
    struct db *db;
    const char *cluster;
    struct dated_values values;
    struct noted *noted;
};

static void sched_config_note(struct noted *noted, const struct db_value *row)
{
    free(noted->value);
    noted->there = true;
    noted->since = db_value_integer(&row[1], 0);
    noted->value = row[2].type == DB_NULL ? NULL : db_value_text(&row[2]);
}

static int read_noted(const struct dating *dating, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(dating->cluster);
    struct db_rows *rows = db_query(dating->db, sql_query_pbs_setting_read, &name, 1, "tit", err);
    while (db_fetch(rows, &row, err) > 0) {
        for (size_t i = 0; i < dating->values.count; i++) {
            if (reads_as(row[0].text.bytes, row[0].text.length, dating->values.values[i].name))
                sched_config_note(&dating->noted[i], row);
        }
    }
    return db_finish(rows);
}

static bool sched_config_is_same(const struct noted *noted, const char *value)
{
    if (!noted->there || !noted->value || !value)
        return noted->there && noted->value == value;
    return !strcmp(noted->value, value);
}

static bool sched_config_is_first(const struct dating *dating)
{
    for (size_t i = 0; i < dating->values.count; i++) {
        if (dating->noted[i].there)
            return false;
    }
    return true;
}

static int write_changes(const struct dating *dating, int64_t time, uint64_t *changed,
                         struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = dating->db, .table = "pbs_setting" };
    int64_t since = sched_config_is_first(dating) ? 0 : time;
    for (size_t i = 0; i < dating->values.count && !result; i++) {
        const struct dated_value *value = &dating->values.values[i];
        const struct noted *noted = &dating->noted[i];
        const struct row_field fields[] = {
            { "cluster", 't', db_text(dating->cluster) },
            { "name", 't', db_text(value->name) },
            { "since", 'i', db_integer(since) },
            { "value", 't', db_text(value->value) },
        };
        if (sched_config_is_same(noted, value->value))
            continue;
        result = noted->there ? dated_check(value->name, noted->since, time, err) : 0;
        if (!result)
            result = rows_add(&rows, fields, COUNT(fields), err);
        ++*changed;
    }
    return rows_end(&rows, result, err);
}

void dated_free(struct dated_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(values[i].value);
        values[i].value = NULL;
    }
}

int dated_store(struct db *db, const char *cluster, struct dated_values values, int64_t time,
                uint64_t *changed, struct error *err)
{
    struct dating dating = { db, cluster, values,
                             memory_zeroed(values.count, sizeof *dating.noted) };
    int result = read_noted(&dating, err) || write_changes(&dating, time, changed, err) ? -1 : 0;
    for (size_t i = 0; i < values.count; i++)
        free(dating.noted[i].value);
    free(dating.noted);
    return result;
}

static const struct parameter {
    const char *name;
    enum pbs_key key;
    bool (*read)(void *field, const char *value, struct text *reason);
} parameters[] = {
    { "fairshare_usage_res", PBS_USAGE_RES, read_pbs_formula },
    { "fairshare_entity", PBS_ENTITY, read_pbs_entity },
    { "fairshare_decay_time", PBS_DECAY_TIME, read_pbs_decay_time },
    { "half_life", PBS_DECAY_TIME, read_pbs_decay_time }, /* its former name */
    { "fairshare_decay_factor", PBS_DECAY_FACTOR, read_pbs_decay_factor },
    { "unknown_shares", PBS_UNKNOWN_SHARES, read_pbs_shares },
    { "fairshare_enforce_no_shares", PBS_ENFORCE_NO_SHARES, read_pbs_truth },
};

/*
 * Returns the next word, which ends before white space or `stop`, or the next text in quotes.  Ends
 * the word with NUL, and moves *at after the word.  Returns NULL at the end of the text.
 */
static char *next_word(char **at, char stop)
{
    char *word = *at;
    while (isspace((unsigned char)*word) || (*word && *word == stop))
        word++;
    if (!*word)
        return NULL;
    char *end = word;
    if (*word == '"' || *word == '\'') {
        end = ++word;
        while (*end && *end != word[-1])
            end++;
    } else {
        while (*end && !isspace((unsigned char)*end) && *end != stop)
            end++;
    }
    *at = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

static bool is_prime(const char *word)
{
    static const char *const words[] = { "prime", "PRIME", "non_prime", "NON_PRIME",
                                         "all",   "ALL",   "none",      "NONE" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strcmp(words[i], word))
            return true;
    }
    return false;
}

/*
 * The scheduler reads only the first word of a formula.  So if the next word, `rest`, is neither a
 * keyword nor a comment, the scheduler would use a different formula.
 */
static int check_rest(const struct parameter *parameter, const char *value, const char *rest,
                      struct error *err)
{
    if (!rest || parameter->key != PBS_USAGE_RES || is_prime(rest) || *rest == '#')
        return 0;
    return fail(err, ERROR_DATA, "'%s' follows '%s: %s'; put a value with spaces in quotes", rest,
                parameter->name, value);
}

/* The scheduler accepts `true` and `false` as numbers. */
static const char *sched_config_number_of(const struct parameter *parameter, const char *value)
{
    if (parameter->key != PBS_UNKNOWN_SHARES)
        return value;
    return !strcasecmp(value, "true") ? "1" : !strcasecmp(value, "false") ? "0" : value;
}

static int take_parameter(struct dated_value *values, const struct parameter *parameter, char *at,
                          struct error *err)
{
    const char *value = next_word(&at, ' ');
    if (!value || !*value)
        return fail(err, ERROR_DATA, "'%s' has no value", parameter->name);
    if (!strcmp(value, ":"))
        return fail(
            err, ERROR_DATA,
            "remove the space before the colon: the scheduler would use the colon as the value of "
            "'%s'",
            parameter->name);
    if (check_rest(parameter, value, next_word(&at, ' '), err))
        return -1;
    const char *asked = value;
    struct text reason = { 0 };
    int result = 0;
    if (!parameter->read(&value, sched_config_number_of(parameter, value), &reason))
        result = fail(err, ERROR_DATA, "'%s: %s': %s", parameter->name, asked, reason.bytes);
    text_free(&reason);
    if (result)
        return -1;
    struct dated_value *kept = &values[parameter->key];
    free(kept->value);
    kept->value = utf8_copy(value, strlen(value));
    return 0;
}

static int sched_config_take_line(void *context, char *line, struct error *err)
{
    char *at = line + strspn(line, " \t\r\n\v\f");
    if (!*at || *at == '#' || *at == '*')
        return 0;
    const char *name = next_word(&at, ':');
    if (!name)
        return fail(err, ERROR_DATA, "expected NAME: VALUE");
    if (!strncmp(name, "job_sort_formula", strlen("job_sort_formula")))
        return fail(
            err, ERROR_DATA,
            "the scheduler does not read '%s' here; set it with qmgr, and import it with --queue "
            "from the output of `qstat -Bf -F json`",
            name);
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        if (!strcmp(parameters[i].name, name))
            return take_parameter(context, &parameters[i], at, err);
    }
    return 0;
}

int sched_config_read(struct dated_value values[PBS_SCHED_KEYS], const char *path,
                      struct error *err)
{
    memset(values, 0, PBS_SCHED_KEYS * sizeof *values);
    for (size_t i = sizeof parameters / sizeof *parameters; i-- > 0;)
        values[parameters[i].key].name = parameters[i].name;
    if (!lines_read(path, true, sched_config_take_line, values, err))
        return 0;
    dated_free(values, PBS_SCHED_KEYS);
    return -1;
}

#define NAME_OF_DEFAULT "default"

struct sched_config_reader {
    struct dated_value *values;
    bool is_there;            /* the output contains the scheduler `default` */
    bool of_default;          /* the current lines describe the scheduler `default` */
    struct dated_value *open; /* the value that may continue on the next line, or NULL */
};

/* Cuts off the first word and returns the text after it. */
static char *cut_word(char *at)
{
    char *end = at + strcspn(at, " \t");
    char *next = end + strspn(end, " \t");
    *end = '\0';
    return next;
}

static struct dated_value *sched_config_value_named(struct dated_value *values, const char *name)
{
    for (size_t i = 0; i < SERVER_KEYS; i++)
        if (!strcmp(values[i].name, name))
            return &values[i];
    return NULL;
}

/* Returns a copy of a value, without the quotes that qmgr's `print` adds. */
static char *without_quotes(const char *value)
{
    size_t length = strlen(value);
    bool quoted = length > 1 && strchr("\"'", *value) && value[length - 1] == *value;
    return quoted ? utf8_copy(value + 1, length - 2) : utf8_copy(value, length);
}

/* Reads a line `NAME = VALUE`.  Ignores other lines. */
static void sched_config_take_attribute(struct sched_config_reader *reader, char *name)
{
    char *sign = cut_word(name);
    reader->open = NULL;
    if (!reader->of_default || *sign != '=' || (sign[1] && sign[1] != ' '))
        return;
    struct dated_value *value = sched_config_value_named(reader->values, name);
    if (!value)
        return;
    free(value->value);
    value->value = without_quotes(sign + 1 + strspn(sign + 1, " "));
    reader->open = value;
}

/* qmgr breaks a long value after a comma; the value continues on a line that begins with a tab. */
static void take_rest(struct sched_config_reader *reader, const char *rest)
{
    struct text whole = { 0 };
    if (!reader->open)
        return;
    text_add(&whole, reader->open->value);
    text_add(&whole, rest);
    free(reader->open->value);
    reader->open->value = memory_text(whole.bytes);
    text_free(&whole);
}

/*
 * Reads a line `Sched NAME` of `list`, or `set sched [NAME] ATTRIBUTE = VALUE` of `print`, which
 * omits the name of the scheduler `default`.
 */
static void sched_config_take_words(struct sched_config_reader *reader, char *line)
{
    char *rest = cut_word(line);
    if (!strcmp(line, "Sched")) {
        reader->of_default = !strcmp(rest, NAME_OF_DEFAULT);
    } else if (!strcmp(line, "set") && !strncmp(rest, "sched ", strlen("sched "))) {
        char *name = cut_word(rest), *sign = name + strcspn(name, " ");
        bool is_named = *sign && sign[1 + strspn(sign, " ") - 1] != '=';
        char *attribute = is_named ? cut_word(name) : name;
        reader->of_default = !is_named || !strcmp(name, NAME_OF_DEFAULT);
        sched_config_take_attribute(reader, attribute);
    }
    reader->is_there |= reader->of_default;
}

static int scheduler_take_line(void *context, char *line, struct error *err)
{
    struct sched_config_reader *reader = context;
    (void)err;
    line[strcspn(line, "\r\n")] = '\0';
    if (*line == '\t')
        take_rest(reader, line + strspn(line, "\t "));
    else if (*line == ' ')
        sched_config_take_attribute(reader, line + strspn(line, " "));
    else
        sched_config_take_words(reader, line);
    return 0;
}

static int sched_config_check(const struct sched_config_reader *reader, const char *path,
                              struct error *err)
{
    const struct dated_value *threshold = &reader->values[PBS_SORT_THRESHOLD - PBS_SCHED_KEYS];
    struct text reason = { 0 };
    const char *value = threshold->value ? threshold->value : "";
    int result = 0;
    if (!reader->is_there)
        result = fail(err, ERROR_DATA,
                      "scheduler '" NAME_OF_DEFAULT
                      "' is missing in '%s'; expected output of `qmgr -c 'list sched'`",
                      path);
    else if (!read_pbs_number(&value, value, &reason))
        result =
            fail(err, ERROR_DATA, "'%s': %s '%s': %s", path, threshold->name, value, reason.bytes);
    text_free(&reason);
    return result;
}

int scheduler_print_read(struct dated_value values[SERVER_KEYS], const char *path,
                         struct error *err)
{
    struct sched_config_reader reader = { .values = values };
    memset(values, 0, SERVER_KEYS * sizeof *values);
    for (size_t i = 0; i < SERVER_KEYS; i++)
        values[i].name = pbs_defaults[PBS_SCHED_KEYS + i].name;
    if (!lines_read(path, false, scheduler_take_line, &reader, err) &&
        !sched_config_check(&reader, path, err))
        return 0;
    dated_free(values, SERVER_KEYS);
    return -1;
}
