#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that show --pbs prints the same as a real pbsfs for eight imported trees.

FAIRMILL_LONG=1 compares every entity and pair instead of every fifth."""

import os
import struct
import sys
import tempfile
from collections import Counter
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from program import fairmill, write_settings
from sqlite import Sqlite

TREES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'oracle-pbs')
STEP = 1 if os.environ.get('FAIRMILL_LONG') == '1' else 5
AT = 1793491200
FORMS = (('pbsfs_t.txt', 'tree', ('--tree',)), ('pbsfs_p.txt', 'list', ('--list',)), ('pbsfs_p_decayed.txt', 'list after a decay', ('--decay', '0.5')))
OF_ENTITY = 'fairshare entity: '


def record(layout, name, number):
    return struct.pack(layout, name.encode(), float(number))


class Tree:
    def __init__(self, folder, case, used=True, name=None):
        name = name or case
        self.case, self.name, self.conf, self.sqlite = case, name, f'{folder}/{name}.conf', Sqlite(folder)
        self.set(half_life=0)
        if used:
            self.write_usage(f'{folder}/usage')
        for command in (('import', 'pbs', '--resource-group', f'{TREES}/{case}/resource_group', '--at', AT, *(('--usage', f'{folder}/usage') if used else ())),
                        ('init',), ('run', '--now', AT)):
            tap.same(fairmill(self.conf, *command), (0, '', ''), f'{command[0]} accepts {case}')

    def set(self, **usage):
        write_settings(self.conf, dict(
            source=self.sqlite.connection(f'{self.name}_jobs') | dict(layout='pbs', clusters='pbs'), results=self.sqlite.connection(f'{self.name}_results'),
            usage=dict(time_zone='UTC') | {key: value for key, value in usage.items() if value is not None}, fairshare=dict(algorithm='pbs', pbs_minimum_usage=1)))

    def write_usage(self, path):
        names = {line.split()[0] for line in self.read('resource_group').splitlines() if line.strip()}
        used = [line.split('\t') for line in self.read('usage.tsv').splitlines()[1:]]
        with open(path, 'wb') as file:
            # pbsfs ignores other names.
            file.write(record('<16sd', 'PBS_MAG!', 2) + struct.pack('<q', AT - 60) +
                       b''.join(record('<56sd', *each) for each in used if each[0] in names))
        os.utime(path, (AT, AT))

    def read(self, name):
        with open(f'{TREES}/{self.case}/{name}', encoding='ascii') as file:
            return file.read()

    def show(self, *arguments):
        status, out, err = fairmill(self.conf, 'show', '--pbs', *arguments)
        return out if not status else err


def try_tree(folder, case):
    tree = Tree(folder, case)
    for name, what, form in FORMS:
        tap.same(tree.show(*form), tree.read(name), f'the {what} of {case} is the same as pbsfs prints')
    entities = [OF_ENTITY + each for each in tree.read('pbsfs_g.txt').split(OF_ENTITY)[1:]]
    unlike = [(got, printed) for printed in entities[::STEP]
              for got in [tree.show(printed.split('\n', 1)[0][len(OF_ENTITY):])] if got != printed]
    tap.ok(not unlike, f'each of the {len(entities)} entities is the same', *unlike[:2])
    pairs = [line.split('\t') for line in tree.read('pbsfs_c.tsv').splitlines()[1:]]
    unlike = [(one, other, winner, got) for one, other, winner in pairs[::STEP] for got in [tree.show(one, other)] if got != winner + '\n']
    tap.ok(not unlike, f'the more deserving entity is the same for {len(pairs)} pairs', *unlike[:5])
    try_order(tree, pairs)


def by_pairs(tree):
    """Returns for each user 1 + the number of more deserving users, computed in pairs from the
    tree's file and pbsfs -p."""
    printed = {}
    for line in tree.read('pbsfs_p.txt').splitlines()[1:]:
        name, rest = line.split(': ', 1)
        words = rest.split()
        printed[int(words[3].split('Shares')[0])] = (name.strip(), int(words[1]), int(words[words.index('Usage:') + 1]))
    shares = {line.split()[0]: int(line.split()[3]) for line in tree.read('resource_group').splitlines() if line.strip()} | {'unknown': 0}
    sums, groups = Counter(), {group for _, group, _ in printed.values()}
    for name, group, _ in printed.values():
        sums[group] += shares.get(name, 0)

    def way(number):
        name, group, usage = printed[number]
        if group == -1:
            return [], Fraction(1)
        above, target = way(group)
        target = target * Fraction(shares[name], sums[group]) if sums[group] else Fraction(0)
        return above + [(number, Fraction(usage) / target if target else None)], target

    def ahead(one, other):
        for (here, mine), (there, others) in zip(one, other):
            if here != there and mine != others:
                return mine is not None and (others is None or mine < others)
            if here != there and mine is None:
                return False
        return False
    ways = {number: way(number)[0] for number in printed if number not in groups and printed[number][0] != 'unknown'}
    return {printed[number][0]: 1 + sum(ahead(other, ways[number]) for other in ways.values()) for number in ways}


