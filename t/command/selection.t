#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that NAMEs, --users and --accounts select the same associations in each command."""

import csv
import io
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

DAY = 86400
DRAWING = f"""
cluster tiny
root/
  physics/ 60
    anna       10  use 3000
    bob        10  use 1000
    optics/    10
      carl     10  use 500
      carl@gpu 10  use 200
  chemistry/ 40
    anna       10  use 900
    dora       10  use 700
job physics.bob    id_job=901 submit={NOW - 300} time_eligible={NOW - 300} partition=p tres_req=1=8 limit=60
job optics.carl    id_job=902 submit={NOW - 200} time_eligible={NOW - 200} partition=p tres_req=1=8 limit=60
job chemistry.anna id_job=903 submit={NOW - 100} time_eligible={NOW - 100} partition=p tres_req=1=8 limit=60
"""
PHYSICS_ANNA, BOB, CARL, ANNA, DORA = ('physics', 'anna'), ('physics', 'bob'), ('optics', 'carl'), ('chemistry', 'anna'), ('chemistry', 'dora')
PHYSICS = {PHYSICS_ANNA, BOB, CARL}
# Names and options, and the users that commands with a list of users show.
CHOSEN = (
    ((), PHYSICS | {ANNA, DORA}),
    (('physics',), PHYSICS),
    (('physics/',), PHYSICS),
    (('anna',), {PHYSICS_ANNA, ANNA}),
    (('chemistry/anna', 'bob', 'optics', 'dora'), {ANNA, BOB, CARL, DORA}),
    (('optics/carl/gpu',), {CARL}),
    (('-u', 'anna,bob'), {PHYSICS_ANNA, ANNA, BOB}),
    (('-A', 'physics'), PHYSICS),
    (('-A', 'optics,chemistry', '-u', 'carl', '-u', 'anna'), {CARL, ANNA}),
    (('physics', '-u', 'anna'), {PHYSICS_ANNA}),
    (('anna', '-A', 'chemistry'), {ANNA}),
    (('physics', '-A', 'chemistry'), set()),
)
LISTING = (('show',), ('compare',), ('statement', '--since', 2023),
           ('backtest', '--half-life', '14-0', '--since', NOW - DAY, '--until', NOW, '--points'),
           ('backtest', '--half-life', '14-0', '--since', NOW - DAY, '--until', NOW))
# Names and options, and the associations for which other commands print one answer each.
EACH = (
    (('anna',), [PHYSICS_ANNA, ANNA]),
    (('-u', 'anna'), [PHYSICS_ANNA, ANNA]),
    (('-u', 'anna', '-A', 'chemistry'), [ANNA]),
    (('-u', 'bob,dora'), [BOB, DORA]),
    (('-u', 'bob', '--user=dora', '-u', 'bob'), [BOB, DORA]),
    (('-u', 'anna', '-A', 'chemistry,physics'), [ANNA, PHYSICS_ANNA]),
    (('-A', 'optics,chemistry'), [('optics', ''), ('chemistry', '')]),
    (('-u', 'carl'), [CARL, CARL]),
)


def rows(place, *arguments):
    place.succeed(*arguments, '--csv')
    header, *lines = csv.reader(io.StringIO(place.out))
    # backtest has the column names of the tables.
    return [dict(zip([{'user_name': 'username', 'user': 'username', 'partition_name': 'partition'}.get(name, name) for name in header], line))
            for line in lines]


def users(found):
    return {(row['account'], row['username']) for row in found if row['username']}


def lists(place):
    for command in LISTING:
        for arguments, chosen in CHOSEN:
            if command == ('show',) and not chosen:
                place.ends(64, 'show rejects names without a common association', *command, *arguments)
                continue
            found = rows(place, *command, *arguments)
            tap.same(users(found), chosen, f"{command[0]} {' '.join(arguments)} lists the selected users")
        found = rows(place, *command, 'optics/carl/gpu')
        tap.same({row['partition'] for row in found if row['username']}, {'gpu'}, f'{command[0]}: a NAME may include a partition')
        for kind, wrong in (('user or account', ('physics', 'nobody')), ('user', ('-u', 'physics')), ('account', ('-A', 'anna'))):
            place.ends(64, f'{command[0]} rejects an unknown {kind}', *command, *wrong)
            place.says(f'the error of {command[0]} names the unknown {kind}', f"there is no {kind} '{wrong[-1]}'")


