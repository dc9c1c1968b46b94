#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests that job_sort_formula of OpenPBS is published for each pending job, with the values of its
names."""

import json
import math
import os
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from mariadb import Server
from postgres import Postgres
from program import fairmill, write_settings
from sqlite import Sqlite

DAY = 1793491200  # 2026-11-01T00:00:00Z
NOW = DAY + 10000
# The tree of the document on PP-718, and the usage of each user.  The document gives the effective
# usage and the factors of Bob and Suzy only.
TREE = 'group1 11 root 40\ngroup2 12 root 60\nbob 13 group1 50\ncathy 14 group1 50\nsuzy 15 group2 60\nscott 16 group2 40\n'
SHARES = dict(group1=('', 40), group2=('', 60), bob=('group1', 50), cathy=('group1', 50), suzy=('group2', 60), scott=('group2', 40))
USED = dict(bob=100, cathy=100, suzy=0, scott=1000)
SAID = dict(bob=(.125, .648), suzy=(.5, .382))
FORMULA = 'pow(2, -(fairshare_tree_usage/fairshare_perc))'
ASKED = dict(ncpus=4, mem=1 << 20, walltime=3600, scale=.5, flag=1)


def target(name):
    if not name:
        return 1
    parent, shares = SHARES[name]
    return shares / sum(other for above, other in SHARES.values() if above == parent) * target(parent)


def tree_usage(name):
    """Returns the tree usage by the document's formula: u + (parent's value - u) * fraction of the
    siblings' shares; directly below the root it is u."""
    parent, shares = SHARES[name]
    used = sum(USED[leaf] for leaf in USED if name in (leaf, SHARES[leaf][0])) / sum(USED.values())
    if not parent:
        return used
    return used + (tree_usage(parent) - used) * shares / sum(other for above, other in SHARES.values() if above == parent)


def names_of(user, **more):
    """Returns the values of OpenPBS's names.  OpenPBS passes fairshare to the formula with six
    decimals."""
    if user not in SHARES:
        fairshare = (0, 0, 0)
    else:
        fairshare = (target(user), tree_usage(user), 2 ** -(tree_usage(user) / target(user)))
    perc, usage, factor = (float(f'{value:f}') for value in fairshare)
    return ASKED | dict(fairshare_perc=perc, fair_share_perc=perc, fairshare_tree_usage=usage, fairshare_factor=factor,
                        eligible_time=26 * 3600 + 65, job_priority=5, queue_priority=150) | more


def value_of(formula, user, **more):
    functions = {name: getattr(math, name) for name in ('sqrt', 'log')} | dict(pow=math.pow, min=min, max=max, abs=abs)
    return float(eval(formula, {'__builtins__': {}}, functions | names_of(user, **more)))


def line(at, kind, job, user, start, end=None, cput=0):
    text = f'user={user} group=g queue=workq ctime={DAY} qtime={DAY} etime={DAY} start={DAY + start} Resource_List.ncpus=1'
    if end is not None:
        text += f' end={DAY + end} resources_used.cput={cput}'
    return time.strftime('%m/%d/%Y %H:%M:%S', time.gmtime(DAY + at)) + f';{kind};{job};{text}\n'


def waits(job_id, user, state='Q', priority=5):
    return {job_id: {'Job_Name': 'a', 'Job_Owner': f'{user}@host', 'job_state': state, 'queue': 'workq', 'server': 'pbs', 'euser': user, 'egroup': 'g',
                     'ctime': 'Sun Nov  1 00:00:10 2026', 'qtime': 'Sun Nov  1 00:00:20 2026', 'etime': 'Sun Nov  1 00:00:30 2026', 'Priority': priority,
                     'eligible_time': '26:01:05', 'project': '_pbs_project_default',
                     'Resource_List': {'mem': '1gb', 'ncpus': 4, 'place': 'free', 'scale': 0.5, 'walltime': '01:00:00', 'flag': True}}}


