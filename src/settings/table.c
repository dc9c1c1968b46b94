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

#define FORM_OF_DURATION "a number of seconds, or a number with the unit s, m, h, d or w"
#define FORM_OF_SPAN                                                             \
    "a number with the unit s, m, h, d or w, or a time string (min, hr:min:00, " \
    "days-hr:min:00, days-hr)"
#define BEYOND_CENTURY "must be at most a century"
#define BEYOND_SLURM "must be at most 4294967295 minutes"

/* clang-format off */
static const struct number_value ports = { VALUE_WHOLE, OF_UNSIGNED, 0, 65535,
    .wanted = "must be a port number from 1 to 65535, or 0 for the default port" };
static const struct number_value days = { VALUE_WHOLE, OF_UINT64, 0, 36525,
    .wanted = "must be a whole number of days, at most 36525" };
static const struct number_value weights = { VALUE_WHOLE, OF_UINT64, 0, UINT32_MAX,
    .wanted = "must be a whole number from 0 to 4294967295" };
static const struct number_value dampenings = { VALUE_REAL, OF_DOUBLE, 1, 65535,
    .wanted = "must be a number from 1 to 65535" };
static const struct number_value capacities = { VALUE_REAL, OF_DOUBLE, 1e-9, 1e18,
    .wanted = "must be auto or a number above 0", .word = "auto" };
static const struct number_value factors = { VALUE_REAL, OF_DOUBLE, 1e-9, 1e9,
    .wanted = "must be a number above 0" };
static const struct number_value percents = { VALUE_REAL, OF_DOUBLE, 1, 1000,
    .wanted = "must be none or a number of percent from 1 to 1000", .word = "none" };
static const struct number_value ratios = { VALUE_REAL, OF_DOUBLE, 1, 1000,
    .wanted = "must be none or a number from 1 to 1000", .word = "none" };
static const struct number_value usages = { VALUE_REAL, OF_DOUBLE, 0, 1e15,
    .wanted = "must be a number from 0 to 1e15" };
static const struct number_value durations = { VALUE_DURATION, OF_UINT64, 0, CENTURY_S,
    .wanted = "must be " FORM_OF_DURATION, .above = BEYOND_CENTURY };
static const struct number_value deadlines = { VALUE_DURATION, OF_UINT64, 1, 86400,
    .wanted = "must be " FORM_OF_DURATION, .above = "must be at most a day",
    .below = "must be at least 1 s" };
static const struct number_value lags = { VALUE_DURATION, OF_INT64, 0, CENTURY_S,
    .wanted = "must be none, " FORM_OF_DURATION, .word = "none", .of_word = -1,
    .above = "must be none or at most a century" };
static const struct number_value time_strings = { VALUE_TIME_STRING, OF_UINT64, 0, CENTURY_S,
    .wanted = "must be " FORM_OF_SPAN, .above = BEYOND_CENTURY };
static const struct number_value horizons = { VALUE_TIME_STRING, OF_UINT64, 1, CENTURY_S,
    .wanted = "must be none, " FORM_OF_SPAN, .word = "none", .above = BEYOND_CENTURY,
    .below = "must be none or above 0" };
static const struct number_value half_lives = { VALUE_TIME_STRING, OF_UINT64, 0, SLURM_LONGEST_S,
    .wanted = "must be " FORM_OF_SPAN, .above = BEYOND_SLURM };
static const struct number_value ages = { VALUE_TIME_STRING, OF_UINT64, 0, SLURM_LONGEST_S,
    .wanted = "must be infinite, " FORM_OF_SPAN, .word = "infinite", .of_word = (uint32_t)-60,
    .above = BEYOND_SLURM ", or infinite" };
/* clang-format on */

