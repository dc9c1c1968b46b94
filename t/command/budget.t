#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill budget`: the output for given limits, and the limits that a user may see."""

import csv
import io
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import answering
import tap
from place import NOW, Place

DAY = 86400
# Every Linux system has these logins.
USER, COORDINATOR, OPERATOR, STRANGER = 'daemon', 'games', 'man', 'mail'
DRAWING = f"""
cluster tiny
root/
  physics/ 60
    alice         10
    alice@gpu     10
    {USER}        10
    optics/       10
      bob         10
      {COORDINATOR} 10
  chemistry/ 40
    carol         10
"""
# association or QOS, TRES, limit, used and running minutes, days until the limit is reached
LIMITS = (
    ('physics', 'gres/gpu', 60000, 41200, 3100, 16),
    ('physics', 'cpu', 1000000, 999000, 0, None),
    ('optics', 'cpu', 50, 70, 0, 0),
    ('chemistry', 'billing', 1000, 10, 0, None),
    ('physics/alice/gpu', 'gres/gpu:a100', 900, 100, 10, 3),
    (f'physics/{USER}', 'node', 20, 0, 20, None),
    ('optics/bob', 'mem', 0, 0, 0, 0),
    ('QOS grant', 'cpu', 1234567, 234567, 0, 2),
)
IN_ORDER = ['optics/bob mem', 'optics cpu', 'QOS grant cpu', 'physics/alice/gpu gres/gpu:a100', 'physics gres/gpu',
            'physics cpu', 'chemistry billing', f'physics/{USER} node']


def limit(place, number, owner, tres, most, used, running, days):
    name, _, qos = owner.partition(' ')
    account, user, partition = ('', '', '') if qos else (name.split('/') + ['', ''])[:3]
    where = 'account = ? AND user_name = ? AND partition_name = ?'
    row = place.query(f'SELECT id_assoc FROM fairmill_fairshare WHERE {where}', account, user, partition)
    place.query('INSERT INTO fairmill_budget VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', 'tiny',
                'qos' if qos else 'association', number if qos else row[0][0], account, user, partition, qos, tres, most, used,
                running, most - used - running, None if days is None else NOW + days * DAY, 1, NOW)


def published(place, keys=None, limits=LIMITS):
    place.ready(DRAWING, {'usage.time_zone': 'UTC'} | (keys or {}))
    place.change(f"INSERT INTO acct_coord_table (creation_time, acct, user) VALUES (1, 'physics', '{COORDINATOR}')")
    place.change(f"INSERT OR REPLACE INTO user_table (creation_time, name, admin_level) VALUES (1, '{OPERATOR}', 2)")
    place.succeed('run', '--now', NOW)
    for number, each in enumerate(limits, 1):
        limit(place, number, *each)


def owners(output):
    """Returns the owner and the TRES of each limit in JSON."""
    found = []
    for row in json.loads(output)['clusters'][0]['budgets']:
        path = '/'.join(filter(None, (row['account'], row['username'], row['partition'])))
        found.append(f"{path or 'QOS ' + row['qos']} {row['tres']}")
    return found


def selected(place, *names):
    place.succeed('budget', *names, '--json')
    return owners(place.out)


def page(place):
    """Returns the text of each limit, with its lines joined."""
    place.succeed('budget')
    return [' '.join(part.split()) for part in place.out.split('\n\n')]


def texts(place):
    published(place)
    title, *parts = page(place)
    tap.same(title, 'Cluster tiny, 2025-06-21T10:00:00', 'the page begins with the cluster and the time')
    tap.same(parts, [
        'bob of optics has used 0 of 0 MB-minutes. The limit is reached; nothing is left.',
        'optics has used 70 of 50 CPU-minutes (140 %). The limit is reached; nothing is left.',
        'QOS grant has used 234,567 of 1,234,567 CPU-minutes (19 %). '
        "At last week's rate, the limit is reached on 2025-06-23.",
        'alice of physics in partition gpu has used 100 of 900 a100 GPU-minutes (11 %); running jobs may use 10 more. '
        "At last week's rate, the limit is reached on 2025-06-24.",
        'physics has used 41,200 of 60,000 GPU-minutes (69 %); running jobs may use 3,100 more. '
        "At last week's rate, the limit is reached on 2025-07-07.",
        "physics has used 999,000 of 1,000,000 CPU-minutes (99 %). At last week's rate, the limit is not reached.",
        "chemistry has used 10 of 1,000 billing-minutes (1 %). At last week's rate, the limit is not reached.",
        f'{USER} of physics has used 0 of 20 node-minutes (0 %); running jobs may use 20 more. '
        "Until running jobs end, nothing is left. At last week's rate, the limit is not reached.",
    ], 'the page has two sentences for each limit, the one that is reached first first')
    bars = [line for line in place.on_terminal('budget', LC_ALL='C').splitlines() if line[:1] in ('#', '.')]
    tap.same(bars[1:5], ['#' * 40, '#' * 8 + '.' * 32, '####+' + '.' * 35, '#' * 27 + '+' * 3 + '.' * 10],
             'on a terminal, a bar shows the used, running and free minutes')
    tap.ok('█' * 27 + '▒' * 3 + '·' * 10 in place.on_terminal('budget', LC_ALL='C.UTF-8'), 'a UTF-8 terminal shows block characters')


