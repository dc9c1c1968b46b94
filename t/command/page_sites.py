# SPDX-License-Identifier: MIT
"""Sites whose pages are tested in a browser.  Each function creates NAME.html in a Place."""

import os
import random
import subprocess

import site_drawing
import tap
from place import NOW
from program import TOP, fairmill, sqlite_settings, write_settings

DAY = 86400
UTC = {'usage.time_zone': 'UTC', 'usage.half_life': '7-0'}
HOSTILE = '<img src=x onerror="hurt()"></script><script>hurt()</script>'
LONG = 'a-name-that-is-much-longer-than-anybody-would-like-it-to-be-' * 3


def run(place, conf, *commands):
    for command in commands:
        got = fairmill(place.path(conf), *command)
        if got[0]:
            raise RuntimeError(f'{command} ended with {got}')


def report(place, name, *options):
    place.succeed('report', *options, '--output', f'{name}.html')


def demo_settings(place):
    return {**sqlite_settings(place.path('demo.db'), place.path('demo-results.db'), dict(time_zone='UTC')),
            'slurm': dict(conf=place.path('slurm.conf')), 'retention': dict(history_days=3650)}


def demo(place):
    """The demonstration: accounts of three faculties with a year of jobs.  demo.conf has its settings."""
    subprocess.run([f'{TOP}/sql/demo/make-demo.py', place.path('demo.db'), str(NOW)], check=True, stdout=subprocess.DEVNULL)
    write_settings(place.path('demo.conf'), demo_settings(place))
    run(place, 'demo.conf', ('init',), ('run', '--now', NOW), ('backfill', '--since', NOW - 370 * DAY, '--until', NOW),
        ('report', '--output', place.path('demo.html')))


def private(place):
    """The demonstration, where users are private."""
    write_settings(place.path('private.conf'), {**demo_settings(place), 'report': dict(private='yes')})
    run(place, 'private.conf', ('run', '--now', NOW + 120), ('report', '--output', place.path('private.html')))


