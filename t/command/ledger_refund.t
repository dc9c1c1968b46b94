#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `ledger refund` of several jobs and of a node, and the selection of `ledger list`."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, TINY, Place

T = NOW - 86400
# id, user, start, end, nodes
JOBS = ((101, 'alice', 0, 1000, 'n[1-4,7]'), (102, 'alice', 500, 1500, 'n7'), (103, 'bob', 2000, 2500, 'n[07-09]'),
        (104, 'bob', 900, 1100, 'gpu-[01-02],n7'), (105, 'carol', 1000, 3000, 'n70'), (106, 'carol', 1200, 0, 'n7'),
        (107, 'carol', 100, 400, 'n['), (108, 'carol', 3001, 3100, 'n[5-8]'),
        # It ended, was requeued, and runs again.
        (109, 'carol', 1000, 1900, 'n7'), (109, 'carol', 4000, 0, 'n8'))


def ready(place):
    place.ready(TINY + ''.join(
        f"job {'chemistry' if user == 'carol' else 'physics'}.{user} id_job={number} submit={T + start} start={T + start} "
        f"end={T + end if end else 0} tres=5=10 limit=600\n" for number, user, start, end, _ in JOBS))
    for number, _, start, _, nodes in JOBS:
        place.change('UPDATE tiny_job_table SET nodelist = ? WHERE id_job = ? AND time_start = ?', nodes, number, T + start)
    place.succeed('run', '--now', NOW)


def refunded(place):
    return [(row[0], row[1]) for row in place.query(
        "SELECT id_job, why FROM fairmill_ledger WHERE kind = 'refund' ORDER BY id")]


def usage(place, later=10):
    place.succeed('run', '--now', NOW + later)
    return dict(place.query("SELECT user_name, usage_raw FROM fairmill_fairshare WHERE user_name <> ''"))


def several(place):
    before = usage(place)
    place.succeed('ledger', 'refund', '103,101,103', '--why', 'broken disks', '--dry-run', '--now', NOW + 10)
    tap.ok('tiny: refund 2 jobs' in place.out and "job 101 of 'alice' in 'physics'" in place.out and 'ran 16 min' in place.out,
           '--dry-run describes each job', place.out)
    tap.same(refunded(place), [], '--dry-run makes no entry')
    place.succeed('ledger', 'refund', '103,101,103', '--why', 'broken disks', '--yes', '--at', NOW)
    tap.same(refunded(place), [(101, 'broken disks'), (103, 'broken disks')], 'refund makes one entry for each job')
    tap.ok('entries 1 to 2, tiny: refund 2 jobs' in place.out, 'refund prints the numbers of the entries', place.out)
    after = usage(place)
    tap.same((after['alice'], after['bob']), (before['alice'] - 10000, before['bob'] - 5000),
             'refunds subtract the charges of the jobs')
    place.ends(0, 'list finds no damage after refunds', 'ledger', 'list')
    for jobs, said in (('102,101', 'job 101 is already refunded'), ('102,999', 'job 999 has not run'), ('102,x', "'x': must be"),
                       (',', 'must be a job number'), ('0', 'must be a job number')):
        place.ends(64, f'refund {jobs} is rejected', 'ledger', 'refund', jobs, '--why', 'w', '--yes')
        place.says(f'the error for refund {jobs} names the job', said)
    tap.same(len(refunded(place)), 2, 'the rejected commands made no entry')


