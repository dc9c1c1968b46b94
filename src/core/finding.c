/* SPDX-License-Identifier: MIT */
#include "core/finding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

#define FINDING(kind, ...) [FINDING_##kind] = { __VA_ARGS__ }

static const struct {
    const char *name, *meaning, *remedy;
} kinds[FINDING_KINDS] = {
    FINDING(JOB_ENDS_BEFORE_START, "job_ends_before_start",
            "job ends before it starts; charged nothing",
            "if the job ran, correct its times in the job table"),
    FINDING(JOB_STARTS_IN_FUTURE, "job_starts_in_future",
            "job starts in the future; charged nothing",
            "compare the clock of this host with the clocks of the hosts that write the accounting "
            "database"),
    FINDING(JOB_TRES_UNREADABLE, "job_tres_unreadable",
            "TRES of the job cannot be read; charged nothing",
            "check tres_alloc in the job's row of the job table"),
    FINDING(JOB_CHARGE_TOO_LARGE, "job_charge_too_large",
            "charge of the job is out of range; charged nothing",
            "check the times and tres_alloc in the job's row of the job table"),
    FINDING(JOB_CAPPED, "job_open_beyond_limit",
            "job is open far beyond its time limit; charged up to open_job_cap after the limit",
            "with Slurm, use `sacctmgr show runawayjobs` to list and end jobs that no longer run; "
            "with OpenPBS, use `qstat` to see if the job still runs"),
    FINDING(JOB_OPEN_FOR_LONG, "job_open_for_long",
            "job without a walltime has been open for 30 days; charged as an open job",
            "use `qstat` to see if the job still runs; if not, restore the record of its end in "
            "the accounting log"),
    FINDING(
        JOB_ENDS_IN_FUTURE, "job_ends_in_future", "job ends in the future; charged as an open job",
        "compare the clocks of the hosts, or correct time_end in the job's row of the job table"),
    FINDING(JOB_ENDS_BEYOND_LIMIT, "job_ends_beyond_limit",
            "job ended far beyond its time limit; charged up to its end",
            "if the job did not run that long, correct time_end in its row of the job table"),
    FINDING(JOB_BEFORE_CLUSTER, "job_before_cluster",
            "job or rollup starts long before its cluster was created; charged, but its start is "
            "not used to compute the capacity",
            "correct time_start in the job's row of the job table, or creation_time of the cluster "
            "in cluster_table"),
    FINDING(OTHER_WEIGHTS, "other_weights",
            "stored billing of jobs does not match the TRES weights; charged by their billing",
            "if the weights were changed after these jobs started, do nothing; otherwise set "
            "[slurm] conf to the file that slurmctld reads"),
    FINDING(QOS_UNKNOWN, "qos_unknown",
            "QOS of jobs is missing in qos_table; charged with usage factor 1",
            "if the row in qos_table was deleted by hand, restore it"),
    FINDING(PARTITION_UNKNOWN, "partition_unknown",
            "job waits for a partition that slurm.conf does not define",
            "set [slurm] conf to the file that slurmctld reads; if it is that file, cancel the job "
            "or move it with `scontrol update`"),
    FINDING(
        JOB_LOST, "job_lost",
        "job has been pending for longer than any limit allows; it has no priority and no place "
        "in the queue",
        "use `sacctmgr show runawayjobs` to list and end jobs that slurmctld no longer knows"),
    FINDING(JOB_WITHOUT_ASSOCIATION, "job_without_association",
            "association of jobs is missing; their usage is unattributed",
            "if the association's row was deleted by hand, restore it"),
    FINDING(SHARES_NEGATIVE, "shares_negative", "association has negative shares; treated as 0",
            "set its fairshare with sacctmgr"),
    FINDING(ASSOCIATION_LEFT_OUT, "association_left_out",
            "association has no valid parent; left out with all associations below it "
            "(on_bad_rows = skip)",
            "set its parent with sacctmgr"),
    FINDING(DELETED_WITHOUT_PARENT, "deleted_without_parent",
            "deleted association has no existing account above it; its usage is unattributed",
            "do nothing, or add the account again"),
    FINDING(PARENTS_DISAGREE, "parents_disagree",
            "id_parent and the account's name lead to different parents; id_parent is used",
            "set its parent with sacctmgr, which writes both"),
    FINDING(SHARES_DRIFT, "shares_drift",
            "association differs from shares_file, or is missing in the file or the database",
            "run `fairmill shares diff --commands` with the file to print the commands that make "
            "the database match it, or export the file again"),
    FINDING(CLUSTER_IS_ANOTHER, "cluster_is_another",
            "cluster was replaced by a different one of the same name; history, days, recorded "
            "associations and the ledger of the earlier cluster remain",
            "if fairmill should read the earlier cluster, correct the settings; otherwise give "
            "this cluster a separate results database"),
    FINDING(CAPACITY_UNKNOWN, "capacity_unknown",
            "capacity of the cluster is unknown; capacity_usage and the linear values are NULL",
            "set [fairshare] capacity"),
    FINDING(TRES_UNKNOWN, "tres_unknown", "TRES with a weight does not exist; it charges nothing",
            "correct the TRES weights; `sacctmgr show tres` lists the names"),
    FINDING(TRES_NOT_KEPT, "tres_not_kept",
            "usage of a TRES is not kept: the TRES is unknown, or 16 others have been kept",
            "correct [usage] tres; with Slurm, `sacctmgr show tres` lists the names"),
    FINDING(PRIORITY_TRES_UNKNOWN, "priority_tres_unknown",
            "weight_tres names a TRES that the accounting database does not have; it adds nothing",
            "correct weight_tres; `sacctmgr show tres` lists the names"),
    FINDING(PAST_UNKNOWN, "past_unknown",
            "state of the association at this past time is uncertain; taken from the accounting "
            "database alone",
            "do nothing; fairmill records all associations from its first run on"),
    FINDING(PAST_UNREADABLE, "past_unreadable",
            "change in txn_table cannot be interpreted, or txn_table cannot be read",
            "if the database login may not read txn_table, grant it SELECT"),
    FINDING(FACTOR_UNDATED, "factor_undated",
            "usage factor changed at an unknown time between two runs; the new factor applies from "
            "the later run on",
            "do nothing; to record the time of later changes, make them with sacctmgr"),
    FINDING(FACTOR_UNKNOWN, "factor_unknown",
            "usage factor before a change is unknown; the first known factor is used",
            "do nothing"),
    FINDING(FACTOR_OVERRULED, "factor_overruled",
            "usage factor in qos_table contradicts the last change in txn_table; the factor in "
            "txn_table is used",
            "set the factor with sacctmgr"),
    FINDING(LEDGER_LOST, "ledger_entry_lost", "ledger entry is missing; it has no effect",
            "import the entry from an export of the ledger, or undo it"),
    FINDING(LEDGER_CHANGED, "ledger_entry_changed",
            "ledger entry was changed after it was entered; its current values are used",
            "restore its row, or undo the entry"),
    FINDING(CLUSTER_VANISHED, "cluster_vanished",
            "cluster is missing in the accounting database and was not marked as deleted; its "
            "results are kept",
            "restore its row in cluster_table, or remove its results with `fairmill forget`"),
    FINDING(KEPT_CHANGED, "kept_rows_changed",
            "another program changed stored rows; fairmill rebuilt them",
            "let only fairmill write to the result tables"),
    FINDING(SEALED_JOBS_CHANGED, "sealed_jobs_changed",
            "jobs that ended long ago have changed; all jobs were read again",
            "if you corrected these jobs, do nothing; otherwise find out who changed them"),
    FINDING(
        DAYS_LOST, "days_changed_after_purge",
        "another program changed the usage of days whose jobs were purged; the changed values are "
        "kept",
        "restore the rows from a backup; let only fairmill write to the result tables"),
    FINDING(
        RECORDS_CHANGED, "records_changed",
        "another program changed recorded history that cannot be rebuilt; the changed values are "
        "kept",
        "restore the rows from a backup; let only fairmill write to the result tables"),
    FINDING(DAYS_INCOMPLETE, "days_incomplete",
            "usage of days could not be stored; a later full run rebuilds it",
            "free space for temporary files, then run `fairmill run --full`"),
    FINDING(FORMULA_UNREADABLE, "formula_unreadable",
            "job_sort_formula cannot be evaluated; jobs have no priorities",
            "set [pbs] job_sort_formula to a formula in the subset of Python that fairmill.conf(5) "
            "describes"),
    FINDING(RECORD_UNREADABLE, "record_unreadable",
            "records of accounting logs cannot be read; they are ignored",
            "correct the log, then run `fairmill import pbs --anew`"),
    FINDING(
        RESOURCE_UNKNOWN, "resource_unknown",
        "formula names a resource that no job has; its value is 0",
        "if the name is wrong, correct the formula; if jobs will have the resource, do nothing"),
};

