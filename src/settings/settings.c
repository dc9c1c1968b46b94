/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "settings/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_INIPARSER_INIPARSER_H
#include <iniparser/iniparser.h>
#else
#include <iniparser.h>
#endif
#include <xxhash.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* iniparser gives up on a file with a longer line. */
#define LINE_BYTES 1000
/* A century; the clock's integers would take more. */
#define LONGEST_S ((uint64_t)36525 * 86400)

static int take_text(const struct setting *setting, void *field, const char *value,
                     struct error *err)
{
    char **text = field;
    (void)setting;
    (void)err;
    free(*text);
    *text = memory_text(value);
    return 0;
}

static int refuse(const struct setting *setting, const char *value, const char *wanted,
                  struct error *err)
{
    return fail(err, ERROR_SETTINGS, "[%s] %s = '%s': %s", setting->section, setting->key, value,
                wanted);
}

static int take_given(const struct setting *setting, void *field, const char *value,
                      struct error *err)
{
    if (!*value)
        return refuse(setting, value, "must not be empty", err);
    return take_text(setting, field, value, err);
}

/* Say which names it could have been. */
static int refuse_name(const struct setting *setting, const char *value, const char *what,
                       const char *const *names, struct error *err)
{
    struct text wanted = { 0 };
    text_add(&wanted, what);
    for (int i = 0; names[i]; i++)
        text_format(&wanted, "%s '%s'", i ? "," : "", names[i]);
    refuse(setting, value, wanted.bytes, err);
    text_free(&wanted);
    return -1;
}

static int take_choice(const struct setting *setting, void *field, const char *value,
                       struct error *err)
{
    for (int i = 0; setting->choices[i]; i++)
        if (!strcasecmp(setting->choices[i], value)) {
            *(int *)field = i;
            return 0;
        }
    return refuse_name(setting, value, "must be one of", setting->choices, err);
}

static int take_yes_no(const struct setting *setting, void *field, const char *value,
                       struct error *err)
{
    int place = 0;
    if (take_choice(setting, &place, value, err))
        return -1;
    *(bool *)field = place == 1;
    return 0;
}

static int take_algorithm(const struct setting *setting, void *field, const char *value,
                          struct error *err)
{
    const char *names[16] = { NULL };
    for (size_t i = 0; algorithms[i] && i < 15; i++) {
        names[i] = algorithms[i]->name;
        if (!strcasecmp(value, names[i])) {
            *(const struct algorithm **)field = algorithms[i];
            return 0;
        }
    }
    return refuse_name(setting, value, "must be one of", names, err);
}

static int take_driver(const struct setting *setting, void *field, const char *value,
                       struct error *err)
{
    const char *names[16] = { NULL };
    for (size_t i = 0; db_drivers[i] && i < 15; i++) {
        names[i] = db_drivers[i]->name;
        if (!strcasecmp(value, names[i]))
            return take_text(setting, field, names[i], err);
    }
    return refuse_name(setting, value, "this build has", names, err);
}

static int take_port(const struct setting *setting, void *field, const char *value,
                     struct error *err)
{
    uint64_t port;
    if (!number_unsigned(value, strlen(value), &port) || port > 65535)
        return refuse(setting, value, "must be a port number, 1 to 65535 (0: the usual one)", err);
    *(unsigned *)field = (unsigned)port;
    return 0;
}

static int take_time_string(const struct setting *setting, void *field, const char *value,
                            struct error *err)
{
    uint64_t seconds;
    if (!time_string_parse(value, &seconds))
        return refuse(setting, value,
                      "must be a time string: min, hr:min:00, days-hr:min:00 or days-hr", err);
    if (seconds > LONGEST_S)
        return refuse(setting, value, "is more than a century", err);
    *(uint64_t *)field = seconds;
    return 0;
}

