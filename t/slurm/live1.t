#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests a cluster that ran 189 jobs for twelve minutes, with the output of its controller's sshare.

The controller works in steps.  Every minute it decays old usage by 1 - 0.693/half-life a second,
and charges the time that jobs ran since the last step as if all of it were one period old.  It
charges a billing that is not rounded; the database contains the integer part.  A run of fairmill
does not have the steps, and it knows the fractions only from slurm.conf.  The function stepped()
has steps and fractions, and must explain every difference."""

import os
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import stepping
import tap
from compare import differences, from_sqlite
from program import publish, published, sqlite_settings, write_settings
from reference import tres_count

CAPTURED = 1795229969
LATER = 1795230600  # second dump, after the remaining jobs were cancelled

SLURM_CONF = os.path.join(dump.DATA, 'slurm_conf', 'live1.conf')

# From its slurm.conf.  The partition `bill` bills CPU=2.0,Mem=0.5G,Node=1; other partitions bill
# CPUs.
HALF_LIFE, PERIOD = 600, 60

# The clock of the controller and the time that slurmdbd received may differ by a second of one CPU.
ONE_SECOND = 1.0


def rows_of(text, table):
    columns = dump.tables(text)[table][1]
    return [dict(zip(columns, row)) for row in dump.rows(text, table)]


def jobs_of(text):
    """Returns the jobs that have run."""
    return [job for job in rows_of(text, 'live_job_table') if job['time_start'] and job['tres_alloc']]


def billing(job):
    """Returns the billing as the controller computes it, before truncation."""
    cpus, megabytes, nodes = (tres_count(job['tres_alloc'], number) for number in (1, 2, 4))
    if job['partition'] == 'bill':
        return 2.0 * cpus + 0.5 * megabytes / 1024 + nodes
    return float(cpus)


def stepped(jobs, factors, newest_step):
    """Returns the controller's usage at CAPTURED by association, if this was its newest step."""
    return stepping.stepped(jobs, lambda job: billing(job) * factors[job['id_qos']],
                            HALF_LIFE, PERIOD, newest_step, CAPTURED)


def parents_of(text):
    rows = rows_of(text, 'live_assoc_table')
    accounts = {row['acct']: row['id_assoc'] for row in rows if not row['user']}
    return {row['id_assoc']: accounts.get(row['acct'] if row['user'] else row['parent_acct'], 0)
            for row in rows}


def explain(printed, text, ours):
    jobs = jobs_of(text)
    factors = {row['id']: row['usage_factor'] for row in rows_of(text, 'qos_table')}
    parents = parents_of(text)
    phases = {step: stepping.with_accounts(stepped(jobs, factors, step), parents)
              for step in range(CAPTURED - PERIOD + 1, CAPTURED + 1)}

    outside = []
    for number in printed.line:
        low, high = printed.between(number)
        values = [usage[number] for usage in phases.values()]
        if high < min(values) or low > max(values):
            outside.append(f'{number}: {low} to {high}, steps give {min(values)} to {max(values)}')
    tap.ok(len(jobs) > 80 and not outside,
           'at any second of the minute, steps give the usage that sshare printed', *outside)

    # The database does not record the time of the step, but only one second of the minute fits.
    missed = {step: max(printed.miss(i, usage[i]) for i in printed.line)
              for step, usage in phases.items()}
    fitting = [step for step in phases if missed[step] < ONE_SECOND]
    tap.same(fitting, [CAPTURED - 1],
             'with steps at one second all usage is explained to one CPU second')
    exact = [i for i in printed.line if printed.miss(i, phases[CAPTURED - 1][i]) < .001]
    tap.ok(len(exact) >= 8, 'most of the usage is explained to a thousandth of a second',
           *(f'{i}: {printed.between(i)}, {usage}' for i, usage in phases[CAPTURED - 1].items()))

    beyond, furthest = [], 0.0
    for number, line in printed.line.items():
        off = printed.miss(number, ours[number]['usage_raw'])
        explained = abs(ours[number]['usage_raw'] - phases[CAPTURED - 1][number])
        furthest = max(furthest, off)
        if off > explained + ONE_SECOND:
            beyond.append(f"{line['Account']} {line['User']}: off by {off}, explained {explained}")
    tap.ok(furthest > 20 and not beyond,
           'the difference from sshare is explained by steps and fractions', *beyond)


