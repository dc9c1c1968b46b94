#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""[report] private: users are told of accounts and themselves, and metrics of no user."""

import json
import os
import pwd
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import place as places
import tap
from place import NOW, Place

OTHER = 'nobody'  # a login that every Debian has
DRAWING = f"""
cluster tiny
root/
  physics/ 60
    alice      10  use 300
    {OTHER}    10  use 100
job physics.alice    id_job=901 submit={NOW - 100} time_eligible={NOW - 100} partition=p tres_req=1=8 limit=60
job physics.{OTHER}  id_job=902 submit={NOW - 100} time_eligible={NOW - 100} partition=p tres_req=1=8 limit=60
"""


def names(place, *command, **more):
    """The users that a command tells of."""
    place.succeed(*command, **more)
    return sorted(name for name in ('alice', OTHER) if name in place.out)


def private(place):
    place.ready(DRAWING, {'report.private': 'yes'})
    place.succeed('run', '--now', NOW)
    place.succeed('run', '--now', NOW + 7200)
    for command in (('show',), ('prio', '--long'), ('history', 'alice'), ('explain', 'alice', OTHER)):
        tap.ok('alice' in names(place, *command), f'the owner of the settings sees all ({command[0]})')
    tap.same(names(place, 'metrics'), [], 'metrics name no user')
    tap.ok('slurm_account_fairshare_raw_shares{cluster="tiny",account="physics"} 60\n' in place.out, 'but accounts')
    place.settings({'report.private': 'no'})
    tap.same(names(place, 'metrics'), sorted(['alice', OTHER]), 'unless nothing is private')
    if os.getuid():
        # Where nobody looks at what was skipped it is a failure.
        ci = os.environ.get('CI') == 'true'
        tap.ok(not ci, 'as another user' + ('' if ci else ' # SKIP needs root'))
        return
    # One who may read everything, and is told of himself.
    place.settings({'report.private': 'yes'})
    # The build may be where others may not look.
    places.FAIRMILL = shutil.copy(places.FAIRMILL, place.path('fairmill'))
    for folder, _, files in os.walk(place.folder):
        os.chmod(folder, 0o777)
        for file in files:
            os.chmod(os.path.join(folder, file), dict([('fm.conf', 0o644), ('fairmill', 0o755)]).get(file, 0o666))
    other = dict(user=pwd.getpwnam(OTHER).pw_uid, group=pwd.getpwnam(OTHER).pw_gid, extra_groups=[])
    for command in (('show',), ('show', '--parsable'), ('show', '--json'), ('prio', '--long'), ('prio', '--json'),
                    ('history', OTHER), ('explain', OTHER), ('compare',), ('compare', '--csv'), ('compare', '--json'),
                    ('whatif', '--add-usage', f'{OTHER}=900'), ('whatif', '--json', '--add-usage', f'{OTHER}=900'),
                    ('forecast', OTHER, '--now', str(NOW))):
        tap.same(names(place, *command, **other), [OTHER], f"others see themselves only ({' '.join(command)})")
    place.succeed('show', '--json', **other)
    tap.same([row['account'] for row in json.loads(place.out)['clusters'][0]['associations']], ['root', 'physics', 'physics'],
             'and the accounts that they are in')
    place.succeed('show', '--parsable')
    with open(place.path('print'), 'w', encoding='utf-8') as file:
        file.write(place.out)
    place.run('diff', '--at', NOW + 7200, '--json', place.path('print'), **other)
    tap.ok('alice' not in place.out and OTHER in place.out, 'nor does diff tell of others', place.out, place.err)
    tap.same(names(place, 'history', 'physics', **other), [], 'accounts have a history for everybody')
    for command in (('show', '--user', 'alice'), ('prio', '-u', 'alice'), ('history', 'alice'), ('explain', 'alice'),
                    ('explain', OTHER, 'alice'), ('show', '--pbs', 'alice'), ('forecast', 'alice'),
                    ('whatif', '--shares', 'alice=7'), ('whatif', '--remove-user', 'alice')):
        place.ends(64, f"another user is refused ({' '.join(command)})", *command, **other)
        place.says('and the message says why', 'private', "'alice' is not you")


def body():
    with Place() as place:
        private(place)


tap.main(body)
