/* SPDX-License-Identifier: MIT */
#include "command/explain/explain_limits.h"

#include <string.h>

#include "report/budget.h"
#include "report/priorities.h"
#include "results/published.h"
#include "results/published_budgets.h"
#include "settings/scheduler.h"
#include "util/number.h"
#include "util/text.h"

static void explain_limits_add_limit(struct text *text, const struct budget_row *limit,
                                     const char *name)
{
    text_format_printable(text, "The limit of %s %s-minutes of ",
                          number_grouped(limit->limit).bytes, limit->tres);
    if (*limit->user)
        text_format_printable(text, "user '%s' in ", limit->user);
    text_format_printable(text,
                          "account '%s' is used up: a job that uses %s cannot start. See `fairmill "
                          "budget %s`.",
                          limit->account, limit->tres, name);
}

int explain_limits_add(struct text *text, struct published *published,
                       const struct published_cluster *cluster, const struct prio_row *job,
                       struct error *err)
{
    const struct name_list former = published->filter.names;
    struct budget_rows limits = { 0 };
    struct text name = { 0 };
    int enforced = 0;
    bool met = false;
    if (!source_type_of(cluster->settings)->is_slurmdbd)
        return 0;
    if (published_enforcement_read(published, cluster, &enforced, err))
        return -1;
    if (!enforced)
        return 0;
    text_format(&name, "%s/%s", job->account, job->user);
    published->filter.names = (struct name_list){ 0 };
    name_list_add(&published->filter.names, name.bytes, name.length);
    int result = published_budgets_read(published, cluster, &met, &limits, err);
    name_list_free(&published->filter.names);
    published->filter.names = former;
    for (size_t i = 0; !result && i < limits.count; i++)
        if (limits.rows[i].left <= 0 && !strcmp(limits.rows[i].kind, "association")) {
            explain_limits_add_limit(text, &limits.rows[i], name.bytes);
            break;
        }
    budget_rows_free(&limits);
    text_free(&name);
    return result;
}