/*
 * The last columns of a row.  FIELD is for settings with a `read` function, CHOICE and NUMBER for
 * settings without one.  The CHARGE_ variants mark settings on which the charge of a finished job
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
      "Weight of " what ", a whole number.  Defaults to 0 with conformance = slurmctld.", \
      NUMBER(key, weights) }
#define CONNECTION(section, what) \
    { #section, "driver", NULL, \
      "Database system of " what ": mysql (also for MariaDB), pgsql or sqlite.", \
      read_driver, FIELD(section.driver) }, \
    { #section, "host", "", \
      "Host name or address of the server.  If empty, fairmill connects to this host through a " \
      "Unix socket.", \
      read_text, FIELD(section.host) }, \
    { #section, "port", "0", \
      "TCP port of the server.  0 means the default port.", \
      NUMBER(section.port, ports) }, \
    { #section, "socket", "", \
      "Path of the Unix socket; for pgsql, of its directory.  If empty, the default is used.", \
      read_text, FIELD(section.socket) }, \
    { #section, "database", NULL, \
      "Name of the database, or path of the file for sqlite.", \
      read_given, FIELD(section.database) }, \
    { #section, "user", "", \
      "Login name.  If empty, the name of the user that runs fairmill.", \
      read_text, FIELD(section.user) }, \
    { #section, "option_file", "", \
      "MySQL option file.  Its groups [client] and [fairmill] may contain the password.", \
      read_text, FIELD(section.option_file) }, \
    { #section, "service", "", \
      "PostgreSQL service, an entry of pg_service.conf.  It supplies the values that are empty " \
      "here.", \
      read_text, FIELD(section.service) }, \
    { #section, "tls_mode", "default", \
      "Encryption of the connection: default (the client library decides), off, required, " \
      "verify_ca or verify_full.  With verify_ca, the server's certificate must be signed by an " \
      "authority in tls_ca.  With verify_full, the certificate must also be issued for host.", \
      CHOICE(section.tls_mode, db_tls_names) }, \
    { #section, "tls_ca", "", \
      "File with the certificates of the authorities for verify_ca and verify_full.", \
      read_text, FIELD(section.tls_ca) }
/* clang-format on */

