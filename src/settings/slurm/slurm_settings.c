/* SPDX-License-Identifier: MIT */
#include "settings/slurm/slurm_settings.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "settings/charge_weights.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_conf.h"
#include "settings/slurm/slurm_value.h"
#include "settings/table.h"
#include "settings/values.h"
#include "util/error.h"
#include "util/mail_address.h"
#include "util/number.h"
#include "util/text.h"

#define FLAG_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/* Formats a duration as a time string of fairmill.conf. */
static void slurm_settings_add_span(struct text *own, uint64_t minutes)
{
    uint64_t days = minutes / 1440, hours = minutes / 60 % 24;
    if (!days)
        text_format(own, "%" PRIu64, minutes);
    else if (minutes % 60 == 0)
        text_format(own, "%" PRIu64 "-%" PRIu64, days, hours);
    else
        text_format(own, "%" PRIu64 "-%" PRIu64 ":%02" PRIu64 ":00", days, hours, minutes % 60);
}

/*
 * Limits a duration to the maximum of fairmill.conf, because Slurm accepts longer durations.  With
 * either of these durations, there is practically no decay or aging.
 */
static uint64_t at_most(uint64_t minutes)
{
    return minutes < SLURM_LONGEST_S / 60 ? minutes : SLURM_LONGEST_S / 60;
}

static bool half_life_of(const char *value, struct text *own)
{
    uint64_t minutes;
    if (!slurm_minutes(value, &minutes))
        return false;
    slurm_settings_add_span(own, minutes == SLURM_UNLIMITED ? 0 : at_most(minutes));
    return true;
}

static bool max_age_of(const char *value, struct text *own)
{
    uint64_t minutes;
    if (!slurm_minutes(value, &minutes))
        return false;
    if (minutes == SLURM_UNLIMITED)
        text_add(own, "infinite");
    else
        slurm_settings_add_span(own, at_most(minutes));
    return true;
}

/*
 * NOW resets usage once, when slurmctld starts.  No database has this time, so NOW is read as none.
 * The document "Multifactor Priority Plugin" of Slurm 2.0 allows durations, but current releases of
 * slurmctld reject them.
 */
static bool reset_period_of(const char *value, struct text *own)
{
    static const char *const names[] = {
        "daily", "weekly", "monthly", "quarterly", "yearly", NULL
    };
    uint64_t minutes;
    if (!strcasecmp(value, "none") || !strcasecmp(value, "now")) {
        text_add(own, "none");
        return true;
    }
    for (int i = 0; names[i]; i++)
        if (!strcasecmp(value, names[i])) {
            text_add(own, names[i]);
            return true;
        }
    if (!slurm_minutes(value, &minutes) || minutes == SLURM_UNLIMITED)
        return false;
    slurm_settings_add_span(own, minutes);
    return true;
}

/* Advances `*at` to the next flag and returns the length of its name, or 0 at the end. */
static size_t next_flag(const char **at)
{
    *at += strcspn(*at, FLAG_LETTERS);
    return strspn(*at, FLAG_LETTERS);
}

static bool has_flag(const char *value, const char *flag)
{
    size_t length;
    for (const char *at = value; (length = next_flag(&at)); at += length)
        if (length == strlen(flag) && !strncasecmp(at, flag, length))
            return true;
    return false;
}

static bool algorithm_of(const char *value, struct text *own)
{
    text_add(own, has_flag(value, "DEPTH_OBLIVIOUS") ? "depth_oblivious"
                  : has_flag(value, "NO_FAIR_TREE")  ? "classic"
                                                     : "fair_tree");
    return true;
}

static bool flags_of(const char *value, struct text *own)
{
    size_t length;
    text_add(own, "");
    for (const char *at = value; (length = next_flag(&at)); at += length)
        if (priority_flag_named(at, length)) {
            text_add(own, own->length ? "," : "");
            text_add_bytes(own, at, length);
        }
    return true;
}

/*
 * Like Slurm, searches for these words as substrings.  The other words of PrivateData hide
 * information that fairmill does not publish.
 */
