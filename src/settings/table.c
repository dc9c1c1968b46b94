/* SPDX-License-Identifier: MIT */
#include "settings/table.h"

#include <stdlib.h>
#include <string.h>

#include "settings/charge_weights.h"
#include "settings/pbs_values.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "settings/values.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* To add a setting, add a field to struct settings and a row to settings_table. */

static const char *const bad_rows[] = { "fail", "skip", NULL };
static const char *const charges[] = { "auto", "billing", "cpu", "tres", NULL };
static const char *const usage_sources[] = { "jobs", "rollup", NULL };
static const char *const decays[] = { "exact", "steps", NULL };
static const char *const ties_names[] = { "collation", "bytes", NULL };
static const char *const suspendeds[] = { "charged", "omitted", NULL };

#define FORM_OF_DURATION "a number with s, m, h, d or w behind it"
#define FORM_OF_SPAN \
    "must be " FORM_OF_DURATION ", or a time string: min, hr:min:00, days-hr:min:00 or days-hr"
#define BEYOND_CENTURY "is more than a century"
#define BEYOND_SLURM "is more than 4294967295 minutes"

/* clang-format off */
static const struct number_value ports = { VALUE_WHOLE, OF_UNSIGNED, 0, 65535,
    .wanted = "must be a port number, 1 to 65535 (0: the usual one)" };
static const struct number_value days = { VALUE_WHOLE, OF_UINT64, 0, 36525,
    .wanted = "must be a number of days" };
static const struct number_value weights = { VALUE_WHOLE, OF_UINT64, 0, UINT32_MAX,
    .wanted = "must be a whole number from 0 to 4294967295" };
static const struct number_value dampenings = { VALUE_REAL, OF_DOUBLE, 1, 65535,
    .wanted = "must be a number from 1 to 65535" };
static const struct number_value capacities = { VALUE_REAL, OF_DOUBLE, 1e-9, 1e18,
    .wanted = "must be auto or a number above 0", .word = "auto" };
static const struct number_value factors = { VALUE_REAL, OF_DOUBLE, 1e-9, 1e9,
    .wanted = "must be a number above 0" };
static const struct number_value usages = { VALUE_REAL, OF_DOUBLE, 0, 1e15,
    .wanted = "must be a number from 0 to 1e15" };
static const struct number_value durations = { VALUE_DURATION, OF_UINT64, 0, CENTURY_S,
    .wanted = "must be " FORM_OF_DURATION };
static const struct number_value deadlines = { VALUE_DURATION, OF_UINT64, 1, 86400,
    .wanted = "must be " FORM_OF_DURATION ", up to a day" };
static const struct number_value lags = { VALUE_DURATION, OF_INT64, 0, CENTURY_S,
    .wanted = "must be none or " FORM_OF_DURATION, .word = "none", .of_word = -1 };
static const struct number_value time_strings = { VALUE_TIME_STRING, OF_UINT64, 0, CENTURY_S,
    .wanted = FORM_OF_SPAN, .above = BEYOND_CENTURY };
static const struct number_value horizons = { VALUE_TIME_STRING, OF_UINT64, 1, CENTURY_S,
    .wanted = FORM_OF_SPAN, .word = "none", .above = BEYOND_CENTURY,
    .below = "must be none or above 0" };
static const struct number_value half_lives = { VALUE_TIME_STRING, OF_UINT64, 0, SLURM_LONGEST_S,
    .wanted = FORM_OF_SPAN, .above = BEYOND_SLURM };
static const struct number_value ages = { VALUE_TIME_STRING, OF_UINT64, 0, SLURM_LONGEST_S,
    .wanted = FORM_OF_SPAN ", or infinite", .word = "infinite", .of_word = (uint32_t)-60,
    .above = BEYOND_SLURM ", or infinite" };
/* clang-format on */

/*
 * The last columns of a row.  FIELD is for settings with a `read` function; CHOICE and NUMBER stand
 * in for that function.  The CHARGE_ variants mark settings on which the charge of a finished job
 * depends.
 */
