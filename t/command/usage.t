#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests which seconds of which jobs count, and for which association.

Without decay usage is a plain sum, so that each number below can be calculated by hand."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

# Sunday 2025-06-15 00:00 in Berlin, and in UTC.
SUNDAY_BERLIN, SUNDAY_UTC = 1749938400, 1749945600


def used(place, drawing, *names, now=NOW, keys=None):
    """Returns usage_raw of these names after a run."""
    place.ready(drawing, keys)
    place.succeed('run', '--now', now, '--replace')
    return place.usage(*names)


def jobs(place):
    one = 'root/\n  u\n'
    tap.same(used(place, one + 'job root.u start=1000 end=1600 billing=4 cpu=2\n', 'root.u'),
             [2400.0],
             'a job is charged its billing for each second that it ran')
    tap.same(used(place, one + 'job root.u start=1000 end=1600 cpu=2\n', 'root.u'), [0.0],
             'a job without billing is free')
    tap.same(place.findings(), {'capacity_unknown': 1}, 'a job without billing is not a finding')
    free = {charge: used(place, one + 'job root.u start=1000 end=1600 cpu=2\n', 'root.u', keys={'usage.charge': charge})
            for charge in ('billing', 'cpu')}
    tap.same(free, {'billing': [0.0], 'cpu': [1200.0]}, 'a job without billing is charged its CPUs only with charge = cpu')
    tap.same(used(place, one + 'job root.u start=1000 end=1600 billing=4 cpu=2\n', 'root.u',
                  keys={'usage.charge': 'cpu'}), [1200.0],
             'charge = cpu uses the CPUs of a job with billing')
    tap.same(used(place, one + 'job root.u start=1000 end=1600 tres=1=0,5=0\n', 'root.u'), [0.0],
             'a billing of 0 is used')
    tap.same(used(place, one + f'job root.u start={NOW - 50} billing=4\n', 'root.u'), [200.0],
             'a running job is charged up to now')
    tap.same(used(place, one + f'job root.u start={NOW - 50} end={NOW + 50} billing=4\n', 'root.u'),
             [200.0],
             'the part of a job after now does not count')
    tap.same(used(place, one + f'job root.u start={NOW + 50} end={NOW + 90} billing=4\n', 'root.u'),
             [0.0], 'a job that starts after now does not count')
    tap.same(used(place, one + 'job root.u submit=1000 billing=4\njob root.u submit=1000 end=1500 billing=4\n', 'root.u'), [0.0],
             'a job that never started is not charged')
    tap.same(used(place, one + 'job root.u start=1000 end=1600 billing=4\njob root.u start=1000 submit=1600 end=2000 billing=10\n', 'root.u'),
             [2400.0 + 4000.0], 'a later row of a resized job is charged from its own submission')
    tap.same(used(place, one + 'job root.u start=1000 end=1600 billing=4 state=1024\njob root.u start=2000 end=2100 billing=4\n', 'root.u'),
             [2800.0], 'a requeued job is charged for each time it ran')
    tap.same(used(place, one + 'qos 2 factor=0.1\nqos 3 factor=0\nqos 4 factor=-1\n' + ''.join(
        f'job root.u start=1000 end=1010 billing=10 qos={q}\n' for q in (2, 3, 4, 77)), 'root.u'),
        [10.0 + 0 + 100 + 100],
             'a QOS multiplies the charge, unless its factor is negative or unknown')
    tap.same(used(place, one + 'job root.u start=1000 end=1001 billing=18446744073709551613\n',
                  'root.u'), [1.8446744073709552e19],
             'the largest possible count is charged')


# 1 CPU and 8 GB, as in the example of slurm.conf(5), and other TRES.
MANY = 'tres 1001 gres/gpu\ntres 1002 gres/gpu:a100\ntres 1003 license/x\nroot/\n  u\n' \
       'job root.u start=1000 end=1010 tres=1=1,2=8192,4=3,5=77,1001=2,1002=1,1003=5\n'


