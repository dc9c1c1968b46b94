#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests runs for past times: the states that runs record, and the restored associations."""

import os
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

HOUR = 3600
KEEP = 'cluster, id_assoc, parent_id, depth, account, user_name, shares, shares_norm, usage_raw, level_fs, fair_tree_rank, fairshare, computed_at'


def published(place):
    return place.query(f'SELECT {KEEP} FROM fairmill_fairshare ORDER BY cluster, id_assoc')


def changes(place, columns='id_assoc, as_of, deleted, parent_account, account, user_name, shares'):
    return place.query(f'SELECT {columns} FROM fairmill_share_change ORDER BY as_of, id_assoc')


def findings(place):
    found = place.query("SELECT kind, subject, detail FROM fairmill_finding WHERE kind LIKE 'past%' ORDER BY kind, subject")
    place.query('DELETE FROM fairmill_finding')
    return found


def last(place, column):
    return place.query(f'SELECT {column} FROM fairmill_run ORDER BY run_id DESC LIMIT 1')[0][0]


def set_shares(place, user, shares, at):
    place.change('UPDATE tiny_assoc_table SET shares = ?, mod_time = ? WHERE "user" = ?', shares, at, user)


def set_deleted(place, user, deleted, at):
    place.change('UPDATE tiny_assoc_table SET deleted = ?, mod_time = ? WHERE "user" = ?', deleted, at, user)


def recording(place):
    place.ready()
    place.succeed('run', '--now', NOW, '--dry-run')
    tap.same(changes(place), [], 'a dry run records nothing')
    place.succeed('run', '--now', NOW)
    tap.same(changes(place), [
        (1, NOW, 0, '', 'root', '', 1), (2, NOW, 0, 'root', 'physics', '', 60),
        (3, NOW, 0, 'physics', 'physics', 'alice', 10), (4, NOW, 0, 'physics', 'physics', 'bob', 10),
        (5, NOW, 0, 'root', 'chemistry', '', 40), (6, NOW, 0, 'chemistry', 'chemistry', 'carol', 1)],
        'the first run records each association')
    place.succeed('run', '--now', NOW + HOUR)
    tap.same(len(changes(place)), 6, 'a run without changes records no states')
    tap.same(place.query('SELECT cluster, last_as_of FROM fairmill_share_state'), [('tiny', NOW + HOUR)],
             'a run without changes updates only its time')
    at = NOW + 2 * HOUR
    set_shares(place, 'alice', 2147483647, at - 9)
    set_deleted(place, 'bob', 1, at - 8)
    place.succeed('run', '--now', at)
    run_id = last(place, 'run_id')
    tap.same(changes(place, 'id_assoc, as_of, deleted, shares, run_id, modified, seen_before')[6:],
             [(3, at, 0, None, run_id, at - 9, at - HOUR), (4, at, 1, None, run_id, at - 8, at - HOUR)],
             'a run records changes, their time, the run, and the run before')
    set_deleted(place, 'bob', 0, at + 1)
    place.succeed('run', '--now', at + HOUR)
    tap.same(changes(place)[8:], [(4, at + HOUR, 0, 'physics', 'physics', 'bob', 10)],
             'an association that returns is recorded again')
    set_deleted(place, 'bob', 0, at + HOUR + 1)
    place.succeed('run', '--now', at + 2 * HOUR)
    tap.same(changes(place, 'id_assoc, as_of, modified')[9:], [(4, at + 2 * HOUR, at + HOUR + 1)],
             'an association with only a new mod_time is recorded')
    set_deleted(place, 'alice', 1, at + 2 * HOUR + 1)
    place.succeed('run', '--now', at + 3 * HOUR)
    set_deleted(place, 'alice', 1, at + 3 * HOUR + 1)
    place.succeed('run', '--now', at + 4 * HOUR)
    tap.same(changes(place, 'id_assoc, as_of, deleted, modified')[10:],
             [(3, at + 3 * HOUR, 1, at + 2 * HOUR + 1), (3, at + 4 * HOUR, 1, at + 3 * HOUR + 1)],
             'a removed association with a new mod_time is recorded')
    place.change('INSERT INTO tiny_assoc_table (creation_time, mod_time, deleted, id_assoc, "user", acct, parent_acct, id_parent, shares) '
                 "VALUES (?, ?, 1, 9, 'x', 'physics', '', 2, 1)", at, at + 4 * HOUR + 1)
    place.succeed('run', '--now', at + 5 * HOUR)
    tap.same(changes(place, 'id_assoc, as_of')[12:], [(1, at + 5 * HOUR)],
             'if only an unseen association was modified, the root is recorded')
    place.query('UPDATE fairmill_share_change SET modified = NULL, seen_before = NULL')
    place.query('UPDATE fairmill_share_state SET hash = 0')
    place.succeed('run', '--now', at + 6 * HOUR)
    tap.same(changes(place, 'id_assoc, as_of')[13:], [(1, at + 6 * HOUR)],
             'states of the first release without times are not recorded again')


