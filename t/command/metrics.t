#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests metrics: the values of show and status in a format that Prometheus accepts."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

DRAWING = """
cluster tiny
root/
  physics/ 60
    alice      10  use 300
    bob        parent
    sub/       30
      eve      1   use 100
  odd/ 40
    carol      1   use 200
job physics.alice id_job=901 submit=%d time_eligible=%d partition=p tres_req=1=8 limit=60
job physics.alice id_job=902 submit=%d time_eligible=%d partition=p,q tres_req=1=8 limit=60
""" % ((NOW - 100,) * 4)
ODD = 'odd \\ "name"'
SAMPLE = re.compile(r'^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"(?:,|$)')


def samples(text):
    """Returns {(metric, frozenset of labels): value}."""
    found = {}
    for line in text.splitlines():
        if line.startswith('#'):
            continue
        name, labels, value = SAMPLE.match(line).groups()
        labels = labels or ''
        pairs = [(key, re.sub(r'\\(.)', r'\1', word)) for key, word in LABEL.findall(labels)]
        if LABEL.sub('', labels) or (name, frozenset(pairs)) in found:
            raise ValueError(line)
        found[name, frozenset(pairs)] = float(value)
    return found


def content(text):
    """Returns the exit status and the output of promtool."""
    done = subprocess.run(['promtool', 'check', 'metrics'], input=text.encode(), capture_output=True, check=False)
    return done.returncode, (done.stdout + done.stderr).decode()


def shown(place):
    """Returns the values that show prints for associations, as samples."""
    expected = {}
    rows = place.query('SELECT s.cluster, s.id_assoc, s.account, s.username, s.partition, s.rawshares, s.normshares, '
                       's.rawusage, s.normusage, s.effectvusage, s.fairshare, s.levelfs, f.level_fs_infinite, f.fair_tree_rank, p.account AS above, '
                       'CASE WHEN f.parent_id IS NOT NULL THEN f.shares END '
                       'FROM fairmill_sshare s JOIN fairmill_fairshare f USING (cluster, id_assoc) '
                       'LEFT JOIN fairmill_fairshare p ON p.cluster = f.cluster AND p.id_assoc = f.parent_id')
    for (cluster, _, account, user, partition, _, norm_shares, raw_usage, norm_usage, effective, fairshare, level_fs,
         infinite, rank, above, shares) in rows:
        labels = dict(cluster=cluster, account=account) | (dict(user=user) if user else {})
        labels |= dict(partition=partition) if partition else {}
        kind = 'slurm_user_fairshare' if user else 'slurm_account_fairshare'
        values = {kind: fairshare, f'{kind}_norm_shares': norm_shares, f'{kind}_norm_usage': norm_usage,
                  f'{kind}_raw_shares': shares, f'{kind}_raw_usage_cpu_seconds': raw_usage,
                  'fairmill_effective_usage': effective, 'fairmill_fair_tree_rank': rank,
                  'fairmill_level_fs': None if infinite else level_fs}
        expected |= {(name, frozenset(labels.items())): value for name, value in values.items() if value is not None}
        if above and not user:
            expected['fairmill_account_parent', frozenset((labels | dict(parent=above)).items())] = 1
    return expected