def weights(place):
    def weighed(setting, drawing=MANY, more=None):
        return used(place, drawing, 'root.u',
                    keys={'usage.charge': 'tres', 'usage.tres_weights': setting, **(more or {})})[0] / 10

    for setting, expected, what in (
            ('CPU=1.0,Mem=0.25G', 3.0, 'weighted TRES are added, as in the example of slurm.conf(5)'),
            ('MAX_TRES,CPU=1.0,Mem=0.25G', 2.0, 'with MAX_TRES the highest counts, as in the other example'),
            ('mem=.25', 2048.0, 'memory is counted in MiB'),
            ('mem=.25M', 2048.0, 'the suffix M counts memory in MiB'),
            ('mem=.25K', 2048.0, 'a suffix below M has no effect, as in Slurm'),
            ('mem=256t', 2.0, 'suffixes may be T, in any case'),
            ('Mem=262144P', 2.0, 'suffixes may be P'),
            ('node=2K', 6 / 1024, 'other TRES are counted in units'),
            ('GRES/gpu=2.0', 4.0, 'a GRES is found by its type and name'),
            ('gres/GPU:A100=7', 7.0, 'a GRES is found in any case'),
            ('LICENSE/x=0.1', 0.5, 'a license is found by its name'),
            ('CPU=5, CPU=1, cpu=4', 4.0, 'the last weight of a repeated TRES counts'),
            ('CPU=0,node=1', 3.0, 'a weight of 0 charges nothing'),
            (' CPU = 1 , MAX_TRES , node = 1.5 ', 4.5, 'blanks are ignored'),
            ('MAX_TRES,cpu=4,mem=.25G,node=1,gres/gpu=2,license/x=1', 4.0 + 5.0,
             'MAX_TRES uses the highest of cpu, mem, node and gres, and adds the rest'),
            ('MAX_TRES,cpu=1,gres/gpu=2,gres/gpu:a100=7,license/x=1', 7.0 + 5.0,
             'with MAX_TRES any gres may be the highest'),
            ('MAX_TRES_GRES,cpu=4,gres/gpu=2,gres/gpu:a100=7,license/x=1', 4.0 + 4.0 + 7.0 + 5.0,
             'MAX_TRES_GRES adds all gres'),
            ('MAX_TRES_GRES,MAX_TRES,cpu=4,gres/gpu=2', 8.0, 'MAX_TRES_GRES overrides MAX_TRES')):
        tap.same(weighed(setting), expected, f'{what} ({setting})')
        tap.same(place.findings(), {'capacity_unknown': 1}, f'there is no finding ({setting})')
    tap.same(weighed('CPU=1,GRES/gpx=9,Billing=3,license/y=0'), 1.0,
             'an unknown TRES is not charged, and billing has no weight')
    tap.same(place.query("SELECT detail FROM fairmill_finding WHERE kind = 'tres_unknown'"),
             [("'GRES/gpx', 'Billing'",)], 'an unknown TRES is a finding')
    place.succeed('check')
    tap.ok("finding tres_unknown" in place.out and "'GRES/gpx', 'Billing'" in place.out,
           'check reports the unknown TRES', place.out)
    place.succeed('check', '--json')
    (tiny,) = json.loads(place.out)['clusters']
    tap.same([finding for finding in tiny['findings'] if finding['kind'] == 'tres_unknown'],
             [dict(cluster=tiny['cluster'], kind='tres_unknown', subject='', seen=1, detail="'GRES/gpx', 'Billing'",
                   meaning='TRES with a weight does not exist; it charges nothing',
                   remedy='correct the TRES weights; `sacctmgr show tres` lists the names')], 'check --json has the fields of the finding')
    place.succeed('check', '--csv', '-o', 'kind,subject,detail')
    tap.same([line for line in place.out.split('\r\n') if 'tres' in line], ["tres_unknown,,\"''GRES/gpx', 'Billing'\""],
             'check --csv has selected columns of the finding')
    place.ends(64, 'check rejects an unknown column', 'check', '-o', 'kinds')
    tap.same(weighed('CPU=1,GRES/gpu=1', 'root/\n  u\njob root.u start=1000 end=1010 tres=2=5,4=1\n'), 0.0,
             'a job without any weighted TRES is not charged')
    place.change('DELETE FROM tres_table')
    place.settings({'usage.charge': 'tres', 'usage.tres_weights': 'node=3,GRES/gpu=1'})
    place.succeed('run', '--now', NOW, '--replace')
    tap.same(place.usage('root.u'), [30.0], 'the TRES of every slurmdbd are known without tres_table')

    registered = MANY + 'registered 1=64,2=131072,3=0,4=2,5=9,1001=8\n'
    place.ready(registered, {'usage.charge': 'tres', 'usage.tres_weights': 'CPU=1,Mem=0.25G,gres/gpu=2',
                             'usage.half_life': '7-0'})
    place.succeed('run', '--now', NOW)
    (usage, part), = place.query("SELECT usage_raw, capacity_usage FROM fairmill_fairshare WHERE depth = 0")
    tap.ok(usage == 0 or abs(part / (usage / ((64 + 32 + 16) * 2 * 604800)) - 1) < 1e-12,
           'the capacity is the weighted sum of the registered TRES', usage, part)
    tap.same(place.findings(), {}, 'there is no finding if TRES are registered')


def factors(place):
    one = 'qos 1 factor=1 name=normal\nqos 2 factor=0.5 name=low\nqos 3 factor=-1 name=a:b\n' \
          'qos 4 factor=1 name=free\nroot/\n  u\n'
    runs = [('normal', 1, 'p'), ('low', 2, 'p'), ('a:b', 3, 'p'), ('unknown', 77, 'p'), ('free', 4, 'gpu'),
            ('normal', 1, 'gpu'), ('low', 2, 'gpu'), ('normal', 1, 'gpu,debug'), ('normal', 1, 'GPU')]
    drawing = one + ''.join(
        f'job root.u start={1000 * i} end={1000 * i + 10} billing={10 ** i} qos={qos} partition={partition}\n'
        for i, (_, qos, partition) in enumerate(runs, 1))
    got = used(place, drawing, 'root.u', keys={
        'usage.qos_factors': 'low:2, a:b:3,free : 0', 'usage.partition_usage_factors': '"gpu:0.3, debug:7"'})
    expected = (1, .5 * 2, 3, 1, 0, .3, .5 * 2 * .3, .3, 1)
    tap.same(got, [round(sum(10 * f * 10 ** i for i, f in enumerate(expected, 1)), 6)],
             'factors of the settings multiply the QOS factor, and the first partition counts')
    place.succeed('check')
    tap.ok("partition_usage_factors contains 'debug'" in place.out and "'gpu'" not in place.out
           and 'qos_factors contains' not in place.out,
           'check names only partitions in which no job ran', place.out)
    place.settings({'usage.qos_factors': 'lwo:2, low:3', 'usage.tres_weights': 'CPU=1', 'usage.charge': 'billing'})
    place.succeed('check')
    tap.ok("qos_factors contains 'lwo'" in place.out and "'low'" not in place.out,
           'check names an unknown QOS', place.out)
    tap.ok('tres_weights have no effect' in place.out, 'check warns about weights that have no effect', place.out)
    got = used(place, 'tres 1001 gres/gpu\nqos 2 factor=0.5 name=low\nroot/\n  u\n'
               'job root.u start=1000 end=1010 tres=1=3,1001=1 qos=2 partition=gpu\n', 'root.u',
               keys={'usage.charge': 'tres', 'usage.tres_weights': 'cpu=1,gres/gpu=4',
                     'usage.qos_factors': 'low:0.1', 'usage.partition_usage_factors': 'gpu:10'})
    tap.same(got, [35.0], 'weights and factors are combined')


