#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the output of status as text and for monitors, and reader.conf."""

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
    place.ends(1, 'status before the first run exits with status 1', 'status')
    place.says('the error of status says that there are no results', 'no results yet')
    place.ends(2, 'status --nagios before the first run exits with status 2', 'status', '--nagios')
    tap.ok('CRITICAL - no results yet' in place.out, 'status --nagios says that there are no results', place.out)


def ages(place):
    now = int(time.time())
    place.succeed('run', '--now', now - 3 * 7205)
    place.succeed('run', '--now', now - 7205)
    place.succeed('status')
    header, line = place.out.splitlines()
    tap.same(header.split(), ['Cluster', 'Age', 'Duration', 'Lag', 'Findings', 'Drift', 'Health', 'LastRun'],
             'status has these columns')
    tap.same(line.split()[:3], ['tiny', '2', 'h'], 'a row has the cluster and the age of its results')
    tap.ok(line.endswith('done'), 'a row has the status of the last run', line)
    place.ends(0, 'results younger than --max-age are accepted', 'status', '--max-age', '3h')
    place.ends(1, 'results older than --max-age are reported', 'status', '--max-age', '2h')
    place.says('the error names the cluster and the limit', "'tiny'", '2h')
    place.ends(64, 'an invalid --max-age is rejected', 'status', '--max-age', 'soon')
    place.ends(0, 'status --nagios without --max-age uses the default', 'status', '--nagios')
    place.ends(0, 'status --nagios accepts --max-age', 'status', '--nagios', '--max-age', '1d')
    first = place.out.splitlines()[0]
    tap.ok(first.startswith('FAIRMILL OK - tiny 2 h old | '), 'status --nagios prints one line', first)
    tap.ok("'tiny age'=72" in first and ';;86400' in first and "'tiny findings'=1" in first,
           'the line has performance data after the bar', first)


def for_programs(place):
    now = int(time.time())
    place.succeed('run', '--now', now - 7205)
    place.succeed('status', '--json')
    (tiny,) = json.loads(place.out)['clusters']
    tap.same((tiny['cluster'], tiny['as_of'], tiny['findings'], tiny['status'], tiny['message']),
             ('tiny', now - 7205, 1, 'done', ''), '--json has the values of the columns')
    tap.ok(7205 <= tiny['age'] < 7300 and abs(tiny['started_at'] - now) < 100,
           '--json has the age in seconds and times in epoch seconds',
           tiny)
    place.succeed('status', '--csv')
    (row,) = csv.DictReader(io.StringIO(place.out, newline=''))
    tap.same(list(row), list(tiny), '--csv has the columns of --json')
    tap.same((row['as_of'], row['status']), (str(now - 7205), 'done'), '--csv has the values of --json')
    place.succeed('status', '--parsable', '-o', 'cluster,asof,findings')
    tap.same(place.out, f'Cluster|AsOf|Findings\ntiny|{now - 7205}|1\n', 'columns can be selected')
    place.succeed('status', '--noheader', '-o', 'cluster,findings')
    tap.same(place.out, 'tiny 1\n', '--noheader omits the headings')
    place.ends(64, 'an unknown column is rejected', 'status', '-o', 'clutser')
    place.ends(64, '--nagios and --json are mutually exclusive', 'status', '--nagios', '--json')


def figures(line):
    """Returns {figure: its value and limits} of the only cluster."""
    return dict(re.findall(r"'tiny ([a-z_]+)'=(\S+)", line.partition('|')[2]))


