/* SPDX-License-Identifier: MIT */
#include "command/notify/notify_statements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/notify/notify_sender.h"
#include "command/report/report_pages.h"
#include "command/statement/statement_data.h"
#include "core/tree/tree.h"
#include "report/amounts.h"
#include "report/answer.h"
#include "report/permissions.h"
#include "report/terminal.h"
#include "report/usage_unit.h"
#include "settings/settings.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/times.h"

/* An account whose coordinators may get a statement. */
struct statement_account {
    uint32_t node;
    struct permissions permissions; /* what its coordinators may see */
    struct text text;               /* the statement; empty if there is nothing to state */
};

struct notify_month {
    struct notify_cluster *of;
    char name[8];      /* `2026-10` */
    int64_t from, to;  /* epoch seconds */
    struct text title; /* `October 2026` */
    struct statement_account *accounts;
    size_t count;
    const struct statement_data *data;
    struct error err; /* of the output of the statement */
    bool failed;
};

/* ---- The month ---- */

/* Sets the last month whose usage is complete.  Returns 0 if there is none, 1 if there is, or -1 on
 * error. */
static int notify_month_find(struct notify_month *month, struct error *err)
{
    const struct usage_days days = { month->of->notify->published->db, month->of->cluster->name,
                                     false, 0 };
    int64_t known, oldest;
    if (usage_days_reach(&days, &known, &oldest, err))
        return -1;
    if (!known)
        return 0;
    month->to = calendar_start(CALENDAR_MONTH, known, 0);
    month->from = calendar_start(CALENDAR_MONTH, known, -1);
    memcpy(month->name, time_day_text(month->from).bytes, sizeof month->name - 1);
    amount_add_month(&month->title, month->from);
    return oldest < month->to;
}

static struct notice notify_month_notice(const struct notify_month *month, uint32_t node)
{
    return (struct notice){ .kind = NOTICE_STATEMENT,
                            .association = month->of->cluster->tree->nodes[node].id,
                            .subject = month->name };
}

/* ---- Statements ---- */

/* Returns the permissions of a coordinator of the account, without those of a user. */
static struct permissions notify_permissions(const struct notify_cluster *of, uint32_t node)
{
    struct permissions permissions = { .login = memory_text("") };
    struct permissions_scope *scope = memory_append(&permissions.scopes, &permissions.scope_count);
    const struct tree *tree = of->cluster->tree;
    bool *below = memory_zeroed(tree->count, sizeof *below);
    *scope = (struct permissions_scope){ .cluster = memory_text(of->cluster->name),
                                         .private = published_private(of->notify->published) };
    tree_mark_below(tree, node, below);
    for (uint32_t i = 0; i < tree->count; i++)
        if (below[i] && !tree->nodes[i].is_user)
            name_list_add(&scope->accounts, notify_account(of, i), strlen(notify_account(of, i)));
    name_list_sort(&scope->accounts);
    free(below);
    return permissions;
}

/* Lists the accounts with a coordinator who did not get the statement. */
static void notify_month_add_accounts(struct notify_month *month)
{
    const struct tree *tree = month->of->cluster->tree;
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct notice notice = notify_month_notice(month, i);
        if (!tree->nodes[i].is_user && notify_has_pending(month->of, i, &notice))
            *memory_append(&month->accounts, &month->count) =
                (struct statement_account){ .node = i,
                                            .permissions = notify_permissions(month->of, i) };
    }
}

/* Returns the node of the account in the tree of the period, or NO_NODE if the account has nothing
 * to state: it used nothing, and it had no shares or has no users. */
static uint32_t notify_month_node(const struct notify_month *month,
                                  const struct statement_period *period, uint32_t node)
{
    uint32_t id = month->of->cluster->tree->nodes[node].id, at = tree_place(period->tree, id);
    if (at == NO_NODE || period->tree->nodes[at].id != id)
        return NO_NODE;
    bool is_due = period->due[at] > 0 && month->of->has_users[node];
    return is_due || period->used[at] > 0 ? at : NO_NODE;
}

static int notify_month_print(const struct notify_month *month, struct statement_account *account,
                              const struct statement_period *period, struct error *err)
{
    static const struct table_options options = { .form = TABLE_FOR_PEOPLE };
    const char *name = notify_account(month->of, account->node);
    struct name_list lists[SELECTION_KINDS] = { { 0 } };
    struct association_selection selection;
    struct answer *answer = answer_create(&statement_layout, &options, NULL, err);
    if (!answer)
        return -1;
    name_list_add(&lists[SELECTION_ACCOUNTS], name, strlen(name));
    selection_begin(&selection, lists);
    struct statement_view view = statement_data_view(month->data, amount_units, NULL, NULL);
    view.by = "month";
    view.selection = &selection;
    view.permissions = &account->permissions;
    /* Coordinators need not know which database has the shares. */
    if (view.earlier_shares)
        view.shares_from = view.from;
    statement_open(&view, answer);
    statement_add_period(&view, period, answer);
    int result = answer_end(answer, err);
    if (!result)
        text_add(&account->text, answer_text(answer)->bytes);
    answer_destroy(answer);
    selection_free(&selection);
    name_list_free(&lists[SELECTION_ACCOUNTS]);
    return result;
}