def latin_names(place):
    place.ready('root/\n  a\n  b\njob root.a start=1000 end=1100 billing=1\njob root.b start=1000 end=1100 billing=1\n',
                {'usage.partition_usage_factors': 'gä:3', 'fairshare.capacity': 1})
    place.change("UPDATE tiny_job_table SET partition = CAST(x'67e4' AS TEXT) WHERE job_db_inx = 1")
    place.succeed('run', '--now', NOW)
    tap.same(place.usage('root.a', 'root.b'), [300.0, 100.0],
             'a partition with a latin1 name has the factor of its UTF-8 name')


def suspended(place):
    def charged(lines, now=NOW, setting='omitted', more=None):
        return used(place, 'root/\n  u\n' + lines, 'root.u', now=now,
                    keys={'usage.suspended': setting, **(more or {})})[0]

    job = 'job root.u start=1000 end=2000 billing=3\n'
    tap.same(charged(job + 'suspended 1100 1900\n', setting='charged'), 3000.0,
             'suspended = charged charges suspended seconds, as Slurm does')
    for lines, expected, what in (
            ('', 1000, 'a job that was never suspended is charged in full'),
            ('suspended 1100 1900\n', 200, 'suspended = omitted does not charge suspended seconds'),
            ('suspended 1100 1200\nsuspended 1500 1600\n', 800, 'two suspensions are both subtracted'),
            ('suspended 1100 1300\nsuspended 1200 1400\nsuspended 1250 1260\n', 700,
             'overlapping suspensions are subtracted once'),
            ('suspended 500 1100\nsuspended 1950 2500\n', 850, 'a suspension outside the job is not subtracted'),
            ('suspended 1900 0\n', 900, 'an open suspension ends with the job'),
            ('suspended 500 3000\n', 0, 'a job may have been suspended all the time'),
            ('suspended 1500 1500\nsuspended 1700 1600\nsuspended 0 1800\n', 1000,
             'a suspension without length or start is ignored')):
        tap.same(charged(job + lines), 3.0 * expected, f'{what} ({lines!r})')
    place.ready('root/\n  u\n' + job + 'suspended 1100 1900\n', {'usage.suspended': 'omitted'})
    place.change('UPDATE tiny_suspend_table SET deleted = 1')
    place.succeed('run', '--now', NOW)
    tap.same(place.usage('root.u'), [600.0], 'a suspension that is marked for the archive counts')
    running = f'job root.u start={NOW - 100} billing=3\n'
    tap.same(charged(running + f'suspended {NOW - 60} 0\n'), 120.0,
             'a suspended job is not charged since its suspension')
    tap.same(charged(running + f'suspended {NOW - 60} {NOW - 50}\n'), 270.0, 'a resumed job is charged again')
    tap.same(charged(running + f'suspended {NOW - 60} {NOW + 50}\n'), 120.0,
             'a suspension is subtracted only up to now')
    day = 86400
    tap.same(charged(f'job root.u start={NOW - 10 * day} billing=1 limit=60\n'
                     f'suspended {NOW - 10 * day + 600} {NOW - 10 * day + 1200}\nsuspended {NOW - 100} 0\n'),
             3600.0 + day - 600, 'a runaway job is charged up to its cap, without suspended time')
    resized = 'job root.u start=1000 end=1600 billing=4\nsuspended 1100 1200\n' \
              'job root.u start=1000 submit=1600 end=2000 billing=10\nsuspended 1100 1700\n'
    tap.same(charged(resized), 4 * 500.0 + 10 * 300.0,
             'a suspension before the resize does not count for the later row')
    weekly = {'usage.reset_period': 'weekly', 'usage.time_zone': 'UTC'}
    tap.same(charged(f'job root.u start={SUNDAY_UTC - 50} end={SUNDAY_UTC + 50} billing=1\n'
                     f'suspended {SUNDAY_UTC - 20} {SUNDAY_UTC + 20}\n', more=weekly), 30.0,
             'a suspension before a reset is not subtracted')
    tap.same(charged('job 999 start=1000 end=2000 billing=7\nsuspended 1000 1500\n'), 0.0,
             'a job without an association charges no association')
    tap.same(place.query('SELECT unattributed_usage FROM fairmill_run'), [(3500.0,)],
             'suspended seconds of a job without an association are not charged')
    place.ready('root/\n  u\n' + job + 'suspended 1100 1900\njob root.u start=3000 end=2000 billing=1\n'
                'suspended 3000 0\n', {'usage.suspended': 'omitted', 'fairshare.capacity': 1})
    place.succeed('run', '--now', NOW)
    tap.same((place.findings(), place.query('SELECT jobs_read FROM fairmill_run')),
             ({'job_ends_before_start': 1}, [(2,)]), 'a job with suspensions is read once and causes one finding')


