/* SPDX-License-Identifier: MIT */
#include "report/slurm_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/fairshare/fairshare.h"
#include "core/tree/association.h"
#include "report/answer.h"
#include "report/shares.h"
#include "util/memory.h"
#include "util/number.h"

#define DATA_PARSER "data_parser/v0.0.42"
/* Slurm divides the shares by NO_VAL, 2^32 - 2, if it does not compute NormShares. */
#define UNDEFINED_NORM_SHARES (1.0 / 4294967294.0)

/* Adds `"key": ` and, before it, the comma after the previous member. */
static void slurm_json_key(struct text *text, const char *key)
{
    char last = text->length ? text->bytes[text->length - 1] : '{';
    text_add(text, last == '{' || last == '[' ? "" : ",");
    text_add(text, "\"");
    text_add(text, key);
    text_add(text, "\":");
}

static void slurm_json_text(struct text *text, const char *key, const char *value)
{
    slurm_json_key(text, key);
    form_add_json(text, json_string(value));
}

static void slurm_json_flags(struct text *text, bool set, bool infinite)
{
    text_add(text, set ? "{\"set\":true" : "{\"set\":false");
    text_add(text, infinite ? ",\"infinite\":true" : ",\"infinite\":false");
    text_add(text, ",\"number\":");
}

/* Adds a member with a number; NAN is undefined. */
static void slurm_json_real(struct text *text, const char *key, double number)
{
    slurm_json_key(text, key);
    slurm_json_flags(text, isfinite(number), isinf(number) != 0);
    form_add_json_real(text, isfinite(number) ? number : 0);
    text_add(text, "}");
}

static void slurm_json_integer(struct text *text, const char *key, bool set, int64_t number)
{
    slurm_json_key(text, key);
    slurm_json_flags(text, set, false);
    text_format(text, "%" PRId64 "}", number);
}

/* ---- TRES ---- */

static void slurm_json_begin_tres(struct text *text, const char *name)
{
    text_add(text, text->bytes[text->length - 1] == '[' ? "{" : ",{");
    slurm_json_text(text, "name", name);
}

static void slurm_json_add_limit(struct text *text, const char *name, bool limited, int64_t minutes)
{
    slurm_json_begin_tres(text, name);
    slurm_json_key(text, "value");
    slurm_json_flags(text, limited, !limited);
    text_format(text, "%" PRId64 "}}", minutes);
}

/* Finds the limit of a TRES in a list such as `cpu=100,gres/gpu=5`, which may be NULL. */
static bool slurm_json_find_limit(const char *limits, const char *name, int64_t *minutes)
{
    size_t length = strlen(name);
    uint64_t number;
    *minutes = 0;
    for (const char *at = limits; at && *at; at += strcspn(at, ","), at += *at == ',') {
        if (strncmp(at, name, length) != 0 || at[length] != '=')
            continue;
        const char *digits = at + length + 1;
        if (!number_unsigned(digits, strcspn(digits, ","), &number) || number > INT64_MAX)
            return false;
        *minutes = (int64_t)number;
        return true;
    }
    return false;
}

static void slurm_json_add_limits(struct text *text, const struct share_list *list,
                                  const struct share_row *row)
{
    int64_t minutes;
    for (size_t i = 0; i < list->tres_count; i++) {
        bool limited = slurm_json_find_limit(row->grp_tres_mins, list->tres[i], &minutes);
        slurm_json_add_limit(text, list->tres[i], limited, minutes);
    }
}

static void slurm_json_add_tres(struct text *text, const struct share_list *list,
                                const struct share_row *row)
{
    slurm_json_key(text, "tres");
    text_add(text, "{\"run_seconds\":[");
    for (size_t i = 0; i < list->tres_count; i++) {
        slurm_json_begin_tres(text, list->tres[i]);
        slurm_json_integer(text, "value", true, row->tres_running ? row->tres_running[i] : 0);
        text_add(text, "}");
    }
    text_add(text, "],\"group_minutes\":[");
    slurm_json_add_limits(text, list, row);
    text_add(text, "],\"usage\":[");
    for (size_t i = 0; i < list->tres_count; i++) {
        slurm_json_begin_tres(text, list->tres[i]);
        text_add(text, ",\"value\":");
        form_add_json_real(text, row->tres_used ? row->tres_used[i] : 0);
        text_add(text, "}");
    }
    text_add(text, "]}");
}

/* ---- Rows ---- */

/* Slurm computes a level only under Fair Tree.  The root and accounts with `parent` shares have
 * none; users with `parent` shares come first, so theirs is infinite. */
static double slurm_json_level(const struct share_list *list, const struct share_row *row)
{
    if (!list->algorithm->ranks_users)
        return 0;
    if (!row->parent_id)
        return NAN;
    if (row->parent_shares)
        return *row->user ? INFINITY : NAN;
    return row->level_fs;
}

static double slurm_json_norm_shares(const struct share_list *list, const struct share_row *row)
{
    if (row->parent_id && !isnan(row->norm_shares))
        return row->norm_shares;
    return list->algorithm->ranks_users ? UNDEFINED_NORM_SHARES : 1;
}

