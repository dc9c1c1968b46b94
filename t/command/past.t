#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Runs of an instant that is over: what runs note of associations, and what they make of it."""

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


def doubts(place):
    found = place.query("SELECT kind, subject, detail FROM fairmill_finding WHERE kind LIKE 'past%' ORDER BY kind, subject")
    place.query('DELETE FROM fairmill_finding')
    return found


def last(place, column):
    return place.query(f'SELECT {column} FROM fairmill_run ORDER BY run_id DESC LIMIT 1')[0][0]


def set_shares(place, user, shares, at):
    place.change('UPDATE tiny_assoc_table SET shares = ?, mod_time = ? WHERE "user" = ?', shares, at, user)


def set_deleted(place, user, deleted, at):
    place.change('UPDATE tiny_assoc_table SET deleted = ?, mod_time = ? WHERE "user" = ?', deleted, at, user)


def noting(place):
    place.ready()
    place.succeed('run', '--now', NOW, '--dry-run')
    tap.same(changes(place), [], 'a dry run notes nothing')
    place.succeed('run', '--now', NOW)
    tap.same(changes(place), [
        (1, NOW, 0, '', 'root', '', 1), (2, NOW, 0, 'root', 'physics', '', 60),
        (3, NOW, 0, 'physics', 'physics', 'alice', 10), (4, NOW, 0, 'physics', 'physics', 'bob', 10),
        (5, NOW, 0, 'root', 'chemistry', '', 40), (6, NOW, 0, 'chemistry', 'chemistry', 'carol', 1)],
        'the first run notes every association')
    place.succeed('run', '--now', NOW + HOUR)
    tap.same(len(changes(place)), 6, 'a run that sees no change notes none')
    tap.same(place.query('SELECT cluster, last_as_of FROM fairmill_share_state'), [('tiny', NOW + HOUR)],
             'only until when it was so')
    at = NOW + 2 * HOUR
    set_shares(place, 'alice', 2147483647, at - 9)
    set_deleted(place, 'bob', 1, at - 8)
    place.succeed('run', '--now', at)
    run_id = last(place, 'run_id')
    tap.same(changes(place, 'id_assoc, as_of, deleted, shares, run_id, modified, seen_before')[6:],
             [(3, at, 0, None, run_id, at - 9, at - HOUR), (4, at, 1, None, run_id, at - 8, at - HOUR)],
             'another one notes what has changed and when, which run saw it, and which was before')
    set_deleted(place, 'bob', 0, at + 1)
    place.succeed('run', '--now', at + HOUR)
    tap.same(changes(place)[8:], [(4, at + HOUR, 0, 'physics', 'physics', 'bob', 10)],
             'one that is back is noted again')
    set_deleted(place, 'bob', 0, at + HOUR + 1)
    place.succeed('run', '--now', at + 2 * HOUR)
    tap.same(changes(place, 'id_assoc, as_of, modified')[9:], [(4, at + 2 * HOUR, at + HOUR + 1)],
             'so is one that was only touched')
    set_deleted(place, 'alice', 1, at + 2 * HOUR + 1)
    place.succeed('run', '--now', at + 3 * HOUR)
    set_deleted(place, 'alice', 1, at + 3 * HOUR + 1)
    place.succeed('run', '--now', at + 4 * HOUR)
    tap.same(changes(place, 'id_assoc, as_of, deleted, modified')[10:],
             [(3, at + 3 * HOUR, 1, at + 2 * HOUR + 1), (3, at + 4 * HOUR, 1, at + 3 * HOUR + 1)],
             'and one that is gone and was touched')
    place.change('INSERT INTO tiny_assoc_table (creation_time, mod_time, deleted, id_assoc, "user", acct, parent_acct, id_parent, shares) '
                 "VALUES (?, ?, 1, 9, 'x', 'physics', '', 2, 1)", at, at + 4 * HOUR + 1)
    place.succeed('run', '--now', at + 5 * HOUR)
    tap.same(changes(place, 'id_assoc, as_of')[12:], [(1, at + 5 * HOUR)],
             'where only one was touched that no run saw, the root is noted')
    place.query('UPDATE fairmill_share_change SET modified = NULL, seen_before = NULL')
    place.query('UPDATE fairmill_share_state SET hash = 0')
    place.succeed('run', '--now', at + 6 * HOUR)
    tap.same(changes(place, 'id_assoc, as_of')[13:], [(1, at + 6 * HOUR)],
             'notes of the first release, which knew no times, are not made again')


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
    place.ends(64, 'an older instant is refused without --replace', 'run', '--now', NOW)
    for instant, rows in was.items():
        place.succeed('run', '--now', instant, '--replace')
        tap.same(published(place), rows, f'an instant {(instant - NOW) // HOUR} h later is published as it was')
    place.succeed('run', '--now', NOW + HOUR, '--replace', '-v')
    tap.ok('2 from earlier runs' in place.err, '-v tells whose word it has', place.err)
    tap.ok('2 from earlier runs' in last(place, 'message'), 'so does the row of the run')
    place.succeed('run', '--now', NOW + HOUR + 1800, '--replace')
    tap.same(place.value('shares', 'physics.alice'), 40, 'between two runs it is as the first of them saw it')
    doubt = [('past_unknown', '6', "existence, shares of user 'carol' of account 'chemistry'")]
    tap.same(doubts(place), doubt, 'but who changed until the second may have done so then')
    place.succeed('run', '--now', NOW + 2 * HOUR - 60, '--replace')
    tap.same((place.value('shares', 'chemistry.carol'), doubts(place)), (3, []),
             'from when it was touched it is as the second saw it')
    tap.same((changes(place), place.query('SELECT * FROM fairmill_share_state')), kept,
             'looking back notes nothing')
    place.succeed('run', '--now', NOW + 5 * HOUR)
    tap.same((place.value('shares', 'physics.alice'), last(place, 'message')), (2, ''),
             'the next instant is as the source is now, and has nothing to say')


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
             'txn_table tells shares that were set before, and not those of another cluster')
    tap.same(doubts(place), [('past_unknown', '6', "shares of user 'carol' of account 'chemistry'"),
                             ('past_unreadable', '4', 'action 1429, (acct=physics)')],
             'findings name what was set for the first time since, and a row that is not understood')
    tap.same(last(place, 'message'), 'associations at this time: 0 from earlier runs, 1 from txn_table, '
             '0 from creation_time and mod_time; uncertain: 1', 'the run says so')
    tap.same(changes(place), [], 'what is in doubt is not noted')
    place.succeed('run', '--now', NOW - HOUR)
    tap.same((place.value('shares', 'physics.alice'), doubts(place)),
             (10, [('past_unreadable', '4', 'action 1429, (acct=physics)')]),
             'what was told before the instant is in no doubt')


