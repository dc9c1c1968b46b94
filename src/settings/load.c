/* SPDX-License-Identifier: MIT */
#include "settings/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
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

#include "settings/scan.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_conf.h"
#include "settings/slurm/slurm_read.h"
#include "settings/slurm/slurm_settings.h"
#include "settings/table.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/* Checks the magic number of tzfile(5), because the C library treats any other file as UTC. */
static bool is_zone_file(const char *path)
{
    unsigned char header[44];
    struct stat status;
    FILE *file = !stat(path, &status) && S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    bool whole = fread(header, sizeof header, 1, file) == 1;
    fclose(file);
    return whole && !memcmp(header, "TZif", 4);
}

static bool time_zone_exists(const char *name)
{
    if (!strcmp(name, "UTC") || !strcmp(name, "GMT"))
        return true;
    if (strstr(name, "..") || *name == '/')
        return false;
    const char *directory = getenv("TZDIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory ? directory : "/usr/share/zoneinfo", name);
    return is_zone_file(path);
}

/* Returns true for a POSIX rule, such as `CET-1CEST` or `<+03>-3`, which TZ may contain. */
static bool is_time_zone_rule(const char *text)
{
    size_t name = *text == '<'
                      ? strcspn(text, ">") + 1
                      : strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (name < 3 || name > strlen(text))
        return false;
    text += name;
    text += *text == '+' || *text == '-';
    return *text >= '0' && *text <= '9';
}

static int check_environment_zone(struct error *err)
{
    const char *given = getenv("TZ");
    const char *name = given && *given == ':' ? given + 1 : given;
    if (!name || !*name || is_time_zone_rule(name) || time_zone_exists(name) ||
        (*name == '/' && is_zone_file(name)))
        return 0;
    return fail(err, ERROR_SETTINGS,
                "[usage] time_zone = 'system': TZ is '%s', but this host has no such time zone; "
                "correct TZ or install the host's time zone data",
                given);
}

int time_zone_set(const char *name, struct error *err)
{
    if (!strcmp(name, "system")) {
        if (check_environment_zone(err))
            return -1;
    } else if (!time_zone_exists(name)) {
        return fail(err, ERROR_SETTINGS,
                    "[usage] time_zone = '%s': this host has no such time zone; use a name such as "
                    "Europe/Berlin, or install the host's time zone data",
                    name);
    } else if (setenv("TZ", name, 1)) {
        return fail(err, ERROR_OTHER, "cannot set the time zone to '%s': %s", name,
                    strerror(errno));
    }
    tzset();
    return 0;
}

/* Fails with a message that names the section of the key, or the most similar key. */
static int refuse_key(const char *path, const struct settings_line *line, struct error *err)
{
    const char *names[64];
    size_t count = 0;
    for (const struct setting *each = settings_table; each->section; each++)
        if (!strcmp(each->section, line->section) && count < 63)
            names[count++] = each->key;
    names[count] = NULL;
    const char *nearest = nearest_word(line->key, names);
    const char *elsewhere = NULL;
    for (const struct setting *each = settings_table; each->section; each++)
        if (!elsewhere && !strcmp(each->key, line->key))
            elsewhere = each->section;
    if (elsewhere)
        return fail(err, ERROR_SETTINGS,
                    "'%s', line %u: unknown key '%s' in [%s]; it belongs in [%s]", path, line->line,
                    line->key, line->section, elsewhere);
    return fail(err, ERROR_SETTINGS, "'%s', line %u: unknown key '%s' in [%s]%s%s%s", path,
                line->line, line->key, line->section,
                nearest ? "; did you mean '" : "; fairmill.conf(5) lists the keys",
                nearest ? nearest : "", nearest ? "'?" : "");
}

static bool has_key(const struct settings_lines *lines, const char *section, const char *key)
{
    for (size_t i = 0; i < lines->count; i++)
        if (lines->each[i].key && !strcmp(lines->each[i].section, section) &&
            !strcmp(lines->each[i].key, key))
            return true;
    return false;
}

static int check_key(const char *path, const struct settings_lines *lines,
                     const struct settings_line *line, struct error *err)
{
    if (setting_named(line->section, line->key))
        return 0;
    const struct setting *renamed = setting_named_before(line->section, line->key);
    if (!renamed)
        return refuse_key(path, line, err);
    if (has_key(lines, line->section, renamed->key))
        return fail(err, ERROR_SETTINGS,
                    "'%s', line %u: [%s] has both '%s' and its former name '%s'; remove '%s'", path,
                    line->line, line->section, renamed->key, line->key, line->key);
    return 0;
}

static int settings_load_check_line(const char *path, const struct settings_lines *lines,
                                    const struct settings_line *line, struct error *err)
{
    if (line->key)
        return check_key(path, lines, line, err);
    if (section_summary(line->section))
        return 0;
    const char *nearest = section_nearest(line->section);
    return fail(err, ERROR_SETTINGS, "'%s', line %u: unknown section [%s]%s%s%s", path, line->line,
                line->section,
                nearest ? "; did you mean [" : "; fairmill.conf(5) lists the sections",
                nearest ? nearest : "", nearest ? "]?" : "");
}

/* Returns the value of a key according to iniparser, or NULL if the key is missing. */
static const char *settings_load_value_of(dictionary *file, const char *section, const char *key)
{
    char name[64];
    snprintf(name, sizeof name, "%s:%s", section, key);
    return iniparser_getstring(file, name, NULL);
}

/*
 * settings_scan() rejects all lines that the known releases of iniparser read differently.  This
 * comparison detects differences in other releases.
 */
static int compare_lines(const char *path, const struct settings_lines *lines, dictionary *file,
                         struct error *err)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct settings_line *line = &lines->each[i];
        const char *value =
            line->key ? settings_load_value_of(file, line->section, line->key) : NULL;
        if (line->key && (!value || strcmp(value, line->value) != 0))
            return fail(
                err, ERROR_SETTINGS,
                "'%s', line %u: the installed iniparser reads %s = '%s' as '%s'; write the value "
                "in another way, or install another release of iniparser",
                path, line->line, line->key, line->value, value ? value : "");
    }
    if ((size_t)file->n == lines->count)
        return 0;
    return fail(err, ERROR_SETTINGS,
                "'%s': the installed iniparser finds more keys than the file has; install another "
                "release of iniparser",
                path);
}