static void slurm_json_add_values(struct text *text, const struct share_list *list,
                                  const struct share_row *row)
{
    slurm_json_real(text, "effective_usage", row->parent_id ? row->effective_usage : 1);
    slurm_json_real(text, "usage_normalized", row->parent_id ? row->norm_usage : NAN);
    slurm_json_key(text, "usage");
    double most = 0x1.fffffffffffffp63; /* of 64 bits */
    text_format(text, "%" PRIu64, row->raw_usage > 0 ? (uint64_t)fmin(row->raw_usage, most) : 0);
    slurm_json_key(text, "fairshare");
    text_add(text, "{");
    /* The factor of an association without one, such as an account under Fair Tree, is 0. */
    slurm_json_real(text, "factor", isnan(row->fairshare) ? 0 : row->fairshare);
    slurm_json_real(text, "level", slurm_json_level(list, row));
    text_add(text, "}");
    slurm_json_key(text, "type");
    text_add(text, *row->user ? "[\"USER\"]" : "[\"ASSOCIATION\"]");
}

static void slurm_json_add_row(struct text *text, const struct share_list *list,
                               const struct share_row *row, const char *parent)
{
    text_format(text, "{\"id\":%" PRId64, row->id);
    slurm_json_text(text, "cluster", list->cluster);
    slurm_json_text(text, "name", *row->user ? row->user : row->account);
    slurm_json_text(text, "parent", parent);
    slurm_json_text(text, "partition", row->partition);
    slurm_json_real(text, "shares_normalized", slurm_json_norm_shares(list, row));
    slurm_json_integer(text, "shares", row->parent_id != 0,
                       !row->parent_id      ? 0
                       : row->parent_shares ? SHARES_PARENT
                                            : row->shares);
    slurm_json_add_tres(text, list, row);
    slurm_json_add_values(text, list, row);
    text_add(text, "}");
}

static void slurm_json_add_rows(const struct share_list *list, struct answer *answer)
{
    struct text *text = answer_text(answer);
    /* The accounts on the path to the current row, indexed by depth. */
    const char **path = memory_zeroed(list->count + 1, sizeof *path);
    const char *between = "\n";
    for (size_t i = 0; i < list->count; i++) {
        const struct share_row *row = &list->rows[i];
        path[row->depth] = row->account;
        if (!row->shown)
            continue;
        text_add(text, between);
        slurm_json_add_row(text, list, row, row->depth ? path[row->depth - 1] : "");
        answer_print_if_long(answer);
        between = ",\n";
    }
    free(path);
}

/* ---- The document ---- */

/* Adds the parts of a release such as 24.11 or 24.11.5.  Slurm writes the patch level as `micro`,
 * before `minor`. */
static void slurm_json_add_version(struct text *text, const char *release)
{
    static const char *const keys[] = { "major", "micro", "minor" };
    static const size_t places[] = { 0, 2, 1 };
    slurm_json_key(text, "version");
    text_add(text, "{");
    for (size_t i = 0; i < 3; i++) {
        const char *at = release;
        for (size_t place = 0; place < places[i]; place++) {
            at += strcspn(at, ".");
            at += *at == '.';
        }
        slurm_json_key(text, keys[i]);
        form_add_json(text, json_stringn(at, strcspn(at, ".")));
    }
    text_add(text, "}");
}

static void slurm_json_add_meta(struct text *text, const struct share_list *list,
                                const struct slurm_json_meta *meta)
{
    const char *release = meta->release ? meta->release : "";
    slurm_json_key(text, "meta");
    text_add(text, "{\"plugin\":{\"type\":\"\",\"name\":\"\",\"data_parser\":\"" DATA_PARSER "\"");
    slurm_json_text(text, "accounting_storage",
                    meta->from_slurmdbd ? "accounting_storage/slurmdbd" : "");
    text_add(text, "},\"client\":{");
    slurm_json_text(text, "source", PACKAGE_NAME " " PACKAGE_VERSION);
    slurm_json_text(text, "user", meta->user ? meta->user : "");
    slurm_json_text(text, "group", meta->group ? meta->group : "");
    text_add(text, "},\"command\":[");
    for (const char *const *word = meta->command; *word; word++) {
        text_add(text, word == meta->command ? "" : ",");
        form_add_json(text, json_string(*word));
    }
    text_add(text, "],\"slurm\":{");
    slurm_json_add_version(text, release);
    slurm_json_text(text, "release", release);
    slurm_json_text(text, "cluster", list->cluster);
    text_add(text, "}}");
}

void slurm_json_answer(const struct share_list *list, const struct slurm_json_meta *meta,
                       struct answer *answer)
{
    struct text *text = answer_text(answer);
    text_add(text, "{\"shares\":{\"shares\":[");
    slurm_json_add_rows(list, answer);
    text_add(text, "\n],\"total_shares\":0}");
    slurm_json_add_meta(text, list, meta);
    text_add(text, ",\"errors\":[],\"warnings\":[");
    if (meta->warning) {
        text_add(text, "{");
        slurm_json_text(text, "description", meta->warning);
        slurm_json_text(text, "source", PACKAGE_NAME);
        text_add(text, "}");
    }
    text_add(text, "]}\n");
}