def cancelled(place):
    """slurmctld charges a suspended job in its decay cycles.

    If the job is cancelled while suspended, its recorded end is the start of the suspension.  Only
    its steps show the time of the cancellation."""
    batch, interactive, extern = -5, -6, -4

    def charged(cancelled, keys=None, suspension=f'{NOW - 900} {NOW - 900}', now=NOW, steps=None, registered=()):
        place.ready(f'root/\n  u\nqos 2 factor=0.5\njob root.u start={NOW - 1000} end={NOW - 900} billing=4 qos=2\n'
                    f'suspended {suspension}\n', {'fairshare.conformance': 'slurmctld'} | (keys or {}))
        place.change('UPDATE tiny_job_table SET mod_time = ?', NOW - 50)
        for at in registered:
            place.change("INSERT INTO tiny_event_table (time_start, time_end, node_name, cluster_nodes, reason, tres)"
                         " VALUES (?, 0, '', '', '', '1=8,5=8')", at)
        for step, end in steps if steps is not None else [(batch, cancelled)]:
            place.change('INSERT INTO tiny_step_table (job_db_inx, id_step, time_start, time_end) VALUES (1, ?, ?, ?)',
                         step, NOW - 1000, end)
        place.succeed('run', '--now', now)
        return place.usage('root.u')[0] / 2

    tap.same(charged(NOW - 350), 400.0, 'a job cancelled while suspended is charged up to the last decay cycle')
    tap.same(charged(NOW - 599), 400.0, 'a decay cycle one second before the cancellation counts')
    tap.same(charged(NOW - 600), 100.0, 'a decay cycle in the second of the cancellation does not count')
    tap.same(charged(NOW - 850), 100.0, 'a job suspended between decay cycles is charged up to its end')
    tap.same(charged(None, steps=[]), 100.0, 'a job without steps is charged up to its end, whatever its mod_time')
    tap.same(charged(None, steps=[(batch, 0)]), 100.0, 'a job whose batch step is open is charged up to its end')
    tap.same(charged(None, steps=[(batch, NOW - 350), (extern, NOW - 20), (0, NOW - 10), (1, NOW - 950)]), 400.0,
             'the end of the batch step precedes other steps')
    tap.same(charged(None, steps=[(interactive, NOW - 350), (extern, NOW - 20), (0, NOW - 10)]), 400.0,
             'the end of an interactive step precedes other steps')
    tap.same(charged(None, steps=[(0, NOW - 700), (1, NOW - 350), (2, NOW - 950)]), 400.0,
             'without a batch step the last step counts')
    tap.same(charged(None, steps=[(0, NOW - 950), (1, NOW - 900)]), 100.0, 'steps that ended before the suspension do not count')
    for registered, usage in ((NOW - 640,), 360.0), ((NOW - 640, NOW - 360), 640.0), ((NOW - 640, NOW - 350), 360.0), (
            (NOW - 700,), 600.0), ((NOW - 701,), 400.0), ((1,), 400.0), ((NOW + 60,), 400.0):
        tap.same(charged(NOW - 350, registered=registered), usage,
                 f'decay cycles begin with the nearest registration of slurmctld: {registered}')
    with open(place.path('slurm.conf'), 'w', encoding='utf-8') as file:
        file.write('PriorityCalcPeriod=1\nPriorityDecayHalfLife=0\n')
    tap.same(charged(NOW - 350, {'slurm.conf': place.path('slurm.conf')}), 640.0,
             'the length of decay cycles is PriorityCalcPeriod')
    tap.same(charged(NOW - 350, now=NOW - 400), 600.0, 'a run before the cancellation charges the job up to now')
    tap.same(charged(NOW - 350, {'fairshare.conformance': 'documents'}), 100.0,
             'with documents the job is charged up to its recorded end')
    tap.same(charged(NOW - 350, {'usage.suspended': 'omitted'}), 100.0,
             'with suspended = omitted the job is charged up to its recorded end')
    tap.same(charged(NOW - 350, suspension=f'{NOW - 950} {NOW - 900}'), 100.0, 'a job that was resumed is charged up to its end')
    tap.same(charged(NOW - 350, {'usage.reset_period': '0-3', 'usage.reset_anchor': str(NOW - 650)}), 50.0,
             'usage before a reset does not count')
    charged(NOW - 350)
    place.change('UPDATE tiny_job_table SET mod_time = ?', NOW + 90000)
    place.succeed('run', '--now', NOW + 1)
    tap.same(place.usage('root.u'), [802.0], 'a later change of mod_time has no effect')
    place.succeed('ledger', 'refund', '1', '--at', NOW, '-w', 'a test', '-y')
    place.succeed('run', '--now', NOW + 2)
    tap.same(place.usage('root.u'), [0.0], 'a refunded job is not charged')
    for table in 'suspend', 'step':
        charged(NOW - 350)
        place.change(f'ALTER TABLE tiny_{table}_table RENAME TO hidden')
        place.succeed('run', '--now', NOW + 1)
        tap.same(place.usage('root.u'), [200.0], f'without {table}_table the job is charged up to its end')
        place.change(f'ALTER TABLE hidden RENAME TO tiny_{table}_table')


