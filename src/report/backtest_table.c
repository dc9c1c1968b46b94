/* SPDX-License-Identifier: MIT */
#include "report/backtest_table.h"

#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "core/insight/backtest.h"
#include "report/answer.h"
#include "report/forms.h"
#include "util/memory.h"
#include "util/times.h"

struct backtest_table_row {
    const char *variant;
    const struct backtest_entity *entity;
    const struct backtest_result *result;
};

enum { ACCOUNT, USER, PARTITION, WITH_ACCOUNT, WITH_USER, WITH };
enum { DUE, USE, DISTANCE, PLACE, DISCORDANT };

static void backtest_table_get_text(const void *of, struct cell *cell)
{
    const struct backtest_table_row *row = of;
    const struct backtest_entity *with = row->result->with;
    switch (cell->column->index) {
    case ACCOUNT:
        cell_text(cell, row->entity->account);
        break;
    case USER:
        cell_text(cell, row->entity->user);
        break;
    case PARTITION:
        cell_text(cell, *row->entity->partition ? row->entity->partition : NULL);
        break;
    case WITH_ACCOUNT:
        cell_text(cell, with ? with->account : NULL);
        break;
    case WITH_USER:
        cell_text(cell, with ? with->user : NULL);
        break;
    default:
        if (with)
            cell_format(cell, "%s/%s", with->account, with->user);
    }
}

static void backtest_table_get_real(const void *of, struct cell *cell)
{
    const struct backtest_table_row *row = of;
    const double values[] = { row->entity->due, row->result->use, row->result->distance,
                              row->result->place, row->result->discordant };
    cell_real(cell, values[cell->column->index]);
}

static void get_count(const void *of, struct cell *cell)
{
    const struct backtest_table_row *row = of;
    const size_t counts[] = { row->entity->id, row->result->points, row->result->with_points };
    cell_integer(cell, (int64_t)counts[cell->column->index]);
}

#define TEXT(which) COLUMN_TEXT, .get = backtest_table_get_text, .index = which
#define REAL(which) COLUMN_REAL, .get = backtest_table_get_real, .index = which
#define COUNTED(which) COLUMN_INTEGER, .get = get_count, .index = which

static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "id_assoc", "Id", COUNTED(0), .hidden = NOT_FOR_PEOPLE },
    { "account", "Account", TEXT(ACCOUNT), .at_most = 20 },
    { "user_name", "User", TEXT(USER), .at_most = 16 },
    { "partition_name", "Partition", TEXT(PARTITION), .optional = true },
    { "settings", "Settings", COLUMN_TEXT, MEMBER(struct backtest_table_row, variant) },
    { "points", "Points", COUNTED(1), .hidden = NOT_FOR_PEOPLE },
    { "share_due", "Due", REAL(DUE), .decimals = 4 },
    { "use", "Used", REAL(USE), .decimals = 4 },
    { "distance", "Apart", REAL(DISTANCE), .decimals = 4 },
    { "place", "Place", REAL(PLACE), .decimals = 1 },
    { "turned", "Turned", REAL(DISCORDANT), .decimals = 1 },
    { "turned_with_account", "WithAccount", TEXT(WITH_ACCOUNT), .hidden = NOT_FOR_PEOPLE },
    { "turned_with_user", "WithUser", TEXT(WITH_USER), .hidden = NOT_FOR_PEOPLE },
    { "turned_with_points", "WithPoints", COUNTED(2), .hidden = NOT_FOR_PEOPLE },
    { "turned_with", "With", TEXT(WITH), .hidden = ONLY_FOR_PEOPLE, .optional = true,
      .expendable = 1 },
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

/* ---- Which rows ---- */

struct ranked {
    const struct backtest_entity *entity;
    double discordant; /* the most under any variant */
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

/* ---- What they come to ---- */

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
            answer_say(answer, "%s: users' use and shares are %.1f %% apart", print->labels[i],
                       100 * variant.distance);
        if (i && variant.points)
            answer_say(answer, "; %.1f %% of pairs are turned", 100 * variant.discordant);
        answer_say(answer, "\n");
    }
    text_add(answer_text(answer),
             "\nDue, Used and Apart are means of all points: the share of the whole, the part\n"
             "of the whole's decayed usage, and how far these two are from each other.  Turned\n"
             "is with how many users one has changed places, on average.\n"
             "Nothing is scheduled anew: users did what they did under the settings of then.\n");
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
        for (size_t k = 0; k < print->variants; k++)
            answer_row(answer, &(struct backtest_table_row){ print->labels[k], chosen[i].entity,
                                                             &chosen[i].entity->results[k] });
    answer_close(answer);
    if (print->has_sentences)
        add_sentences(answer, print);
    free(chosen);
}