def try_order(tree, pairs):
    rows = tree.sqlite.sql('SELECT name, pbs_order FROM fairmill_pbsfs WHERE pbs_order IS NOT NULL', f'{tree.case}_results')
    order = dict(rows)
    tap.same(order, by_pairs(tree), f'pbs_order is 1 + the number of more deserving users, for {len(order)} users')
    wrong = [(one, other, winner) for one, other, winner in pairs if one in order and other in order and
             winner != (one if order[one] < order[other] else other if order[other] < order[one] else f'{one} == {other}')]
    tap.ok(len(order) > 3 and not wrong, 'pbs_order agrees with pbsfs for the compared pairs', *wrong[:5])


def sets(folder):
    """Tests usage in the ledger that `pbsfs -s` has set, entity by entity."""
    tree = Tree(folder, 'p01_small', used=False)
    names = {line.split()[0] for line in tree.read('resource_group').splitlines() if line.strip()}
    for name, usage in (line.split('\t') for line in tree.read('usage.tsv').splitlines()[1:]):
        if name in names:
            for amount in (7 * int(usage) + 1, usage):
                status, out, err = fairmill(tree.conf, 'ledger', 'set', amount, '--user', name, '--at', AT, '--why', 'pbsfs -s', '--yes')
                tap.ok(status == 0 and f'to {amount} (fairshare_usage_res)' in out,
                       f'{name} is set to {amount}', out, err)
    # A step happens just after its time.
    for decay, later in (('exact', 86400), ('steps', 86401)):
        tree.set(half_life=None, decay=decay)
        tap.same(fairmill(tree.conf, 'run', '--now', AT, '--replace')[0], 0, f'a run with decay = {decay} succeeds')
        tap.same(tree.show('--list'), tree.read('pbsfs_p.txt'),
                 'the later of two sets counts, and accounts have the sums')
        fairmill(tree.conf, 'run', '--now', AT + later)
        tap.same(tree.show('--list'), tree.read('pbsfs_p_decayed.txt'), 'usage that was set decays like in pbsfs')
        tap.same(fairmill(tree.conf, 'verify')[0], 0, 'verify computes the same with sets')
    tap.same(fairmill(tree.conf, 'diff', f'{TREES}/p01_small/pbsfs_p.txt', '--at', AT)[0], 0,
             'diff finds no difference with sets')
    with_usage = Tree(folder, 'p01_small', name='both')
    fairmill(with_usage.conf, 'ledger', 'set', 1000, '--user', 'u5', '--at', AT, '--why', 'pbsfs -s', '--yes')
    fairmill(with_usage.conf, 'run', '--now', AT, '--replace')
    tap.ok(': 1000 (cput)' in with_usage.show('u5') and ': 14590 (cput)' in with_usage.show('TREEROOT'), "a set replaces the usage of the file, and accounts have the sums",
           with_usage.show('u5'), with_usage.show('TREEROOT'))


def refused(folder):
    tree = Tree(folder, 'p01_small')
    for said, arguments in (('nobody', ('nobody',)), ('mutually exclusive', ('--tree', '--list')), ("'1'", ('--decay', '1')), ("'x'", ('--decay', 'x'))):
        status, out, err = fairmill(tree.conf, 'show', '--pbs', *arguments)
        tap.ok(status == 64 and not out and said in err, f"{' '.join(arguments)} is rejected", status, out, err)


def body():
    for case in sorted(each for each in os.listdir(TREES) if each.startswith('p')):
        with tempfile.TemporaryDirectory(prefix='fm') as folder:
            try_tree(folder, case)
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        refused(folder)
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        sets(folder)


tap.main(body)