/* Parses the file with iniparser if all of its sections and keys are known. */
static int settings_load_read_file(dictionary **file, const char *path, struct error *err)
{
    struct settings_lines lines;
    int result = settings_scan(&lines, path, err);
    for (size_t i = 0; !result && i < lines.count; i++)
        result = settings_load_check_line(path, &lines, &lines.each[i], err);
    if (!result && !(*file = iniparser_load(path)))
        result = fail(err, ERROR_SETTINGS, "cannot read '%s' as an INI file", path);
    if (!result)
        result = compare_lines(path, &lines, *file, err);
    settings_lines_free(&lines);
    return result;
}

static bool reads_results_only(enum settings_use use)
{
    return use != SETTINGS_FOR_ALL;
}

/*
 * Returns true if slurm.conf provides the default of this setting.
 *
 * The TRES weights of slurm.conf apply together, and only if the settings file has no weights.  If
 * `charge = tres`, all weights apply.  If `charge = auto`, only the weights of partitions apply,
 * because partitions without weights bill CPUs and their stored billing is exact.
 */
static bool slurm_counts(const struct settings *settings, dictionary *file,
                         const struct setting *setting)
{
    bool of_partitions = !strcmp(setting->key, "partition_tres_weights");
    return !strstr(setting->key, "tres_weights") ||
           ((settings->charge == CHARGE_TRES ||
             (settings->charge == CHARGE_AUTO && of_partitions)) &&
            !settings_load_value_of(file, "usage", "tres_weights") &&
            !settings_load_value_of(file, "usage", "partition_tres_weights"));
}

/* Sets `*origin` to the value in the settings file, else to the value in slurm.conf, else to the
 * default. */
