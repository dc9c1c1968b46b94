/* SPDX-License-Identifier: MIT */
#include "command/report/report_pages.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/page/escape.h"
#include "report/page/page.h"
#include "report/page/view.h"
#include "settings/scheduler.h"
#include "util/error.h"
#include "util/file.h"
#include "util/memory.h"

/* Maximum length of a converted name in bytes, without the id and `.html`. */
#define NAME_AT_MOST 200u
/* Maximum indentation of the list of accounts. */
#define DEEPEST_SHOWN 12u

/* ---- Listed rows ---- */

/* Makes a view, and chooses the rows whose months and forecasts the page has. */
static void report_pages_view(struct page_view *view, struct report_data *data,
                              const uint32_t *tops, size_t top_count)
{
    struct page_cluster *cluster = &data->page;
    size_t group_count;
    page_view_make(view, cluster, tops, top_count);
    for (size_t i = 0; i < cluster->row_count; i++)
        cluster->rows[i].listed_months = cluster->rows[i].listed_forecast = false;
    uint32_t *groups = page_listed_groups(view, &group_count);
    for (size_t i = 0; i < group_count; i++)
        cluster->rows[groups[i]].listed_months = true;
    free(groups);
    for (size_t i = 0; i < view->user_count && i < PAGE_USERS_LISTED; i++) {
        uint32_t row = view->users[i];
        cluster->rows[row].listed_months = true;
        cluster->rows[row].listed_forecast = page_forecast_of(cluster, row) != NULL;
    }
}

/* ---- One page ---- */

void report_page_make(struct text *text, struct report_cluster *clusters, size_t count,
                      const char *links)
{
    struct page_view *views = memory_zeroed(count + 1, sizeof *views);
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (clusters[i].data.top_count)
            report_pages_view(&views[found++], &clusters[i].data, clusters[i].data.tops,
                              clusters[i].data.top_count);
    for (size_t i = 0; i < found; i++) {
        views[i].number = i;
        views[i].several = found > 1;
    }
    page_add(text, views, found, NULL, links);
    for (size_t i = 0; i < found; i++)
        page_view_free(&views[i]);
    free(views);
}

/* ---- A page for each account ---- */

/* Converts a name to a file name.  Letters, digits, `-`, `_` and `.` are kept; all other bytes, and
 * a leading dot, become ~HH.  A name that is too long is cut and ends with the association's id. */
static void add_file_name(struct text *text, const char *name, int64_t id)
{
    struct text made = { 0 };
    text_add(&made, "");
    for (const char *at = name; *at; at++)
        if (isalnum((unsigned char)*at) || *at == '-' || *at == '_' || (*at == '.' && at != name))
            text_add_bytes(&made, at, 1);
        else
            text_format(&made, "~%02X", (unsigned)(unsigned char)*at);
    if (made.length > NAME_AT_MOST) {
        text_add_bytes(text, made.bytes, NAME_AT_MOST);
        text_format(text, "~~%" PRId64, id);
    } else {
        text_add(text, made.length ? made.bytes : "~");
    }
    text_free(&made);
}

void report_pages_add_file_name(struct text *text, const struct page_cluster *cluster, uint32_t row)
{
    add_file_name(text, cluster->rows[row].account, cluster->rows[row].id);
}

#define INDEX "index.html"

/* Adds the name of the directory for a cluster's pages.  Avoids the name of the index. */
static void add_directory_name(struct text *text, const struct page_cluster *cluster)
{
    if (!strcmp(cluster->name, INDEX))
        text_add(text, "index~2Ehtml");
    else
        add_file_name(text, cluster->name, 0);
}

/* Adds CLUSTER/ACCOUNT.html. */
static void add_page_name(struct text *text, const struct page_cluster *cluster, uint32_t row)
{
    add_directory_name(text, cluster);
    text_add(text, "/");
    report_pages_add_file_name(text, cluster, row);
    text_add(text, ".html");
}

static int make_directory(const char *path, struct error *err)
{
    if (!mkdir(path, 0777) || errno == EEXIST)
        return 0;
    return fail(err, ERROR_OTHER, "cannot create directory '%s': %s", path, strerror(errno));
}

static int write_page(const char *directory, struct report_data *data, uint32_t row,
                      struct error *err)
{
    struct page_view view;
    struct text path = { 0 }, page = { 0 };
    report_pages_view(&view, data, &row, 1);
    page_add(&page, &view, 1, "../" INDEX, NULL);
    page_view_free(&view);
    text_format(&path, "%s/", directory);
    add_page_name(&path, &data->page, row);
    int result = file_write(path.bytes, &page, err);
    text_free(&path);
    text_free(&page);
    return result;
}

static void report_pages_add_link(struct text *links, const struct page_cluster *cluster,
                                  uint32_t row, unsigned depth)
{
    text_add(links, "<li>");
    for (unsigned i = 0; i < depth && i < DEEPEST_SHOWN; i++)
        text_add(links, "&#8195;");
    text_add(links, "<a href=\"");
    add_page_name(links, cluster, row);
    text_add(links, "\">");
    page_add_html(links, cluster->rows[row].account);
    text_add(links, "</a></li>\n");
}

/* Writes the pages of the selected accounts and of all accounts below them. */
static int write_account_pages(const char *directory, struct report_cluster *read,
                               struct text *links, struct error *err)
{
    struct report_data *data = &read->data;
    struct page_view view;
    struct text path = { 0 };
    text_format(&path, "%s/", directory);
    add_directory_name(&path, &data->page);
    int result = make_directory(path.bytes, err);
    page_view_make(&view, &data->page, data->tops, data->top_count);
    text_format(links, "<h2>Pages of the %s of ", data->page.terms->accounts);
    page_add_html(links, data->page.name);
    text_add(links, "</h2>\n<ul data-cluster=\"");
    page_add_html(links, data->page.name);
    text_add(links, "\">\n");
    for (size_t i = view.whole ? 0 : 1; !result && i <= view.group_count; i++) {
        uint32_t row = i ? view.groups[i - 1] : 0;
        report_pages_add_link(links, &data->page, row,
                              view.depths[row] - (i && !view.whole ? 1u : 0u));
        result = write_page(directory, data, row, err);
    }
    text_add(links, "</ul>\n");
    page_view_free(&view);
    text_free(&path);
    return result;
}

int report_pages_write(const char *directory, struct report_cluster *clusters, size_t count,
                       struct error *err)
{
    struct text links = { 0 }, path = { 0 }, page = { 0 };
    int result = make_directory(directory, err);
    for (size_t i = 0; !result && i < count; i++)
        if (clusters[i].data.top_count)
            result = write_account_pages(directory, &clusters[i], &links, err);
    if (!result) {
        report_page_make(&page, clusters, count, links.bytes);
        text_format(&path, "%s/" INDEX, directory);
        result = file_write(path.bytes, &page, err);
    }
    text_free(&links);
    text_free(&path);
    text_free(&page);
    return result;
}