def by_node(place):
    ready(place)
    span = ('--since', T + 1000, '--until', T + 2000)
    place.succeed('ledger', 'refund', '--node', 'n7', *span, '--why', 'n7 died', '--dry-run', '--now', NOW + 10)
    tap.ok('refund 3 jobs' in place.out and all(f'job {number} of' in place.out for number in (101, 102, 104)),
           '--node selects finished jobs that ran on the node in the period', place.out)
    before = usage(place)
    place.succeed('ledger', 'refund', '--node', 'n7', *span, '--why', 'n7 died', '--yes', '--at', NOW)
    tap.same([job for job, _ in refunded(place)], [101, 102, 104], '--node makes an entry for each job')
    after = usage(place)
    tap.same(after['alice'], before['alice'] - 20000, '--node refunds also usage outside the node and the period')
    place.ends(64, 'a second refund of the jobs is rejected', 'ledger', 'refund', '--node', 'n7', *span, '--why', 'w', '--yes')
    place.says('the error says that all jobs are already refunded',
               "all 3 jobs that ran on node 'n7' in that period are already refunded")
    place.succeed('ledger', 'refund', '--node', 'n7', '--from', T, '--to', T + 9999, '--why', 'more', '--yes')
    tap.same([job for job, _ in refunded(place)], [101, 102, 104, 108],
             'a longer period adds only the jobs that were not refunded')
    place.succeed('ledger', 'refund', '--node', 'n07', '--from', T, '--why', 'zeros count', '--yes')
    tap.same([job for job, _ in refunded(place)][-1], 103, 'n07 is not n7, and --to defaults to now')
    for arguments, said in ((('--node', 'n9', *span), "no finished job ran on node 'n9'"),
                            (('--node', "n7'; DROP TABLE x", *span), 'no finished job'),
                            (('--node', 'n7'), '--node requires --since'),
                            (('--node', 'n7', '--since', T + 9, '--until', T), '--since is after --until'),
                            (('5', '--node', 'n7', *span), 'requires either job numbers or --node'),
                            ((), 'requires either job numbers or --node'),
                            (('102', '--since', T), 'only for list and for refund --node'),
                            (('102', '--jobs', '5'), 'does not accept --jobs, which is for list')):
        place.ends(64, f"refund {' '.join(map(str, arguments))} is rejected",
                   'ledger', 'refund', *arguments, '--why', 'w', '--yes')
        place.says(f"the error for refund {' '.join(map(str, arguments))} has the reason", said)
    place.drop_column('a.db', 'tiny_job_table', 'nodelist')
    place.ends(78, 'without a GRANT for the nodes, refund --node exits with 78',
               'ledger', 'refund', '--node', 'n7', *span, '--why', 'w',
               '--yes')
    place.says('the error of refund --node names the missing column', 'nodelist')


def many(place):
    place.site(TINY + ''.join(f'job physics.alice id_job={number} submit={T} start={T} end={T + 100} tres=5=1\n'
                              for number in range(1000, 1500)))
    place.succeed('run', '--now', NOW + 20)
    place.succeed('ledger', 'refund', ','.join(map(str, range(1000, 1500))), '--why', 'all', '--yes', '--at', NOW)
    place.ends(0, 'list finds no damage after 500 refunds', 'ledger', 'list', '--csv')
    tap.same(usage(place, 30)['alice'], 0, 'the charges of all 500 jobs are subtracted')


def listed(place):
    def ids(*arguments):
        place.succeed('ledger', 'list', '--json', *arguments)
        return [entry['id'] for entry in json.loads(place.out)['ledger']]
    ready(place)
    place.query('DELETE FROM fairmill_ledger')
    for table in ('ledger_chain', 'ledger_counted', 'ledger_reset'):
        place.query(f'DELETE FROM fairmill_{table}')
    place.succeed('ledger', 'refund', '101', '--why', 'a', '--at', T + 5000, '--yes')
    place.succeed('ledger', 'credit', '5', '-u', 'bob', '--why', 'b', '--at', T + 6000, '--yes')
    place.succeed('ledger', 'refund', '103', '--why', 'c', '--at', T + 7000, '--yes')
    place.succeed('ledger', 'undo', '1', '--why', 'd', '--yes')
    for arguments, wanted in (((), [1, 2, 3, 4]), (('--jobs', '103'), [3]), (('--jobs', '101,103'), [1, 3]), (('--kinds', 'undo,credit'), [2, 4]),
                              (('--since', T + 6000), [2, 3]), (('--until', T + 6000), [1, 2, 4]),
                              (('--since', T + 6000, '--until', T + 6000), [2]), (('-u', 'bob'), [2]), (('--jobs', '7'), [])):
        tap.same(ids(*arguments), wanted, f"list {' '.join(map(str, arguments))} selects the correct entries")
    place.ends(64, 'an unknown kind is rejected', 'ledger', 'list', '--kinds', 'refunds')
    place.says('the error names the unknown kind', "there is no kind of entries 'refunds'")
    place.ends(64, 'list rejects --node', 'ledger', 'list', '--node', 'n7')
    place.ends(64, 'a period that ends before it begins is rejected', 'ledger', 'list', '--since', 9, '--until', 8)


def body():
    with Place() as place:
        ready(place)
        several(place)
        by_node(place)
    with Place() as place:
        place.ready(TINY)
        many(place)
        listed(place)


tap.main(body)