static int resolve(struct setting_origin *origin, const struct settings *settings, dictionary *file,
                   const struct setting *setting, struct error *err)
{
    const char *own = settings_load_value_of(file, setting->section, setting->key);
    const char *old_key = own ? NULL : setting_old_key(setting);
    if (old_key)
        own = settings_load_value_of(file, setting->section, old_key);
    /* Record the path that `conf = auto' resolved to. */
    if (settings->slurm && !strcmp(setting->section, "slurm"))
        own = settings->slurm->path;
    if (own) {
        *origin = (struct setting_origin){ .from = FROM_SETTINGS,
                                           .value = memory_text(own),
                                           .old_key = old_key };
        return 0;
    }
    struct slurm_setting found = { 0 };
    if (settings->slurm && slurm_counts(settings, file, setting) &&
        slurm_setting_find(&found, settings->slurm, setting, err))
        return -1;
    const char *fallback = setting_fallback(setting, settings);
    if (found.value)
        *origin = (struct setting_origin){
            .from = FROM_SLURM_CONF,
            .value = found.value,
            .file = found.place.file,
            .line = found.place.line,
            .slurm_key = found.key,
        };
    else
        *origin = (struct setting_origin){
            .from = FROM_DEFAULT,
            .value = fallback ? memory_text(fallback) : NULL,
        };
    return 0;
}

static int assign(struct settings *settings, const struct setting *setting,
                  const struct setting_origin *origin, struct error *err)
{
    if (!origin->value)
        return fail(err, ERROR_SETTINGS, "[%s] %s is missing; it has no default", setting->section,
                    setting->key);
    if (origin->from == FROM_SLURM_CONF)
        return slurm_setting_assign(settings, setting, origin, err);
    int result = setting_assign(setting, settings, origin->value, err);
    return result && origin->old_key
               ? fail_in(err, "'%s', which is now '%s'", origin->old_key, setting->key)
               : result;
}

static int assign_all(struct settings *settings, dictionary *file, enum settings_use use,
                      struct error *err)
{
    struct text text = { 0 }, charges = { 0 };
    int result = 0;
    settings->origin_count = settings_count();
    settings->origins = memory_zeroed(settings->origin_count, sizeof *settings->origins);
    for (size_t i = 0; !result && i < settings->origin_count; i++) {
        const struct setting *each = &settings_table[i];
        struct setting_origin *origin = &settings->origins[i];
        result = resolve(origin, settings, file, each, err);
        if (!result && !origin->value && reads_results_only(use) &&
            !strcmp(each->section, "source"))
            continue;
        if (!result)
            result = assign(settings, each, origin, err);
        /* No run depends on the settings of mail, so they are not recorded. */
        if (!result && strcmp(each->section, "notify") != 0)
            text_format(&text, "%s.%s = %s\n", each->section, each->key, origin->value);
        if (!result && each->charges)
            text_format(&charges, "%s.%s = %s\n", each->section, each->key, origin->value);
    }
    /* The results database accepts only UTF-8. */
    settings->text = utf8_copy(text.bytes, text.length);
    settings->charges = utf8_copy(charges.bytes, charges.length);
    text_free(&text);
    text_free(&charges);
    return result;
}

static int check_connection(const char *section, const struct db_settings *connection,
                            struct error *err)
{
    const char *objection = connection->driver ? db_tls_objection(connection) : NULL;
    if (objection)
        return fail(err, ERROR_SETTINGS, "[%s] tls_mode = '%s': %s", section,
                    db_tls_names[connection->tls_mode], objection);
    return 0;
}

static int check_max_lag(const struct settings *settings, struct error *err)
{
    const char *driver = settings->source.driver;
    if (settings->max_lag_s < 0 || !driver || db_driver_named(driver)->has_replicas)
        return 0;
    return fail(err, ERROR_SETTINGS,
                "[source] max_lag: driver '%s' does not support replicas; remove max_lag", driver);
}

/* Only layout slurmdbd has a lineage column, so the other layouts cannot sort by its collation. */
static int check_ties(const struct settings *settings, struct error *err)
{
    size_t line = (size_t)(setting_named("fairshare", "ties") - settings_table);
    if (source_type_of(settings)->is_slurmdbd || settings->ties != TIES_BY_COLLATION ||
        settings->origins[line].from != FROM_SETTINGS)
        return 0;
    return fail(err, ERROR_SETTINGS,
                "[fairshare] ties = 'collation': layout '%s' has no column 'lineage', whose "
                "collation is needed; remove ties, or set it to bytes",
                settings->layout);
}

