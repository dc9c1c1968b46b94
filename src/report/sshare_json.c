/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/tree/association.h"
#include "report/sshare_print.h"
#include "util/error.h"
#include "util/memory.h"

/* Slurm 26.05 writes an infinite level as 2^64 and undefined NormShares as 1/NO_VAL. */
#define INFINITE_FROM 1.8e19
#define UNDEFINED_UP_TO 2.4e-10

/*
 * Reads a number, or an object with `number`, `set` and `infinite`.  Sets `*number` to NOT_PRINTED
 * if the value is not set.
 */
static bool sshare_json_take_number(struct printed_number *number, const json_t *value)
{
    bool is_object = json_is_object(value);
    const json_t *plain = is_object ? json_object_get(value, "number") : value;
    double read = json_number_value(plain), error = fabs(read) * 4e-16;
    bool infinite = is_object && json_is_true(json_object_get(value, "infinite"));
    *number = NOT_PRINTED;
    if (infinite || (json_is_number(plain) && read >= INFINITE_FROM))
        *number = (struct printed_number){ INFINITY, INFINITY };
    else if (!value || json_is_null(value) ||
             (is_object && json_is_false(json_object_get(value, "set"))))
        return true;
    else if (json_is_number(plain) && read >= 0)
        *number = (struct printed_number){ fmax(read - error, 0), read + error };
    else
        return false;
    return true;
}

static bool sshare_json_take_shares(struct printed_row *row, const json_t *value)
{
    struct printed_number number;
    if (!sshare_json_take_number(&number, value) || number.low > UINT32_MAX)
        return false;
    row->has_shares = printed_is_there(&number);
    row->shares = row->has_shares ? llround(printed_middle(&number)) : 0;
    row->parent_shares = row->shares == SHARES_PARENT;
    return true;
}

static bool sshare_json_take_usage(struct printed_row *row, const json_t *value)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    double usage = (double)json_integer_value(value);
    row->raw_usage = (struct printed_number){ usage, usage + 1 };
    return true;
}

static const char *sshare_json_text_of(struct sshare_print *print, const json_t *row,
                                       const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? arena_copy(print->arena, text, strlen(text)) : NULL;
}

static bool sshare_json_take_names(struct sshare_print *print, struct printed_row *row,
                                   const json_t *from)
{
    const char *name = sshare_json_text_of(print, from, "name"),
               *parent = sshare_json_text_of(print, from, "parent");
    const char *type = json_string_value(json_array_get(json_object_get(from, "type"), 0));
    row->partition = sshare_json_text_of(print, from, "partition");
    row->id = json_integer_value(json_object_get(from, "id"));
    bool is_user = type && !strcmp(type, "USER");
    row->account = is_user ? parent : name;
    row->user = is_user ? name : "";
    return row->id > 0 && row->account && row->user;
}

/* Returns the key of the value that cannot be read, or NULL. */
static const char *take_values(struct printed_row *row, const json_t *from)
{
    const json_t *fairshare = json_object_get(from, "fairshare");
    const struct {
        const char *key;
        const json_t *parent;
        struct printed_number *number;
    } numbers[] = { { "shares_normalized", from, &row->norm_shares },
                    { "usage_normalized", from, &row->norm_usage },
                    { "effective_usage", from, &row->effective_usage },
                    { "factor", fairshare, &row->fairshare },
                    { "level", fairshare, &row->level_fs } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!sshare_json_take_number(numbers[i].number,
                                     json_object_get(numbers[i].parent, numbers[i].key)) ||
            (numbers[i].number != &row->level_fs && isinf(numbers[i].number->low)))
            return numbers[i].key;
    if (row->norm_shares.high <= UNDEFINED_UP_TO && row->norm_shares.low > 0)
        row->norm_shares = NOT_PRINTED;
    /* Fair Tree gives accounts no factor. */
    if (!*row->user && row->fairshare.high <= 0)
        row->fairshare = NOT_PRINTED;
    if (!sshare_json_take_shares(row, json_object_get(from, "shares")))
        return "shares";
    return sshare_json_take_usage(row, json_object_get(from, "usage")) ? NULL : "usage";
}

static int sshare_json_take_row(struct sshare_print *print, const json_t *from, size_t index,
                                const char *cluster, struct error *err)
{
    struct printed_row row = PRINTED_ROW;
    const char *name = json_string_value(json_object_get(from, "cluster"));
    if (name && strcmp(name, cluster) != 0)
        return 0;
    const char *bad =
        sshare_json_take_names(print, &row, from) ? take_values(&row, from) : "id or name";
    if (bad)
        return fail(err, ERROR_DATA, "shares.shares[%zu]: cannot read its %s", index, bad);
    *memory_append(&print->rows, &print->count) = row;
    return 0;
}

/* Slurm 24.11 without Fair Tree writes each factor as 0. */
static void drop_missing_factors(struct sshare_print *print)
{
    for (size_t i = 0; i < print->count; i++)
        if (print->rows[i].fairshare.high > 0)
            return;
    for (size_t i = 0; i < print->count; i++)
        print->rows[i].fairshare = NOT_PRINTED;
}

static int sshare_json_take_rows(struct sshare_print *print, const json_t *root,
                                 const char *cluster, struct error *err)
{
    const json_t *rows = json_object_get(json_object_get(root, "shares"), "shares");
    if (!json_is_array(rows))
        return fail(err, ERROR_DATA,
                    "this JSON has no list shares.shares; use `sshare -a --json` or `sshare -a -l "
                    "-P -m`");
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (sshare_json_take_row(print, json_array_get(rows, i), i, cluster, err))
            return -1;
    drop_missing_factors(print);
    return 0;
}

int sshare_json_read(struct sshare_print *print, struct span text, const char *cluster,
                     struct error *err)
{
    json_error_t reason;
    *print = (struct sshare_print){ .arena = arena_create() };
    json_t *root = json_loadb(text.bytes, text.length, 0, &reason);
    int result =
        root ? sshare_json_take_rows(print, root, cluster, err)
             : fail(err, ERROR_DATA,
                    "not valid JSON of `sshare --json` (YAML is not supported): %s, in line %d",
                    reason.text, reason.line);
    json_decref(root);
    return sshare_print_end(print, result, cluster, err);
}
