/* SPDX-License-Identifier: MIT */
#include "command/notify/notify_thresholds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/explain/explain_standing.h"
#include "command/notify/notify_sender.h"
#include "core/tree/tree.h"
#include "report/amounts.h"
#include "report/answer.h"
#include "report/budget.h"
#include "report/standing.h"
#include "report/terminal.h"
#include "results/published_budgets.h"
#include "settings/settings.h"
#include "util/memory.h"

/* A value must fall below this part of its threshold before the threshold is notified again, so
 * that a value that varies around the threshold causes one message. */
#define AGAIN_BELOW 0.9

/* A value that has a threshold.  Both are quotients: 0.8 is 80 %. */
struct threshold {
    struct notice notice;
    uint32_t node;
    double value, limit;
    struct budget_row *budget; /* of a budget; NULL for a share */
};

struct notify_values {
    struct notify_cluster *of;
    struct threshold *list;
    size_t count;
    struct budget_rows budgets;
    int enforced; /* as published_enforcement_read() sets it */
};

/* ---- Values ---- */

static void notify_add_shares(struct notify_values *values)
{
    const struct published_cluster *cluster = values->of->cluster;
    for (uint32_t i = 1; i < cluster->tree->count; i++) {
        const struct node *node = &cluster->tree->nodes[i];
        const struct values *of = &cluster->values[i];
        if (node->is_user || node_has_parent_shares(node) || !(of->shares_norm > 0) ||
            !values->of->has_users[i])
            continue;
        *memory_append(&values->list, &values->count) =
            (struct threshold){ .notice = { NOTICE_SHARE, node->id, "", NULL },
                                .node = i,
                                .value = of->usage_norm / of->shares_norm,
                                .limit = values->of->notify->settings->mail_share };
    }
}

/* Adds the limits of accounts.  A limit of 0 forbids the TRES, so it is not a budget. */
static int notify_add_budgets(struct notify_values *values, struct error *err)
{
    const struct notify *notify = values->of->notify;
    const struct published_cluster *cluster = values->of->cluster;
    if (published_budgets_read(notify->published, cluster, NULL, &values->budgets, err) ||
        published_enforcement_read(notify->published, cluster, &values->enforced, err))
        return -1;
    for (size_t i = 0; i < values->budgets.count; i++) {
        struct budget_row *row = &values->budgets.rows[i];
        uint32_t node = tree_place(cluster->tree, (uint64_t)row->id);
        if (strcmp(row->kind, "association") != 0 || *row->user || row->limit <= 0 ||
            node == NO_NODE || cluster->tree->nodes[node].id != row->id)
            continue;
        *memory_append(&values->list, &values->count) =
            (struct threshold){ .notice = { NOTICE_BUDGET, row->id, row->tres, NULL },
                                .node = node,
                                .value = row->used_percent / 100,
                                .limit = notify->settings->mail_budget / 100,
                                .budget = row };
    }
    return 0;
}

/* ---- Messages ---- */

static int notify_add_budget(const struct notify_values *values, const struct threshold *threshold,
                             struct notify_message *message, struct error *err)
{
    static const struct table_options options = { .form = TABLE_FOR_PEOPLE };
    const struct notify_cluster *of = values->of;
    struct text *body = &message->mail.body, percent = { 0 };
    struct budget_rows one = { threshold->budget, 1 };
    const struct budget_view view = { .cluster = of->cluster->name,
                                      .as_of = of->cluster->as_of,
                                      .all = &one,
                                      .enforced = values->enforced };
    struct answer *answer = answer_create(&budget_layout, &options, NULL, err);
    if (!answer)
        return -1;
    amount_add_percent(&percent, threshold->value);
    text_format_printable(&message->mail.subject, "%s on %s has used %s of its %s budget",
                          notify_account(of, threshold->node), of->cluster->name, percent.bytes,
                          threshold->budget->tres);
    budget_add_answer(&view, answer);
    int result = answer_end(answer, err);
    if (!result)
        text_add(body, answer_text(answer)->bytes);
    answer_destroy(answer);
    text_free(&percent);
    if (values->enforced) {
        text_add(body, "\n");
        terminal_say(body, 0,
                     "When the limit is reached, jobs of the account that use %s do not start. "
                     "They wait, and `squeue` shows a reason such as AssocGrpCPUMinutesLimit.%s",
                     threshold->budget->tres,
                     of->cluster->half_life ? " The used minutes decay, so jobs start again later."
                                            : "");
    }
    notify_add_commands_title(body);
    notify_add_command(body, of, "budget", threshold->node);
    notify_add_command(body, of, "explain", threshold->node);
    return result;
}