def charged_again(place):
    """slurmctld charges a resized job since the last decay cycle at the old size, and again at the
    new one."""
    def charged(keys=None, start=None, change=None, old=NOW - 1000, now=NOW, at=NOW - 350):
        place.ready(f'root/\n  u\nqos 2 factor=0.5\n'
                    f'job root.u start={old} end={at} billing=4 qos=2 state=8192\n'
                    f'job root.u start={start or at} submit={at} end={at + 100} billing=10 qos=2\n',
                    {'fairshare.conformance': 'slurmctld'} | (keys or {}))
        place.change('UPDATE tiny_job_table SET id_job = 1')
        place.change(change or 'SELECT 1')
        place.succeed('run', '--now', now)
        return place.usage('root.u')[0] * 2

    rows = 4 * 650 + 10 * 100
    tap.same(charged(), rows + 10 * 250, 'time since the last decay cycle is charged again at the new size')
    tap.same(charged(change="INSERT INTO tiny_event_table (time_start, time_end, node_name, cluster_nodes, reason, tres)"
                     f" VALUES ({NOW - 640}, 0, '', '', '', '1=8,5=8')"), rows + 10 * 290, 'decay cycles begin with the last registration')
    tap.same(charged(start=NOW - 1000), rows + 10 * 250,
             'a row that begins with the job, as before 24.11, is charged equally')
    tap.same(place.query('SELECT sum(sum_0) + 4294967296 * sum(sum_1) FROM fairmill_usage_day'),
             [(rows / 2 * 2 ** 20 * 10 ** 6,)], "usage by day includes only the job's own time")
    tap.same(charged(old=NOW - 400), 4 * 50 + 10 * 100 + 10 * 50, 'time before the job is not charged')
    tap.same(charged(change='UPDATE tiny_job_table SET state = 1024 WHERE state = 8192'), rows,
             'a row that ended in another way is charged once')
    tap.same(charged(change='UPDATE tiny_job_table SET id_job = job_db_inx'), rows, 'the new size is from a row of the same job')
    tap.same(charged(change='UPDATE tiny_job_table SET time_submit = time_submit + 1 WHERE state <> 8192'), rows - 10,
             'the row with the new size begins with the resize')
    tap.same(charged({'fairshare.conformance': 'documents'}), rows, 'with documents no second is charged twice')
    tap.same(charged(now=NOW - 300), 4 * 650 + 10 * 50 + 10 * 250, 'decay cycles are counted back from the run')
    for limits, more in ('associations', 0), ('limits', 10 * 50):
        with open(place.path('slurm.conf'), 'w', encoding='utf-8') as file:
            file.write(f'PriorityCalcPeriod=1\nPriorityDecayHalfLife=0\nAccountingStorageEnforce={limits}\n')
        tap.same(charged({'slurm.conf': place.path('slurm.conf')}, at=NOW - 370), 4 * 630 + 10 * 100 + more,
                 f'slurm.conf provides the period, and whether a resize is charged ({limits})')
    tap.same(charged({'usage.checkpoint_after': '1'}, at=NOW - 361), 4 * 639 + 10 * 100 + 10 * 150,
             'long after a resize half a period is charged again')
    charged()
    place.succeed('ledger', 'refund', '1', '--at', NOW, '-w', 'a test', '-y')
    place.succeed('run', '--now', NOW + 2)
    tap.same(place.usage('root.u'), [0.0], 'a refunded job that was resized is not charged')


def horizon(place):
    hour = 3600
    drawing = 'root/\n  u\n  v\n' \
              f'job root.u start={NOW - 9 * hour} end={NOW - 2 * hour} billing=1\n' \
              f'job root.v start={NOW - 9 * hour} end={NOW - 2 * hour - 1} billing=1\n' \
              f'job root.v start={NOW - 9 * hour} billing=1\n'
    tap.same(used(place, drawing, 'root.u', 'root.v', keys={'usage.horizon': '0-2'}),
             [7.0 * hour, 9.0 * hour],
             'jobs that ended before the horizon are not read')
    tap.same(place.query('SELECT jobs_read FROM fairmill_run'), [(2,)], 'a job before the horizon is not counted as read')
    tap.same(used(place, drawing, 'root.u', 'root.v', keys={'usage.horizon': 'none'}),
             [7.0 * hour, 16.0 * hour - 1], 'without a horizon all jobs are read')
    tap.same(used(place, drawing, 'root.u', keys={'usage.horizon': '30000-0'}), [7.0 * hour],
             'a horizon before 1970 has no effect')
    suspension = f'job root.u start={NOW - 9 * hour} end={NOW - hour} billing=1\n' \
                 f'suspended {NOW - 8 * hour} {NOW - 7 * hour}\n'
    tap.same(used(place, 'root/\n  u\n' + suspension, 'root.u',
                  keys={'usage.horizon': '0-2', 'usage.suspended': 'omitted'}), [7.0 * hour],
             'all suspensions of a job that is read count')

    def bound(drawing, **keys):
        keys = {f'usage.{key}': value for key, value in keys.items()}
        place.ready('root/\n  u\n' + drawing, dict({'usage.half_life': '0-1'}, **keys))
        place.succeed('run', '--now', NOW)
        return place.query('SELECT truncation_bound FROM fairmill_run')[0][0]

    ended = f'job root.u start={NOW - 9 * hour} end={NOW - 3 * hour} billing=1\n'
    tap.same(bound(ended), 1 / 8, 'purged jobs had ended before the oldest ended job')
    tap.same(bound(ended + f'job root.u start={NOW - 20 * hour} billing=1\n'), 1 / 8,
             'the start of other jobs does not change the bound')
    tap.same(bound(f'job root.u start={NOW - 20 * hour} billing=1\n'), None,
             'without an ended job there is no bound')
    recent = f'job root.u start={NOW - 9 * hour} end={NOW - hour} billing=1\n'
    tap.same(bound(ended + recent, horizon='0-2'), 1 / 4,
             'with a horizon, jobs not read had ended before the horizon')
    tap.same(bound(recent, horizon='0-2'), 1 / 2,
             'if all jobs ended after the horizon, the oldest decides')
    tap.same(bound(f'job root.u start={NOW} end=1000 billing=1\n' + recent, horizon='0-2'), 1 / 2,
             'a job that ends before it starts does not change the bound')
    tap.same(bound(ended, reset_period='100', reset_anchor=str(NOW - hour)), 0.0,
             'with a reset after the oldest job the bound is 0')
    tap.same(bound(recent, reset_period='100', reset_anchor=str(NOW - 90 * 60)), 1 / 2,
             'with a reset before the oldest job there is a bound')


