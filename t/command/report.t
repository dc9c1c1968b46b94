#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite report
"""What stands in the page that report writes, and how it is written.  How it looks and works is
tried in page.t."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, SMALL, Place

DAY = 86400
UTC = {'usage.time_zone': 'UTC'}
HOSTILE = '</script><script>alert(1)</script><!--"\'&amp;\\u003c\u2028\u2029\u202e\\'


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def rows_of(cluster):
    """{(account, user): row as a dictionary}"""
    keys = ('parent', 'account', 'user', 'partition', 'shares', 'share', 'usage', 'used', 'factor', 'level_fs',
            'order')
    rows = {}
    for number, row in enumerate(cluster['rows']):
        row = dict(zip(keys, row), number=number)
        row['account'], row['user'] = (cluster['names'][row[key]] for key in ('account', 'user'))
        rows[row['account'], row['user']] = row
    return rows


def close(one, other):
    return one is other is None or abs(one - other) <= 1e-5 * abs(other)


def add_job(place, key, name, start, hours):
    """As another one of the site, but for these."""
    account, user = name.split('.')
    (assoc,), = place.change('SELECT id_assoc FROM tiny_assoc_table WHERE acct = ? AND user = ?', account, user)
    columns = [column for _, column, *_ in place.change('PRAGMA table_info(tiny_job_table)')]
    job = dict(zip(columns, place.change('SELECT * FROM tiny_job_table LIMIT 1')[0]))
    job.update(job_db_inx=key, id_job=key, id_assoc=assoc, time_submit=start, time_eligible=start, time_start=start,
               time_end=start + hours * 3600, tres_alloc='5=1')
    place.change(f"INSERT INTO tiny_job_table ({', '.join(job)}) VALUES ({', '.join('?' * len(job))})", *job.values())


def try_values(place):
    place.ready(SMALL, UTC)
    place.ends(1, 'before any run there is nothing to report', 'report')
    place.says('which it says', 'no results yet')
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    cluster = data_of(place.out)['clusters'][0]
    rows = rows_of(cluster)
    tap.same((cluster['name'], cluster['algorithm'], cluster['asOf'], cluster['halfLife'], cluster['timeZone']),
             ('tiny', 'fair_tree', NOW, 0, 'UTC'), 'a page says which cluster, and how and when it was computed')
    for account, user, *values in place.query(
            'SELECT account, username, normshares, rawusage, effectvusage, fairshare, levelfs FROM fairmill_sshare'):
        row = rows[account, user]
        if values[4] is not None and values[4] >= 1e100:
            values[4] = -1
        tap.ok(all(map(close, (row['share'], row['usage'], row['used'], row['factor'], row['level_fs']), values)),
               f"the values of {account}.{user} are those that are published", row, values)
    tap.same({key: row['order'] or None for key, row in rows.items()},
             {(account, user): order for account, user, order in place.query(
                 'SELECT account, user_name, fairshare_order FROM fairmill_fairshare')},
             'who is equal, and who is ahead, is as published')
    names = {row['number']: key for key, row in rows.items()}
    tap.same({key: names[row['parent']] for key, row in rows.items()}, {
        ('root', ''): ('root', ''), ('physics', ''): ('root', ''), ('chemistry', ''): ('root', ''),
        ('physics', 'alice'): ('physics', ''), ('physics', 'bob'): ('physics', ''),
        ('chemistry', 'carol'): ('chemistry', '')}, 'each row says what it hangs below')


def try_health(place):
    place.ready(SMALL, UTC)
    place.succeed('run')
    place.succeed('report')
    tap.same(data_of(place.out)['clusters'][0]['problems'], '', 'where all is well a page says nothing of it')
    place.change('UPDATE tiny_assoc_table SET parent_acct = \'gone\', id_parent = 77 WHERE id_assoc > 1')
    place.run('run')
    place.succeed('report')
    tap.same(data_of(place.out)['clusters'][0]['problems'], 'last run failed', 'else what is wrong, as status does')


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
    tap.same(cluster['use']['at'], [start - 3 * DAY, start - 2 * DAY], 'the days are those on which something was used')
    tap.same([use[key] for key in (('physics', 'alice'), ('physics', 'bob'), ('physics', ''), ('chemistry', ''), ('root', ''))],
             [[14400, 0], [7200, 3600], [21600, 3600], [0, 28800], [21600, 32400]],
             'an account used what those below it used')
    history = cluster['history']
    tap.same(history['at'], [start - 3 * DAY + 43200, start - 2 * DAY + 43200, start - DAY + 43200, start],
             'the points of history are there')
    for name, column, index in (('fairshare', 'fairshare', 1), ('use', 'usage_raw', 0)):
        expected = [value for (value,) in place.query(
            f'SELECT h.{column} FROM fairmill_history h JOIN fairmill_fairshare f USING (id_assoc) '
            "WHERE f.user_name = 'bob' ORDER BY h.as_of")]
        got = history['rows'][str(rows['physics', 'bob']['number'])][index]
        tap.ok(len(got) == len(expected) and all(abs(one - other) <= 1e-3 * abs(other) for one, other in zip(got, expected)),
               f"{name} over time is what was published then", got, expected)
    place.succeed('report', '--days', 1)
    cluster = data_of(place.out)['clusters'][0]
    tap.same((cluster['use']['at'], len(cluster['history']['at'])), ([], 2), 'fewer days show fewer')
    # Who has gone: what they used stays with the account.
    place.change("UPDATE tiny_assoc_table SET deleted = 1 WHERE user = 'alice'")
    place.succeed('run', '--now', start)
    place.succeed('report', '--days', 4)
    cluster = data_of(place.out)['clusters'][0]
    rows = rows_of(cluster)
    tap.same([('physics', 'alice') in rows, cluster['use']['rows'][str(rows['physics', '']['number'])]],
             [False, [21600, 3600]], 'what somebody used who has gone is what the account used')


def try_names(place):
    place.ready(SMALL, UTC)
    place.change('UPDATE tiny_assoc_table SET user = ? WHERE user = ?', HOSTILE, 'alice')
    place.change('UPDATE tiny_assoc_table SET acct = ? WHERE acct = ?', HOSTILE, 'chemistry')
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    page = place.out
    names = data_of(page)['clusters'][0]['names']
    block = re.search(r'id="data">(.*?)</script>', page, re.S)[1]
    tap.same(set(block) & set('<>&\u2028\u2029\u202e'), set(), 'nothing in the data can be taken for HTML, or ends a line')
    seen = HOSTILE.replace('\u2028', r'\xE2\x80\xA8').replace('\u2029', r'\xE2\x80\xA9').replace('\u202e', r'\xE2\x80\xAE')
    tap.ok(seen in names, 'and names are what they are, with what is not seen as \\xHH', names)


def try_page(place):
    place.ready(SMALL, UTC)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    page = place.out
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    tap.ok(policy.startswith("default-src 'none'; ") and 'unsafe' not in policy and 'http' not in policy,
           'the policy allows nothing but its own style and script', policy)
    tap.same(re.findall(r'<(?:script|link|img|iframe|source|style)[^>]*(?:src|href)="(?!data:,")[^"]*"', page), [],
             'no element has an address')
    for words in ('Chart.js Contributors', 'Mike Bostock', 'Permission is hereby granted', 'Redistributions in binary form'):
        tap.ok(words in page, f"the page holds the licences of what is in it: '{words}'")


def try_output(place):
    place.ready('cluster one\nroot/\n  a/ 1\n    u 1 use 10\ncluster two\nroot/\n  b/ 1\n    v 1 use 10\n', UTC)
    place.succeed('run', '--now', NOW)
    place.succeed('report')
    page = place.out
    tap.same([cluster['name'] for cluster in data_of(page)['clusters']], ['one', 'two'], 'every cluster is in the page')
    place.succeed('report', '--cluster', 'two', '-o', 'page.html')
    with open(place.path('page.html'), encoding='utf-8') as file:
        tap.same(([cluster['name'] for cluster in data_of(file.read())['clusters']], place.out), (['two'], ''),
                 '--cluster leaves others out, and --output writes a file')
    tap.same(os.stat(place.path('page.html')).st_mode & 0o777, 0o644, 'which others may read')
    before = os.stat(place.path('page.html')).st_ino
    place.succeed('report', '-o', 'page.html')
    tap.ok(os.stat(place.path('page.html')).st_ino != before, 'and which is replaced in one step')
    place.ends(1, 'where it cannot be written it says so', 'report', '-o', 'nowhere/page.html')
    place.says('and names the file', "cannot write 'nowhere/page.html':")
    os.mkdir(place.path('folder'))
    place.ends(1, 'a folder is no file to replace', 'report', '-o', 'folder')
    tap.same([name for name in os.listdir(place.folder) if 'folder.' in name], [], 'and nothing is left beside it')
    place.ends(64, 'a cluster must be there', 'report', '--cluster', 'three')
    place.says('or is named', "'three'")
    for days in ('0', '-1', 'x', '3661'):
        place.ends(64, f"--days '{days}' is refused", 'report', '--days', days)
    place.settings({'source.driver': None, 'source.database': None}, name='reader.conf')
    place.succeed('report', settings='reader.conf')
    tap.same(place.out, page, 'settings that have no source make the same page')


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
             'where what users have is private, there are accounts only')
    tap.same([name for name in ('alice', 'bob', 'carol') if name in place.out], [], 'and no user is named')
    number = rows_of(cluster)['physics', '']['number']
    expected = [usage for (usage,) in place.query(
        "SELECT h.usage_raw FROM fairmill_history h JOIN fairmill_fairshare f USING (id_assoc) "
        "WHERE f.account = 'physics' AND f.user_name = '' ORDER BY h.as_of")]
    tap.same((cluster['use']['rows'][str(number)], all(map(close, cluster['history']['rows'][str(number)][0], expected))),
             ([21600], True), 'whose past is that of all below them')


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
    tap.ok(2 < points <= 61 and cluster['history']['at'][-1] == NOW, 'of many points some are there, and the last', points)
    tap.ok(100 < series < users and '0' in cluster['history']['rows'], 'of many associations those who used most have a past', series)
    tap.ok(len(place.out) < 1500000, 'so that the page stays small', len(place.out))


def body():
    with Place() as place:
        for part in (try_values, try_health, try_past, try_names, try_page, try_output, try_private, try_many):
            part(place)


tap.main(body)