static int take_deadline(const struct setting *setting, void *field, const char *value,
                         struct error *err)
{
    uint64_t seconds;
    if (!duration_parse(value, &seconds) || seconds == 0 || seconds > 86400)
        return refuse(setting, value, "must be a number with s, m, h or d behind it, up to a day",
                      err);
    *(uint64_t *)field = seconds;
    return 0;
}

static int take_reset_period(const struct setting *setting, void *field, const char *value,
                             struct error *err)
{
    struct reset_period *period = field;
    for (int i = 0; setting->choices[i]; i++)
        if (!strcasecmp(setting->choices[i], value)) {
            period->unit = (enum reset_unit)i;
            return 0;
        }
    period->unit = RESET_EVERY;
    if (!time_string_parse(value, &period->span) || !period->span || period->span > LONGEST_S)
        return refuse(setting, value,
                      "must be none, daily, weekly, monthly, quarterly, yearly or a time string "
                      "(min, hr:min:00, days-hr:min:00, days-hr)",
                      err);
    return 0;
}

static int take_number(const struct setting *setting, void *field, const char *value,
                       const double range[2], const char *wanted, struct error *err)
{
    double number;
    if (!number_real(value, &number) || number < range[0] || number > range[1])
        return refuse(setting, value, wanted, err);
    *(double *)field = number;
    return 0;
}

static int take_dampening(const struct setting *setting, void *field, const char *value,
                          struct error *err)
{
    return take_number(setting, field, value, (const double[]){ 1, 65535 },
                       "must be a number from 1 to 65535", err);
}

static int take_capacity(const struct setting *setting, void *field, const char *value,
                         struct error *err)
{
    if (!strcasecmp(value, "auto")) {
        *(double *)field = 0;
        return 0;
    }
    return take_number(setting, field, value, (const double[]){ 1e-9, 1e18 },
                       "must be auto or a number above 0", err);
}

static int take_half_lives(const struct setting *setting, void *field, const char *value,
                           struct error *err)
{
    return take_number(setting, field, value, (const double[]){ 1e-9, 1e9 },
                       "must be a number above 0", err);
}

static int take_minimum_usage(const struct setting *setting, void *field, const char *value,
                              struct error *err)
{
    return take_number(setting, field, value, (const double[]){ 0, 1e15 },
                       "must be a number from 0 to 1e15", err);
}

static const char *const yes_no[] = { "no", "yes", NULL };
static const char *const layouts[] = { "slurmdbd", NULL };
static const char *const bad_rows[] = { "fail", "skip", NULL };
static const char *const charges[] = { "billing", "cpu", NULL };
static const char *const resets[] = { "none",      "daily",  "weekly", "monthly",
                                      "quarterly", "yearly", NULL };
static const char *const conformances[] = { "documents", "slurmctld", NULL };

static int take_layout(const struct setting *setting, void *field, const char *value,
                       struct error *err)
{
    int place;
    return take_choice(setting, &place, value, err) ? -1 : take_text(setting, field, value, err);
}

#define FIELD(name) offsetof(struct settings, name)
/* clang-format off */
#define CONNECTION(section, what) \
    { #section, "driver", NULL, \
      "The database system of " what ": mysql (MariaDB too) or sqlite.", \
      take_driver, FIELD(section.driver), NULL }, \
    { #section, "host", "", \
      "Its host; empty: this one, through a socket.", \
      take_text, FIELD(section.host), NULL }, \
    { #section, "port", "0", \
      "Its TCP port; 0: the usual one.", \
      take_port, FIELD(section.port), NULL }, \
    { #section, "socket", "", \
      "The path of its unix socket; empty: the usual one.", \
      take_text, FIELD(section.socket), NULL }, \
    { #section, "database", NULL, \
      "The database's name; for sqlite the path of its file.", \
      take_given, FIELD(section.database), NULL }, \
    { #section, "user", "", \
      "Who logs in; empty: the user that fairmill runs as.", \
      take_text, FIELD(section.user), NULL }, \
    { #section, "option_file", "", \
      "A MySQL option file whose groups [client] and [fairmill] may hold the password.", \
      take_text, FIELD(section.option_file), NULL }