def open_jobs(place):
    one = 'root/\n  u\n'
    hour, day = 3600, 86400
    begun = NOW - 10 * day
    for limit, cap, expected, what in (
            (60, None, hour + day, 'an open job is charged for a day after its time limit'),
            (60, '0-2', hour + 2 * hour, 'an open job is charged for open_job_cap after its limit'),
            (60, '20-0', 10 * day, 'an open job is charged up to now at most'),
            (0, None, 10 * day, 'without a time limit there is no cap'),
            (4294967294, None, 10 * day, 'NO_VAL is not a time limit'),
            (4294967295, None, 10 * day, 'INFINITE is not a time limit'),
            (10 * 1440, None, 10 * day, 'an open job within its limit is charged up to now')):
        got = used(place, one + f'job root.u start={begun} billing=2 limit={limit}\n', 'root.u',
                   keys={'usage.open_job_cap': cap} if cap else None)
        tap.same(got, [2.0 * expected], what)
        capped = 'job_open_beyond_limit' in place.findings()
        tap.same(capped, expected < 10 * day, f'an open job is a finding if it is capped ({what})')
    got = used(place, one + f'job root.u start={begun} end={NOW - 1} billing=2 limit=60\n',
               'root.u')
    tap.same(got, [2.0 * (10 * day - 1)],
             'a job that has ended is charged beyond its limit')


def job_findings(place):
    return {kind: count for kind, count in place.findings().items() if kind.startswith('job_')}


def future_ends(place):
    hour, day = 3600, 86400
    clock = int(time.time())
    far = clock + 3650 * day

    def job(ago, end, limit=60, now=clock):
        return f'root/\n  u\njob root.u start={now - ago} end={end} billing=1 limit={limit}\n'
    for ago, end, limit, expected, findings, what in (
            (10 * day, far, 60, hour + day, {'job_open_beyond_limit': 1},
             'an end in ten years is capped like an open job'),
            (hour, far, 60, hour, {'job_ends_in_future': 1},
             'an end in ten years is charged up to now within the limit'),
            (10 * day, far, 0, 10 * day, {'job_ends_in_future': 1},
             'an end in ten years is charged up to now without a limit'),
            (10 * day, clock + 301, 60, hour + day, {'job_open_beyond_limit': 1},
             'a job with an end more than five minutes ahead is open'),
            (10 * day, clock + 300, 60, 10 * day, {'job_ends_beyond_limit': 1},
             'a job with an end at most five minutes ahead has ended'),
            (10 * day, clock - 1, 60, 10 * day - 1, {'job_ends_beyond_limit': 1},
             'a job that ended after its limit and cap is charged and a finding'),
            (hour + day, clock, 60, hour + day, {}, 'a job that ended exactly at its cap is not a finding')):
        tap.same(used(place, job(ago, end, limit), 'root.u', now=clock), [float(expected)], what)
        tap.same(job_findings(place), findings, f'the findings are correct: {what}')
    used(place, job(10 * day, far), 'root.u', now=clock)
    place.succeed('run', '--now', clock + 200)
    tap.same(place.usage('root.u'), [float(hour + day)], 'the usage of a capped job is the same in the next run')
    open_one, closed = (used(place, job(10 * day, end, now=NOW), 'root.u') + [job_findings(place)]
                        for end in (0, NOW + day))
    tap.same((open_one, closed), ([float(hour + day), {'job_open_beyond_limit': 1}], [float(hour + day), {}]),
             'in a run for a past time, a later end does not count')


