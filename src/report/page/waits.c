/* SPDX-License-Identifier: MIT */
#include "report/page/waits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/escape.h"
#include "report/page/view.h"
#include "settings/scheduler.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/* The maximum number of accounts on a page: the accounts with the most jobs. */
#define WAITS_ACCOUNTS_AT_MOST 15u

/* The rows of one table. */
struct page_wait_table {
    const char *heading;
    const struct waits_row **rows;
    size_t count;
};
/* The tables of a view: partitions, accounts, weeks.  Empty tables are omitted. */
enum { WAITS_PARTITIONS, WAITS_ACCOUNTS, WAITS_WEEKS, WAITS_TABLES };
struct page_wait_tables {
    struct page_wait_table tables[WAITS_TABLES];
    struct text relation; /* the period and whether fairshare helped; may be empty */
    size_t rows;          /* of all tables */
};

void page_waits_free(struct page_waits *waits)
{
    waits_list_free(&waits->partitions);
    waits_list_free(&waits->accounts);
    waits_list_free(&waits->weeks);
}

/* ---- The tables of a view ---- */

static int page_waits_by_jobs(const void *a, const void *b)
{
    const struct waits_row *one = *(const struct waits_row *const *)a;
    const struct waits_row *other = *(const struct waits_row *const *)b;
    uint64_t jobs[] = { wait_counts_sum(&one->counts), wait_counts_sum(&other->counts) };
    if (jobs[0] != jobs[1])
        return jobs[0] > jobs[1] ? -1 : 1;
    return strcmp(one->account, other->account);
}

static struct page_wait_table page_wait_table_of(const char *heading, const struct waits_list *list)
{
    struct page_wait_table table = { heading, memory_zeroed(list->count + 1, sizeof *table.rows),
                                     list->count };
    for (size_t i = 0; i < list->count; i++)
        table.rows[i] = &list->rows[i];
    return table;
}

/* Keeps the accounts that are in the view. */
static void page_waits_keep_accounts(struct page_wait_table *table, const struct page_view *view)
{
    struct names *names = names_create();
    size_t kept = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct page_row *row = page_view_row(view, i);
        names_add(names, row->account, strlen(row->account));
    }
    for (size_t i = 0; i < table->count; i++) {
        const char *account = table->rows[i]->account;
        if (names_find(names, account, strlen(account)) != INDEX_NONE)
            table->rows[kept++] = table->rows[i];
    }
    table->count = kept;
    names_destroy(names);
}

static void page_waits_make(struct page_wait_tables *made, const struct page_view *view)
{
    static const struct waits_list none = { 0 };
    const struct page_waits *waits = view->cluster->waits;
    const struct terminology *terms = view->cluster->terms;
    const struct waits_list *partitions = waits && !view->top ? &waits->partitions : &none;
    const struct waits_list *weeks = waits && !view->top ? &waits->weeks : &none;
    *made = (struct page_wait_tables){ .tables = {
                                           page_wait_table_of(terms->partition, partitions),
                                           page_wait_table_of(terms->account,
                                                              waits ? &waits->accounts : &none),
                                           page_wait_table_of("week of", weeks),
                                       } };
    struct page_wait_table *accounts = &made->tables[WAITS_ACCOUNTS];
    page_waits_keep_accounts(accounts, view);
    if (accounts->count)
        qsort(accounts->rows, accounts->count, sizeof *accounts->rows, page_waits_by_jobs);
    if (accounts->count > WAITS_ACCOUNTS_AT_MOST)
        accounts->count = WAITS_ACCOUNTS_AT_MOST;
    for (size_t i = 0; i < WAITS_TABLES; i++)
        made->rows += made->tables[i].count;
    if (!partitions->count)
        return;
    /* The end is the first second of the next day. */
    text_format(&made->relation, "The jobs started from %s to %s. ",
                time_day_text(partitions->total.from).bytes,
                time_day_text(partitions->total.to - 1).bytes);
    waits_add_relation(&made->relation, partitions->total.correlation);
}

static void page_wait_tables_free(struct page_wait_tables *made)
{
    for (size_t i = 0; i < WAITS_TABLES; i++)
        free(made->tables[i].rows);
    text_free(&made->relation);
}

static const char *page_wait_name(const struct waits_row *row, struct instant_text *day)
{
    *day = time_day_text(row->from);
    const char *name = row->partition ? row->partition : row->account ? row->account : day->bytes;
    return *name ? name : "unknown";
}

/* ---- Output ---- */

static void page_waits_add_row(struct text *text, const struct waits_row *row)
{
    struct instant_text day;
    text_add(text, "[");
    page_add_string(text, page_wait_name(row, &day));
    text_format(text, ",%" PRIu64, wait_counts_sum(&row->counts));
    for (int i = 0; i < 2; i++) {
        struct text time = { 0 };
        waits_add_time(&time, wait_quantile(&row->counts, i ? 0.9 : 0.5));
        text_add(text, ",");
        page_add_string(text, time.bytes);
        text_free(&time);
    }
    text_add(text, "]");
}

void page_waits_add(struct text *text, const struct page_view *view)
{
    struct page_wait_tables made;
    bool any = false;
    page_waits_make(&made, view);
    if (made.rows) {
        text_add(text, ",\n\"waits\":{\"words\":");
        page_add_string(text, made.relation.length ? made.relation.bytes : "");
        text_add(text, ",\"tables\":[");
        for (size_t i = 0; i < WAITS_TABLES; i++) {
            const struct page_wait_table *table = &made.tables[i];
            if (!table->count)
                continue;
            text_add(text, any ? ",[" : "[");
            any = true;
            page_add_string(text, table->heading);
            for (size_t row = 0; row < table->count; row++) {
                text_add(text, ",");
                page_waits_add_row(text, table->rows[row]);
            }
            text_add(text, "]");
        }
        text_add(text, "]}");
    }
    page_wait_tables_free(&made);
}

static void page_waits_add_plain_row(struct text *text, const struct waits_row *row)
{
    struct instant_text day;
    text_add(text, "<tr><td>");
    page_add_html(text, page_wait_name(row, &day));
    text_format(text, "</td><td align=\"right\">%" PRIu64 "</td>", wait_counts_sum(&row->counts));
    for (int i = 0; i < 2; i++) {
        struct text time = { 0 };
        waits_add_time(&time, wait_quantile(&row->counts, i ? 0.9 : 0.5));
        text_add(text, "<td align=\"right\">");
        page_add_html(text, time.bytes);
        text_add(text, "</td>");
        text_free(&time);
    }
    text_add(text, "</tr>\n");
}

void page_waits_add_plain(struct text *text, const struct page_view *view)
{
    struct page_wait_tables made;
    page_waits_make(&made, view);
    if (made.rows)
        text_add(text, "<h3>Waiting times of jobs that started</h3>\n");
    if (made.relation.length) {
        text_add(text, "<p>");
        page_add_html(text, made.relation.bytes);
        text_add(text, "</p>\n");
    }
    for (size_t i = 0; i < WAITS_TABLES; i++) {
        const struct page_wait_table *table = &made.tables[i];
        if (!table->count)
            continue;
        text_add(text, "<table cellpadding=\"4\">\n<tr><th align=\"left\">");
        page_add_capital(text, table->heading);
        text_add(text, "</th><th align=\"right\">Jobs</th><th align=\"right\">Median</th>"
                       "<th align=\"right\">9 of 10 within</th></tr>\n");
        for (size_t row = 0; row < table->count; row++)
            page_waits_add_plain_row(text, table->rows[row]);
        text_add(text, "</table>\n");
    }
    page_wait_tables_free(&made);
}
