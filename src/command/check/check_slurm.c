/* SPDX-License-Identifier: MIT */
#include "command/check/check_slurm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "compute/computation.h"
#include "core/fairshare/release.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_conf.h"
#include "settings/slurm/slurm_read.h"
#include "settings/slurm/slurm_settings.h"
#include "settings/table.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/* Seed 002: weights "may need to be set to a high enough value (say, 1000) to resolve very tiny
 * differences in priority factors". */
#define WEIGHT_HIGH_ENOUGH 1000

/* Maximum and minimum number of intervals between runs from which the median is computed. */
#define DISTANCES 9
#define DISTANCES_AT_LEAST 3

static void add_origin(struct text *text, const struct setting *setting,
                       const struct setting_origin *origin)
{
    text_format_printable(text, "  %s.%s = %s", setting->section, setting->key,
                          *origin->value ? origin->value : "''");
    if (setting_is_minutes(setting, origin->value))
        text_add(text, " min");
    if (origin->from == FROM_SLURM_CONF)
        text_format(text, ", from %s in '%s', line %u\n", origin->slurm_key, origin->file,
                    origin->line);
    else
        text_add(text, origin->from == FROM_SETTINGS ? ", from the settings\n" : ", the default\n");
}

static void check_slurm_add_summary(struct text *text, const struct slurm_conf *conf)
{
    const char *cluster = conf->given[SLURM_CLUSTER_NAME].value;
    text_format(text, "slurm.conf: '%s'", conf->path);
    if (conf->files.count > 1)
        text_format(text, " and the files it includes, %zu in total", conf->files.count);
    if (cluster)
        text_format_printable(text, ", cluster '%s'", cluster);
    text_format(text, ", partitions: %zu, nodes: %" PRIu64 " with %" PRIu64 " CPUs\n",
                conf->partition_count, conf->totals.nodes, conf->totals.cpus);
    for (size_t i = 0; i < conf->files.count; i++) {
        text_format_printable(text, "  read: '%s', modified ", conf->files.each[i].path);
        time_add(text, conf->files.each[i].changed);
        text_add(text, "\n");
    }
}

static void check_slurm_add_place(struct text *text, struct slurm_place place)
{
    text_format(text, "  warning: '%s', line %u: ", place.file, place.line);
}

/* Warns about a key of slurm.conf and shows its value. */
static void warn_of(struct text *text, const struct slurm_conf *conf, enum slurm_key key,
                    const char *what)
{
    check_slurm_add_place(text, conf->given[key].place);
    text_format_printable(text, "%s = '%s': ", slurm_key_name(key), conf->given[key].value);
    text_format(text, "%s\n", what);
}

static bool says(const struct slurm_conf *conf, enum slurm_key key, const char *value)
{
    return conf->given[key].value && !strcasecmp(conf->given[key].value, value);
}

static void warn_of_flags(struct text *text, const struct slurm_conf *conf)
{
    const struct slurm_given *given = &conf->given[SLURM_FLAGS];
    size_t length;
    for (const char *at = given->value, *flag; at && (flag = slurm_flag_unknown(&at, &length));) {
        check_slurm_add_place(text, given->place);
        text_format(text, "unknown flag '%.*s' in PriorityFlags\n", (int)length, flag);
    }
}

/* Warns about values of PrivateData that hide data in Slurm which fairmill shows.  No output of
 * fairmill has events, nodes or reservations.  Users are hidden with their usage and their jobs.
 * Slurm searches for these words anywhere in the value.  A setting `private` replaces the value. */
static void warn_of_private(struct text *text, const struct settings *settings)
{
    static const struct {
        const char *word, *warning;
    } shown[] = {
        { "account",
          "users of fairmill see the names, shares and usage of all accounts; to hide them, do not "
          "enable fairmill.socket, else set private in [report] to accept this" },
        { "partition",
          "users of fairmill see the names and waiting times of all partitions; to hide them, do "
          "not enable fairmill.socket, else set private in [report] to accept this" },
        { "user",
          "users of fairmill see the names of others; to hide them, set private = usage, jobs in "
          "[report]" },
    };
    const struct slurm_conf *conf = settings->slurm;
    const char *value = conf->given[SLURM_PRIVATE_DATA].value;
    size_t line = (size_t)(setting_named("report", "private") - settings_table);
    for (size_t i = 0; value && i < sizeof shown / sizeof *shown; i++)
        if (settings->origins[line].from != FROM_SETTINGS &&
            (strcasestr(value, shown[i].word) || strcasestr(value, "all")) &&
            (strcmp(shown[i].word, "user") != 0 || settings->private != PRIVATE_ALL))
            warn_of(text, conf, SLURM_PRIVATE_DATA, shown[i].warning);
}