def corrected_end(place):
    """The keys of jobs with an end in the future are stored, like the keys of open jobs."""
    hour, day = 3600, 86400
    ended = f'job root.v start={NOW - 20 * day} end={NOW - 19 * day} billing=1\n' \
            f'job root.v start={NOW - hour} end={NOW - 1} billing=1\n'
    place.ready(f'root/\n  u\n  v\njob root.u start={NOW - 10 * day} end={NOW + 3650 * day} billing=1 limit=60\n' + ended)
    place.succeed('run', '--now', NOW)
    place.change('UPDATE tiny_job_table SET time_end = time_start + 600 WHERE time_end > ?', NOW)
    place.succeed('run', '--now', NOW + 60)
    tap.same((place.usage('root.u', 'root.v'), place.query('SELECT kind FROM fairmill_run ORDER BY run_id')),
             ([600.0, day + hour - 1.0], [('full',), ('incremental',)]),
             'the next run sees an end corrected to before the checkpoint')
    place.succeed('run', '--now', NOW + 120, '--full')
    tap.same(place.query('SELECT drift_max FROM fairmill_run WHERE as_of = ?', NOW + 120), [(0.0,)],
             'a full run after the correction finds no drift')


def owners(place):
    tree = '''
root/
  phys/
    alice           use 1
    gone    deleted use 10
    sub/    deleted
      bob   deleted use 100
      deep/ deleted
        eve deleted use 1000
  lost/     deleted
    dan     deleted use 10000
  parents/  parent
    kid             use 100000
job 999 start=1000 end=1001 billing=7
'''
    place.ready(tree)
    place.succeed('run', '--now', NOW)
    tap.same(place.usage('phys.alice'), [1.0], 'a user has the usage of their jobs')
    tap.same(place.usage('phys'), [1111.0],
             'usage of a deleted association goes to the nearest existing ancestor')
    tap.same(place.usage('root'), [111111.0], 'the root has all usage')
    tap.same(place.usage('parents'), [100000.0],
             'usage is summed along direct parents, also with `parent` shares')
    tap.same(place.query('SELECT count(*) FROM fairmill_fairshare'), [(5,)],
             'a deleted association has no row')
    tap.same(place.query('SELECT unattributed_usage FROM fairmill_run'), [(7.0,)],
             'usage without an association is stored with the run, outside the root')
    place.change("UPDATE tiny_assoc_table SET deleted = 0 WHERE \"user\" = 'gone'")
    place.succeed('run', '--now', NOW)
    tap.same(place.usage('phys.gone', 'phys'), [10.0, 1111.0],
             'a re-added association has its usage again')
    place.change("UPDATE tiny_job_table SET deleted = 1")
    place.succeed('run', '--now', NOW)
    tap.same(place.usage('root'), [111111.0],
             'a job row that is marked for the archive counts')


def resets(place):
    # One unit for each second, over midnight of Sunday in Berlin and in UTC, which are two hours
    # apart.
    tree = f'root/\n  u\njob root.u start={SUNDAY_BERLIN - 100} end={SUNDAY_UTC + 100} billing=1\n'
    after = {'Europe/Berlin': 7300.0, 'UTC': 100.0}
    for zone, expected in after.items():
        got = used(place, tree, 'root.u',
                   keys={'usage.reset_period': 'weekly', 'usage.time_zone': zone})
        tap.same(got, [expected], f'with {zone} a week begins on Sunday midnight of that zone')
    keys = {'usage.time_zone': 'UTC'}
    for period, boundary in (('daily', 1750464000), ('weekly', SUNDAY_UTC), ('monthly', 1748736000),
                             ('quarterly', 1743465600),
                             ('yearly', 1735689600)):
        drawing = f'root/\n  u\njob root.u start={boundary - 5} end={boundary + 7} billing=1\n'
        got = used(place, drawing, 'root.u', keys=dict(keys, **{'usage.reset_period': period}))
        tap.same(got, [7.0], f'{period}: usage before the last reset does not count')
    drawing = f'root/\n  u\njob root.u start={SUNDAY_UTC - 5} end={SUNDAY_UTC + 7} billing=1\n'
    weekly = dict(keys, **{'usage.reset_period': 'weekly'})
    tap.same(used(place, drawing, 'root.u', now=SUNDAY_UTC, keys=weekly), [0.0],
             'usage is 0 at the time of the reset')
    tap.same(used(place, drawing, 'root.u', now=SUNDAY_UTC - 1, keys=weekly), [4.0],
             'usage a second before the reset counts')
    tap.same(used(place, drawing, 'root.u',
                  keys=dict(keys, **{'usage.reset_period': '7-0',
                                     'usage.reset_anchor': '2024-01-07'})), [7.0],
             'a period of days counts from the anchor')
    tap.same(used(place, drawing, 'root.u',
                  keys=dict(keys, **{'usage.reset_period': '7-0',
                                     'usage.reset_anchor': str(SUNDAY_UTC + 3)})), [4.0],
             'the anchor may be in epoch seconds')
    tap.same(used(place, drawing, 'root.u', keys=dict(keys, **{'usage.reset_period': 'none'})),
             [12.0], 'with reset_period = none usage is never reset')
    # In Berlin, 2025-03-30 had 23 hours: it began at 23:00 UTC, and the next day at 22:00 UTC.
    drawing = 'root/\n  u\njob root.u start=1743289200 end=1743375600 billing=1\n'
    berlin = {'usage.time_zone': 'Europe/Berlin', 'usage.reset_period': 'daily'}
    tap.same(used(place, drawing, 'root.u', now=1743371999, keys=berlin),
             [1743371999.0 - 1743289200.0],
             'the short day in spring begins at its midnight')
    tap.same(used(place, drawing, 'root.u', now=1743372000, keys=berlin), [0.0],
             'the short day in spring ends an hour earlier')
    # On 2018-11-04 the clocks of Sao Paulo went from midnight to one o'clock, at 03:00 UTC.
    drawing = 'root/\n  u\njob root.u start=1541300300 end=1541300500 billing=1\n'
    paulo = {'usage.time_zone': 'America/Sao_Paulo', 'usage.reset_period': 'daily'}
    tap.same(used(place, drawing, 'root.u', now=1541310000, keys=paulo), [100.0],
             'a day without midnight begins after the gap')