const struct setting settings_table[] = {
    CONNECTION(source, "the accounting database"),
    { "source", "layout", "slurmdbd",
      "Source type: slurmdbd (Slurm 20.11 to 26.05), plain (two tables or views of your own) or "
      "pbs (the tables that `fairmill import pbs' creates).",
      read_layout, FIELD(layout) },
    { "source", "clusters", "all",
      "Clusters to compute, separated by commas.  all means every cluster that is not deleted.",
      read_given, FIELD(clusters) },
    { "source", "associations", "associations",
      "For layout plain: table or view with the associations, as TABLE or SCHEMA.TABLE.",
      read_given, FIELD(associations) },
    { "source", "usage", "usage",
      "For layout plain: table or view with the usage, as TABLE or SCHEMA.TABLE.", read_given,
      FIELD(usage) },
    { "source", "usage_tres", "",
      "For layout plain: optional table or view with the usage by TRES, as TABLE or SCHEMA.TABLE.",
      read_text, FIELD(usage_tres) },
    { "source", "deadline", "120 s",
      "Time limit of each statement in either database, and of all retries of an operation "
      "together.  At most 1 d.",
      NUMBER(deadline_s, deadlines) },
    { "source", "max_lag", "none",
      "Maximum lag of the accounting database, if it is a replica.  If it lags more, runs exit "
      "with status 69 and the old results remain published.",
      NUMBER(max_lag_s, lags) },
    { "source", "on_bad_rows", "fail",
      "Action if an association is in a cycle, has no parent or is listed twice.  fail: do not "
      "publish the cluster.  skip: omit the association and all associations below it, and report "
      "a finding.",
      CHOICE(on_bad_rows, bad_rows) },
    { "source", "shares_file", "",
      "For layout slurmdbd: comma-separated files that `fairmill shares export' or `sacctmgr dump' "
      "wrote.  `fairmill check' reports differences between a file and its cluster.",
      read_text, FIELD(shares_file) },

    CONNECTION(results, "the result tables"),
    { "results", "share_database", "no",
      "If yes, the result tables may be in the accounting database.", read_yes_no,
      FIELD(share_database) },

    { "usage", "source", "jobs",
      "Source of usage: jobs (exact) or rollup (slurmdbd's sums by hour, day and month, and jobs "
      "for the time after the last sum).",
      CHOICE(usage_source, usage_sources) },
    { "usage", "half_life", "7-0", "Time in which usage decays to one half.  0 means no decay.",
      CHARGE_NUMBER(half_life_s, half_lives) },
    { "usage", "decay", "exact",
      "exact: usage decays continuously.  steps: usage decays at the same times as in OpenPBS's "
      "scheduler; only with layout = pbs.",
      CHARGE_CHOICE(decay, decays) },
    { "usage", "reset_period", "none",
      "Period after which usage starts again at 0: none, daily, weekly (from Sunday), monthly, "
      "quarterly, yearly, or a time string for periods that are counted from reset_anchor.",
      read_reset_period, FIELD(reset_period) },
    { "usage", "reset_anchor", "1970-01-01",
      "Start of any one of the periods if reset_period is a time string: epoch seconds or "
      "YYYY-MM-DD[THH:MM[:SS]].",
      read_given, FIELD(reset_anchor) },
    { "usage", "time_zone", "system",
      "Time zone of days and dates, such as Europe/Berlin.  system means the zone of the "
      "environment (TZ) or of this host.",
      read_given, FIELD(time_zone) },
    { "usage", "charge", "auto",
      "Charge of a job per second: billing (its stored billing, 0 if missing), cpu (its CPUs), "
      "tres (its TRES multiplied by tres_weights) or auto.  With auto, a job is charged as with "
      "tres if its partition has weights and the result, rounded down, equals the stored billing.  "
      "Otherwise the job is charged as with billing.",
      CHARGE_CHOICE(charge, charges) },
    { "usage", "tres_weights", "",
      "For charge = auto or tres: weights as in slurm.conf's TRESBillingWeights, such as "
      "CPU=1.0,Mem=0.25G,GRES/gpu=2.0.  If the list contains MAX_TRES or MAX_TRES_GRES, the charge "
      "is computed by that flag of PriorityFlags.",
      read_tres_rates, CHARGE_FIELD(weights) },
    { "usage", "partition_tres_weights", "",
      "For charge = auto or tres: weights for jobs in these partitions, in place of tres_weights, "
      "such as gpu:CPU=1 GRES/gpu=2, debug:CPU=0.5.",
      read_partition_rates, CHARGE_FIELD(weights) },
    { "usage", "qos_factors", "",
      "Factors by which the charges of a QOS's jobs are multiplied, in addition to the UsageFactor "
      "of the QOS, such as high:2, low:0.5.",
      read_factors, CHARGE_FIELD(weights.qos_factors) },
    { "usage", "partition_usage_factors", "",
      "Factors by which the charges of a partition's jobs are multiplied, such as gpu:2, "
      "debug:0.5.",
      read_factors, CHARGE_FIELD(weights.partition_factors) },
    { "usage", "suspended", "charged",
      "Time during which a job was suspended: charged (as in Slurm) or omitted.",
      CHARGE_CHOICE(suspended, suspendeds) },
    { "usage", "tres", "auto",
      "TRES whose usage is stored apart from the charge, such as cpu, mem, gres/gpu: at most 16 "
      "names "
      "as in tres_table, or none.  auto means cpu, node, every gres, and each TRES with a "
      "GrpTRESMins limit.",
      read_tres_names, FIELD(tres) },
    { "usage", "open_job_cap", "1-0",
      "Maximum time beyond its time limit for which a job is charged, if the job has no end or an "
      "end in the future.",
      CHARGE_NUMBER(open_job_cap_s, time_strings) },
    { "usage", "horizon", "none",
      "Jobs that ended longer ago than this are not charged.  none means no limit.",
      CHARGE_NUMBER(horizon_s, horizons) },
    { "usage", "checkpoint_after", "1-0",
      "Jobs that ended at least this long before the newest end of a job are added to the "
      "checkpoint.  Most runs do not read these jobs again.",
      NUMBER(checkpoint_after_s, time_strings) },
    { "usage", "full_every", "7-0",
      "Interval of full runs.  They read all jobs again, to detect changes that other runs do not "
      "detect.",
      NUMBER(full_every_s, time_strings) },

    { "fairshare", "algorithm", "fair_tree",
      "Algorithm of the published `fairshare': fair_tree, depth_oblivious, classic, linear or pbs. "
      " Runs compute and publish the values of all algorithms.  Defaults to pbs with layout = pbs.",
      read_algorithm, FIELD(algorithm) },
    { "fairshare", "conformance", "documents",
      "Rules to follow if Slurm's documents and slurmctld differ: documents or slurmctld.",
      CHOICE(conformance, conformance_names) },
    { "fairshare", "slurm_version", "auto",
      "Slurm release whose rules conformance = slurmctld follows, such as 25.11.  auto means the "
      "release that the cluster's slurmctld registered.",
      read_slurm_version, FIELD(slurm_release) },
    { "fairshare", "ties", "collation",
      "Order in which slurmctld visits tied accounts.  collation: in the collation of the "
      "accounting database, as after a start of slurmctld.  bytes: bytewise, as after sacctmgr "
      "added an association.",
      CHOICE(ties, ties_names) },
    { "fairshare", "dampening", "1",
      "FairShareDampeningFactor, which divides the exponent of classic and depth_oblivious.",
      NUMBER(dampening, dampenings) },
    { "fairshare", "capacity", "auto",
      "Capacity of the cluster in charged TRES, for capacity_usage and linear.  auto means the "
      "capacity that the cluster registered.",
      NUMBER(capacity, capacities) },
    { "fairshare", "capacity_half_lives", "2",
      "Number of half-lives for capacity_usage, which is the usage divided by the usage that the "
      "cluster could have delivered in this time.",
      NUMBER(capacity_half_lives, factors) },
    { "fairshare", "pbs_minimum_usage", "0",
      "Initial usage of each entity and group for the algorithm pbs, in TRES-seconds, to which "
      "charges are added.  OpenPBS's documents start from 0, its scheduler from 1.  Defaults to 1 "
      "with layout = pbs.",
      NUMBER(pbs_minimum_usage, usages) },

    { "retention", "history_interval", "1 h",
      "The first run of each interval is stored in fairmill_history.  0 means that every run is "
      "stored.",
      NUMBER(history_interval_s, durations) },
    { "retention", "history_days", "400",
      "Number of days for which history, fairmill_fairness and usage by day are kept.  0 means "
      "that they are not stored.",
      NUMBER(history_days, days) },
    { "retention", "run_days", "90",
      "Number of days for which rows of earlier runs are kept, and findings after a run last "
      "reported them.  0 means no limit.",
      NUMBER(run_days, days) },

    { "report", "private", "no",
      "Information hidden from other users: usage (associations with all their values), jobs "
      "(pending jobs), or both, separated by a comma.  yes means both, no means neither.  "
      "Coordinators see the users in and below their accounts.  Operators, administrators, root, "
      "the owner of the settings file and the user of the runs see everything.  If anything is "
      "hidden, the output of metrics and report omits user names.",
      read_private, FIELD(private) },
    { "report", "alert_after", "1 h",
      "Runs that exit with status 69 or 75 (database not available, another run active) print a "
      "message only after runs have failed for this long.  0 means that they print it at once.  "
      "With -v and on a terminal, they always print it.",
      NUMBER(alert_after_s, durations) },

    { "notify", "from", "",
      "Sender of the messages of `fairmill notify', an address such as fairshare@hpc.example.org.  "
      "It is required for messages.",
      read_mail_from, FIELD(mail_from) },
    { "notify", "domain", "",
      "Domain of the recipients.  A message is sent to LOGIN@DOMAIN or, if this is empty, to "
      "LOGIN.",
      read_mail_domain, FIELD(mail_domain) },
    { "notify", "mailer", "/usr/sbin/sendmail -t -i",
      "Program that sends a message, and its arguments, separated by spaces.  It gets each message "
      "on standard input and reads the recipient from the line To.",
      read_mailer, FIELD(mailer) },
    { "notify", "statement", "yes",
      "yes: send the statement of each month to the coordinators of an account.", read_yes_no,
      FIELD(mail_statements) },
    { "notify", "budget", "80",
      "Percentage of a GrpTRESMins limit of an account at which its coordinators get a message, or "
      "none.",
      NUMBER(mail_budget, percents) },
    { "notify", "share", "2",
      "Recent usage of an account, divided by its share, at which its coordinators get a message, "
      "or none.",
      NUMBER(mail_share, ratios) },

    WEIGHT(weight_age, "the waiting time of a job"),
    WEIGHT(weight_assoc, "the association's priority"),
    WEIGHT(weight_fairshare, "the association's fairshare"),
    WEIGHT(weight_job_size, "the job's size"),
    WEIGHT(weight_partition, "the partition's factor"),
    WEIGHT(weight_qos, "the QOS's priority"),
    { "priority", "weight_tres", "",
      "Weights of the requested TRES, as in slurm.conf's PriorityWeightTRES, such as "
      "CPU=1000,Mem=2000,GRES/gpu=3000.",
      read_weight_tres, FIELD(weight_tres) },
    { "priority", "max_age", "7-0", "Waiting time after which the age factor of a job is 1.",
      NUMBER(max_age_s, ages) },
    { "priority", "favor_small", "no", "yes: smaller jobs have a higher size factor.", read_yes_no,
      FIELD(favor_small) },
    { "priority", "partition_factors", "",
      "Factors of partitions, as in slurm.conf's PriorityJobFactor, such as GPU:100, debug:10.  "
      "Each factor is divided by the highest factor.  Numbers from 0.0 to 1.0 with a decimal "
      "point, such as GPU:0.5, are used without this division.",
      read_partition_factors, FIELD(partition_factors) },
    { "priority", "qos_factors", "",
      "Factors of QOS from 0.0 to 1.0, such as high:1.0, low:0.25.  The factor of any other QOS is "
      "its priority in the accounting database, divided by the highest priority of a QOS.",
      read_qos_factors, FIELD(qos_priority_factors) },
    { "priority", "flags", "",
      "Comma-separated flags of slurm.conf's PriorityFlags: ACCRUE_ALWAYS, CALCULATE_RUNNING, "
      "INCR_ONLY, MAX_TRES, MAX_TRES_GRES, NO_NORMAL_ALL, NO_NORMAL_ASSOC, NO_NORMAL_PART, "
      "NO_NORMAL_QOS, NO_NORMAL_TRES, SMALL_RELATIVE_TO_TIME.",
      read_priority_flags, FIELD(priority_flags) },

    { "pbs", "fairshare_entity", "",
      "Entity to which the usage of a job is added: euser, egroup, Account_Name, queue or "
      "egroup:euser.",
      read_pbs_entity, FIELD(pbs[PBS_ENTITY]) },
    { "pbs", "fairshare_usage_res", "",
      "Formula for the usage of a job, computed from the resources that the job used, such as "
      "ncpus*walltime.",
      read_pbs_formula, FIELD(pbs[PBS_USAGE_RES]) },
    { "pbs", "unknown_shares", "", "Shares of the group unknown.", read_pbs_shares,
      FIELD(pbs[PBS_UNKNOWN_SHARES]) },
    { "pbs", "fairshare_enforce_no_shares", "", "true: jobs of entities without shares do not run.",
      read_pbs_truth, FIELD(pbs[PBS_ENFORCE_NO_SHARES]) },
    { "pbs", "fairshare_decay_time", "", "Interval at which OpenPBS decays usage: HH:MM:SS.",
      read_pbs_decay_time, FIELD(pbs[PBS_DECAY_TIME]) },
    { "pbs", "fairshare_decay_factor", "",
      "Factor by which each decay multiplies usage, a number between 0 and 1.",
      read_pbs_decay_factor, FIELD(pbs[PBS_DECAY_FACTOR]) },
    { "pbs", "job_sort_formula", "",
      "Formula by which OpenPBS sorts pending jobs.  If fairmill cannot evaluate the formula, or "
      "if none is set, the priorities of jobs are NULL.",
      read_text, FIELD(pbs[PBS_SORT_FORMULA]) },
    { "pbs", "job_sort_formula_threshold", "",
      "If the formula has this value or a lower value for a job, the job does not run.",
      read_pbs_number, FIELD(pbs[PBS_SORT_THRESHOLD]) },

    { "slurm", "conf", "",
      "Path of a slurm.conf, or auto for the file that Slurm's commands use on this host.  "
      "slurm.conf supplies the values of settings that are missing in this file.  fairmill.conf(5) "
      "lists the keys that are used.",
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

/* Weights default to 1 in the document of Slurm 2.0, but to 0 in current Slurm. */
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
    { "source", "The accounting database, which runs only read." },
    { "results", "The database with the result tables." },
    { "usage", "Sources, charges and decay of usage." },
    { "fairshare", "The fairshare algorithm and its parameters." },
    { "retention", "Time for which stored results are kept." },
    { "report", "Privacy, and messages about failed runs." },
    { "notify", "Mail to the coordinators of accounts." },
    { "priority", "Weights and factors of the priorities of pending jobs." },
    { "pbs", "OpenPBS's parameters, for layout = pbs.  If a key is empty, the imported value "
             "applies, or else OpenPBS's default." },
    { "slurm", "Values that are taken from a slurm.conf." },
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
