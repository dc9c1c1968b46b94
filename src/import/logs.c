/* SPDX-License-Identifier: MIT */
#include "import/logs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <xxhash.h>
#include <zlib.h>

#include "import/record.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"
#include "util/times.h"

#define NAME_LENGTH 8
#define CHUNK (256u * 1024)
#define LONGEST_LINE (16u * 1024 * 1024)

static bool log_file_is_name(const char *name)
{
    return strspn(name, "0123456789") == NAME_LENGTH &&
           (!name[NAME_LENGTH] || !strcmp(name + NAME_LENGTH, ".gz"));
}

static int log_file_by_name(const void *a, const void *b)
{
    const struct log_file *one = a, *other = b;
    int order = strcmp(one->name, other->name);
    return order ? order : strcmp(one->path, other->path);
}

static void add_file(struct log_list *list, const char *directory, const char *name)
{
    struct text path = { 0 };
    text_format(&path, "%s/%s", directory, name);
    struct log_file *file = memory_append(&list->files, &list->count);
    *file = (struct log_file){ .path = path.bytes };
    memcpy(file->name, name, NAME_LENGTH);
}

static int log_file_check_names(const struct log_list *list, struct error *err)
{
    for (size_t i = 1; i < list->count; i++) {
        if (!strcmp(list->files[i - 1].name, list->files[i].name))
            return fail(err, ERROR_DATA,
                        "'%s' and '%s' are logs of the same day; remove one of them",
                        list->files[i - 1].path, list->files[i].path);
    }
    return 0;
}

int log_list_read(struct log_list *list, const char *folder, struct error *err)
{
    *list = (struct log_list){ 0 };
    DIR *directory = opendir(folder);
    if (!directory)
        return fail(err, ERROR_DATA, "cannot read directory '%s': %s", folder, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(directory));) {
        if (log_file_is_name(entry->d_name))
            add_file(list, folder, entry->d_name);
    }
    closedir(directory);
    if (list->count)
        qsort(list->files, list->count, sizeof *list->files, log_file_by_name);
    if (!log_file_check_names(list, err))
        return 0;
    log_list_free(list);
    return -1;
}

void log_list_free(struct log_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->files[i].path);
    free(list->files);
    *list = (struct log_list){ 0 };
}

static int log_file_refuse(const struct log_file *log, const char *why, struct error *err)
{
    return fail(err, ERROR_DATA, "cannot read '%s': %s", log->path, why);
}