static int check_decay(const struct settings *settings, struct error *err)
{
    if (settings->decay != DECAY_STEPS)
        return 0;
    if (!scheduler_of(settings)->decays_in_steps)
        return fail(err, ERROR_SETTINGS,
                    "[usage] decay = 'steps': not available with layout = %s, only with pbs; set "
                    "decay = exact",
                    settings->layout);
    if (!settings->half_life_of_source)
        return fail(err, ERROR_SETTINGS,
                    "[usage] half_life: not available with decay = steps; remove it and set "
                    "fairshare_decay_time and fairshare_decay_factor in [pbs] or sched_config");
    return 0;
}

static void note_half_life(struct settings *settings)
{
    settings->half_life_of_source = scheduler_of(settings)->decays_in_steps &&
                                    !setting_is_chosen(settings, "usage", "half_life");
}

/* The flags MAX_TRES and MAX_TRES_GRES of [priority] apply to charges, too. */
static void apply_weight_rule(struct settings *settings)
{
    unsigned flags = settings->priority_flags;
    enum weight_rule rule = flags & PRIORITY_MAX_TRES_GRES ? WEIGHTS_MAX_TRES_GRES
                            : flags & PRIORITY_MAX_TRES    ? WEIGHTS_MAX_TRES
                                                           : WEIGHTS_SUM;
    if (!charge_weights_count(&settings->weights, settings->charge) ||
        rule <= settings->weights.weight_rule)
        return;
    struct text charges = { 0 };
    text_format(&charges, "%spriority.flags have %s\n", settings->charges,
                rule == WEIGHTS_MAX_TRES ? "MAX_TRES" : "MAX_TRES_GRES");
    free(settings->charges);
    settings->charges = charges.bytes;
    settings->weights.weight_rule = rule;
}

/*
 * Record a hash of the zone's rules in addition to its name: `system' does not name a zone, and an
 * update may change the rules of any zone.
 */
static void note_zone(struct settings *settings)
{
    struct text text = { 0 };
    settings->zone = calendar_zone();
    text_format(&text, "%s%s%016" PRIx64 "\n", settings->text, ZONE_LINE, settings->zone);
    free(settings->text);
    settings->text = text.bytes;
}

