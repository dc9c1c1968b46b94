#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""`fairmill check` leads: whatever is broken, it names the cause and what to do."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, TINY, Place

SLURM = """ClusterName=tiny
PriorityDecayHalfLife=14-0
PriorityWeightFairshare=10000
PriorityMaxAge=7-0
PrivateData=usage
PartitionName=p Nodes=ALL PriorityJobFactor=7
"""


def clean(**more):
    """Without a slurm.conf that somebody has named."""
    return dict(env={k: v for k, v in os.environ.items() if k not in ('FAIRMILL_CONF', 'SLURM_CONF')} | more)


def check(place, status, statement, *texts, settings='fm.conf', **more):
    got = place.run('check', settings=settings, **clean(**more))
    said = place.out + place.err
    tap.ok(got == status and all(text in said for text in texts), statement, got, texts, said)


def write(place, text, name='fm.conf'):
    with open(place.path(name), 'w', encoding='utf-8') as file:
        file.write(text)


def before(place):
    """From nothing to the first run."""
    check(place, 78, 'without settings the sample is next', 'No such file', 'next: run `install -D -m 644 ', '/examples/fairmill.conf ',
          'nowhere.conf`', settings='nowhere.conf')
    write(place, '[source]\ndriver = sqlite\n')
    check(place, 78, 'settings without a database say which key', "[source] database is missing")
    write(place, '[source]\ndatabse = x\n')
    check(place, 78, 'a misspelt key has its line', 'line 2', "did you mean 'database'?")
    place.settings({'source.database': place.path('lost.db')})
    check(place, 69, 'an accounting database that is not there is named', 'lost.db', 'No such file')
    place.site(TINY)
    place.settings()
    check(place, 78, 'tables that are missing have a command', 'no results yet', 'next: run `fairmill init`')
    place.settings({'results.database': place.path('a.db')})
    check(place, 78, 'results in the accounting database are refused, with the way out', 'share_database')
    place.settings()
    place.succeed('init')
    check(place, 0, 'the first run is next', 'published: nothing yet', 'next: run `fairmill run -v`')
    place.succeed('run', '--now', NOW)
    check(place, 0, 'then what starts runs', 'runs of cluster tiny: the last run started')
    if not any(map(os.path.exists, ('/etc/cron.d/fairmill', '/etc/systemd/system/timers.target.wants/fairmill.timer'))):
        tap.ok('next: to start runs every five minutes, run `systemctl enable --now fairmill.timer`' in place.out, 'which is a timer, or cron', place.out)
        place.query('UPDATE fairmill_run SET started_at = started_at - 86400')
        check(place, 0, 'nothing that starts runs is a warning once the last is old', 'started 24 h', 'warning: neither fairmill.timer')


def slurm(place):
    write(place, SLURM, 'slurm.conf')
    conf = place.path('slurm.conf')
    place.settings({'usage.half_life': '7-0', 'priority.max_age': '10080'})
    check(place, 0, 'a slurm.conf that the settings do not name is found and compared',
          f"  warning: usage.half_life is 7-0 in fairmill, but 14-0 in Slurm (PriorityDecayHalfLife in '{conf}', line 2)\n",
          f"  warning: priority.weight_fairshare is 1 by default in fairmill, but 10000 in Slurm (PriorityWeightFairshare in '{conf}', line 3)\n",
          'report.private is no by default in fairmill, but usage in Slurm (PrivateData', 'partition_factors is \'\'',
          f"  warning: the settings do not use '{conf}'; set conf = auto in [slurm]", SLURM_CONF=conf)
    tap.ok('max_age' not in place.out, 'the same span in other words is no difference', place.out)
    place.settings({'usage.half_life': '14-0', 'priority.weight_fairshare': '10000', 'report.private': 'usage',
                    'priority.partition_factors': 'p:7'})
    check(place, 0, 'settings that say the same are left alone', SLURM_CONF=conf)
    tap.ok('slurm.conf' not in place.out, 'without a word', place.out)
    write(place, 'ClusterName\n', 'slurm.conf')
    check(place, 0, 'a slurm.conf that cannot be read is a warning', "warning: cannot read this host's slurm.conf",
          'line 1', SLURM_CONF=conf)
    place.settings({'slurm.conf': 'auto'})
    check(place, 78, 'and an error where the settings name it', "[slurm] conf", SLURM_CONF=conf)
    place.settings()
    check(place, 0, 'without any, that is said', 'neither [slurm] conf nor a weight')
    place.settings({'usage.half_life': '7'})
    check(place, 0, 'seven minutes are asked about', 'is a half-life of 7 minutes')


def data(place):
    place.site(TINY + f'job physics.alice id_job=9 submit={NOW - 99} start={NOW - 90} end={NOW - 9} id_qos=77 tres=5=8\n')
    place.settings()
    check(place, 0, 'a QOS that is not there has a remedy', 'finding qos_unknown', 'what to do:')
    write(place, SLURM, 'slurm.conf')
    place.settings({'slurm.conf': place.path('slurm.conf')})
    place.site(TINY + ''.join(f'job physics.alice id_job={number} submit={NOW - 99} time_eligible={NOW - 99} partition={partition} '
                              f'tres_req=1=8 limit=60\n' for number, partition in ((11, 'p'), (12, 'lost'), (13, 'p,gone'))))
    place.succeed('check', '--json', **clean())
    found = [(row['subject'], row['detail']) for row in json.loads(place.out)['clusters'][0]['findings'] if row['kind'] == 'partition_unknown']
    tap.same(found, [('12', "partition 'lost'"), ('13', "partition 'gone'")], 'jobs that wait for a partition that is not there are found')
    place.settings()
    place.change('ALTER TABLE cluster_table RENAME TO lost_table')
    check(place, 78, 'a table that the accounting database lacks is named', 'cluster_table')
    tap.ok('next:' not in place.out, 'and to make result tables is no remedy', place.out)
    place.change('ALTER TABLE lost_table RENAME TO cluster_table')
    place.change("UPDATE tiny_assoc_table SET parent_acct = 'lost', id_parent = 999 WHERE acct = 'chemistry' AND user = ''")
    check(place, 65, 'an association that hangs nowhere is named, with a way on', 'association 999', "next: mend the association", 'on_bad_rows = skip')


def zero_shares(place):
    place.ready('root/\n  none/ 0\n    ann 5\n    bob 0\n  some/ 3\n    cy parent\n    old 0 deleted\n')
    check(place, 0, 'accounts and users with 0 shares are named', "  warning: accounts with 0 shares (their users rank last): 'none'\n",
          "  warning: users with 0 shares (they rank last): 'none/bob'\n")
    place.ready('root/\n' + ''.join(f'  a{i}/ 0\n    u 1\n' for i in range(10)))
    check(place, 0, 'eight of many', "'a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7' and 2 more\n")
    place.ready('root/\n  a/ parent\n    u\n')
    check(place, 0, 'a site without 0 shares is checked')
    tap.ok('0 shares' not in place.out, 'and has no warning of shares', place.out)


def body():
    with Place() as place:
        zero_shares(place)
    with Place() as place:
        before(place)
        slurm(place)
        data(place)


tap.main(body)