/* clang-format on */

const struct setting settings_table[] = {
    CONNECTION(source, "the accounting database"),
    { "source", "layout", "slurmdbd", "Whose tables they are: slurmdbd, Slurm 20.11 to 26.05.",
      take_layout, FIELD(layout), layouts },
    { "source", "clusters", "all",
      "The clusters to compute, separated by commas; all: every one that is not deleted.",
      take_given, FIELD(clusters), NULL },
    { "source", "deadline", "120 s",
      "How long the databases may take: no statement lasts longer, and tries end by then.  A "
      "number with s, m, h or d behind it.",
      take_deadline, FIELD(deadline_s), NULL },
    { "source", "on_bad_rows", "fail",
      "What an association without a parent, in a cycle or there twice does: fail the cluster, "
      "or skip: be left out with all below it, and reported as a finding.",
      take_choice, FIELD(on_bad_rows), bad_rows },

    CONNECTION(results, "the result tables"),
    { "results", "share_database", "no",
      "yes: the result tables may live in the accounting database itself.", take_yes_no,
      FIELD(share_database), yes_no },

    { "usage", "half_life", "7-0",
      "After this time usage counts half; 0: no decay.  A time string: min, hr:min:00, "
      "days-hr:min:00 or days-hr.",
      take_time_string, FIELD(half_life_s), NULL },
    { "usage", "reset_period", "none",
      "Usage before the last boundary does not count: none, daily, weekly (Sunday), monthly, "
      "quarterly, yearly, or a time string counted from reset_anchor.",
      take_reset_period, FIELD(reset_period), resets },
    { "usage", "reset_anchor", "1970-01-01",
      "An instant at which such a period begins: epoch seconds or YYYY-MM-DD[THH:MM[:SS]].",
      take_given, FIELD(reset_anchor), NULL },
    { "usage", "time_zone", "system",
      "Where days begin and how dates are read: a name such as Europe/Berlin; system: as this "
      "machine is set.",
      take_given, FIELD(time_zone), NULL },
    { "usage", "charge", "billing",
      "What a job is charged each second: billing (TRES 5, or CPUs where there is none), or cpu.",
      take_choice, FIELD(charge), charges },
    { "usage", "open_job_cap", "1-0",
      "A job without an end is charged this long beyond its time limit.  A time string.",
      take_time_string, FIELD(open_job_cap_s), NULL },

    { "fairshare", "algorithm", "fair_tree",
      "The value published as `fairshare`; all are computed: fair_tree, depth_oblivious, classic, "
      "linear or pbs.",
      take_algorithm, FIELD(algorithm), NULL },
    { "fairshare", "conformance", "documents",
      "Where Slurm's documents and its controller differ, follow documents or slurmctld.",
      take_choice, FIELD(conformance), conformances },
    { "fairshare", "dampening", "1",
      "FairShareDampeningFactor: divides the exponent of classic and depth_oblivious.",
      take_dampening, FIELD(dampening), NULL },
    { "fairshare", "capacity", "auto",
      "How much of the charged TRES the cluster has, for capacity_usage and linear; auto: what "
      "the cluster registered.",
      take_capacity, FIELD(capacity), NULL },
    { "fairshare", "capacity_half_lives", "2",
      "How many half-lives of that capacity are the whole of which capacity_usage is a part.",
      take_half_lives, FIELD(capacity_half_lives), NULL },
    { "fairshare", "pbs_minimum_usage", "0",
      "What pbs counts for an entity without usage, in TRES-seconds: 0 as the document, 1 as "
      "pbsfs.",
      take_minimum_usage, FIELD(pbs_minimum_usage), NULL },
    { .section = NULL },
};