class Site:
    """Settings and imported files, with databases on any server."""

    def __init__(self, folder, source, results, sql):
        self.folder, self.source, self.results, self.sql = folder, source, results, sql
        os.makedirs(f'{folder}/logs', exist_ok=True)
        self.write('tree', TREE)
        self.write('logs/20261101', ''.join(line(400, 'E', f'{i}.old', user, 300, 400, used) for i, (user, used) in enumerate(USED.items()) if used))
        self.set()
        self.bring('--accounting', f'{folder}/logs', '--resource-group', f'{folder}/tree')

    def write(self, name, text):
        with open(f'{self.folder}/{name}', 'w', encoding='latin-1') as file:
            file.write(text)
        return f'{self.folder}/{name}'

    def set(self, minimum=0, **pbs):
        write_settings(f'{self.folder}/conf', dict(source=self.source | dict(layout='pbs', clusters='pbs'), results=self.results,
                                                   usage=dict(half_life=0, time_zone='UTC'), fairshare=dict(algorithm='pbs', **({} if minimum is None else dict(pbs_minimum_usage=minimum))), pbs=pbs))

    def call(self, *arguments):
        return fairmill(f'{self.folder}/conf', *arguments)

    def bring(self, *arguments):
        status = self.call('import', 'pbs', *arguments)
        if status[0]:
            tap.diag(*status)

    def queue(self, *each, at=NOW, **server):
        jobs = {}
        for job in each:
            jobs |= job
        self.bring('--queue', self.write('queue', json.dumps({'timestamp': at, 'pbs_server': 'pbs', 'Jobs': jobs})
                                         + json.dumps({'timestamp': at, 'pbs_server': 'pbs', 'Queue': {'workq': {'Priority': 150}}})
                                         + json.dumps({'timestamp': at, 'pbs_server': 'pbs', 'Server': {'pbs': server}})))

    def publish(self, now=NOW):
        for command in (('init',), ('run', '--replace', '--now', now)):
            status, out, err = self.call(*command)
            if status:
                tap.diag(command, status, out, err)

    def jobs(self, now=NOW):
        """Returns {job's id: (priority, value, why)}."""
        self.publish(now)
        return {row[0]: row[1:] for row in self.sql('SELECT job_id, priority, formula_value, why FROM fairmill_job_priority ORDER BY priority DESC, job_id')}

    def terms(self, job_id):
        return dict(self.sql('SELECT t.name, t.value FROM fairmill_job_term t INNER JOIN fairmill_job_priority j ON j.cluster = t.cluster '
                             f"AND j.job_db_inx = t.job_db_inx WHERE j.job_id = '{job_id}'"))


def near(got, expected):
    return got is not None and abs(float(got) - expected) <= 1e-12 * max(1, abs(expected))


def is_none(value):
    return value in (None, 'NULL', '')


FOUR = [waits(f'{number}.pbs', user) for number, user in enumerate(USED, 1)]


def on_each(site, where):
    site.queue(*FOUR, waits('5.pbs', 'bob', 'H'), waits('6.pbs', 'eve'), waits('7[].pbs', 'bob', 'W'), job_sort_formula=FORMULA)
    got = site.jobs()
    values = {user: float(got[f'{number}.pbs'][1]) for number, user in enumerate(USED, 1)}
    tap.ok(all(near(values[user], value_of(FORMULA, user)) for user in USED),
           f"the value of the document's formula is published for each job in {where}", values)
    tap.ok(all(round(values[user], 3) == factor and abs(float(site.terms(f'{number}.pbs')['fairshare_tree_usage']) - usage) < 6e-7
               for user, number in (('bob', 1), ('suzy', 3)) for usage, factor in (SAID[user],)),
           f'Bob and Suzy have the values of the document in {where}', values)
    tap.same([(job, int(got[job][0])) for job in got if not is_none(got[job][0])], [('1.pbs', 3), ('2.pbs', 3), ('3.pbs', 2), ('4.pbs', 1)],
             f'Bob and Cathy precede Suzy, and Suzy precedes Scott, in {where}')
    tap.same({job: got[job][2] for job in ('5.pbs', '6.pbs', '7[].pbs')} | {'none': is_none(got['1.pbs'][2])},
             {'5.pbs': 'held', '6.pbs': 'no_shares', '7[].pbs': 'not_yet', 'none': True},
             f'jobs that cannot run have no priority and a reason in {where}')
    places = {job: (None if is_none(spot) else int(spot), '' if is_none(reason) else reason)
              for job, spot, reason in site.sql('SELECT job_id, place, reason FROM fairmill_job_priority')}
    tap.same(places, {'1.pbs': (1, ''), '2.pbs': (1, ''), '3.pbs': (3, ''), '4.pbs': (4, ''), '5.pbs': (None, 'held'), '6.pbs': (None, ''),
                      '7[].pbs': (None, 'begin')}, f'jobs have places in run order, or a reason, in {where}')
    asked = {job: [None if is_none(value) else int(value) for value in values]
             for job, *values in site.sql('SELECT job_id, cpus, gpus, limit_seconds, eligible_at FROM fairmill_job_priority')}
    tap.same([asked[job] for job in ('1.pbs', '5.pbs', '7[].pbs')], [[4, 0, 3600, DAY + 30], [4, 0, 3600, None], [4, 0, 3600, None]],
             f'jobs have their CPUs, GPUs and time limit, and the time from which they wait, in {where}')
    tap.same({name: round(float(value), 6) for name, value in site.terms('3.pbs').items()}, {'fairshare_tree_usage': .5, 'fairshare_perc': .36},
             f'the values of names in the formula are published in {where}')
    status, out, err = site.call('verify')
    tap.same((status, err), (0, ''), f'verify computes the same in {where}')


