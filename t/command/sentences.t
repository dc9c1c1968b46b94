#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the sentences of `fairmill explain` about users and accounts on random sites.

This file computes the same sentences from the result tables and from `fairmill forecast`.  It finds
the users ahead by comparing all users.  FAIRMILL_SEED=N tests only site N."""

import datetime
import json
import math
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import demonstration
import tap
from place import NOW, Place
from seeds import seeds
from site_drawing import Site

PARENT = 2 ** 31 - 1
DAYS = 14
ALGORITHMS = ('fair_tree', 'fair_tree', 'fair_tree', 'classic', 'linear', 'depth_oblivious', 'pbs')


# ---- numbers ----

def ratio(value):
    if value == 0:
        return '0'
    return '< 0.01' if value < .01 else '> 100' if value > 100 else f'{value:.{2 if value < 10 else 0}f}'


def shown(value):
    """Returns a ratio with the decimals that a reader sees."""
    return value if math.isinf(value) else float(re.sub('[<>] ', '', ratio(value)))


def percent(value):
    value *= 100
    return '0 %' if value == 0 else '< 0.01 %' if value < .01 else f'{value:.{2 if value < 1 else 1}f} %'


def day(time, year=False):
    date = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
    return f'{date.day} {date:%B}' + (f' {date.year}' if year else '')


# ---- the tree ----

class Row:
    def __init__(self, values):
        self.id, self.parent_id, self.account, self.user, self.partition, self.shares, self.share, self.use, \
            self.level_share, self.level_use, self.rank, self.order, self.factor, self.usage = values
        self.own = self.shares is not None
        self.label = self.user + (f' ({self.partition})' if self.partition else '') if self.user else self.account
        self.full = '/'.join(filter(None, (self.account, self.user, self.partition))) + ('' if self.user else '/')

    def level_ratio(self):
        if not self.own:
            return None
        return self.level_use / self.level_share if self.level_share else math.inf

    def ratio(self):
        return self.use / self.share if self.share else math.inf


class Tree:
    def __init__(self, place):
        rows = place.query(
            'SELECT id_assoc, parent_id, account, user_name, partition_name, shares, shares_norm, usage_norm, '
            'level_shares_norm, level_usage, fair_tree_rank, fairshare_order, fairshare, usage_raw FROM fairmill_fairshare')
        self.rows = {row[0]: Row(row) for row in rows}
        self.users = [row for row in self.rows.values() if row.user]
        self.root, = (row for row in self.rows.values() if not row.parent_id)
        for row in self.users:
            row.place = row.order and 1 + sum(other.order < row.order for other in self.users if other.order)
        self.placed = [row for row in self.users if row.place]

    def above(self, row):
        while row.parent_id:
            row = self.rows[row.parent_id]
            yield row

    def is_below(self, row, top):
        return row is top or top in self.above(row)

    def owner(self, row):
        return next(each for each in self.above(row) if each.own or each is self.root)

    def steps(self, row):
        found = []
        while row is not self.root:
            found.insert(0, (self.owner(row), row))
            row = found[0][0]
        return found

    def ahead(self, user):
        """Returns (users ahead, owner, member) for each level, from the root down."""
        steps, members = self.steps(user), [member for _, member in self.steps(user)]
        counts = dict.fromkeys(members, 0)
        for other in self.placed:
            if other.place < user.place:
                # The level on which the paths part is the last whose owner is above both.
                counts[[member for owner, member in steps if self.is_below(other, owner)][-1]] += 1
        return [(counts[member], owner, member) for owner, member in steps]


# ---- the sentences ----

def reason(tree, row):
    before = row.place - 1
    if not before:
        return 'No user is ahead.'
    best = None
    for count, owner, member in tree.ahead(row):
        value = member.level_ratio()
        value = None if value is None else shown(value)
        larger = best and value is not None and best[3] is not None and value > best[3]
        if not best or count > best[0] or (count == best[0] and larger):
            best = count, owner, member, value
    count, owner, member, value = best
    who = 'The user ahead comes first because ' if before == 1 else \
        ('All' if count == before else f'{count} of the') + f' {before} users ahead come first because '
    scope = 'the cluster' if owner is tree.root else owner.label
    if value == math.inf:
        return f'{who}{member.label} has no shares of {scope}.'
    if value is not None and value > 1:
        return f"{who}{member.label} has used {ratio(member.level_ratio())} times {'their' if member.user else 'its'} share of {scope}."
    return f'{who}they or their groups have used even less of their shares than {member.label}' + \
        ('.' if value is None else f' ({ratio(member.level_ratio())} times).')


def outlook(row, places, now):
    best, worst = min(places), max(places)
    if row.place == 1:
        return ''
    if best >= row.place and worst > row.place:
        return f' Pausing does not help within {DAYS} days: the place falls to {worst} by {day(now + places.index(worst) * 86400)}.'
    if best >= row.place:
        return f' Pausing does not help within {DAYS} days: the place stays {row.place}, as the groups above decide it.'
    first, last = next(i for i, place in enumerate(places) if place < row.place), places.index(best)
    better = '' if first == last else f' to {places[first]} on {day(now + first * 86400)} and'
    return f' If {row.user} runs nothing and the others continue, the place improves from {row.place}{better} ' \
        f"to {best} {'on' if first == last else 'by'} {day(now + last * 86400)}."


def of_user(tree, row, algorithm, places, now):
    if not row.place:
        return f'{row.label} has no place.'
    text = f'{row.label} is at place {row.place} of {len(tree.placed)}'
    if algorithm == 'fair_tree':
        text += '. ' + reason(tree, row)
    else:
        used = 'no share of its own' if not row.own else 'no shares' if not row.share else f'used {ratio(row.ratio())} times their share'
        text += f': {row.label} has {used}; factor {row.factor:.4f}.'
    return text + outlook(row, places, now)


def of_account(tree, row, budget=''):
    places = [user.place for user in tree.placed if tree.is_below(user, row)]
    use = f"{percent(row.use)} of the cluster's recent usage"
    text = f'{row.label} has no share of its own: its users count as members of the level above.' if not row.own else \
        'No usage counts yet. Places follow the shares alone.' if not tree.root.usage else \
        f'{row.label} has no shares, and {use}.' if not row.share else \
        f'{row.label} has used {ratio(row.ratio())} times its share: {use} for a share of {percent(row.share)}.'
    text += budget
    if len(places) == 1:
        text += f' Its user is at place {places[0]} of {len(tree.placed)}.'
    elif places and min(places) == max(places):
        text += f' Its {len(places)} users are at place {places[0]} of {len(tree.placed)}.'
    elif places:
        text += f' Its {len(places)} users are at places {min(places)} to {max(places)} of {len(tree.placed)}.'
    return text


def budgets(place, now):
    """Returns {id: the sentence about the association's limit that is reached first}."""
    ends = {}
    for number, end in place.query("SELECT id, exhausted_at FROM fairmill_budget WHERE kind = 'association' "
                                   'AND exhausted_at IS NOT NULL ORDER BY exhausted_at'):
        ends.setdefault(number, ' Its budget is used up.' if end <= now
                        else f" Its budget ends on {day(end, True)} at last week's rate.")
    return ends


# ---- explain ----

HEADING = re.compile(r"^(?:User '(?P<user>.*)' of a|A)ccount '(?P<account>.*?)'(?: in partition '(?P<partition>.*)')?\nCluster ", re.M)


def explanations(place, *arguments):
    """Returns {(account, user, partition): (sentences, [users ahead])}."""
    place.succeed('explain', *arguments)
    found, starts = {}, list(HEADING.finditer(place.out))
    for match, end in zip(starts, [each.start() for each in starts[1:]] + [len(place.out)]):
        text = place.out[match.start():end]
        paragraph = text.split('\n\n')[1]
        key = match['account'], match['user'] or '', match['partition'] or ''
        found[key] = ' '.join(paragraph.split()), [int(count) for count in re.findall(r'^- (\d+): ', text, re.M)]
    return found


def pausing(place, names):
    """Returns {key: places if the user runs nothing}, from the results only."""
    place.succeed('forecast', '--json', '--users', ','.join(names), settings='missing.conf')
    return {(each['account'], each['username'], each['partition']):
            [point['place'] for point in each['points'] if point['projection'] == 'others']
            for each in json.loads(place.out)['clusters']}


def compare(place, algorithm, now):
    """Returns the differences between explain and this file."""
    tree, wrong = Tree(place), []
    names = sorted({row.user for row in tree.users})
    told, forecast = explanations(place, '--users', ','.join(names)), pausing(place, names)
    for row in tree.users:
        key = row.account, row.user, row.partition
        sentences, ahead = told[key]
        wanted = of_user(tree, row, algorithm, forecast[key], now)
        if sentences != wanted:
            wrong.append(f'{row.full}: {sentences!r} instead of {wanted!r}')
        if algorithm == 'fair_tree' and (sum(ahead) != row.place - 1 or ahead != [step[0] for step in tree.ahead(row)]):
            wrong.append(f'{row.full}: {ahead} at place {row.place}')
    accounts = [row for row in tree.rows.values() if not row.user and row is not tree.root]
    told = explanations(place, '--accounts', ','.join(row.account for row in accounts)) if accounts else {}
    ends = budgets(place, now)
    for row in accounts:
        sentences, wanted = told[row.account, '', ''][0], of_account(tree, row, ends.get(row.id, ''))
        if sentences != wanted:
            wrong.append(f'{row.full}: {sentences!r} instead of {wanted!r}')
    return wrong


# ---- random sites ----

def random_site(seed):
    r, site = random.Random(seed), Site()
    cluster = site.cluster('c')
    cluster.account('root', '')
    names, used = ['root'], r.choice((0, 1, 1, 1))
    for i in range(r.randrange(1, 9)):
        cluster.account(f'a{i}', r.choice(names[-3:] + names), r.choice((0, 1, 1, 2, 3, 10, PARENT)))
        names.append(f'a{i}')
    keys = {(f'u{r.randrange(20):02d}', r.choice(names), r.choice(('', '', '', 'gpu'))) for _ in range(r.randrange(2, 26))}
    for name, account, partition in sorted(keys):
        user = cluster.user(name, account, r.choice((0, 1, 1, 2, 5, PARENT)), partition=partition)
        for _ in range(used * r.choice((0, 1, 2, 6))):
            start = NOW - r.randrange(1, 30) * 86400
            cluster.job(user, start, min(start + r.choice((3600, 86400, 5 * 86400)), NOW),
                        billing=r.choice((1, 2, 2, 8, r.randrange(1, 5000))))
    return r, site


def random_sites(place):
    sites, wrong = seeds(30, 300), []
    for seed in sites:
        r, site = random_site(seed)
        algorithm = r.choice(ALGORITHMS)
        keys = {'usage.half_life': r.choice(('0', '1-0', '7-0')), 'usage.time_zone': 'UTC', 'fairshare.algorithm': algorithm,
                'usage.reset_period': r.choice(('none', 'none', 'weekly')), 'fairshare.capacity': 1000,
                'fairshare.conformance': r.choice(('documents', 'slurmctld'))}
        place.ready(keys=keys)
        os.unlink(place.path('a.db'))
        site.write(place.path('a.db'))
        place.succeed('run', '--now', NOW)
        wrong += [f'site {seed}, {keys}: {each}' for each in compare(place, algorithm, NOW)]
    tap.ok(not wrong, f'explain has the right sentences about all users and accounts of {len(sites)} random sites', *wrong[:9])


def demo(place):
    demonstration.publish(place)
    wrong = compare(place, 'fair_tree', NOW)
    tap.ok(not wrong, 'explain has the right sentences about all users and accounts of the demonstration', *wrong[:9])


# ---- budgets ----

SITE = f'''
cluster tiny
registered 1=100,5=100
root/
  left/ 1
    ann 1
    bea 1
  right/ 1
    cid 1
job left.ann start={NOW - 5 * 86400} end={NOW - 4 * 86400} billing=10
job right.cid start={NOW - 9 * 86400} end={NOW} billing=2
'''


def set_limit(place, minutes):
    place.change("UPDATE tiny_assoc_table SET grp_tres_mins = ? WHERE acct = 'right' AND user = ''", minutes)
    place.succeed('run', '--now', NOW, '--replace')


def limits(place):
    place.ready(SITE, {'usage.half_life': '0', 'usage.time_zone': 'UTC'})
    for limit, sentence in (('5=100000', f" Its budget ends on {day(NOW + (100000 - 9 * 2880) / 2 * 60, True)} at last week's rate."),
                            ('5=100', ' Its budget is used up.'), ('', '')):
        set_limit(place, limit)
        tree = Tree(place)
        row, = (row for row in tree.rows.values() if row.full == 'right/')
        tap.same(explanations(place, 'right/')['right', '', ''][0], of_account(tree, row, sentence),
                 f"the sentences about an account with the limit '{limit}' name its end")


def body():
    os.environ['TZ'] = 'UTC'
    with Place() as place:
        with open(place.path('reader.conf'), 'w', encoding='utf-8') as file:
            file.write(f"[results]\ndriver = sqlite\ndatabase = {place.path('r.db')}\n")
        for part in (demo, limits, random_sites):
            part(place)


tap.main(body)
