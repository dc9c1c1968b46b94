#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that all names that a release promised (doc/compatibility.md) still exist.

The names of this version must be in its record."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import names
import tap
from place import Place
from program import FAIRMILL, TOP

RELEASES = os.path.join(HERE, '..', 'data', 'releases')
# Removed names of earlier releases, according to NEWS.
TAKEN_AWAY = {
    # 0.2.0: short options now match the options of Slurm's commands.
    '0.1.0': {'letter compare -n --top', 'letter forecast -u --until', 'letter history -u --usage',
              'letter ledger -n --dry-run', 'letter ledger -p --partition', 'letter run -n --dry-run',
              'letter whatif -m --move'},
    # 0.3.0: sreport itself prints these sums.
    '0.2.0': {'option statement --as-sreport'},
}
# An option that accepts names has the same meaning in singular and plural (t/command/grammar.t).
NAMES = {'--cluster', '--account', '--user', '--partition'}


# Help shows the first of two spellings that mean the same.
ALSO = {f'option {command} --{old}': f'option {command} --{new}' for command in ('history', 'ledger')
        for old, new in (('from', 'since'), ('to', 'until'))}
# The settings file may still use the former name of a setting.
ALSO['setting usage.seal_after'] = 'setting usage.checkpoint_after'


def name_of(line):
    """Returns the part of a line that is compared: without defaults, and with option names in
    plural."""
    line = line.partition(' =')[0]
    line = ALSO.get(line, line)
    return line + 's' if line.split()[-1] in NAMES else line


def settings_are_taken(place, release, lines):
    """Tests that the settings of a release are accepted with their former defaults."""
    place.site()
    place.settings()
    given = {}
    for line in lines:
        if match := re.fullmatch(r'setting (\w+\.\w+) =(.*)', line):
            if match.group(1) not in ('source.driver', 'source.database', 'results.driver', 'results.database'):
                given[match.group(1)] = match.group(2).strip()
    place.settings(given)
    place.succeed('init')
    tap.ok(len(given) > 50 and place.run('run') == 0 and not place.err,
           f'the settings of {release} are accepted with their former defaults',
           len(given), place.err)


def is_part_of(build, line):
    """Returns False for names of `report` if the build does not include it."""
    return 'command report' in build or line.split()[1] != 'report'


def body():
    build = set(names.collect(FAIRMILL, TOP, names.text_of(TOP, 'etc', 'fairmill.conf')))
    there = {name_of(line) for line in build}
    releases = sorted(name for name in os.listdir(RELEASES) if name.endswith('-names'))
    version = subprocess.run([FAIRMILL, '--version'], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
    for file in releases:
        release = file.removesuffix('-names')
        lines = [line for line in names.text_of(RELEASES, file).splitlines() if not line.startswith('#')]
        lost = {line for line in lines if is_part_of(build, line) and name_of(line) not in there}
        if release in TAKEN_AWAY:
            tap.same(lost & TAKEN_AWAY[release], TAKEN_AWAY[release], f'only the listed names of {release} are removed')
            lost -= TAKEN_AWAY[release]
        tap.same(sorted(lost), [], f'every name of {release} still exists')
        with Place() as place:
            settings_are_taken(place, release, lines)
        if release == version:
            tap.same(sorted(build - set(lines)), [], f'every name is in the record (t/lib/names.py > t/data/releases/{file})')
            version = None
    tap.ok(not version, 'this version has a record of its names')


tap.main(body)
