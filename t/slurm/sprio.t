#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the queue of a live cluster, with the output of its controller's sprio for every job.

The same accounting database and slurm.conf must give every factor to its last digit, and each
priority except for facts that no accounting database records.  The same queue under other settings
must agree bit for bit with a second implementation, written from the facts about Slurm's
formulas."""

import csv
import itertools
import os
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import tap
from program import fairmill, publish, sqlite_settings, write_settings
from waiting import Queue, differences

DATA = os.path.join(dump.DATA, 'live1')
# sprio shows the ages of the controller's last decay cycle, a second before the capture
PASS = 1795229968

# Some jobs were submitted with --nice, which no accounting database records.
NICE = {144: 100, 163: 100, 166: 100}
# sprio omits jobs that are held or depend on others; squeue prints them.
HELD = {22, 56, 105, 115, 160, 170}
DEPENDENT = {171, 179, 181, 183}
# The billing in the database is truncated to an integer.  That swaps the ranks of erin@bill and
# root@bio (t/slurm/live1.t), and changes the fairshare of these jobs.  None of them is in sprio's
# list.
OTHER_RANK = {56, 171}

PSV = '%i|%u|%Y|%A|%B|%F|%J|%P|%Q|%S|%T|%N'
NORMALISED = '%i|%u|%y|%a|%b|%f|%j|%p|%q|%t'


def lines_of(name):
    with open(os.path.join(DATA, name), encoding='utf-8') as file:
        return file.read().splitlines()


def prio(conf, *arguments):
    status, out, err = fairmill(conf, 'prio', *arguments)
    if status:
        raise RuntimeError(out + err)
    return out.splitlines()


def squeue():
    """Returns {job: priority}."""
    with open(os.path.join(DATA, 'squeue.txt'), encoding='utf-8', newline='') as file:
        header, *rows = csv.reader(file, delimiter='|')
    return {int(row[header.index('JOBID', 1)]): int(row[header.index('PRIORITY')]) for row in rows
            if row[header.index('STATE')] == 'PENDING'}


def job_of(line, sign):
    return int(line.split(sign)[0])


def without(fields, column):
    """Returns the fields of a niced job's line without its priority and NICE."""
    return [field for place, field in enumerate(fields) if place not in column]


def as_printed(conf):
    """Compares the output of sprio line by line."""
    for name, sign, arguments, differ in (
            ('sprio.psv', '|', ('-o', PSV), (2, 11)),
            ('sprio_normalised.psv', '|', ('-o', NORMALISED), (2,)),
            ('sprio_long.txt', None, ('-l',), (3, 11))):
        header, *wanted = lines_of(name)
        mine, *got = prio(conf, *arguments)
        if sign is None:
            tap.same(mine, header, f'the headings are those of {name}')
        listed = {job_of(line, sign) for line in wanted}
        tap.same({job_of(line, sign) for line in got} - listed, HELD | DEPENDENT,
                 f'{name}: the only additional jobs are held or depend on others')
        got = [line for line in got if job_of(line, sign) in listed]
        plain = [(one, other) for one, other in itertools.zip_longest(got, wanted, fillvalue='')
                 if job_of(one or other, sign) not in NICE]
        tap.ok(len(plain) == len(wanted) - len(NICE) and all(one == other for one, other in plain),
               f'{name}: {len(plain)} lines agree with sprio',
               *[f'{one} / {other}' for one, other in plain if one != other][:5])
        niced = [(one.split(sign), other.split(sign)) for one, other in zip(got, wanted)
                 if job_of(other, sign) in NICE]
        tap.ok(len(niced) == len(NICE) and all(
            without(one, differ) == without(other, differ) for one, other in niced),
            f'{name}: lines of niced jobs agree except for NICE and PRIORITY', *niced)
    tap.same(prio(conf, '-w'), lines_of('sprio_weights.txt'), 'prio prints weights like sprio')


