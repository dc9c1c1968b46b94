#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests how diff compares the output of `pbsfs -p` with fairmill's tree, and usage that OpenPBS is
known to lose."""

import csv
import json
import os
import random
import re
import struct
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from program import fairmill, write_settings
from sqlite import Sqlite

TREES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'oracle-pbs')
AT = 1793491200
EXPLAINED = 'left unexplained: nothing'


def single(number):
    return struct.unpack('f', struct.pack('f', number))[0]


def record(layout, name, number):
    return struct.pack(layout, name.encode(), float(number))


class Site:
    def __init__(self, folder, name, **usage):
        self.folder, self.conf = folder, f'{folder}/{name}.conf'
        sqlite = Sqlite(folder)
        self.sections = dict(source=sqlite.connection(f'{name}_jobs') | dict(layout='pbs', clusters='pbs'),
                             results=sqlite.connection(f'{name}_results'), usage=dict(time_zone='UTC') | usage)
        write_settings(self.conf, self.sections)

    def call(self, *commands):
        for command in commands:
            done = fairmill(self.conf, *command)
            if done[0]:
                raise RuntimeError(f'{command}: {done}')
        return done

    def path(self, name, text):
        with open(f'{self.folder}/{name}', 'w', encoding='latin-1') as file:
            file.write(text)
        return f'{self.folder}/{name}'

    def diff(self, text, *arguments, at=AT):
        return fairmill(self.conf, 'diff', self.path('print', text), '--at', at, *arguments)

    def rows(self, text, *arguments, at=AT):
        """Returns {(entity, value): (ours, pbsfs, why)}."""
        _, out, err = self.diff(text, '--csv', *arguments, at=at)
        return {(row['entity'], row['value']): (float(row['ours']), float(row['pbsfs']), row['why']) for row in csv.DictReader(out.splitlines())} if out else err


def oracle(folder, case, **usage):
    """Returns a site with the tree and the usage of a case."""
    site = Site(folder, case, **(usage or dict(half_life=0)))
    with open(f'{TREES}/{case}/resource_group', encoding='ascii') as file:
        names = {line.split()[0] for line in file if line.strip()}
    with open(f'{TREES}/{case}/usage.tsv', encoding='ascii') as file:
        used = [line.rstrip('\n').split('\t') for line in file][1:]
    with open(f'{folder}/usage', 'wb') as file:
        file.write(record('<16sd', 'PBS_MAG!', 2) + struct.pack('<q', AT - 60) + b''.join(record('<56sd', *each) for each in used if each[0] in names))
    os.utime(f'{folder}/usage', (AT, AT))
    site.call(('import', 'pbs', '--resource-group', f'{TREES}/{case}/resource_group', '--at', AT, '--usage', f'{folder}/usage'), ('init',), ('run', '--now', AT))
    return site


def printed(case, name='pbsfs_p.txt'):
    with open(f'{TREES}/{case}/{name}', encoding='ascii') as file:
        return file.read()


def try_tree(folder, case):
    text = printed(case)
    site = oracle(folder, case)
    status, out, err = site.diff(text)
    count = len(text.splitlines()) - 1
    tap.ok((status, err) == (0, '') and EXPLAINED in out and f'{count} entities were compared' in out and site.rows(text) == {},
           f'diff finds no difference to pbsfs -p for {case}', status, out, err)
    status, out, err = site.diff(printed(case, 'pbsfs_g.txt'))
    tap.ok((status, err) == (0, '') and EXPLAINED in out and site.rows(printed(case, 'pbsfs_g.txt')) == {},
           'diff finds no difference to pbsfs -g either', status, out, err)


def changed(folder):
    """Changes one value in the output at a time."""
    site, text = oracle(folder, 'p01_small'), printed('p01_small')

    def one(what, statement, *expected, status=1, said=''):
        new = re.sub(*what, text, count=1)
        got = site.diff(new)
        tap.ok(new != text and got[0] == status and said in got[1] and site.rows(new) == dict(expected), statement, new, got, site.rows(new))

    one((r'84188', '84100'), 'less usage without a job that explains it is left unexplained', (('u5', 'Usage'), (84188, 84100, '')), said='left unexplained: 1 value')
    one((r'84188', '84189'), 'more usage is left unexplained', (('u5', 'Usage'), (84188, 84189, '')))
    one((r'9\.843', '9.845'), 'a percentage that does not follow from the printed shares is unexplained', (('u5', 'Perc'), (single(100 * 25 / 254), 9.845, '')))
    one((r'(?m)^u1 .*\n', ''), 'an entity missing from the output is named', status=1, said='not in the output: 1 entity, first u1')
    one((r'\Z', 'u99       : Grp: 0      cgrp: 99   Shares: 1      Usage: 1      Perc:  0.000%\n'), 'an entity that is only in the output is named', status=1, said='only in the output: 1 entity, first u99')
    one((r'in: cput', 'in: ncpus*walltime'), 'other units are reported', status=1, said='the output counts usage in ncpus*walltime, fairmill\'s run in cput')
    one((r'(?m)^Fairshare.*\n', ''), 'output without its first line is recognized', status=0, said=EXPLAINED)
    one((r'(?m)$', '\r'), 'output with CR LF is read', status=0, said=EXPLAINED)
    halves = site.rows(printed('p01_small', 'pbsfs_p_decayed.txt'))
    tap.ok(halves and all(why == '' for _, _, why in halves.values()),
           "fairmill's own half_life does not explain OpenPBS's decay", halves)
    for wrong in ('u5 : Grp: 0 cgrp: 1', 'u5 : Grp: 0 cgrp: x Shares: 1 Usage: 1 Perc: 1%', 'u5 : Grp: 0 cgrp: 1 Shares: 1 Usage: 1e999 Perc: 1%',
                  ': Grp: 0 cgrp: 1 Shares: 1 Usage: 1 Perc: 1%', 'u5 : Grp: 0 cgrp: 1 Shares: 1 Usage: 1 Perc: 1', 'hello'):
        got = site.diff(text + wrong + '\n')
        tap.ok(got[0] == 65 and 'line 13' in got[2] and not got[1], f"'{wrong}' is rejected", got)
    got = site.diff('Fairshare usage units are in: cput\n')
    tap.ok(got[0] == 65 and 'no entities' in got[2], 'output without entities is rejected', got)


def entities(folder):
    """Tests the output of pbsfs -g NAME, which contains fairshare_tree_usage."""
    site = oracle(folder, 'p02_deep')
    names = re.findall('entity: (.*)', printed('p02_deep', 'pbsfs_g.txt'))
    text = printed('p02_deep', 'pbsfs_g.txt').split('fairshare entity: ')[1 + names.index('g2')]
    text = 'fairshare entity: ' + text

    def rows(old, new):
        tap.ok(old in text, f'the output contains {old}', text)
        return {key: (row[1], row[2]) for key, row in site.rows(text.replace(old, new)).items()}
    tap.same(site.rows(text), {}, 'the output for one entity is compared')
    tap.same(rows('0.087437', '0.187437'), {('g2', 'fairshare_tree_usage'): (.187437, '')},
             'a TreeUsage that does not follow from its path is unexplained')
    tap.same(rows('Shares\t\t\t: 28', 'Shares\t\t\t: 29'), {('g2', 'Shares'): (29, 'tree')}, 'other shares have the cause tree')
    tap.same(rows('17.099792', '17.199792'), {('g2', 'Perc'): (17.199792, 'tree')}, 'another percentage has the cause tree')
    tap.same(rows('152868 / 0.226', '152968 / 0.226'), {('g0', 'Usage'): (152968, '')}, 'usage on the path of the entity is compared')
    halved = text.replace('152863', '76431').replace('152868', '76434').replace('1748300', '1671868').replace('0.087437', f'{76432.75 / 1671868:.6f}')
    tap.same({(entity, value): why for (entity, value), (_, _, why) in site.rows(halved).items()},
             {('g2', 'Usage'): '', ('g0', 'Usage'): '', ('TREEROOT', 'Usage'): '', ('g2', 'fairshare_tree_usage'): 'usage'}, 'values that depend on usage have the cause usage')
    tap.same(site.rows(text + text), {}, 'a repeated entity makes no difference')
    tap.ok('only in the output: 1 entity, first g99' in site.diff(text.replace('g2', 'g99'))[1], 'an unknown entity is named', site.diff(text.replace('g2', 'g99')))
    for wrong in (text[:text.index('usage/perc')], text[:text.index('g2 ')], text.replace('Resgroup', 'Group'), text + 'x', text.replace('(cput)', ''),
                  text.replace(' / 0.171', ''), text.replace('17.099792%', '17.099792'), text.replace(': 28', ': many'), 'fairshare entity: \n' + text):
        got = site.diff(wrong)
        tap.ok(got[0] == 65 and 'line ' in got[2] and not got[1], f'truncated or damaged output is rejected: {wrong[-30:]!r}', got)


def moved(folder):
    """Compares output of a different resource_group."""
    site, new = oracle(folder, 'p01_small'), Site(folder, 'moved', half_life=0)
    with open(f'{TREES}/p01_small/resource_group', encoding='ascii') as file:
        tree = [line.split() for line in file if line.strip()]
    parents = {line[0]: line[2] for line in tree}
    tree = [[name, number, 'g1' if name == 'u1' else parent, '7' if name == 'u5' else shares] for name, number, parent, shares in tree]
    new.call(('import', 'pbs', '--resource-group', new.path('tree', ''.join(' '.join(line) + '\n' for line in tree)), '--at', AT, '--usage', f'{folder}/usage'),
             ('init',), ('run', '--now', AT))
    _, out, _ = new.call(('show', '--pbs', '--list'))
    rows = site.rows(out)
    tap.ok(parents['u1'] == 'g2' and rows and all(why == 'tree' for _, _, why in rows.values()),
           'all differences have the cause tree', rows)
    tap.same((rows['u1', 'Grp'][:2], rows['u5', 'Shares'][:2], rows['g2', 'Usage'][:2], ('u2', 'Perc') in rows), ((13, 12), (25, 7), (8126, 1), True),
             'the differences are a group, shares, sums and percentages')
    status, out, _ = site.diff(out)
    tap.ok(status == 0 and 'different resource_group' in out and EXPLAINED in out, 'the text output explains that the resource_group differs', out)


def decayed(folder):
    """With decay = exact, usage decays as fast as in OpenPBS, whose decay happens in steps."""
    site = oracle(folder, 'p08_mixed', decay='exact')
    rows = site.rows(printed('p08_mixed', 'pbsfs_p_decayed.txt'))
    tap.ok(len(rows) > 5 and all(why == 'decay' for _, _, why in rows.values()),
           'half of all usage, after one step, has the cause decay', rows)
    third = re.sub(r'Usage: (\d{4,})', lambda match: f'Usage: {int(match[1]) // 3}', printed('p08_mixed'))
    tap.ok(site.diff(third)[0] == 1 and '' in {why for _, _, why in site.rows(third).values()},
           'a third of the usage is less than one step can explain')


def stepped(folder):
    """With decay = steps, fairmill and OpenPBS decay at the same time, a minute before a day is
    over."""
    site, undecayed, half = oracle(folder, 'p08_mixed', decay='steps'), printed('p08_mixed'), printed('p08_mixed', 'pbsfs_p_decayed.txt')
    tap.same((site.rows(undecayed), {why for _, _, why in site.rows(half).values()}), ({}, {''}), 'with decay = steps there is no difference before a step')
    for later, left, words in ((86400, 'decay', 'has the cause decay'), (90000, '', 'is unexplained')):
        tap.same((site.rows(half, at=AT + later), {why for _, _, why in site.rows(undecayed, at=AT + later).values()}), ({}, {left}),
                 f'usage not decayed {later - 86340} seconds after a step {words}')


TREE = {'a': ('TREEROOT', 11, 40), 'b': ('TREEROOT', 12, 60), 'u1': ('a', 13, 50), 'u2': ('a', 14, 50), 'u3': ('b', 15, 60), 'u4': ('b', 16, 40), 'u5': ('TREEROOT', 17, 100)}


def scheduler(jobs, cycles, now):
    """Returns the usage that OpenPBS has for each entity: for each job, the usage in the last cycle
    that saw it."""
    seen = dict.fromkeys(TREE, 0.)
    for user, start, end, rate in jobs:
        looks = [cycle for cycle in cycles if start <= cycle <= now and (end is None or cycle < end)]
        seen[user] += rate * (looks[-1] - start) if looks else 0
    return seen


def pbsfs(used, base=0):
    """Returns the output of `pbsfs -p` for a usage file with these values."""
    sums = {name: 1. for name in ('TREEROOT', *TREE)}
    for name, usage in used.items():
        if usage > 0:
            usage = max(usage + base, 1)
            sums[name] = usage
            while name in TREE:
                name = TREE[name][0]
                sums[name] += usage
    numbers = {'TREEROOT': 0} | {name: number for name, (_, number, _) in TREE.items()}
    level = {group: sum(shares for above, _, shares in TREE.values() if above == group) for group in numbers}
    percentage = {'TREEROOT': 100.}
    for name, (above, _, shares) in TREE.items():
        percentage[name] = percentage[above] * shares / level[above]
    line = '{:<10}: Grp: {:<5}  cgrp: {:<5}Shares: {:<6} Usage: {:<6.0f} Perc: {:6.3f}%\n'.format
    return 'Fairshare usage units are in: cput\n' + ''.join(
        line(name, numbers[TREE[name][0]] if name in TREE else -1, numbers[name], TREE[name][2] if name in TREE else -1, sums[name], percentage[name])
        for name in numbers) + line('unknown', 0, 1, 0, 1, 0)


def charged(used):
    """Returns the output for usage of jobs, which OpenPBS adds to the initial 1 of each entity."""
    return pbsfs(used, base=1)


def log(jobs):
    lines = []
    for number, (user, start, end, rate) in enumerate(jobs):
        text = f'user={user} group=g queue=workq ctime={AT} qtime={AT} etime={AT} start={AT + start} Resource_List.ncpus=2'
        lines.append((start, 'S', number, text))
        if end is not None:
            used = round(rate * (end - start))
            lines.append((end, 'E', number, f'{text} end={AT + end} resources_used.cput={used // 3600:02}:{used // 60 % 60:02}:{used % 60:02}'))
    stamp = lambda at: time.strftime('%m/%d/%Y %H:%M:%S', time.gmtime(AT + at))
    return ''.join(f'{stamp(at)};{kind};{number}.pbs;{text}\n' for at, kind, number, text in sorted(lines))


def jobs_site(folder, name, jobs, now, **usage):
    site = Site(folder, name, **usage)
    os.makedirs(f'{folder}/{name}_logs')
    site.path(f'{name}_logs/20261101', log(jobs))
    tree = ''.join(f"{name} {number} {'root' if above == 'TREEROOT' else above} {shares}\n" for name, (above, number, shares) in TREE.items())
    site.call(('import', 'pbs', '--resource-group', site.path('tree', tree), '--accounting', f'{folder}/{name}_logs'), ('init',), ('run', '--now', AT + now))
    return site


def cycles(folder):
    """Tests a scheduler that runs every ten minutes, and sometimes in between."""
    generator = random.Random(18)
    now = 80000
    jobs = [(f'u{generator.randint(1, 4)}', start, start + generator.randint(1, 4000), generator.choice((.5, 1, 4))) for start in (generator.randint(0, 75000) for _ in range(120))]
    site = jobs_site(folder, 'cycles', jobs, now, half_life=0)
    truth = {name: float(sum(round(rate * (end - start)) for user, start, end, rate in jobs if user == name)) for name in TREE}
    tap.same(site.rows(charged(truth), at=AT + now), {}, 'a scheduler that saw the end of every job gives no difference')
    for looks in (range(0, now, 600), sorted(generator.sample(range(now), 1000)) + list(range(0, now, 600))):
        seen = scheduler(jobs, looks, now)
        rows = site.rows(charged(seen), at=AT + now)
        tap.ok({name for name, value in rows} == {'TREEROOT', 'a', 'b', 'u1', 'u2', 'u3', 'u4'} and {why for _, _, why in rows.values()} == {'cycle'},
               'usage at the ends of jobs that it missed has the cause cycle', rows)
        status, out, _ = site.diff(charged(seen), at=AT + now)
        tap.ok(status == 0 and 'after a job\'s last cycle' in out and EXPLAINED in out, 'the text output explains the cause cycle', out)
    seen = scheduler(jobs, range(0, now, 600), now)
    theirs = Site(folder, 'theirs', half_life=0)
    theirs.call(('import', 'pbs', '--resource-group', f'{folder}/tree'), ('init',),
                *(('ledger', 'set', round(used) + 1, '--user', name, '--at', AT, '--why', 'x', '--yes') for name, used in seen.items() if name.startswith('u')),
                ('run', '--now', AT + now))
    rows = site.rows(''.join(theirs.call(('show', '--pbs', name))[1] for name in ('u1', 'u2', 'u3', 'u4')), at=AT + now)
    tap.same({key: why for key, (_, _, why) in rows.items()},
             {(name, 'Usage'): 'cycle' for name in ('TREEROOT', 'a', 'b', 'u1', 'u2', 'u3', 'u4')} |
             {(name, 'fairshare_tree_usage'): 'usage' for name in ('u1', 'u2', 'u3', 'u4')},
             'pbsfs -g has the causes cycle and usage')
    status, out, _ = site.diff(charged(seen), '--json', at=AT + now)
    found = json.loads(out)['clusters'][0]
    tap.same((status, found['explained'], found['left'], found['compared'], found['period'], {each['cause']: each['values'] for each in found['causes']}),
             (0, True, 0, 9, 600, dict(cycle=7, running=0, decay=0, ledger=0, tree=0, usage=0)),
             'the JSON output contains the causes')
    rows = site.rows(charged(seen), '--period', 20, at=AT + now)
    tap.ok('' in {why for _, _, why in rows.values()},
           'a scheduler that runs every 20 seconds cannot lose that much', rows)
    lost = dict(seen, u1=10)
    rows = site.rows(charged(lost), at=AT + now)
    tap.same((rows['u1', 'Usage'][2], rows['u2', 'Usage'][2]), ('', 'cycle'),
             'a cycle does not explain that usage was set to almost 0')
    more = dict(seen, u2=truth['u2'] + 100)
    tap.same(site.rows(charged(more), at=AT + now)['u2', 'Usage'][2], '', 'a cycle does not explain additional usage')
    site.call(('ledger', 'debit', '100h', '--user', 'u2', '--yes', '--at', AT + now - 10, '--why', 'x'), ('run', '--now', AT + now, '--replace'))
    rows = site.rows(charged(seen), at=AT + now)
    tap.same({key: row[2] for key, row in rows.items() if row[2] != 'cycle'}, {('TREEROOT', 'Usage'): 'ledger', ('a', 'Usage'): 'ledger', ('u2', 'Usage'): 'ledger'},
             "a debit in fairmill's ledger has the cause ledger")
    half = jobs_site(folder, 'half', jobs, now)
    tap.ok(half.diff(charged(seen), at=AT + now)[0] == 0,
           "with OpenPBS's decay before its first step, everything is explained", half.rows(charged(seen), at=AT + now))


def running(folder):
    """A running job used less of its CPUs than it was allocated."""
    jobs = [('u1', 0, 900, 1), ('u3', 100, None, .5)]
    site = jobs_site(folder, 'running', jobs, 5000, half_life=0)
    rows = site.rows(charged(dict(u1=900, u3=.5 * 4000)), at=AT + 5000)
    tap.same(rows.get(('u3', 'Usage')), (2 * 4900 + 1, 2001, 'running'),
             'a running job has its CPU time in OpenPBS, and its CPUs in fairmill')
    tap.same({why for _, _, why in rows.values()}, {'running'}, 'there are no other differences')
    site.call(('run', '--now', AT + 9000, '--replace'))
    status, out, _ = site.diff(charged(dict(u1=900, u3=.5 * 4000)), at=AT + 5000)
    tap.ok(status == 0 and 'fairmill\'s values as of 2026-11-01T01:23:20' in out, 'values are computed for the time of the output', out)
    site.call(('run', '--now', AT + 5000, '--replace'))
    os.rename(f'{folder}/running_jobs.db', f'{folder}/gone.db')
    rows = site.rows(charged(dict(u1=900, u3=.5 * 4000)), at=AT + 5000)
    status, out, _ = site.diff(charged(dict(u1=900, u3=.5 * 4000)), at=AT + 5000)
    tap.ok({why for _, _, why in rows.values()} == {''} and status == 1 and 'without the accounting database' in out, 'without the accounting database there is no cause', rows, out)
    os.rename(f'{folder}/gone.db', f'{folder}/running_jobs.db')


def body():
    for case in sorted(each for each in os.listdir(TREES) if each.startswith('p')):
        with tempfile.TemporaryDirectory(prefix='fm') as folder:
            try_tree(folder, case)
    for part in (changed, entities, moved, decayed, stepped, cycles, running):
        with tempfile.TemporaryDirectory(prefix='fm') as folder:
            part(folder)


tap.main(body)