static const struct {
    const char *name, *summary;
} sections[] = {
    { "source", "The accounting database, which is only read." },
    { "results", "The database that the result tables are in." },
    { "usage", "What counts as usage." },
    { "fairshare", "What is made of it." },
};
#define SECTIONS (sizeof sections / sizeof *sections)

const char *section_summary(const char *section)
{
    for (size_t i = 0; i < SECTIONS; i++)
        if (!strcmp(sections[i].name, section))
            return sections[i].summary;
    return NULL;
}

const char *conformance_name(enum conformance conformance)
{
    return conformances[conformance];
}

char *list_next(const char **at)
{
    while (*at) {
        const char *start = *at + strspn(*at, ", \t");
        size_t length = strcspn(start, ",");
        *at = start[length] ? start + length + 1 : NULL;
        while (length && (start[length - 1] == ' ' || start[length - 1] == '\t'))
            length--;
        if (length)
            return strndup(start, length);
    }
    return NULL;
}

bool settings_want_cluster(const struct settings *settings, const char *cluster)
{
    if (!strcmp(settings->clusters, "all"))
        return true;
    const char *at = settings->clusters;
    bool wanted = false;
    for (char *name; !wanted && (name = list_next(&at)); free(name))
        wanted = !strcmp(name, cluster);
    return wanted;
}

/* What iniparser passes over in silence, or does not survive.  The scan knows just enough of the
 * format to refuse it. */
struct scan {
    const char *path;
    unsigned line;
    char section[LINE_BYTES];
    struct text seen; /* "\nsection\n" and "\nsection:key\n" of what was there */
    struct error *err;
};

static bool seen_before(struct scan *scan, const char *section, const char *key)
{
    struct text entry = { 0 };
    text_format(&entry, "\n%s%s%s\n", section, key ? ":" : "", key ? key : "");
    for (char *at = entry.bytes; *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at + ('a' - 'A'));
    bool before = scan->seen.bytes && strstr(scan->seen.bytes, entry.bytes);
    text_add(&scan->seen, entry.bytes);
    text_free(&entry);
    return before;
}

static int refuse_line(const struct scan *scan, const char *what, const char *name)
{
    return fail(scan->err, ERROR_SETTINGS, "'%s', line %u: %s%s%s%s", scan->path, scan->line, what,
                name ? " '" : "", name ? name : "", name ? "'" : "");
}

static int scan_section(struct scan *scan, char *text)
{
    char *end = strchr(text, ']');
    if (!end)
        return refuse_line(scan, "a section without its ']'", NULL);
    *end = '\0';
    snprintf(scan->section, sizeof scan->section, "%s", text + 1);
    if (strchr(scan->section, ':'))
        return refuse_line(scan, "a colon in the section's name", scan->section);
    if (seen_before(scan, scan->section, NULL))
        return refuse_line(scan, "there is another section", scan->section);
    return 0;
}

static int scan_key(struct scan *scan, char *text)
{
    char *end = strchr(text, '=');
    if (!end)
        return refuse_line(scan, "neither a [section] nor key = value:", text);
    while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    if (!*scan->section)
        return refuse_line(scan, "a key before the first [section]:", text);
    if (strchr(text, ':'))
        return refuse_line(scan, "a colon in the key", text);
    if (seen_before(scan, scan->section, text))
        return refuse_line(scan, "this key was there before:", text);
    return 0;
}

static int scan_line(struct scan *scan, char *text, size_t length)
{
    if (strlen(text) != length)
        return refuse_line(scan, "a NUL byte", NULL);
    if (scan->line == 1 && !strncmp(text, "\xef\xbb\xbf", 3))
        return refuse_line(scan, "a byte-order mark; save the file without it", NULL);
    if (length > LINE_BYTES)
        return refuse_line(scan, "longer than 1000 bytes", NULL);
    while (length && strchr(" \t\r\n", text[length - 1]))
        text[--length] = '\0';
    if (length && text[length - 1] == '\\')
        return refuse_line(scan, "a value does not go on in the next line", NULL);
    text += strspn(text, " \t");
    if (!*text || *text == '#' || *text == ';')
        return 0;
    return *text == '[' ? scan_section(scan, text) : scan_key(scan, text);
}