def replaying(place):
    place.ready()
    was = {}
    steps = ((None, None), ('alice', 40), ('carol', 3), ('alice', 2))
    for number, (user, shares) in enumerate(steps):
        if user:
            set_shares(place, user, shares, NOW + number * HOUR - 60)
        place.succeed('run', '--now', NOW + number * HOUR)
        was[NOW + number * HOUR] = published(place)
    kept = changes(place), place.query('SELECT * FROM fairmill_share_state')
    place.ends(64, 'a run for an earlier time requires --replace', 'run', '--now', NOW)
    for instant, rows in was.items():
        place.succeed('run', '--now', instant, '--replace')
        tap.same(published(place), rows, f'the run {(instant - NOW) // HOUR} h later is published again without differences')
    place.succeed('run', '--now', NOW + HOUR, '--replace', '-v')
    tap.ok('2 from earlier runs' in place.err, '-v prints the source of the restored states', place.err)
    tap.ok('2 from earlier runs' in last(place, 'message'), 'the message of the run has the source of the restored states')
    place.succeed('run', '--now', NOW + HOUR + 1800, '--replace')
    tap.same(place.value('shares', 'physics.alice'), 40, 'between two runs, an association has the state of the first')
    doubt = [('past_unknown', '6', "existence, shares of user 'carol' of account 'chemistry'")]
    tap.same(findings(place), doubt, 'an association that changed before the second run is uncertain')
    place.succeed('run', '--now', NOW + 2 * HOUR - 60, '--replace')
    tap.same((place.value('shares', 'chemistry.carol'), findings(place)), (3, []),
             'after its mod_time, an association has the state of the second run')
    tap.same((changes(place), place.query('SELECT * FROM fairmill_share_state')), kept,
             'a run for a past time records no states')
    place.succeed('run', '--now', NOW + 5 * HOUR)
    tap.same((place.value('shares', 'physics.alice'), last(place, 'message')), (2, ''),
             'a run for the present uses the current rows')


def transaction(place, at, action, name, info='', cluster='tiny'):
    place.change('INSERT INTO txn_table ("timestamp", "action", "name", "actor", "cluster", "info") VALUES (?, ?, ?, ?, ?, ?)',
                 at, action, name, 'root', cluster, info)


def touched(place, user, at):
    place.change('UPDATE tiny_assoc_table SET mod_time = ? WHERE "user" = ?', at, user)


def by_source(place):
    place.ready()
    transaction(place, NOW - 9 * HOUR, 1404, 'id_assoc=3', "acct='physics', user='alice', `partition`='', shares=5")
    transaction(place, NOW - 9 * HOUR, 1404, 'id_assoc=3', "acct='zoo', user='zed', shares=77", 'other')
    transaction(place, NOW - 2 * HOUR, 1429, '(id_assoc=3 || id_assoc=6)', 'shares=10, max_jobs=1')
    transaction(place, NOW - 2 * HOUR, 1429, '(acct=physics)', 'shares=10')
    transaction(place, NOW - HOUR, 1439, "name='gone'", cluster='')
    for user in ('alice', 'carol'):
        touched(place, user, NOW - 2 * HOUR)
    place.succeed('run', '--now', NOW - 4 * HOUR)
    tap.same((place.value('shares', 'physics.alice'), place.value('shares', 'chemistry.carol')), (5, 1),
             'shares are restored from txn_table of the same cluster only')
    tap.same(findings(place), [('past_unknown', '6', "shares of user 'carol' of account 'chemistry'"),
                               ('past_unreadable', '4', 'action 1429, (acct=physics)')],
             'findings name an uncertain association and an unreadable row')
    tap.same(last(place, 'message'), 'associations at this time: 0 from earlier runs, 1 from txn_table, '
             '0 from creation_time and mod_time; uncertain: 1', 'the message of the run counts the uncertain associations')
    tap.same(changes(place), [], 'uncertain states are not recorded')
    place.succeed('run', '--now', NOW - HOUR)
    tap.same((place.value('shares', 'physics.alice'), findings(place)),
             (10, [('past_unreadable', '4', 'action 1429, (acct=physics)')]),
             'a value set in txn_table before the time is certain')


