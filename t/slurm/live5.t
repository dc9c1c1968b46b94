#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests live clusters of Slurm 24.11.5 and 26.05.5, and the usage that their controllers charged.
Each user did one thing that an accounting database may not record.  Cluster gamma: half-life 20
minutes.  Cluster delta: a week, and a reconfiguration.  Cluster iota: a day, with a daily reset
between two decay cycles.  Cluster theta: a week, depth-oblivious.  Cluster zeta: a week, no
limits."""

import os
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from live4 import CAPTURES_5, Capture

# Tolerated relative difference in usage: gamma's controller decays in steps of a twentieth of its
# half-life.
NEAR = dict(gamma_run1=.04)

FORGOTTEN = 'sacctmgr set rawusage=0, which no database records'
RESET_PASS = 'slurmctld resets in a decay cycle, and charges the time since the last one in it'
FACTOR_PASS = 'a changed usage factor applies to all usage charged in the next decay cycle'

# Users whose usage differs from the controller's, and the reasons.
OTHER_USAGE = {
    'gamma_run1': {'rst/u38': FORGOTTEN, 'rst2/u39': FORGOTTEN},
    'delta_run2': {'rst/u38': FORGOTTEN, 'rst2/u39': FORGOTTEN, 'qos/u06': FORGOTTEN, 'qos/u05': FACTOR_PASS, 'qos/u08': FACTOR_PASS, 'prio/u66': FACTOR_PASS,
                   'hetb/u25': 'the end of a job within a period after a reconfiguration'},
    'iota_run2': {user: RESET_PASS for user in (
        'plain/u02', 'qos/u06', 'qos/u07', 'req/u15', 'req/u16', 'chg/u33', 'mv/u37', 'rst/u38', 'parsub/u63', 'prio/u65', 'prio/u66')},
    'theta_run1': {'time/u29': 'a second between the end of a job and its record'},
}
# Under Fair Tree, users have the controller's FairShare, unless such usage changes the ranks within
# an account or of accounts.
OTHER_FAIRSHARE = {'gamma_run1': [], 'delta_run2': ['qos/u05', 'qos/u06', 'qos/u08', 'qos/u09', 'qos/u10', 'qos/u59'],
                   'iota_run2': ['chg/u33', 'mv/u37', 'prio/u48', 'prio/u65']}


def near(capture, one, other):
    return abs(one - other) <= NEAR.get(capture.name, .001) * max(one, other) + .01


def users_of(ours):
    return {number: f"{row['account']}/{row['user_name']}{'/' * bool(row['partition_name'])}{row['partition_name']}"
            for number, row in ours.items() if row['user_name']}


def others_of(capture, ours):
    theirs = capture.usages()
    return {user for number, user in users_of(ours).items() if not near(capture, ours[number]['usage_raw'], theirs[number])}


def usages(capture, ours):
    others, known = others_of(capture, ours), OTHER_USAGE[capture.name]
    tap.same(others, set(known),
             f"{capture.name}: {len(users_of(ours)) - len(others)} of {len(users_of(ours))} users have the "
             "controller's usage, the others differ for known reasons")


def fairshares(capture, ours):
    printed, wrong = capture.sshare(), []
    for number, user in users_of(ours).items():
        row = ours[number]
        if f"{row['fairshare']:.6f}" != printed[row['account'], row['user_name'], row['partition_name']]['FairShare']:
            wrong.append(user)
    tap.same(sorted(wrong), OTHER_FAIRSHARE[capture.name],
             f"{capture.name}: {len(users_of(ours)) - len(wrong)} of {len(users_of(ours))} users have the controller's "
             "FairShare")


def free_ends(capture, ours):
    """zeta enforces no limits, so the time that a job runs between the last decay cycle and its end
    is never charged."""
    db = sqlite3.connect(capture.source)
    ended = {}
    for number, count in db.execute("SELECT id_assoc, count(*) FROM zeta_job_table WHERE time_start > 0 AND time_end > 0 GROUP BY id_assoc"):
        ended[number] = count
    db.close()
    names, theirs, others = users_of(ours), capture.usages(), others_of(capture, ours)
    # These users differ for the same reasons as in the other captures.
    told = {'susp/u21', 'rst/u38', 'rst2/u39', 'qos/u08'}
    without = {user for number, user in names.items() if number not in ended} - told
    tap.same((len(others - told) > 25, len(without) > 25, others & without), (True, True, set()),
             f"zeta: {len(without)} users whose jobs have not ended have the controller's usage")
    more = {user for number, user in names.items() if theirs[number] > ours[number]['usage_raw'] * 1.001 + .01}
    tap.same(more - told, set(), 'zeta: the controller charged no user more, as ends are free')


def priorities(capture):
    """Tests the rows of each QOS, including jobs that request several QOS, one with priority
    0."""
    db = sqlite3.connect(capture.results)
    ours = {(str(job), partition, qos): round(weighted) for job, partition, qos, weighted in db.execute(
        'SELECT id_job, partition_name, qos, qos_weighted FROM fairmill_job_priority')}
    best = {str(job): (partition, qos) for job, partition, qos in db.execute(
        'SELECT id_job, partition_name, qos FROM fairmill_job_priority WHERE best = 1')}
    zero = {str(job) for job, in db.execute('SELECT id_job FROM fairmill_job_priority WHERE priority = 0')}
    db.close()
    # sprio prints no factors for a priority set by hand.
    rows, highest = [row for row in capture.sprio() if int(row['age']) or int(row['fairshare']) or int(row['job_size'])], {}
    wrong = [row for row in rows if ours.get((row['job'], row['partition'], row['qos_name'])) not in (None, int(row['qos']))]
    tap.same(wrong, [], f'{capture.name}: each row of sprio has the published QOS factor')
    for row in rows:
        if row['job'] not in highest or int(row['priority']) > int(highest[row['job']]['priority']):
            highest[row['job']] = row
    wrong = [(job, best[job]) for job, row in highest.items() if job in best and best[job] != (row['partition'], row['qos_name'])]
    tap.same(wrong, [], f'{capture.name}: the best row of each job has the highest priority')
    tap.same(zero & set(highest), set(), f'{capture.name}: no job that sprio lists is held')


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        for name in CAPTURES_5:
            capture = Capture(name)
            ours = capture.publish(folder, **(dict(usage=dict(time_zone='America/Phoenix')) if capture.cluster == 'iota' else {}))
            if capture.cluster == 'zeta':
                free_ends(capture, ours)
            else:
                usages(capture, ours)
            if name in OTHER_FAIRSHARE:
                fairshares(capture, ours)
            priorities(capture)


tap.main(body)