def formulas(site):
    for formula in ('ncpus*walltime + mem', '10*fairshare_factor + eligible_time/3600 - job_priority*2', 'queue_priority // 7 % 5', 'scale + flag', 'nothing',
                    'fair_share_perc if ncpus > 3 else -1', 'max(0.0, log(walltime)) * sqrt(fairshare_perc)'):
        site.set(job_sort_formula=formula)
        got, expected = site.jobs()['3.pbs'][1], value_of(formula, 'suzy', nothing=0)
        tap.ok(near(got, expected), f'{formula} is {expected:g}', got)
    tap.same(site.terms('3.pbs').keys(), {'walltime', 'fairshare_perc'},
             'the published names are the names in the formula')


def prints(site):
    """Tests prio and explain with OpenPBS's terms."""
    def table(*arguments):
        status, out, err = site.call(*arguments)
        return [line.split() for line in out.splitlines()] if not status else (status, err)
    site.set(job_sort_formula='fairshare_factor + ncpus - 4')
    site.publish()
    lines = table('prio')
    tap.same(lines[0], ['JobID', 'Queue', 'Entity', 'Group', 'Priority', 'Formula', 'Why', 'Terms'],
             "prio has OpenPBS's terms")
    tap.same([line[:4] for line in lines[1:]], [['1.pbs', 'workq', 'bob', 'group1'], ['2.pbs', 'workq', 'cathy', 'group1'], ['3.pbs', 'workq', 'suzy', 'group2'],
                                                ['4.pbs', 'workq', 'scott', 'group2'], ['5.pbs', 'workq', 'bob', 'group1'], ['7[].pbs', 'workq', 'bob', 'group1'],
                                                ['6.pbs', 'workq', 'eve', 'unknown']],
             'prio prints jobs in run order, then jobs that cannot run')
    tap.same(lines[3][4:], ['2', '0.381859', 'fairshare_factor=0.381859', 'ncpus=4'],
             "prio prints each job's value and the values of names")
    tap.same([line[0] for line in table('prio', '--jobs', '3.pbs,7[].pbs')[1:]], ['3.pbs', '7[].pbs'],
             'a job is selected by its ID')
    tap.same([line[0] for line in table('prio', '-j', '3', '-u', 'suzy')[1:]], ['3.pbs'],
             'a job is selected by its number')
    tap.same(table('prio', '-j', '9.pbs')[0], 64, 'a job that is not pending is an error')
    tap.same([line[0] for line in table('prio', '--sort', '-u,i')[1:]], ['3.pbs', '4.pbs', '6.pbs', '2.pbs', '1.pbs', '5.pbs', '7[].pbs'],
             'prio sorts by the columns of --sort')
    status, said = table('prio', '-w')
    tap.ok(status == 64 and 'job_sort_formula' in said, 'prio -w is rejected, as there are no weights', status, said)
    got = json.loads(site.call('prio', '--json', '-j', '6.pbs')[1])['clusters'][0]
    row = got['jobs'][0]
    tap.same((got.get('weights'), [row[key] for key in ('job_id', 'jobid', 'partition', 'priority', 'why', 'formula_value', 'terms', 'age', 'site')]),
             (None, ['6.pbs', 6, 'workq', None, 'no_shares', 0, 'fairshare_factor=0 ncpus=4', None, None]), 'the JSON output has all values')
    lines = site.call('prio', '--csv', '--jobs', '3.pbs')[1].splitlines()
    tap.same((lines[0].split(',')[-4:], lines[1].split(',')[-4], float(lines[1].split(',')[-3])),
             (['job_id', 'formula_value', 'why', 'terms'], '3.pbs', value_of('fairshare_factor + ncpus - 4', 'suzy')),
             'the CSV output has all values')
    wish = 'fairshare_perc*ncpus'  # the run has not published fairshare_perc
    tap.same(table('prio', '--formula', wish)[0], 64, 'a formula with a name that the run did not publish is rejected')
    before = site.sql('SELECT * FROM fairmill_job_priority ORDER BY job_db_inx')
    got = table('prio', '--formula', 'ncpus / fairshare_factor if fairshare_factor < 0.5 else priority')
    expected = {'3.pbs': 4 / names_of('suzy')['fairshare_factor'], '4.pbs': 4 / names_of('scott')['fairshare_factor'], '1.pbs': 3, '2.pbs': 3, '5.pbs': 0, '7[].pbs': 0}
    tap.same({line[0]: line[6 if line[0] < '5' else 5] for line in got[1:] if line[0] != '6.pbs'}, {job: f'{value:.6f}' for job, value in expected.items()},
             'prio --formula prints the values of another formula')
    tap.same([line[0] for line in got[1:]], ['4.pbs', '3.pbs', '1.pbs', '2.pbs', '5.pbs', '7[].pbs', '6.pbs'],
             'prio --formula sorts by its values, jobs without a value are last')
    tap.ok('division by zero' in ' '.join(got[-1]), 'prio --formula prints the reason for a missing value', got[-1])
    tap.same(site.sql('SELECT * FROM fairmill_job_priority ORDER BY job_db_inx'), before, 'prio --formula writes nothing')
    status, out, err = site.call('explain', '--jobs', 'bob')
    tap.ok(status == 0 and '\n0.old ' in out, 'explain --jobs prints the IDs of jobs', status, out, err)
    row = json.loads(site.call('explain', '--jobs', '--json', 'scott')[1])['clusters'][0]['jobs'][0]
    tap.same((row['job_id'], row['id_job'], row['used']), ('3.old', 3, 1000), 'the JSON output has IDs and numbers of jobs')


    status, out, err = site.call('explain', '3.pbs')
    tap.ok(out.startswith('Cluster pbs, as of 2026-11-01T'), 'explain accepts the ID of a pending job', out)
    out = ' '.join(out.split())
    tap.ok(status == 0 and "Job '3.pbs' of 'suzy' is at place 3 of 4. Part" in out
           and "Job '3.pbs' of 'suzy' in queue 'workq' has the value 0.381859 of job_sort_formula." in out and 'fairshare_factor 0.381859 ncpus 4.000000' in out, 'explain gives the reasons for the place of a job', status, out, err)
    tap.ok('place 1 of 4, shared with 1 other job.' in (said := ' '.join(site.call('explain', '1.pbs')[1].split())), 'explain reports tied jobs', said)
    tap.ok('cannot start: its entity has no shares' in (said := ' '.join(site.call('explain', '6.pbs')[1].split())), 'explain gives the reason for a missing place', said)
    status, out, err = site.call('explain', '9.pbs')
    tap.ok(status == 64 and "'9.pbs'" in err and not out, 'an unknown name is an error of explain', status, out, err)