def numbers(place):
    place.ready(DRAWING)
    place.change("UPDATE tiny_assoc_table SET acct = ? WHERE acct = 'odd'", ODD)
    place.ends(0, 'metrics before the first run exits with status 0', 'metrics')
    tap.same(samples(place.out), {('fairmill_published_clusters', frozenset()): 0.0},
             'before the first run there is only the number of published clusters')
    place.succeed('run', '--now', NOW)
    place.ends(0, 'metrics after a run exits with status 0', 'metrics')
    status, said = content(place.out)
    tap.ok(status == 0 and not said, 'promtool accepts the output', status, said)
    found = samples(place.out)
    of_health = {key for key in found if key[0] in ('fairmill_associations_left_out', 'fairmill_problem', 'fairmill_findings_of_kind', 'fairmill_published_clusters')
                 or key[0].startswith(('fairmill_fairness_', 'fairmill_started_', 'fairmill_job_wait_'))}
    own = {key for key in found if key[1] == frozenset([('cluster', 'tiny')])} - of_health
    tap.same({key: value for key, value in found.items() if key not in own | of_health}, shown(place),
             'metrics equal the published values, and missing values are omitted')
    tap.ok('slurm_account_fairshare_raw_shares{cluster="tiny",account="root"}' not in place.out, 'the root has no RawShares')
    tap.ok(not any(name == 'slurm_account_fairshare' for name, _ in found), 'with Fair Tree, accounts have no FairShare')
    tap.ok(any(dict(labels).get('account') == ODD for _, labels in found), 'quotes and backslashes in labels are escaped')
    of_cluster = {name: found[name, labels] for name, labels in own}
    tap.ok(of_cluster['fairmill_computed_timestamp_seconds'] == NOW and of_cluster['fairmill_waiting_jobs'] == 2
           and of_cluster['fairmill_last_run_failed'] == 0 and of_cluster['fairmill_run_duration_seconds'] >= 0
           and of_cluster['fairmill_last_run_timestamp_seconds'] > NOW
           and of_cluster['fairmill_findings'] == place.query('SELECT COUNT(*) FROM fairmill_finding')[0][0],
           'a cluster has its time, queue and last run', of_cluster)
    tap.same({dict(labels)['kind']: value for (name, labels), value in found.items() if name == 'fairmill_findings_of_kind'},
             dict(place.query('SELECT kind, COUNT(*) FROM fairmill_finding GROUP BY 1')), 'a cluster has its findings by kind')
    place.settings({'fairshare.algorithm': 'classic'})
    place.succeed('run', '--now', NOW + 1)
    place.succeed('metrics')
    found = samples(place.out)
    tap.ok(('slurm_account_fairshare', frozenset(dict(cluster='tiny', account='physics').items())) in found,
           'with the classic algorithm, accounts have FairShare')
    place.change("UPDATE tiny_assoc_table SET parent_acct = 'nobody', id_parent = 99 WHERE acct = 'physics'")
    place.run('run', '--now', NOW + 2)
    place.succeed('metrics')
    tap.same(samples(place.out)['fairmill_last_run_failed', frozenset([('cluster', 'tiny')])], 1.0,
             'a failed run is a metric, next to the last values')


def retired(place):
    place.ready('cluster tiny\nroot/\n  u 1\ncluster other\nroot/\n  u 1\n')
    place.succeed('run', '--now', NOW)
    place.succeed('metrics')
    waiting = {key[1]: value for key, value in samples(place.out).items() if key[0] == 'fairmill_waiting_jobs'}
    tap.same(waiting, {frozenset([('cluster', name)]): 0.0 for name in ('tiny', 'other')},
             'without pending jobs their number is 0')
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'other'")
    place.succeed('run', '--now', NOW)
    place.succeed('metrics')
    tap.ok('"tiny"' in place.out and '"other"' not in place.out, 'a retired cluster has no metrics', place.out)


def bounded(place):
    """Users and their accounts used 9, 8, 8 and 1, but their order differs; `root` used all."""
    place.ready("""
cluster tiny
root/
  a/ 1
    ua 1 use 8
  b/ 1
    ub 1 use 9
    uz 1
  c/ 1
    uc 1 use 1
  d/ 1
    ud 1 use 8
""")
    place.succeed('run', '--now', NOW)

    def series(*options):
        place.succeed('metrics', *options)
        found = samples(place.out)
        users = [dict(labels)['user'] for name, labels in found if name == 'slurm_user_fairshare_raw_usage_cpu_seconds']
        accounts = [dict(labels)['account'] for name, labels in found if name == 'slurm_account_fairshare_raw_usage_cpu_seconds']
        return users, accounts, found['fairmill_associations_left_out', frozenset([('cluster', 'tiny')])]
    everybody = (['ua', 'ub', 'uz', 'uc', 'ud'], ['root', 'a', 'b', 'c', 'd'], 0)
    tap.same(series(), everybody, 'the metrics of a small site are complete')
    tap.same(series('--top', 'all'), everybody, '--top all has all associations')
    tap.same(series('--top', 2), (['ua', 'ub'], ['root', 'b'], 6),
             '--top has the associations with most usage, and the number omitted')
    tap.same(series('--accounts-only'), ([], ['root', 'a', 'b', 'c', 'd'], 5), '--accounts-only omits users')
    tap.same(series('--top=0'), ([], [], 10), '--top=0 omits all associations')
    place.ends(64, '--top -1 is rejected', 'metrics', '--top', '-1')
    place.says('the error for --top -1 names the option', '--top')
    place.multiply('tiny_assoc_table', "user = 'ua'", 1500, id_assoc='100 + i', user="'more' || i")
    place.succeed('run', '--now', NOW + 1)
    users, accounts, left = series()
    tap.same((len(users), len(accounts), left), (1000, 5, 505), '--top defaults to 1000 users')
    tap.ok(len(place.out) < 2 << 20, 'the metrics of 1000 users have less than two megabytes', len(place.out))