/* Warns about invalid settings of slurm.conf, and about settings whose effect no database
 * records. */
static void warn_of_conf(struct text *text, const struct settings *settings)
{
    const struct slurm_conf *conf = settings->slurm;
    const char *plugin = conf->given[SLURM_SITE_FACTOR_PLUGIN].value;
    for (size_t i = 0; i < conf->note_count; i++) {
        check_slurm_add_place(text, conf->notes[i].place);
        text_format_printable(text, "%s\n", conf->notes[i].text);
    }
    if (says(conf, SLURM_TYPE, "priority/basic"))
        warn_of(text, conf, SLURM_TYPE, "Slurm computes no priorities with this plugin");
    else if (conf->given[SLURM_TYPE].value && !says(conf, SLURM_TYPE, "priority/multifactor"))
        warn_of(text, conf, SLURM_TYPE,
                "this plugin does not compute priorities from weighted factors");
    if (plugin && *plugin && strcasecmp(plugin, "site_factor/none") != 0)
        warn_of(text, conf, SLURM_SITE_FACTOR_PLUGIN,
                "no database contains the amount that it adds to priorities");
    if (says(conf, SLURM_USAGE_RESET_PERIOD, "now"))
        warn_of(text, conf, SLURM_USAGE_RESET_PERIOD,
                "no database contains the time of this reset, so fairmill treats it as NONE");
    if (!slurm_calc_period(conf))
        warn_of(text, conf, SLURM_CALC_PERIOD, "not a duration");
    warn_of_flags(text, conf);
    warn_of_private(text, settings);
}

/* slurmctld charges the end of a job only as part of the accounting for limits (acct_policy.c). */
static void note_free_ends(struct text *text, const struct slurm_conf *conf)
{
    const struct slurm_given *given = &conf->given[SLURM_ACCOUNTING_ENFORCE];
    if (slurm_enforces_limits(conf))
        return;
    text_add(text, "  note: AccountingStorageEnforce ");
    if (given->value)
        text_format_printable(text, "= '%s' ", given->value);
    text_format(text,
                "does not include 'limits': slurmctld does not charge a job for the time after the "
                "last decay cycle before its end, on average %" PRIu64
                " s (half of PriorityCalcPeriod); fairmill charges it\n",
                slurm_pass_period(conf) / 2);
}

/* If a weight is lower than the number of different factors, some factors give the same
 * priority. */
static void warn_of_weight(struct text *text, const struct settings *settings, const char *key,
                           uint64_t weight, uint64_t values, const char *of_what)
{
    if (weight && weight < values && setting_is_chosen(settings, "priority", key))
        text_format(text,
                    "  warning: priority.%s = %" PRIu64
                    " is low: priorities are whole numbers, and there may be %" PRIu64
                    " different %s\n",
                    key, weight, values, of_what);
}

static uint64_t highest_partition_factor(const struct settings *settings)
{
    uint64_t highest = 0;
    const char *at = settings->partition_factors;
    for (size_t i = 0; !at && i < settings->slurm->partition_count; i++)
        if (settings->slurm->partitions[i].job_factor > highest)
            highest = settings->slurm->partitions[i].job_factor;
    for (char *item; (item = list_next(&at)); free(item)) {
        const char *factor = strrchr(item, ':') + 1;
        uint64_t number;
        factor += strspn(factor, " \t");
        if (number_unsigned(factor, strlen(factor), &number) && number > highest)
            highest = number;
    }
    return highest;
}

/* Returns true if the settings file or slurm.conf sets a weight. */
static bool has_weights(const struct settings *settings)
{
    for (size_t i = 0; settings_table[i].section; i++)
        if (!strncmp(settings_table[i].key, "weight_", strlen("weight_")) &&
            settings->origins[i].from != FROM_DEFAULT)
            return true;
    return false;
}

/* Returns true if two values of a setting have the same meaning, even if their spelling differs. */
static bool means_the_same(const struct setting *setting, const char *one, const char *other)
{
    struct error ignored;
    struct settings *first = memory_zeroed(1, sizeof *first),
                    *second = memory_zeroed(1, sizeof *second);
    bool same = !strcmp(one, other) || (!setting_assign(setting, first, one, &ignored) &&
                                        !setting_assign(setting, second, other, &ignored) &&
                                        !memcmp(first, second, sizeof *first));
    settings_destroy(first);
    settings_destroy(second);
    return same;
}

