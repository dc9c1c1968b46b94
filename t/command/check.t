#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that `fairmill check` reports the cause of each problem and the next step."""

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
    """Returns an environment without a slurm.conf."""
    return dict(env={k: v for k, v in os.environ.items() if k not in ('FAIRMILL_CONF', 'SLURM_CONF')} | more)


def check(place, status, statement, *texts, settings='fm.conf', **more):
    got = place.run('check', settings=settings, **clean(**more))
    said = place.out + place.err
    tap.ok(got == status and all(text in said for text in texts), statement, got, texts, said)


def write(place, text, name='fm.conf'):
    with open(place.path(name), 'w', encoding='utf-8') as file:
        file.write(text)


def before(place):
    """Tests the steps from a missing settings file to the first run."""
    check(place, 78, 'without settings, check proposes setup, or to install the sample',
          'No such file', 'next: run `fairmill setup >setup.sh`', ' or run `install -D -m 644 ', '/examples/fairmill.conf ',
          'nowhere.conf`', settings='nowhere.conf')
    write(place, '[source]\ndriver = sqlite\n')
    check(place, 78, 'check names the missing key of a database', "[source] database is missing")
    write(place, '[source]\ndatabse = x\n')
    check(place, 78, 'check names the line of a misspelt key and proposes a name', 'line 2', "did you mean 'database'?")
    place.settings({'source.database': place.path('lost.db')})
    check(place, 69, 'check names a missing accounting database', 'lost.db', 'No such file')
    place.site(TINY)
    place.settings()
    check(place, 78, 'check proposes init if tables are missing', 'no results yet', 'next: run `fairmill init`')
    place.settings({'results.database': place.path('a.db')})
    check(place, 78, 'check rejects results in the accounting database and names share_database', 'share_database')
    place.settings()
    place.succeed('init')
    check(place, 0, 'check proposes the first run after init', 'published: nothing yet', 'next: run `fairmill run -v`')
    place.succeed('run', '--now', NOW)
    check(place, 0, 'check prints the time of the last run', 'runs of cluster tiny: the last run started')
    if not any(map(os.path.exists, ('/etc/cron.d/fairmill', '/etc/systemd/system/timers.target.wants/fairmill.timer'))):
        tap.ok('next: to start runs every five minutes, run `systemctl enable --now fairmill.timer`' in place.out,
               'check proposes the timer if no timer or cron job is installed',
               place.out)
        place.query('UPDATE fairmill_run SET started_at = started_at - 86400')
        check(place, 0, 'check warns if the last run is old and nothing starts runs',
              'started 24 h', 'warning: neither fairmill.timer')


def slurm(place):
    write(place, SLURM, 'slurm.conf')
    conf = place.path('slurm.conf')
    place.settings({'usage.half_life': '7-0', 'priority.max_age': '10080'})
    check(place, 0, 'check finds a slurm.conf outside the settings and compares it',
          f"  warning: usage.half_life is 7-0 in fairmill, but 14-0 in Slurm (PriorityDecayHalfLife in '{conf}', line 2)\n",
          f"  warning: priority.weight_fairshare is 1 by default in fairmill, but 10000 in Slurm (PriorityWeightFairshare in '{conf}', line 3)\n",
          'report.private is no by default in fairmill, but usage in Slurm (PrivateData', 'partition_factors is \'\'',
          f"  warning: the settings do not use '{conf}'; set conf = auto in [slurm]", SLURM_CONF=conf)
    tap.ok('max_age' not in place.out, 'a duration in a different unit is not a difference', place.out)
    place.settings({'usage.half_life': '14-0', 'priority.weight_fairshare': '10000', 'report.private': 'usage',
                    'priority.partition_factors': 'p:7'})
    check(place, 0, 'check accepts settings that match slurm.conf', SLURM_CONF=conf)
    tap.ok('slurm.conf' not in place.out, 'check does not mention slurm.conf if the settings match it', place.out)
    write(place, 'ClusterName\n', 'slurm.conf')
    check(place, 0, 'an unreadable slurm.conf is a warning', "warning: cannot read this host's slurm.conf",
          'line 1', SLURM_CONF=conf)
    place.settings({'slurm.conf': 'auto'})
    check(place, 78, 'an unreadable slurm.conf is an error if the settings name it', "[slurm] conf", SLURM_CONF=conf)
    place.settings()
    check(place, 0, 'check says that it has no weights without a slurm.conf', 'neither [slurm] conf nor a weight')
    place.settings({'usage.half_life': '7'})
    check(place, 0, 'check warns about a half-life of seven minutes', 'is a half-life of 7 minutes')


def data(place):
    place.site(TINY + f'job physics.alice id_job=9 submit={NOW - 99} start={NOW - 90} end={NOW - 9} id_qos=77 tres=5=8\n')
    place.settings()
    check(place, 0, 'check prints a remedy for an unknown QOS', 'finding qos_unknown', 'what to do:')
    write(place, SLURM, 'slurm.conf')
    place.settings({'slurm.conf': place.path('slurm.conf')})
    place.site(TINY + ''.join(f'job physics.alice id_job={number} submit={NOW - 99} time_eligible={NOW - 99} partition={partition} '
                              f'tres_req=1=8 limit=60\n' for number, partition in ((11, 'p'), (12, 'lost'), (13, 'p,gone'))))
    place.succeed('check', '--json', **clean())
    found = [(row['subject'], row['detail']) for row in json.loads(place.out)['clusters'][0]['findings'] if row['kind'] == 'partition_unknown']
    tap.same(found, [('12', "partition 'lost'"), ('13', "partition 'gone'")],
             'check reports pending jobs with an unknown partition')
    place.settings()
    place.change('ALTER TABLE cluster_table RENAME TO lost_table')
    check(place, 78, 'check names a missing table of the accounting database', 'cluster_table')
    tap.ok('next:' not in place.out, 'check does not propose init if an accounting table is missing', place.out)
    place.change('ALTER TABLE lost_table RENAME TO cluster_table')
    place.change("UPDATE tiny_assoc_table SET parent_acct = 'lost', id_parent = 999 WHERE acct = 'chemistry' AND user = ''")
    check(place, 65, 'check names an association without a parent and the next step',
          'association 999', "next: use sacctmgr to fix the association", 'on_bad_rows = skip')