def settings(site):
    site.set(job_sort_formula='7')
    tap.same(site.jobs()['1.pbs'][1], 7, "the formula in the settings overrides the server's")
    site.set()
    tap.ok(near(site.jobs()['1.pbs'][1], value_of(FORMULA, 'bob')),
           "without a formula in the settings the server's applies")
    site.set(job_sort_formula=FORMULA, job_sort_formula_threshold=.382)
    got = site.jobs()
    tap.same({job: row[2] for job, row in got.items() if row[2]}, {'3.pbs': 'below_threshold', '4.pbs': 'below_threshold', '5.pbs': 'held', '6.pbs': 'no_shares',
                                                                  '7[].pbs': 'not_yet'},
             'jobs below the threshold cannot run')
    tap.ok(got['3.pbs'][0] is None and near(got['3.pbs'][1], value_of(FORMULA, 'suzy')), 'jobs below the threshold have a value and no priority', got['3.pbs'])
    site.set(job_sort_formula='scale', job_sort_formula_threshold=.5)
    tap.same(site.jobs()['1.pbs'], (None, .5, 'below_threshold'), 'jobs at the threshold cannot run')
    site.set(fairshare_enforce_no_shares='false', job_sort_formula=FORMULA)
    why = site.jobs()['6.pbs']
    tap.ok(why[:2] == (1, 0) and why[2].startswith('formula_error: ') and 'division' in why[2] and 'zero' in why[2],
           'a division by zero gives the value 0 and a reason, as in OpenPBS', why)
    site.set(fairshare_enforce_no_shares='false', job_sort_formula='fairshare_factor', unknown_shares=10)
    tap.same(site.jobs()['6.pbs'], (5, 1, None), 'an entity of group unknown without usage precedes the other four')
    site.set(minimum=None, job_sort_formula=FORMULA)
    for name, used in USED.items():
        tap.same(site.call('ledger', 'set', used, '--user', name, '--at', NOW - 1, '--why', 'pbsfs -s', '--yes')[0], 0,
                 f'{name} is set to {used}')
    got = site.jobs()
    tap.same([round(got[job][1], 4) for job in ('1.pbs', '3.pbs', '4.pbs')], [.6477, .3816, .0902],
             "by default every entity begins at 1, as in OpenPBS's own test")
    for number in range(1, len(USED) + 1):
        site.call('ledger', 'undo', number, '--why', 'x', '--yes')


