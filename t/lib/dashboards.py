# SPDX-License-Identifier: MIT
"""Runs the queries of Grafana's dashboards as its data sources would, and compares the results of
servers."""

import csv
import io
import json
import math
import os
import re
import sqlite3
import subprocess

import demonstration
import tap
from mariadb import default_role
from place import NOW, Place
from program import TOP, fairmill, write_settings

DAY = 86400
BUILD = os.environ.get('top_builddir') or os.path.join(TOP, 'build')
AUDIENCES = ('viewers', 'operators')
NAMES = ('site', 'account', 'health')
RANGE = (NOW - 30 * DAY, NOW + 1000)
INTERVAL_S = 3600
PLUGIN = dict(mysql='mysql', pgsql='postgres')
# Panels that are empty unless there is a problem.
EMPTY = {'Failed runs and their messages'}


def load(driver, audience, name):
    with open(os.path.join(BUILD, 'grafana', driver, audience, f'fairmill-{name}.json'), encoding='utf-8') as file:
        return json.load(file)


def macro(driver, name, arguments):
    """Expands a macro like the data source of each driver."""
    first, last = RANGE
    if name == 'unixEpochFilter':
        return f'{arguments[0]} >= {first} AND {arguments[0]} <= {last}'
    if name == 'unixEpochTo':
        return str(last)
    if name == 'unixEpochGroup':
        return {'mysql': '{0} DIV {1} * {1}', 'pgsql': 'floor(({0})/{1})*{1}', 'sqlite': '({0})/{1}*{1}'}[driver].format(
            arguments[0], INTERVAL_S)
    raise ValueError(f'no such macro: {name}')


def fill(driver, sql, variables):
    sql = re.sub(r'\$\{(\w+):sqlstring\}', lambda match: "'" + variables[match[1]].replace("'", "''") + "'", sql)
    sql = re.sub(r'\$__(\w+)\(([^)]*)\)', lambda match: macro(driver, match[1], [part.strip() for part in match[2].split(',')]),
                 sql.replace('$__interval', f'{INTERVAL_S}s'))
    if '$' in sql:
        raise ValueError(f'left over: {sql}')
    return sql