def of_tres(place):
    """Usage and limits by TRES, in TRES-seconds."""
    place.ready("""
cluster tiny
root/
  physics/ 60
    alice      10
    bob        10
  chemistry/ 40
    carol      1
tres 1001 gres/gpu
qos 2 factor=1 name=high
job physics.alice start=%d end=%d tres=1=4,5=4,1001=2
job physics.bob start=%d end=0 limit=120 qos=2 tres=1=8,5=8
job chemistry.carol start=%d end=%d tres=1=2,5=2
""" % (NOW - 4000, NOW - 1000, NOW - 600, NOW - 500, NOW - 400))
    for user, limit in (('', '1001=200,1=5'), ('alice', '1=100000')):
        place.change("UPDATE tiny_assoc_table SET grp_tres_mins = ? WHERE acct = 'physics' AND user = ?", limit, user)
    place.change("UPDATE qos_table SET grp_tres_mins = '1=1000' WHERE name = 'high'")
    place.succeed('run', '--now', NOW)

    def series(*options):
        place.succeed('metrics', *options)
        status, said = content(place.out)
        tap.ok(status == 0 and not said, f"promtool accepts the output of metrics {' '.join(options)}", status, said)
        return {key: value for key, value in samples(place.out).items() if key[0].startswith(('fairmill_tres_', 'fairmill_budget_'))}
    found = series()
    rows = place.query('SELECT f.account, t.tres, t.usage_raw, t.running_seconds FROM fairmill_tres t JOIN fairmill_fairshare f '
                       "USING (cluster, id_assoc) WHERE f.user_name = ''")
    expected = {(f'fairmill_tres_{name}_seconds', frozenset(dict(cluster='tiny', account=account, tres=tres).items())): value
                for account, tres, usage, running in rows for name, value in (('usage', usage), ('running', running))}
    tap.ok(expected['fairmill_tres_usage_seconds', frozenset(dict(cluster='tiny', account='physics', tres='gres/gpu').items())] == 6000
           and expected['fairmill_tres_running_seconds', frozenset(dict(cluster='tiny', account='physics', tres='cpu').items())] == 8 * 6600,
           'the accounts have usage by TRES', expected)
    tap.same({key: value for key, value in found.items() if key in expected or key[0].startswith('fairmill_tres_')}, expected,
             'metrics have the published usage of accounts by TRES')
    limits = {(name.removeprefix('fairmill_budget_'), *(dict(labels).get(label, '') for label in ('kind', 'account', 'user', 'qos', 'tres'))): value
              for (name, labels), value in found.items() if name.startswith('fairmill_budget_')}
    columns = ('limit', 'used', 'running', 'left')
    rows = place.query(f"SELECT exhausted_at, {', '.join(f'60 * {name}_minutes' for name in columns)}, kind, account, user_name, qos, tres "
                       'FROM fairmill_budget')
    expected = {(f'{name}_seconds', *row[5:]): value for row in rows for name, value in zip(columns, row[1:5])}
    expected |= {('exhausted_timestamp_seconds', *row[5:]): row[0] for row in rows if row[0] is not None}
    tap.ok(len(rows) == 4 and len({row[0] is None for row in rows}) == 2 and {row[5] for row in rows} == {'association', 'qos'},
           'an account, a user and a QOS have limits', rows)
    tap.same(limits, expected, 'metrics have the limits, and omit the time of a limit that is never reached')
    tap.ok(not any(dict(labels).get('user') for _, labels in series('--accounts-only')), '--accounts-only omits the limits of users')
    tap.same({dict(labels).get('qos') for _, labels in series('--top', '0')}, {'high'}, '--top 0 omits the limits of associations')
    tap.same({(dict(labels)['tres']) for _, labels in series('--tres', 'gres/gpu')}, {'gres/gpu'}, '--tres selects one TRES')
    place.ends(64, 'a TRES that is not kept is rejected', 'metrics', '--tres', 'license/x')
    place.says('the error names the kept TRES', "'license/x'", 'cpu, gres/gpu')


def of_waits(place):
    place.ready(DRAWING, {'usage.time_zone': 'UTC'})
    place.succeed('run', '--now', NOW)
    today = NOW // 86400 * 86400
    place.query('DELETE FROM fairmill_wait_final')
    place.query('DELETE FROM fairmill_wait_open')
    for table, day, partition, bucket, jobs in (
            ('open', 0, 'cpu', 60, 4), ('final', 6, 'cpu', 300, 6), ('open', 6, 'gpu', -1, 3), ('final', 7, 'cpu', -1, 50)):
        place.query(f'INSERT INTO fairmill_wait_{table} VALUES (?, ?, ?, ?, ?, ?, ?)', 'tiny', today - day * 86400, 3, partition,
                    'normal', bucket, jobs)
    place.succeed('metrics')
    status, said = content(place.out)
    tap.ok(status == 0 and not said, 'promtool accepts waiting times', status, said)
    found = {(name, dict(labels)['partition'], dict(labels)['qos']): value for (name, labels), value in samples(place.out).items()
             if name.startswith(('fairmill_started_', 'fairmill_job_wait_'))}
    tap.same(found, {('fairmill_started_jobs', 'cpu', 'normal'): 10, ('fairmill_job_wait_median_seconds', 'cpu', 'normal'): 100,
                     ('fairmill_job_wait_p90_seconds', 'cpu', 'normal'): 260, ('fairmill_started_jobs', 'gpu', 'normal'): 3,
                     ('fairmill_job_wait_median_seconds', 'gpu', 'normal'): 604800,
                     ('fairmill_job_wait_p90_seconds', 'gpu', 'normal'): 604800},
             'waiting times of seven days are interpolated, and the longest is seven days')