/* Warns about settings that differ from a slurm.conf that the settings do not use.  Returns true if
 * there is such a difference. */
static bool compare_with(struct text *text, const struct settings *settings,
                         const struct slurm_conf *conf)
{
    bool differ = false;
    for (size_t i = 0; settings_table[i].section; i++) {
        const struct setting *setting = &settings_table[i];
        const char *own = settings->origins[i].value;
        struct slurm_setting found;
        struct error ignored;
        if (slurm_setting_find(&found, conf, setting, &ignored) || !found.value)
            continue;
        if (!means_the_same(setting, own, found.value)) {
            text_format_printable(
                text,
                "  warning: %s.%s is %s%s in fairmill, but %s in Slurm (%s in '%s', line %u)\n",
                setting->section, setting->key, *own ? own : "''",
                settings->origins[i].from == FROM_DEFAULT ? " by default" : "", found.value,
                found.key, found.place.file, found.place.line);
            differ = true;
        }
        free(found.value);
    }
    return differ;
}

/* Compares the settings with the slurm.conf that Slurm's commands use on this host.  Returns false
 * if there is no such file or if it cannot be read. */
static bool look_for_conf(struct text *text, const struct settings *settings)
{
    struct error why;
    struct slurm_conf *conf;
    const char *path = slurm_conf_find(&why);
    if (!path)
        return false;
    if (slurm_conf_read(&conf, path, &why)) {
        text_format_printable(text, "  warning: cannot read this host's slurm.conf: %s\n",
                              why.message);
        return false;
    }
    if (compare_with(text, settings, conf))
        text_format(text,
                    "  warning: the settings do not use '%s'; set conf = auto in [slurm] to take "
                    "its values if the settings have none\n",
                    path);
    slurm_conf_destroy(conf);
    return true;
}

static void warn_of_weights(struct text *text, const struct settings *settings)
{
    uint64_t nodes = settings->slurm ? settings->slurm->totals.nodes : 0;
    uint64_t sum = settings->weight_age + settings->weight_assoc + settings->weight_fairshare +
                   settings->weight_job_size + settings->weight_partition + settings->weight_qos;
    bool looks = source_type_of(settings)->is_slurmdbd && !settings->slurm;
    if (looks && !look_for_conf(text, settings) && !has_weights(settings))
        text_add(text,
                 "  warning: neither [slurm] conf nor a weight in [priority] is set: half-life, "
                 "weights and flags are not your cluster's, and most priorities are 0 or 1\n");
    else if (!sum && !*settings->weight_tres)
        text_add(text, "  warning: all weights in [priority] are 0, so no job has a priority\n");
    warn_of_weight(text, settings, "weight_age", settings->weight_age, WEIGHT_HIGH_ENOUGH, "ages");
    warn_of_weight(text, settings, "weight_job_size", settings->weight_job_size,
                   nodes ? nodes : WEIGHT_HIGH_ENOUGH, "job sizes");
    if (!(settings->priority_flags & PRIORITY_NO_NORMAL_PART))
        warn_of_weight(text, settings, "weight_partition", settings->weight_partition,
                       highest_partition_factor(settings), "partition factors");
    if (sum > UINT32_MAX)
        text_format(text,
                    "  warning: the weights in [priority] add up to %" PRIu64
                    ", but a priority is at most 4294967295\n",
                    sum);
}

/* A number without a unit means minutes, which the administrator might not have intended. */
static void warn_of_half_life(struct text *text, const struct settings *settings)
{
    for (size_t i = 0; settings_table[i].section; i++) {
        const struct setting *setting = &settings_table[i];
        const struct setting_origin *origin = &settings->origins[i];
        if (strcmp(setting->section, "usage") != 0 || strcmp(setting->key, "half_life") != 0)
            continue;
        const char *value = origin->from == FROM_SLURM_CONF
                                ? settings->slurm->given[SLURM_DECAY_HALF_LIFE].value
                                : origin->value;
        if (value && setting_is_minutes(setting, value) && settings->half_life_s < 86400)
            text_format(text,
                        "  warning: %s = %s is a half-life of %s minutes; a number without a unit "
                        "means minutes\n",
                        origin->from == FROM_SLURM_CONF ? origin->slurm_key : "half_life", value,
                        value);
    }
}

