#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Wrong command lines exit with status 64 and publish nothing; right ones are accepted."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place
from program import FAIRMILL

WRONG = (
    ((), 'no command'),
    (('mill',), 'an unknown command'),
    (('tune',), 'another unknown command'),
    (('forecast', 'x', '-u', 'y'), 'a name and a user'),
    (('forecast',), 'forecast without a name'),
    (('whatif', 'alice'), 'an argument that whatif does not accept'),
    (('run', '--faster'), 'an unknown option'),
    (('run', 'tiny'), 'an argument that run does not accept'),
    (('init', '--now', '5'), "another command's option"),
    (('run', '--now'), 'an option without its argument'),
    (('run', '--now', 'someday'), '--now with a word that is not a time'),
    (('run', '--now', '2025-02-30'), '--now on a day that does not exist'),
    (('run', '--now', '2025-06-21 10:00 2025-06-22'), '--now on two days'),
    (('run', '--now', '-5'), 'a negative --now'),
    (('run', '--now', '1e9'), '--now with a number that is not whole'),
    (('run', '--now', '99999999999999999999'), '--now with a number that is too large'),
    (('run', '--now', ''), 'an empty --now'),
    (('run', '--cluster', 'atlantis'), 'an unknown cluster'),
    (('run', '--cluster', ''), 'a cluster without a name'),
    (('show', '--colour'), 'an unknown option of show'),
    (('help', 'tune'), 'help for an unknown command'),
    (('help', 'run', 'show'), 'help for two commands'),
)


def body():
    with Place() as place:
        place.ready()
        for arguments, what in WRONG:
            place.ends(64, f'{what} is bad usage', *arguments)
            tap.ok(place.err and not place.out, f'{what} is reported on standard error only', place.out,
                   place.err)
        tap.same(place.query('SELECT count(*) FROM fairmill_fairshare'), [(0,)],
                 'wrong command lines publish nothing')
        place.ends(64, 'an unknown cluster next to a known one is bad usage', 'run', '--cluster',
                   'tiny', '--cluster', 'atlantis')
        place.says('the error names the unknown cluster', "'atlantis'")
        place.ends(0, '--version exits with status 0', '--version', settings=None)
        tap.ok(place.out.startswith('fairmill ') and place.out.count('\n') == 1,
               '--version is one line', place.out)
        place.ends(0, '--help exits with status 0', '--help', settings=None)
        tap.ok(all(name in place.out for name in ('init', 'check', 'run', 'show')),
               '--help lists the commands', place.out)
        helps = place.out
        for name in re.findall(r'^  ([a-z]+) ', place.out, re.M):
            place.succeed(name, '--help')
            helps += place.out
        # The settings file of a long prefix has its own line, which may be longer.
        tap.same([line for line in helps.splitlines() if len(line) > 80 and not line.endswith('/fairmill.conf')], [],
                 'no help is wider than a terminal')
        with open('/dev/full', 'w') as full:
            for arguments in (['--help'], ['--version'], ['show', '--help']):
                done = subprocess.run([FAIRMILL, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
                tap.ok(done.returncode == 1 and b'cannot write' in done.stderr,
                       f'{" ".join(arguments)} reports a full disk', done)
        place.ends(0, 'a bare run computes for the present', 'run')
        place.ends(0, '--now accepts epoch seconds', 'run', '--now', NOW, '--replace')
        for text, zone, epoch in (('2025-06-21', 'UTC', 1750464000),
                                  ('2025-06-21T10:30', 'UTC', 1750501800),
                                  ('2025-06-21 10:30', 'UTC', 1750501800),
                                  ('2025-06-21T10:30:05', 'UTC', 1750501805),
                                  ('2025-06-21', 'Europe/Berlin', 1750456800),
                                  ('2025-01-21T10:30', 'America/New_York', 1737473400)):
            place.settings({'usage.time_zone': zone})
            place.ends(0, f'--now accepts {text} in {zone}', 'run', '--now', text, '--replace')
            tap.same(place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), [(epoch,)],
                     f'{text} in {zone} is {epoch}')


tap.main(body)