const char *finding_name(enum finding_kind kind)
{
    return kinds[kind].name;
}

const char *finding_meaning(enum finding_kind kind)
{
    return kinds[kind].meaning;
}

const char *finding_remedy(enum finding_kind kind)
{
    return kinds[kind].remedy;
}

struct findings *findings_create(void)
{
    return memory_zeroed(1, sizeof(struct findings));
}

void findings_destroy(struct findings *findings)
{
    if (!findings)
        return;
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        free(findings->kind[kind].kept);
    free(findings);
}

static int finding_compare(const struct finding *one, const struct finding *other)
{
    if (one->subject != other->subject)
        return one->subject < other->subject ? -1 : 1;
    return (one->ends > other->ends) - (one->ends < other->ends);
}

const char *finding_detail(const struct finding *finding, char buffer[FINDING_DETAIL])
{
    if (!finding->jobs)
        return finding->detail;
    const struct instant_text first = time_text((int64_t)finding->first);
    const struct instant_text last = time_text((int64_t)finding->last);
    int length =
        finding->jobs == 1
            ? snprintf(buffer, FINDING_DETAIL, "1 job started %s; %s", first.bytes, finding->detail)
            : snprintf(buffer, FINDING_DETAIL, "%" PRIu64 " jobs started between %s and %s; %s",
                       finding->jobs, first.bytes, last.bytes, finding->detail);
    if (length >= FINDING_DETAIL)
        utf8_drop_cut(buffer);
    return buffer;
}