#define FIELD(name) offsetof(struct settings, name), NULL, false, NULL
#define CHARGE_FIELD(name) offsetof(struct settings, name), NULL, true, NULL
#define CHOICE(name, names) NULL, offsetof(struct settings, name), names, false, NULL
#define CHARGE_CHOICE(name, names) NULL, offsetof(struct settings, name), names, true, NULL
#define NUMBER(name, type) NULL, offsetof(struct settings, name), NULL, false, &type
#define CHARGE_NUMBER(name, type) NULL, offsetof(struct settings, name), NULL, true, &type
/* clang-format off */
#define WEIGHT(key, what) \
    { "priority", #key, "1", \
      "How much " what " counts: a whole number.  With conformance = slurmctld the default is 0.", \
      NUMBER(key, weights) }
#define CONNECTION(section, what) \
    { #section, "driver", NULL, \
      "The database system of " what ": mysql (MariaDB too), pgsql or sqlite.", \
      read_driver, FIELD(section.driver) }, \
    { #section, "host", "", \
      "Its host; empty: this one, through a socket.", \
      read_text, FIELD(section.host) }, \
    { #section, "port", "0", \
      "Its TCP port; 0: the usual one.", \
      NUMBER(section.port, ports) }, \
    { #section, "socket", "", \
      "The path of its unix socket, for pgsql of the folder it is in; empty: the usual one.", \
      read_text, FIELD(section.socket) }, \
    { #section, "database", NULL, \
      "The database's name; for sqlite the path of its file.", \
      read_given, FIELD(section.database) }, \
    { #section, "user", "", \
      "Who logs in; empty: the user that fairmill runs as.", \
      read_text, FIELD(section.user) }, \
    { #section, "option_file", "", \
      "A MySQL option file whose groups [client] and [fairmill] may hold the password.", \
      read_text, FIELD(section.option_file) }, \
    { #section, "service", "", \
      "A PostgreSQL service: an entry of pg_service.conf, for what the other keys leave out.", \
      read_text, FIELD(section.service) }, \
    { #section, "tls_mode", "default", \
      "Encryption on the way there: default: what the client library does by itself; off; " \
      "required; verify_ca: the server's certificate must be signed by tls_ca; verify_full: and " \
      "be made out to host.", \
      CHOICE(section.tls_mode, db_tls_names) }, \
    { #section, "tls_ca", "", \
      "The file with the certificate of the authority, or of several, for verify_ca and " \
      "verify_full.", \
      read_text, FIELD(section.tls_ca) }
/* clang-format on */