def times(place):
    place.ready()
    place.change('UPDATE tiny_assoc_table SET creation_time = ? WHERE "user" = \'bob\'', NOW)
    place.change('UPDATE tiny_assoc_table SET deleted = 1, mod_time = ?, shares = 1 WHERE "user" = \'alice\'', NOW)
    place.succeed('run', '--now', NOW - HOUR)
    tap.same(place.query("SELECT user_name FROM fairmill_fairshare WHERE user_name <> '' ORDER BY 1"),
             [('alice',), ('carol',)], 'one that was made later is absent, one that was deleted since is there')
    tap.same(doubts(place), [('past_unknown', '3', "existence, shares of user 'alice' of account 'physics'")],
             'if it was not deleted and made again in between, which nobody tells, nor its shares')
    place.ends(65, 'before all associations there is nothing to compute', 'run', '--now', 0, '--replace')
    place.says('and the message says so', 'no associations existed at this time')
    place.change('DROP TABLE txn_table')
    place.ends(0, 'without txn_table a run ends well', 'run', '--now', NOW - HOUR)
    tap.same([kind for kind, _, _ in doubts(place)], ['past_unknown', 'past_unreadable'], 'with a finding')
    place.succeed('run')
    tap.same((doubts(place), len(changes(place))), ([], 5), 'of the present none is asked for')


def upgraded(place):
    """A mixture that is no tree loses a branch, not the run."""
    place.ready('root/\n  a/ 1\n    b/ 1\n      u 1 use 5\n  c/ 1\n    v 1 use 7\n')
    place.succeed('run', '--now', NOW)
    # a went below b, and b below c, and nobody says when: then is not now.
    place.change("UPDATE tiny_assoc_table SET parent_acct = 'c', id_parent = 5 WHERE acct = 'b' AND \"user\" = ''")
    place.change("UPDATE tiny_assoc_table SET parent_acct = 'b', id_parent = 3 WHERE acct = 'a'")
    place.succeed('run', '--now', NOW + HOUR)
    tap.same(doubts(place), [('past_unknown', '2', "parent of account 'a'"),
                             ('past_unknown', '3', "parent of account 'b'")],
             'accounts that were moved at an unknown time are named')
    tap.same(place.query("SELECT account FROM fairmill_fairshare WHERE user_name = '' ORDER BY depth, account"),
             [('root',), ('c',), ('b',), ('a',)], 'and stand where they are now')
    place.succeed('run', '--now', NOW, '--replace')
    tap.same(place.query("SELECT account FROM fairmill_fairshare WHERE user_name = '' ORDER BY depth, account"),
             [('root',), ('a',), ('c',), ('b',)], 'before, where a run saw them')


