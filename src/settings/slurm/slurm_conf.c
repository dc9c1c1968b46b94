/* SPDX-License-Identifier: MIT */
#include "settings/slurm/slurm_conf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

#define NOTES_AT_MOST 100

static const char *const key_names[SLURM_KEYS] = {
    [SLURM_ACCOUNTING_ENFORCE] = "AccountingStorageEnforce",
    [SLURM_CLUSTER_NAME] = "ClusterName",
    [SLURM_DAMPENING_FACTOR] = "FairShareDampeningFactor",
    [SLURM_CALC_PERIOD] = "PriorityCalcPeriod",
    [SLURM_DECAY_HALF_LIFE] = "PriorityDecayHalfLife",
    [SLURM_FAVOR_SMALL] = "PriorityFavorSmall",
    [SLURM_FLAGS] = "PriorityFlags",
    [SLURM_MAIL_DOMAIN] = "MailDomain",
    [SLURM_MAX_AGE] = "PriorityMaxAge",
    [SLURM_MAX_NODE_COUNT] = "MaxNodeCount",
    [SLURM_SITE_FACTOR_PLUGIN] = "PrioritySiteFactorPlugin",
    [SLURM_TYPE] = "PriorityType",
    [SLURM_USAGE_RESET_PERIOD] = "PriorityUsageResetPeriod",
    [SLURM_WEIGHT_AGE] = "PriorityWeightAge",
    [SLURM_WEIGHT_ASSOC] = "PriorityWeightAssoc",
    [SLURM_WEIGHT_FAIRSHARE] = "PriorityWeightFairshare",
    [SLURM_WEIGHT_JOB_SIZE] = "PriorityWeightJobSize",
    [SLURM_WEIGHT_PARTITION] = "PriorityWeightPartition",
    [SLURM_WEIGHT_QOS] = "PriorityWeightQOS",
    [SLURM_WEIGHT_TRES] = "PriorityWeightTRES",
    [SLURM_PRIVATE_DATA] = "PrivateData",
};

const char *slurm_key_name(enum slurm_key key)
{
    return key_names[key];
}

void slurm_conf_destroy(struct slurm_conf *conf)
{
    if (!conf)
        return;
    for (size_t i = 0; i < conf->partition_count; i++)
        free(conf->partitions[i].totals.gres);
    free(conf->partitions);
    free(conf->totals.gres);
    free(conf->notes);
    free(conf->files.each);
    arena_destroy(conf->arena);
    free(conf);
}

void slurm_conf_note(struct slurm_conf *conf, struct slurm_place place, const char *format, ...)
{
    if (conf->note_count == NOTES_AT_MOST)
        return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *memory_append(&conf->notes, &conf->note_count) =
        (struct slurm_note){ place, arena_copy(conf->arena, text, strlen(text)) };
}

/* Limits that no real slurm.conf exceeds. */
#define DEPTH_AT_MOST 16
#define FILES_AT_MOST 1000
#define BYTES_AT_MOST (32u << 20)

#define BLANKS " \t\r\n\v\f"

struct slurm_conf_reading {
    const struct slurm_reader *reader;
    struct slurm_files *files;
    size_t bytes;
    struct error *err;
};

/* An open file, and the file that includes it. */
struct slurm_conf_source {
    const char *path;
    FILE *file;
    unsigned line, depth;
    struct stat status;
    const struct slurm_conf_source *includer;
};

static int read_path(struct slurm_conf_reading *reading, const char *path,
                     const struct slurm_conf_source *includer);

/* Removes the comment, which starts at the first # that is not escaped. */
static void cut_comment(char *line)
{
    for (bool escaped = false; *line; line++) {
        if (*line == '#' && !escaped) {
            *line = '\0';
            return;
        }
        escaped = *line == '\\' && !escaped;
    }
}

/*
 * Returns true if the line ends with an unescaped backslash, and removes it.  White space may
 * follow the backslash.
 */
static bool cut_continuation(char *line)
{
    size_t end = strlen(line);
    while (end && strchr(BLANKS, line[end - 1]))
        end--;
    size_t start = end;
    while (start && line[start - 1] == '\\')
        start--;
    if ((end - start) % 2 == 0)
        return false;
    line[end - 1] = '\0';
    return true;
}

static void resolve_escapes(char *line)
{
    char *to = line;
    for (; *line; line++) {
        if (*line == '\\' && !*++line)
            break;
        *to++ = *line;
    }
    *to = '\0';
}

static int slurm_conf_refuse(const struct slurm_conf_reading *reading,
                             const struct slurm_conf_source *source, const char *what)
{
    return fail(reading->err, ERROR_SETTINGS, "'%s', line %u: %s", source->path, source->line,
                what);
}

