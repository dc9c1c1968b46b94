/* SPDX-License-Identifier: MIT */
#include "command/explain/explain_waiting.h"

#include "report/job_explanation.h"
#include "report/priorities.h"
#include "results/published.h"
#include "results/published_jobs.h"
#include "settings/scheduler.h"
#include "settings/settings.h"

/* The best row of a job, or any where none is; NULL: it does not wait, or may not be shown. */
static const struct prio_row *find_job(const struct prio_list *list, const struct viewer *viewer,
                                       const char *id)
{
    const struct prio_row *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        if (prio_is_job(id, row) &&
            viewer_sees_job(viewer, list->cluster, row->account, row->user) &&
            (!found || (row->best && !found->best)))
            found = row;
    }
    return found;
}

static int look_in(const struct waiting_question *question, struct published *published,
                   const struct published_cluster *cluster, bool *found, struct error *err)
{
    struct prio_list *list = published_job_list(cluster);
    int result = published_jobs_read(published->db, list, err);
    struct job_explanation explanation = { .list = list,
                                           .max_age = cluster->settings->max_age_s,
                                           .words = words_of(cluster->settings) };
    if (!result) {
        explanation.one = find_job(list, &published->viewer, question->ids[0]);
        if (question->count > 1)
            explanation.other = find_job(list, &published->viewer, question->ids[1]);
        *found = explanation.one && (question->count < 2 || explanation.other);
    }
    if (*found && question->text)
        job_explanation_add_page(question->text, &explanation);
    else if (*found)
        job_explanation_print(&explanation, question->table);
    prio_list_destroy(list);
    return result;
}

int explain_waiting(const struct waiting_question *question, bool *found, struct error *err)
{
    struct published published = { 0 };
    const struct published_filter filter = { .clusters = *question->clusters };
    *found = false;
    int result = published_open(&published, question->settings, &filter, err);
    for (size_t i = 0; !result && !*found && i < published.count; i++)
        result = look_in(question, &published, &published.clusters[i], found, err);
    published_close(&published);
    published_free(&published);
    return result;
}
