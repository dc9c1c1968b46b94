/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/command.h"
#include "run/backfill.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/log.h"
#include "util/times.h"

struct command_backfill_options {
    struct shared_options shared;
    struct option_time since, until;
    const char *every;
    uint64_t every_s;
    bool replace;
};

static const struct command_option own_options[] = {
    { "since", NULL, 0, OPTION_TIME, AT(command_backfill_options, since), "TIME",
      .help = "Start at TIME (default: oldest job or history_days)" },
    { "until", NULL, 0, OPTION_TIME, AT(command_backfill_options, until), "TIME",
      .help = "End at TIME (default: five minutes ago)" },
    { "every", NULL, 0, OPTION_VALUE, AT(command_backfill_options, every), "DURATION",
      .help = "Set the time between points, such as 6h (default: 1d)" },
    { "replace", NULL, 0, OPTION_FLAG, AT(command_backfill_options, replace), NULL,
      .help = "Recompute points that an earlier backfill computed" },
    { .name = NULL },
};

struct teller {
    bool dry_run;
    struct text text;
};

/*
 * Adds a cluster's report, such as:
 *
 *     alpha: 365 history points computed
 *       from 2025-11-24T00:00:00 to 2026-11-23T00:00:00; 20 already stored
 *       usage by TRES of 120 days filled from the rollups of slurmdbd
 */
static void backfill_command_tell(void *context, const char *cluster,
                                  const struct backfill_result *result)
{
    struct teller *teller = context;
    struct text *text = &teller->text;
    text_add_printable(text, cluster);
    text_format(text, ": %zu history point%s %s", result->points, result->points == 1 ? "" : "s",
                teller->dry_run ? "to be computed" : "computed");
    if (result->first) {
        text_add(text, "\n  from ");
        time_add(text, result->first);
        text_add(text, " to ");
        time_add(text, result->last);
    }
    if (result->there)
        text_format(text, "; %zu already stored", result->there);
    text_add(text, "\n");
    if (result->tres.filled)
        text_format(text, "  usage by TRES of %zu day%s %s from the rollups of slurmdbd\n",
                    result->tres.filled, result->tres.filled == 1 ? "" : "s",
                    teller->dry_run ? "to be filled" : "filled");
    if (result->tres.missing > result->tres.filled)
        text_format(text, "  no usage by TRES of %zu day%s: the rollups of slurmdbd have none\n",
                    result->tres.missing - result->tres.filled,
                    result->tres.missing - result->tres.filled == 1 ? "" : "s");
    if (result->skipped)
        text_format(text, "  skipped %zu time%s; the first: %s\n", result->skipped,
                    result->skipped == 1 ? "" : "s", result->why);
    if (result->most_in_doubt)
        text_format(text,
                    "  up to %" PRIu64 " associations of a point have an uncertain past state\n  "
                    "(fairmill_backfill has the number for each point)\n",
                    result->most_in_doubt);
    if (result->points && !teller->dry_run && result->truncation_bound > 0)
        text_format(
            text,
            "  if jobs were purged, values at the first points may be up to %.1f %% too low\n",
            100 * result->truncation_bound);
}

static int backfill_check(struct command_context *context, struct error *err)
{
    struct command_backfill_options *asked = context->options;
    return option_duration("every", asked->every, "1d", &asked->every_s, err);
}

static int backfill_answer(struct command_context *context, struct error *err)
{
    const struct command_backfill_options *asked = context->options;
    const struct shared_options *shared = context->shared;
    struct teller teller = { .dry_run = shared->dry_run };
    const struct backfill_options options = {
        .clusters = { shared->clusters.values, shared->clusters.count },
        .times = { .since = asked->since.text ? &asked->since.at : NULL,
                   .until = asked->until.text ? &asked->until.at : NULL,
                   .every_s = asked->every_s },
        .replace = asked->replace,
        .dry_run = shared->dry_run,
        .complain = complain,
    };
    int result = backfill(context->settings, &options, backfill_command_tell, &teller, err);
    if (!result && teller.text.length)
        result = command_print(&teller.text, err);
    text_free(&teller.text);
    return result;
}

const struct command command_backfill = {
    .name = "backfill",
    .group = GROUP_COMPUTE,
    .summary = "Compute missing history points and usage by TRES",
    .usage = "[OPTION...]",
    .description =
        "Compute missing history points for past times.  Fill the usage by TRES of past\n"
        "days from slurmdbd's rollups.  Published values do not change.\n",
    .shared = TAKES_CLUSTERS | TAKES_DRY_RUN | TAKES_VERBOSE,
    .options = own_options,
    .options_size = sizeof(struct command_backfill_options),
    .use = SETTINGS_FOR_ALL,
    .check = backfill_check,
    .answer = backfill_answer,
};
