/* SPDX-License-Identifier: MIT */
#include "import/usage_file.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "import/entities.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/times.h"

#define MAGIC "PBS_MAG!"
/* Version 2 did not exist before this time, in epoch seconds.  The scheduler checks this, too. */
#define EARLIEST_DECAY 946713600

/* Layout of a record.  The name comes first; undefined bytes may follow it up to the number. */
struct usage_file_layout {
    size_t name, number, size;
};
static const struct usage_file_layout version_1 = { 9, 16, 24 }, version_2 = { 50, 56, 64 };
#define HEADER version_1 /* the header has the layout of a record of version 1 */
#define DECAY_SIZE 8

struct usage_reader {
    struct usage_list *list;
    FILE *file;
    bool big_endian;
    size_t offset; /* of the record being read */
    unsigned char bytes[64];
};

static uint64_t bits_at(const unsigned char *bytes, bool big_endian)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; i++)
        bits = bits << 8 | bytes[big_endian ? i : 7 - i];
    return bits;
}

static double number_at(const unsigned char *bytes, bool big_endian)
{
    double number;
    uint64_t bits = bits_at(bytes, big_endian);
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Reads `size` bytes.  Returns 1 if it read them, 0 at the end of the file, or -1 on error. */
static int usage_file_read_bytes(struct usage_reader *reader, size_t size, struct error *err)
{
    size_t got = fread(reader->bytes, 1, size, reader->file);
    if (got == size)
        return 1;
    if (ferror(reader->file))
        return fail(err, ERROR_DATA, "read error: %s", strerror(errno));
    return got ? fail(err, ERROR_DATA, "end of file after %zu of %zu bytes", got, size) : 0;
}

static int usage_file_read_header(struct usage_reader *reader,
                                  const struct usage_file_layout **layout, struct error *err)
{
    *layout = &version_1;
    int there = usage_file_read_bytes(reader, HEADER.size, err);
    if (there <= 0)
        return there;
    if (memcmp(reader->bytes, MAGIC, sizeof MAGIC) != 0) {
        rewind(reader->file);
        return 0;
    }
    const unsigned char *number = reader->bytes + HEADER.number;
    reader->big_endian = number_at(number, true) == 2;
    if (number_at(number, reader->big_endian) != 2)
        return fail(err, ERROR_DATA, "unsupported version: expected 2");
    reader->offset = HEADER.size;
    there = usage_file_read_bytes(reader, DECAY_SIZE, err);
    if (there <= 0)
        return there < 0 ? -1 : fail(err, ERROR_DATA, "the time of the last decay is missing");
    uint64_t decay = bits_at(reader->bytes, reader->big_endian);
    if (decay && (decay <= EARLIEST_DECAY || decay > LATEST_TIME))
        return fail(err, ERROR_DATA,
                    "the time of the last decay is not between the years 2000 and 9999");
    reader->list->last_decay = (int64_t)decay;
    reader->offset += DECAY_SIZE;
    *layout = &version_2;
    return 0;
}

/*
 * Returns true for characters that the scheduler accepts in names: letters, digits and the
 * characters in the string below.
 */
static bool is_of_name(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || strchr(".-_ :", byte);
}

static int usage_file_take_record(struct usage_reader *reader,
                                  const struct usage_file_layout *layout, struct error *err)
{
    const char *name = (const char *)reader->bytes;
    double usage = number_at(reader->bytes + layout->number, reader->big_endian);
    size_t length = 0;
    while (length < layout->name && name[length]) {
        if (!is_of_name(name[length++]))
            return fail(err, ERROR_DATA, "the name contains an invalid character");
    }
    if (!length || length == layout->name)
        return fail(err, ERROR_DATA, length ? "the name is too long" : "the name is empty");
    if (!isfinite(usage) || usage < 0)
        return fail(err, ERROR_DATA, "the usage of '%s' is negative or not a number", name);
    struct usage_list *list = reader->list;
    *memory_append(&list->lines, &list->count) =
        (struct usage_line){ memory_bytes(name, length), usage };
    return 0;
}

static int usage_file_read_records(struct usage_reader *reader, struct error *err)
{
    const struct usage_file_layout *layout;
    if (usage_file_read_header(reader, &layout, err))
        return -1;
    struct names *names = names_create();
    int there = 0, result = 0;
    while (!result && (there = usage_file_read_bytes(reader, layout->size, err)) > 0) {
        result = usage_file_take_record(reader, layout, err);
        const char *name = (const char *)reader->bytes;
        uint32_t known = names_count(names);
        if (!result && names_add(names, name, strlen(name)) != known)
            result = fail(err, ERROR_DATA, "duplicate name '%s'", name);
        if (!result)
            reader->offset += layout->size;
    }
    names_destroy(names);
    return result || there < 0 ? -1 : 0;
}

int usage_file_read(struct usage_list *list, const char *path, struct error *err)
{
    *list = (struct usage_list){ 0 };
    struct usage_reader reader = { .list = list, .file = fopen(path, "rb") };
    struct stat status;
    if (!reader.file)
        return fail(err, ERROR_DATA, "cannot open '%s': %s", path, strerror(errno));
    int result = usage_file_read_records(&reader, err);
    if (result)
        fail_in(err, "'%s', byte %zu", path, reader.offset);
    else if (fstat(fileno(reader.file), &status))
        result = fail(err, ERROR_DATA, "cannot read '%s': %s", path, strerror(errno));
    else
        list->written = (int64_t)status.st_mtim.tv_sec;
    fclose(reader.file);
    if (result)
        usage_list_free(list);
    return result;
}

void usage_list_free(struct usage_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->lines[i].name);
    free(list->lines);
    *list = (struct usage_list){ 0 };
}

static int usage_file_write_usage(struct db *db, const char *cluster, const struct usage_list *list,
                                  struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = db, .table = "pbs_usage" };
    for (size_t i = 0; i < list->count && !result; i++) {
        const struct row_field fields[] = {
            { "cluster", 't', db_text(cluster) },
            { "name", 't', db_text(list->lines[i].name) },
            { "as_of", 'i', db_integer(list->written) },
            { "usage", 'r', db_real(list->lines[i].usage) },
            { "last_decay", 'i', db_integer(list->last_decay) },
        };
        result = rows_add(&rows, fields, COUNT(fields), err);
    }
    return rows_end(&rows, result, err);
}

static int usage_file_write_entities(struct db *db, const char *cluster,
                                     const struct usage_list *list, struct error *err)
{
    struct entities *entities = entities_read(db, cluster, err);
    if (!entities)
        return -1;
    for (size_t i = 0; i < list->count; i++)
        entities_see_usage(entities, list->lines[i].name, list->written);
    int result = entities_store(entities, err);
    entities_destroy(entities);
    return result;
}

int usage_import(struct db *db, const char *cluster, const char *path, uint64_t *count,
                 struct error *err)
{
    struct usage_list list;
    if (usage_file_read(&list, path, err))
        return -1;
    *count = list.count;
    const struct db_value key[] = { db_text(cluster), db_integer(list.written) };
    int result = db_begin(db, err) ||
                         db_execute(db, sql_query_pbs_usage_forget, key, 2, NULL, err) ||
                         usage_file_write_usage(db, cluster, &list, err) ||
                         usage_file_write_entities(db, cluster, &list, err)
                     ? -1
                     : 0;
    usage_list_free(&list);
    return rows_commit(db, result, err);
}