static void notify_month_take(void *context, const struct statement_period *period)
{
    struct notify_month *month = context;
    for (size_t i = 0; !month->failed && i < month->count; i++) {
        struct statement_account *account = &month->accounts[i];
        if (notify_month_node(month, period, account->node) != NO_NODE)
            month->failed = notify_month_print(month, account, period, &month->err);
    }
}

/* Computes the statement of the cluster once, and prints the rows of each account. */
static int notify_month_compute(struct notify_month *month, struct error *err)
{
    struct notify *notify = month->of->notify;
    const struct statement_range range = { month->from, month->to, NULL };
    struct statement_data data = { .cluster = NULL };
    int result = statement_data_read(&data, notify->published, month->of->cluster, &range, err);
    month->data = &data;
    if (!result)
        result = statement_data_compute(&data, NAN, calendar_end_of_month, notify_month_take, month,
                                        err);
    if (!result && month->failed) {
        *err = month->err;
        result = -1;
    }
    month->data = NULL;
    statement_data_free(&data);
    return result;
}

/* ---- Messages ---- */

/* Makes the page of the group with the usage of the month, as its coordinators may see it. */
static int notify_month_add_page(const struct notify_month *month,
                                 const struct statement_account *account, struct mail *mail,
                                 struct error *err)
{
    struct published *published = month->of->notify->published;
    const char *name = notify_account(month->of, account->node);
    const struct permissions own = published->permissions;
    struct name_list accounts = { 0 };
    struct report_cluster page = { .problems = { 0 } };
    name_list_add(&accounts, name, strlen(name));
    const struct report_request request = { .since = month->from,
                                            .until = month->to,
                                            .accounts = &accounts };
    published->permissions = account->permissions;
    int result = report_data_read(&page.data, published, month->of->cluster, &request, err);
    published->permissions = own;
    if (!result) {
        report_page_make(&mail->page, &page, 1, NULL);
        report_pages_add_file_name(&mail->name, &page.data.page, page.data.tops[0]);
        text_format(&mail->name, "-%s.html", month->name);
    }
    report_data_free(&page.data);
    name_list_free(&accounts);
    return result;
}

static void notify_month_add_body(const struct notify_month *month,
                                  const struct statement_account *account, struct text *body)
{
    const struct notify_cluster *of = month->of;
    const char *name = notify_account(of, account->node);
    struct text words = { 0 };
    terminal_say(body, 0, "You coordinate account '%s' on cluster '%s'. This is its usage in %s.",
                 name, of->cluster->name, month->title.bytes);
    text_format(body, "\n%s\n", account->text.bytes);
    terminal_say(body, 0,
                 "Used/Due below 100 %% means that the account used less than its share of the "
                 "cluster, and above 100 %% that it used more.");
    text_add(body, "\n");
    terminal_say(body, 0,
                 "The attached page shows the group in a web browser, with its users, waiting jobs "
                 "and the values of %s. It calls %s %s, and loads nothing from the network.",
                 time_text(of->cluster->as_of).bytes, usage_unit_of(of->notify->settings)->hours,
                 usage_unit_page_hours(of->notify->settings));
    notify_add_commands_title(body);
    text_format(&words, "statement --since %s", time_day_text(month->from).bytes);
    notify_add_command(body, of, words.bytes, account->node);
    notify_add_command(body, of, "explain", account->node);
    text_free(&words);
}

static int notify_month_send(struct notify_month *month, const struct statement_account *account,
                             struct error *err)
{
    struct notify_message message = { .notice = notify_month_notice(month, account->node) };
    text_format_printable(&message.mail.subject, "Usage of %s on %s in %s",
                          notify_account(month->of, account->node), month->of->cluster->name,
                          month->title.bytes);
    notify_month_add_body(month, account, &message.mail.body);
    int result = notify_month_add_page(month, account, &message.mail, err);
    if (!result)
        result = notify_send(month->of, account->node, &message, err);
    mail_free(&message.mail);
    return result;
}

int notify_statements(struct notify_cluster *of, struct error *err)
{
    struct notify_month month = { .of = of };
    int found = notify_month_find(&month, err), result = found < 0 ? -1 : 0;
    if (found > 0) {
        notify_month_add_accounts(&month);
        result = month.count ? notify_month_compute(&month, err) : 0;
        for (size_t i = 0; !result && i < month.count; i++)
            if (month.accounts[i].text.length)
                result = notify_month_send(&month, &month.accounts[i], err);
    }
    for (size_t i = 0; i < month.count; i++) {
        permissions_free(&month.accounts[i].permissions);
        text_free(&month.accounts[i].text);
    }
    free(month.accounts);
    text_free(&month.title);
    return result;
}