static int check_physical(struct slurm_conf_reading *reading,
                          const struct slurm_conf_source *source, const char *line, size_t length)
{
    reading->bytes += length;
    if (reading->bytes > BYTES_AT_MOST)
        return slurm_conf_refuse(
            reading, source,
            "slurm.conf and the files that it includes are larger than 32 MiB; check "
            "their paths");
    if (strlen(line) != length)
        return slurm_conf_refuse(reading, source, "the line contains a NUL byte");
    if (source->line == 1 && !strncmp(line, "\xef\xbb\xbf", 3))
        return slurm_conf_refuse(reading, source,
                                 "the file begins with a byte-order mark; save it without one");
    return 0;
}

/*
 * Reads a logical line, which is a line with its continuations, into `whole`.  Sets `*first` to the
 * number of its first line.  Returns 1 if it read a line, 0 at the end of the file, or -1 on error.
 */
static int slurm_conf_read_line(struct slurm_conf_reading *reading,
                                struct slurm_conf_source *source, struct text *whole,
                                unsigned *first)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int result = 0;
    bool more = true;
    *first = source->line + 1;
    whole->length = 0;
    while (more && result >= 0 && (length = getline(&line, &room, source->file)) >= 0) {
        source->line++;
        result = check_physical(reading, source, line, (size_t)length) ? -1 : 1;
        cut_comment(line);
        more = cut_continuation(line);
        text_add(whole, line);
    }
    if (result >= 0 && ferror(source->file))
        result = fail(reading->err, ERROR_SETTINGS, "cannot read '%s': %s", source->path,
                      strerror(errno));
    free(line);
    return result;
}

/* Replaces %c by the cluster's name in lower case, as Slurm does. */
static int add_modified(struct slurm_conf_reading *reading, const struct slurm_conf_source *source,
                        struct text *path, const char *name)
{
    for (const char *at; (at = strstr(name, "%c")); name = at + 2) {
        const char *cluster = *reading->reader->cluster;
        if (!cluster)
            return slurm_conf_refuse(reading, source,
                                     "%c in an Include needs a ClusterName in an earlier line");
        text_add_bytes(path, name, (size_t)(at - name));
        size_t start = path->length;
        text_add(path, cluster);
        ascii_lower(path->bytes + start);
    }
    text_add(path, name);
    return 0;
}