def limits(place):
    """Cluster tiny has one finding, capacity_unknown, and was computed two hours ago."""
    now = int(time.time())
    place.succeed('run', '--now', now - 7205)
    old = ('--max-age', '1d')
    place.ends(0, 'status without other limits succeeds', 'status', *old)
    place.ends(1, 'a limit of findings is checked', 'status', '-w', 'findings=0', *old)
    place.says('the error names the limit', "'tiny'", 'findings outside 0')
    for status, limit in ((1, ('-w', 'findings=0')), (0, ('-w', 'findings=1')), (2, ('--critical', 'findings=0')),
                          (2, ('-w', 'findings=0', '--critical', 'capacity_unknown=0')),
                          (1, ('-w', 'findings=2:')), (0, ('-w', 'findings=1:')), (1, ('-w', 'findings=@1:2')),
                          (0, ('-w', 'findings=@2:3')), (0, ('-w', 'findings=~:1')), (1, ('-w', 'findings=~:0')),
                          (0, ('-w', 'job_tres_unreadable=0')), (1, ('-w', 'age=2h')), (0, ('-w', 'age=3h')),
                          (2, ('--critical', 'lag=5d')), (0, ('-w', 'drift=0'))):
        place.ends(status, f"status --nagios {' '.join(limit)} exits with status {status}", 'status', '--nagios', *old, *limit)
    place.run('status', '--nagios', '-w', 'age=3h', '--critical', 'age=1d', '-w', 'findings=5', '--critical', 'lag=1',
              '-w', 'job_open_beyond_limit=2:9')
    found = figures(place.out)
    tap.ok(re.fullmatch('72[0-9][0-9]s;10800;86400', found['age']), 'performance data have both limits in seconds', found)
    tap.same((found['findings'], found['job_open_beyond_limit']), ('1;5;', '0;2:9;'),
             'performance data of findings have their limits')
    tap.ok(found['lag'].endswith('s;;1'), 'the critical limit is the second limit', found['lag'])
    for wrong in ('findings', 'findings=', 'findings=many', 'finding=1', 'findings=2:1', 'age=1y', '=1', 'findings=1:2:3'):
        place.ends(64, f"the limit '{wrong}' is rejected", 'status', '-w', wrong)
    place.says(f"the error names the limit '{wrong}'", f"'{wrong}'")
    place.ready()
    place.run('status', '--nagios')
    tap.same(figures(place.out), {}, 'without a cluster there is no performance data')
    place.change('UPDATE tiny_assoc_table SET parent_acct = \'gone\', id_parent = 77 WHERE acct = \'physics\' AND "user" = \'\'')
    place.run('run')
    place.ends(2, 'a cluster that was never published is critical', 'status', '--nagios', '--max-age', '1000d')
    tap.same(figures(place.out)['age'], 'U;;86400000', 'the age of a cluster that was never published is unknown')


def failures(place):
    place.ready()
    place.succeed('run')
    place.change('UPDATE tiny_assoc_table SET parent_acct = \'gone\', id_parent = 77 WHERE acct = \'physics\' AND "user" = \'\'')
    place.ends(65, 'a run with bad rows exits with status 65', 'run')
    place.ends(1, 'status after a failed run exits with status 1', 'status')
    tap.ok('failed: ' in place.out and "'physics'" in place.out, 'status shows the reason of the failure', place.out)
    place.ends(1, 'a failed run is a warning with --nagios', 'status', '--nagios', '--max-age', '1d')
    tap.ok('WARNING' in place.out and 'last run failed' in place.out, 'status --nagios says that the last run failed', place.out)
    place.settings({'results.database': place.path('nowhere.db')})
    place.ends(3, 'status --nagios without results exits with status 3', 'status', '--nagios')
    tap.ok(place.out.startswith('FAIRMILL UNKNOWN - '), 'status --nagios without results is UNKNOWN', place.out)


def retired(place):
    place.ready('cluster tiny\nroot/\n  u 1\ncluster other\nroot/\n  u 1\n')
    place.succeed('run')
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'other'")
    place.succeed('run')
    place.succeed('status')
    tap.same([line.split()[0] for line in place.out.splitlines()[1:]], ['tiny'], 'a retired cluster is not in the status')


def readers(place):
    place.ready()
    place.succeed('run')
    os.mkdir(place.path('etc'))
    with open(place.path('etc/reader.conf'), 'w') as file:
        file.write(f"[results]\ndriver = sqlite\ndatabase = {place.path('r.db')}\n")
    for command in ('show', 'status'):
        place.ends(0, f'{command} uses reader.conf if the settings are missing', command, settings='etc/fairmill.conf')
    for command in ('run', 'check', 'init'):
        place.ends(78, f'{command} does not use reader.conf', command, settings='etc/fairmill.conf')
    place.says('the error names the missing settings', 'etc/fairmill.conf')
    place.ends(78, 'a run with reader.conf as settings exits with status 78', 'run', settings='etc/reader.conf')
    place.says('the error says that the accounting database is missing', '[source] driver is missing')
    if ROOT:
        # Other users may not be able to read the build directory.
        shutil.copy(FAIRMILL, place.path('fairmill'))
        for name in ('', 'etc', 'etc/reader.conf', 'r.db', 'fairmill'):
            os.chmod(place.path(name), 0o755)
        place.settings(name='etc/fairmill.conf')
        os.chmod(place.path('etc/fairmill.conf'), 0o600)
        for command, expected in ('show', 0), ('run', 78):
            done = subprocess.run([place.path('fairmill'), '-c', place.path('etc/fairmill.conf'), command],
                                  cwd=place.folder, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                  user=65534, group=65534, extra_groups=[])
            tap.same(done.returncode, expected, f'if the settings cannot be read, {command} exits with {expected}')


def body():
    with Place() as place:
        for part in (before_any_run, ages, for_programs, limits, failures, retired, readers):
            part(place)


tap.main(body)