def steps_alone(printed, usage):
    """A step treats usage charged in it as older than it is, and adds the same age again to jobs
    that end in it.  The time of the run is one second after the last step."""
    wrong = []
    for number, line in printed.line.items():
        low, high = printed.between(number)
        if not low <= usage[number] * 2 ** (1 / HALF_LIFE) <= high * 2 ** (2 * PERIOD / HALF_LIFE):
            wrong.append(f"{line['Account']} {line['User']}: {usage[number]}, sshare {low} to {high}")
    tap.ok(len(usage) == 14 and not wrong,
           "without truncation sshare has at most two steps' decay less usage",
           *wrong)


def ranked_otherwise(printed, ours):
    """Returns the users whose rank is not the printed one."""
    return {f"{line['Account'].strip()}/{line['User']}" for i, line in printed.line.items()
            if line['User'] and ours[i]['fairshare'] != float(line['FairShare'])}


class Live:
    """The accounting database in SQLite, and the results."""

    def __init__(self, folder):
        self.folder, self.source = folder, f'{folder}/a.db'

    def load(self, text):
        if os.path.exists(self.source):
            os.unlink(self.source)
        return dump.to_sqlite(text, self.source, ['live'])

    def run(self, name, now, **usage):
        """Returns the results and the kind of the run."""
        results = f'{self.folder}/{name}.db'
        write_settings(f'{self.folder}/f.conf', sqlite_settings(
            self.source, results, dict(half_life=HALF_LIFE // 60, checkpoint_after=1, **usage),
            dict(conformance='slurmctld')) | dict(slurm=dict(conf=SLURM_CONF)))
        publish(f'{self.folder}/f.conf', now)
        db = sqlite3.connect(results)
        kind, = db.execute('SELECT kind FROM fairmill_run ORDER BY run_id DESC').fetchone()
        db.close()
        return results, kind


def by_job(text):
    return {job['job_db_inx']: job for job in rows_of(text, 'live_job_table')}


def between_the_dumps(live, first, second):
    """Compares the database with its state ten minutes later.  The changes between them were made
    by slurmdbd."""
    before, after = by_job(first), by_job(second)
    changed = {key for key in before if before[key] != after[key]}
    tap.ok(len(before) == 189 and len(after) == 195 and len(changed) == 82 and
           not any(before[key]['time_end'] for key in changed),
           'the dumps differ in 82 jobs that had not ended and 6 new jobs',
           len(before), len(after), len(changed))
    live.load(first)
    live.run('kept', CAPTURED)
    live.load(second)
    kept, kind = live.run('kept', LATER)
    fresh, _ = live.run('fresh', LATER)
    wrong, compared = differences(from_sqlite(kept), from_sqlite(fresh))
    tap.ok(compared > 300 and not wrong,
           'a run with stored state gives the bits of a run from scratch', *wrong[:10])
    tap.same(kind, 'incremental', 'the run with stored state is incremental')


def body():
    first, second = (dump.read('live1', f'{name}.sql.xz')
                     for name in ('accounting', 'accounting_after_rollup'))
    printed = stepping.Printed(os.path.join(dump.DATA, 'live1', 'sshare.psv'))
    tap.ok(len(printed.line) == 14 and 0 < printed.highest - printed.lowest < 1,
           "the printed values of all others determine the root's usage",
           f'{printed.lowest} to {printed.highest}')
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        live = Live(folder)
        tap.ok(live.load(first) > 200, 'the dump is copied to SQLite')
        ours = published(live.run('cut', CAPTURED, charge='billing')[0], 'live')
        explain(printed, first, ours)
        tap.same(ranked_otherwise(printed, ours), {'bio/erin', 'bio/root'},
                 'two users change ranks if the billing is truncated')

        results, _ = live.run('whole', CAPTURED)
        ours = published(results, 'live')
        steps_alone(printed, {i: row['usage_raw'] for i, row in ours.items()})
        db = sqlite3.connect(results)
        odd = db.execute("SELECT * FROM fairmill_finding WHERE kind = 'other_weights'").fetchall()
        db.close()
        billed = [job for job in jobs_of(first) if job['partition'] == 'bill']
        tap.ok(len(billed) > 20 and not odd, "the weights of slurm.conf give each job's billing", len(billed), *odd)
        tap.same(ranked_otherwise(printed, ours), set(),
                 "without truncation every user's rank agrees with sshare")

        between_the_dumps(live, first, second)


tap.main(body)