def formats(place):
    place.succeed('budget', '--csv')
    rows = list(csv.DictReader(io.StringIO(place.out)))
    tap.same(rows[4], {
        'cluster': 'tiny', 'kind': 'association', 'id': '2', 'account': 'physics', 'username': '', 'partition': '', 'qos': '',
        'tres': 'gres/gpu', 'limit_minutes': '60000', 'used_minutes': '41200', 'used_percent': rows[4]['used_percent'],
        'running_minutes': '3100', 'left_minutes': '15700', 'exhausted_at': str(NOW + 16 * DAY)}, 'CSV has all columns')
    tap.same([row['left_minutes'] for row in rows[:2]], ['0', '-20'], 'more usage than the limit leaves a negative number')
    tap.same(rows[5]['exhausted_at'], '', 'a limit that is not reached has no time')
    tap.same(selected(place), IN_ORDER, 'JSON has the order of the page')
    facts = json.loads(place.out)['clusters'][0]
    tap.same((facts['as_of'], facts['enforced']), (NOW, None), 'JSON has the time, and no enforcement without a slurm.conf')
    tap.same(facts['budgets'][0]['used_percent'], None, 'no part of a limit of 0 is used')
    place.succeed('budget', '-o', 'account,left', '-n', 'chemistry')
    tap.same(place.out.split(), ['chemistry', '990'], 'columns can be chosen')


def names(place):
    both = ['physics gres/gpu', 'physics cpu']
    for asked, expected, statement in (
            (('physics',), [*IN_ORDER[:2], IN_ORDER[3], *both, IN_ORDER[7]], "an account's limits include those below it"),
            (('bob',), ['optics/bob mem', 'optics cpu', *both], "a user's limits include those of the accounts above"),
            (('alice',), ['physics/alice/gpu gres/gpu:a100', *both], 'a user has the limits of all associations'),
            (('-u', 'alice', '-A', 'physics'), ['physics/alice/gpu gres/gpu:a100', *both], '-u and -A replace NAME'),
            (('grant',), ['QOS grant cpu'], 'a NAME may be a QOS'),
            (('grant', 'carol'), ['QOS grant cpu', 'chemistry billing'], 'NAMEs may be mixed'),
            (('root',), [name for name in IN_ORDER if not name.startswith('QOS')], 'the root has all limits but those of QOS')):
        tap.same(selected(place, *asked), expected, statement)
    place.ends(64, 'an unknown NAME is an error', 'budget', 'grant', 'nemo')
    place.says('the error names it', "'nemo'")
    place.ends(64, 'an unknown cluster is an error', 'budget', '-M', 'none')


def nothing(place):
    published(place, limits=())
    place.succeed('budget')
    text = ' '.join(place.out.split())
    tap.ok('No limit of TRES-minutes applies.' in text and 'sacctmgr modify account NAME set GrpTRESMins=' in text,
           'without limits, the output says how to set one', place.out)
    place.succeed('budget', 'carol')
    tap.ok('No limit of TRES-minutes applies to carol.' in place.out, 'the output says that no limit applies to a name', place.out)
    place.succeed('budget', '--csv')
    tap.same(len(place.out.splitlines()), 1, 'CSV without limits has only the column names')


def enforcement(place):
    for enforce, expected in (('associations', False), ('associations,limits', True), ('safe', True)):
        with open(place.path('slurm.conf'), 'w', encoding='ascii') as file:
            file.write(f'ClusterName=tiny\nAccountingStorageEnforce={enforce}\n')
        published(place, {'slurm.conf': place.path('slurm.conf')}, LIMITS[:1])
        place.succeed('budget')
        tap.same('does not enforce' in place.out, not expected, f'the page says whether limits are enforced ({enforce})')
        place.succeed('budget', '--json')
        tap.same(json.loads(place.out)['clusters'][0]['enforced'], expected, f'JSON has the enforcement ({enforce})')


def permissions(place):
    """A user sees the limits of their associations, of the accounts above, and of QOS."""
    own = ['QOS grant cpu', 'physics gres/gpu', 'physics cpu', f'physics/{USER} node']
    below = [name for name in IN_ORDER if 'chemistry' not in name]
    for private, login, expected, statement in (
            ('usage', USER, own, 'a user sees only the limits that apply to them'),
            ('usage', COORDINATOR, below, 'a coordinator sees the limits in and below their accounts'),
            ('usage', OPERATOR, IN_ORDER, 'an operator sees all limits'),
            ('usage', STRANGER, ['QOS grant cpu'], 'a user without an association sees the limits of QOS'),
            ('no', STRANGER, IN_ORDER, 'without private usage, all users see all limits')):
        published(place, {'report.private': private})
        answering.lock_up(place)
        with answering.Answering(place) as asked:
            answer = asked.ask('budget', '--json', login=login)
            tap.same(owners(answer['output']) if answer['output'] else answer, expected, statement)
            if (private, login) != ('usage', USER):
                continue
            for name, status, said in (('alice', 64, "'alice' is neither you"), ('nemo', 64, "'nemo' is neither you"),
                                       ('chemistry', 0, 'No limit of TRES-minutes applies to chemistry.'),
                                       ('optics', 0, 'physics has used 41,200'), (USER, 0, f'{USER} of physics has used 0 of 20')):
                answer = asked.ask('budget', name, login=USER)
                tap.ok(answer['status'] == status and said in answer['output'] + answer['errors'],
                       f'a request for {name} shows only permitted limits', answer)
                tap.ok(not any(other in answer['output'] for other in ('alice', 'bob', 'has used 10 of 1,000', 'optics has')),
                       f'a request for {name} shows no limits of others', answer)


def body():
    with Place() as place:
        texts(place)
        formats(place)
        names(place)
        nothing(place)
        enforcement(place)
        permissions(place)


tap.main(body)