def in_tables(db):
    """Compares the numbers in the tables with squeue, which lists all pending jobs."""
    wanted = squeue()
    best = {job: priority for job, priority, in db.execute(
        'SELECT id_job, priority FROM fairmill_job_priority WHERE best = 1')}
    tap.same(set(best), set(wanted), 'every pending job is published')
    one_partition = {job for (job,) in db.execute(
        'SELECT id_job FROM fairmill_job_priority GROUP BY id_job HAVING count(*) = 1')}
    compared = [job for job in one_partition if job not in OTHER_RANK - HELD]
    wrong = [(job, best[job], wanted[job]) for job in compared
             if best[job] - NICE.get(job, 0) != wanted[job]]
    tap.ok(len(compared) >= 70 and not wrong,
           f'{len(compared)} jobs have the priority of squeue, without the nice value', *wrong)
    tap.ok(all(best[job] == 0 for job in HELD), 'held jobs have priority 0')
    rows = db.execute('SELECT id_job, sum(best), count(DISTINCT partition_name), count(*), max(priority), '
                      'max(priority * best) FROM fairmill_job_priority GROUP BY id_job').fetchall()
    tap.ok(all(row[1] == 1 and row[2] == row[3] and row[4] == row[5] for row in rows),
           'the best row of each job has its highest priority')
    tap.same(sum(row[3] > 1 for row in rows), 4, 'four jobs may start in two partitions')


# The values of slurm.conf again, for the second implementation.
SITE = dict(
    weights=dict(age=1000, assoc=500, fairshare=100000, job_size=2000, partition=3000, qos=4000),
    tres_weights=dict(cpu=100.0, mem=50.0), max_age=3600,
    factors=dict(debug=10, short=50, bill=100, maxed=1),
    max_time=dict(debug=60, short=30, bill=60, maxed=60))


def other_settings(conf, place, conformance, small, flags):
    write_settings(conf, dict(place, fairshare=dict(conformance=conformance),
                              priority=dict(favor_small=small, flags=','.join(flags))))
    publish(conf, PASS)
    queue = Queue(place['source']['database'], 'live', PASS, conformance, flags=flags,
                  favor_small=small == 'yes', **SITE)
    wrong, compared = differences(place['results']['database'], queue, 'live')
    tap.ok(compared == 82 * 18 and not wrong,
           f"{conformance}, favor_small = {small}, {' and '.join(flags) or 'no flags'}: "
           f'{compared} values agree bit for bit with the second implementation', *wrong[:5])


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        dump.to_sqlite(dump.read('live1', 'accounting.sql.xz'), f'{folder}/a.db', ('live',))
        conf = f'{folder}/f.conf'
        place = dict(sqlite_settings(f'{folder}/a.db', f'{folder}/r.db'),
                     slurm=dict(conf=os.path.join(dump.DATA, 'slurm_conf', 'live1.conf')))
        write_settings(conf, dict(place, fairshare=dict(conformance='slurmctld')))
        publish(conf, PASS)
        as_printed(conf)
        with sqlite3.connect(f'{folder}/r.db') as db:
            in_tables(db)
        db.close()
        for conformance, small, flags in (
                ('documents', 'no', ()), ('documents', 'yes', ('ACCRUE_ALWAYS',)),
                ('documents', 'yes', ('SMALL_RELATIVE_TO_TIME', 'NO_NORMAL_PART')),
                ('slurmctld', 'yes', ()), ('slurmctld', 'no', ('NO_NORMAL_ALL',)),
                ('slurmctld', 'no', ('SMALL_RELATIVE_TO_TIME',)),
                ('slurmctld', 'yes', ('SMALL_RELATIVE_TO_TIME', 'ACCRUE_ALWAYS')),
                ('slurmctld', 'no', ('NO_NORMAL_ASSOC', 'NO_NORMAL_QOS')),
                ('slurmctld', 'no', ('NO_NORMAL_TRES', 'MAX_TRES'))):
            other_settings(conf, place, conformance, small, flags)


tap.main(body)
