/* SPDX-License-Identifier: MIT */
#include "import/import.h"

#include <inttypes.h>
#include <string.h>

#include "import/groups.h"
#include "import/store.h"
#include "results/rows.h"
#include "util/error.h"
#include "util/log.h"

/* So many lines that are none are named in one call. */
#define NAMED_LINES 20

struct importer {
    struct import *import;
    void (*complain)(const struct error *err);
    struct db *db;
    struct store_writer *writer;
    struct runs *runs;
    struct record record;
};

static void complain_of(struct importer *importer, const struct log_file *log, uint64_t number,
                        struct error *err)
{
    if (importer->import->bad_lines++ >= NAMED_LINES)
        return;
    fail_in(err, "'%s', line %" PRIu64, log->path, number);
    importer->complain(err);
}

static int take_line(void *context, const struct log_file *log, uint64_t number, struct part line,
                     struct error *err)
{
    struct importer *importer = context;
    importer->import->lines++;
    log_progress(importer->import->cluster, importer->import->lines, "lines");
    if (!record_read(&importer->record, line, err) &&
        !runs_take(importer->runs, &importer->record, err))
        return 0;
    if (err->class != ERROR_DATA)
        return -1;
    complain_of(importer, log, number, err);
    return 0;
}

static int import_lines(struct importer *importer, struct log_file *log, struct error *err)
{
    int result = log_read(log, take_line, importer, err);
    if (!result)
        result = runs_store_open(importer->runs, err);
    return store_writer_flush(importer->writer, result, err);
}

static int import_log(struct importer *importer, struct log_file *log, struct error *err)
{
    char stored[sizeof log->stored];
    if (log_stored(log, stored, err))
        return -1;
    if (!strcmp(stored, log->stored))
        return 0;
    if (db_begin(importer->db, err))
        return -1;
    int result = import_lines(importer, log, err);
    if (!result)
        result = store_write_log(importer->db, importer->import->cluster, log, err);
    importer->import->logs++;
    return rows_commit(importer->db, result, err);
}

static int import_all(struct importer *importer, struct log_list *list, struct error *err)
{
    uint64_t next;
    const char *cluster = importer->import->cluster;
    if (store_read_logs(importer->db, cluster, list, err) ||
        store_next_key(importer->db, cluster, &next, err))
        return -1;
    importer->writer = store_writer_create(importer->db, cluster);
    const struct run_taker taker = store_writer_taker(importer->writer);
    importer->runs = runs_create(next, &taker);
    int result = store_read_open(importer->db, cluster, importer->runs, err);
    for (size_t i = 0; i < list->count && !result; i++)
        result = import_log(importer, &list->files[i], err);
    log_progress_done();
    runs_destroy(importer->runs);
    store_writer_destroy(importer->writer);
    record_free(&importer->record);
    return result;
}

static int import_logs(struct importer *importer, struct error *err)
{
    struct log_list list;
    if (log_list_read(&list, importer->import->accounting, err))
        return -1;
    int result = 0;
    if (importer->import->anew)
        result = store_forget(importer->db, importer->import->cluster, err);
    if (!result)
        result = import_all(importer, &list, err);
    log_list_free(&list);
    return result;
}

static int import_groups(struct importer *importer, struct error *err)
{
    struct import *import = importer->import;
    struct group_list list;
    if (group_file_read(&list, import->groups, err))
        return -1;
    int result = groups_store(importer->db, import->cluster, &list, import->instant,
                              &import->changed_groups, err);
    group_list_free(&list);
    return result;
}

int import_run(struct import *import, const struct settings *settings,
               void (*complain)(const struct error *err), struct error *err)
{
    struct importer importer = { .import = import, .complain = complain };
    if (store_open(&importer.db, settings, err))
        return -1;
    int result = import->groups ? import_groups(&importer, err) : 0;
    if (!result && import->accounting)
        result = import_logs(&importer, err);
    db_close(importer.db);
    return result;
}
