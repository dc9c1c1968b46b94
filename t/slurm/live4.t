#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Live clusters of Slurm 22.05.8, run by random happenings, and what their controllers had charged: alpha
decays nothing and is reset daily, beta has a half-life of eight minutes."""

import os
import re
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from live4 import CAPTURES, Capture

# How far usage may be off: beta's controller decays in steps of its period.
NEAR = dict(alpha=.001, beta=.08)

# How many usages, fairshares of users, and ages are not the controller's.
LEFT = dict(alpha_run2=(7, 16, 8), alpha_susp=(7, 16, 0), beta_run2=(8, 0, 0))


# How many jobs of `lic` that ran for a second at least have a billing that the other rule for weights does not make.
OTHER_RULE = dict(alpha_run2=[3], alpha_susp=[4], beta_run2=[1])


def near(capture, one, other):
    return abs(one - other) <= NEAR[capture.cluster] * max(one, other) + .005


def usages(capture, ours):
    theirs = capture.usages()
    tap.same(set(ours), set(theirs), f"{capture.name}: the controller's associations are ours")
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
    # slurmctld tells slurmdbd of a job some seconds later.
    late = [row for row in missing if int(row['job']) not in recorded]
    tap.same(missing, late, f'{capture.name}: each job that sprio printed and the record has is there')
    off = [row for row in rows if row not in missing and
           abs(ours[row['job'], row['partition']][0] - int(row['age'])) > 1.5]
    print(f"# {capture.name}: {len(rows) - len(off)} of {len(rows)} ages are the controller's")
    period, longest, weight = (int(re.search(f'^Priority{word}=(\\d+)$', capture.text('slurm.conf'), re.MULTILINE)[1])
                               for word in ('CalcPeriod', 'MaxAge', 'WeightAge'))
    far = [row for row in off
           if abs(ours[row['job'], row['partition']][0] - int(row['age'])) > weight * period / longest]
    tap.same(far, [], f'{capture.name}: all ages are within one period of PriorityCalcPeriod')
    return off


def weights(capture, folder):
    """Those of the slurm.conf make the billing of each job; by the other rule some seem to have had others."""
    flags = 'MAX_TRES' if capture.cluster == 'alpha' else 'CALCULATE_RUNNING'
    found = []
    for keys in {}, {'flags': flags}:
        name = f'{folder}/{len(keys)}'
        os.mkdir(name)
        capture.publish(name, priority=keys)
        db = sqlite3.connect(capture.results)
        found.append([detail for detail, in db.execute("SELECT detail FROM fairmill_finding WHERE kind = 'other_weights' ORDER BY 1")])
        db.close()
    tap.same(found[0], [], f'{capture.name}: the weights of its slurm.conf make the billing of each job')
    tap.same([int(re.match('jobs: ([0-9]+),', detail)[1]) for detail in found[1]], OTHER_RULE[capture.name],
             f'{capture.name}: with another flag those that they do not make are found')


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        for name in CAPTURES:
            capture = Capture(name)
            ours = capture.publish(folder)
            left = [len(off) for off in (usages(capture, ours), factors(capture, ours), ages(capture))]
            for count, most, what in zip(left, LEFT[name], ('usages', 'fairshares', 'ages')):
                tap.ok(count <= most, f"{name}: {count} {what} are not the controller's", f'{most} were not')
            with tempfile.TemporaryDirectory(prefix='fm') as another:
                weights(Capture(name), another)


tap.main(body)