void settings_digest_of(const char *text, char digest[SETTINGS_DIGEST])
{
    XXH128_hash_t hash = XXH3_128bits(text, strlen(text));
    snprintf(digest, SETTINGS_DIGEST, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

const char *settings_refuse_rollup(const struct settings *settings)
{
    if (!source_type_of(settings)->is_slurmdbd)
        return "only layout slurmdbd has rollups; set source = jobs";
    if (settings->charge == CHARGE_TRES && settings->weights.weight_rule != WEIGHTS_SUM)
        return "MAX_TRES and MAX_TRES_GRES need the TRES of each job, which rollups do not "
               "contain; set source = jobs";
    /* If `charge = auto`, rollups use the stored billing, which needs no weights. */
    if (settings->weights.partition_factors.count ||
        (settings->charge == CHARGE_TRES && settings->weights.partition_weight_count))
        return "partition_tres_weights and partition_usage_factors need the partition of each job, "
               "which rollups do not contain; set source = jobs";
    return NULL;
}

/* Validates combinations of settings and sets the fields that depend on several settings. */
static int settings_load_complete(struct settings *settings, enum settings_use use,
                                  struct error *err)
{
    apply_weight_rule(settings);
    note_half_life(settings);
    const char *objection =
        settings->usage_source == USAGE_OF_ROLLUPS ? settings_refuse_rollup(settings) : NULL;
    if (objection)
        return fail(err, ERROR_SETTINGS, "[usage] source = 'rollup': %s", objection);
    if (check_connection("source", &settings->source, err) ||
        check_connection("results", &settings->results, err) || check_max_lag(settings, err) ||
        check_ties(settings, err) || check_decay(settings, err))
        return -1;
    if (time_zone_set(settings->time_zone, err))
        return -1;
    if (!time_parse(settings->reset_anchor, &settings->reset_period.anchor))
        return fail(err, ERROR_SETTINGS,
                    "[usage] reset_anchor = '%s': must be epoch seconds or "
                    "YYYY-MM-DD[THH:MM[:SS]]",
                    settings->reset_anchor);
    /* Commands that only read results charge no jobs.  They do not read slurm.conf, which may have
     * the weights. */
    if (!reads_results_only(use) && settings->charge == CHARGE_TRES &&
        !settings->weights.weights.count)
        return fail(err, ERROR_SETTINGS,
                    "[usage] charge = 'tres': tres_weights is empty; set it, such as "
                    "tres_weights = CPU=1,Mem=0.25G, or set [slurm] conf to a slurm.conf with "
                    "TRESBillingWeights");
    settings->source.deadline_s = settings->results.deadline_s = (unsigned)settings->deadline_s;

    if (!reads_results_only(use))
        note_zone(settings);
    settings_digest_of(settings->text, settings->digest);
    return 0;
}

static int say_nothing(const char *format, ...)
{
    (void)format;
    return 0;
}

/*
 * Reads slurm.conf.  Commands that only read results do not call this, because published results do
 * not depend on the current slurm.conf.
 */
static int read_slurm_conf(struct settings *settings, dictionary *file, struct error *err)
{
    const char *path = settings_load_value_of(file, "slurm", "conf");
    if (!path || !*path)
        return 0;
    if (!strcasecmp(path, "auto"))
        path = slurm_conf_find(err);
    if (path && !slurm_conf_read(&settings->slurm, path, err))
        return 0;
    return fail_in(err, "'%s': [slurm] conf", settings->path);
}

static int load(struct settings *settings, enum settings_use use, struct error *err)
{
    dictionary *file = NULL;
    iniparser_set_error_callback(say_nothing);
    int result = settings_load_read_file(&file, settings->path, err);
    if (!result && !reads_results_only(use))
        result = read_slurm_conf(settings, file, err);
    if (!result && assign_all(settings, file, use, err))
        result = fail_in(err, "'%s'", settings->path);
    if (!result && settings_load_complete(settings, use, err))
        result = fail_in(err, "'%s'", settings->path);
    iniparser_freedict(file);
    return result;
}

char *settings_reader_path(const char *path)
{
    struct text text = { 0 };
    const char *slash = strrchr(path, '/');
    text_add_bytes(&text, path, slash ? (size_t)(slash + 1 - path) : 0);
    text_add(&text, "reader.conf");
    return text.bytes;
}

const char *settings_path(const char *path)
{
    if (!path)
        path = getenv("FAIRMILL_CONF");
    return path && *path ? path : SYSCONFDIR "/fairmill/fairmill.conf";
}

/*
 * Returns the path of the file to read.  reader.conf exists because users who may read the results
 * do not always have permission to read the settings of the runs.
 */
static char *path_for(const char *path, enum settings_use use)
{
    if (use == SETTINGS_FOR_CLIENTS || (use == SETTINGS_FOR_READING && access(path, R_OK))) {
        char *reader = settings_reader_path(path);
        if (!access(reader, R_OK))
            return reader;
        free(reader);
    }
    return memory_text(path);
}

bool settings_are_readable(const char *path)
{
    char *found = path_for(settings_path(path), SETTINGS_FOR_READING);
    bool readable = !access(found, R_OK);
    free(found);
    return readable;
}

bool settings_are_for_reading(const char *path)
{
    return access(settings_path(path), R_OK) && settings_are_readable(path);
}

int settings_load(struct settings **loaded, const char *path, enum settings_use use,
                  struct error *err)
{
    struct settings *settings = memory_zeroed(1, sizeof *settings);
    settings->path = path_for(settings_path(path), use);
    if (load(settings, use, err)) {
        settings_destroy(settings);
        return -1;
    }
    *loaded = settings;
    return 0;
}
