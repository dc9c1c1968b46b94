#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Which seconds of which jobs count, and to whom.  Without decay usage is a plain sum, so that each
number below can be added up by hand."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

# Sunday 2025-06-15 00:00 in Berlin, and at Greenwich.
SUNDAY_BERLIN, SUNDAY_UTC = 1749938400, 1749945600


def used(place, drawing, *names, now=NOW, keys=None):
    """usage_raw of these names after a run."""
    place.ready(drawing, keys)
    place.succeed('run', '--now', now, '--replace')
    return place.usage(*names)


def jobs(place):
    one = 'root/\n  u\n'
    tap.same(used(place, one + 'job root.u start=1000 end=1600 billing=4 cpu=2\n', 'root.u'),
             [2400.0],
             'a job charges its billing for each second that it ran')
    tap.same(used(place, one + 'job root.u start=1000 end=1600 cpu=2\n', 'root.u'), [1200.0],
             'its CPUs where it has no billing')
    tap.same(used(place, one + 'job root.u start=1000 end=1600 billing=4 cpu=2\n', 'root.u',
                  keys={'usage.charge': 'cpu'}), [1200.0],
             'charge = cpu takes the CPUs though there is billing')
    tap.same(used(place, one + 'job root.u start=1000 end=1600 tres=2=500,4=1\n', 'root.u'), [0.0],
             'a job with neither charges nothing')
    tap.same(place.findings(), {'capacity_unknown': 1}, 'and is no finding')
    tap.same(used(place, one + 'job root.u start=1000 end=1600 tres=1=0,5=0\n', 'root.u'), [0.0],
             'billing 0 is a billing')
    tap.same(used(place, one + f'job root.u start={NOW - 50} billing=4\n', 'root.u'), [200.0],
             'a job that runs charges up to now')
    tap.same(used(place, one + f'job root.u start={NOW - 50} end={NOW + 50} billing=4\n', 'root.u'),
             [200.0],
             'what a job did after now does not count')
    tap.same(used(place, one + f'job root.u start={NOW + 50} end={NOW + 90} billing=4\n', 'root.u'),
             [0.0], 'nor does a job after now')
    tap.same(used(place, one + 'job root.u submit=1000 billing=4\njob root.u submit=1000 end=1500 billing=4\n', 'root.u'), [0.0],
             'a job that never started charges nothing')
    tap.same(used(place, one + 'job root.u start=1000 end=1600 billing=4\njob root.u start=1000 submit=1600 end=2000 billing=10\n', 'root.u'),
             [2400.0 + 4000.0], "a resized job's later row charges from its own submission")
    tap.same(used(place, one + 'job root.u start=1000 end=1600 billing=4 state=1024\njob root.u start=2000 end=2100 billing=4\n', 'root.u'),
             [2800.0], 'a requeued job charges for each time it ran')
    tap.same(used(place, one + 'qos 2 factor=0.1\nqos 3 factor=0\nqos 4 factor=-1\n' + ''.join(
        f'job root.u start=1000 end=1010 billing=10 qos={q}\n' for q in (2, 3, 4, 77)), 'root.u'),
        [10.0 + 0 + 100 + 100],
             'the QOS multiplies the charge; a negative factor or an unknown QOS does not')
    tap.same(used(place, one + 'job root.u start=1000 end=1001 billing=18446744073709551613\n',
                  'root.u'), [1.8446744073709552e19],
             'the largest count is charged')
    place.ready(one + 'job root.u start=1000 end=2000 billing=3\n')
    number, = place.change('SELECT job_db_inx FROM tiny_job_table')[0]
    place.change(f'INSERT INTO tiny_suspend_table (job_db_inx, id_assoc, time_start, time_end) VALUES ({number}, 2, 1100, 1900)')
    place.succeed('run', '--now', NOW)
    tap.same(place.usage('root.u'), [3000.0], 'suspended seconds are charged')


def open_jobs(place):
    one = 'root/\n  u\n'
    hour, day = 3600, 86400
    begun = NOW - 10 * day
    for limit, cap, expected, what in (
            (60, None, hour + day, 'an open job is charged for a day beyond its time limit'),
            (60, '0-2', hour + 2 * hour, 'or for open_job_cap beyond it'),
            (60, '20-0', 10 * day, 'but never beyond now'),
            (0, None, 10 * day, 'without a time limit there is no cap'),
            (4294967294, None, 10 * day, 'NO_VAL is no time limit'),
            (4294967295, None, 10 * day, 'INFINITE is no time limit'),
            (10 * 1440, None, 10 * day, 'within its limit an open job is charged up to now')):
        got = used(place, one + f'job root.u start={begun} billing=2 limit={limit}\n', 'root.u',
                   keys={'usage.open_job_cap': cap} if cap else None)
        tap.same(got, [2.0 * expected], what)
        capped = 'job_open_beyond_limit' in place.findings()
        tap.same(capped, expected < 10 * day, f'it is a finding exactly when it was cut ({what})')
    got = used(place, one + f'job root.u start={begun} end={NOW - 1} billing=2 limit=60\n',
               'root.u')
    tap.same(got, [2.0 * (10 * day - 1)],
             'a job that has ended is charged in full whatever its limit was')


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
    tap.same(place.usage('phys.alice'), [1.0], 'a user has what was charged to it')
    tap.same(place.usage('phys'), [1111.0],
             'usage of a deleted association goes to its nearest living ancestor')
    tap.same(place.usage('root'), [111111.0], 'up to the root')
    tap.same(place.usage('parents'), [100000.0],
             'usage sums along the direct parents, also those with parent shares')
    tap.same(place.query('SELECT count(*) FROM fairmill_fairshare'), [(5,)],
             'deleted associations have no row')
    tap.same(place.query('SELECT unattributed_usage FROM fairmill_run'), [(7.0,)],
             'usage without any association is published with the run, outside the root')
    place.change("UPDATE tiny_assoc_table SET deleted = 0 WHERE \"user\" = 'gone'")
    place.succeed('run', '--now', NOW)
    tap.same(place.usage('phys.gone', 'phys'), [10.0, 1111.0],
             'a re-added association has its history back')
    place.change("UPDATE tiny_job_table SET deleted = 1")
    place.succeed('run', '--now', NOW)
    tap.same(place.usage('root'), [111111.0],
             'a job row that is marked for the archive still counts')