static bool private_of(const char *value, struct text *own)
{
    bool all = strcasestr(value, "all"), usage = all || strcasestr(value, "usage"),
         jobs = all || strcasestr(value, "job");
    text_add(own, usage && jobs ? "usage, jobs" : usage ? "usage" : jobs ? "jobs" : "no");
    return true;
}

static bool favor_small_of(const char *value, struct text *own)
{
    bool favor;
    if (!slurm_boolean(value, &favor))
        return false;
    text_add(own, favor ? "yes" : "no");
    return true;
}

static bool weight_of(const char *value, struct text *own)
{
    uint64_t number;
    if (!slurm_number(value, UINT32_MAX, &number))
        return false;
    text_format(own, "%" PRIu64, number);
    return true;
}

/* With 0, slurmctld would divide by 0.  fairmill uses 1, and slurm_conf_read() adds a warning. */
static bool dampening_of(const char *value, struct text *own)
{
    uint64_t number;
    if (!slurm_number(value, UINT16_MAX, &number))
        return false;
    text_format(own, "%" PRIu64, number ? number : 1);
    return true;
}

/* Runs send no mail, so a domain that no message can use must not stop them. */
static bool mail_domain_of(const char *value, struct text *own)
{
    text_add(own, mail_domain_is_plain(value) ? value : "");
    return true;
}

static bool slurm_settings_text_of(const char *value, struct text *own)
{
    text_add(own, value);
    return true;
}

#define SPAN "must be min, min:sec, hr:min:sec, days-hr, days-hr:min, days-hr:min:sec or UNLIMITED"
#define WEIGHT "must be a whole number from 0 to 4294967295"

/* Settings that correspond to one key of slurm.conf. */
static const struct translation {
    const char *section, *key;
    enum slurm_key slurm;
    bool (*translate)(const char *value, struct text *own);
    const char *wanted;
} translations[] = {
    { "usage", "half_life", SLURM_DECAY_HALF_LIFE, half_life_of, SPAN },
    { "usage", "reset_period", SLURM_USAGE_RESET_PERIOD, reset_period_of,
      "must be NONE, NOW, DAILY, WEEKLY, MONTHLY, QUARTERLY, YEARLY or a duration" },
    { "fairshare", "algorithm", SLURM_FLAGS, algorithm_of, "" },
    { "fairshare", "dampening", SLURM_DAMPENING_FACTOR, dampening_of,
      "must be a whole number from 0 to 65535" },
    { "notify", "domain", SLURM_MAIL_DOMAIN, mail_domain_of, "" },
    { "priority", "weight_age", SLURM_WEIGHT_AGE, weight_of, WEIGHT },
    { "priority", "weight_assoc", SLURM_WEIGHT_ASSOC, weight_of, WEIGHT },
    { "priority", "weight_fairshare", SLURM_WEIGHT_FAIRSHARE, weight_of, WEIGHT },
    { "priority", "weight_job_size", SLURM_WEIGHT_JOB_SIZE, weight_of, WEIGHT },
    { "priority", "weight_partition", SLURM_WEIGHT_PARTITION, weight_of, WEIGHT },
    { "priority", "weight_qos", SLURM_WEIGHT_QOS, weight_of, WEIGHT },
    { "priority", "weight_tres", SLURM_WEIGHT_TRES, slurm_settings_text_of, "" },
    { "priority", "max_age", SLURM_MAX_AGE, max_age_of, SPAN },
    { "priority", "favor_small", SLURM_FAVOR_SMALL, favor_small_of, "must be YES or NO" },
    { "priority", "flags", SLURM_FLAGS, flags_of, "" },
    { "report", "private", SLURM_PRIVATE_DATA, private_of, "" },
};
#define TRANSLATIONS (sizeof translations / sizeof *translations)

static const struct translation *translation_of(const struct setting *setting)
{
    for (size_t i = 0; i < TRANSLATIONS; i++)
        if (!strcmp(translations[i].section, setting->section) &&
            !strcmp(translations[i].key, setting->key))
            return &translations[i];
    return NULL;
}