def times(place):
    place.ready()
    place.change('UPDATE tiny_assoc_table SET creation_time = ? WHERE "user" = \'bob\'', NOW)
    place.change('UPDATE tiny_assoc_table SET deleted = 1, mod_time = ?, shares = 1 WHERE "user" = \'alice\'', NOW)
    place.succeed('run', '--now', NOW - HOUR)
    tap.same(place.query("SELECT user_name FROM fairmill_fairshare WHERE user_name <> '' ORDER BY 1"),
             [('alice',), ('carol',)], 'a later association is absent, one deleted later exists')
    tap.same(findings(place), [('past_unknown', '3', "existence, shares of user 'alice' of account 'physics'")],
             'existence and shares of a deleted association are uncertain')
    place.ends(65, 'before all associations a run exits with status 65', 'run', '--now', 0, '--replace')
    place.says('the error says that no associations existed', 'no associations existed at this time')
    place.change('DROP TABLE txn_table')
    place.ends(0, 'a run without txn_table succeeds', 'run', '--now', NOW - HOUR)
    tap.same([kind for kind, _, _ in findings(place)], ['past_unknown', 'past_unreadable'], 'the missing txn_table is a finding')
    place.succeed('run')
    tap.same((findings(place), len(changes(place))), ([], 5), 'a run for the present has no such findings')


def upgraded(place):
    """If the restored associations do not form a tree, some use their current parents and the run
    succeeds."""
    place.ready('root/\n  a/ 1\n    b/ 1\n      u 1 use 5\n  c/ 1\n    v 1 use 7\n')
    place.succeed('run', '--now', NOW)
    # Account a moved below b, and b below c, at an unknown time.  Therefore the past differs from
    # now.
    place.change("UPDATE tiny_assoc_table SET parent_acct = 'c', id_parent = 5 WHERE acct = 'b' AND \"user\" = ''")
    place.change("UPDATE tiny_assoc_table SET parent_acct = 'b', id_parent = 3 WHERE acct = 'a'")
    place.succeed('run', '--now', NOW + HOUR)
    tap.same(findings(place), [('past_unknown', '2', "parent of account 'a'"),
                               ('past_unknown', '3', "parent of account 'b'")],
             'accounts that moved at an unknown time are findings')
    tap.same(place.query("SELECT account FROM fairmill_fairshare WHERE user_name = '' ORDER BY depth, account"),
             [('root',), ('c',), ('b',), ('a',)], 'accounts that moved at an unknown time have their current parents')
    place.succeed('run', '--now', NOW, '--replace')
    tap.same(place.query("SELECT account FROM fairmill_fairshare WHERE user_name = '' ORDER BY depth, account"),
             [('root',), ('a',), ('c',), ('b',)], 'at the time of the first run, accounts have the recorded parents')