void check_slurm(struct text *text, const struct settings *settings)
{
    warn_of_half_life(text, settings);
    if (settings->slurm) {
        check_slurm_add_summary(text, settings->slurm);
        for (size_t i = 0; settings_table[i].section; i++)
            if (slurm_has_setting(&settings_table[i]))
                add_origin(text, &settings_table[i], &settings->origins[i]);
        warn_of_conf(text, settings);
        note_free_ends(text, settings->slurm);
    }
    warn_of_weights(text, settings);
}

void check_slurm_cluster(struct text *text, const struct settings *settings, const char *cluster,
                         uint64_t users)
{
    bool ranks = settings->algorithm->ranks_users;
    const char *named = settings->slurm ? settings->slurm->given[SLURM_CLUSTER_NAME].value : NULL;
    if (named && strcasecmp(named, cluster) != 0)
        text_format_printable(
            text, "  warning: slurm.conf belongs to cluster '%s', not to this cluster\n", named);
    warn_of_weight(text, settings, "weight_fairshare", settings->weight_fairshare,
                   ranks ? users : WEIGHT_HIGH_ENOUGH, ranks ? "ranks" : "fairshare factors");
}

/* Adds the reason why fairmill assumes this release of Slurm. */
static void add_release_reason(struct text *text, const struct settings *settings,
                               const struct accounting *accounting, const struct release *release)
{
    const struct release *registered = release_of_protocol(accounting->protocol);
    bool known = registered->protocol == accounting->protocol;
    if (settings->slurm_release) {
        text_add(text, ", set by slurm_version");
        if (known && registered != release)
            text_format(text, "; the cluster registered as %s", registered->name);
    } else if (!accounting->protocol) {
        text_add(text, ", the oldest release with these tables: cluster_table does not contain the "
                       "release; set slurm_version");
    } else if (known) {
        text_add(text, ", as the cluster registered");
    } else {
        text_format(text, ": the cluster registered with protocol %" PRIu64 ", %s",
                    accounting->protocol,
                    accounting->protocol < registered->protocol
                        ? "which is older than all releases that fairmill knows"
                        : "which is newer and belongs to no release that fairmill knows");
    }
}

void check_slurm_release(struct text *text, const struct settings *settings,
                         const struct accounting *accounting)
{
    const struct release *release = release_of(settings, accounting);
    const struct slurm_conf *conf = settings->slurm;
    if (!release) {
        text_format(text, "  slurmctld: unknown release, treated as %s; set slurm_version\n",
                    releases->name);
        return;
    }
    text_format(text, "  slurmctld: %s", release->name);
    add_release_reason(text, settings, accounting, release);
    text_add(text, "\n");
    if (conf && !conf->given[SLURM_TYPE].value &&
        release_follows(release, RULE_PRIORITY_TYPE_NEEDED))
        text_format(text,
                    "  warning: '%s' does not set PriorityType; up to Slurm 23.02 the default is "
                    "priority/basic, which computes no priorities\n",
                    conf->path);
}

static int compare_distances(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Sets `*distance` to the median time between runs of the cluster in seconds, or to 0 if there are
 * too few runs. */
static int run_distance(struct db *results, const char *cluster, int64_t *distance,
                        struct error *err)
{
    struct db_value argument = db_text(cluster);
    const struct db_value *row;
    int64_t distances[DISTANCES], later = 0;
    size_t count = 0;
    *distance = 0;
    struct db_rows *rows = db_query(results, sql_query_run_times, &argument, 1, "i", err);
    for (bool first = true; db_fetch(rows, &row, err) > 0; first = false) {
        if (!first && count < DISTANCES)
            distances[count++] = later - row[0].integer;
        later = row[0].integer;
    }
    if (db_finish(rows))
        return -1;
    qsort(distances, count, sizeof *distances, compare_distances);
    if (count >= DISTANCES_AT_LEAST && distances[count / 2] > 0)
        *distance = distances[count / 2];
    return 0;
}

int check_slurm_period(struct text *text, const struct settings *settings, struct db *results,
                       char *const *clusters, size_t count, struct error *err)
{
    int64_t period = settings->slurm ? (int64_t)slurm_calc_period(settings->slurm) : 0;
    for (size_t i = 0; period && i < count; i++) {
        int64_t distance;
        if (run_distance(results, clusters[i], &distance, err))
            return -1;
        /* A difference of less than a factor of two does not matter. */
        if (!distance || (distance < 2 * period && 2 * distance > period))
            continue;
        text_format_printable(text,
                              "  warning: runs of cluster '%s' are %" PRId64
                              " s apart, but slurmctld computes every %" PRId64
                              " s (PriorityCalcPeriod)\n",
                              clusters[i], distance, period);
    }
    return 0;
}
