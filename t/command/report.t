#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the contents of the page of `fairmill report`, and how its files are written.

Its layout is tested in page.t, and the answers of its scripts in page_answers.t."""

import csv
import html.parser
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import page_sites
import tap
from place import NOW, SMALL, Place
from program import FAIRMILL

DAY = 86400
UTC = {'usage.time_zone': 'UTC'}
HOSTILE = '</script><script>alert(1)</script><!--"\'&amp;\\u003c\u2028\u2029\u202e\\'
HOUR = 3600


# ---- Reading a page ----

def data_of(page):
    """Returns the objects of the page's clusters."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def rows_of(cluster):
    """Returns {(account, user, partition): row as a dictionary}."""
    rows, listed, parent = {}, [], 0
    for number, (name, kind, step, share, used, ratio, spent, place, level, *more) in enumerate(cluster['rows']):
        parent += step
        account = listed[parent]['account'] if kind & 1 else name
        row = dict(number=number, parent=parent, account=account, user=name if kind & 1 else '', inside=not kind & 4, own=bool(kind & 2),
                   share=share, used=used, ratio=ratio, spent=spent, place=place, level=level)
        row.update(zip(('users', 'first', 'last', 'ahead'), more[3:]))
        listed.append(row)
        rows[account, row['user'], more[0] if more else ''] = row
    return rows