def vanished(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    place.change('DELETE FROM tiny_assoc_table WHERE id_assoc = 3')
    place.succeed('run', '--now', NOW + HOUR)
    tap.same(findings(place), [('past_unknown', '3', "existence of user 'alice' of account 'physics'")],
             'an association whose row is missing is a finding')
    place.ready()
    place.succeed('run', '--now', NOW)
    place.change('DELETE FROM tiny_assoc_table WHERE id_assoc = 3')
    place.succeed('run', '--now', NOW)
    tap.same((place.query("SELECT shares FROM fairmill_fairshare WHERE user_name = 'alice'"), findings(place)), ([(10,)], []),
             'a missing association is restored at the time of the run')


def restored_at(place, at):
    """Returns the associations of a run for `at`, its message, and its findings."""
    place.succeed('run', '--now', at, '--replace')
    rows = place.query('SELECT id_assoc, parent_id, shares, usage_raw FROM fairmill_fairshare ORDER BY 1')
    return rows, last(place, 'message').rpartition('; ')[2], [row[1:] for row in findings(place)]


def same_with_run_of_today(place, instants):
    """Returns restored_at() for each time.  A run for the present must not change it."""
    before = [restored_at(place, at) for at in instants]
    place.succeed('run')
    tap.same([restored_at(place, at) for at in instants], before, 'a run for the present does not change runs for past times')
    return before


def moved(place):
    """For accounts the source has the parent at creation, and the last modification."""
    day, begin = 24 * HOUR, NOW - 30 * 24 * HOUR
    place.ready('root/\n  a/ 1\n    u 1 use 5\n  b/ 1\n    c/ 1\n      v 1 use 7\n')
    transaction(place, begin, 1404, 'id_assoc=5', "acct='c', user='', parent_acct='a', shares=1")
    place.change('UPDATE tiny_assoc_table SET creation_time = ?, mod_time = ? WHERE id_assoc = 5', begin, begin + 10 * day)
    place.change('UPDATE tiny_assoc_table SET creation_time = ?, mod_time = ? WHERE id_assoc = 6', begin, begin)
    early, late = same_with_run_of_today(place, (begin + 5 * day, begin + 15 * day))
    parents = [{row[0]: row[1] for row in told[0]}[5] for told in (early, late)]
    tap.same(parents, [2, 4], 'an account has its first parent, and from its mod_time the current one')
    tap.same((early[1:], late[1:]), (('uncertain: 1', [('5', "parent of account 'c'")]), ('', [])),
             'the parent is uncertain before the mod_time')


def deleted(place):
    day = 24 * HOUR
    place.ready('root/\n  a/ 1\n    u 1 use 5\n    w 3 use 2\n  b/ 1\n    v 1 use 7\n')
    place.change('UPDATE tiny_assoc_table SET deleted = 1, shares = 1, mod_time = ? WHERE "user" = \'u\'', NOW - day)
    before, after = same_with_run_of_today(place, (NOW - 8 * day, NOW - HOUR))
    tap.same([[row[0] for row in told[0]] for told in (before, after)], [[1, 2, 3, 4, 5, 6], [1, 2, 4, 5, 6]],
             'a deleted user exists before the deletion but not after it')
    tap.same((before[1:], after[1]), (('uncertain: 1', [('3', "existence, shares of user 'u' of account 'a'")]), ''),
             'a deleted user is uncertain, because they may have been deleted twice')


def plain(place):
    """Tests a source without times, so that only runs provide evidence."""
    place.ready()
    db = sqlite3.connect(place.path('plain.db'))
    with db:
        db.execute('CREATE TABLE associations (cluster, id, parent_id, account, user_name, partition_name, shares, deleted)')
        db.execute('CREATE TABLE usage (cluster, id, time_start, time_end, charge)')
        db.executemany("INSERT INTO associations VALUES ('c', ?, ?, ?, ?, '', ?, 0)",
                       ((1, None, 'root', '', 1), (2, 1, 'a', '', 1), (3, 2, 'a', 'u', 3)))
    place.settings({'source.database': place.path('plain.db'), 'source.layout': 'plain'})
    instants = []
    for shares in (3, 3, 50):
        with db:
            db.execute('UPDATE associations SET shares = ? WHERE id = 3', (shares,))
        place.succeed('run')
        instants.append(last(place, 'as_of'))
        time.sleep(2.1)
    db.close()
    shares_then = [(told[0][2][2], told[2]) for told in (restored_at(place, at) for at in instants)]
    tap.same(shares_then, [(3, []), (3, []), (50, [])], 'plain: at the time of a run, shares are as recorded')
    between = [(told[0][2][2], told[2]) for told in (restored_at(place, at + 1) for at in instants)]
    tap.same(between, [(3, []), (50, [('3', "shares of user 'u' of account 'a'")]), (50, [])],
             'plain: between runs, shares are uncertain only if they changed')
    told = restored_at(place, instants[0] - 1)
    tap.same((told[0][2][2], told[1]), (50, 'uncertain: 3'), 'plain: before the first run, all associations are uncertain')


def body():
    for part in (recording, replaying, by_source, times, upgraded, vanished, moved, deleted, plain):
        with Place() as place:
            part(place)


tap.main(body)
