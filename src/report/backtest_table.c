/* SPDX-License-Identifier: MIT */
#include "report/backtest_table.h"

#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "core/insight/backtest.h"
#include "report/answer.h"
#include "util/memory.h"
#include "util/times.h"

struct backtest_table_row {
    const char *variant;
    const char *partition; /* NULL: none */
    struct backtest_entity entity, with;
    struct backtest_result result;
};

static void get_with(const void *of, struct cell *cell)
{
    const struct backtest_table_row *row = of;
    if (row->with.account)
        cell_format(cell, "%s/%s", row->with.account, row->with.user);
}

#define ROW(member) MEMBER(struct backtest_table_row, member)
static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "id_assoc", "Id", COLUMN_INTEGER, ROW(entity.id), .hidden = NOT_FOR_PEOPLE },
    { "account", "Account", COLUMN_TEXT, ROW(entity.account), .at_most = 20 },
    { "user_name", "User", COLUMN_TEXT, ROW(entity.user), .at_most = 16 },
    { "partition_name", "Partition", COLUMN_TEXT, ROW(partition), .optional = true },
    { "settings", "Settings", COLUMN_TEXT, ROW(variant) },
    { "points", "Points", COLUMN_INTEGER, ROW(result.points), .hidden = NOT_FOR_PEOPLE },
    { "share_due", "Due", COLUMN_REAL, ROW(entity.due), .decimals = 4 },
    { "use", "Used", COLUMN_REAL, ROW(result.use), .decimals = 4 },
    { "distance", "Apart", COLUMN_REAL, ROW(result.distance), .decimals = 4 },
    { "place", "Place", COLUMN_REAL, ROW(result.place), .decimals = 1 },
    { "turned", "Turned", COLUMN_REAL, ROW(result.discordant), .decimals = 1 },
    { "turned_with_account", "WithAccount", COLUMN_TEXT, ROW(with.account),
      .hidden = NOT_FOR_PEOPLE },
    { "turned_with_user", "WithUser", COLUMN_TEXT, ROW(with.user), .hidden = NOT_FOR_PEOPLE },
    { "turned_with_points", "WithPoints", COLUMN_INTEGER, ROW(result.with_points),
      .hidden = NOT_FOR_PEOPLE },
    { "turned_with", "With", COLUMN_TEXT, .get = get_with, .hidden = ONLY_FOR_PEOPLE,
      .optional = true, .expendable = 1 },
    { .name = NULL },
};
const struct table_layout backtest_layout = { columns, "associations", .by_cluster = true };

static const struct column point_columns[] = {
    CLUSTER_COLUMN,
    { "settings", "Settings", COLUMN_TEXT, MEMBER(struct backtest_value, variant) },
    { "as_of", "AsOf", COLUMN_TIME, MEMBER(struct backtest_value, as_of) },
    { "id_assoc", "Id", COLUMN_INTEGER, MEMBER(struct backtest_value, id),
      .hidden = NOT_FOR_PEOPLE },
    { "account", "Account", COLUMN_TEXT, MEMBER(struct backtest_value, account) },
    { "user_name", "User", COLUMN_TEXT, MEMBER(struct backtest_value, user) },
    { "partition_name", "Partition", COLUMN_TEXT, MEMBER(struct backtest_value, partition),
      .optional = true },
    { "fairshare", "FairShare", COLUMN_REAL, MEMBER(struct backtest_value, fairshare) },
    { "usage_raw", "RawUsage", COLUMN_USAGE, MEMBER(struct backtest_value, usage_raw) },
    { "level_fs", "LevelFS", COLUMN_REAL, MEMBER(struct backtest_value, level_fs) },
    { .name = NULL },
};
const struct table_layout backtest_points_layout = { point_columns, "points", .by_cluster = true };

/* ---- Selection of rows ---- */

struct ranked {
    const struct backtest_entity *entity;
    double discordant; /* the maximum over all variants */
    size_t number;
};