static int notify_add_share(const struct notify_values *values, const struct threshold *threshold,
                            struct notify_message *message, struct error *err)
{
    const struct notify_cluster *of = values->of;
    struct text *body = &message->mail.body, ratio = { 0 }, sentences = { 0 };
    struct explain_standing standing;
    int result =
        explain_standing_read(&standing, of->notify->published, of->cluster, threshold->node, err);
    if (!result) {
        amount_add_ratio(&ratio, threshold->value);
        text_format_printable(&message->mail.subject, "%s on %s has used %s times its share",
                              notify_account(of, threshold->node), of->cluster->name, ratio.bytes);
        standing_add_sentences(&sentences, &standing.facts, threshold->node);
        terminal_say(body, 0, "Cluster %s: %s", of->cluster->name, sentences.bytes);
        text_add(body, "\n");
        terminal_say(body, 0,
                     "Pending jobs of the account come after those of accounts that used less of "
                     "their shares. They still start on nodes that no other job needs.%s",
                     of->cluster->half_life ? " Usage decays, so their place improves while the "
                                              "account uses less than its share."
                                            : "");
        notify_add_commands_title(body);
        notify_add_command(body, of, "explain", threshold->node);
        notify_add_command(body, of, "statement", threshold->node);
    }
    explain_standing_free(&standing);
    text_free(&ratio);
    text_free(&sentences);
    return result;
}

/* Returns the nearest account at or above the node that has coordinators, or NO_NODE. */
static uint32_t notify_recipients(const struct notify_cluster *of, uint32_t node)
{
    const struct notify *notify = of->notify;
    for (uint32_t at = node; at != NO_NODE; at = of->cluster->tree->nodes[at].parent)
        for (size_t i = 0; i < notify->coordinator_count; i++)
            if (notify_coordinates(of, &notify->coordinators[i], at))
                return at;
    return NO_NODE;
}

static void notify_add_again(struct text *body, const struct threshold *threshold,
                             const char *coordinated)
{
    struct text below = { 0 }, limit = { 0 };
    void (*add)(struct text *, double) = threshold->budget ? amount_add_percent : amount_add_ratio;
    add(&below, threshold->limit * AGAIN_BELOW);
    add(&limit, threshold->limit);
    text_add(body, "\n");
    terminal_say(body, 0,
                 "You get this message as a coordinator of account '%s'. You get it again if the "
                 "usage falls below %s and then reaches %s %s.",
                 coordinated, below.bytes, limit.bytes,
                 threshold->budget ? "of the limit" : "times the share");
    text_free(&below);
    text_free(&limit);
}

static int notify_reached(const struct notify_values *values, const struct threshold *threshold,
                          struct error *err)
{
    struct notify_cluster *of = values->of;
    struct notify_message message = { .notice = threshold->notice };
    uint32_t recipients = notify_recipients(of, threshold->node);
    if (recipients == NO_NODE || !notify_has_pending(of, recipients, &threshold->notice))
        return 0;
    int result = threshold->budget ? notify_add_budget(values, threshold, &message, err)
                                   : notify_add_share(values, threshold, &message, err);
    if (!result) {
        notify_add_again(&message.mail.body, threshold, notify_account(of, recipients));
        result = notify_send(of, recipients, &message, err);
    }
    mail_free(&message.mail);
    return result;
}

/* ---- Notices ---- */

static const struct threshold *notify_threshold_of(const struct notify_values *values,
                                                   const struct notice *notice)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct notice *each = &values->list[i].notice;
        if (each->association == notice->association && !strcmp(each->kind, notice->kind) &&
            !strcmp(each->subject, notice->subject))
            return &values->list[i];
    }
    return NULL;
}

/* Removes the notices of values that are below their thresholds, and of limits that no longer
 * exist. */
static int notify_end_notices(const struct notify_values *values, struct error *err)
{
    const struct notices *notices = &values->of->notices;
    struct notify *notify = values->of->notify;
    int result = 0;
    for (size_t i = 0; !result && !notify->dry_run && i < notices->count; i++) {
        const struct notice *notice = &notices->list[i];
        const struct threshold *threshold = notify_threshold_of(values, notice);
        bool ended = !threshold || threshold->value < AGAIN_BELOW * threshold->limit;
        if (ended && strcmp(notice->kind, NOTICE_STATEMENT) != 0)
            result = notice_end(&notify->writer, values->of->cluster->name, notice, err);
    }
    return result;
}

int notify_thresholds(struct notify_cluster *of, struct error *err)
{
    const struct settings *settings = of->notify->settings;
    struct notify_values values = { .of = of };
    int result = settings->mail_budget > 0 ? notify_add_budgets(&values, err) : 0;
    if (settings->mail_share > 0)
        notify_add_shares(&values);
    if (!result)
        result = notify_end_notices(&values, err);
    for (size_t i = 0; !result && i < values.count; i++)
        if (values.list[i].value >= values.list[i].limit)
            result = notify_reached(&values, &values.list[i], err);
    budget_rows_free(&values.budgets);
    free(values.list);
    return result;
}