class Tables(html.parser.HTMLParser):
    """Collects {id of a table: rows of cells}.  A cell is its text, without pictures."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.rows, self.cell, self.hidden = {}, None, False, 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == 'table':
            self.rows = self.tables.setdefault(dict(attrs).get('id', ''), [])
        elif tag == 'tr' and self.rows is not None:
            self.rows.append([])
        elif tag in ('td', 'th') and self.rows:
            self.rows[-1].append('')
            self.cell = True
        self.hidden += tag in ('svg', 'script', 'style')

    def handle_endtag(self, tag):
        self.hidden -= tag in ('svg', 'script', 'style')
        if tag in ('td', 'th'):
            self.cell = False
        if tag == 'table':
            self.rows = None

    def handle_data(self, data):
        if self.cell and self.rows and not self.hidden:
            self.rows[-1][-1] += data.replace('\u00a0', ' ')


def text_of(page):
    """Returns the visible text, with normalized spaces."""
    body = re.sub(r'<(svg|script|style)\b.*?</\1>', ' ', page, flags=re.S)
    return ' '.join(re.sub('&#?[a-z0-9]+;', lambda match: {'&nbsp;': ' ', '&lt;': '<', '&gt;': '>', '&amp;': '&'}.get(match[0], match[0]),
                           re.sub(r'<[^>]*>', '', body)).split())


def overview_of(page):
    return re.search(r'<section id="overview".*?</section>', page, re.S)[0]


def percent(fraction):
    """A percentage as a page displays it."""
    value = 100 * fraction
    if not value:
        return 0
    return 0.005 if value < 0.01 else float(f'{value:.{2 if value < 0.995 else 1}f}')


def ratio(value):
    """Usage divided by share, as a page displays it, or a longer number beyond these bounds."""
    return float(f'{value:.{2 if value < 9.995 else 0}f}')


def amount(value):
    return 0.5 if 0 < value < 1 else math.floor(value + 0.5)


def near(one, other, by=1.01):
    """Compares amounts that were rounded to whole numbers."""
    return len(one) == len(other) and all((a is None) == (b is None) and (a is None or abs(a - b) <= by) for a, b in zip(one, other))


def csv_of(place, *arguments, settings='fm.conf'):
    place.succeed(*arguments, '--csv', settings=settings)
    return list(csv.DictReader(io.StringIO(place.out)))


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def add_job(place, key, name, start, hours, tres='5=1'):
    """Adds a job like another job of the site, with these values."""
    account, user = name.split('.')
    (assoc,), = place.change('SELECT id_assoc FROM tiny_assoc_table WHERE acct = ? AND user = ?', account, user)
    columns = [column for _, column, *_ in place.change('PRAGMA table_info(tiny_job_table)')]
    job = dict(zip(columns, place.change('SELECT * FROM tiny_job_table LIMIT 1')[0]))
    job.update(job_db_inx=key, id_job=key, id_assoc=assoc, time_submit=start, time_eligible=start, time_start=start,
               time_end=start + hours * 3600, tres_alloc=tres)
    place.change(f"INSERT INTO tiny_job_table ({', '.join(job)}) VALUES ({', '.join('?' * len(job))})", *job.values())


# ---- A site with everything ----

def try_rows(place):
    """Compares the rows with the published values."""
    rows = rows_of(data_of(read(place.path('demo.html')))[0])
    published = {(account, user, partition): values for account, user, partition, *values in sql(
        place, 'SELECT account, user_name, partition_name, shares_norm, usage_raw, shares IS NULL AND depth > 0, id_assoc FROM fairmill_fairshare')}
    tap.same(sorted(rows), sorted(published), 'the page has each association')
    whole = published['root', '', ''][1]
    wrong = []
    for key, (share, usage, parent_shares, _) in published.items():
        row = rows[key]
        share = 1 if key[0] == 'root' else share
        expected = [0 if parent_shares else percent(share), percent(usage / whole)]
        if [row['share'], row['used']] != expected or row['own'] == bool(parent_shares):
            wrong.append((key, row, expected))
        elif not parent_shares and 0.01 <= usage / whole / share <= 100 and row['ratio'] != ratio(usage / whole / share):
            wrong.append((key, row, usage / whole / share))
    tap.same(wrong, [], 'shares, usage and ratios are the published values of the cluster')
    orders = {key: order for *key, order in sql(place, "SELECT account, user_name, partition_name, fairshare_order FROM fairmill_fairshare "
                                                       "WHERE user_name <> ''") for key in (tuple(key),)}
    tap.same({key: row['place'] for key, row in rows.items() if key[1]},
             {key: 1 + sum(other < order for other in orders.values()) for key, order in orders.items()},
             'the page has the places of the published order')
    since = NOW // DAY * DAY - 30 * DAY
    spent = dict(sql(place, 'SELECT id_assoc, SUM(tres_seconds) FROM fairmill_usage_day WHERE day >= ? GROUP BY id_assoc', since))
    tap.ok(near([row['spent'] for key, row in rows.items() if key[1]],
                [spent.get(published[key][3], 0) / HOUR for key in rows if key[1]]) and
           near([rows['root', '', '']['spent']], [sum(spent.values()) / HOUR]),
           'the page has the usage of the last 30 days, with that of accounts')


def sql(place, query, *arguments):
    return place._query('demo-results.db', query, *arguments)


def try_months(place, settings):
    cluster = data_of(read(place.path('demo.html')))[0]
    rows = rows_of(cluster)
    tap.same([cluster['units'], len(cluster['monthNames']), cluster['monthNames'][-1]],
             [['core-hours', 'CPU-hours', 'GPU-hours'], 12, time.strftime('%B %Y', time.gmtime(NOW)).lstrip('0')],
             'the page has the units, and the twelve months until the run')
    shown = {number: (used, due) for number, used, due in cluster['months']}
    first = time.gmtime(NOW)
    since = f'{first.tm_year - (first.tm_mon < 12)}-{first.tm_mon % 12 + 1:02}-01'
    for unit, options in ((0, ()), (1, ('--tres', 'cpu')), (2, ('--tres', 'gres/gpu'))):
        lines = [line for line in csv_of(place, 'statement', '--by', 'month', '--since', since, *options, settings=settings)
                 if int(line['to']) - int(line['from']) < 31.5 * DAY]  # not the totals
        months = sorted({int(line['from']) for line in lines})
        # A line is missing if the association did not exist, or had no usage of the TRES.
        expected = {key: ([0] * 12, [None] * 12) for key in rows}
        for line in lines:
            used, due = expected.get((line['account'], line['username'], line['partition']), ([0] * 12, [None] * 12))  # removed
            month = months.index(int(line['from']))
            used[month], due[month] = amount(float(line['used'])), amount(float(line['due'])) if line['due'] else None
        wrong = [(key, shown[row['number']][kind][unit], expected[key][kind]) for key, row in rows.items() if row['number'] for kind in (0, 1)
                 if not near(shown[row['number']][kind][unit], expected[key][kind])]
        tap.ok(len(months) == 12 and not wrong, f"usage and entitlement by month in {cluster['units'][unit]} are those of `fairmill statement`",
               months, wrong[:3])


def try_outlook(place, settings):
    cluster = data_of(read(place.path('demo.html')))[0]
    rows = rows_of(cluster)
    names = {row['number']: key for key, row in rows.items()}
    budgets = {(line['account'], line['username'], line['tres']): [float(line[f'{name}_minutes']) / 60 for name in ('limit', 'used', 'running', 'left')]
               for line in csv_of(place, 'budget', settings=settings) if line['kind'] == 'association'}
    shown = {(*names[number][:2], {'CPU-hours': 'cpu', 'GPU-hours': 'gres/gpu'}[hours]): values[:4] for number, hours, *values in cluster['budgets']}
    tap.ok(budgets and budgets.keys() == shown.keys() and all(near(shown[key], budgets[key]) for key in budgets),
           'the page has the budgets of `fairmill budget`', shown, budgets)
    forecasts = {names[number]: (pausing, continuing) for number, pausing, continuing in cluster['forecasts']}
    tap.same({key: (len(pausing), pausing[0], len(continuing), continuing[0]) for key, (pausing, continuing) in forecasts.items()},
             {key: (15, row['place'], 15, row['place']) for key, row in rows.items() if key[1]},
             'the page has a forecast of each user, which begins with the place')
    week = '--since', NOW // DAY * DAY - 7 * DAY
    waits, = csv_of(place, 'waits', '--by', 'cluster', *week, settings=settings)
    text = text_of(read(place.path('demo.html')))
    tap.ok(f"median wait of the {waits['jobs']} jobs that started" in text, 'the page has the number of jobs that started last week',
           waits, text[:1500])
    lines = csv_of(place, 'waits', '--by', 'partition', *week, settings=settings)
    cells = {row[0]: row for row in Tables(read(place.path('demo.html'))).tables['partitions-table'][1:]}
    tap.ok({line['partition'] for line in lines} <= cells.keys(), 'the page has each partition in which jobs started', lines, cells)
    over, = [over for over, in sql(place, "SELECT use_over - share_over FROM fairmill_fairness WHERE scope = 'accounts' ORDER BY as_of DESC LIMIT 1")]
    tap.ok(re.search(rf'{percent(over)} ?% ?of recent usage went beyond', text), 'the page has the published fairness', over, text[:1500])


def try_demo(place):
    page_sites.demo(place)
    try_rows(place)
    try_months(place, 'demo.conf')
    try_outlook(place, 'demo.conf')


# ---- Small sites ----

def try_health(place):
    place.ends(1, 'before the first run, report exits with status 1', 'report')
    place.says('the error of report says that there are no results', 'no results yet')
    now = int(time.time()) // 60 * 60
    for back in (1200, 600, 0):
        place.succeed('run', '--now', now - back)
    place.succeed('report')
    cluster, = data_of(place.out)
    tap.same((cluster['asOf'], cluster['staleAfter']), (now, 1800), 'the page has the time of the run, and the age of stale values')
    tap.ok('last run failed' not in place.out, 'without problems the page has no note')
    tap.like(place.out, '<div id="stale"[^>]* hidden>', 'the note about old values is hidden in a page of new values')
    env = {key: value for key, value in os.environ.items() if key != 'FAIRMILL_CONF'}
    place.succeed('report', env=env | {'FAIRMILL_NOW': str(now + 2 * DAY)})
    tap.like(place.out, '<div id="stale"[^>]*status"><b>These values are <span>[0-9]+ [dh] old</span>',
             'a page that is written with old values says so without scripts')
    place.change('UPDATE tiny_assoc_table SET parent_acct = \'gone\', id_parent = 77 WHERE id_assoc > 1')
    place.run('run')
    place.succeed('report')
    tap.ok('last run failed' in text_of(place.out).lower(), 'the page has the problem that status reports', text_of(place.out)[:800])


def try_past(place):
    """Tests usage of TRES and of removed users, and the period."""
    start = NOW - NOW % DAY
    place.ready('tres 1001 gres/gpu\n' + SMALL.replace(' use 300', '').replace(' use 100', ''), UTC)
    for key, (name, day, hours, gpus) in enumerate((('physics.alice', 3, 4, 2), ('physics.bob', 3, 2, 0), ('physics.bob', 2, 1, 0),
                                                    ('chemistry.carol', 2, 8, 1), ('chemistry.carol', 40, 5, 0)), 100):
        add_job(place, key, name, start - day * DAY, hours, '1=4,5=1' + (f',1001={gpus}' if gpus else ''))
    place.succeed('run', '--now', start)
    for options, period, expected in (
            ((), 'last 30 days', dict(root=15, physics=7, alice=4, bob=3, chemistry=8, carol=8)),
            (('--days', 2), 'last 2 days', dict(root=9, physics=1, alice=0, bob=1, chemistry=8, carol=8)),
            (('--since', start - 50 * DAY, '--until', start - 2 * DAY), '2 May 2025 to 18 June 2025',
             dict(root=11, physics=6, alice=4, bob=2, chemistry=5, carol=5)),
            (('--since', start - 3 * DAY, '--until', start - 2 * DAY - DAY // 2), '18 June 2025 to 18 June 2025',
             dict(root=3, physics=3, alice=2, bob=1, chemistry=0, carol=0))):  # half of the day's usage
        place.succeed('report', *options)
        cluster, = data_of(place.out)
        tap.same((cluster['period'], {user or account: row['spent'] for (account, user, _), row in rows_of(cluster).items()}), (period, expected),
                 f'the page has the usage of the period with {options}')
    place.succeed('report')
    whole = place.out
    cluster, = data_of(whole)
    months, rows = {number: used for number, used, _ in cluster['months']}, rows_of(cluster)
    tap.same((cluster['units'], cluster['monthNames'], months[rows['physics', '', '']['number']]),
             (['billed hours', 'GPU-hours'], ['May 2025', 'June 2025'], [[0, 7], [0, 8]]),
             'the page has the months with usage in each unit')
    place.succeed('report', '--days', 3660)
    tap.same(data_of(place.out)[0]['periodDays'], 40, 'usage of a longer period than is kept is divided by the kept days')
    place.succeed('report', '--since', start - 90 * DAY, '--until', start - 60 * DAY)
    cluster, = data_of(place.out)
    tap.same({row['spent'] for row in rows_of(cluster).values()}, {None}, 'usage of a period before the kept usage is unknown')
    tap.same(overview_of(place.out), overview_of(whole), '--until does not change the overview, which is of the newest run')
    for tres, expected in (('GRES/gpu', (1, ['billed hours', 'GPU-hours'])), ('cpu', (1, ['billed hours', 'CPU-hours', 'GPU-hours']))):
        place.succeed('report', '--tres', tres)
        cluster, = data_of(place.out)
        tap.same((cluster['unit'], cluster['units']), expected, f'--tres {tres} adds the unit, and shows it first')
    place.ends(64, 'a TRES that is not kept is rejected', 'report', '--tres', 'mem')
    place.says('the error of --tres names the kept TRES and the setting', "'mem'", 'cpu, gres/gpu', '[usage] tres')
    place.change("UPDATE tiny_assoc_table SET deleted = 1 WHERE user = 'alice'")
    place.succeed('run', '--now', start)
    place.succeed('report')
    cluster, = data_of(place.out)
    rows = rows_of(cluster)
    tap.same([('physics', 'alice', '') in rows, rows['physics', '', '']['spent'],
              {number: used for number, used, _ in cluster['months']}[rows['physics', '', '']['number']][0]], [False, 7, [0, 7]],
             "the usage of a removed user is in the account's usage")
    for days in ('0', '-1', 'x', '3661'):
        place.ends(64, f"--days '{days}' is rejected", 'report', '--days', days)
    place.ends(64, '--since and --days are mutually exclusive', 'report', '--since', start - DAY, '--days', 3)
    place.ends(64, '--since after --until is rejected', 'report', '--since', start, '--until', start - DAY)
    place.ends(64, 'an invalid time is rejected', 'report', '--since', 'someday')


def try_weights(place):
    """Tests the unit and its definition."""
    def shown(**weights):
        place.settings({**UTC, **{f'usage.{key}': value for key, value in weights.items()}})
        place.succeed('run', '--now', NOW)
        place.succeed('report')
        return data_of(place.out)[0]['units'][0], text_of(place.out)

    place.ready(SMALL, UTC)
    unit, text = shown(charge='cpu')
    tap.ok(unit == 'core-hours' and 'One core for one hour.' in text, 'usage charged by CPUs is in core-hours', unit)
    unit, text = shown(charge='tres', tres_weights='cpu=1,gres/gpu=16')
    tap.ok(unit == 'core-hours' and 'one core counts 1 and one GPU 16.' in text, 'a core that counts 1 makes core-hours, and the page has the weights', unit, text[-2500:])
    unit, text = shown(charge='tres', tres_weights='cpu=2')
    tap.ok(unit == 'billed hours' and 'one core counts 2.' in text, 'other weights make billed hours', unit)


def try_algorithms(place):
    """Tests that all algorithms have shares of the cluster, and places, but only Fair Tree has levels."""
    for algorithm in ('fair_tree', 'classic', 'linear', 'depth_oblivious', 'pbs'):
        place.ready(SMALL.replace('chemistry/ 40', 'chemistry/ parent'), {**UTC, 'fairshare.algorithm': algorithm, 'fairshare.capacity': 1})
        place.succeed('run', '--now', NOW)
        place.succeed('report')
        cluster, = data_of(place.out)
        rows = rows_of(cluster)
        value, = place.query(f"SELECT {'level_fs' if algorithm == 'fair_tree' else 'fairshare'} FROM fairmill_fairshare WHERE user_name = 'alice'")[0]
        shown = rows['physics', 'alice', '']['level']
        tap.ok(cluster['ranks'] == (algorithm == 'fair_tree') and near([shown], [1 / value if algorithm == 'fair_tree' else value], 0.005),
               f'with {algorithm} the page has levels or factors', shown, value)
        factors = dict(place.query("SELECT user_name, fairshare_order FROM fairmill_fairshare WHERE user_name <> ''"))
        tap.same({key[1]: row['place'] for key, row in rows.items() if key[1]},
                 {user: 1 + sum(other < order for other in factors.values()) for user, order in factors.items()}, f'with {algorithm} users have places')
        tap.same([(rows[key]['share'], rows[key]['own']) for key in (('physics', '', ''), ('chemistry', '', ''))],
                 [(percent(share) if share else 0, own) for share, own in (
                     place.query("SELECT shares_norm FROM fairmill_fairshare WHERE account = 'physics' AND user_name = ''")[0] + (True,), (0, False))],
                 f'with {algorithm} shares are of the cluster, and `parent` is none')


def try_openpbs(place):
    page_sites.openpbs(place)
    cluster, = data_of(read(place.path('openpbs.html')))
    rows = {user or account: row for (account, user, _), row in rows_of(cluster).items()}
    spent = place._query('pbs-results.db', 'SELECT SUM(tres_seconds) FROM fairmill_usage_day WHERE day >= ?', NOW // DAY * DAY - 30 * DAY)[0][0]
    tap.same((cluster['units'][0], rows['TREEROOT']['spent']), ('cput', amount(spent)), "OpenPBS's usage is in its own unit")
    tap.same((cluster['userWord'], cluster['partitionWord'], cluster['ranks']), ('entity', 'queue', 0), 'the page of OpenPBS has its terms')


def try_empty(place):
    place.ready(SMALL.replace(' use 300', '').replace(' use 100', '').replace(' use 200', ''), UTC)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    cluster, = data_of(place.out)
    tap.same((cluster['anyUsage'], [row['used'] for row in rows_of(cluster).values()]), (0, [0] * 6), 'without usage the page has no usage')
    tap.ok('No usage counts yet.' in text_of(place.out) and 'of recent usage went beyond' not in text_of(place.out), 'without usage the page says so')


def try_levels(place):
    """Tests the sentence about groups if the root has one account, or an account with `parent` shares."""
    groups = ('    physics/ 60\n      alice 1 use 300\n    chemistry/ 40\n      carol 1 use 10\n')
    for all_groups, more, begin, fair in (
            ('all/ 1', '', 'One of the 2 groups below all has used more than its share: physics, 1.61 times.', False),
            ('all/ 1', '    zoe 100\n', 'One of the 2 groups below all has used more than its share: physics, 3.23 times.', False),
            ('all/ parent', '', 'One of the 2 groups at the top level has used more than its share: physics, 1.61 times.', True),
            ('all/ parent', '  bio/ 60\n    bob 1 use 5\n', 'One of the 3 groups at the top level', True)):
        place.ready(f'cluster tiny\nroot/\n  {all_groups}\n{groups}{more}', UTC)
        place.succeed('run', '--now', NOW)
        place.succeed('report')
        text = text_of(overview_of(place.out))
        tap.same((text[8:8 + len(begin)], 'perfectly fair' in text), (begin, fair), f'the page compares the groups of the first level with several: {begin}')


def try_unkept(place):
    place.ready(SMALL, {**UTC, 'retention.history_days': 0})
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    cluster, = data_of(place.out)
    tap.same(({row['spent'] for row in rows_of(cluster).values()}, Tables(place.out).tables['groups-table'][1][5]), ({None}, '\u2013'),
             'without kept usage the page has no usage of the last days, not even 0')


def try_names(place):
    place.ready(SMALL, UTC)
    place.change('UPDATE tiny_assoc_table SET user = ? WHERE user = ?', HOSTILE, 'alice')
    place.change('UPDATE tiny_assoc_table SET acct = ? WHERE acct = ?', HOSTILE, 'chemistry')
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    names = [row[0] for row in data_of(place.out)[0]['rows']]
    block = re.search(r'id="data">(.*?)</script>', place.out, re.S)[1]
    tap.same(set(block) & set('<>&\u2028\u2029\u202e'), set(), 'the data cannot be read as HTML and has no line separators')
    seen = HOSTILE.replace('\u2028', r'\xE2\x80\xA8').replace('\u2029', r'\xE2\x80\xA9').replace('\u202e', r'\xE2\x80\xAE')
    tap.same(names.count(seen), 2, 'names are unchanged, with invisible characters as \\xHH')
    tap.same([len(re.findall('<script', place.out)), 'alert(1)</script>' in place.out], [2, False], 'names are not elements of the page')
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', place.out)[1]
    tap.ok(policy.startswith("default-src 'none'; ") and 'unsafe' not in policy and 'http' not in policy,
           "the policy allows only the page's own style and script", policy)
    tap.same(re.findall(r'<(?:script|link|img|iframe|source|style)[^>]*(?:src|href)="(?!data:,")[^"]*"', place.out), [], 'no element has an address')


def try_output(place):
    place.ready('cluster one\nroot/\n  a/ 1\n    u 1 use 10\ncluster two\nroot/\n  b/ 1\n    v 1 use 10\n', UTC)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    page = place.out
    tap.same([cluster['cluster'] for cluster in data_of(page)], ['one', 'two'], 'the page has each cluster')
    tap.same(re.findall('data-cluster="([^"]*)"', page), ['one', 'two'], 'each cluster has its sections')
    place.succeed('report', '--cluster', 'two', '-o', 'page.html')
    tap.same(([cluster['cluster'] for cluster in data_of(read(place.path('page.html')))], place.out), (['two'], ''),
             '--cluster selects a cluster, and --output writes a file')
    tap.same(os.stat(place.path('page.html')).st_mode & 0o777, 0o644, 'other users can read the file')
    before = os.stat(place.path('page.html')).st_ino
    place.succeed('report', '-o', 'page.html')
    tap.ok(os.stat(place.path('page.html')).st_ino != before, 'the file is replaced by a rename')
    place.ends(1, 'a missing directory for --output is an error', 'report', '-o', 'nowhere/page.html')
    place.says('the error of report -o names the file', "cannot write 'nowhere/page.html':")
    os.mkdir(place.path('folder'))
    place.ends(1, 'a directory as --output is an error', 'report', '-o', 'folder')
    tap.same([name for name in os.listdir(place.folder) if 'folder.' in name], [], 'no temporary file is left next to the directory')
    place.succeed('report', '-A', 'b')
    tap.same([cluster['cluster'] for cluster in data_of(place.out)], ['two'], '-A searches the account in all clusters')
    place.ends(64, 'an unknown cluster is rejected', 'report', '--cluster', 'three')
    place.says('the error names the unknown cluster', "'three'")
    place.settings({'source.driver': None, 'source.database': None}, name='reader.conf')
    place.succeed('report', settings='reader.conf')
    tap.same(place.out, page, 'settings without an accounting database make the same page')


def add_pending(place, key, name):
    add_job(place, key, name, 0, 0)
    place.change('UPDATE tiny_job_table SET time_start = 0, time_end = 0, state = 0, time_submit = ?, time_eligible = ?, account = ? WHERE id_job = ?',
                 NOW - 100, NOW - 100, name.split('.')[0], key)


def named(page, *names):
    """Returns the names that occur as words in the bytes of a page."""
    return [name for name in names if re.search(rf'\b{name}\b', page)]


def try_private(place):
    place.ready(SMALL, {**UTC, 'report.private': 'yes'})
    add_job(place, 100, 'physics.alice', NOW - NOW % DAY - DAY, 4)
    for key, name in ((48213, 'physics.bob'), (48214, 'chemistry.carol')):
        add_pending(place, key, name)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    cluster, = data_of(place.out)
    rows = rows_of(cluster)
    tap.same(sorted(rows), [('chemistry', '', ''), ('physics', '', ''), ('root', '', '')], 'with private = yes the page has only accounts')
    tap.same(named(place.out, 'alice', 'bob', 'carol', '48213', '48214'), [],
             'with private = yes the page has no name of a user and no job')
    tap.same((rows['physics', '', '']['spent'], cluster['jobs'], cluster['forecasts'],
              sorted([row[key] for key in ('number', 'users', 'first', 'last')] for row in rows.values())),
             (4, [], [], [[0, 3, 1, 3], *sorted([row['number'], *count] for row, count in (
                 (rows['physics', '', ''], [2, *places_of(place, 'physics')]), (rows['chemistry', '', ''], [1, *places_of(place, 'chemistry')])))]),
             'with private = yes accounts include hidden users')
    tap.same([row[1] for row in Tables(place.out).tables['partitions-table'][1:]], ['2'], 'with private = yes the page has the number of pending jobs')


def places_of(place, account):
    orders = [order for order, in place.query("SELECT fairshare_order FROM fairmill_fairshare WHERE user_name <> '' ORDER BY fairshare_order")]
    own = [orders.index(order) + 1 for order, in place.query(
        "SELECT fairshare_order FROM fairmill_fairshare WHERE user_name <> '' AND account = ?", account)]
    return min(own), max(own)


def try_own(place):
    """Tests the page of a user who may see only own rows."""
    if os.getuid() or not shutil.which('setpriv'):
        tap.diag('a user with limited permissions: not tested, because setpriv needs root')
        return
    place.ready(SMALL.replace('alice', 'daemon'), {**UTC, 'report.private': 'yes'})
    for key, name in ((48213, 'physics.bob'), (48214, 'physics.daemon')):
        add_pending(place, key, name)
    place.succeed('run', '--now', NOW)
    place.settings({'source.driver': None, 'source.database': None}, name='reader.conf')
    shutil.copy(FAIRMILL, place.path('fairmill'))
    for name in ('', 'r.db', 'reader.conf', 'fairmill'):
        os.chmod(place.path(name), 0o755)
    done = subprocess.run(['setpriv', '--reuid=1', '--regid=1', '--clear-groups', place.path('fairmill'), '-c', place.path('reader.conf'), 'report'],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, cwd=place.folder)
    tap.same((done.returncode, done.stderr), (0, ''), 'a user with limited permissions gets a page')
    cluster, = data_of(done.stdout)
    tap.same(([key[1] for key in rows_of(cluster) if key[1]], [job[0] for job in cluster['jobs']], named(done.stdout, 'bob', 'carol', '48213')),
             (['daemon'], ['48214'], []), 'the page has the own rows and jobs of the user, and of nobody else')


def try_account(place):
    place.ready(SMALL, UTC)
    add_job(place, 100, 'physics.alice', NOW - 2 * DAY, 4)
    for key, name in ((101, 'physics.bob'), (102, 'chemistry.carol')):
        add_pending(place, key, name)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    whole, = data_of(place.out)
    place.succeed('report', '-A', 'physics')
    part, = data_of(place.out)
    rows, others = rows_of(part), rows_of(whole)
    tap.same([(key[:2], row['inside']) for key, row in sorted(rows.items())],
             [(('chemistry', ''), False), (('physics', ''), True), (('physics', 'alice'), True), (('physics', 'bob'), True), (('root', ''), False)],
             'the page of an account has the rows below it, and those with which it is compared')
    tap.ok('carol' not in place.out, 'the page of an account names no users of others')
    values = ('share', 'used', 'ratio', 'spent', 'place')
    tap.same({key: [row[name] for name in values] for key, row in rows.items()}, {key: [others[key][name] for name in values] for key in rows},
             "the rows of an account's page equal the page of all accounts")
    tap.same((part['opened'], part['users'], [job[0] for job in part['jobs']], [job[0] for job in whole['jobs']]),
             (rows['physics', '', '']['number'], 3, ['101'], sorted(['101', '102'], key=[job[0] for job in whole['jobs']].index)),
             'the page of an account opens its answer, and has its jobs only')
    place.succeed('report', '-A', 'chemistry,physics')
    tap.same([row['inside'] for key, row in sorted(rows_of(data_of(place.out)[0]).items())], [True] * 5 + [False],
             '-A with two accounts makes one page with both')
    place.ends(64, 'an unknown account is rejected', 'report', '-A', 'alchemy')
    place.says('the error names the unknown account', "'alchemy'")
    place.ends(64, 'a user as account is rejected', 'report', '-A', 'alice')


def links_of(index):
    return [address for address in re.findall(r'<a href="([^"]*\.html)">', index)]


def try_each(place):
    strange = '../up/<b>"'
    place.ready(SMALL, UTC)
    for column in ('acct', 'parent_acct'):
        place.change(f'UPDATE tiny_assoc_table SET {column} = ? WHERE {column} = ?', strange, 'chemistry')
    place.succeed('run', '--now', NOW)
    place.succeed('report', '--each', 'pages')
    root, folder = place.path('pages'), place.path('pages/tiny')
    tap.same((sorted(os.listdir(root)), sorted(os.listdir(folder))),
             (['index.html', 'tiny'], ['physics.html', 'root.html', '~2E.~2Fup~2F~3Cb~3E~22.html']),
             'each account has a page, with a safe file name')
    index = read(os.path.join(root, 'index.html'))
    addresses = links_of(index)
    tap.ok(len(addresses) == 3 and all(os.path.isfile(os.path.join(root, address)) for address in addresses),
           'the index has links to all pages', addresses)
    place.succeed('report', '-A', 'physics')
    tap.same(data_of(read(os.path.join(folder, 'physics.html'))), data_of(place.out), 'the pages equal the pages of -A')
    tap.ok('href="../index.html"' in read(os.path.join(folder, 'physics.html')), 'each page has a link to the index')
    place.succeed('report')
    tap.same(data_of(index), data_of(place.out), 'the index equals the page of all accounts')
    before = os.stat(os.path.join(folder, 'physics.html')).st_ino
    place.succeed('report', '--each', 'pages', '-A', 'physics')
    tap.ok(os.stat(os.path.join(folder, 'physics.html')).st_ino != before, 'pages are replaced by a rename')
    tap.same(links_of(read(os.path.join(root, 'index.html'))), ['tiny/physics.html'], 'with -A the index has only the selected account')
    place.ends(64, '--each and --output are mutually exclusive', 'report', '--each', 'pages', '-o', 'x.html')
    place.ends(1, 'a directory that cannot be made is an error', 'report', '--each', 'fm.conf/pages')
    place.says('the error of report --each names the directory', "'fm.conf/pages'")


def try_each_cluster(place):
    place.ready(keys=dict(UTC, **{'source.layout': 'plain'}))
    os.unlink(place.path('a.db'))
    place.change('CREATE TABLE associations (cluster, id, parent_id, account, user_name, partition_name, shares, deleted)')
    place.change('CREATE TABLE usage (cluster, id, time_start, time_end, charge)')
    for cluster in ('index.html', 'index', '..'):
        for row in ((1, None, 'root', ''), (2, 1, 'lab', ''), (3, 2, 'lab', 'petra')):
            place.change("INSERT INTO associations VALUES (?, ?, ?, ?, ?, '', 1, 0)", cluster, *row)
    place.succeed('run', '--now', NOW)
    place.succeed('report', '--each', 'clusters')
    root = place.path('clusters')
    tap.same(sorted(os.listdir(root)), ['index', 'index.html', 'index~2Ehtml', '~2E.'], 'each cluster has a directory, whatever its name')
    addresses = links_of(read(os.path.join(root, 'index.html')))
    tap.ok(len(addresses) == 6 and all(os.path.isfile(os.path.join(root, address)) for address in addresses),
           'the index has links to the pages of all clusters', addresses)


def try_changes(place):
    place.ready(SMALL, {**UTC, 'usage.half_life': '7-0', 'fairshare.capacity': 10, 'priority.weight_age': 1})
    place.succeed('run', '--now', NOW - 2 * DAY)
    place.settings({**UTC, 'usage.half_life': '14-0', 'fairshare.capacity': 10, 'priority.weight_age': 2})
    place.succeed('run', '--now', NOW - DAY)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    tap.ok('half_life: 7-0 \u2192 14-0; weight_age: 1 \u2192 2' in text_of(place.out), 'the page has the changed settings of its period')
    place.succeed('report', '--since', NOW, '--until', NOW + 1)
    tap.ok('half_life: 7-0' not in place.out, 'earlier changes are not in the page')


def try_classes(place):
    """Tests usage by partition and QOS, which must equal the sums over job rows."""
    end = NOW - NOW % 3600
    jobs = [('alice', 'short', 1, 3, 4), ('alice', 'long', 2, 5, 2), ('bob', 'long', 1, 1, 8), ('carol', 'short', 1, 2, 1), ('carol', '', 0, 4, 3)]
    drawn = ''.join(
        f'job {"chemistry" if user == "carol" else "physics"}.{user} id_job={50 + number} start={end - hours * 3600} end={end}'
        f' partition={partition or "none"} qos={qos or 1} tres=5={count}\n' for number, (user, partition, qos, hours, count) in enumerate(jobs))
    place.ready('cluster tiny\nroot/\n  physics/ 60\n    alice 10\n    bob 10\n  chemistry/ 40\n    carol 1\n' + drawn + 'qos 2 factor=0.5\n')
    place.change("UPDATE qos_table SET name = CASE id WHEN 1 THEN 'normal' ELSE 'low' END")
    place.change('UPDATE tiny_job_table SET id_qos = 0, partition = ? WHERE id_job = 54', '')
    place.succeed('run', '--now', end + 3600)
    expected, whole = [{}, {}], 0
    for _, partition, qos, hours, count in jobs:
        used = hours * count * (0.5 if qos == 2 else 1)
        whole += used
        for sums, name in zip(expected, (partition or 'none', {0: 'none', 1: 'normal', 2: 'low'}[qos])):
            sums[name] = sums.get(name, 0) + used
    place.succeed('report', '--jobs')
    text = text_of(place.out)
    for sums in expected:
        for name, used in sums.items():
            tap.ok(re.search(rf'\b{name} ?{percent(used / whole):.1f} %', text) or f'{percent(used / whole):.1f} %' in text,
                   f'the page has the usage of {name}', percent(used / whole), text[-3000:])
    place.succeed('report')
    tap.ok('id="uses"' not in place.out, 'without --jobs the page has no usage by partition')


def refused(place, name, content, *words):
    with open(place.path('wrong.json'), 'w', encoding='utf-8') as file:
        file.write(content)
    place.ends(65, f'{name} is rejected', 'report', '--backtest', 'wrong.json')
    tap.ok(not place.out and all(word in place.err for word in ("'wrong.json'", *words)),
           f'the error for {name} names the file and the cause', place.err)


def try_backtest(place):
    """Tests that the page has the values that backtest printed."""
    place.ready(SMALL, {**UTC, 'usage.half_life': '7-0', 'retention.history_days': 3650})
    start = NOW - NOW % DAY
    for key, (name, day, hours) in enumerate((('physics.alice', 9, 4), ('physics.bob', 6, 20), ('chemistry.carol', 2, 8)), 100):
        add_job(place, key, name, start - day * DAY, hours)
    place.succeed('run', '--now', start)
    place.succeed('backtest', '--half-life', '1-0', '--half-life', '0', '--algorithm', 'classic', '--since', start - 10 * DAY, '--until', start, '--json')
    printed = place.out
    with open(place.path('trial.json'), 'w', encoding='utf-8') as file:
        file.write(printed)
    tried = json.loads(printed)['clusters'][0]
    place.succeed('report', '--backtest', 'trial.json')
    trials = re.search(r'<section id="trials".*?</section>', place.out, re.S)
    tap.ok(trials and all(text in text_of(trials[0]) for text in ('0, classic', 'alice', 'bob', 'carol', 'physics', 'chemistry')),
           'the page has the variants and the associations of the backtest', trials and text_of(trials[0]))
    values = {(row['user_name'], row['settings']): row for row in tried['associations'] if row['user_name']}
    for table, settings in ('trials-table', '1-0, classic'), ('trials-table-2', '0, classic'):
        shown = {re.match('[a-z]+?(?=physics|chemistry)', row[0])[0]: row[3:] for row in Tables(place.out).tables[table][1:] if row[1]}
        expected = {}
        for user in ('alice', 'bob', 'carol'):
            now, then = values[user, 'now'], values[user, settings]
            percents = [f'{percent(row["use"]):.1f} %' for row in (now, then)]
            expected[user] = percents + [f'{number:.1f}' for number in (now['place'], then['place'], then['turned'])]
        tap.same(shown, expected, f"the page has the backtest's usage and places of users with {settings}")
    place.succeed('report')
    tap.ok('id="trials"' not in place.out, 'without --backtest the page has no backtest')
    place.settings({**UTC, 'usage.half_life': '7-0', 'report.private': 'yes'})
    place.succeed('report', '--backtest', 'trial.json')
    tap.same(named(place.out, 'alice', 'bob', 'carol'), [],
             'with private = yes the backtest names no user')
    place.settings({**UTC, 'usage.half_life': '7-0'})
    place.ends(1, 'a missing file is rejected', 'report', '--backtest', 'nowhere.json')
    place.says('the error names the missing file', 'nowhere.json')
    place.succeed('backtest', '--until', 100, '--json')
    with open(place.path('nothing.json'), 'w', encoding='utf-8') as file:
        file.write(place.out)
    place.succeed('report', '--backtest', 'nothing.json')
    tap.ok('no points' in text_of(place.out), 'a backtest without points is described as such')
    refused(place, 'invalid JSON', printed[:300], 'invalid JSON')
    refused(place, 'JSON of a different structure', '{"clusters": 3}', 'backtest --json')
    refused(place, 'a JSON list', '[]', 'backtest --json')
    refused(place, 'a backtest of another cluster', printed.replace('"tiny"', '"huge"'), 'no values for the clusters', 'tiny')
    for key in ('since', 'until', 'settings', 'associations'):
        lacking = {name: value for name, value in tried.items() if name != key}
        refused(place, f'a cluster without {key}', json.dumps({'clusters': [lacking]}), key, "'tiny'")
    for key, wrong in (('id_assoc', 'x'), ('settings', 'others'), ('share_due', '1'), ('use', -1), ('place', True), ('turned', [])):
        lying = json.loads(printed)
        lying['clusters'][0]['associations'][4][key] = wrong
        refused(place, f'a row with {key} {wrong!r}', json.dumps(lying), key, 'row 5')
    for at in (-5, 10**18, 'noon'):
        refused(place, f'the time {at}', json.dumps({'clusters': [tried | {'until': at}]}), 'until')
    refused(place, 'a variant that occurs twice',
            json.dumps({'clusters': [tried | {'settings': tried['settings'] + tried['settings'][1:2]}]}), 'twice')
    twice = json.loads(printed)
    twice['clusters'][0]['associations'] += twice['clusters'][0]['associations'][:1]
    refused(place, 'an association that occurs twice', json.dumps(twice), 'twice')
    twice = json.loads(printed)
    twice['clusters'][0]['associations'].insert(1, twice['clusters'][0]['associations'][0])
    refused(place, 'an association that occurs twice in sequence', json.dumps(twice), 'twice')


def body():
    with Place() as place:
        try_demo(place)
        place.ready(SMALL, UTC)
        for part in (try_health, try_past, try_weights, try_algorithms, try_openpbs, try_empty, try_levels, try_unkept, try_names, try_output, try_private, try_own, try_account, try_each,
                     try_each_cluster, try_changes, try_classes, try_backtest):
            part(place)


tap.main(body)