const struct setting settings_table[] = {
    CONNECTION(source, "the accounting database"),
    { "source", "layout", "slurmdbd",
      "Whose tables they are: slurmdbd (Slurm 20.11 to 26.05), plain: two relations of your "
      "own, which fairmill.conf(5) describes, or pbs: what `fairmill import pbs' makes.",
      read_layout, FIELD(layout) },
    { "source", "clusters", "all",
      "The clusters to compute, separated by commas; all: every one that is not deleted.",
      read_given, FIELD(clusters) },
    { "source", "associations", "associations",
      "Layout plain: the table or view with the associations, perhaps with its schema and a dot.",
      read_given, FIELD(associations) },
    { "source", "usage", "usage",
      "Layout plain: the table or view with the intervals that charge, likewise.", read_given,
      FIELD(usage) },
    { "source", "deadline", "120 s",
      "How long the databases may take: no statement lasts longer, and tries end by then.  A "
      "number with s, m, h, d or w behind it.",
      NUMBER(deadline_s, deadlines) },
    { "source", "max_lag", "none",
      "Where the accounting database is a replica that lags more than this, a run ends with 69 and "
      "old results stay.  A number with s, m, h, d or w behind it, or none.",
      NUMBER(max_lag_s, lags) },
    { "source", "on_bad_rows", "fail",
      "What an association without a parent, in a cycle or there twice does: fail the cluster, "
      "or skip: be left out with all below it, and reported as a finding.",
      CHOICE(on_bad_rows, bad_rows) },
    { "source", "shares_file", "",
      "Layout slurmdbd: files as `fairmill shares export' or `sacctmgr dump' writes them, "
      "separated "
      "by commas.  `fairmill check' tells where the cluster that a file names differs from it.",
      read_text, FIELD(shares_file) },

    CONNECTION(results, "the result tables"),
    { "results", "share_database", "no",
      "yes: the result tables may live in the accounting database itself.", read_yes_no,
      FIELD(share_database) },

    { "usage", "source", "jobs",
      "Where usage is from: jobs, exactly, or rollup: slurmdbd's sums by hour, day and month, as "
      "far as they reach, and jobs for the rest.",
      CHOICE(usage_source, usage_sources) },
    { "usage", "half_life", "7-0",
      "After this time usage counts half; 0: no decay.  A time string: min, hr:min:00, "
      "days-hr:min:00 or days-hr.",
      CHARGE_NUMBER(half_life_s, half_lives) },
    { "usage", "decay", "exact",
      "exact: usage decays all the time.  steps, with layout pbs: at the instants at which "
      "OpenPBS's "
      "scheduler decays it, by fairshare_decay_time and fairshare_decay_factor.",
      CHARGE_CHOICE(decay, decays) },
    { "usage", "reset_period", "none",
      "Usage before the last boundary does not count: none, daily, weekly (Sunday), monthly, "
      "quarterly, yearly, or a time string counted from reset_anchor.",
      read_reset_period, FIELD(reset_period) },
    { "usage", "reset_anchor", "1970-01-01",
      "An instant at which such a period begins: epoch seconds or YYYY-MM-DD[THH:MM[:SS]].",
      read_given, FIELD(reset_anchor) },
    { "usage", "time_zone", "system",
      "Where days begin and how dates are read: a name such as Europe/Berlin; system: as this "
      "machine is set.",
      read_given, FIELD(time_zone) },
    { "usage", "charge", "auto",
      "What a job is charged each second: billing (TRES 5; 0 if absent), cpu, tres: "
      "what tres_weights makes of all it has; or auto: as tres in partitions that have weights, if "
      "the job's billing is that cut to an integer, else as billing.",
      CHARGE_CHOICE(charge, charges) },
    { "usage", "tres_weights", "",
      "Charge auto or tres: the weights, as slurm.conf's TRESBillingWeights has them, such as "
      "CPU=1.0,Mem=0.25G,GRES/gpu=2.0; with MAX_TRES or MAX_TRES_GRES among them by that rule.",
      read_tres_rates, CHARGE_FIELD(weights) },
    { "usage", "partition_tres_weights", "",
      "Charge auto or tres: those for jobs of single partitions, instead of tres_weights, such as "
      "gpu:CPU=1 GRES/gpu=2, debug:CPU=0.5.",
      read_partition_rates, CHARGE_FIELD(weights) },
    { "usage", "qos_factors", "",
      "Factors for the charges of QOS, besides each one's own UsageFactor, such as high:2, "
      "low:0.5.",
      read_factors, CHARGE_FIELD(weights.qos_factors) },
    { "usage", "partition_usage_factors", "",
      "Factors for the charges in partitions, such as gpu:2, debug:0.5.", read_factors,
      CHARGE_FIELD(weights.partition_factors) },
    { "usage", "suspended", "charged",
      "Whether the time when a job was suspended is charged, as Slurm does, or omitted.",
      CHARGE_CHOICE(suspended, suspendeds) },
    { "usage", "open_job_cap", "1-0",
      "A job without an end, or with one in the future, is charged this long beyond its time "
      "limit.  A time string.",
      CHARGE_NUMBER(open_job_cap_s, time_strings) },
    { "usage", "horizon", "none",
      "Jobs that ended longer ago than this are not read; none: all that can still matter are.  A "
      "time string.",
      CHARGE_NUMBER(horizon_s, horizons) },
    { "usage", "checkpoint_after", "1-0",
      "Jobs that ended this long before the newest end are not read again by each run: what they "
      "add is kept beside the results.  A time string.",
      NUMBER(checkpoint_after_s, time_strings) },
    { "usage", "full_every", "7-0",
      "Even so all jobs are read again this often, to see what changed behind our back.  A time "
      "string.",
      NUMBER(full_every_s, time_strings) },

    { "fairshare", "algorithm", "fair_tree",
      "The value published as `fairshare`; all are computed: fair_tree, depth_oblivious, classic, "
      "linear or pbs.  With layout = pbs it is pbs where nothing else is given.",
      read_algorithm, FIELD(algorithm) },
    { "fairshare", "conformance", "documents",
      "Where Slurm's documents and its controller differ, follow documents or slurmctld.",
      CHOICE(conformance, conformance_names) },
    { "fairshare", "slurm_version", "auto",
      "The release of Slurm that conformance slurmctld follows, such as 25.11; auto: the one that "
      "the cluster's slurmctld registered with.",
      read_slurm_version, FIELD(slurm_release) },
    { "fairshare", "ties", "collation",
      "In which order slurmctld visits accounts that tie: by the collation of the accounting "
      "database, as after a start, or by bytes, as after sacctmgr added an association.",
      CHOICE(ties, ties_names) },
    { "fairshare", "dampening", "1",
      "FairShareDampeningFactor: divides the exponent of classic and depth_oblivious.",
      NUMBER(dampening, dampenings) },
    { "fairshare", "capacity", "auto",
      "How much of the charged TRES the cluster has, for capacity_usage and linear; auto: what "
      "the cluster registered.",
      NUMBER(capacity, capacities) },
    { "fairshare", "capacity_half_lives", "2",
      "How many half-lives of that capacity are the whole of which capacity_usage is a part.",
      NUMBER(capacity_half_lives, factors) },
    { "fairshare", "pbs_minimum_usage", "0",
      "The usage with which each entity and group begins, in TRES-seconds: 0 as in the document, 1 "
      "as in OpenPBS.  Charged usage is added.  With layout = pbs it defaults to 1.",
      NUMBER(pbs_minimum_usage, usages) },

    { "retention", "history_interval", "1 h",
      "Of every span of this length the first run is kept in fairmill_history; 0: every run.  A "
      "number with s, m, h, d or w behind it.",
      NUMBER(history_interval_s, durations) },
    { "retention", "history_days", "400",
      "For how many days that is kept, and fairmill_fairness, and the usage of each day; 0: none "
      "is.",
      NUMBER(history_days, days) },
    { "retention", "run_days", "90",
      "For how many days the rows of earlier runs are kept, and findings that no run had since; 0: "
      "for good.",
      NUMBER(run_days, days) },

    { "report", "private", "no",
      "What users are not told of others: usage, their associations and what these have, jobs, "
      "those that wait, or both, with a comma between them; yes is both, no is nothing.  "
      "Coordinators are told of their accounts and all below, operators, administrators, root, "
      "the owner of the settings file and who does the runs of all.  With either, metrics and "
      "report name no user.",
      read_private, FIELD(private) },
    { "report", "alert_after", "1 h",
      "A run that ends with 69 or 75 (a database is not available, another run is at work) says so "
      "once such runs have lasted this long, unless it has -v or a terminal; 0: at once.  A number "
      "with s, m, h, d or w behind it.",
      NUMBER(alert_after_s, durations) },

    WEIGHT(weight_age, "the time that a job waits"),
    WEIGHT(weight_assoc, "the priority of its association"),
    WEIGHT(weight_fairshare, "the fairshare of its association"),
    WEIGHT(weight_job_size, "its size"),
    WEIGHT(weight_partition, "its partition's factor"),
    WEIGHT(weight_qos, "the priority of its QOS"),
    { "priority", "weight_tres", "",
      "How much each TRES that it asks for counts, as slurm.conf's PriorityWeightTRES has it, such "
      "as CPU=1000,Mem=2000,GRES/gpu=3000.",
      read_weight_tres, FIELD(weight_tres) },
    { "priority", "max_age", "7-0",
      "A job that waits as long as this, or longer, has age factor 1.  A time string, or infinite.",
      NUMBER(max_age_s, ages) },
    { "priority", "favor_small", "no", "yes: the smaller a job, the higher its size factor.",
      read_yes_no, FIELD(favor_small) },
    { "priority", "partition_factors", "",
      "The factors of partitions: slurm.conf's PriorityJobFactor, each of which is divided by the "
      "highest, such as GPU:100, debug:10; or from 0.0 to 1.0, as they are, such as GPU:0.5.",
      read_partition_factors, FIELD(partition_factors) },
    { "priority", "qos_factors", "",
      "The factors of QOS from 0.0 to 1.0, such as high:1.0, low:0.25.  Any other QOS has its "
      "priority in the accounting database divided by the highest.",
      read_qos_factors, FIELD(qos_priority_factors) },
    { "priority", "flags", "",
      "Flags as in slurm.conf's PriorityFlags, separated by commas: ACCRUE_ALWAYS, "
      "CALCULATE_RUNNING, INCR_ONLY, MAX_TRES, MAX_TRES_GRES, NO_NORMAL_ALL, NO_NORMAL_ASSOC, "
      "NO_NORMAL_PART, NO_NORMAL_QOS, NO_NORMAL_TRES, SMALL_RELATIVE_TO_TIME.",
      read_priority_flags, FIELD(priority_flags) },

    { "pbs", "fairshare_entity", "",
      "Layout pbs: for whom a job counts, as in OpenPBS's sched_config: euser, egroup, "
      "Account_Name, queue or egroup:euser.  Empty, as with all keys of this section: what "
      "`fairmill import pbs' has brought, else OpenPBS's default.",
      read_pbs_entity, FIELD(pbs[PBS_ENTITY]) },
    { "pbs", "fairshare_usage_res", "",
      "What a job counts: a formula of the resources that it used, such as ncpus*walltime.",
      read_pbs_formula, FIELD(pbs[PBS_USAGE_RES]) },
    { "pbs", "unknown_shares", "", "The shares of the group unknown.", read_pbs_shares,
      FIELD(pbs[PBS_UNKNOWN_SHARES]) },
    { "pbs", "fairshare_enforce_no_shares", "", "true: jobs of entities without shares do not run.",
      read_pbs_truth, FIELD(pbs[PBS_ENFORCE_NO_SHARES]) },
    { "pbs", "fairshare_decay_time", "", "How often OpenPBS decays usage: HH:MM:SS.",
      read_pbs_decay_time, FIELD(pbs[PBS_DECAY_TIME]) },
    { "pbs", "fairshare_decay_factor", "", "By which factor: a number between 0 and 1.",
      read_pbs_decay_factor, FIELD(pbs[PBS_DECAY_FACTOR]) },
    { "pbs", "job_sort_formula", "",
      "The formula that sorts waiting jobs.  If fairmill cannot evaluate it, they have no "
      "priorities.",
      read_text, FIELD(pbs[PBS_SORT_FORMULA]) },
    { "pbs", "job_sort_formula_threshold", "",
      "A job whose formula has this value, or a lower one, does not run.", read_pbs_number,
      FIELD(pbs[PBS_SORT_THRESHOLD]) },

    { "slurm", "conf", "",
      "The path of a slurm.conf, or auto: the one that Slurm's commands use here.  What it says of "
      "priorities and privacy counts where nothing is written here; fairmill.conf(5) tells which "
      "keys.",
      read_text, FIELD(slurm_path) },
    { .section = NULL },
};

