#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the contents of the page of `fairmill report`, and how its files are written.

Its layout and its functions are tested in page.t."""

import html.parser
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, SMALL, Place

DAY = 86400
UTC = {'usage.time_zone': 'UTC'}
HOSTILE = '</script><script>alert(1)</script><!--"\'&amp;\\u003c\u2028\u2029\u202e\\'


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


COLUMNS = {'levelShare': 'level_shares_norm', 'levelUsed': 'level_usage', 'usage': 'usage_raw',
           'factor': 'fairshare', 'levelFs': 'level_fs'}  # and their columns in fairmill_fairshare


def names_of(names):
    """Yields the names.  A number refers to the name at that position before it."""
    seen = []
    for name in names:
        if isinstance(name, str):
            seen.append(name)
        yield seen[name] if isinstance(name, int) else name


def rows_of(cluster):
    """Returns {(account, user): row as a dictionary}."""
    rows, listed, parent = {}, [], 0
    for number, name in enumerate(names_of(cluster['names'])):
        parent += cluster['parents'][number]
        row = {key: cluster[key][number] for key in (*COLUMNS, 'shares', 'spent', 'place') if key in cluster}
        row.update(number=number, parent=parent)
        is_user = cluster['kinds'][number] == 'u'
        above = listed[parent] if number else row
        row['account'] = cluster['accounts'].get(str(number), above['account']) if is_user else name
        row['user'] = name if is_user else ''
        row['whole'] = cluster['wholeShare'].get(str(number))
        if row['whole'] is None:
            row['whole'] = above['whole'] * row['levelShare']
        listed.append(row)
        rows[row['account'], row['user']] = row
    return rows


def close(one, other):
    """Compares two values with a precision of four digits."""
    return one is other is None or abs(one - other) <= 5.1e-4 * abs(other)


def add_job(place, key, name, start, hours, tres='5=1'):
    """Adds a job like another job of the site, with these values."""
    account, user = name.split('.')
    (assoc,), = place.change('SELECT id_assoc FROM tiny_assoc_table WHERE acct = ? AND user = ?', account, user)
    columns = [column for _, column, *_ in place.change('PRAGMA table_info(tiny_job_table)')]
    job = dict(zip(columns, place.change('SELECT * FROM tiny_job_table LIMIT 1')[0]))
    job.update(job_db_inx=key, id_job=key, id_assoc=assoc, time_submit=start, time_eligible=start, time_start=start,
               time_end=start + hours * 3600, tres_alloc=tres)
    place.change(f"INSERT INTO tiny_job_table ({', '.join(job)}) VALUES ({', '.join('?' * len(job))})", *job.values())


def try_values(place):
    place.ready(SMALL, UTC)
    place.ends(1, 'before the first run, report exits with status 1', 'report')
    place.says('the error of report says that there are no results', 'no results yet')
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    cluster = data_of(place.out)['clusters'][0]
    rows = rows_of(cluster)
    tap.same((cluster['name'], cluster['algorithm'], cluster['asOf'], cluster['halfLife'], cluster['timeZone']),
             ('tiny', 'fair_tree', NOW, 0, 'UTC'), 'the page has the cluster, its settings and the time')
    for account, user, whole, *values in place.query(
            f"SELECT account, user_name, shares_norm, {', '.join(COLUMNS.values())} FROM fairmill_fairshare"):
        row = rows[account, user]
        infinite = place.query('SELECT level_fs_infinite FROM fairmill_fairshare WHERE account = ? AND user_name = ?', account, user)
        if infinite == [(1,)]:
            values[4] = -1
        tap.ok(all(map(close, [row[key] for key in COLUMNS] + [row['whole']], values + [whole])),
               f'the page has the published values of {account}.{user}', row, values, whole)
    orders = place.query("SELECT account, user_name, fairshare_order FROM fairmill_fairshare WHERE user_name <> ''")
    tap.same({key: row['place'] for key, row in rows.items() if key[1]},
             {(account, user): 1 + sum(other < order for _, _, other in orders) for account, user, order in orders},
             'the page has the places of the published order')
    tap.same(cluster['users'], len(orders), 'the page has the number of users')
    names = {row['number']: key for key, row in rows.items()}
    tap.same({key: names[row['parent']] for key, row in rows.items()}, {
        ('root', ''): ('root', ''), ('physics', ''): ('root', ''), ('chemistry', ''): ('root', ''),
        ('physics', 'alice'): ('physics', ''), ('physics', 'bob'): ('physics', ''),
        ('chemistry', 'carol'): ('chemistry', '')}, 'the page has the parent of each row')


def try_health(place):
    place.ready(SMALL, UTC)
    place.succeed('run')
    place.succeed('report')
    tap.same(data_of(place.out)['clusters'][0]['problems'], '', 'without problems the page has no problems')
    place.change('UPDATE tiny_assoc_table SET parent_acct = \'gone\', id_parent = 77 WHERE id_assoc > 1')
    place.run('run')
    place.succeed('report')
    tap.same(data_of(place.out)['clusters'][0]['problems'], 'last run failed', 'the page has the problem that status reports')


def try_past(place):
    start = NOW - NOW % DAY
    place.ready(SMALL, UTC)
    for key, (name, day, hours) in enumerate((('physics.alice', 3, 4), ('physics.bob', 3, 2), ('physics.bob', 2, 1),
                                              ('chemistry.carol', 2, 8)), 100):
        add_job(place, key, name, start - day * DAY, hours)
    for day in (3, 2, 1):
        place.succeed('run', '--now', start - day * DAY + 12 * 3600)
    place.succeed('run', '--now', start)
    place.succeed('report', '--days', 4)
    cluster = data_of(place.out)['clusters'][0]
    rows = rows_of(cluster)
    use = {key: cluster['use']['rows'][str(row['number'])] for key, row in rows.items()}
    tap.same(cluster['use']['at'], [start - 3 * DAY, start - 2 * DAY], 'the page has the days with usage')
    tap.same([use[key] for key in (('physics', 'alice'), ('physics', 'bob'), ('physics', ''), ('chemistry', ''), ('root', ''))],
             [[14400, 0], [7200, 3600], [21600, 3600], [0, 28800], [21600, 32400]],
             "an account's usage by day includes all users below it")
    history = cluster['history']
    tap.same(history['at'], [start - 3 * DAY + 43200, start - 2 * DAY + 43200, start - DAY + 43200, start],
             'the page has the history points')
    shown = cluster['fairness']
    of = {scope: [jain for (jain,) in place.query(
        'SELECT jain FROM fairmill_fairness WHERE scope = ? ORDER BY as_of', scope)] for scope in ('accounts', 'users')}
    beyond = [over for (over,) in place.query(
        "SELECT use_over - share_over FROM fairmill_fairness WHERE scope = 'accounts' ORDER BY as_of")]
    tap.ok(shown['at'] == history['at'] and all(map(close, shown['accounts'] + shown['users'] + shown['tooMuch'],
                                                     of['accounts'] + of['users'] + beyond)) and any(beyond),
           'the page has the published fairness for each point', shown, of, beyond)
    for name, column, index in (('fairshare', 'fairshare', 1), ('use', 'usage_raw', 0)):
        expected = [value for (value,) in place.query(
            f'SELECT h.{column} FROM fairmill_history h JOIN fairmill_fairshare f USING (id_assoc) '
            "WHERE f.user_name = 'bob' ORDER BY h.as_of")]
        got = history['rows'][str(rows['physics', 'bob']['number'])][index]
        tap.ok(len(got) == len(expected) and all(abs(one - other) <= 5e-3 * abs(other) for one, other in zip(got, expected)),
               f'{name} over time equals the published values', got, expected)
    place.succeed('report', '--days', 1)
    cluster = data_of(place.out)['clusters'][0]
    tap.same((cluster['use']['at'], len(cluster['history']['at'])), ([], 2), '--days 1 shows fewer points and days')
    # The usage of removed users belongs to the account.
    place.change("UPDATE tiny_assoc_table SET deleted = 1 WHERE user = 'alice'")
    place.succeed('run', '--now', start)
    place.succeed('report', '--days', 4)
    cluster = data_of(place.out)['clusters'][0]
    rows = rows_of(cluster)
    tap.same([('physics', 'alice') in rows, cluster['use']['rows'][str(rows['physics', '']['number'])]],
             [False, [21600, 3600]], "the usage of a removed user is in the account's usage")


def try_tres(place):
    start = NOW - NOW % DAY
    place.ready('tres 1001 gres/gpu\n' + SMALL.replace(' use 300', '').replace(' use 100', ''), UTC)
    for key, (name, day, hours, gpus) in enumerate((('physics.alice', 3, 4, 2), ('physics.bob', 3, 2, 0), ('physics.bob', 2, 1, 0),
                                                    ('chemistry.carol', 2, 8, 1)), 100):
        add_job(place, key, name, start - day * DAY, hours, '1=4,5=1' + (f',1001={gpus}' if gpus else ''))
    place.succeed('run', '--now', start)
    place.succeed('report', '--days', 4)
    cluster = data_of(place.out)['clusters'][0]
    names = {str(row['number']): key for key, row in rows_of(cluster).items()}
    tap.same([(tres['name'], tres['unit']) for tres in cluster['tres']], [('cpu', 'CPU-hours'), ('gres/gpu', 'GPU-hours')],
             'the page has the TRES with usage, and their units')
    tap.same([{names[number][0]: hours for number, hours in tres['rows'].items()} for tres in cluster['tres']],
             [dict(root=[24, 36], physics=[24, 4], chemistry=[0, 32]), dict(root=[8, 8], physics=[8, 0], chemistry=[0, 8])],
             'the page has the hours of accounts by TRES and day')
    tap.same([names[number][1] for tres in cluster['tres'] for number in tres['rows']], [''] * 6,
             'the page has no usage of users by TRES')
    tap.ok('chosenTres' not in cluster, 'the page shows billed usage first')
    place.succeed('report', '--days', 4, '-A', 'physics', '--tres', 'GRES/gpu')
    cluster = data_of(place.out)['clusters'][0]
    tap.same((cluster['chosenTres'], [tres['rows'] for tres in cluster['tres']]), ('gres/gpu', [{'0': [24, 4]}, {'0': [8, 0]}]),
             '--tres chooses the TRES that the page of an account shows first')
    cells = Cells()
    cells.feed(plain_of(place.out))
    days = [row[:2] for row in cells.rows if row and re.match('[0-9]{4}-', row[0]) or 'GPU-hours' in row]
    tap.same([row[1] for row in days], ['GPU-hours', '8', '0'], 'without scripts the page shows the chosen TRES')
    place.succeed('report', '--tres', 'node')
    tap.same([(tres['name'], set(map(str, tres['rows'].values()))) for tres in data_of(place.out)['clusters'][0]['tres']][1], ('node', {'0'}),
             'a chosen TRES without usage is in the page')
    place.ends(64, 'a TRES that is not kept is rejected', 'report', '--tres', 'mem')
    place.says('the error of --tres names the kept TRES and the setting', "'mem'", 'cpu, gres/gpu, node', '[usage] tres')


def try_names(place):
    place.ready(SMALL, UTC)
    place.change('UPDATE tiny_assoc_table SET user = ? WHERE user = ?', HOSTILE, 'alice')
    place.change('UPDATE tiny_assoc_table SET acct = ? WHERE acct = ?', HOSTILE, 'chemistry')
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    page = place.out
    names = list(names_of(data_of(page)['clusters'][0]['names']))
    block = re.search(r'id="data">(.*?)</script>', page, re.S)[1]
    tap.same(set(block) & set('<>&\u2028\u2029\u202e'), set(), 'the data cannot be read as HTML and has no line separators')
    seen = HOSTILE.replace('\u2028', r'\xE2\x80\xA8').replace('\u2029', r'\xE2\x80\xA9').replace('\u202e', r'\xE2\x80\xAE')
    tap.ok(seen in names, 'names are unchanged, with invisible characters as \\xHH', names)


def try_page(place):
    place.ready(SMALL, UTC)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    page = place.out
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    tap.ok(policy.startswith("default-src 'none'; ") and 'unsafe' not in policy and 'http' not in policy,
           "the policy allows only the page's own style and script", policy)
    tap.same(re.findall(r'<(?:script|link|img|iframe|source|style)[^>]*(?:src|href)="(?!data:,")[^"]*"', page), [],
             'no element has an address')


def try_output(place):
    place.ready('cluster one\nroot/\n  a/ 1\n    u 1 use 10\ncluster two\nroot/\n  b/ 1\n    v 1 use 10\n', UTC)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    page = place.out
    tap.same([cluster['name'] for cluster in data_of(page)['clusters']], ['one', 'two'], 'the page has each cluster')
    place.succeed('report', '--cluster', 'two', '-o', 'page.html')
    with open(place.path('page.html'), encoding='utf-8') as file:
        tap.same(([cluster['name'] for cluster in data_of(file.read())['clusters']], place.out), (['two'], ''),
                 '--cluster selects a cluster, and --output writes a file')
    tap.same(os.stat(place.path('page.html')).st_mode & 0o777, 0o644, 'other users can read the file')
    before = os.stat(place.path('page.html')).st_ino
    place.succeed('report', '-o', 'page.html')
    tap.ok(os.stat(place.path('page.html')).st_ino != before, 'the file is replaced by a rename')
    place.ends(1, 'a missing directory for --output is an error', 'report', '-o', 'nowhere/page.html')
    place.says('the error of report -o names the file', "cannot write 'nowhere/page.html':")
    os.mkdir(place.path('folder'))
    place.ends(1, 'a directory as --output is an error', 'report', '-o', 'folder')
    tap.same([name for name in os.listdir(place.folder) if 'folder.' in name], [],
             'no temporary file is left next to the directory')
    place.succeed('report', '-A', 'b')
    tap.same([(cluster['name'], cluster['account']) for cluster in data_of(place.out)['clusters']], [('two', 'b')],
             '-A searches the account in all clusters')
    place.ends(64, 'an unknown cluster is rejected', 'report', '--cluster', 'three')
    place.says('the error names the unknown cluster', "'three'")
    for days in ('0', '-1', 'x', '3661'):
        place.ends(64, f"--days '{days}' is rejected", 'report', '--days', days)
    place.settings({'source.driver': None, 'source.database': None}, name='reader.conf')
    place.succeed('report', settings='reader.conf')
    tap.same(place.out, page, 'settings without an accounting database make the same page')


def try_private(place):
    start = NOW - NOW % DAY
    place.ready(SMALL, {**UTC, 'report.private': 'yes'})
    add_job(place, 100, 'physics.alice', start - DAY, 4)
    add_job(place, 101, 'physics.bob', start - DAY, 2)
    for instant in (start - 3600, start):
        place.succeed('run', '--now', instant)
    place.succeed('report')
    data = data_of(place.out)
    cluster = data['clusters'][0]
    tap.same((data['accountsOnly'], sorted(rows_of(cluster))), (True, [('chemistry', ''), ('physics', ''), ('root', '')]),
             'with private = yes the page has only accounts')
    tap.same([name for name in ('alice', 'bob', 'carol') if name in place.out], [], 'with private = yes the page names no user')
    number = rows_of(cluster)['physics', '']['number']
    expected = [usage for (usage,) in place.query(
        "SELECT h.usage_raw FROM fairmill_history h JOIN fairmill_fairshare f USING (id_assoc) "
        "WHERE f.account = 'physics' AND f.user_name = '' ORDER BY h.as_of")]
    tap.same((cluster['use']['rows'][str(number)], all(abs(one - other) <= 5e-3 * other for one, other in zip(cluster['history']['rows'][str(number)][0], expected))),
             ([21600], True), "with private = yes an account's history includes all users")


def try_many(place):
    users = 2000
    place.ready('cluster big\nroot/\n' + ''.join(
        f'  a{account}/ 1\n' + ''.join(f'    u{account}_{user} 1 use {account + user}\n' for user in range(users // 10))
        for account in range(10)), UTC)
    for hour in range(70, -1, -1):
        place.succeed('run', '--now', NOW - hour * 3600)
    place.succeed('report', '--days', 3)
    cluster = data_of(place.out)['clusters'][0]
    points = len(cluster['history']['at'])
    series = len(cluster['history']['rows'])
    tap.ok(2 < points <= 61 and cluster['history']['at'][-1] == NOW, 'of many points, the page has at most 61 and the last',
           points)
    tap.ok(100 < series < users and '0' in cluster['history']['rows'],
           'of many associations, the largest by usage have a history',
           series)
    tap.ok(len(place.out) < 1500000, 'the page of many associations is below 1.5 MB', len(place.out))


def try_account(place):
    place.ready(SMALL, UTC)
    add_job(place, 100, 'physics.alice', NOW - 2 * DAY, 4)
    for key, name in ((101, 'physics.bob'), (102, 'chemistry.carol')):
        add_job(place, key, name, 0, 0)
        place.change('UPDATE tiny_job_table SET time_start = 0, time_end = 0, state = 0, time_submit = ?, account = ? WHERE id_job = ?',
                     NOW - 100, name.split('.')[0], key)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    whole = data_of(place.out)['clusters'][0]
    place.succeed('report', '-A', 'physics')
    page, (part,) = place.out, data_of(place.out)['clusters']
    tap.same((part['account'], part['above'], sorted(rows_of(part))),
             ('physics', ['root'], [('physics', ''), ('physics', 'alice'), ('physics', 'bob')]),
             'the page of an account has the rows below it')
    tap.same([name for name in ('carol', 'chemistry') if name in page], [], 'the page of an account names no others')
    tap.same((part['waiting'], [job[1] for job in part['jobs']], part['waitingByPartition']), (1, ['bob'], [['p', 1]]),
             'the page of an account has no jobs of others')
    rows, others = rows_of(part), rows_of(whole)
    tap.same([{**row, 'number': 0, 'parent': 0} for row in rows.values()],
             [{**others[key], 'number': 0, 'parent': 0} for key in rows], "the rows of an account's page equal the page of all accounts")
    tap.same((part['users'], part['allUsage']), (whole['users'], whole['allUsage']),
             "places on an account's page count all users")
    for name in ('use', 'history'):
        tap.same({key: part[name]['rows'].get(str(row['number'])) for key, row in rows.items()},
                 {key: whole[name]['rows'].get(str(others[key]['number'])) for key in rows}, f"the {name} on an account's page equals the page of all accounts")
    place.succeed('report', '-A', 'chemistry,physics')
    tap.same([view['account'] for view in data_of(place.out)['clusters']], ['chemistry', 'physics'],
             '-A with two accounts makes two views')
    place.ends(64, 'an unknown account is rejected', 'report', '-A', 'alchemy')
    place.says('the error names the unknown account', "'alchemy'")
    place.ends(64, 'a user as account is rejected', 'report', '-A', 'alice')


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
    with open(os.path.join(root, 'index.html'), encoding='utf-8') as file:
        index = file.read()
    links = re.search(r'<div id="pages".*?</div>', index, re.S)[0]
    addresses = re.findall(r'<a href="([^"]*)">', links)
    tap.ok(len(addresses) == 3 and all(os.path.isfile(os.path.join(root, address)) for address in addresses),
           'the index has links to all pages', addresses)
    place.succeed('report', '-A', 'physics')
    alone = place.out
    with open(os.path.join(folder, 'physics.html'), encoding='utf-8') as file:
        tap.same(data_of(file.read())['clusters'], data_of(alone)['clusters'], 'the pages equal the pages of -A')
    place.succeed('report')
    tap.same(data_of(index), data_of(place.out), 'the index equals the page of all accounts')
    before = os.stat(os.path.join(folder, 'physics.html')).st_ino
    place.succeed('report', '--each', 'pages', '-A', 'physics')
    tap.ok(os.stat(os.path.join(folder, 'physics.html')).st_ino != before, 'pages are replaced by a rename')
    with open(os.path.join(root, 'index.html'), encoding='utf-8') as file:
        tap.same([view.get('account') for view in data_of(file.read())['clusters']], ['physics'],
                 'with -A the index has only the selected account')
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
    tap.same(sorted(os.listdir(root)), ['index', 'index.html', 'index~2Ehtml', '~2E.'],
             'each cluster has a directory, whatever its name')
    with open(os.path.join(root, 'index.html'), encoding='utf-8') as file:
        addresses = re.findall(r'<a href="([^"]*\.html)">', re.search(r'<div id="pages".*?</div>', file.read(), re.S)[0])
    tap.ok(len(addresses) == 6 and all(os.path.isfile(os.path.join(root, address)) for address in addresses),
           'the index has links to the pages of all clusters', addresses)


def try_span(place):
    start = NOW - NOW % DAY
    place.ready(SMALL, UTC)
    for key, day in enumerate((3, 2, 1), 100):
        add_job(place, key, 'physics.alice', start - day * DAY, day)
    for day in (3, 2, 1, 0):
        place.succeed('run', '--now', start - day * DAY + 12 * 3600)
    place.succeed('report', '--since', start - 2 * DAY, '--until', start - DAY + 12 * 3600)
    cluster = data_of(place.out)['clusters'][0]
    tap.same((cluster['from'], cluster['to'], cluster['use']['at'], cluster['history']['at']),
             (start - 2 * DAY, start - DAY + 43200, [start - 2 * DAY, start - DAY], [start - 2 * DAY + 43200, start - DAY + 43200]),
             '--since and --until select days and points')
    tap.same({key: row['spent'] for key, row in rows_of(cluster).items()},
             {('root', ''): 10800, ('physics', ''): 10800, ('chemistry', ''): 0, ('physics', 'alice'): 10800, ('physics', 'bob'): 0,
              ('chemistry', 'carol'): 0}, 'usage in the period is shown')
    place.succeed('report', '--since', start - 200 * DAY)
    use = data_of(place.out)['clusters'][0]['use']
    expected = {}
    for day in (3, 2, 1):
        monday = start - day * DAY - time.gmtime(start - day * DAY).tm_wday * DAY
        expected[monday] = expected.get(monday, 0) + day * 3600
    tap.same((use['days'], dict(zip(use['at'], use['rows']['0']))), (7, expected),
             'in a long period each bar is a week that begins on Monday')
    place.ends(64, '--since and --days are mutually exclusive', 'report', '--since', start - DAY, '--days', 3)
    place.ends(64, '--since after --until is rejected', 'report', '--since', start, '--until', start - DAY)
    place.ends(64, 'an invalid time is rejected', 'report', '--since', 'someday')


def try_changes(place):
    place.ready(SMALL, {**UTC, 'usage.half_life': '7-0', 'fairshare.capacity': 10, 'priority.weight_age': 1})
    add_job(place, 100, 'physics.alice', NOW - NOW % DAY - 2 * DAY, 24)
    place.succeed('run', '--now', NOW - 2 * DAY)
    place.settings({**UTC, 'usage.half_life': '14-0', 'fairshare.capacity': 10, 'priority.weight_age': 2})
    place.succeed('run', '--now', NOW - DAY)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    cluster = data_of(place.out)['clusters'][0]
    tap.same(cluster['changes'], [[NOW - DAY, 'half_life: 7-0 \u2192 14-0; weight_age: 1 \u2192 2']],
             'the page has the time and the values of changed settings')
    tap.same(cluster['capacity'], 10 * DAY, 'the page has the capacity of a day')
    tap.ok('<td align="right">10.0 %</td>' in plain_of(place.out), 'a day with one of ten units in use shows 10 %')
    place.settings({**UTC, 'usage.half_life': '14-0', 'fairshare.capacity': 10, 'priority.weight_age': 2, 'report.alert_after': '1 d'})
    place.succeed('run', '--now', NOW + 1)
    place.succeed('report')
    tap.same(len(data_of(place.out)['clusters'][0]['changes']), 1, 'changed settings without effect on values are not shown')


def plain_of(page):
    return re.search(r'<div id="plain".*?</div>', page, re.S)[0]


class Cells(html.parser.HTMLParser):
    """Collects the rows of tables as text.  Bars are tables without text."""

    def __init__(self):
        super().__init__()
        self.rows, self.cell = [], None
        self.deep = 0

    def handle_starttag(self, tag, attrs):
        self.deep += tag == 'table'
        if tag == 'tr' and self.deep == 1:
            self.rows.append([])
        if tag in ('td', 'th') and self.deep == 1:
            self.rows[-1].append('')

    def handle_endtag(self, tag):
        self.deep -= tag == 'table'

    def handle_data(self, data):
        if self.deep and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


def try_plain(place):
    place.ready(SMALL, UTC)
    place.change('UPDATE tiny_assoc_table SET user = ? WHERE user = ?', HOSTILE, 'alice')
    add_job(place, 100, 'physics.bob', NOW - NOW % DAY - DAY, 24)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    part = plain_of(place.out)
    tap.same([tag for tag in set(re.findall(r'<([a-z0-9]+)', part)) if tag not in
              ('div', 'h2', 'h3', 'p', 'table', 'tr', 'th', 'td', 'dl', 'dt', 'dd')], [], 'without scripts the page has tables, and names are not elements')
    tap.ok(' style=' not in part and ' on' not in re.sub(r'>[^<]*<', '><', part),
           'without scripts the page needs no style sheet and no handlers')
    cells = Cells()
    cells.feed(part)
    by_name = {row[0]: row for row in reversed(cells.rows) if row}
    for account, share, usage in place.query("SELECT account, level_shares_norm, level_usage FROM fairmill_fairshare "
                                             "WHERE user_name = '' AND depth = 1"):
        shown = [float(re.sub('[^0-9.]', '', cell)) / 100 for cell in by_name[account][2:4]]
        tap.ok(abs(shown[0] - share) < 6e-4 and abs(shown[1] - usage) < 6e-4,
               f'the tables have the published values of {account}',
               by_name[account])
    (factor,), = place.query("SELECT fairshare FROM fairmill_fairshare WHERE user_name = 'bob'")
    tap.ok(f'{factor:.4f}' in by_name['bob'], 'the tables have the published values of users', by_name['bob'])
    widths = [int(width) for width in re.findall(r'<table width="(\d+)"', part)]
    tap.ok(widths and max(widths) == 120 and min(widths) > 0, 'the length of bars depends on the values', widths)


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
    expected = {'useByPartition': {}, 'useByQos': {}}
    for _, partition, qos, hours, count in jobs:
        used = hours * 3600 * count * (0.5 if qos == 2 else 1)
        for kind, name in (('useByPartition', partition or 'none'), ('useByQos', {0: 'none', 1: 'normal', 2: 'low'}[qos])):
            expected[kind][name] = expected[kind].get(name, 0) + used
    place.succeed('report', '--jobs')
    cluster = data_of(place.out)['clusters'][0]
    for kind, wanted in expected.items():
        tap.same(cluster[kind], [[name, used] for name, used in sorted(wanted.items(), key=lambda each: (-each[1], each[0]))],
                 f'{kind} has the sums of the jobs in descending order')
    tap.ok('Decayed usage by' in place.out, 'usage by partition is shown without scripts')
    place.succeed('report')
    tap.ok('useByPartition' not in data_of(place.out)['clusters'][0], 'without --jobs the page has no usage by partition')
    place.succeed('report', '--jobs', '-A', 'physics')
    tap.ok('useByQos' not in data_of(place.out)['clusters'][0], 'the page of an account has no usage by QOS')
    tap.same(data_of(place.out)['clusters'][0]['fairness']['at'], [], 'the page of an account has no fairness')


def fill_waits(place, *rows):
    """Replaces the waiting times.  rows: user, days before NOW, partition, upper bound in seconds, jobs."""
    place.query('DELETE FROM fairmill_wait_final')
    place.query('DELETE FROM fairmill_wait_open')
    for user, days, partition, bound, jobs in rows:
        place.query('INSERT INTO fairmill_wait_open SELECT cluster, ?, id_assoc, ?, ?, ?, ? FROM fairmill_fairshare WHERE user_name = ?',
                    (NOW // DAY - days) * DAY, partition, 'normal', bound, jobs, user)


def try_waits(place):
    place.ready(SMALL, UTC)
    place.succeed('run', '--now', NOW)
    factors = dict(place.query("SELECT user_name, fairshare FROM fairmill_history h JOIN fairmill_association a USING (cluster, id_assoc) "
                               "WHERE user_name <> ''"))
    fill_waits(place, ('alice', 0, 'cpu', 14400, 10), ('bob', 0, 'gpu', 60, 20), ('carol', 12, 'cpu', -1, 20), ('carol', 40, 'old', 60, 9))
    tap.ok(factors['bob'] > factors['alice'], 'the user who waited less has a higher factor', factors)
    place.succeed('report')
    waits = data_of(place.out)['clusters'][0]['waits']
    tap.same(waits['words'], 'The jobs started from 2025-05-22 to 2025-06-21. '
             'Jobs with a higher fairshare factor waited less (rank correlation -1.00).',
             'the page has the period of the jobs and a sentence about fairshare')
    tap.same(waits['tables'], [
        ['partition', ['cpu', 30, '>7 d', '>7 d'], ['gpu', 20, '<1 min', '<1 min']],
        ['account', ['physics', 30, '<1 min', '3.1 h'], ['chemistry', 20, '>7 d', '>7 d']],
        ['week of', ['2025-06-09', 20, '>7 d', '>7 d'], ['2025-06-16', 30, '<1 min', '3.1 h']],
    ], "the page has the waiting times of its period by partition, account and week")
    tap.ok('<tr><td>cpu</td><td align="right">30</td><td align="right">&gt;7 d</td>' in place.out
           and ' Jobs with a higher fairshare factor waited less (rank correlation -1.00).</p>' in place.out, 'waiting times are shown without scripts')
    place.succeed('report', '-A', 'chemistry')
    tap.same(data_of(place.out)['clusters'][0]['waits'], dict(words='', tables=[['account', ['chemistry', 20, '>7 d', '>7 d']]]),
             'the page of an account has the waiting times of its jobs only')
    fill_waits(place)
    place.succeed('report')
    tap.ok('waits' not in data_of(place.out)['clusters'][0] and '<h3>Waiting times' not in place.out,
           'without waiting times the page has no such section')


def refused(place, name, content, *words):
    with open(place.path('wrong.json'), 'w', encoding='utf-8') as file:
        file.write(content)
    place.ends(65, f'{name} is rejected', 'report', '--backtest', 'wrong.json')
    tap.ok(not place.out and all(word in place.err for word in ("'wrong.json'", *words)),
           f'the error for {name} names the file and the cause',
           place.err)


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
    expected = {}
    for row in tried['associations']:
        values = expected.setdefault((row['account'], row['user_name']), [row['share_due']])
        values += [row['use'], row['place'], row['turned'], row['turned_with_user'] and [row['turned_with_user'], row['turned_with_account']]]
    place.succeed('report', '--backtest', 'trial.json')
    page = place.out
    cluster = data_of(page)['clusters'][0]
    shown, numbers = cluster['backtest'], {row['number']: key for key, row in rows_of(cluster).items()}
    tap.same((shown['since'], shown['until'], shown['total']), (start - 10 * DAY, start, 5),
             'the page has the range of the backtest')
    tap.ok(all(name == wanted['settings'] and points == 11 and close(distance, wanted['distance']) and close(turned, wanted['turned'])
               for (name, points, distance, turned), wanted in zip(shown['settings'], tried['settings']))
           and [each[0] for each in shown['settings']] == ['now', '1-0, classic', '0, classic'], 'the page has the summary of each variant',
           shown['settings'])
    found = {numbers[number]: values for number, *values in shown['rows']}
    tap.ok(found.keys() == expected.keys() and all(
        one == other if isinstance(other, list) else close(one, other) for key in expected for one, other in zip(found[key], expected[key]))
           and any(isinstance(each, list) for values in found.values() for each in values), "the page has the backtest's values of each association",
           found, expected)
    users = [max(values[7::4]) for key, values in ((numbers[number], values) for number, *values in shown['rows']) if key[1]]
    tap.ok([bool(numbers[number][1]) for number, *_ in shown['rows']] == [False] * 2 + [True] * 3 and users == sorted(users, reverse=True) and users[0] > 0,
           'accounts come first, then the most discordant users', users)
    tap.ok('Other settings' in plain_of(page) and '0, classic' in plain_of(page), 'the backtest is shown without scripts')
    place.succeed('report')
    tap.ok('backtest' not in data_of(place.out)['clusters'][0], 'without --backtest the page has no backtest')
    place.succeed('report', '-A', 'physics', '--backtest', 'trial.json')
    cluster = data_of(place.out)['clusters'][0]
    numbers = {row['number']: key for key, row in rows_of(cluster).items()}
    tap.same(sorted(numbers[row[0]] for row in cluster['backtest']['rows']), [('physics', ''), ('physics', 'alice'), ('physics', 'bob')],
             'the page of an account has the backtest of its rows')
    place.settings({**UTC, 'usage.half_life': '7-0', 'report.private': 'yes'})
    place.succeed('report', '--backtest', 'trial.json')
    tap.same([name for name in ('alice', 'bob', 'carol') if name in place.out], [],
             'with private = yes the backtest names no user')
    place.settings({**UTC, 'usage.half_life': '7-0'})
    place.ends(1, 'a missing file is rejected', 'report', '--backtest', 'nowhere.json')
    place.says('the error names the missing file', 'nowhere.json')
    place.succeed('backtest', '--until', 100, '--json')
    with open(place.path('nothing.json'), 'w', encoding='utf-8') as file:
        file.write(place.out)
    place.succeed('report', '--backtest', 'nothing.json')
    tap.ok('The backtest has no points.' in plain_of(place.out) and data_of(place.out)['clusters'][0]['backtest']['rows'] == [],
           'a backtest without points is described as such')
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


def try_bound(place):
    groups, users = 30, 700
    place.ready('cluster big\nroot/\n' + ''.join(
        f'  a{group}/ 1\n' + ''.join(f'    user{group}_{user} 1 use {1 + (group * users + user) * 7919 % 10007}\n' for user in range(users))
        for group in range(groups)), UTC)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    tap.ok(len(place.out.encode()) < 2000000, 'a page of many associations is below 2 MB', len(place.out))
    cluster = data_of(place.out)['clusters'][0]
    rows = rows_of(cluster)
    tap.ok(len(rows) <= 16000 and sum(not user for _, user in rows) == groups + 1,
           'the page has all accounts and the users with most usage',
           len(rows))
    published = {(account, user): usage for account, user, usage in place.query('SELECT account, user_name, usage_raw FROM fairmill_fairshare')}
    least = min(published[key] for key in rows if key[1])
    tap.ok(all(usage <= least for key, usage in published.items() if key not in rows),
           'no omitted user has more usage than a shown one')
    names = {row['number']: key for key, row in rows.items()}
    rests = {names[int(number)][0]: rest for number, rest in cluster['rests'].items()}
    expected = {}
    for (account, user), usage in published.items():
        if (account, user) not in rows:
            count, used = expected.get(account, (0, 0))
            expected[account] = count + 1, used + usage
    tap.ok(rests.keys() == expected.keys() and all(rests[name][0] == count == rests[name][1] and close(rests[name][3], used)
                                                   for name, (count, used) in expected.items()),
           'the omitted users are counted and summed for each account')
    tap.same((cluster['below'], cluster['users']), (len(published), groups * users),
             'the page has the number of all associations')


def body():
    with Place() as place:
        for part in (try_values, try_health, try_past, try_tres, try_names, try_page, try_output, try_private, try_many,
                     try_account, try_each, try_each_cluster, try_span, try_changes, try_plain, try_classes, try_waits, try_backtest, try_bound):
            part(place)


tap.main(body)