def decay(place):
    week = 7 * 86400
    tree = f'root/\n  u\n  old\njob root.u start={NOW - week - 10} end={NOW - week} billing=1000\n' \
           f'job root.old start={NOW - 70 * week} end={NOW - 65 * week} billing=1000\n'
    place.ready(tree, {'usage.half_life': '7-0'})
    place.succeed('run', '--now', NOW)
    first, = place.usage('root.u')
    tap.ok(abs(first / 5000 - 1) < 1e-5, 'usage counts half after a half-life', first)
    tap.same(place.usage('root.old'), [0.0],
             'usage before 64 half-lives does not count')
    place.succeed('run', '--now', NOW + week)
    tap.same(place.usage('root.u'), [first / 2], 'usage is halved exactly after another half-life')
    place.succeed('run', '--now', NOW + 6 * week)
    tap.same(place.usage('root.u'), [first / 64], 'usage is 1/64 after six half-lives')


def created(place):
    """Without decay the capacity counts from the first usage of the cluster."""
    day, keys = 86400, {'usage.half_life': '0', 'fairshare.algorithm': 'linear', 'fairshare.capacity': '10'}
    good = f'root/\n  u\n  v\njob root.u start={NOW - 2 * day} end={NOW - day} billing=4\n'
    factor = {}
    for what, row in (('none', ''), ('ended', 'job root.v start=1 end=2 billing=1\n'),
                      ('open', 'job root.v start=1 billing=1 limit=1\n'), ('only', None)):
        place.ready(good + row if row is not None else 'root/\n  u\n  v\njob root.v start=1 end=2 billing=1\n', keys)
        place.change('UPDATE cluster_table SET creation_time = ?', NOW - 10 * day)
        place.succeed('run', '--now', NOW)
        factor[what] = place.value('linear_usage', 'root.u'), place.value('capacity_usage', 'root.v'), place.findings()
        place.query('DELETE FROM fairmill_finding')
        place.succeed('run', '--now', NOW)
        tap.same((place.value('linear_usage', 'root.u'), place.findings().get('job_before_cluster')),
                 (factor[what][0], factor[what][2].get('job_before_cluster')), f'an incremental run computes the same ({what})')
    tap.same(factor['ended'][0], factor['none'][0], 'a job of 1970 does not change the capacity')
    tap.same(factor['ended'][1], 1 / (10 * 2 * day), 'a job of 1970 is charged')
    tap.same([factor[what][2].get('job_before_cluster') for what in factor], [None, 1, 1, 1], 'a job of 1970 is a finding')
    tap.same(factor['only'][1], 1 / (10 * 10 * day), 'without other usage the capacity counts from the creation of the cluster')
    tap.ok(factor['open'][1] == (1 + 24 * 60) * 60 / (10 * 2 * day), 'an open job of 1970 does not change the capacity',
           factor['open'])
    midnight, seen = NOW // day * day, []
    for first in midnight - 3 * day, day:
        place.ready('root/\n  u\n  v\n', dict(keys, **{'usage.source': 'rollup'}))
        place.change('UPDATE cluster_table SET creation_time = ?', NOW - 10 * day)
        place.change('INSERT INTO tiny_last_ran_table VALUES (?, ?, ?)', midnight, midnight, 0)
        for row in ((2, midnight - 3 * day, 400), (3, first, 1)):
            place.change('INSERT INTO tiny_assoc_usage_day_table (creation_time, id, id_tres, time_start, alloc_secs) VALUES (1, ?, 5, ?, ?)', *row)
        place.succeed('run', '--now', NOW)
        seen.append((place.value('linear_usage', 'root.u'), place.findings().get('job_before_cluster')))
    tap.same(seen, [(seen[0][0], None), (seen[0][0], 1)], 'a rollup of 1970 is a finding and does not change the capacity')
    place.ready(good + f'job root.v start={NOW - 30 * day} end={NOW - 29 * day} billing=1\n', keys)
    place.change('UPDATE cluster_table SET creation_time = ?', NOW - 10 * day)
    place.succeed('run', '--now', NOW)
    tap.same((place.value('capacity_usage', 'root.v'), place.findings()), (day / (10 * 30 * day), {}),
             'a job may start before its cluster was added to the accounting database')
    place.ready(good + 'job root.v start=1 end=2 billing=1\n', keys)
    place.change('UPDATE cluster_table SET creation_time = ?', NOW - 10 * day)
    place.settings(keys | {'usage.half_life': '7-0'})
    place.query('DELETE FROM fairmill_finding')
    place.succeed('run', '--now', NOW)
    tap.same(place.findings(), {}, 'with decay a job of 1970 is not a finding')


def body():
    for part in (jobs, weights, factors, latin_names, suspended, cancelled, charged_again, horizon, open_jobs, future_ends, corrected_end, owners, resets, decay, created):
        with Place() as place:
            part(place)


tap.main(body)