def not_evaluated(site):
    """A formula that fairmill cannot evaluate does not stop fairshare."""
    flaw = "formula, column 1: unexpected 'lambda'; expected a number"
    site.set()
    site.write('f', json.dumps({'timestamp': NOW + 10, 'pbs_server': 'pbs', 'Server': {'pbs': {'job_sort_formula': 'lambda: 1'}}}))
    status, out, err = site.call('import', 'pbs', '--queue', f'{site.folder}/f')
    tap.ok(status == 0 and flaw in err and 'cannot compute priorities' in err, 'import imports a formula that it cannot evaluate, with a warning', status, out, err)
    tap.same(site.call('import', 'pbs', '--queue', f'{site.folder}/f'), (0, '', ''), 'a second import of the formula is silent')
    for where in ('server', 'settings'):
        got = site.jobs(now=NOW + 20)
        tap.same(site.call('run', '--now', NOW + 21), (0, '', ''), f'with the formula of the {where} a run succeeds')
        tap.same(site.sql("SELECT name, usage FROM fairmill_pbsfs WHERE name IN ('bob', 'scott') ORDER BY name"), [('bob', 100), ('scott', 1000)], 'the run publishes fairshare')
        tap.same({job: got[job] for job in ('1.pbs', '3.pbs', '5.pbs', '6.pbs')}, {'1.pbs': (None, None, f'formula_error: {flaw}'), '3.pbs': (None, None, f'formula_error: {flaw}'),
                                                                                  '5.pbs': (None, None, 'held'), '6.pbs': (None, None, 'no_shares')},
                 'priorities are NULL, with the reason')
        tap.same(site.sql("SELECT kind, detail FROM fairmill_finding WHERE kind = 'formula_unreadable'"), [('formula_unreadable', flaw)], 'the formula is a finding')
        status, out, err = site.call('check')
        tap.ok(status == 0 and flaw in out and 'sacctmgr' not in out, 'check prints the finding', status, out, err)
        status, out, err = site.call('explain', '3.pbs')
        tap.ok(status == 0 and 'has no place: formula_error' in ' '.join(out.split()),
               'explain prints the reason', status, out, err)
        tap.same(site.call('verify')[0], 0, 'verify computes the same')
        site.set(job_sort_formula='lambda: 1')
    site.set(job_sort_formula='lambda: 1', job_sort_formula_threshold=0)
    tap.same(site.jobs(now=NOW + 30)['3.pbs'], (None, None, f'formula_error: {flaw}'), 'the reason is the formula, not the threshold')
    site.set(job_sort_formula='1 + queue_priority')
    tap.same(site.jobs(now=NOW + 40)['3.pbs'][1:], (151, None), 'the next formula gives priorities again')
    tap.same(site.sql(f"SELECT count(*) FROM fairmill_finding WHERE kind = 'formula_unreadable' AND last_seen = {NOW + 40}"), [(0,)], 'the next formula has no finding')