static int scan_file(FILE *file, const char *path, struct error *err)
{
    struct scan scan = { .path = path, .err = err };
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int result = 0;
    while (!result && (length = getline(&line, &room, file)) >= 0) {
        scan.line++;
        result = scan_line(&scan, line, (size_t)length);
    }
    if (!result && ferror(file))
        result = fail(err, ERROR_SETTINGS, "cannot read '%s': %s", path, strerror(errno));
    free(line);
    text_free(&scan.seen);
    return result;
}

static int check_file(const char *path, struct error *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return fail(err, ERROR_SETTINGS, "cannot open '%s': %s", path, strerror(errno));
    struct stat status;
    int result = 0;
    if (fstat(fileno(file), &status) || S_ISDIR(status.st_mode))
        result = fail(err, ERROR_SETTINGS, "cannot read '%s': it is no file", path);
    else if (status.st_mode & (S_IWGRP | S_IWOTH))
        result = fail(err, ERROR_SETTINGS,
                      "'%s' may be written by others than its owner: chmod go-w it", path);
    else
        result = scan_file(file, path, err);
    fclose(file);
    return result;
}

static const struct setting *setting_named(const char *section, const char *key)
{
    for (const struct setting *each = settings_table; each->section; each++)
        if (!strcmp(each->section, section) && !strcmp(each->key, key))
            return each;
    return NULL;
}