/* Until 0.2.0 checkpoints were called seals. */
const struct renamed_setting renamed_settings[] = {
    { "usage", "seal_after", "checkpoint_after" },
    { .section = NULL },
};

const struct tried_setting tried_settings[TRIED_SETTINGS] = {
    [TRY_HALF_LIFE] = { "half-life", "usage", "half_life", "", true, true },
    [TRY_ALGORITHM] = { "algorithm", "fairshare", "algorithm", "", true, false },
    [TRY_CONFORMANCE] = { "conformance", "fairshare", "conformance", "", true, true },
    [TRY_DAMPENING] = { "dampening", "fairshare", "dampening", "dampening ", false, true },
    [TRY_RESET] = { "reset-period", "usage", "reset_period", "reset ", false, true },
};

size_t settings_count(void)
{
    return sizeof settings_table / sizeof *settings_table - 1;
}

const struct setting *setting_named(const char *section, const char *key)
{
    for (const struct setting *each = settings_table; each->section; each++)
        if (!strcmp(each->section, section) && !strcmp(each->key, key))
            return each;
    return NULL;
}

const char *setting_old_key(const struct setting *setting)
{
    for (const struct renamed_setting *each = renamed_settings; each->section; each++)
        if (!strcmp(each->section, setting->section) && !strcmp(each->key, setting->key))
            return each->old_key;
    return NULL;
}