int log_stored(const struct log_file *log, char stored[80], struct error *err)
{
    struct stat status;
    if (stat(log->path, &status))
        return log_file_refuse(log, strerror(errno), err);
    snprintf(stored, 80, "%jd %jd.%09ld %ju", (intmax_t)status.st_size,
             (intmax_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec, (uintmax_t)status.st_ino);
    return 0;
}

/* The state of reading one log. */
struct log_file_reader {
    struct log_file *log;
    gzFile file;
    char *bytes;
    size_t length, room; /* bytes of an incomplete line in `bytes` */
    bool ended, breaks_off;
    uint64_t known; /* bytes that an earlier import read; their lines have the number 0 */
    char digest[33];
    XXH3_state_t *hash;
};

static void write_digest(const struct log_file_reader *reader, char digest[33])
{
    XXH128_hash_t hash = XXH3_128bits_digest(reader->hash);
    snprintf(digest, 33, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64, (uint64_t)hash.low64);
}

static int log_file_fill(struct log_file_reader *reader, struct error *err)
{
    if (reader->room < reader->length + CHUNK) {
        reader->room = 2 * (reader->length + CHUNK);
        reader->bytes = memory_resized(reader->bytes, reader->room, 1);
    }
    int got = gzread(reader->file, reader->bytes + reader->length, CHUNK);
    int flaw = Z_OK;
    const char *why = gzerror(reader->file, &flaw);
    /* A compressed file that ends too early is still being written. */
    if (got < 0 && flaw != Z_BUF_ERROR)
        return log_file_refuse(reader->log, flaw == Z_ERRNO ? strerror(errno) : why, err);
    reader->ended = got <= 0;
    reader->breaks_off |= flaw == Z_BUF_ERROR;
    reader->length += got > 0 ? (size_t)got : 0;
    return 0;
}

static int refuse_change(const struct log_file *log, struct error *err)
{
    return fail(err, ERROR_DATA,
                "'%s' was changed: its first %" PRIu64
                " bytes differ from the imported ones; use --anew to import all logs again",
                log->path, log->bytes);
}

/*
 * Checks that the part that an earlier import read is unchanged.  That part ended at the end of a
 * line, so a line must still end there.
 */
static int check_known(struct log_file_reader *reader, struct error *err)
{
    char digest[33];
    if (reader->log->bytes < reader->known)
        return 0;
    write_digest(reader, digest);
    if (reader->log->bytes == reader->known && !strcmp(digest, reader->digest))
        return 0;
    reader->log->bytes = reader->known;
    return refuse_change(reader->log, err);
}

static int log_file_take_lines(struct log_file_reader *reader, line_taker *take, void *context,
                               struct error *err)
{
    struct log_file *log = reader->log;
    const char *at = reader->bytes, *end = at + reader->length;
    for (const char *stop; (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
        size_t length = (size_t)(stop - at);
        bool is_known = log->bytes < reader->known;
        XXH3_128bits_update(reader->hash, at, length + 1);
        log->bytes += length + 1;
        log->lines++;
        if (!is_known) {
            length -= length && at[length - 1] == '\r';
            if (take(context, log, log->lines, (struct part){ at, length }, err))
                return -1;
        } else if (take(context, log, 0, (struct part){ at, length }, err) ||
                   check_known(reader, err)) {
            return -1;
        }
    }
    reader->length = (size_t)(end - at);
    memmove(reader->bytes, at, reader->length);
    if (reader->length > LONGEST_LINE)
        return fail(err, ERROR_DATA, "'%s': line %" PRIu64 " is longer than 16 MB", log->path,
                    log->lines + 1);
    return 0;
}

static int log_file_read_all(struct log_file_reader *reader, line_taker *take, void *context,
                             struct error *err)
{
    while (!reader->ended) {
        if (log_file_fill(reader, err) || log_file_take_lines(reader, take, context, err))
            return -1;
    }
    if (reader->log->bytes < reader->known) {
        reader->log->bytes = reader->known;
        return refuse_change(reader->log, err);
    }
    write_digest(reader, reader->log->digest);
    return 0;
}

/*
 * Returns true if a compressed file has content.  Without content, its last 8 bytes, which are the
 * checksum and the length, are 0 (RFC 1952).
 */
static bool packs_something(const char *path)
{
    static const unsigned char nothing[8];
    unsigned char magic[2], end[sizeof nothing];
    FILE *file = fopen(path, "rb");
    bool something = file && fread(magic, 1, 2, file) == 2 && magic[0] == 0x1f &&
                     magic[1] == 0x8b && !fseek(file, -(long)sizeof end, SEEK_END) &&
                     fread(end, 1, sizeof end, file) == sizeof end &&
                     memcmp(end, nothing, sizeof end) != 0;
    if (file)
        fclose(file);
    return something;
}

/* zlib 1.3.2 reports no error if a file is damaged from its first byte on, but returns no data. */
static int check_empty(const struct log_file_reader *reader, struct error *err)
{
    bool empty = !reader->log->bytes && !reader->length && !reader->breaks_off;
    return empty && packs_something(reader->log->path)
               ? log_file_refuse(reader->log, "the compressed file is damaged", err)
               : 0;
}

int log_read(struct log_file *log, line_taker *take, void *context, struct error *err)
{
    struct log_file_reader reader = { .log = log, .known = log->bytes };
    memcpy(reader.digest, log->digest, sizeof reader.digest);
    if (log_stored(log, log->stored, err))
        return -1;
    reader.file = gzopen(log->path, "rb");
    if (!reader.file)
        return log_file_refuse(log, errno ? strerror(errno) : "out of memory", err);
    gzbuffer(reader.file, CHUNK);
    reader.hash = XXH3_createState();
    XXH3_128bits_reset(reader.hash);
    log->bytes = log->lines = 0;
    int result =
        log_file_read_all(&reader, take, context, err) || check_empty(&reader, err) ? -1 : 0;
    XXH3_freeState(reader.hash);
    gzclose(reader.file);
    free(reader.bytes);
    return result;
}

#define MOST_BYTES (1024u * 1024)

struct log_file_held_line {
    uint64_t number;
    char *bytes;
    size_t length;
};

struct line_queue {
    line_taker *take;
    void *context;
    /* The waiting lines have the indexes from `first` to `count` - 1. */
    struct log_file_held_line *lines;
    size_t first, count, bytes;
};

struct line_queue *line_queue_create(line_taker *take, void *context)
{
    struct line_queue *queue = memory_zeroed(1, sizeof *queue);
    queue->take = take;
    queue->context = context;
    return queue;
}

void line_queue_destroy(struct line_queue *queue)
{
    if (!queue)
        return;
    for (size_t i = queue->first; i < queue->count; i++)
        free(queue->lines[i].bytes);
    free(queue->lines);
    free(queue);
}

static int log_file_take_first(struct line_queue *queue, const struct log_file *log,
                               struct error *err)
{
    struct log_file_held_line line = queue->lines[queue->first++];
    queue->bytes -= line.length;
    int result = queue->take(queue->context, log, line.number,
                             (struct part){ line.bytes, line.length }, err);
    free(line.bytes);
    return result;
}

int line_queue_flush(struct line_queue *queue, const struct log_file *log, struct error *err)
{
    while (queue->first < queue->count) {
        if (log_file_take_first(queue, log, err))
            return -1;
    }
    queue->first = queue->count = 0;
    return 0;
}

static void push(struct line_queue *queue, uint64_t number, struct part line)
{
    if (queue->first && 2 * queue->first >= queue->count) {
        queue->count -= queue->first;
        memmove(queue->lines, queue->lines + queue->first, queue->count * sizeof *queue->lines);
        queue->first = 0;
    }
    struct log_file_held_line *held = memory_append(&queue->lines, &queue->count);
    *held = (struct log_file_held_line){ number, memory_resized(NULL, line.length + 1, 1),
                                         line.length };
    memcpy(held->bytes, line.bytes, line.length);
    queue->bytes += line.length;
}

/*
 * A possible first line of a record, derived from a field of a continuation line.  `types` are the
 * record types that have this field, `key` and `time` are the field, and `stamp` is the start of a
 * line with this time.
 */
struct beginning {
    const char *types, *key;
    uint64_t time;
    char stamp[sizeof "MM/DD/YYYY HH:MM:SS;"];
};

/*
 * Searches the first *at bytes of a continuation line, `rest`, backwards for beginning->key with a
 * valid time.  If it finds one, returns true, sets *at to the offset of the key, and sets the time
 * and stamp of `beginning`.
 */
static bool find_time(struct part rest, size_t *at, struct beginning *beginning)
{
    size_t length = strlen(beginning->key);
    while (*at > 0) {
        --*at;
        if (rest.length - *at <= length || memcmp(rest.bytes + *at, beginning->key, length) != 0)
            continue;
        const char *digits = rest.bytes + *at + length, *end = rest.bytes + rest.length;
        size_t count = 0;
        while (digits + count < end && digits[count] >= '0' && digits[count] <= '9')
            count++;
        struct tm shown;
        time_t time;
        if (!number_unsigned(digits, count, &beginning->time) || beginning->time > LATEST_TIME)
            continue;
        time = (time_t)beginning->time;
        if (localtime_r(&time, &shown) &&
            strftime(beginning->stamp, sizeof beginning->stamp, "%m/%d/%Y %H:%M:%S;", &shown))
            return true;
    }
    return false;
}

/*
 * Returns true if a line can be the first line that `beginning` describes.  If `whole` is false,
 * the line must not contain its own time as a field, because a record that contains its time is
 * complete.  If `whole` is true, the line must contain its own time, which a user may have known in
 * advance and written there.
 */
static bool log_file_begins(const struct log_file_held_line *line,
                            const struct beginning *beginning, bool whole)
{
    size_t length = strlen(beginning->stamp);
    if (line->length < length + 2 || memcmp(line->bytes, beginning->stamp, length) != 0 ||
        !strchr(beginning->types, line->bytes[length]))
        return false;
    char own[32];
    snprintf(own, sizeof own, "%s%" PRIu64, beginning->key, beginning->time);
    return whole == (memmem(line->bytes, line->length, own, strlen(own)) != NULL);
}

/*
 * Returns the index of the line in which the record of a continuation line begins, or queue->count
 * if no line matches.
 */
static size_t find_beginning(const struct line_queue *queue, struct part rest)
{
    /* Of these times, users know only qtime in advance, the second in which they submit a job. */
    static const struct {
        struct beginning beginning;
        bool whole;
    } kinds[] = { { { .types = "ER", .key = " end=" }, false },
                  { { .types = "S", .key = " start=" }, false },
                  { { .types = "Q", .key = " qtime=" }, false },
                  { { .types = "Q", .key = " qtime=" }, true } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct beginning beginning = kinds[i].beginning;
        for (size_t from = rest.length; find_time(rest, &from, &beginning);) {
            for (size_t at = queue->first; at < queue->count; at++) {
                if (log_file_begins(&queue->lines[at], &beginning, kinds[i].whole))
                    return at;
            }
        }
    }
    return queue->count;
}

/*
 * Appends a continuation line to its record, with all lines between.  Returns false if no record
 * matches.
 */
static bool join(struct line_queue *queue, struct part rest)
{
    size_t at = find_beginning(queue, rest);
    if (at == queue->count)
        return false;
    struct text joined = { 0 };
    for (size_t i = at; i < queue->count; i++) {
        text_add_bytes(&joined, queue->lines[i].bytes, queue->lines[i].length);
        text_add(&joined, "\n");
        free(queue->lines[i].bytes);
    }
    text_add_bytes(&joined, rest.bytes, rest.length);
    queue->bytes += joined.length;
    for (size_t i = at; i < queue->count; i++)
        queue->bytes -= queue->lines[i].length;
    queue->lines[at].bytes = joined.bytes;
    queue->lines[at].length = joined.length;
    queue->count = at + 1;
    return true;
}

int line_queue_add(struct line_queue *queue, const struct log_file *log, uint64_t number,
                   struct part line, struct error *err)
{
    if (record_begins(line) || !join(queue, line))
        push(queue, number, line);
    while (queue->bytes > MOST_BYTES && queue->first + 1 < queue->count) {
        if (log_file_take_first(queue, log, err))
            return -1;
    }
    return 0;
}