def ties(site):
    """Jobs with equal values are ordered by fairshare."""
    for formula, words in (('queue_priority', 'equal'), ('1 + fairshare_perc * (1 - fairshare_perc) / 1e9', 'equal in single precision')):
        site.set(job_sort_formula=formula)
        got = site.jobs()
        tap.same({job: got[job][0] for job in ('1.pbs', '2.pbs', '3.pbs', '4.pbs')}, {'1.pbs': 3, '2.pbs': 3, '3.pbs': 2, '4.pbs': 1},
                 f'with values that are {words}, fairshare decides, and ties share a place')
    out = ' '.join(site.call('explain', 'job', '3.pbs', '4.pbs')[1].split())
    tap.ok('Their values tie, so fairshare decides.' in out and 'place 3 of 4' in out and 'place 4 of 4' in out, 'explain reports that fairshare decides', out)
    tap.ok('values tie' not in site.call('explain', 'job', '1.pbs', '2.pbs')[1], 'explain does not report it for tied entities')
    tap.same([line.split()[0] for line in site.call('prio')[1].splitlines()[1:5]], ['1.pbs', '2.pbs', '3.pbs', '4.pbs'],
             'prio prints the jobs in this order')


def unknown(site):
    """A name that no job has is 0 for each job."""
    def finding(at):
        return site.sql(f"SELECT detail FROM fairmill_finding WHERE kind = 'resource_unknown' AND last_seen = {at}")
    for at, formula, res, expected in (
            (NOW, 'fair_share_factor*1000 + ncpuss', '', ["job_sort_formula: 'fair_share_factor', 'ncpuss'"]), (NOW + 1, 'ncpus', 'cputt + cput', ["fairshare_usage_res: 'cputt'"]),
            (NOW + 2, 'scales', 'walltim', ["fairshare_usage_res: 'walltim'; job_sort_formula: 'scales'"]), (NOW + 3, 'eligible_time + job_priority*fair_share_perc + scale + flag', 'cput', []),
            (NOW + 4, 'fairshare_factor', 'ncpus*cput', [])):
        site.set(job_sort_formula=formula, **(dict(fairshare_usage_res=res) if res else {}))
        site.jobs(now=at)
        tap.same([row[0] for row in finding(at)], expected, f'for {formula}, {res or "cput"} the finding contains {expected or "nothing"}')
    site.set(job_sort_formula='ngpus')
    out = site.call('check')[1]
    tap.ok("job_sort_formula: 'ngpus'" in out, 'check prints the unknown resource', out)
    site.write('logs/20261103', line(500, 'E', '8.old', 'bob', 450, 500).replace('ncpus=1', 'ncpus=1 Resource_List.ngpus=2'))
    site.bring('--accounting', f'{site.folder}/logs')
    tap.ok("'ngpus'" not in site.call('check')[1], 'a resource that jobs requested is known')
    site.set(fairshare_usage_res='ngpus*50 + cput', job_sort_formula='ncpus')
    site.jobs(now=NOW + 5)
    tap.same((site.sql("SELECT usage FROM fairmill_pbsfs WHERE name = 'bob'"), finding(NOW + 5)), ([(200,)], []), 'a resource without measurement counts as requested, as in OpenPBS')
    site.set()
    os.remove(f'{site.folder}/logs/20261103')
    site.bring('--anew', '--accounting', f'{site.folder}/logs')


def bytes_of_formula(site):
    """Tests that a formula with any bytes is stored as UTF-8, with the reason."""
    for formula, words in ((b'\xe4 + 1', "invalid character '\u00e4'"), (b'\xff\xfe', "invalid character '\u00ff'"), ('\u00e4'.encode(), "invalid character '\u00e4'"), (b"1' OR '1", "invalid character '''"), (b'ncpus +' * 100, 'is missing')):
        site.set()
        with open(f'{site.folder}/conf', 'ab') as file:
            file.write(b'job_sort_formula = ' + formula + b'\n')
        got = site.jobs(now=NOW + 50)['3.pbs']
        tap.ok(got[:2] == (None, None) and words in got[2], f'{formula[:20]!r} gives a reason', got)
    site.set()


