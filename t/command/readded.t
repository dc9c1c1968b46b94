#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""With conformance = slurmctld, the usage of a removed association stays with the accounts above it
at that time.

An association that is added again begins with usage 0."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place
from sealed_site import DAY, HOUR, Site

ADD, REMOVE_ACCOUNTS, REMOVE, REMOVE_USERS = 1404, 1435, 1437, 1439
SLURMCTLD = {'fairshare.conformance': 'slurmctld'}

# Each job is charged its billing for each second.
DRAWING = f'''
cluster tiny
root/
  physics/     60
    alice      10
    bob        10
  chemistry/   40
    lab/        5
      carol     1
registered 5=64,1=64
job physics.alice start={NOW - 9000} end={NOW - 8900} billing=3
job physics.alice start={NOW - 5100} end={NOW - 4900} billing=1
job physics.alice start={NOW - 1000} end={NOW - 990} billing=2
job physics.bob start={NOW - 9000} end={NOW - 8990} billing=1
job lab.carol start={NOW - 9000} end={NOW - 8930} billing=1
job lab.carol start={NOW - 1000} end={NOW - 995} billing=1
'''


def log_transaction(place, at, action, name, info='', cluster='tiny'):
    place.change('INSERT INTO txn_table ("timestamp", "action", "name", "actor", "cluster", "info") VALUES (?, ?, ?, ?, ?, ?)',
                 at, action, name, 'root', cluster, info)


def number(place, name):
    account, _, user = name.partition('.')
    return place.change('SELECT id_assoc FROM tiny_assoc_table WHERE acct = ? AND "user" = ?', account, user)[0][0]


def remove_user(place, name, at):
    """Makes the changes of `sacctmgr delete user`."""
    user = name.partition('.')[2]
    log_transaction(place, at, REMOVE_USERS, f"name='{user}'", cluster='')
    log_transaction(place, at, REMOVE_USERS, f"name='{user}'", cluster='')
    place.change('UPDATE tiny_assoc_table SET deleted = 1, shares = 1, mod_time = ? WHERE "user" = ?', at, user)


def add_user(place, name, at):
    account, _, user = name.partition('.')
    log_transaction(place, at, ADD, f'id_assoc={number(place, name)}',
                    f"mod_time={at}, acct='{account}', user='{user}', `partition`='', shares=4")
    place.change('UPDATE tiny_assoc_table SET deleted = 0, shares = 4, mod_time = ? WHERE acct = ? AND "user" = ?',
                 at, account, user)


def add_account(place, account, parent, at):
    log_transaction(place, at, ADD, f'id_assoc={number(place, account)}',
                    f"mod_time={at}, acct='{account}', parent_acct='{parent}', user='', shares=1")
    place.change('UPDATE tiny_assoc_table SET deleted = 0, mod_time = ?, parent_acct = ?, id_parent = ? '
                 'WHERE acct = ? AND "user" = \'\'', at, parent, number(place, parent), account)


def usage_at(place, names, *when):
    place.succeed('run', *when)
    rows = {f'{account}.{user}' if user else account: usage for account, user, usage in
            place.query('SELECT account, user_name, usage_raw FROM fairmill_fairshare')}
    return [rows.get(name) for name in names]


def users(place):
    names = 'physics', 'physics.alice', 'physics.bob'
    place.ready(DRAWING, SLURMCTLD)
    remove_user(place, 'physics.alice', NOW - 5000)
    # A run with the current time would have recorded that the user was not added again.
    tap.same(usage_at(place, names, '--now', NOW - 2500), [510, None, 10], 'the usage of a removed user belongs to the account')
    add_user(place, 'physics.alice', NOW - 2000)
    tap.same(usage_at(place, names), [530, 20 + 100, 10],
             'a re-added user has the usage since the removal')
    tap.same(place.findings(), {}, 'there are no findings about a re-added user')
    for at, rest, statement in ((5001, [409, 399, 10], 'before the removal, the user has all usage'),
                                (4000, [510, None, 10], 'while the user is removed, the account has the usage'),
                                (1500, [510, 100, 10], 'after the user was re-added, usage is as in that run')):
        tap.same(usage_at(place, names, '--now', NOW - at, '--replace'), rest, statement)
    remove_user(place, 'physics.alice', NOW - 998)
    add_user(place, 'physics.alice', NOW - 997)
    tap.same(usage_at(place, names, '--replace'), [530, 16, 10], 'a second removal moves the usage since the first')
    tap.same(usage_at(place, names, '--now', NOW - 1500, '--replace'), [510, 100, 10],
             'a later removal does not count in a run for an earlier time')

    place.succeed('explain', 'physics', 'chemistry', '--jobs', '--csv', '-o', 'id_job,user,used')
    tap.same(place.out.split()[1:], ['1,alice,300', '2,alice,200', '4,bob,10'],
             'explain of the account names the users of the jobs')

    place.settings()
    tap.same(usage_at(place, names, '--replace'), [530, 520, 10], 'with conformance = documents the user keeps all usage')