def answers(place):
    for command in (('history', '--days', 1), ('forecast', '--days', 1), ('explain',)):
        for arguments, chosen in EACH:
            place.succeed(*command, *arguments, '--json')
            answer, = json.loads(place.out).values()
            # explain has the path from the root.
            whose = [one['associations'][-1] if 'associations' in one else one for one in answer]
            got = [(one['account'], one['username']) for one in whose]
            tap.same(sorted(got), sorted(chosen), f"{command[0]} {' '.join(arguments)} has one answer for each association")
        place.ends(64, f'{command[0]} rejects a user who is not in the account', *command, '-u', 'bob,dora', '-A', 'physics')
        place.says(f'the error of {command[0]} names the user and the account', "'physics/dora'")
        tap.same(place.out, '', f'the rejected {command[0]} prints nothing')
    for command in ('history', 'forecast'):
        several = rows(place, command, 'dora', 'chemistry', 'bob', '-d', 1)
        whose = list(dict.fromkeys((row['account'], row['username']) for row in several))
        tap.same(whose, [DORA, ('chemistry', ''), BOB], f'{command} of several NAMEs prints them in order')
        place.ends(64, f'{command} rejects NAMEs together with options', command, 'bob', '-A', 'physics')
        place.says(f'the error of {command} says that they cannot be combined', 'cannot be combined with --users')


def jobs(place):
    for arguments, wanted in (((), {901, 902, 903}), (('-A', 'physics'), {901, 902}), (('-A', 'optics,chemistry'), {902, 903}),
                              (('-A', 'physics', '-u', 'anna,bob'), {901})):
        found = rows(place, 'prio', *arguments)
        tap.same({int(row['id_job'] if 'id_job' in row else row['jobid']) for row in found}, wanted,
                 f"prio {' '.join(arguments)} has the jobs below these accounts")
    place.ends(64, 'prio rejects an unknown account', 'prio', '-A', 'nowhere')


def effects(place):
    change = ('whatif', '--shares', 'physics=600')
    whole = rows(place, *change)
    for arguments, chosen in ((('-A', 'physics'), PHYSICS), (('-u', 'anna'), {PHYSICS_ANNA, ANNA}),
                              (('-A', 'chemistry', '-u', 'anna'), {ANNA})):
        found = rows(place, *change, *arguments)
        tap.ok(found and all(row in whole for row in found) and users(found) <= chosen and
               users(found) == users(whole) & chosen, f"whatif {' '.join(arguments)} has only rows of these associations", *found)
    place.succeed(*change, '--json')
    whole = json.loads(place.out)['clusters'][0]
    place.succeed(*change, '--json', '-A', 'physics')
    part = json.loads(place.out)['clusters'][0]
    tap.same((part['commands'], part['after'], [job for job in whole['jobs'] if job['account'] != 'chemistry']),
             (whole['commands'], whole['after'], part['jobs']), 'the selection does not change the computation and the places of jobs')
    place.succeed(*change, '-A', 'chemistry')
    tap.ok('among the selected users' in place.out and 'bob' not in place.out,
           'the text says that the counts are of the selected users',
           place.out)
    place.ends(64, 'whatif rejects an unknown user', *change, '-u', 'nobody')


def body():
    with Place() as place:
        place.ready(DRAWING, {'usage.half_life': '700-0', 'usage.time_zone': 'UTC', 'retention.history_days': 4000})
        place.succeed('run', '--now', NOW)
        for part in (lists, answers, jobs, effects):
            part(place)


tap.main(body)
