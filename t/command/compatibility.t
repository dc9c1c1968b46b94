#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""What a release promised by name (doc/compatibility.md) is there still, and all that this version has is on its record."""

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
# What 0.2.0 took away of 0.1.0, as NEWS says; letters are those of Slurm's commands since then.
TAKEN_AWAY = {'letter compare -n --top', 'letter forecast -u --until', 'letter history -u --usage',
              'letter ledger -n --dry-run', 'letter ledger -p --partition', 'letter run -n --dry-run',
              'letter whatif -m --move'}
# An option of names is the same in singular and plural (t/command/grammar.t).
NAMES = {'--cluster', '--account', '--user', '--partition'}


# Help shows the first of two spellings that mean the same.
ALSO = {f'option {command} --{old}': f'option {command} --{new}' for command in ('history', 'ledger')
        for old, new in (('from', 'since'), ('to', 'until'))}
# The settings file may still use the former name of a setting.
ALSO['setting usage.seal_after'] = 'setting usage.checkpoint_after'


def name_of(line):
    """A line as it is compared: a setting without its default, an option that takes names in plural."""
    line = line.partition(' =')[0]
    line = ALSO.get(line, line)
    return line + 's' if line.split()[-1] in NAMES else line


def settings_are_taken(place, release, lines):
    """Each with the default that it had."""
    place.site()
    place.settings()
    given = {}
    for line in lines:
        if match := re.fullmatch(r'setting (\w+\.\w+) =(.*)', line):
            if match.group(1) not in ('source.driver', 'source.database', 'results.driver', 'results.database'):
                given[match.group(1)] = match.group(2).strip()
    place.settings(given)
    place.succeed('init')
    tap.ok(len(given) > 50 and place.run('run') == 0 and not place.err, f'the settings of {release} are taken with the defaults they had',
           len(given), place.err)


def is_part_of(build, line):
    """A build without the page has no command report."""
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
        if release == '0.1.0':
            tap.same(lost & TAKEN_AWAY, TAKEN_AWAY, 'the letters that have another meaning now are no others')
            lost -= TAKEN_AWAY
        tap.same(sorted(lost), [], f'every name of {release} is there still')
        with Place() as place:
            settings_are_taken(place, release, lines)
        if release == version:
            tap.same(sorted(build - set(lines)), [], f'every name is on record (t/lib/names.py > t/data/releases/{file})')
            version = None
    tap.ok(not version, 'this version has a record')


tap.main(body)
