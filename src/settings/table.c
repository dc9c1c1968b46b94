/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "settings/pricing.h"
#include "settings/priority_keys.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* The table of settings, and how each kind of value is read.  A new key is a field in struct
 * settings and a line here; parser, sample, manual and tests follow. */

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
    for (size_t i = 0; i < 15 && algorithms[i]; i++) {
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
    for (size_t i = 0; i < 15 && db_drivers[i]; i++) {
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

static int take_horizon(const struct setting *setting, void *field, const char *value,
                        struct error *err)
{
    if (!strcasecmp(value, "none")) {
        *(uint64_t *)field = 0;
        return 0;
    }
    if (take_time_string(setting, field, value, err))
        return -1;
    return *(uint64_t *)field ? 0 : refuse(setting, value, "must be none or above 0", err);
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

static int take_max_lag(const struct setting *setting, void *field, const char *value,
                        struct error *err)
{
    uint64_t seconds;
    if (!strcasecmp(value, "none")) {
        *(int64_t *)field = -1;
        return 0;
    }
    if (!duration_parse(value, &seconds) || seconds > LONGEST_S)
        return refuse(setting, value, "must be none or a number with s, m, h or d behind it", err);
    *(int64_t *)field = (int64_t)seconds;
    return 0;
}

static int take_duration(const struct setting *setting, void *field, const char *value,
                         struct error *err)
{
    uint64_t seconds;
    if (!duration_parse(value, &seconds) || seconds > LONGEST_S)
        return refuse(setting, value, "must be a number with s, m, h or d behind it", err);
    *(uint64_t *)field = seconds;
    return 0;
}

static int take_days(const struct setting *setting, void *field, const char *value,
                     struct error *err)
{
    uint64_t days;
    if (!number_unsigned(value, strlen(value), &days) || days > LONGEST_S / 86400)
        return refuse(setting, value, "must be a number of days", err);
    *(uint64_t *)field = days;
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

static int take_weights(const struct setting *setting, void *field, const char *value,
                        struct error *err)
{
    struct text reason = { 0 };
    int result = 0;
    if (!pricing_take_weights(field, value, &reason))
        result = refuse(setting, value, reason.bytes, err);
    text_free(&reason);
    return result;
}

static int take_partition_weights(const struct setting *setting, void *field, const char *value,
                                  struct error *err)
{
    struct text reason = { 0 };
    int result = 0;
    if (!pricing_take_partition_weights(field, value, &reason))
        result = refuse(setting, value, reason.bytes, err);
    text_free(&reason);
    return result;
}

static int take_factors(const struct setting *setting, void *field, const char *value,
                        struct error *err)
{
    struct text reason = { 0 };
    int result = 0;
    if (!pricing_take_factors(field, value, &reason))
        result = refuse(setting, value, reason.bytes, err);
    text_free(&reason);
    return result;
}

static const char *const yes_no[] = { "no", "yes", NULL };
static const char *const layouts[] = { "slurmdbd", "plain", NULL };
static const char *const bad_rows[] = { "fail", "skip", NULL };
static const char *const charges[] = { "billing", "cpu", "tres", NULL };
static const char *const usage_sources[] = { "jobs", "rollup", NULL };
static const char *const suspendeds[] = { "charged", "omitted", NULL };
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
#define WEIGHT(key, what) \
    { "priority", #key, "1", \
      "How much " what " counts: a whole number.  With conformance = slurmctld the default is 0.", \
      take_weight, FIELD(key), NULL }
#define CONNECTION(section, what) \
    { #section, "driver", NULL, \
      "The database system of " what ": mysql (MariaDB too), pgsql or sqlite.", \
      take_driver, FIELD(section.driver), NULL }, \
    { #section, "host", "", \
      "Its host; empty: this one, through a socket.", \
      take_text, FIELD(section.host), NULL }, \
    { #section, "port", "0", \
      "Its TCP port; 0: the usual one.", \
      take_port, FIELD(section.port), NULL }, \
    { #section, "socket", "", \
      "The path of its unix socket, for pgsql of the folder it is in; empty: the usual one.", \
      take_text, FIELD(section.socket), NULL }, \
    { #section, "database", NULL, \
      "The database's name; for sqlite the path of its file.", \
      take_given, FIELD(section.database), NULL }, \
    { #section, "user", "", \
      "Who logs in; empty: the user that fairmill runs as.", \
      take_text, FIELD(section.user), NULL }, \
    { #section, "option_file", "", \
      "A MySQL option file whose groups [client] and [fairmill] may hold the password.", \
      take_text, FIELD(section.option_file), NULL }, \
    { #section, "service", "", \
      "A PostgreSQL service: an entry of pg_service.conf, for what the other keys leave out.", \
      take_text, FIELD(section.service), NULL }, \
    { #section, "tls_mode", "default", \
      "Encryption on the way there: default: what the client library does by itself; off; " \
      "required; verify_ca: the server's certificate must be signed by tls_ca; verify_full: and " \
      "be made out to host.", \
      take_choice, FIELD(section.tls_mode), db_tls_names }, \
    { #section, "tls_ca", "", \
      "The file with the certificate of the authority, or of several, for verify_ca and " \
      "verify_full.", \
      take_text, FIELD(section.tls_ca), NULL }
/* clang-format on */

const struct setting settings_table[] = {
    CONNECTION(source, "the accounting database"),
    { "source", "layout", "slurmdbd",
      "Whose tables they are: slurmdbd (Slurm 20.11 to 26.05), or plain: two relations of your "
      "own, which fairmill.conf(5) describes.",
      take_layout, FIELD(layout), layouts },
    { "source", "clusters", "all",
      "The clusters to compute, separated by commas; all: every one that is not deleted.",
      take_given, FIELD(clusters), NULL },
    { "source", "associations", "associations",
      "Layout plain: the table or view with the associations, perhaps with its schema and a dot.",
      take_given, FIELD(associations), NULL },
    { "source", "usage", "usage",
      "Layout plain: the table or view with the intervals that charge, likewise.", take_given,
      FIELD(usage), NULL },
    { "source", "deadline", "120 s",
      "How long the databases may take: no statement lasts longer, and tries end by then.  A "
      "number with s, m, h or d behind it.",
      take_deadline, FIELD(deadline_s), NULL },
    { "source", "max_lag", "none",
      "Where the accounting database is a replica that lags more than this, a run ends with 69 and "
      "old results stay.  A number with s, m, h or d behind it, or none.",
      take_max_lag, FIELD(max_lag_s), NULL },
    { "source", "on_bad_rows", "fail",
      "What an association without a parent, in a cycle or there twice does: fail the cluster, "
      "or skip: be left out with all below it, and reported as a finding.",
      take_choice, FIELD(on_bad_rows), bad_rows },

    CONNECTION(results, "the result tables"),
    { "results", "share_database", "no",
      "yes: the result tables may live in the accounting database itself.", take_yes_no,
      FIELD(share_database), yes_no },

    { "usage", "source", "jobs",
      "Where usage is from: jobs, exactly, or rollup: slurmdbd's sums by hour, day and month, as "
      "far as they reach, and jobs for the rest.",
      take_choice, FIELD(usage_source), usage_sources },
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
      "What a job is charged each second: billing (TRES 5, or CPUs where there is none), cpu, or "
      "tres: what tres_weights makes of all it has.",
      take_choice, FIELD(charge), charges },
    { "usage", "tres_weights", "",
      "Charge tres: the weights, as slurm.conf's TRESBillingWeights has them, such as "
      "CPU=1.0,Mem=0.25G,GRES/gpu=2.0; with MAX_TRES or MAX_TRES_GRES among them by that rule.",
      take_weights, FIELD(pricing), NULL },
    { "usage", "partition_tres_weights", "",
      "Charge tres: the weights for jobs of single partitions, instead of tres_weights, such as "
      "gpu:CPU=1 GRES/gpu=2, debug:CPU=0.5.",
      take_partition_weights, FIELD(pricing), NULL },
    { "usage", "qos_factors", "",
      "Factors for the charges of QOS, besides each one's own UsageFactor, such as high:2, "
      "low:0.5.",
      take_factors, FIELD(pricing.qos_factors), NULL },
    { "usage", "partition_usage_factors", "",
      "Factors for the charges in partitions, such as gpu:2, debug:0.5.", take_factors,
      FIELD(pricing.partition_factors), NULL },
    { "usage", "suspended", "charged",
      "Whether the time when a job was suspended is charged, as Slurm does, or omitted.",
      take_choice, FIELD(suspended), suspendeds },
    { "usage", "open_job_cap", "1-0",
      "A job without an end is charged this long beyond its time limit.  A time string.",
      take_time_string, FIELD(open_job_cap_s), NULL },
    { "usage", "horizon", "none",
      "Jobs that ended longer ago than this are not read; none: all that can still matter are.  A "
      "time string.",
      take_horizon, FIELD(horizon_s), NULL },
    { "usage", "seal_after", "1-0",
      "Jobs that ended this long before the newest end are not read again by each run: what they "
      "add is kept beside the results.  A time string.",
      take_time_string, FIELD(seal_after_s), NULL },
    { "usage", "full_every", "7-0",
      "Even so all jobs are read again this often, to see what changed behind our back.  A time "
      "string.",
      take_time_string, FIELD(full_every_s), NULL },

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

    { "retention", "history_interval", "1 h",
      "Of every span of this length the first run is kept in fairmill_history; 0: every run.  A "
      "number with s, m, h or d behind it.",
      take_duration, FIELD(history_interval_s), NULL },
    { "retention", "history_days", "400",
      "For how many days that is kept, and the usage of each day; 0: neither is.", take_days,
      FIELD(history_days), NULL },
    { "retention", "run_days", "90",
      "For how many days the rows of earlier runs are kept, and findings that no run had since; 0: "
      "for good.",
      take_days, FIELD(run_days), NULL },

    { "report", "private", "no",
      "yes: show, prio, explain, whatif, forecast, history, compare, diff and ledger list tell "
      "users of accounts and of themselves only, and metrics and report name no user.  Root and "
      "the owner of the settings file see all.",
      take_yes_no, FIELD(private), yes_no },
    { "report", "alert_after", "1 h",
      "A run that ends with 69 or 75 (a database is not available, another run is at work) says so "
      "once such runs have lasted this long, unless it has -v or a terminal; 0: at once.  A number "
      "with s, m, h or d behind it.",
      take_duration, FIELD(alert_after_s), NULL },

    WEIGHT(weight_age, "the time that a job waits"),
    WEIGHT(weight_assoc, "the priority of its association"),
    WEIGHT(weight_fairshare, "the fairshare of its association"),
    WEIGHT(weight_job_size, "its size"),
    WEIGHT(weight_partition, "its partition's factor"),
    WEIGHT(weight_qos, "the priority of its QOS"),
    { "priority", "weight_tres", "",
      "How much each TRES that it asks for counts, as slurm.conf's PriorityWeightTRES has it, such "
      "as CPU=1000,Mem=2000,GRES/gpu=3000.",
      take_tres_weights, FIELD(weight_tres), NULL },
    { "priority", "max_age", "7-0",
      "A job that waits as long as this, or longer, has age factor 1.  A time string.",
      take_time_string, FIELD(max_age_s), NULL },
    { "priority", "favor_small", "no", "yes: the smaller a job, the higher its size factor.",
      take_yes_no, FIELD(favor_small), yes_no },
    { "priority", "partition_factors", "",
      "The factors of partitions, slurm.conf's PriorityJobFactor, such as GPU:100, debug:10.",
      take_partition_factors, FIELD(partition_factors), NULL },
    { "priority", "flags", "",
      "Flags as in slurm.conf's PriorityFlags, separated by commas: ACCRUE_ALWAYS, "
      "CALCULATE_RUNNING, INCR_ONLY, MAX_TRES, MAX_TRES_GRES, NO_NORMAL_ALL, NO_NORMAL_ASSOC, "
      "NO_NORMAL_PART, NO_NORMAL_QOS, NO_NORMAL_TRES, SMALL_RELATIVE_TO_TIME.",
      take_priority_flags, FIELD(priority_flags), NULL },

    { "slurm", "conf", "",
      "The path of a slurm.conf.  What it says of priorities counts where nothing is written "
      "here; fairmill.conf(5) tells which keys.",
      take_text, FIELD(slurm_path), NULL },
    { .section = NULL },
};

/* The weights are 1 in seed 002's document, and 0 in a Slurm of today. */
const char *setting_fallback(const struct setting *setting, enum conformance conformance)
{
    bool weight = setting->take == take_weight;
    return weight && conformance == CONFORMANCE_SLURMCTLD ? "0" : setting->fallback;
}

/* The keys of [usage] on which it depends what a closed job is charged. */
static const char *const charging_keys[] = { "half_life",
                                             "charge",
                                             "tres_weights",
                                             "partition_tres_weights",
                                             "qos_factors",
                                             "partition_usage_factors",
                                             "suspended",
                                             "horizon",
                                             NULL };

bool setting_charges(const struct setting *setting)
{
    if (strcmp(setting->section, "usage") != 0)
        return false;
    for (int i = 0; charging_keys[i]; i++)
        if (!strcmp(charging_keys[i], setting->key))
            return true;
    return false;
}

static const struct {
    const char *name, *summary;
} sections[] = {
    { "source", "The accounting database, which is only read." },
    { "results", "The database that the result tables are in." },
    { "usage", "What counts as usage." },
    { "fairshare", "What is made of it." },
    { "retention", "How long what was is kept." },
    { "report", "What is said of it." },
    { "priority", "What the priorities of waiting jobs are made of." },
    { "slurm", "What need not be written twice." },
};
#define SECTIONS (sizeof sections / sizeof *sections)

const char *section_summary(const char *section)
{
    for (size_t i = 0; i < SECTIONS; i++)
        if (!strcmp(sections[i].name, section))
            return sections[i].summary;
    return NULL;
}

const char *section_nearest(const char *section)
{
    const char *names[SECTIONS + 1] = { NULL };
    for (size_t i = 0; i < SECTIONS; i++)
        names[i] = sections[i].name;
    return nearest_word(section, names);
}

const char *conformance_name(enum conformance conformance)
{
    return conformances[conformance];
}
