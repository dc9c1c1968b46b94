#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests live clusters of Slurm 22.05.8, with random activity, and the usage that their controllers
charged. alpha has no decay and a daily reset; beta has a half-life of eight minutes."""

import os
import re
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from live4 import CAPTURES, Capture

# Tolerated relative difference in usage: beta's controller decays in steps of its period.
NEAR = dict(alpha=.001, beta=.08)

# Numbers of usages, fairshare values of users, and ages that differ from the controller's.
LEFT = dict(alpha_run2=(7, 16, 8), alpha_susp=(7, 16, 0), beta_run2=(8, 0, 0))


# Number of jobs of `lic`, running for at least a second, whose billing disagrees with the other
# rule for weights.
OTHER_RULE = dict(alpha_run2=[3], alpha_susp=[4], beta_run2=[1])


def near(capture, one, other):
    return abs(one - other) <= NEAR[capture.cluster] * max(one, other) + .005


def usages(capture, ours):
    theirs = capture.usages()
    tap.same(set(ours), set(theirs), f"{capture.name}: the associations are the controller's")
    off = [number for number in theirs if not near(capture, ours[number]['usage_raw'], theirs[number])]
    print(f"# {capture.name}: {len(theirs) - len(off)} of {len(theirs)} usages are the controller's")
    for number in off:
        row = ours[number]
        print(f"#   {number} {row['account']}/{row['user_name']}: {row['usage_raw']:.2f}, not {theirs[number]:.2f}")
    return off


def factors(capture, ours):
    printed, users, off = capture.sshare(), 0, []
    for row in ours.values():
        if row['user_name']:
            theirs = printed[row['account'], row['user_name'], row['partition_name']]['FairShare']
            users += 1
            if f"{row['fairshare']:.6f}" != theirs:
                off.append((row['account'], row['user_name'], row['fairshare'], theirs))
    print(f"# {capture.name}: {users - len(off)} of {users} fairshares of users are the controller's")
    return off


def ages(capture):
    db = sqlite3.connect(capture.results)
    ours = {(str(job), partition): (age, priority) for job, partition, age, priority in db.execute(
        'SELECT id_job, partition_name, age_weighted, priority FROM fairmill_job_priority')}
    db.close()
    recorded = capture.recorded()
    rows = capture.sprio()
    missing = [row for row in rows if (row['job'], row['partition']) not in ours]
    # slurmctld reports a job to slurmdbd some seconds later.
    late = [row for row in missing if int(row['job']) not in recorded]
    tap.same(missing, late, f'{capture.name}: each recorded job that sprio printed is published')
    off = [row for row in rows if row not in missing and
           abs(ours[row['job'], row['partition']][0] - int(row['age'])) > 1.5]
    print(f"# {capture.name}: {len(rows) - len(off)} of {len(rows)} ages are the controller's")
    period, longest, weight = (int(re.search(f'^Priority{word}=(\\d+)$', capture.text('slurm.conf'), re.MULTILINE)[1])
                               for word in ('CalcPeriod', 'MaxAge', 'WeightAge'))
    far = [row for row in off
           if abs(ours[row['job'], row['partition']][0] - int(row['age'])) > weight * period / longest]
    tap.same(far, [], f'{capture.name}: all ages are within one PriorityCalcPeriod')
    return off


def weights(capture, folder):
    """With the weights of slurm.conf, the billing of each job agrees.  With the other rule, some
    jobs appear to have other weights."""
    flags = 'MAX_TRES' if capture.cluster == 'alpha' else 'CALCULATE_RUNNING'
    found = []
    for keys in {}, {'flags': flags}:
        name = f'{folder}/{len(keys)}'
        os.mkdir(name)
        capture.publish(name, priority=keys)
        db = sqlite3.connect(capture.results)
        found.append([detail for detail, in db.execute("SELECT detail FROM fairmill_finding WHERE kind = 'other_weights' ORDER BY 1")])
        db.close()
    tap.same(found[0], [], f'{capture.name}: the weights of slurm.conf give the billing of each job')
    tap.same([int(re.match('([0-9]+) jobs? ', detail)[1]) for detail in found[1]], OTHER_RULE[capture.name],
             f'{capture.name}: with another flag, deviating jobs are found')


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        for name in CAPTURES:
            capture = Capture(name)
            ours = capture.publish(folder)
            left = [len(off) for off in (usages(capture, ours), factors(capture, ours), ages(capture))]
            for count, most, what in zip(left, LEFT[name], ('usages', 'fairshares', 'ages')):
                tap.ok(count <= most, f"{name}: {count} {what} differ from the controller's", f'{most} were not')
            with tempfile.TemporaryDirectory(prefix='fm') as another:
                weights(Capture(name), another)


tap.main(body)