def accounts(place):
    names = 'chemistry', 'lab', 'lab.carol', 'physics'
    place.ready(DRAWING, SLURMCTLD)
    place.change('UPDATE tiny_assoc_table SET deleted = 1')
    place.change("UPDATE tiny_assoc_table SET deleted = 0 WHERE acct IN ('root', 'physics', 'chemistry')")
    for name, parent in ('chemistry', 'root'), ('lab', 'chemistry'):
        add_account(place, name, parent, NOW - 9500)
    log_transaction(place, NOW - 5000, REMOVE_ACCOUNTS, "name='chemistry'", cluster='')
    add_account(place, 'chemistry', 'root', NOW - 4000)
    add_account(place, 'lab', 'physics', NOW - 3900)
    add_user(place, 'lab.carol', NOW - 3800)
    tap.same(usage_at(place, names), [0, 5, 5, 535],
             'the usage of a removed account stays with its ancestors')
    tap.same(place.value('usage_raw', 'root'), 605, 'the root keeps the usage of removed accounts')
    log_transaction(place, NOW - 3000, REMOVE, f"id_assoc={number(place, 'lab')} || id_assoc={number(place, 'lab.carol')}")
    place.change("UPDATE tiny_assoc_table SET deleted = 1 WHERE acct = 'lab'")
    tap.same(usage_at(place, names), [0, None, None, 535], 'usage of an account added elsewhere stays with its new ancestors')


def unknown(place):
    names = 'physics', 'physics.alice'
    place.ready(DRAWING, SLURMCTLD)
    log_transaction(place, NOW - 5000, REMOVE_USERS, "name='alice'", cluster='other')
    log_transaction(place, NOW - 5000, REMOVE, 'id_assoc=3', cluster='other')
    tap.same(usage_at(place, names), [530, 520], 'removals of another cluster have no effect')
    log_transaction(place, NOW - 5000, REMOVE_USERS, 'user is alice', cluster='')
    tap.same((usage_at(place, names), place.findings()), ([530, 520], {'past_unreadable': 1}),
             'an unreadable row of txn_table is a finding')
    place.change('DROP TABLE txn_table')
    place.query('DELETE FROM fairmill_finding')
    tap.same((usage_at(place, names), place.findings()), ([530, 520], {'past_unreadable': 1}),
             'a missing txn_table is a finding, and the user keeps all usage')


def checkpointed(site):
    why = 'removals of associations in the checkpointed period changed'
    site.begin(SLURMCTLD)
    days = site.days()
    for name, ago, where in ('physics.alice', 3 * DAY, 'before the checkpoint time'), ('physics.bob', -60,
                                                                                         'after the checkpoint time'):
        at = site.now - ago
        remove_user(site, name, at)
        tap.same(site.run_at(300)[0], 'incremental', f'a removal {where} needs no full run')
        site.is_exact(f'values with a removal {where} are exact')
        add_user(site, name, at + 30)
        tap.same(site.run_at(0), ('full', why), f'a user removed {where} and re-added makes the run full')
        site.is_exact(f'values of a user removed {where} and re-added are exact')
        tap.same(site.run_at(300), ('incremental', ''), f'the run after the full run is incremental (removal {where})')
        site.is_exact(f"the next run's values are exact (removal {where})")
        tap.same(site.days(), days, f'the days have the usage of the original users (removal {where})')
    for _ in range(3):
        for name in 'physics.alice', 'physics.bob':
            site.job(name, site.now, site.now + DAY - 1)
        tap.same(site.run_at(DAY)[0], 'incremental', 'runs are incremental while the checkpoint time passes the removals')
        site.is_exact('values are exact while the checkpoint time passes the removals')
    site.ends(0, 'verify finds no differences', 'verify')
    site.run_at(0, '--full')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0, 0), 'a full run finds no drift')
    site.succeed('explain', 'alice', 'bob', '--jobs')
    tap.ok('The largest of 5 job records' in site.out, 'explain counts the jobs since the removal', site.out)
    site.settings(dict(site.keys, **{'fairshare.conformance': 'documents'}))
    tap.same(site.run_at(0), ('full', 'the charges of resized jobs changed'), 'a different conformance makes the run full')


def body():
    with Place() as place:
        users(place)
        accounts(place)
        unknown(place)
    with Site() as site:
        checkpointed(site)


tap.main(body)