def ask(server, database, user, sql):
    """Returns (rows, error) of the query under this login."""
    done = subprocess.run(server.client(database, user), input=sql + ';', stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        return None, done.stderr.strip()
    return [[None if cell == 'NULL' else cell for cell in line.split('\t')] for line in done.stdout.splitlines()], ''


def same_cell(got, expected):
    if got is None or expected is None:
        return got is expected
    if isinstance(expected, str):
        return got == expected
    return math.isclose(float(got), expected, rel_tol=1e-9, abs_tol=1e-12)


def same_rows(got, expected):
    return len(got) == len(expected) and all(
        len(a) == len(b) and all(map(same_cell, a, b)) for a, b in zip(got, expected))


def is_whole(driver, page, statement):
    """Tests the properties that Grafana 10 and 11 need in an imported file."""
    wrong = []
    boxes = [panel['gridPos'] for panel in page['panels']]
    for panel in page['panels']:
        box = panel['gridPos']
        if box['x'] + box['w'] > 24 or any(
                other is not box and box['x'] < other['x'] + other['w'] and other['x'] < box['x'] + box['w'] and
                box['y'] < other['y'] + other['h'] and other['y'] < box['y'] + box['h'] for other in boxes):
            wrong.append(f"{panel['title']} lies on another")
        if panel['datasource'] != dict(type=PLUGIN[driver], uid='${datasource}'):
            wrong.append(f"{panel['title']} has a data source of its own")
        if not panel['fieldConfig']['defaults']['unit'] or not panel['targets'][0]['rawSql']:
            wrong.append(f"{panel['title']} has no unit or no query")
    ids = [panel['id'] for panel in page['panels']]
    first = page['templating']['list'][0]
    tap.ok(not wrong and len(ids) == len(set(ids)) and page['uid'] and page['title'] and page['schemaVersion'] >= 36 and
           (first['type'], first['query']) == ('datasource', PLUGIN[driver]) and '://' not in json.dumps(page),
           statement, wrong)


def publish(place, server, driver):
    """Publishes the demonstration's month on the server and in SQLite.  Returns the name of the
    server's database."""
    database = server.database('dashboards')
    demonstration.make(place)
    # Data with a finding.
    db = sqlite3.connect(place.path(demonstration.ACCOUNTING))
    with db:
        db.execute('UPDATE demo_job_table SET time_end = time_start - 10 WHERE job_db_inx = (SELECT max(job_db_inx)'
                   ' FROM demo_job_table WHERE time_start > 0 AND time_end BETWEEN time_start AND ?)', (NOW - DAY,))
    db.close()
    more = {'usage.half_life': '7-0', 'usage.time_zone': 'UTC', 'source.database': place.path(demonstration.ACCOUNTING)}
    place.ready(keys=more)
    conf = place.path('server.conf')
    login = dict(server.connection(database))
    write_settings(conf, dict(source=dict(driver='sqlite', database=place.path(demonstration.ACCOUNTING)), results=login,
                              usage=dict(half_life='7-0', time_zone='UTC')))
    status, printed, err = fairmill(conf, 'init', '--print')
    if status:
        raise RuntimeError(err)
    printed = printed.split('\n-- Privileges to read')[0]
    # The tests run under a login that differs from the one in the settings.
    if driver == 'pgsql':
        printed = printed.replace('CREATE ROLE "postgres"', '-- ')
    done = subprocess.run(server.client(), input=printed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    tap.ok(done.returncode == 0, 'the roles are created', done.stdout[-2000:])
    for at in (*range(NOW - 28 * DAY, NOW, 2 * DAY), NOW):
        for settings in ('fm.conf', 'server.conf'):
            place.succeed('run', '--now', at, '--full', settings=settings)
    # Start time and duration of runs depend on the host, and must be the same for both.
    place.query('UPDATE fairmill_run SET started_at = as_of, duration_ms = 7 * run_id')
    server.sql('UPDATE fairmill_run SET started_at = as_of, duration_ms = 7 * run_id', database)
    return database


def queries(place, server, driver, database, audience, login):
    for name in NAMES:
        page = load(driver, audience, name)
        is_whole(driver, page, f'{audience}: {name} can be imported')
        variables = {}
        for variable in page['templating']['list'][1:]:
            rows, wrong = ask(server, database, login, fill(driver, variable['query'], variables))
            tap.ok(rows, f"{audience}: {name}: there are values to choose for {variable['name']}", wrong)
            variables[variable['name']] = 'robotics' if variable['name'] == 'account' else rows[0][0]
        for panel in page['panels']:
            sql = panel['targets'][0]['rawSql']
            rows, wrong = ask(server, database, login, fill(driver, sql, variables))
            expected = [list(row) for row in place.query(fill('sqlite', sql, variables))]
            what = f"{audience}: {name}: {panel['title']}"
            tap.ok(rows is not None and same_rows(rows, expected),
                   f'{what}: the rows are the same as in SQLite', wrong, rows and rows[:5],
                   expected[:5])
            tap.ok(rows is not None and bool(rows) != (panel['title'] in EMPTY), f'{what}: has rows', fill(driver, sql, variables))


def refusals(server, database, viewer):
    tables = ['fairmill_fairshare', 'fairmill_sshare', 'fairmill_sprio', 'fairmill_job_priority', 'fairmill_association',
              'fairmill_history', 'fairmill_usage_day', 'fairmill_finding', 'fairmill_run', 'fairmill_ledger', 'fairmill_privilege',
              'fairmill_share_change', 'fairmill_pbsfs', 'fairmill_budget', 'fairmill_tres_day', 'fairmill_wait_day']
    got = {table: ask(server, database, viewer, f'SELECT * FROM {table}') for table in tables}
    tap.ok(all(rows is None and 'denied' in wrong for rows, wrong in got.values()),
           'the login of viewers cannot read tables with names',
           {table: answer for table, answer in got.items() if answer[0] is not None or 'denied' not in answer[1]})
    people = {name for name, in server.sql("SELECT DISTINCT user_name FROM fairmill_association WHERE user_name <> ''", database)}
    told = set()
    views = ('account', 'account_history', 'account_day', 'account_tres_day', 'account_waiting', 'findings', 'waiting', 'partition_wait_day', 'runs')
    for view in views:
        rows, wrong = ask(server, database, viewer, f'SELECT * FROM fairmill_{view}')
        tap.ok(rows, f'the login of viewers can read fairmill_{view}', wrong)
        told |= {cell for row in rows or () for cell in row}
    tap.ok(people and not people & told, 'the views for viewers contain no user', people & told)
    tap.ok(ask(server, database, viewer, 'DELETE FROM fairmill_runs')[0] is None, 'the login of viewers cannot change rows')


def expected_shares(place, server, driver, database, viewer):
    """Compares the panel with the manual's own formula for the accounts below the root, from the
    drawn shares."""
    panel = next(p for p in load(driver, 'viewers', 'site')['panels'] if p['title'] == 'Over- and underserved')
    rows, _ = ask(server, database, viewer, fill(driver, panel['targets'][0]['rawSql'], dict(cluster='demo')))
    shares, usage = dict(science=50, engineering=30, medicine=20), {}
    for name in shares:
        (usage[name],), = place.query("SELECT usage_raw FROM fairmill_fairshare WHERE account = ? AND user_name = ''", name)
    # The children of teaching, whose shares are `parent`, are on this level with their own shares.
    (whole,), = place.query("SELECT usage_raw FROM fairmill_fairshare WHERE parent_id IS NULL")
    wanted = {name: (usage[name] / whole) / (shares[name] / 104) for name in shares}
    tap.ok(rows and {name for name, _ in rows} == set(wanted) and all(math.isclose(float(got), wanted[name], rel_tol=1e-9)
                                                                      for name, got in rows),
           'use over share agrees with shares and usage', rows, wanted)


def expected_waits(place, server, driver, database, viewer):
    """Compares the panels with the output of `fairmill waits`."""
    first = (RANGE[0] // DAY + 1) * DAY  # the first day that begins in this period
    place.succeed('waits', '--by', 'partition', '--per', 'week', '--since', first, '--csv')
    waits = list(csv.DictReader(io.StringIO(place.out)))
    for title, column in (('Median wait by week', 'median_s'), ('90th percentile of waits by week', 'p90_s')):
        panel = next(p for p in load(driver, 'viewers', 'site')['panels'] if p['title'] == title)
        rows, _ = ask(server, database, viewer, fill(driver, panel['targets'][0]['rawSql'], dict(cluster='demo')))
        got = {(int(week), partition): float(seconds) for week, partition, seconds in rows}
        wanted = {(int(row['from']) - (int(row['from']) - 345600) % (7 * DAY), row['partition']): int(row[column]) for row in waits}
        tap.ok(got.keys() == wanted.keys() and all(abs(got[key] - wanted[key]) < 0.51 for key in wanted),
               f'{title} agrees with fairmill waits', got, wanted)


def try_on(kind, driver):
    with kind() as server, Place() as place:
        database = publish(place, server, driver)
        for login, role in (('dashboards_viewer', 'fairmill_dashboard'), ('dashboards_operator', 'fairmill_reader')):
            grant_role(server, driver, role, login)
        queries(place, server, driver, database, 'viewers', 'dashboards_viewer')
        queries(place, server, driver, database, 'operators', 'dashboards_operator')
        refusals(server, database, 'dashboards_viewer')
        expected_shares(place, server, driver, database, 'dashboards_viewer')
        expected_waits(place, server, driver, database, 'dashboards_viewer')


def grant_role(server, driver, role, login):
    server.login(login)
    if driver == 'mysql':
        server.sql(f"GRANT {role} TO {login}@localhost; {default_role(role, f'{login}@localhost')}")
    else:
        server.sql(f'GRANT {role} TO {login}')