def site(place, associations, past=True, clusters=('tiny',), faculties=0):
    """Makes a site of about `associations` associations, with jobs of a month and some pending
    jobs."""
    drawn = random.Random(associations)
    made = site_drawing.Site()
    made.tres[1001] = 'gres/gpu'
    for name in clusters:
        cluster = made.cluster(name)
        cluster.account('root', '')
        count, groups = (faculties or 2, 1) if associations < 100 else (20, 75)
        users = max(1, associations // count // groups - 1)
        for faculty in range(count):
            cluster.account(f'faculty{faculty}', 'root', drawn.randint(1, 40))
            for group in range(groups):
                account = f'group{faculty}_{group}'
                cluster.account(account, f'faculty{faculty}', drawn.randint(1, 20))
                for user in range(users):
                    add_user(drawn, cluster, f'user{faculty}_{group}_{user}', account, past, associations)
    if os.path.exists(place.path('a.db')):
        os.unlink(place.path('a.db'))
    made.write(place.path('a.db'))


def add_user(drawn, cluster, name, account, past, associations):
    number = cluster.user(name, account, drawn.choice([1, 1, 1, 5]))
    for _ in range(drawn.randint(0, 2 if associations > 100 else 30) if past else 0):
        end = NOW - drawn.randint(0, 30 * DAY)
        start, count = end - drawn.randint(100, 40000), drawn.choice([1, 8, 64])
        cluster.job(number, start, end, tres=f'1={count},5={count}' + (',1001=2' if account.startswith('group0') else ''))
    if past and (associations < 100 or drawn.random() < 0.3):
        submitted = NOW - drawn.randint(10, DAY)
        cluster.job(number, 0, 0, billing=4, submit=submitted, time_eligible=submitted, priority=1)


def publish(place, associations, days=3, past=True, clusters=('tiny',), faculties=0, **keys):
    """Creates a site, and publishes its values once a day."""
    place.ready(keys={**UTC, **keys})
    site(place, associations, past, clusters, faculties)
    for day in range(days - 1, -1, -1):
        place.succeed('run', '--now', NOW - day * DAY)


def huge(place):
    publish(place, 15500, days=1)
    report(place, 'huge')


def empty(place):
    publish(place, 10, days=1, past=False)
    report(place, 'empty')


def one_group(place):
    publish(place, 12, faculties=1)
    report(place, 'one-group')


def several(place):
    publish(place, 60, clusters=('one', 'two'))
    report(place, 'several')


def classic(place):
    publish(place, 60, **{'fairshare.algorithm': 'classic', 'fairshare.capacity': 1000})
    report(place, 'classic')


def openpbs(place):
    """The demonstration of OpenPBS."""
    subprocess.run([f'{TOP}/sql/demo/make-pbs-demo.py', place.path('pbs'), str(NOW)], check=True, stdout=subprocess.DEVNULL)
    write_settings(place.path('pbs.conf'),
                   dict(source=dict(driver='sqlite', database=place.path('pbs.db'), layout='pbs', clusters='pbs'),
                        results=dict(driver='sqlite', database=place.path('pbs-results.db')), usage=dict(time_zone='UTC')))
    files = ('resource-group', 'resource_group'), ('sched-config', 'sched_config'), ('accounting', 'accounting'), ('queue', 'qstat.json')
    run(place, 'pbs.conf', ('import', 'pbs', *(f'--{name}={place.path("pbs")}/{file}' for name, file in files)),
        ('init',), ('run', '--now', NOW), ('report', '--output', place.path('openpbs.html')))


def names(place):
    """Names that look like HTML, and long names, also of partitions and in reasons."""
    publish(place, 10, days=1)
    for old, new in (('user0_0_0', HOSTILE), ('user1_0_0', LONG)):
        place.change('UPDATE tiny_assoc_table SET user = ? WHERE user = ?', new, old)
    for table, column in (('tiny_assoc_table', 'acct'), ('tiny_assoc_table', 'parent_acct'), ('tiny_job_table', 'account')):
        place.change(f'UPDATE {table} SET {column} = ? WHERE {column} = ?', HOSTILE, 'faculty0')
        place.change(f'UPDATE {table} SET {column} = ? WHERE {column} = ?', LONG, 'group1_0')
    place.change('UPDATE tiny_job_table SET partition = ?', HOSTILE)
    place.succeed('run', '--full', '--now', NOW + 1)
    report(place, 'names')


def places(place):
    """Pending jobs of two pools, and jobs that cannot start."""
    publish(place, 60, days=2)
    jobs = [job for job, in place.query('SELECT id_job FROM fairmill_job_priority ORDER BY id_job')]
    change = 'UPDATE fairmill_job_priority SET pool = ?, place = ?, reason = ?, reason_detail = ?, partition_name = ? WHERE id_job = ?'
    detail = 'asks for 2,048 CPUs, partition a-partition-with-a-long-name has 1,536'
    place.query("UPDATE fairmill_job_priority SET pool = '', place = NULL, reason = 'held', reason_detail = ''")
    for job, pool, number in zip(jobs, ('gpu', 'cpu', 'cpu', 'cpu', 'gpu'), (1, 2, 1, 3, 2), strict=False):
        place.query(change, pool, number, '', '', pool, job)
    place.query(change, '', None, 'too_large', detail, 'a-partition-with-a-long-name', jobs[5])
    place.query(change, '', None, 'partition_down', 'partition old has State=DOWN', 'a-partition-with-a-long-name', jobs[6])
    report(place, 'places')


def options(place):
    """Usage by partition and QOS, a backtest, and changed settings."""
    place.ready(keys={**UTC, 'retention.history_days': 3650})
    site(place, 60)
    for day in range(9, -1, -1):
        if day == 4:
            place.settings({**UTC, 'usage.half_life': '14-0', 'retention.history_days': 3650})
        place.succeed('run', '--now', NOW - day * DAY)
    place.succeed('backtest', '--half-life', '1-0', '--half-life', '30-0', '--since', NOW - 20 * DAY, '--every', '2d', '--json')
    with open(place.path('trial.json'), 'w', encoding='utf-8') as file:
        file.write(place.out)
    report(place, 'options', '--jobs', '--backtest', 'trial.json')


def each(place):
    """A page for each account, in each/."""
    publish(place, 60)
    place.succeed('report', '--each', 'each')
    report(place, 'each', '-A', 'faculty0')


ALL = (demo, private, huge, empty, one_group, several, classic, openpbs, names, places, options, each)


def make(place, *chosen):
    """Creates these pages, or all."""
    for function in chosen or ALL:
        function(place)
        name = function.__name__.replace('_', '-') + '.html'
        tap.diag(f'{name} has {os.path.getsize(place.path(name)):,} bytes')