def files(place):
    place.ready(DRAWING)
    place.succeed('run', '--now', NOW)
    place.succeed('metrics')
    expected = place.out
    target = place.path('fairmill.prom')
    place.ends(0, '--output writes a file', 'metrics', '--output', target)
    tap.same((place.out, open(target, encoding='utf-8').read()), ('', expected), '--output prints nothing')
    tap.same(stat.S_IMODE(os.stat(target).st_mode), 0o644, 'other users can read the file')
    seen, over = set(), threading.Event()

    def look():
        while not over.is_set():
            with open(target, encoding='utf-8') as file:
                seen.add(file.read())
    watcher = threading.Thread(target=look)
    watcher.start()
    for _ in range(20):
        place.succeed('metrics', '-o', target)
    over.set()
    watcher.join()
    tap.same(seen, {expected}, 'readers never see an incomplete file')
    tap.same([name for name in os.listdir(place.folder) if name.startswith('fairmill.prom')], ['fairmill.prom'],
             'no temporary file is left')
    place.ends(1, 'a missing directory is an error', 'metrics', '-o', place.path('none/x.prom'))
    place.says('the error of metrics -o names the file', 'none/x.prom')
    os.mkdir(place.path('folder.prom'))
    place.ends(1, 'a directory in place of the file is an error', 'metrics', '-o', place.path('folder.prom'))
    tap.same([name for name in os.listdir(place.folder) if name.startswith('folder.prom.')], [],
             'no temporary file is left after the error')
    os.unlink(place.path('r.db'))
    place.ends(78, 'metrics without results exits with status 78', 'metrics', '-o', target)
    tap.same(open(target, encoding='utf-8').read(), expected, 'the old file stays after the error')


def joins(place):
    """Joins the metrics with slurmctld's, which have the labels `username` and `account`."""
    place.ready(DRAWING)
    place.succeed('run', '--now', NOW)
    place.succeed('metrics')
    plain = samples(place.out)
    place.succeed('metrics', '--slurm-labels')
    status, said = content(place.out)
    tap.ok(status == 0 and not said, 'promtool accepts the output of metrics --slurm-labels', status, said)
    named = {(name, frozenset(('user' if key == 'username' else key, value) for key, value in labels)): number
             for (name, labels), number in samples(place.out).items()}
    tap.ok(named == plain and 'user="' not in place.out and 'username="alice"' in place.out,
           'with --slurm-labels, only the label user has another name', place.out)
    series = [*place.out.splitlines(), 'slurm_user_jobs_pending{username="alice"} 2', 'slurm_user_jobs_pending{username="bob"} 0',
              'slurm_account_jobs_pending{account="sub"} 1']
    test = dict(interval='1m', input_series=[dict(series=line.rpartition(' ')[0], values=line.rpartition(' ')[2])
                                             for line in series if not line.startswith('#')])
    test['promql_expr_test'] = [
        dict(expr=f'count({metric} and on ({label}) {of_slurm} > 0)', eval_time='0m', exp_samples=[dict(labels='{}', value=1)])
        for metric, label, of_slurm in (('slurm_user_fairshare', 'username', 'slurm_user_jobs_pending'),
                                        ('slurm_account_fairshare_norm_usage', 'account', 'slurm_account_jobs_pending'))]
    with open(place.path('join.yml'), 'w', encoding='utf-8') as file:
        json.dump(dict(tests=[test]), file)
    done = subprocess.run(['promtool', 'test', 'rules', place.path('join.yml')], capture_output=True, text=True, check=False)
    tap.ok(done.returncode == 0, "PromQL joins users and accounts with slurmctld's metrics of their jobs", done.stdout, done.stderr)


def body():
    if not shutil.which('promtool'):
        return tap.skip_all('promtool (Debian: prometheus) is not installed')
    for part in (numbers, retired, bounded, of_tres, of_waits, joins, files):
        with Place() as place:
            part(place)
    return None


tap.main(body)