/* Say that a key is unknown, and which one was most likely meant. */
static int refuse_key(const char *path, const char *section, const char *key, struct error *err)
{
    const char *names[64];
    size_t count = 0;
    for (const struct setting *each = settings_table; each->section; each++)
        if (!strcmp(each->section, section) && count < 63)
            names[count++] = each->key;
    names[count] = NULL;
    const char *nearest = nearest_word(key, names);
    const char *elsewhere = NULL;
    for (const struct setting *each = settings_table; each->section && !nearest; each++)
        if (!strcmp(each->key, key))
            elsewhere = each->section;
    if (elsewhere)
        return fail(err, ERROR_SETTINGS, "'%s': unknown key '%s' in [%s]; it belongs in [%s]", path,
                    key, section, elsewhere);
    return fail(err, ERROR_SETTINGS, "'%s': unknown key '%s' in [%s]%s%s%s", path, key, section,
                nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static int check_section(const char *path, dictionary *file, const char *section, struct error *err)
{
    if (!section_summary(section)) {
        const char *names[SECTIONS + 1] = { NULL };
        for (size_t i = 0; i < SECTIONS; i++)
            names[i] = sections[i].name;
        const char *nearest = nearest_word(section, names);
        return fail(err, ERROR_SETTINGS, "'%s': unknown section [%s]%s%s%s", path, section,
                    nearest ? "; did you mean [" : "", nearest ? nearest : "", nearest ? "]?" : "");
    }
    int count = iniparser_getsecnkeys(file, section);
    const char **keys = memory_zeroed((size_t)count + 1, sizeof *keys);
    int result = 0;
    if (count > 0 && !iniparser_getseckeys(file, section, keys))
        result = fail(err, ERROR_SETTINGS, "'%s': cannot list the keys of [%s]", path, section);
    for (int i = 0; !result && i < count; i++) {
        const char *key = keys[i] + strlen(section) + 1;
        if (!setting_named(section, key))
            result = refuse_key(path, section, key, err);
    }
    free(keys);
    return result;
}

static int take_all(struct settings *settings, dictionary *file, struct error *err)
{
    struct text text = { 0 };
    int result = 0;
    for (const struct setting *each = settings_table; !result && each->section; each++) {
        char key[64];
        snprintf(key, sizeof key, "%s:%s", each->section, each->key);
        const char *value = iniparser_getstring(file, key, each->fallback);
        if (!value)
            result = fail(err, ERROR_SETTINGS, "[%s] %s is missing", each->section, each->key);
        else
            result = each->take(each, (char *)settings + each->offset, value, err);
        if (!result)
            text_format(&text, "%s.%s = %s\n", each->section, each->key, value);
    }
    settings->text = text.bytes;
    return result;
}

static bool time_zone_exists(const char *name)
{
    if (!strcmp(name, "UTC") || !strcmp(name, "GMT"))
        return true;
    if (strstr(name, "..") || *name == '/')
        return false;
    const char *folder = getenv("TZDIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "/usr/share/zoneinfo", name);
    struct stat status;
    return !stat(path, &status) && S_ISREG(status.st_mode);
}

/* What needs more than one key. */
static int complete(struct settings *settings, struct error *err)
{
    if (strcmp(settings->time_zone, "system")) {
        if (!time_zone_exists(settings->time_zone))
            return fail(err, ERROR_SETTINGS,
                        "[usage] time_zone = '%s': this machine knows no such time zone",
                        settings->time_zone);
        if (setenv("TZ", settings->time_zone, 1))
            return fail(err, ERROR_OTHER, "cannot set the time zone: %s", strerror(errno));
    }
    tzset();
    if (!instant_parse(settings->reset_anchor, &settings->reset_period.anchor))
        return fail(err, ERROR_SETTINGS,
                    "[usage] reset_anchor = '%s': must be epoch seconds or "
                    "YYYY-MM-DD[THH:MM[:SS]]",
                    settings->reset_anchor);
    settings->source.deadline_s = settings->results.deadline_s = (unsigned)settings->deadline_s;

    XXH128_hash_t hash = XXH3_128bits(settings->text, strlen(settings->text));
    snprintf(settings->digest, sizeof settings->digest, "%016llx%016llx",
             (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    return 0;
}

static int say_nothing(const char *format, ...)
{
    (void)format;
    return 0;
}

static int load(struct settings *settings, struct error *err)
{
    if (check_file(settings->path, err))
        return -1;
    iniparser_set_error_callback(say_nothing);
    dictionary *file = iniparser_load(settings->path);
    if (!file)
        return fail(err, ERROR_SETTINGS, "cannot read '%s' as an INI file", settings->path);
    int result = 0, section_count = iniparser_getnsec(file);
    for (int i = 0; !result && i < section_count; i++)
        result = check_section(settings->path, file, iniparser_getsecname(file, i), err);
    if (!result && take_all(settings, file, err))
        result = fail_in(err, "'%s'", settings->path);
    if (!result && complete(settings, err))
        result = fail_in(err, "'%s'", settings->path);
    iniparser_freedict(file);
    return result;
}

int settings_load(struct settings **loaded, const char *path, struct error *err)
{
    if (!path)
        path = getenv("FAIRMILL_CONF");
    if (!path || !*path)
        path = SYSCONFDIR "/fairmill/fairmill.conf";
    struct settings *settings = memory_zeroed(1, sizeof *settings);
    settings->path = memory_text(path);
    if (load(settings, err)) {
        settings_destroy(settings);
        return -1;
    }
    *loaded = settings;
    return 0;
}

static void connection_free(struct db_settings *connection)
{
    free((char *)connection->driver);
    free((char *)connection->host);
    free((char *)connection->socket);
    free((char *)connection->database);
    free((char *)connection->user);
    free((char *)connection->option_file);
}

void settings_destroy(struct settings *settings)
{
    if (!settings)
        return;
    connection_free(&settings->source);
    connection_free(&settings->results);
    free(settings->layout);
    free(settings->clusters);
    free(settings->reset_anchor);
    free(settings->time_zone);
    free(settings->path);
    free(settings->text);
    free(settings);
}