const struct setting *setting_named_before(const char *section, const char *old_key)
{
    for (const struct renamed_setting *each = renamed_settings; each->section; each++)
        if (!strcmp(each->section, section) && !strcmp(each->old_key, old_key))
            return setting_named(section, each->key);
    return NULL;
}

bool setting_is_chosen(const struct settings *settings, const char *section, const char *key)
{
    return settings->origins[setting_named(section, key) - settings_table].from != FROM_DEFAULT;
}

/* Weights default to 1 in the design document (seed 002), but to 0 in current Slurm. */
const char *setting_fallback(const struct setting *setting, const struct settings *settings)
{
    bool weight = setting->number == &weights;
    const struct scheduler_default *own = scheduler_of(settings)->defaults;
    for (; own && own->key; own++)
        if (setting == setting_named(own->section, own->key))
            return own->value;
    return weight && settings->conformance == CONFORMANCE_SLURMCTLD ? "0" : setting->fallback;
}

bool setting_is_minutes(const struct setting *setting, const char *value)
{
    bool is_span = setting->read == read_reset_period ||
                   (setting->number && setting->number->form == VALUE_TIME_STRING);
    return is_span && strspn(value, "0") < strlen(value) &&
           strspn(value, "0123456789") == strlen(value);
}

int setting_assign(const struct setting *setting, struct settings *settings, const char *value,
                   struct error *err)
{
    void *field = (char *)settings + setting->offset;
    struct text reason = { 0 };
    bool good = setting->choices  ? read_choice(field, value, setting->choices, &reason)
                : setting->number ? read_number(field, value, setting->number, &reason)
                                  : setting->read(field, value, &reason);
    if (field == &settings->half_life_s)
        settings->half_life_of_source = false;
    int result = good ? 0
                      : fail(err, ERROR_SETTINGS, "[%s] %s = '%s': %s", setting->section,
                             setting->key, value, reason.bytes);
    text_free(&reason);
    return result;
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
    { "pbs", "What OpenPBS's sched_config and server say of fairshare." },
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

/* Returns the recorded value of a key, which the caller frees, or NULL if it is not recorded. */
static char *table_value_in(const char *text, const char *section, const char *key)
{
    struct text start = { 0 };
    char *value = NULL;
    text_format(&start, "%s.%s = ", section, key);
    for (const char *line = text; !value && *line; line += strcspn(line, "\n"), line += !!*line)
        if (!strncmp(line, start.bytes, start.length))
            value = memory_bytes(line + start.length, strcspn(line + start.length, "\n"));
    text_free(&start);
    return value;
}

uint64_t settings_recorded_zone(const char *text)
{
    const char *line = strstr(text, "\n" ZONE_LINE);
    return line ? strtoull(line + strlen("\n" ZONE_LINE), NULL, 16) : 0;
}

struct settings *settings_recorded(const char *text)
{
    struct settings *settings = memory_zeroed(1, sizeof *settings);
    settings->origins = memory_zeroed(settings_count(), sizeof *settings->origins);
    for (const struct setting *each = settings_table; each->section; each++) {
        struct error ignored;
        struct setting_origin *origin = &settings->origins[settings->origin_count++];
        const char *fallback = setting_fallback(each, settings), *old_key = setting_old_key(each);
        char *value = table_value_in(text, each->section, each->key);
        if (!value && old_key)
            value = table_value_in(text, each->section, old_key);
        *origin = (struct setting_origin){ .from = FROM_SETTINGS, .value = value };
        if (origin->value && !setting_assign(each, settings, origin->value, &ignored))
            continue;
        origin->from = FROM_DEFAULT;
        if (fallback)
            setting_assign(each, settings, fallback, &ignored);
    }
    return settings;
}