def resets(place):
    # One unit a second, over two Sundays' midnights: that of Berlin and that of Greenwich, two hours apart.
    tree = f'root/\n  u\njob root.u start={SUNDAY_BERLIN - 100} end={SUNDAY_UTC + 100} billing=1\n'
    after = {'Europe/Berlin': 7300.0, 'UTC': 100.0}
    for zone, expected in after.items():
        got = used(place, tree, 'root.u',
                   keys={'usage.reset_period': 'weekly', 'usage.time_zone': zone})
        tap.same(got, [expected], f'a week begins at Sunday midnight of {zone}')
    keys = {'usage.time_zone': 'UTC'}
    for period, boundary in (('daily', 1750464000), ('weekly', SUNDAY_UTC), ('monthly', 1748736000),
                             ('quarterly', 1743465600),
                             ('yearly', 1735689600)):
        drawing = f'root/\n  u\njob root.u start={boundary - 5} end={boundary + 7} billing=1\n'
        got = used(place, drawing, 'root.u', keys=dict(keys, **{'usage.reset_period': period}))
        tap.same(got, [7.0], f'{period}: usage before the last boundary does not count')
    drawing = f'root/\n  u\njob root.u start={SUNDAY_UTC - 5} end={SUNDAY_UTC + 7} billing=1\n'
    weekly = dict(keys, **{'usage.reset_period': 'weekly'})
    tap.same(used(place, drawing, 'root.u', now=SUNDAY_UTC, keys=weekly), [0.0],
             'at the boundary itself usage begins anew')
    tap.same(used(place, drawing, 'root.u', now=SUNDAY_UTC - 1, keys=weekly), [4.0],
             'a second before it does not')
    tap.same(used(place, drawing, 'root.u',
                  keys=dict(keys, **{'usage.reset_period': '7-0',
                                     'usage.reset_anchor': '2024-01-07'})), [7.0],
             'a time string counts from the anchor')
    tap.same(used(place, drawing, 'root.u',
                  keys=dict(keys, **{'usage.reset_period': '7-0',
                                     'usage.reset_anchor': str(SUNDAY_UTC + 3)})), [4.0],
             'an anchor may be epoch seconds')
    tap.same(used(place, drawing, 'root.u', keys=dict(keys, **{'usage.reset_period': 'none'})),
             [12.0], 'none never resets')
    # 2025-03-30 had 23 hours in Berlin: its day began at 23:00 UTC, the next one at 22:00 UTC.
    drawing = 'root/\n  u\njob root.u start=1743289200 end=1743375600 billing=1\n'
    berlin = {'usage.time_zone': 'Europe/Berlin', 'usage.reset_period': 'daily'}
    tap.same(used(place, drawing, 'root.u', now=1743371999, keys=berlin),
             [1743371999.0 - 1743289200.0],
             'the short day in spring begins at its own midnight')
    tap.same(used(place, drawing, 'root.u', now=1743372000, keys=berlin), [0.0],
             'and ends an hour early')
    # On 2018-11-04 the clocks of Sao Paulo went from midnight to one o'clock, at 03:00 UTC.
    drawing = 'root/\n  u\njob root.u start=1541300300 end=1541300500 billing=1\n'
    paulo = {'usage.time_zone': 'America/Sao_Paulo', 'usage.reset_period': 'daily'}
    tap.same(used(place, drawing, 'root.u', now=1541310000, keys=paulo), [100.0],
             'a day without a midnight begins after the gap')


def decay(place):
    week = 7 * 86400
    tree = f'root/\n  u\n  old\njob root.u start={NOW - week - 10} end={NOW - week} billing=1000\n' \
           f'job root.old start={NOW - 70 * week} end={NOW - 65 * week} billing=1000\n'
    place.ready(tree, {'usage.half_life': '7-0'})
    place.succeed('run', '--now', NOW)
    first, = place.usage('root.u')
    tap.ok(abs(first / 5000 - 1) < 1e-5, 'what was used a half-life ago counts half', first)
    tap.same(place.usage('root.old'), [0.0],
             'what was used more than 64 half-lives ago counts nothing')
    place.succeed('run', '--now', NOW + week)
    tap.same(place.usage('root.u'), [first / 2], 'and half of that a half-life later')
    place.succeed('run', '--now', NOW + 6 * week)
    tap.same(place.usage('root.u'), [first / 64], 'and so on')


def body():
    for part in (jobs, open_jobs, owners, resets, decay):
        with Place() as place:
            part(place)


tap.main(body)