/* Returns the number of occurrences that a finding stands for: its number of jobs, or 1. */
static uint64_t times(const struct finding *finding)
{
    return finding->jobs ? finding->jobs : 1;
}

/* Combines `added` with a kept finding of the same subject and end time. */
static void combine(struct finding *kept, const struct finding *added)
{
    if (added->jobs) {
        kept->jobs += added->jobs;
        kept->first = added->first < kept->first ? added->first : kept->first;
        kept->last = added->last > kept->last ? added->last : kept->last;
    } else if (strcmp(added->detail, kept->detail) < 0) {
        *kept = *added;
    }
}

/*
 * Adds a finding.  Returns a pointer to the stored copy, or NULL if the finding was combined with
 * an earlier finding or not kept.
 */
static struct finding *finding_add(struct findings *findings, enum finding_kind kind,
                                   const struct finding *added)
{
    struct finding *kept = findings->kind[kind].kept;
    size_t *count = &findings->kind[kind].count;
    findings->kind[kind].seen += times(added);
    size_t at = *count;
    while (at > 0 && finding_compare(&kept[at - 1], added) > 0)
        at--;
    if (at > 0 && finding_compare(&kept[at - 1], added) == 0) {
        combine(&kept[at - 1], added);
        return NULL;
    }
    if (at == FINDINGS_PER_KIND)
        return NULL;
    size_t moved = *count - at;
    if (*count < FINDINGS_PER_KIND) {
        kept = memory_grown(kept, *count, sizeof *kept);
        findings->kind[kind].kept = kept;
        ++*count;
    } else {
        moved--;
    }
    memmove(kept + at + 1, kept + at, moved * sizeof *kept);
    kept[at] = *added;
    return &kept[at];
}

static void finding_spell(struct finding *finding, const char *detail, va_list arguments)
{
    int length = vsnprintf(finding->detail, sizeof finding->detail, detail, arguments);
    if (length >= (int)sizeof finding->detail)
        utf8_drop_cut(finding->detail);
}

void findings_add(struct findings *findings, enum finding_kind kind, uint64_t subject,
                  const char *detail, ...)
{
    va_list arguments;
    struct finding added = { .subject = subject };
    va_start(arguments, detail);
    finding_spell(&added, detail, arguments);
    va_end(arguments);
    finding_add(findings, kind, &added);
}

void findings_add_ended(struct findings *findings, enum finding_kind kind, uint64_t subject,
                        uint64_t ends, const char *detail, ...)
{
    va_list arguments;
    struct finding added = { .subject = subject, .ends = ends };
    va_start(arguments, detail);
    finding_spell(&added, detail, arguments);
    va_end(arguments);
    finding_add(findings, kind, &added);
}

void findings_add_jobs(struct findings *findings, enum finding_kind kind,
                       const struct finding *jobs, const char *detail, ...)
{
    va_list arguments;
    struct finding *fresh = finding_add(findings, kind, jobs);
    va_start(arguments, detail);
    if (fresh)
        finding_spell(fresh, detail, arguments);
    va_end(arguments);
}

void findings_copy(struct findings *findings, const struct findings *others)
{
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++) {
        size_t count = others->kind[kind].count;
        struct finding *kept = findings->kind[kind].kept;
        for (size_t i = 0; i < count; i++) {
            kept = memory_grown(kept, i, sizeof *kept);
            kept[i] = others->kind[kind].kept[i];
        }
        findings->kind[kind].kept = kept;
        findings->kind[kind].count = count;
        findings->kind[kind].seen = others->kind[kind].seen;
    }
}

void findings_merge(struct findings *findings, const struct findings *others)
{
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++) {
        uint64_t seen = findings->kind[kind].seen + others->kind[kind].seen;
        for (size_t i = 0; i < others->kind[kind].count; i++) {
            struct finding each = others->kind[kind].kept[i];
            each.ends = 0;
            finding_add(findings, kind, &each);
        }
        findings->kind[kind].seen = seen;
    }
}

void findings_expire(struct findings *findings, uint64_t cutoff)
{
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++) {
        struct finding *kept = findings->kind[kind].kept;
        size_t left = 0;
        for (size_t i = 0; i < findings->kind[kind].count; i++)
            if (!kept[i].ends || kept[i].ends > cutoff)
                kept[left++] = kept[i];
            else
                findings->kind[kind].seen -= times(&kept[i]);
        findings->kind[kind].count = left;
    }
}
