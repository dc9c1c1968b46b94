#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill apply` with programs in place of scontrol and sprio: the updates, the conditions, and the
failures of slurmctld."""

import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import Place

BEGAN = int(time.time()) - 3600
DRAWING = f'''
cluster tiny
registered 1=32,2=64000,4=4,5=32
root/
  physics/   60
    alice    10  use 300
    bob      10  use 100
  chemistry/ 40
    carol     1  use 200
''' + ''.join(f'job {who} id_job={number} submit={BEGAN} time_eligible={BEGAN} partition={partition} priority=9 tres_req=1=8,4=1 '
              'limit=60\n'
              for who, number, partition in (('physics.alice', 11, 'short'), ('physics.bob', 12, 'long,short'),
                                             ('chemistry.carol', 13, 'short'), ('chemistry.carol', 14, 'short')))
KEYS = {'priority.weight_age': 1000, 'priority.weight_fairshare': 9000}
CONFIG = '''Configuration data as of 2026-11-28T07:06:50
ClusterName             = tiny
PriorityType            = priority/multifactor
PrioritySiteFactorParameters = (null)
PrioritySiteFactorPlugin = (null)
PriorityWeightFairShare = 0
SlurmctldParameters     = (null)
'''
# scontrol writes its prompts to standard output.  `reply` is executed for each update.
SCONTROL = '''#!/bin/sh
cd {folder}/bin
[ -z "$SLURM_CLUSTERS" ] || exit 9
echo "$SLURM_CONF" >conf
[ "$1" != show ] || {{ . ./show; exit; }}
status=0
while read -r line; do
    echo "scontrol: $line"
    echo "$line" >>sent
    . ./reply
done
exit $status
'''
SPRIO = '''#!/bin/sh
cd {folder}/bin
[ "$*" = '-h -o %i|%S|%y|%Y' ] || exit 9
. ./sprio-does
'''
AWAY = 'slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)'


class Slurm(Place):
    def __enter__(self):
        super().__enter__()
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path('bin'))
        self.environment = {name: value for name, value in os.environ.items() if name not in ('FAIRMILL_CONF', 'SLURM_CONF')}
        self.environment |= {'PATH': f"{self.path('bin')}:{os.environ['PATH']}", 'SLURM_CLUSTERS': 'other'}
        for name, text in (('scontrol', SCONTROL), ('sprio', SPRIO)):
            self.write(name, text.format(folder=self.folder))
            os.chmod(self.path(f'bin/{name}'), 0o755)
        return self

    def write(self, name, text):
        with open(self.path(f'bin/{name}'), 'w', encoding='utf-8') as file:
            file.write(text)

    def slurm(self, jobs=(), reply='', show='cat config', sprio='cat jobs', **config):
        """Sets the behavior of slurmctld.  `jobs` has (id, site factor) or whole lines of sprio."""
        text = CONFIG
        for key, value in config.items():
            text = re.sub(rf'^({key} += ).*', rf'\g<1>{value}', text, flags=re.M)
        for name, content in (('config', text), ('reply', reply), ('show', show), ('sprio-does', sprio), ('sent', '')):
            self.write(name, content + '\n' * bool(content))
        self.write('jobs', ''.join((job if isinstance(job, str) else '{0}|{1}|0.00000023283064|{1}'.format(*job)) + '\n' for job in jobs))

    def start(self, *arguments, **more):
        return super().start(*arguments, env=self.environment, **more)

    def sent(self):
        with open(self.path('bin/sent'), encoding='utf-8') as file:
            return file.read().split('\n')[:-1]

    def commands(self):
        return [line.removeprefix('scontrol ') for line in self.out.splitlines()]

    def fails(self, status, said, statement, *arguments, sent=()):
        self.ends(status, f'{statement}: the exit status is {status}', 'apply', *arguments)
        self.says(f'{statement}: the error says so', said)
        tap.same((self.out, self.sent()), ('', list(sent)), f'{statement}: {len(sent) or "no"} updates are sent')


def factors(place):
    """Returns {job: site factor} of the published values."""
    return {job: round(9000 * factor) for job, factor in
            place.query('SELECT id_job, fairshare_factor FROM fairmill_job_priority WHERE best = 1')}


def updates(place):
    wanted = factors(place)
    tap.same(sorted(set(wanted.values())), [3000, 6000, 9000], 'each user has a different rank')
    place.slurm(((11, 0), (12, 0), (12, 0), (13, wanted[13]), (99, 0), '14|0|5000.00000000000000|5000'))
    place.succeed('apply')
    expected = [f'update JobId={job} SiteFactor={wanted[job]}' for job in sorted((11, 12), key=lambda job: -wanted[job])]
    tap.same(place.commands(), expected, 'without --yes, commands for the jobs that differ are printed, the largest change first')
    tap.same(place.sent(), [], 'without --yes, no update is sent')
    place.succeed('apply', '--yes', '-v')
    tap.same(place.sent(), expected, 'with --yes, the same updates are sent')
    tap.same(place.out, '', 'with --yes, nothing is printed')
    place.says('-v reports the numbers', '5 pending jobs: 2 need an update, 1 have a priority set by hand, 1 are not published')
    place.succeed('apply', '--yes', '--max', 1)
    tap.same(place.sent()[2:], expected[:1], '--max 1 sends the largest change only')
    tap.same(place.err, '', 'with --yes and without -v, there is no message')
    place.slurm([(job, factor) for job, factor in wanted.items()])
    place.succeed('apply', '--yes')
    tap.same(place.sent(), [], 'a job that has its site factor is not updated')


def smaller_changes(place):
    wanted = factors(place)
    place.slurm(((11, wanted[11] - 8), (12, wanted[12] + 9), (13, wanted[13] + 1)))
    place.succeed('apply')
    tap.same(place.commands(), [f'update JobId=12 SiteFactor={wanted[12]}'], 'a change below a thousandth of the weight is omitted')
    place.succeed('apply', '--min-change', 1)
    tap.same(len(place.commands()), 3, '--min-change 1 keeps each change')
    place.ends(64, '--min-change 0 is rejected', 'apply', '--min-change', 0)


def priority_one(place):
    """A priority of 1 is usual for jobs without any factor, and can also be set by hand."""
    place.slurm(('11|0|0.00000000023283|1', '12|0|1.00000000000000|1', '13|0|1.00000000000000|4294967295'))
    place.succeed('apply')
    tap.same(sorted(line.split()[1] for line in place.commands()), ['JobId=11', 'JobId=13'],
             'only a priority set by hand is printed without normalization')


def ended_jobs(place):
    wanted = factors(place)
    for message in ('Invalid job id specified for job 12', 'Job has already finished for job 12', 'Job is no longer pending execution for job 12'):
        place.slurm(((11, 0), (12, 0), (13, 0)), f'case $line in *=12\\ *) echo "{message}" >&2; status=1;; esac')
        place.ends(0, f"'{message}' is not a failure", 'apply', '--yes')
        tap.same((len(place.sent()), place.err), (len(wanted) - 1, ''), 'the updates of the other jobs are sent, without a message')


def away(place):
    jobs = (11, 0), (12, 0), (13, 0)
    place.slurm(jobs, show=f'echo "{AWAY}" >&2; exit 1')
    place.fails(69, f"'scontrol show config' failed: {AWAY}", 'slurmctld is away', '--yes')
    place.slurm(jobs, sprio="echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1")
    place.fails(69, "'sprio' failed: Unable to contact", 'slurmctld does not answer sprio', '--yes')
    first = [f'update JobId={min(job for job, factor in factors(place).items() if factor == 9000)} SiteFactor=9000']
    # scontrol waits for slurmctld after each line.
    for message in ('Unexpected message received for job 11', 'Unable to contact slurm controller (connect failure) for job 11'):
        place.slurm(jobs, f'echo "{message}" >&2; status=1; exec sleep 1000')
        place.fails(69, f'slurmctld does not answer: {message}', 'slurmctld ends between updates', '--yes', sent=first)
    place.slurm(jobs, show='exec sleep 1000')
    place.fails(69, "'scontrol' did not finish within the deadline", 'slurmctld is slow', '--deadline', '1s', '--yes')
    place.slurm(jobs, show='exec sleep 1000 >&- 2>&-')
    place.fails(69, "'scontrol' did not finish within the deadline", 'slurmctld is slow and the output closed', '--deadline', '1s', '--yes')
    place.slurm(jobs, 'exec sleep 1000')
    place.fails(69, "'scontrol' did not finish within the deadline", 'updates are slow', '--deadline', '1s', '--yes', sent=first)


def refusals(place):
    jobs = (11, 0), (12, 0), (13, 0)
    first = [f'update JobId={min(job for job, factor in factors(place).items() if factor == 9000)} SiteFactor=9000']
    for message in ('Invalid user id for job 11', 'Access/permission denied for job 11'):
        place.slurm(jobs, f'echo "{message}" >&2; status=1; exec sleep 1000')
        place.fails(78, 'AdminLevel Operator', f"'{message}' is a refusal", '--yes', sent=first)
    place.slurm(jobs, 'case $line in *=12\\ *) echo "Requested operation is presently disabled for job 12" >&2; status=1;; esac')
    place.ends(1, 'another error of a job sets the status', 'apply', '--yes')
    place.says('the error has the message', 'scontrol reported 1 errors, first: Requested operation is presently disabled')
    tap.same(len(place.sent()), 3, 'another error of a job does not stop the updates')
    place.slurm(jobs, show='echo "scontrol: fatal: Unable to process configuration file" >&2; exit 1')
    place.fails(78, 'Unable to process configuration file', 'without slurm.conf', '--yes')
    place.slurm(jobs, sprio='echo "11 0 0 1"')
    place.fails(65, "sprio: unexpected line '11 0 0 1'", 'output of another form is rejected', '--yes')


def conditions(place):
    jobs = (11, 0),
    for said, more, arguments in (
            ('PriorityType=priority/basic', {'PriorityType': 'priority/basic'}, ()),
            ('PrioritySiteFactorPlugin=site_factor/own', {'PrioritySiteFactorPlugin': 'site_factor/own'}, ('--add',)),
            ("the cluster of slurmctld is 'huge', which is not published", {'ClusterName': 'huge'}, ()),
            ('PriorityWeightFairshare of slurmctld is 100', {'PriorityWeightFairShare': '100'}, ())):
        place.slurm(jobs, **more)
        place.fails(78, said, said, '--yes', *arguments)
    place.succeed('apply', '--add')
    tap.same(len(place.commands()), 1, '--add accepts PriorityWeightFairshare')
    place.slurm(jobs, PrioritySiteFactorPlugin='site_factor/none')
    place.succeed('apply')
    tap.same(len(place.commands()), 1, 'the plugin site_factor/none does nothing')


def limited_rate(place):
    """slurmctld does not limit root."""
    place.slurm(((11, 0),), SlurmctldParameters='idle_on_node_suspend,rl_enable,rl_refill_rate=2')
    place.succeed('apply', '--yes')
    if os.geteuid():
        place.says('rl_enable is a warning', 'rl_enable')
        return
    tap.same(place.err, '', 'root gets no warning about rl_enable')
    if not shutil.which('setpriv'):
        return
    for name in ('sent', 'conf'):
        os.chmod(place.path(f'bin/{name}'), 0o666)
    for name in os.listdir(place.folder):
        if name.startswith('r.db'):
            os.chmod(place.path(name), 0o666)
    os.chmod(place.folder, 0o777)
    from program import FAIRMILL
    shutil.copy(FAIRMILL, place.path('fairmill'))
    done = subprocess.run(['setpriv', '--reuid=1', '--regid=1', '--clear-groups', place.path('fairmill'), '-c', place.path('fm.conf'), 'apply', '--yes'],
                          env=place.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    tap.ok(done.returncode == 0 and 'rl_enable' in done.stdout, 'rl_enable is a warning for other users', done.stdout)


def many(place):
    """5,000 updates do not fit into a pipe."""
    place.query('DELETE FROM fairmill_job_priority WHERE id_job > 11')
    names = [row[1] for row in place.query('PRAGMA table_info(fairmill_job_priority)')]
    values = ', '.join({'job_db_inx': 'n', 'id_job': 'n'}.get(name, name) for name in names)
    place.query('WITH RECURSIVE numbers(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM numbers WHERE n < 21000) '
                f'INSERT INTO fairmill_job_priority SELECT {values} FROM fairmill_job_priority, numbers WHERE id_job = 11')
    place.slurm([(number, 0) for number in range(1000, 21001)], 'test "$line" != "" || echo "Invalid job id" >&2')
    place.write('reply', ':\n')
    place.succeed('apply', '--yes', '-v')
    tap.same(len(place.sent()), 5000, 'a pass has at most 5,000 updates by default')
    place.says('-v reports the updates that remain', '15001 updates remain for the next pass')
    place.write('reply', 'echo "Unexpected trouble with $line" >&2\nstatus=1\n')
    place.ends(1, 'a pass with many errors fails', 'apply', '--yes')
    place.says('20 errors end the pass', 'scontrol reported 20 errors')
    place.write('reply', 'exit 3\n')
    place.ends(1, 'a scontrol that ends early is a failure', 'apply', '--yes')
    place.says('the error has its status', 'scontrol ended with status 3')


def clearing(place):
    place.slurm(((11, 400), (98, -7), (13, 0), '14|0|5000.00000000000000|5000'), PriorityWeightFairShare='100')
    place.succeed('apply', '--clear')
    tap.same(place.commands(), ['update JobId=11 SiteFactor=0', 'update JobId=98 SiteFactor=0'],
             '--clear sets each site factor to 0, also of jobs that are not published')
    place.slurm(((11, 400),), ClusterName='huge')
    place.fails(78, "'huge'", '--clear does not change another cluster', '--clear', '--yes')


def values_of_new_jobs(place):
    wanted = factors(place)
    place.slurm()
    path = place.path('values')
    place.succeed('apply', '--yes', '--values', path)
    with open(path, encoding='utf-8') as file:
        lines = file.read().splitlines()
    tap.same(lines, [f'alice\tphysics\t\t{wanted[11]}', f'bob\tphysics\t\t{wanted[12]}', f'carol\tchemistry\t\t{wanted[13]}'],
             '--values writes the site factor of each association of a user')
    place.succeed('apply', '--lua', '--values', '/a "quoted" \\path')
    tap.like(place.out, r'^local file = "/a \\"quoted\\" \\\\path"$', '--lua prints a script with the path')
    place.succeed('apply', '--clear', '--yes', '--values', path)
    tap.same(os.path.getsize(path), 0, '--clear empties the file')
    for arguments in (('--lua',), ('--values', path), ('--lua', '--values', 'relative'), ('--lua', '--values', path, '--yes')):
        place.ends(64, f"apply {' '.join(arguments).replace(place.folder, '')} is rejected", 'apply', *arguments)


def conf_of_settings(place):
    place.slurm()
    place.succeed('apply')
    with open(place.path('bin/conf'), encoding='utf-8') as file:
        tap.same(file.read(), '\n', 'without a slurm.conf in the settings, SLURM_CONF is not set')
    place.settings(KEYS | {'slurm.conf': '/etc/elsewhere/slurm.conf'})
    for own, said in (None, '/etc/elsewhere/slurm.conf'), ('/own.conf', '/own.conf'):
        place.environment |= {'SLURM_CONF': own} if own else {}
        place.succeed('apply')
        with open(place.path('bin/conf'), encoding='utf-8') as file:
            tap.same(file.read(), said + '\n', f'SLURM_CONF is {"kept if it is set" if own else "the slurm.conf of the settings"}')
    place.settings(KEYS)


def old_results(place):
    place.slurm(((11, 7),))
    place.query('UPDATE fairmill_run SET as_of = as_of - 7200')
    place.fails(1, 'are stale: 2 h', 'old results', '--yes')
    place.succeed('apply', '--clear')
    tap.same((place.commands(), place.err), (['update JobId=11 SiteFactor=0'], ''), '--clear does not need new results')


def no_weight(place):
    for more, weight in ({}, 1), ({'priority.weight_fairshare': 0}, 0):
        place.ready(DRAWING, {'priority.weight_age': 1000} | more)
        place.succeed('run')
        place.slurm(((11, 0),))
        place.fails(78, f'weight_fairshare was {weight} in the published run', f'the weight {weight}', '--yes')
    place.settings(KEYS | {'priority.weight_fairshare': 2147483646})
    place.succeed('run')
    place.fails(78, 'a site factor is at most 2147483645', 'a weight that is too large', '--yes')


def without_programs(place):
    os.unlink(place.path('bin/scontrol'))
    path = place.environment['PATH']
    place.environment['PATH'] = place.path('bin')
    place.fails(78, "cannot start 'scontrol'; is it in PATH?", 'scontrol is missing', '--yes')
    place.environment['PATH'] = path


def body():
    with Slurm() as place:
        place.ready(DRAWING, KEYS)
        place.slurm()
        place.ends(1, 'before the first run, apply fails', 'apply')
        place.succeed('run')
        for test in (updates, smaller_changes, priority_one, ended_jobs, away, refusals, conditions, clearing, values_of_new_jobs,
                     conf_of_settings, limited_rate, many, old_results, no_weight, without_programs):
            test(place)


tap.main(body)
