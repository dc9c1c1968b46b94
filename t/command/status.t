#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""What status tells of the results, to people and to monitors; and reader.conf."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place
from program import FAIRMILL

ROOT = os.geteuid() == 0


def before_any_run(place):
    place.ready()
    place.ends(1, 'before any run there is nothing to tell', 'status')
    place.says('and that is said', 'no results yet')
    place.ends(2, 'which is critical to a monitor', 'status', '--nagios')
    tap.ok('CRITICAL - no results yet' in place.out, 'in so many words', place.out)


def ages(place):
    now = int(time.time())
    place.succeed('run', '--now', now - 3 * 7205)
    place.succeed('run', '--now', now - 7205)
    place.succeed('status')
    header, line = place.out.splitlines()
    tap.same(header.split(), ['Cluster', 'Age', 'Duration', 'Lag', 'Findings', 'Drift', 'Health', 'LastRun'], 'the columns')
    tap.same(line.split()[:3], ['tiny', '2', 'h'], 'a cluster and how old its results are')
    tap.ok(line.endswith('done'), 'and how its last run ended', line)
    place.ends(0, 'results younger than --max-age are good', 'status', '--max-age', '3h')
    place.ends(1, 'older ones are not', 'status', '--max-age', '2h')
    place.says('the cluster is named', "'tiny'", '2h')
    place.ends(64, 'a --max-age that is no time is wrong usage', 'status', '--max-age', 'soon')
    place.ends(0, 'a monitor has no other limit', 'status', '--nagios')
    place.ends(0, 'and takes one', 'status', '--nagios', '--max-age', '1d')
    first = place.out.splitlines()[0]
    tap.ok(first.startswith('FAIRMILL OK - tiny 2 h old | '), 'it reads one line', first)
    tap.ok("'tiny age'=72" in first and ';;86400' in first and "'tiny findings'=1" in first,
           'with figures behind the bar', first)


def for_programs(place):
    now = int(time.time())
    place.succeed('run', '--now', now - 7205)
    place.succeed('status', '--json')
    (tiny,) = json.loads(place.out)['clusters']
    tap.same((tiny['cluster'], tiny['as_of'], tiny['findings'], tiny['status'], tiny['message']),
             ('tiny', now - 7205, 1, 'done', ''), '--json has the values of the columns in the tables')
    tap.ok(7205 <= tiny['age'] < 7300 and abs(tiny['started_at'] - now) < 100, 'age in seconds and instants as they are', tiny)
    place.succeed('status', '--csv')
    (row,) = csv.DictReader(io.StringIO(place.out, newline=''))
    tap.same(list(row), list(tiny), 'and so has --csv')
    tap.same((row['as_of'], row['status']), (str(now - 7205), 'done'), 'with the same values')
    place.succeed('status', '--parsable', '-o', 'cluster,asof,findings')
    tap.same(place.out, f'Cluster|AsOf|Findings\ntiny|{now - 7205}|1\n', 'columns can be chosen')
    place.succeed('status', '--noheader', '-o', 'cluster,findings')
    tap.same(place.out, 'tiny 1\n', 'without headings too')
    place.ends(64, 'a column that is not there is refused', 'status', '-o', 'clutser')
    place.ends(64, 'a monitor has no other form', 'status', '--nagios', '--json')


def figures(line):
    """{figure: its value and limits}, of the only cluster."""
    return dict(re.findall(r"'tiny ([a-z_]+)'=(\S+)", line.partition('|')[2]))


