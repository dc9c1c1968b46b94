/* SPDX-License-Identifier: MIT */
#include "core/finding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/text.h"

#define FINDING(kind, ...) [FINDING_##kind] = { __VA_ARGS__ }

static const struct {
    const char *name, *meaning, *remedy;
} kinds[FINDING_KINDS] = {
    FINDING(JOB_ENDS_BEFORE_START, "job_ends_before_start", "charged nothing",
            "correct the times of its row in the job table, where it should count"),
    FINDING(JOB_STARTS_IN_FUTURE, "job_starts_in_future", "charged nothing",
            "compare the clocks of this host and of those that write the accounting database"),
    FINDING(JOB_TRES_UNREADABLE, "job_tres_unreadable", "charged nothing",
            "look at tres_alloc of its row in the job table"),
    FINDING(JOB_CHARGE_TOO_LARGE, "job_charge_too_large", "charged nothing",
            "look at the times and the TRES of its row in the job table"),
    FINDING(JOB_CAPPED, "job_open_beyond_limit",
            "open far beyond its time limit; charged up to open_job_cap",
            "`sacctmgr show runawayjobs' lists those that do not run, and ends them; with OpenPBS, "
            "`qstat' shows whether it runs"),
    FINDING(JOB_OPEN_FOR_LONG, "job_open_for_long",
            "open for 30 days without a walltime; charged as an open job",
            "`qstat' shows whether it runs; if not, restore the record of its end in the "
            "accounting log"),
    FINDING(JOB_ENDS_IN_FUTURE, "job_ends_in_future", "charged as an open job",
            "compare clocks, or correct time_end of its row in the job table"),
    FINDING(JOB_ENDS_BEYOND_LIMIT, "job_ends_beyond_limit",
            "ended far beyond its time limit; charged up to its end",
            "correct time_end of its row in the job table, where it did not run so long"),
    FINDING(JOB_BEFORE_CLUSTER, "job_before_cluster",
            "started long before its cluster was created; charged, but the capacity does not count "
            "from it",
            "correct time_start of its row in the job table, or creation_time of the cluster in "
            "cluster_table"),
    FINDING(OTHER_WEIGHTS, "other_weights",
            "charged by their stored billing, which is not what the weights of TRES make",
            "nothing, where weights were changed since; else let [slurm] conf be the file that "
            "slurmctld reads"),
    FINDING(QOS_UNKNOWN, "qos_unknown", "charged with usage factor 1, as there is no such QOS",
            "restore its row in qos_table, where somebody removed it by hand"),
    FINDING(PARTITION_UNKNOWN, "partition_unknown",
            "waits for a partition that the slurm.conf has not",
            "let [slurm] conf be the file that slurmctld reads; else cancel the job, or move it "
            "with `scontrol update`"),
    FINDING(JOB_LOST, "job_lost",
            "pending for longer than any limit allows; it has no priority and no place",
            "`sacctmgr show runawayjobs' lists jobs that slurmctld does not know any more, and "
            "ends them"),
    FINDING(JOB_WITHOUT_ASSOCIATION, "job_without_association",
            "counted outside the root, as unattributed usage",
            "restore the row of the association, where somebody removed it by hand"),
    FINDING(SHARES_NEGATIVE, "shares_negative", "taken as 0", "set its fairshare with sacctmgr"),
    FINDING(ASSOCIATION_LEFT_OUT, "association_left_out",
            "left out with all below it (on_bad_rows = skip)", "set its parent with sacctmgr"),
    FINDING(DELETED_WITHOUT_PARENT, "deleted_without_parent",
            "usage of this deleted association is unattributed",
            "nothing, or add the account again"),
    FINDING(PARENTS_DISAGREE, "parents_disagree",
            "id_parent and the account's name differ; id_parent counts",
            "set its parent with sacctmgr, which writes both"),
    FINDING(SHARES_DRIFT, "shares_drift",
            "other shares or parents than in shares_file, or only there",
            "`fairmill shares diff --commands' with the file prints what makes the database what "
            "it says; or export the file anew"),
    FINDING(CLUSTER_IS_ANOTHER, "cluster_is_another",
            "earlier runs read another cluster of this name; their history, days, notes and ledger "
            "are still there",
            "mend the settings, if they should read the other one; else give this one results of "
            "its own"),
    FINDING(CAPACITY_UNKNOWN, "capacity_unknown", "capacity_usage and the linear values are NULL",
            "set [fairshare] capacity"),
    FINDING(TRES_UNKNOWN, "tres_unknown",
            "has a weight and charges nothing, as there is no such TRES",
            "correct the weights of TRES; `sacctmgr show tres' has the names"),
    FINDING(PRIORITY_TRES_UNKNOWN, "priority_tres_unknown",
            "weight_tres names a TRES that the accounting database has not; it adds nothing",
            "correct weight_tres; `sacctmgr show tres' has the names"),
    FINDING(PAST_UNKNOWN, "past_unknown",
            "not known for this instant; as the accounting database alone tells",
            "nothing; from its first run on fairmill notes what it sees"),
    FINDING(PAST_UNREADABLE, "past_unreadable",
            "a change in txn_table that is not understood, or none of it",
            "let the login read txn_table, where it may not"),
    FINDING(FACTOR_UNDATED, "factor_undated",
            "a usage factor changed between two runs, and nothing tells when; the new one counts "
            "from the later run on",
            "nothing; of a change by sacctmgr txn_table tells when it was"),
    FINDING(FACTOR_UNKNOWN, "factor_unknown",
            "a usage factor was changed, and nothing tells what it was; the first known one counts",
            "nothing"),
    FINDING(
        FACTOR_OVERRULED, "factor_overruled",
        "qos_table has a usage factor that the last row of txn_table contradicts; txn_table counts",
        "set the factor with sacctmgr"),
    FINDING(LEDGER_LOST, "ledger_entry_lost", "does not count; import it again, or undo it",
            "import it from an export of the ledger, or undo it"),
    FINDING(LEDGER_CHANGED, "ledger_entry_changed", "counts as it is now; restore it, or undo it",
            "restore its row, or undo it"),
    FINDING(CLUSTER_VANISHED, "cluster_vanished",
            "not in the accounting database any more, and not marked as deleted there; its results "
            "stay",
            "restore its row in cluster_table, or `fairmill forget' it"),
    FINDING(KEPT_CHANGED, "kept_rows_changed",
            "somebody else changed what runs keep; it was made anew",
            "let nobody but fairmill write to the result tables"),
    FINDING(SEALED_JOBS_CHANGED, "sealed_jobs_changed",
            "jobs that ended long ago have changed; all were read anew",
            "nothing, where somebody corrected jobs"),
    FINDING(DAYS_LOST, "days_changed_after_purge",
            "somebody else changed the usage of days whose jobs were purged; it stays as it is now",
            "restore the rows from a backup; let nobody but fairmill write to the result tables"),
    FINDING(RECORDS_CHANGED, "records_changed",
            "somebody else changed history, which cannot be made anew; it stays as it is now",
            "restore the rows from a backup; let nobody but fairmill write to the result tables"),
    FINDING(DAYS_INCOMPLETE, "days_incomplete",
            "the usage of days could not be kept; it is made anew later",
            "make room for temporary files, and `fairmill run --full'"),
    FINDING(
        FORMULA_UNREADABLE, "formula_unreadable",
        "job_sort_formula cannot be evaluated; jobs have no priorities",
        "write it in the part of Python that fairmill.conf(5) lists, as [pbs] job_sort_formula"),
    FINDING(RECORD_UNREADABLE, "record_unreadable",
            "records of accounting logs that cannot be read; they count for nothing",
            "correct the log, and `fairmill import pbs --anew'"),
    FINDING(RESOURCE_UNKNOWN, "resource_unknown",
            "a formula names a resource that no job has; it counts as 0",
            "correct the formula; nothing, if jobs will have it"),
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
    int length =
        snprintf(buffer, FINDING_DETAIL,
                 "jobs: %" PRIu64 ", the first started %" PRIu64 ", the last %" PRIu64 "; %s",
                 finding->jobs, finding->first, finding->last, finding->detail);
    if (length >= FINDING_DETAIL)
        utf8_drop_cut(buffer);
    return buffer;
}

/* How often something was seen. */
static uint64_t times(const struct finding *finding)
{
    return finding->jobs ? finding->jobs : 1;
}

/* The same once more. */
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

/* Returns what was not there before; NULL: nothing. */
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
