#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Why one is behind the other: what explain says is so, by another reckoning.

FAIRMILL_PAIRS=N asks about N random pairs instead of 500, FAIRMILL_SEED=N only on site N."""

import json
import math
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import reference
import tap
from place import NOW, Place
from program import TOP
from reference import PARENT
from site_drawing import Site, USE_AT

ALGORITHMS = ('fair_tree', 'classic', 'linear', 'depth_oblivious', 'pbs')
CAPACITY = 1000
GOLDEN = os.path.join(TOP, 't', 'data', 'explain')

# Two equal accounts with a list each, equals of all kinds, and a `parent` account.
DRAWING = '''
cluster tiny
root/
  left/      10
    ann       1  use 30
    bea       2  use 10
  right/     20
    cid       1  use 40
    dot       3  use 40
  idle/       5
    eve       1
    fay       1
    gil       0
  none/       0
    hal       1  use 7
  through/ parent
    ivo       4  use 100
    joy  parent  use 9
  empty/      3
  pair@gpu    1  use 5
  pair        1  use 5
'''


# ---- random sites ----

def random_shares(r):
    return r.choice((0, 1, 1, 1, 2, 2, 3, 10, 70, r.randrange(1, 10 ** 6), PARENT))


def random_use(r):
    return r.choice((0, 0, 1, 2, 2, 4, 10, r.randrange(1, 1000), r.randrange(1, 10 ** 9)))


def random_site(seed):
    r = random.Random(seed)
    site = Site()
    cluster = site.cluster('c')
    cluster.account('root', '')
    names = ['root']
    for i in range(r.randrange(2, 11)):
        above = r.choice(names[-3:] + names)
        cluster.account(f'a{i:02d}', above, random_shares(r))
        names.append(f'a{i:02d}')
    taken = set()
    for _ in range(r.randrange(4, 24)):
        key = f'u{r.randrange(30):02d}', r.choice(names), r.choice(('', '', 'gpu'))
        if key in taken:
            continue
        taken.add(key)
        user = cluster.user(key[0], key[1], random_shares(r), partition=key[2])
        use = random_use(r)
        if use:
            start = USE_AT - r.choice((0, 0, 86400, 40 * 86400))
            cluster.job(user, start, start + 1, billing=use)
    settings = dict(now=USE_AT + 7200, half_life=r.choice((0, 0, 0, 7 * 86400)),
                    algorithm=ALGORITHMS[seed % 5] if seed % 2 else 'fair_tree',
                    dampening=r.choice((1, 1, 3)), capacity=CAPACITY,
                    pbs_minimum_usage=r.choice((0, 0, 1)))
    return r, site, settings


class World:
    """The site once more, to be changed and ranked by the reference."""

    def __init__(self, path, settings):
        db = reference.sqlite3.connect(path)
        self.settings = dict(reference.DEFAULTS, **settings)
        self.root, self.nodes, heirs = reference.read_tree(db, 'c')
        self.clock = reference.Clock(settings['half_life'], settings['now'])
        self.first = reference.add_usage(db, 'c', self.root, heirs, self.clock, self.settings)[0]
        db.close()
        self.unit = 1 / self.clock.usage(1)  # the sum that one TRES-second is
        self.order = []
        todo = [self.root]
        for node in todo:
            todo.extend(node.level)
        self.order = todo

    def ranked(self):
        rows = reference.values(self.root, self.nodes, self.clock, self.first, self.settings)
        self.below = {}
        for node in reversed(self.order):
            ranks = [rows[node.id]['fair_tree_rank']] if node.user else []
            for member in node.level:
                ranks += self.below[member.id]
            self.below[node.id] = ranks
        return rows

    def compare(self, one, other):
        """1 where one is ahead, -1, 0, or None; what hangs on the last digit is {1, 0} and the like."""
        rows = self.ranked()
        if self.settings['algorithm'] != 'fair_tree':
            a, b = rows[one]['fairshare'], rows[other]['fairshare']
            if None in (a, b):
                return {None}
            if abs(a - b) <= 1e-12 * max(a, b):
                return {-1, 0, 1}
            return {1 if a > b else -1}
        a, b = self.below[one], self.below[other]
        if not a or not b:
            return {None}
        return {1 if min(a) > max(b) else -1 if max(a) < min(b) else 0}

    def after(self, turn, amount, one, other):
        """compare() with so much changed, and everything as it was again."""
        node = self.nodes[turn['id_assoc']]
        sign = 1 if turn['change'].startswith('more') else -1
        if turn['change'].endswith('shares'):
            node.shares += sign * amount
            result = self.compare(one, other)
            node.shares -= sign * amount
            return result
        way = []
        while node:
            way.append((node, node.total))
            node.total += sign * amount * self.unit
            node = node.above
        result = self.compare(one, other)
        for node, total in way:
            node.total = total
        return result

    def most(self, turn):
        node = self.nodes[turn['id_assoc']]
        return {'more_shares': PARENT - 1 - node.shares, 'fewer_shares': node.shares,
                'more_usage': 2 ** 62,
                'less_usage': math.floor(self.clock.usage(node.total))}[turn['change']]


def name_of(row):
    return '/'.join(filter(None, (row['account'], row['user'], row['partition']))) + \
        ('' if row['user'] else '/')


def is_above(node, other):
    while other and other is not node:
        other = other.fair
    return other is node


def pairs_of(r, world, count):
    nodes = [n for n in world.nodes.values() if n is not world.root]
    users = [n for n in nodes if n.user]
    pairs = []
    for _ in range(count * 20):
        one, other = r.sample(users if r.random() < .8 and len(users) > 1 else nodes, 2)
        if not is_above(one, other) and not is_above(other, one):
            pairs.append((one, other))
        if len(pairs) == count:
            break
    return pairs


def told_name(node):
    return '/'.join(filter(None, (node.account, node.user or '', node.partition))) + \
        ('' if node.user else '/')


def turn_is_true(world, turn, behind, ahead):
    """What is wrong with a turn, or nothing."""
    amount, most = turn['amount'], world.most(turn)
    if amount is None:
        probes = {most} | {2 ** i for i in range(62)} | {most // 3, most // 7}
        tries = sorted(n for n in probes if 1 <= n <= most)
        for probe in tries[-2:] + tries[::9]:
            if world.after(turn, probe, behind, ahead) == {1}:
                return f'{turn}: {probe} does it'
        return None
    if 1 not in world.after(turn, amount, behind, ahead):
        return f'{turn}: it is not turned'
    if amount > 1 and world.after(turn, amount - 1, behind, ahead) == {1}:
        return f'{turn}: one less is enough'
    return None if 1 <= amount <= most else f'{turn}: there are only {most}'


def try_pair(place, world, one, other, counts):
    """What is wrong with what is said of two associations."""
    names = told_name(one), told_name(other)
    place.succeed('explain', '--json', '--', *names)
    told = json.loads(place.out)['comparison']
    order = {'ahead': 1, 'behind': -1, 'tied': 0, 'none': None}[told['order']]
    wrong = []
    if order not in world.compare(one.id, other.id):
        wrong.append(f"it says '{told['order']}'")
    behind, ahead = told['behind']['id_assoc'], told['ahead']['id_assoc']
    if (behind, ahead) != ((other.id, one.id) if order == 1 else (one.id, other.id)):
        wrong.append('who is behind is mixed up')
    if is_above(world.nodes[told['ancestor']['id_assoc']], one) + \
            is_above(world.nodes[told['ancestor']['id_assoc']], other) != 2:
        wrong.append('the ancestor is not above both')
    place.succeed('explain', '--', *names)
    for turn in told['turns']:
        counts[turn['change'], turn['amount'] is not None] = \
            counts.get((turn['change'], turn['amount'] is not None), 0) + 1
        wrong.append(turn_is_true(world, turn, behind, ahead))
        if turn['amount'] and not re.search(rf"\b{turn['amount']} (more|fewer|TRES-second)",
                                            place.out):
            wrong.append(f'{turn} is not in the words')
    counts[told['order']] = counts.get(told['order'], 0) + 1
    counts['merged'] = counts.get('merged', 0) + (told['merged'] > 0)
    return [f'{names}: {what}' for what in wrong if what]


def random_pairs(place):
    wanted = int(os.environ.get('FAIRMILL_PAIRS', 500))
    only = os.environ.get('FAIRMILL_SEED')
    counts, wrong, asked, seed = {}, [], 0, int(only or 0)
    while asked < wanted:
        r, site, settings = random_site(seed)
        for name in ('a.db', 'r.db', 'r.db-wal', 'r.db-shm'):
            if os.path.exists(place.path(name)):
                os.unlink(place.path(name))
        site.write(place.path('a.db'))
        keys = {f'fairshare.{key}': settings[key]
                for key in ('algorithm', 'dampening', 'capacity', 'pbs_minimum_usage')}
        place.settings({'usage.half_life': settings['half_life'] // 60} | keys)
        place.succeed('init')
        place.succeed('run', '--now', settings['now'])
        world = World(place.path('a.db'), settings)
        for one, other in pairs_of(r, world, min(10, wanted - asked)):
            asked += 1
            wrong += [f"site {seed}, {settings['algorithm']}: {what}"
                      for what in try_pair(place, world, one, other, counts)]
        seed += 1
        if only:
            break
    tap.ok(not wrong, f'what is said of {asked} random pairs is true by another reckoning',
           *wrong[:20])
    if wanted >= 500 and not only:
        few = [key for key in ('ahead', 'behind', 'tied', 'merged') if counts.get(key, 0) < 10]
        few += [key for change in ('more_shares', 'fewer_shares', 'more_usage', 'less_usage')
                for key in ((change, True), (change, False)) if counts.get(key, 0) < 10]
        tap.ok(not few, 'with all kinds of answers among them', counts)


def body():
    with Place() as place:
        for part in (random_pairs,):
            part(place)


tap.main(body)