def zero_shares(place):
    place.ready('root/\n  none/ 0\n    ann 5\n    bob 0\n  some/ 3\n    cy parent\n    old 0 deleted\n')
    check(place, 0, 'check names accounts and users with 0 shares',
          "  warning: accounts with 0 shares (their users rank last): 'none'\n",
          "  warning: users with 0 shares (they rank last): 'none/bob'\n")
    place.ready('root/\n' + ''.join(f'  a{i}/ 0\n    u 1\n' for i in range(10)))
    check(place, 0, 'check names eight of many accounts with 0 shares',
          "'a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7' and 2 more\n")
    place.ready('root/\n  a/ parent\n    u\n')
    check(place, 0, 'check of a site without 0 shares succeeds')
    tap.ok('0 shares' not in place.out, 'check has no warning if no shares are 0', place.out)


def about_readers(place, status=0, **more):
    """Returns the warnings of check that are about reader.conf."""
    user = {key: more.pop(key) for key in ('user', 'group', 'extra_groups') if key in more}
    got = place.run('check', **clean(**more), **user)
    lines = [line for line in place.out.splitlines() if 'reader.conf' in line or 'users ' in line]
    tap.ok(got == status and all(line.startswith('  warning: ') for line in lines), 'check reports doubts about reader.conf as warnings',
           got, place.out, place.err)
    return lines


def readers(place):
    place.ready(TINY, {'usage.time_zone': 'UTC', 'report.private': 'usage'})
    place.succeed('run', '--now', NOW)
    results = f"[results]\ndriver = sqlite\ndatabase = {place.path('r.db')}\nuser = reader\n"
    tap.empty(about_readers(place), 'without reader.conf, check does not mention it')
    for more in ('', '[report]\nprivate = no\n', '[report]\nprivate = usage\n', '[usage]\ntime_zone = UTC\n', '[usage]\ntime_zone = Etc/UTC\n',
                 '[source]\nclusters = other\n', '[usage]\nhalf_life = 1-0\n'):
        write(place, results + more, 'reader.conf')
        tap.empty(about_readers(place), f'check accepts differences that users do not notice ({" ".join(more.split())})')
    write(place, results + '[report]\nprivate = yes\n[usage]\ntime_zone = Asia/Tokyo\n', 'reader.conf')
    lines = about_readers(place, TZ='America/New_York')
    where = f"'{place.path('reader.conf')}': ", f" in '{place.path('fm.conf')}': "
    tap.same([line.partition(where[0])[2].partition(where[1])[::2] for line in lines],
             [('[report] private = yes, but usage', 'users see less than this setting allows'),
              ('[usage] time_zone = Asia/Tokyo, but UTC',
               'users get other days and months than those of the runs; remove it from reader.conf')],
             'check names each setting that changes the answers')
    place.settings({'results.database': place.path('other.db')}, name='other.conf')
    place.succeed('init', settings='other.conf')
    write(place, results.replace('r.db', 'other.db'), 'reader.conf')
    lines = about_readers(place)
    tap.same(lines, [f"  warning: '{place.path('reader.conf')}' leads to other results than '{place.path('fm.conf')}', which runs publish; "
                     f"database is {place.path('other.db')}, not {place.path('r.db')}"], 'check names the database of other results')
    write(place, results.replace('r.db', 'missing.db'), 'reader.conf')
    lines = about_readers(place)
    tap.ok(len(lines) == 1 and 'users cannot read the results' in lines[0] and 'missing.db' in lines[0],
           'check says that readers cannot open their results', lines)
    write(place, '[results]\ndriver = sqlite\ndatabse = x\n', 'reader.conf')
    lines = about_readers(place)
    tap.ok(len(lines) == 1 and "reader.conf', line 3: unknown key 'databse'" in lines[0], 'check names a mistake in reader.conf', lines)
    write(place, results, 'reader.conf')
    os.chmod(place.path('reader.conf'), 0)
    if not os.getuid():
        tap.empty(about_readers(place), 'root can read each reader.conf')
        unreadable(place)


def unreadable(place):
    """The service of the socket runs as a user who must be able to read reader.conf."""
    for name in os.listdir(place.folder):
        os.chown(place.path(name), 1, 1)
    os.chown(place.path('reader.conf'), 0, 0)
    os.chown(place.folder, 1, 1)
    write(place, '', 'socket')
    user = dict(user=1, group=1, extra_groups=[])
    enabled = os.path.exists('/etc/systemd/system/sockets.target.wants/fairmill.socket')
    for socket, warned in (('socket', True), ('none', enabled)):
        lines = about_readers(place, FAIRMILL_SOCKET=place.path(socket), **user)
        tap.same([line.startswith(f"  warning: cannot read '{place.path('reader.conf')}', which the service of fairmill.socket reads")
                  for line in lines], [True] * warned, f'check names an unreadable reader.conf only with a socket ({socket})')


def body():
    with Place() as place:
        readers(place)
    with Place() as place:
        zero_shares(place)
    with Place() as place:
        before(place)
        slurm(place)
        data(place)


tap.main(body)