def limits(place):
    """tiny has one finding, capacity_unknown, and was computed two hours ago."""
    now = int(time.time())
    place.succeed('run', '--now', now - 7205)
    old = ('--max-age', '1d')
    place.ends(0, 'without another limit all is well', 'status', *old)
    place.ends(1, 'a limit of findings is kept to', 'status', '-w', 'findings=0', *old)
    place.says('and named', "'tiny'", 'findings outside 0')
    for status, limit in ((1, ('-w', 'findings=0')), (0, ('-w', 'findings=1')), (2, ('--critical', 'findings=0')),
                          (2, ('-w', 'findings=0', '--critical', 'capacity_unknown=0')),
                          (1, ('-w', 'findings=2:')), (0, ('-w', 'findings=1:')), (1, ('-w', 'findings=@1:2')),
                          (0, ('-w', 'findings=@2:3')), (0, ('-w', 'findings=~:1')), (1, ('-w', 'findings=~:0')),
                          (0, ('-w', 'job_tres_unreadable=0')), (1, ('-w', 'age=2h')), (0, ('-w', 'age=3h')),
                          (2, ('--critical', 'lag=5d')), (0, ('-w', 'drift=0'))):
        place.ends(status, f"a monitor gets {status} by {' '.join(limit)}", 'status', '--nagios', *old, *limit)
    place.run('status', '--nagios', '-w', 'age=3h', '--critical', 'age=1d', '-w', 'findings=5', '--critical', 'lag=1',
              '-w', 'job_open_beyond_limit=2:9')
    found = figures(place.out)
    tap.ok(re.fullmatch('72[0-9][0-9]s;10800;86400', found['age']), 'figures have both limits, in seconds', found)
    tap.same((found['findings'], found['job_open_beyond_limit']), ('1;5;', '0;2:9;'), 'those of findings too')
    tap.ok(found['lag'].endswith('s;;1'), 'and a limit that is critical stands behind', found['lag'])
    for wrong in ('findings', 'findings=', 'findings=many', 'finding=1', 'findings=2:1', 'age=1y', '=1', 'findings=1:2:3'):
        place.ends(64, f"'{wrong}' is no limit", 'status', '-w', wrong)
    place.says('which is named', f"'{wrong}'")
    place.ready()
    place.run('status', '--nagios')
    tap.same(figures(place.out), {}, 'without a cluster there are no figures')
    place.change('UPDATE tiny_assoc_table SET parent_acct = \'gone\', id_parent = 77 WHERE acct = \'physics\' AND "user" = \'\'')
    place.run('run')
    place.ends(2, 'what was never published is critical', 'status', '--nagios', '--max-age', '1000d')
    tap.same(figures(place.out)['age'], 'U;;86400000', 'and its age is unknown, not 0')


def failures(place):
    place.ready()
    place.succeed('run')
    place.change('UPDATE tiny_assoc_table SET parent_acct = \'gone\', id_parent = 77 WHERE acct = \'physics\' AND "user" = \'\'')
    place.ends(65, 'a run that fails', 'run')
    place.ends(1, 'a run that failed is no success of status', 'status')
    tap.ok('failed: ' in place.out and "'physics'" in place.out, 'is told with its reason', place.out)
    place.ends(1, 'and is a warning to a monitor', 'status', '--nagios', '--max-age', '1d')
    tap.ok('WARNING' in place.out and 'last run failed' in place.out, 'that says so', place.out)
    place.settings({'results.database': place.path('nowhere.db')})
    place.ends(3, 'without results a monitor cannot tell', 'status', '--nagios')
    tap.ok(place.out.startswith('FAIRMILL UNKNOWN - '), 'and is told why', place.out)


def retired(place):
    place.ready('cluster tiny\nroot/\n  u 1\ncluster other\nroot/\n  u 1\n')
    place.succeed('run')
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'other'")
    place.succeed('run')
    place.succeed('status')
    tap.same([line.split()[0] for line in place.out.splitlines()[1:]], ['tiny'], 'a retired cluster is not looked after')


def readers(place):
    place.ready()
    place.succeed('run')
    os.mkdir(place.path('etc'))
    with open(place.path('etc/reader.conf'), 'w') as file:
        file.write(f"[results]\ndriver = sqlite\ndatabase = {place.path('r.db')}\n")
    for command in ('show', 'status'):
        place.ends(0, f'{command} takes reader.conf where the settings are missing', command, settings='etc/fairmill.conf')
    for command in ('run', 'check', 'init'):
        place.ends(78, f'{command} does not', command, settings='etc/fairmill.conf')
    place.says('it names the settings it wants', 'etc/fairmill.conf')
    place.ends(78, 'reader.conf alone is not enough to run with', 'run', settings='etc/reader.conf')
    place.says('since the source is missing', '[source] driver is missing')
    if ROOT:
        shutil.copy(FAIRMILL, place.path('fairmill'))  # where it was built not everybody may look
        for name in ('', 'etc', 'etc/reader.conf', 'r.db', 'fairmill'):
            os.chmod(place.path(name), 0o755)
        place.settings(name='etc/fairmill.conf')
        os.chmod(place.path('etc/fairmill.conf'), 0o600)
        for command, expected in ('show', 0), ('run', 78):
            done = subprocess.run([place.path('fairmill'), '-c', place.path('etc/fairmill.conf'), command],
                                  cwd=place.folder, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                  user=65534, group=65534, extra_groups=[])
            tap.same(done.returncode, expected, f'where they may not be read, {command} ends with {expected}')


def body():
    with Place() as place:
        for part in (before_any_run, ages, for_programs, limits, failures, retired, readers):
            part(place)


tap.main(body)