/* Partitions without PriorityJobFactor have factor 1. */
static void compose_partition_factors(struct text *own, const struct slurm_conf *conf)
{
    for (size_t i = 0; i < conf->partition_count; i++)
        text_format(own, "%s%s:%" PRIu64, i ? "," : "", conf->partitions[i].name,
                    conf->partitions[i].job_factor);
}

static bool has_billing_weights(const struct slurm_conf *conf)
{
    for (size_t i = 0; i < conf->partition_count; i++)
        if (conf->partitions[i].billing_weights)
            return true;
    return false;
}

/* Slurm bills CPUs in partitions without weights. */
static void compose_weights(struct text *own, const struct slurm_conf *conf)
{
    if (has_billing_weights(conf))
        text_add(own, "CPU=1");
}

static void compose_partition_weights(struct text *own, const struct slurm_conf *conf)
{
    for (size_t i = 0; i < conf->partition_count; i++) {
        const struct slurm_partition *partition = &conf->partitions[i];
        if (!partition->billing_weights)
            continue;
        text_format(own, "%s%s:", own->length ? "," : "", partition->name);
        for (const char *at = partition->billing_weights; *at; at++)
            text_add_bytes(own, *at == ',' ? " " : at, 1);
    }
}

int slurm_read_billing_weights(struct charge_weights *pricing, const struct slurm_conf *conf,
                               struct error *err)
{
    struct text reason = { 0 };
    int result = 0;
    for (size_t i = 0; !result && i < conf->partition_count; i++) {
        const struct slurm_partition *partition = &conf->partitions[i];
        const char *weights = partition->billing_weights;
        if (weights && !read_rates_of_partition(pricing, partition->name, weights, &reason))
            result = fail(err, ERROR_SETTINGS, "'%s', line %u: TRESBillingWeights = '%s': %s",
                          partition->place.file, partition->place.line, weights, reason.bytes);
    }
    text_free(&reason);
    return result;
}

static int assign_partition_weights(struct settings *settings, struct error *err)
{
    return slurm_read_billing_weights(&settings->weights, settings->slurm, err);
}

static int assign_partition_factors(struct settings *settings, struct error *err)
{
    (void)err;
    settings->partition_factors = NULL;
    return 0;
}

/*
 * Settings that are composed from the lines of all partitions.  A partition's name may contain any
 * character, so the composed text may be ambiguous.  The text is only displayed and recorded;
 * `assign` reads the values from slurm.conf.
 */
static const struct composition {
    const char *section, *key, *slurm_key;
    void (*compose)(struct text *own, const struct slurm_conf *conf);
    int (*assign)(struct settings *settings, struct error *err); /* NULL to parse the text */
} compositions[] = {
    { "priority", "partition_factors", "PriorityJobFactor", compose_partition_factors,
      assign_partition_factors },
    { "usage", "tres_weights", "TRESBillingWeights", compose_weights, NULL },
    { "usage", "partition_tres_weights", "TRESBillingWeights", compose_partition_weights,
      assign_partition_weights },
};

static const struct composition *composition_of(const struct setting *setting)
{
    for (size_t i = 0; i < sizeof compositions / sizeof *compositions; i++)
        if (!strcmp(compositions[i].section, setting->section) &&
            !strcmp(compositions[i].key, setting->key))
            return &compositions[i];
    return NULL;
}

bool slurm_has_setting(const struct setting *setting)
{
    return translation_of(setting) || composition_of(setting);
}

/* Describes the flags instead of an assignment, because PriorityFlags may contain further flags. */
static bool add_algorithm_flag(struct text *text, const char *algorithm)
{
    const char *words = !strcmp(algorithm, "fair_tree") ? "without NO_FAIR_TREE and DEPTH_OBLIVIOUS"
                        : !strcmp(algorithm, "classic") ? "with NO_FAIR_TREE"
                        : !strcmp(algorithm, "depth_oblivious") ? "with DEPTH_OBLIVIOUS"
                                                                : NULL;
    if (words)
        text_format(text, "%s %s", slurm_key_name(SLURM_FLAGS), words);
    return words != NULL;
}