static int backtest_table_most_discordant_first(const void *a, const void *b)
{
    const struct ranked *one = a, *other = b;
    if (one->discordant < other->discordant || one->discordant > other->discordant)
        return one->discordant > other->discordant ? -1 : 1;
    return (one->number > other->number) - (one->number < other->number);
}

static struct ranked *backtest_table_choose(const struct backtest_print *print, size_t *count)
{
    size_t all = backtest_count(print->backtest);
    struct ranked *chosen = memory_zeroed(all + 1, sizeof *chosen);
    *count = 0;
    for (size_t i = 0; i < all; i++) {
        const struct backtest_entity *entity = backtest_entity(print->backtest, i);
        if (!entity->wanted || (print->top && !entity->is_user))
            continue;
        double discordant = 0;
        for (size_t k = 1; k < print->variants; k++)
            discordant = fmax(discordant, entity->results[k].discordant);
        chosen[(*count)++] = (struct ranked){ entity, discordant, i };
    }
    if (print->top)
        qsort(chosen, *count, sizeof *chosen, backtest_table_most_discordant_first);
    if (print->top && print->top < *count)
        *count = (size_t)print->top;
    return chosen;
}

/* ---- Summary of each variant ---- */

static json_t *backtest_table_facts_of(const struct backtest_print *print)
{
    json_t *variants = json_array();
    for (size_t i = 0; i < print->variants; i++) {
        const struct backtest_variant variant = backtest_variant(print->backtest, i);
        json_array_append_new(variants,
                              json_pack("{s:s, s:I, s:o, s:o}", "settings", print->labels[i],
                                        "points", (json_int_t)variant.points, "distance",
                                        form_json_real(variant.distance), "turned",
                                        i ? form_json_real(variant.discordant) : json_null()));
    }
    size_t count = print->time_count;
    return json_pack(
        "{s:o, s:o, s:o}", "since", count ? json_integer(print->times[0]) : json_null(), "until",
        count ? json_integer(print->times[count - 1]) : json_null(), "settings", variants);
}

static void add_sentences(struct answer *answer, const struct backtest_print *print)
{
    answer_say(answer, "\n");
    for (size_t i = 0; i < print->variants; i++) {
        const struct backtest_variant variant = backtest_variant(print->backtest, i);
        if (!variant.points)
            answer_say(answer, "%s: no points", print->labels[i]);
        else
            answer_say(answer, "%s: usage and shares differ by %.1f %%", print->labels[i],
                       100 * variant.distance);
        if (i && variant.points)
            answer_say(answer, "; %.1f %% of pairs are discordant", 100 * variant.discordant);
        answer_say(answer, "\n");
    }
    text_add(answer_text(answer),
             "\nDue, Used and Apart are means of all points: the share of the cluster, the\n"
             "fraction of its decayed usage, and the distance between these two.  Turned is\n"
             "the mean number of users whose order relative to the user is reversed.\n"
             "Jobs are not scheduled again: they are the same under all settings.\n");
}

void backtest_answer(const struct backtest_print *print, struct answer *answer)
{
    size_t count, times = print->time_count;
    struct ranked *chosen = backtest_table_choose(print, &count);
    answer_cluster(answer, &(struct table_cluster){ .name = print->cluster,
                                                    .facts = answer_wants_facts(answer)
                                                                 ? backtest_table_facts_of(print)
                                                                 : NULL });
    answer_say(answer, "%s: %zu points", print->cluster, times);
    if (times)
        answer_say(answer, ", from %s to %s", time_text(print->times[0]).bytes,
                   time_text(print->times[times - 1]).bytes);
    answer_say(answer, "\n");
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < print->variants; k++) {
            const struct backtest_entity *entity = chosen[i].entity,
                                         *with = entity->results[k].with;
            answer_row(answer, &(struct backtest_table_row){
                                   .variant = print->labels[k],
                                   .partition = *entity->partition ? entity->partition : NULL,
                                   .entity = *entity,
                                   .with = with ? *with : (struct backtest_entity){ 0 },
                                   .result = entity->results[k] });
        }
    answer_close(answer);
    if (print->has_sentences)
        add_sentences(answer, print);
    free(chosen);
}