/* Resolves a relative path against the directory of another file.  The caller frees the result. */
static char *slurm_conf_beside(const char *other, const char *name)
{
    struct text path = { 0 };
    const char *slash = strrchr(other, '/');
    if (slash && *name != '/')
        text_add_bytes(&path, other, (size_t)(slash + 1 - other));
    text_add(&path, name);
    return path.bytes;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * Up to Slurm 22.05, a relative path starts from the directory of the including file, and from
 * 23.02 on from the directory of slurm.conf.  The release is unknown here, but normally only one of
 * the two files exists.
 */
static int include_named(struct slurm_conf_reading *reading, const struct slurm_conf_source *source,
                         const char *name)
{
    const struct slurm_conf_source *first = source;
    while (first->includer)
        first = first->includer;
    char *path = slurm_conf_beside(first->path, name), *own = slurm_conf_beside(source->path, name);
    struct stat there, here;
    bool is_there = !stat(path, &there), is_here = !stat(own, &here);
    int result;
    if (is_there && is_here && !same_file(&there, &here))
        result = fail(reading->err, ERROR_SETTINGS,
                      "'%s', line %u: this Include reads '%s' in Slurm up to 22.05, but '%s' from "
                      "23.02 on; use an absolute path",
                      source->path, source->line, own, path);
    else
        result = read_path(reading, is_here && !is_there ? own : path, source);
    free(path);
    free(own);
    return result;
}

static int include(struct slurm_conf_reading *reading, const struct slurm_conf_source *source,
                   const char *name)
{
    struct text given = { 0 };
    int result = add_modified(reading, source, &given, name);
    if (!result && strchr(given.bytes, '*'))
        result = slurm_conf_refuse(reading, source,
                                   "Slurm does not accept a pattern in an Include; name each file");
    if (!result)
        result = include_named(reading, source, given.bytes);
    text_free(&given);
    return result;
}

/*
 * Returns the text after the word `Include` and white space, or NULL if the line is not an
 * `Include` line.
 */
static char *included_name(char *line)
{
    line += strspn(line, BLANKS);
    if (strncasecmp(line, "include", 7) != 0 || !line[7] || !strchr(BLANKS, line[7]))
        return NULL;
    line += 7;
    return line + strspn(line, BLANKS);
}

static int slurm_conf_take_line(struct slurm_conf_reading *reading,
                                const struct slurm_conf_source *source, unsigned first, char *line)
{
    resolve_escapes(line);
    if (!line[strspn(line, BLANKS)])
        return 0;
    const struct slurm_reader *reader = reading->reader;
    struct slurm_conf_source begun = *source;
    begun.line = first;
    char *name = included_name(line);
    if (!name)
        return reader->take(reader->context, (struct slurm_place){ source->path, first }, line,
                            reading->err);
    char *end = name + strcspn(name, BLANKS);
    if (!*name)
        return slurm_conf_refuse(reading, &begun, "Include without a file name");
    if (*name == '=')
        return slurm_conf_refuse(
            reading, &begun,
            "Slurm reads the '=' after Include as a file name; write `Include FILE`");
    if (end[strspn(end, BLANKS)])
        return slurm_conf_refuse(reading, &begun,
                                 "Include with more than one file; write a line for each");
    *end = '\0';
    return include(reading, &begun, name);
}

static int slurm_conf_read_source(struct slurm_conf_reading *reading,
                                  struct slurm_conf_source *source)
{
    struct text whole = { 0 };
    unsigned first;
    int result;
    while ((result = slurm_conf_read_line(reading, source, &whole, &first)) > 0)
        if (slurm_conf_take_line(reading, source, first, whole.bytes)) {
            result = -1;
            break;
        }
    text_free(&whole);
    return result;
}

static int refuse_path(const struct slurm_conf_reading *reading,
                       const struct slurm_conf_source *includer, const char *path, const char *why)
{
    if (includer)
        return fail(reading->err, ERROR_SETTINGS, "'%s', line %u: cannot read '%s': %s",
                    includer->path, includer->line, path, why);
    return fail(reading->err, ERROR_SETTINGS, "cannot read '%s': %s", path, why);
}

static const char *why_not(const struct slurm_conf_reading *reading,
                           const struct slurm_conf_source *source)
{
    if (!S_ISREG(source->status.st_mode))
        return "it is not a regular file";
    if (source->status.st_mode & S_IWOTH)
        return "all users can write to it; run `chmod o-w` on it";
    for (const struct slurm_conf_source *each = source->includer; each; each = each->includer)
        if (same_file(&each->status, &source->status))
            return "it includes itself";
    if (source->depth > DEPTH_AT_MOST)
        return "Include is nested more than 16 levels deep";
    if (reading->files->count >= FILES_AT_MOST)
        return "more than 1000 files are included";
    return NULL;
}

static void keep_file(struct slurm_files *files, const char *path, time_t changed)
{
    *memory_append(&files->each, &files->count) = (struct slurm_file){ path, changed };
}

static int read_path(struct slurm_conf_reading *reading, const char *path,
                     const struct slurm_conf_source *includer)
{
    struct slurm_conf_source source = {
        .path = arena_copy(reading->reader->arena, path, strlen(path)),
        .depth = includer ? includer->depth + 1 : 0,
        .includer = includer,
    };
    /* Check before opening, because opening a pipe may block and opening a device may act on it. */
    const char *why = stat(path, &source.status) ? strerror(errno) : why_not(reading, &source);
    if (!why && !(source.file = fopen(path, "re")))
        why = strerror(errno);
    if (why)
        return refuse_path(reading, includer, path, why);
    keep_file(reading->files, source.path, source.status.st_mtime);
    int result = slurm_conf_read_source(reading, &source);
    fclose(source.file);
    return result;
}

int slurm_file_read(const struct slurm_reader *reader, const char *path, struct slurm_files *files,
                    struct error *err)
{
    struct slurm_conf_reading reading = { .reader = reader, .files = files, .err = err };
    return read_path(&reading, path, NULL);
}

static bool in_key(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '.';
}

/*
 * Returns the end of the value.  The end is the closing quote if white space or the end of the line
 * follows it, and otherwise the next white space.
 */
static char *value_end(char *value)
{
    if (*value == '"') {
        char *quote = strchr(value + 1, '"');
        if (quote && (!quote[1] || strchr(BLANKS, quote[1])))
            return quote + 1;
    }
    return value + strcspn(value, BLANKS);
}

bool slurm_pair_next(char **at, struct slurm_pair *pair)
{
    *at += strspn(*at, BLANKS);
    char *key = *at, *key_end = key;
    while (in_key(*key_end))
        key_end++;
    char *equals = key_end + strspn(key_end, BLANKS);
    /* Slurm reads `+=`, `-=`, `*=` and `/=` as `=`. */
    if (*equals && strchr("+-*/", *equals))
        equals++;
    if (key_end == key || *equals != '=')
        return false;
    char *value = equals + 1 + strspn(equals + 1, BLANKS), *end = value_end(value);
    *at = *end ? end + 1 : end;
    bool quoted = end > value + 1 && *value == '"' && end[-1] == '"' &&
                  !memchr(value + 1, '"', (size_t)(end - value - 2));
    *key_end = *end = '\0';
    if (quoted) {
        value++;
        end[-1] = '\0';
    }
    pair->key = key;
    pair->value = value;
    return true;
}