/* slurm.conf has no units for durations and accepts only whole minutes. */
static bool slurm_settings_add_value(struct text *text, const struct translation *translation,
                                     const char *value)
{
    uint64_t seconds;
    bool is_span = translation->translate == half_life_of || translation->translate == max_age_of ||
                   translation->translate == reset_period_of;
    bool has_unit = is_span && strpbrk(value, "smhdw") && duration_parse(value, &seconds);
    if (has_unit && seconds % 60)
        return false;
    text_format(text, "%s=", slurm_key_name(translation->slurm));
    if (has_unit)
        slurm_settings_add_span(text, seconds / 60);
    else
        text_add(text, value);
    return true;
}

bool slurm_setting_add(struct text *text, const struct setting *setting, const char *value)
{
    const struct translation *translation = translation_of(setting);
    if (!translation)
        return false;
    if (translation->translate == algorithm_of)
        return add_algorithm_flag(text, value);
    return slurm_settings_add_value(text, translation, value);
}

static void find_composed(struct slurm_setting *found, const struct slurm_conf *conf,
                          const struct composition *composition)
{
    struct text own = { 0 };
    composition->compose(&own, conf);
    if (!own.length)
        return;
    found->value = own.bytes;
    found->key = composition->slurm_key;
    found->place = conf->partitions[0].place;
}

int slurm_setting_find(struct slurm_setting *found, const struct slurm_conf *conf,
                       const struct setting *setting, struct error *err)
{
    *found = (struct slurm_setting){ 0 };
    const struct composition *composition = composition_of(setting);
    if (composition) {
        find_composed(found, conf, composition);
        return 0;
    }
    const struct translation *translation = translation_of(setting);
    if (!translation || !conf->given[translation->slurm].value)
        return 0;
    const struct slurm_given *given = &conf->given[translation->slurm];
    struct text own = { 0 };
    found->key = slurm_key_name(translation->slurm);
    found->place = given->place;
    if (translation->translate(given->value, &own)) {
        found->value = own.bytes;
        return 0;
    }
    text_free(&own);
    return fail(err, ERROR_SETTINGS, "'%s', line %u: %s = '%s': %s", given->place.file,
                given->place.line, found->key, given->value, translation->wanted);
}

int slurm_setting_assign(struct settings *settings, const struct setting *setting,
                         const struct setting_origin *origin, struct error *err)
{
    const struct composition *composition = composition_of(setting);
    if (composition && composition->assign)
        return composition->assign(settings, err);
    return setting_assign(setting, settings, origin->value, err)
               ? fail_in(err, "'%s', line %u: %s", origin->file, origin->line, origin->slurm_key)
               : 0;
}

uint64_t slurm_calc_period(const struct slurm_conf *conf)
{
    uint64_t minutes;
    const char *value = conf->given[SLURM_CALC_PERIOD].value;
    if (!value)
        return CALC_PERIOD_S;
    return slurm_minutes(value, &minutes) && minutes < UINT64_MAX / 60 ? minutes * 60 : 0;
}

uint64_t slurm_pass_period(const struct slurm_conf *conf)
{
    uint64_t period = conf ? slurm_calc_period(conf) : 0;
    return period ? period : CALC_PERIOD_S;
}

bool slurm_enforces_limits(const struct slurm_conf *conf)
{
    const char *value = conf->given[SLURM_ACCOUNTING_ENFORCE].value;
    return value && (has_flag(value, "limits") || has_flag(value, "2") || has_flag(value, "safe") ||
                     has_flag(value, "all"));
}

const char *slurm_flag_unknown(const char **at, size_t *length)
{
    while ((*length = next_flag(at))) {
        const char *flag = *at;
        *at += *length;
        if (!priority_flag_named(flag, *length) && !flag_is_algorithm(flag, *length))
            return flag;
    }
    return NULL;
}