def vanished(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    place.change('DELETE FROM tiny_assoc_table WHERE id_assoc = 3')
    place.succeed('run', '--now', NOW + HOUR)
    tap.same(doubts(place), [('past_unknown', '3', "existence of user 'alice' of account 'physics'")],
             'an association whose row has vanished is named')
    place.ready()
    place.succeed('run', '--now', NOW)
    place.change('DELETE FROM tiny_assoc_table WHERE id_assoc = 3')
    place.succeed('run', '--now', NOW)
    tap.same((place.query("SELECT shares FROM fairmill_fairshare WHERE user_name = 'alice'"), doubts(place)), ([(10,)], []),
             'and is there at the instant of the run that saw it')


def told_of(place, at):
    """Who is where at an instant, what was used, and what is in doubt of it."""
    place.succeed('run', '--now', at, '--replace')
    rows = place.query('SELECT id_assoc, parent_id, shares, usage_raw FROM fairmill_fairshare ORDER BY 1')
    return rows, last(place, 'message').rpartition('; ')[2], [row[1:] for row in doubts(place)]


def same_with_run_of_today(place, instants):
    """What is told of them, which a run of today must not change."""
    before = [told_of(place, at) for at in instants]
    place.succeed('run')
    tap.same([told_of(place, at) for at in instants], before, 'a run of today changes nothing of it')
    return before


def moved(place):
    """The source says of an account where it was added, and when it was touched last."""
    day, begin = 24 * HOUR, NOW - 30 * 24 * HOUR
    place.ready('root/\n  a/ 1\n    u 1 use 5\n  b/ 1\n    c/ 1\n      v 1 use 7\n')
    transaction(place, begin, 1404, 'id_assoc=5', "acct='c', user='', parent_acct='a', shares=1")
    place.change('UPDATE tiny_assoc_table SET creation_time = ?, mod_time = ? WHERE id_assoc = 5', begin, begin + 10 * day)
    place.change('UPDATE tiny_assoc_table SET creation_time = ?, mod_time = ? WHERE id_assoc = 6', begin, begin)
    early, late = same_with_run_of_today(place, (begin + 5 * day, begin + 15 * day))
    parents = [{row[0]: row[1] for row in told[0]}[5] for told in (early, late)]
    tap.same(parents, [2, 4], 'an account is where it was added, and since it was touched where it is')
    tap.same((early[1:], late[1:]), (('uncertain: 1', [('5', "parent of account 'c'")]), ('', [])),
             'and in doubt before that')


def deleted(place):
    day = 24 * HOUR
    place.ready('root/\n  a/ 1\n    u 1 use 5\n    w 3 use 2\n  b/ 1\n    v 1 use 7\n')
    place.change('UPDATE tiny_assoc_table SET deleted = 1, shares = 1, mod_time = ? WHERE "user" = \'u\'', NOW - day)
    before, after = same_with_run_of_today(place, (NOW - 8 * day, NOW - HOUR))
    tap.same([[row[0] for row in told[0]] for told in (before, after)], [[1, 2, 3, 4, 5, 6], [1, 2, 4, 5, 6]],
             'who was deleted on a day is there a week before, and not behind it')
    tap.same((before[1:], after[1]), (('uncertain: 1', [('3', "existence, shares of user 'u' of account 'a'")]), ''),
             'in doubt, since nobody tells that he was not deleted twice')


def plain(place):
    """A source without times: only runs know."""
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
    shares_then = [(told[0][2][2], told[2]) for told in (told_of(place, at) for at in instants)]
    tap.same(shares_then, [(3, []), (3, []), (50, [])], 'plain: at the instant of a run it is as that run saw it')
    between = [(told[0][2][2], told[2]) for told in (told_of(place, at + 1) for at in instants)]
    tap.same(between, [(3, []), (50, [('3', "shares of user 'u' of account 'a'")]), (50, [])],
             'so it is between two that saw the same, and in doubt between others')
    told = told_of(place, instants[0] - 1)
    tap.same((told[0][2][2], told[1]), (50, 'uncertain: 3'), 'before the first run all is in doubt, and as it is now')


def body():
    for part in (noting, replaying, by_source, times, upgraded, vanished, moved, deleted, plain):
        with Place() as place:
            part(place)


tap.main(body)