def times(site):
    """Tests the effect of later log records."""
    site.set()
    tap.same(site.jobs(now=NOW - 1), {}, 'before the first qstat output there are no pending jobs')
    site.write('logs/20261102', line(NOW + 50 - DAY, 'S', '1.pbs', 'bob', NOW + 50 - DAY) + line(NOW + 90 - DAY, 'E', '2.pbs', 'cathy', NOW + 60 - DAY, NOW + 90 - DAY))
    site.bring('--accounting', f'{site.folder}/logs')
    tap.ok('1.pbs' in site.jobs(now=NOW + 49), 'a job is pending until it starts')
    tap.same(set(site.jobs(now=NOW + 100)), {'3.pbs', '4.pbs', '5.pbs', '6.pbs', '7[].pbs'},
             'a job that started or ended since is not pending')
    site.queue(waits('3.pbs', 'suzy'), at=NOW + 200)
    got = site.jobs(now=NOW + 200)
    tap.same(got, {'3.pbs': (None, None, 'no_formula')}, 'without a formula there is no priority')
    site.queue(at=NOW + 300)
    tap.same((site.jobs(now=NOW + 300), site.sql('SELECT count(*) FROM fairmill_job_term')), ({}, [(0,)]), 'output without jobs removes all pending jobs')


def threshold(site):
    """A threshold that is not a number is an error of the formula. accrue_type is not a
    resource."""
    reason = "job_sort_formula_threshold 'much' is not a number"
    site.queue(waits('3.pbs', 'suzy'), at=NOW + 350)
    site.write('f', json.dumps({'timestamp': NOW + 351, 'pbs_server': 'pbs', 'Server': {'pbs': {'job_sort_formula': 'ncpus', 'job_sort_formula_threshold': 'much'}}}))
    status, out, err = site.call('import', 'pbs', '--queue', f'{site.folder}/f')
    tap.ok(status == 0 and reason in err, 'import reports a threshold that is not a number', status, out, err)
    tap.same((site.jobs(now=NOW + 352), site.call('run', '--now', NOW + 353)), ({'3.pbs': (None, None, f'formula_error: {reason}')}, (0, '', '')), 'the invalid threshold does not stop fairshare')
    site.set(job_sort_formula='10*accrue_type + ncpus', job_sort_formula_threshold=0)
    site.queue(waits('1.pbs', 'bob'), {'2.pbs': waits('2.pbs', 'bob')['2.pbs'] | dict(accrue_type=2)}, at=NOW + 355)
    got = site.jobs(now=NOW + 356)
    tap.same(([got[job][1] for job in ('1.pbs', '2.pbs')], site.sql("SELECT subject FROM fairmill_finding WHERE kind = 'resource_unknown' AND detail LIKE '%accrue%'")), ([4, 24], []), "accrue_type is the job's attribute, or 0 without it")
    site.set()
    site.queue(at=NOW + 360)


def unreadable(site):
    """If jobs cannot be read, explain must not report an unknown name."""
    site.queue(waits('3.pbs', 'suzy'), at=NOW + 400)
    site.jobs(now=NOW + 400)
    site.sql('DROP TABLE fairmill_job_term')
    status, out, err = site.call('explain', '3.pbs')
    tap.ok(status not in (0, 64) and 'fairmill_job_term' in err and not out,
           'explain reports why it cannot read jobs', status, out, err)


def body():
    with Server() as mariadb, Postgres() as postgres, tempfile.TemporaryDirectory() as folder:
        servers = dict(mysql=mariadb, pgsql=postgres, sqlite=Sqlite(folder))
        for name, server in servers.items():
            os.makedirs(f'{folder}/{name}')
            source, results = (server.database(database) for database in ('pbs_jobs', 'pbs_jobs_results'))
            site = Site(f'{folder}/{name}', server.connection(source), server.connection(results), lambda text, server=server, results=results: server.sql(text, results))
            on_each(site, name)
            if name == 'sqlite':
                for case in (formulas, prints, settings, ties, unknown, not_evaluated, bytes_of_formula, times, threshold, unreadable):
                    case(site)
                with sqlite3.connect(f'{folder}/{source}.db') as db:
                    db.execute(f"INSERT INTO pbs_setting (cluster, name, since, value) VALUES ('pbs', 'fairshare_usage_res', {NOW}, 'lambda: 1')")
                site.set(), site.call('init')
                status, out, err = site.call('check')
                tap.ok(status == 65 and 'next: correct the data that the message names' in out and 'sacctmgr' not in out,
                       "check of OpenPBS's data does not mention sacctmgr", status, out, err)


if __name__ == '__main__':
    tap.main(body)
