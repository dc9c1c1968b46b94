#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill explain`: the order of two names and the changes that would reverse it.

The reference implementation checks the answers for about 200 random pairs, or 500 with
FAIRMILL_LONG=1.  FAIRMILL_PAIRS=N sets another number, and FAIRMILL_SEED=N selects site N."""

import datetime
import json
import math
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import demonstration
import reference
import tap
from place import NOW, Place
from reference import PARENT
from site_drawing import Site, USE_AT

ALGORITHMS = ('fair_tree', 'classic', 'linear', 'depth_oblivious', 'pbs')
CAPACITY = 1000

# Two equal accounts whose users form one list, ties of all kinds, and an account with `parent`
# shares.
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


def random_tree(r, cluster, start):
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
            begin = start()
            cluster.job(user, begin, begin + 1, billing=use)


def tied_tree(r, cluster, start):
    """Makes tied accounts whose users are not tied, and a user on the accounts' level who ties with
    them."""
    begin = start()

    def use(user, amount):
        if amount:
            cluster.job(user, begin, begin + 1, billing=amount)
    uses = r.choice(([1, 2, 3], [0, 2, 4], [2, 2, 2], [0, 0, 6], [0, 0, 0]))
    for i in range(4):
        scale = r.choice((1, 1, 2))
        cluster.account(f'a{i}', 'root', r.choice((scale, scale, scale, 0)))
        for j, amount in enumerate(r.sample(uses, 3)):
            if r.random() < .25:
                cluster.account(f'b{i}{j}', f'a{i}', 1)
                use(cluster.user(f'u{i}{j}', f'b{i}{j}'), amount * scale)
            else:
                use(cluster.user(f'u{i}{j}', f'a{i}', r.choice((1, 1, 1, 2, PARENT))), amount * scale)
    use(cluster.user('lone', 'root'), sum(uses))


def random_site(seed):
    r = random.Random(seed)
    site = Site()
    cluster = site.cluster('c')
    cluster.account('root', '')
    make = tied_tree if seed % 3 == 0 else random_tree
    make(r, cluster, lambda: USE_AT - r.choice((0, 0, 86400, 40 * 86400)))
    settings = dict(now=USE_AT + 7200, half_life=r.choice((0, 0, 0, 7 * 86400)),
                    algorithm=ALGORITHMS[seed % 5] if seed % 2 else 'fair_tree',
                    dampening=r.choice((1, 1, 3)), capacity=CAPACITY, pbs_minimum_usage=0,
                    conformance='slurmctld' if seed % 4 == 3 else 'documents')
    if not settings['half_life']:
        settings['pbs_minimum_usage'] = r.choice((0, 1))
    return r, site, settings


class World:
    """The site as the reference implementation reads it, which can be changed and ranked again."""

    def __init__(self, path, settings):
        db = reference.sqlite3.connect(path)
        self.settings = dict(reference.DEFAULTS, **settings)
        self.root, self.nodes, heirs = reference.read_tree(db, 'c')
        self.clock = reference.Clock(settings['half_life'], settings['now'])
        self.first = reference.add_usage(db, 'c', self.root, heirs, self.clock, self.settings)[0]
        db.close()
        self.unit = 1 / self.clock.usage(1)  # the decayed sum of one TRES-second
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
        """Returns the possible orders: 1 if `one` ranks higher, -1, 0, or None if there is no
        order.

        The set has more than one element if rounding in the last digit decides."""
        rows = self.ranked()
        if self.settings['algorithm'] != 'fair_tree':
            a, b = rows[one]['fairshare'], rows[other]['fairshare']
            if None in (a, b):
                return {None}
            if reference.UNDEFINED in (a, b):
                return {None, -1, 0, 1}
            if abs(a - b) <= 1e-12 * max(a, b):
                return {-1, 0, 1}
            return {1 if a > b else -1}
        a, b = self.below[one], self.below[other]
        if not a or not b:
            return {None}
        return {1 if min(a) > max(b) else -1 if max(a) < min(b) else 0}

    def after(self, turn, amount, one, other):
        """Returns compare() after the change by `amount`, and restores all values."""
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


def full_name(node):
    return '/'.join(filter(None, (node.account, node.user or '', node.partition))) + \
        ('' if node.user else '/')


def check_turn(world, turn, behind, ahead):
    """Returns an error if a change is wrong, or None."""
    amount, most = turn['amount'], world.most(turn)
    if amount is None:
        probes = {most} | {2 ** i for i in range(62)} | {most // 3, most // 7}
        tries = sorted(n for n in probes if 1 <= n <= most)
        for probe in tries[-2:] + tries[::9]:
            if world.after(turn, probe, behind, ahead) == {1}:
                return f'{turn}: {probe} is enough'
        return None
    if 1 not in world.after(turn, amount, behind, ahead):
        return f'{turn}: the order is not reversed'
    if amount > 1 and world.after(turn, amount - 1, behind, ahead) == {1}:
        return f'{turn}: a smaller amount is enough'
    return None if 1 <= amount <= most else f'{turn}: the amount is above {most}'


def try_pair(place, world, one, other, counts):
    """Returns the errors in the answer for two associations."""
    names = full_name(one), full_name(other)
    place.succeed('explain', '--json', '--', *names)
    told = json.loads(place.out)['clusters'][0]['comparison']
    order = {'ahead': 1, 'behind': -1, 'tied': 0, 'none': None}[told['order']]
    wrong = []
    if order not in world.compare(one.id, other.id):
        wrong.append(f"the order is '{told['order']}'")
    behind, ahead = told['behind']['id_assoc'], told['ahead']['id_assoc']
    if (behind, ahead) != ((other.id, one.id) if order == 1 else (one.id, other.id)):
        wrong.append('the order of the two names is wrong')
    if is_above(world.nodes[told['ancestor']['id_assoc']], one) + \
            is_above(world.nodes[told['ancestor']['id_assoc']], other) != 2:
        wrong.append('the ancestor is not above both')
    place.succeed('explain', '--', *names)
    for turn in told['turns']:
        counts[turn['change'], turn['amount'] is not None] = \
            counts.get((turn['change'], turn['amount'] is not None), 0) + 1
        wrong.append(check_turn(world, turn, behind, ahead))
        if turn['amount'] and not re.search(rf"\b{turn['amount']} (more|fewer|TRES-second)",
                                            place.out):
            wrong.append(f'{turn} is not in the text')
    counts[told['order']] = counts.get(told['order'], 0) + 1
    counts['merged'] = counts.get('merged', 0) + (told['merged'] > 0)
    return [f'{names}: {what}' for what in wrong if what]


def random_pairs(place):
    wanted = int(os.environ.get('FAIRMILL_PAIRS', 500 if os.environ.get('FAIRMILL_LONG') == '1' else 200))
    only = os.environ.get('FAIRMILL_SEED')
    counts, wrong, asked, seed = {}, [], 0, int(only or 0)
    while asked < wanted:
        r, site, settings = random_site(seed)
        for name in ('a.db', 'r.db', 'r.db-wal', 'r.db-shm'):
            if os.path.exists(place.path(name)):
                os.unlink(place.path(name))
        site.write(place.path('a.db'))
        keys = {f'fairshare.{key}': settings[key]
                for key in ('algorithm', 'conformance', 'dampening', 'capacity', 'pbs_minimum_usage')}
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
    tap.ok(not wrong, f'the answers for {asked} random pairs equal the reference',
           *wrong[:20])
    if wanted >= 200 and not only:
        least = wanted // 50
        few = [key for key in ('ahead', 'behind', 'tied', 'merged') if counts.get(key, 0) < least]
        few += [key for change in ('more_shares', 'fewer_shares', 'more_usage', 'less_usage')
                for key in ((change, True), (change, False)) if counts.get(key, 0) < least]
        tap.ok(not few, 'the random pairs have all kinds of answers', counts)



# ---- output ----

def explained(place, *arguments):
    place.succeed('explain', '--', *arguments)
    return place.out


def cells(text):
    """Returns the table as [(depth, name, {heading: cell})].  Parts of a wide table are joined."""
    rows, names = {}, []
    for part in text.split('\n\n')[1:]:
        lines = part.splitlines()
        if not lines[0].startswith(' '):
            break
        ends = {m.group(): m.end() for m in re.finditer(r'\S+', lines[0])}
        names = [re.match(r'( *)(\S+)', line).groups() for line in lines[1:]]
        for i, line in enumerate(lines[1:]):
            width = len(''.join(names[i]))
            for heading, end in ends.items():
                if width < end <= len(line) and line[end - 1] != ' ':
                    rows.setdefault(i, {})[heading] = line[:end].split()[-1]
    return [(len(indent), name, rows[i]) for i, (indent, name) in enumerate(names)]


def number(cell):
    """Returns the value of a printed number or fraction."""
    if '/' in cell:
        return number(cell.split('/')[0]) / number(cell.split('/')[1])
    return float(cell)


def near(cell, value, relative):
    return float(cell) == value or abs(float(cell) - value) <= relative * abs(value)


def check_fair_tree(row, _above, _root):
    if 'U' in row and number(row['Usage'].split('/')[1]):
        # The last of eight printed digits may be rounded up or down if it is a 5.
        yield any('%.*g' % (digits, float(row['U'])) == '%.*g' % (digits, number(row['Usage'])) for digits in (7, 8)) or \
            near(row['U'], number(row['Usage']), 1e-14)
    if 'S' in row:
        yield '%.7g' % float(row['S']) == '%.7g' % number(row['Shares'])
    if float(row.get('U', 0)):
        yield float('%.6g' % (float(row['S']) / float(row['U']))) == float(row['LevelFS']) \
            if 'LevelFS' in row else True


def check_effective(share, effective, own, factor):
    def check(row, above, root):
        if not above:
            return
        part = number(row['Shares']) if row['Shares'] != 'parent' else None
        if part is not None:
            yield near(row[share], float(above[share]) * part, 1e-6)
        if own:
            yield near(row[own], number(row['Usage']) / number(root['Usage']), 1e-6)
        mine = float(row[own or 'UA'])
        top = above is root
        yield near(row[effective], mine if top else mine + (float(above[effective]) - mine) * part
                   if part is not None else float(above[effective]), 1e-6)
        yield near(row['F'], factor(float(row[effective]), float(row[share])), 1e-5)
    return check


def check_oblivious(row, above, root):
    if not above:
        return
    ratio = number(row['Usage']) / number(row['Shares'])
    if above is root:
        yield near(row['R'], ratio, 1e-5)
    else:
        yield near(row['rl'], ratio, 1e-5)
        over, local = float(above['R']), float(row['rl'])
        k = 1 if (over - 1) * (local - 1) >= 0 else 1 / (1 + (5 * math.log(over)) ** 2)
        yield near(row['k'], k, 1e-4)
        yield near(row['R'], over * local ** float(row['k']), 1e-5)
    yield near(row['F'], 2 ** -(float(row['R']) / 2), 1e-5)


CHECKS = dict(
    fair_tree=check_fair_tree,
    classic=check_effective('S', 'UE', 'UA', lambda usage, share: 2 ** -(usage / share / 2)),
    linear=check_effective('S', 'UE', '', lambda usage, share: (share - usage + 1) / 2),
    depth_oblivious=check_oblivious,
    pbs=check_effective('Target', 'TreeUsage', 'U', lambda usage, share: 2 ** -(usage / share)))


def demo(place):
    demonstration.make(place)
    for algorithm, check in CHECKS.items():
        place.settings({'source.database': place.path(demonstration.ACCOUNTING),
                        'results.database': place.path('demo-r.db'), 'usage.half_life': '7-0',
                        'usage.time_zone': 'UTC', 'fairshare.algorithm': algorithm,
                        'fairshare.dampening': 2, 'fairshare.capacity': 2000})
        place.succeed('init')
        place.succeed('run', '--now', NOW, '--replace')
        users = place._query("demo-r.db", "SELECT account || '/' || user_name FROM fairmill_fairshare "
                            "WHERE user_name NOT IN ('', 'vikram', 'nikos') AND account <> 'teaching' "
                            'ORDER BY id_assoc')
        checked, wrong, wide = 0, [], []
        for (one,), (other,) in zip(users[::4], users[5::4]):
            text = explained(place, one, other)
            wide += [line for line in text.splitlines() if len(line) > 80]
            way = {}
            for depth, name, row in cells(text):
                way[depth] = row
                held = list(check(row, way.get(depth - 1) if depth else None, way[0]))
                checked += len(held)
                if not all(held):
                    wrong.append(f'{name}: {row} below {way.get(depth - 1)}: {held}')
        tap.ok(checked > 100 and not wrong,
               f'{algorithm}: the numbers of each row match each other', checked, *wrong[:5])
        tap.ok(not wide, f'{algorithm}: no line is wider than 80 columns', *wide[:5])
        golden(f'{algorithm}.txt', explained(place, 'chidi', 'lars') +
               explained(place, 'science'))
        if algorithm == 'fair_tree':
            golden('fair_tree.json', json.dumps(json.loads(
                (place.succeed('explain', '--json', 'irina', 'mona'), place.out)[1]), indent=1) + '\n')


def golden(name, got):
    demonstration.is_as_known(got, 'explain', name, f'explain prints t/data/explain/{name} for the demonstration')


def says(place, statement, names, *sentences):
    text = ' '.join(explained(place, *names).split())
    tap.ok(all(sentence in text for sentence in sentences), statement, sentences, text)


def sentences(place):
    place.ready(DRAWING)
    place.succeed('run', '--now', NOW)
    says(place, 'explain treats tied accounts as one list', ('ann', 'cid'),
         "account 'left' and account 'right' are tied, so that their members form one list",
         "'ann' would rank higher")
    says(place, 'users without usage are tied', ('eve', 'fay'), "are tied: place",
         'tied users share a place', "1 TRES-second (0.000277778 TRES-hours) more usage of 'fay'")
    says(place, 'a user without shares ranks last', ('gil', 'eve'), "'gil' has no shares and ranks last (LevelFS 0)",
         'Not sufficient in any amount: ')
    says(place, 'less usage does not help a user whose account has no shares', ('hal', 'ann'),
         "account 'none' has no shares and ranks last", 'Not sufficient in any amount: ')
    says(place, 'users with `parent` shares rank with users without usage', ('ivo', 'joy'),
         "'joy' has `parent` shares and ranks like a member without usage")
    says(place, 'an account without users has no rank', ('empty', 'left'),
         "Account 'empty' does not contain users, and Fair Tree ranks only users.")
    says(place, 'an account with `parent` shares has no value of its own', ('through', 'left'),
         "Account 'through' has `parent` shares: the users below it are ranked as members of account 'root'.")
    says(place, 'one name is explained from the root down', ('ann',),
         'ann is at place 8 of 12. 6 of the 7 users ahead come first because they or their groups have used even less of their '
         'shares than left (0.72 times).', 'Fairshare = (12 + 1 - place) / 12 = 0.416667 Users ahead on each level: - 6: left has '
         'used 0.72 times its share of the cluster - 1: ann has used 2.25 times their share of left')
    says(place, 'an account is explained by its usage and the places of its users', ('left',),
         "left has used 0.72 times its share: 16.3 % of the cluster's recent usage for a share of 22.7 %. "
         'Its 2 users are at places 5 to 8 of 12. Shares', 'Position on each level: - 4 of 9: left has used 0.72 times')
    for names, what, text in (
            (('pair', 'ann'), 'an ambiguous first name', "'pair' is ambiguous: it may be 'root/pair/gpu', 'root/pair'"),
            (('ann', 'pair'), 'an ambiguous second name', "'pair' is ambiguous: it may be 'root/pair/gpu', 'root/pair'"),
            (('nobody',), 'an unknown name', "there is no user or account 'nobody'"),
            (('left', 'ann'), 'an ancestor as first name', "'left' is above 'ann'"),
            (('ann', 'left'), 'an ancestor as second name', "'ann' is below 'left'"),
            (('ann', 'ann'), 'the same name twice', "'ann' is the same as 'ann'"),
            (('ann', '-u', 'bea'), 'a name with --users', 'cannot be combined with --users'),
            (('ann', 'bea', 'cid'), 'a third name', "unexpected argument 'cid'")):
        place.ends(64, f'{what} is rejected', 'explain', *names)
        place.says(f'the error for {what} has the reason', text)
    says(place, 'a full name selects one association', ('root/pair/gpu', 'root/pair'), 'in partition')


def other_ways_to_name(place):
    place.ready('cluster tiny\nroot/\n  a/ 1\n    daemon 1 use 3\n    bea 1\n  b/ 1\n    bea 1\n')
    place.succeed('run', '--now', NOW)
    for command in ('explain', 'history'):
        for options, name in ((('-u', 'daemon'), 'daemon'), (('-A', 'a'), 'a/'), (('-A', 'a', '-u', 'bea'), 'a/bea')):
            wanted = (place.succeed(command, name), place.out)[1]
            place.succeed(command, *options)
            tap.same(place.out, wanted, f"{command} {' '.join(options)} explains {name}")
    wanted = (place.succeed('explain', 'daemon'), place.out)[1]
    try:
        with open('/proc/self/loginuid', encoding='ascii') as file:
            audited = int(file.read()) < 2 ** 32 - 1
    except OSError:
        audited = False
    if not audited:
        place.succeed('explain', env={k: v for k, v in os.environ.items() if k != 'FAIRMILL_CONF'} | {'SUDO_USER': 'daemon'})
        tap.same(place.out, wanted, 'explain without a name explains the user who calls it')
        # This also holds for the name of an account: the page of account root is not the page of
        # user root.
        status = place.run('explain', env={k: v for k, v in os.environ.items() if k != 'FAIRMILL_CONF'} | {'SUDO_USER': 'root'})
        tap.same((status, place.err.splitlines()[-1]), (64, "fairmill: user 'root' has no association; name a user or account"),
                 'explain without a name fails if the user has no association')


def each_account(place):
    """A user has one answer for each association."""
    place.ready(DRAWING)
    place.succeed('run', '--now', NOW)
    page = explained(place, 'pair')
    tap.ok(page.count('Cluster tiny') == 2 and page.count("User 'pair' of account 'root'") == 2 and page.count('in partition') == 1,
           'a user with two partitions has an answer for each', page)
    place.ready('cluster tiny\nroot/\n  a/ 3\n    ann 3 use 5\n    bea 1 use 5\n  b/ 7\n    ann 1 use 300\n  bea/ 1\n    cid 1\n')
    place.succeed('run', '--now', NOW)
    page = explained(place, 'ann')
    tap.ok(page.index("of account 'a'") < page.index("of account 'b'") and page.count('Cluster tiny') == 2,
           'a user with two accounts has an answer for each',
           page)
    for options in ([], ['--jobs']):
        place.succeed('explain', 'ann', '--json', *options)
        told = json.loads(place.out)['clusters']
        tap.same([cluster['cluster'] for cluster in told], ['tiny', 'tiny'], f'JSON has an answer for each account {options}')
        place.succeed('explain', 'ann', '--csv', *options)
        tap.ok(place.out.count('cluster,') == 1, f'CSV has the answers in one table {options}', place.out)
    place.ends(64, 'a name of both an account and a user is ambiguous', 'explain', 'bea')
    place.says('the error for the ambiguous name proposes both names', "'bea' is ambiguous: it may be")
    place.succeed('forecast', 'ann', '--now', NOW, '--json')
    tap.same([(cluster['account'], len(cluster['points']) > 9) for cluster in json.loads(place.out)['clusters']], [('a', True), ('b', True)],
             'forecast --json has each account of a user')
    place.succeed('forecast', 'ann', '--now', NOW)
    tap.ok(place.out.count("User 'ann' of account") == 2, 'forecast prints each account of a user', place.out)
    place.ends(64, 'forecast rejects a name of both an account and a user', 'forecast', 'bea')


def ties(place):
    """Tests the answers for tied users."""
    # Calculated by hand: T = 900.  Usage 0 of 3 / 30 or of 7 / 30 adds nothing to the account's
    # value.
    place.ready('cluster tiny\nroot/\n  a/ 3\n    idle3 3\n    idle7 7\n    busy 20 use 600\n  b/ 7\n    other 1 use 300\n',
                {'fairshare.algorithm': 'classic'})
    place.succeed('run', '--now', NOW)
    says(place, 'idle users of one account are tied, whatever their shares', ('idle3', 'idle7'), 'are tied: fairshare')
    told, _, futile = ' '.join(explained(place, 'idle3', 'idle7').split()).partition('Not sufficient in any amount: ')
    tap.ok("more shares of 'idle3'" in futile and 'more shares of' not in told,
           'no number of shares changes the order of idle users', told, futile)
    place.succeed('whatif', '--json', '--shares', 'idle7=9')
    changed = {row['username']: row for row in json.loads(place.out)['clusters'][0]['associations']}
    tap.ok(all(row['fairshare_after'] == row['fairshare_before'] and row['rank_after'] == row['rank_before']
               for name, row in changed.items() if name in ('idle3', 'idle7', 'other')),
           'whatif does not change the order of idle users', changed)
    # Account a is idle like b, but is visited first because of its lineage.  User w ties with v,
    # the last user before it.
    place.ready('cluster tiny\nroot/\n  a/ 1\n    u 1 use 5\n    v 0\n  b/ 1\n    w 1\n',
                {'fairshare.conformance': 'slurmctld'})
    place.succeed('run', '--now', NOW)
    says(place, 'slurmctld visits tied accounts in the order of lineage, also after a change', ('u', 'w'),
         "5 TRES-seconds (0.00138889 TRES-hours) less usage of 'u'")


def forms(place):
    """Tests rows for the associations on both paths, and with --jobs for the job records."""
    place.succeed('explain', '--json', 'ann', 'cid')
    wanted = [(row['path'], row['account'], row['username'], str(row['shares'] or ''))
              for row in json.loads(place.out)['clusters'][0]['associations']]
    tap.same(wanted, [('a', 'root', '', ''), ('a', 'left', '', '10'), ('a', 'left', 'ann', '1'),
                      ('b', 'root', '', ''), ('b', 'right', '', '20'), ('b', 'right', 'cid', '1')],
             'JSON has rows for both paths')
    for option, separator, names in (('--csv', ',', ('path', 'account', 'username', 'shares')),
                                     ('--parsable', '|', ('Path', 'Account', 'User', 'Shares'))):
        place.succeed('explain', option, 'ann', 'cid')
        lines = [line.split(separator) for line in place.out.splitlines()]
        columns = [lines[0].index(name) for name in names]
        tap.same([tuple(line[column] for column in columns) for line in lines[1:]], wanted,
                 f'{option} has rows for both paths')
    place.succeed('explain', '-n', '-o', 'username,level_fs', 'ann')
    tap.same(place.out.split()[-2:], ['ann', '0.444444'], 'columns can be selected for text output')
    place.ends(64, 'an unknown column is rejected', 'explain', '-o', 'nothing', 'ann')
    place.succeed('explain', '--jobs', '--csv', '-o', 'username,used', 'left')
    tap.same(place.out.splitlines(), ['username,used', 'ann,30', 'bea,10'], '--jobs prints job records')


def all_usage_taken(place):
    """If an account had no usage, its user would keep theirs."""
    for conformance in ('documents', 'slurmctld'):
        for algorithm in ALGORITHMS:
            place.ready('cluster tiny\nroot/\n  idle 1\n  a/ 1\n    u 1 use 5\n',
                        {'fairshare.conformance': conformance, 'fairshare.algorithm': algorithm,
                         'fairshare.capacity': CAPACITY})
            place.succeed('run', '--now', NOW)
            place.ends(0, f'a user with all usage can be explained ({algorithm}, {conformance})',
                       'explain', 'u', 'idle')


def reader(place):
    """Tests a user who can only read the results."""
    os.rename(place.path('a.db'), place.path('hidden.db'))
    with open(place.path('reader.conf'), 'w', encoding='utf-8') as file:
        file.write(f"[results]\ndriver = sqlite\ndatabase = {place.path('r.db')}\n")
    place.ends(0, 'reader.conf is sufficient for explain', 'explain', 'ann', 'cid', settings='reader.conf')
    os.rename(place.path('hidden.db'), place.path('a.db'))


def days_of_readers(place, now):
    """Compares the days from the results, for users who cannot read jobs, with the days from the
    jobs.

    Days before a reset must not count."""
    def told(*keys):
        place.settings(dict(keys))
        place.succeed('run', '--now', now, '--replace')
        answers = []
        for settings in ('fm.conf', 'missing.conf'):  # reader.conf is next to missing.conf
            place.succeed('explain', '--jobs', '--json', 'bea', settings=settings)
            cluster = json.loads(place.out)['clusters'][0]
            answers.append([(day['day'], day['left']) for day in cluster['days']])
        usage = json.loads(place.out)['clusters'][0]['associations'][-1]['usage_raw']
        return *answers, usage
    for keys in (('usage.half_life', '0'), ('usage.reset_period', 'weekly')), (('usage.half_life', '7-0'), ('usage.reset_period', 'weekly')):
        whole, read, usage = told(*keys)
        tap.ok(len(whole) == len(read) < 8 and [day for day, _ in whole] == [day for day, _ in read]
               and all(abs(one - other) < 2e-2 * one for (_, one), (_, other) in zip(whole, read))
               and abs(sum(left for _, left in read) - usage) < 2e-2 * usage, f'days before a weekly reset do not count: {keys}',
               whole, read, usage)
    at = now - 3 * 86400 - 6 * 3600
    place.settings({'usage.half_life': '0'})
    place.succeed('ledger', 'reset', '-u', 'bea', '--at', at, '--why', 'a test', '--yes', '--now', now)
    whole, read, usage = told(('usage.half_life', '0'))
    tap.ok(read and read[-1:] and min(day for day, _ in read) <= at and min(day for day, _ in read) > at - 86400,
           'days before a reset in the ledger do not count', whole, read, usage)


def jobs(place):
    """Compares the jobs and days with the reference's charges, including suspended jobs."""
    r = random.Random(5)
    site = Site()
    cluster = site.cluster('c')
    cluster.account('root', '')
    cluster.account('a', 'root')
    users = [cluster.user(name, 'a') for name in ('ann', 'bea')] + [cluster.user('cid', 'root')]
    now, week = USE_AT + 30 * 86400, 7 * 86400
    for number in range(300):
        start = now - r.randrange(1, 6 * week)
        length = r.choice((60, 3600, 86400))
        job = cluster.job(r.choice(users), start, start + length if start + length < now else 0,
                          billing=r.randrange(1, 50))
        for begin in {start + r.randrange(0, length) for _ in range(r.choice((0, 0, 1, 3)))}:
            cluster.suspend(job, begin, begin + r.randrange(1, length))
    cluster.job(users[1], now - 2 * 86400, now + 3650 * 86400, billing=60)  # still running
    for name in ('a.db', 'r.db', 'r.db-wal', 'r.db-shm'):
        if os.path.exists(place.path(name)):
            os.unlink(place.path(name))
    site.write(place.path('a.db'))
    clock = reference.Clock(week, now)
    for suspended in ('charged', 'omitted'):
        place.settings({'usage.half_life': '7-0', 'usage.suspended': suspended})
        place.succeed('init')
        place.succeed('run', '--now', now, '--replace')
        for name, ids in (('a', users[:2]), ('bea', users[1:2])):
            wanted, days = [], {}
            for number, job in enumerate(cluster.jobs, 1):
                if job['id_assoc'] not in ids:
                    continue
                pauses = [(a, b) for j, a, b in cluster.suspends if j is job] \
                    if suspended == 'omitted' else []
                end = min(job['time_end'] or now, now)
                parts = list(reference.without(job['time_start'], end, pauses))
                units = reference.UNIT * reference.tres_count(job['tres_alloc'], 5)
                wanted.append((clock.usage(units * sum(clock.at(b) - clock.at(a) for a, b in parts)),
                               units // reference.UNIT * sum(b - a for a, b in parts), number))
                for a, b in parts:
                    while a < b:
                        day = datetime.datetime.fromtimestamp(a).replace(hour=0, minute=0, second=0)
                        first, end = int(day.timestamp()), min(b, int((day + datetime.timedelta(1)).timestamp()))
                        used, left = days.get(first, (0, 0))
                        days[first] = (used + units // reference.UNIT * (end - a),
                                       left + units * (clock.at(end) - clock.at(a)))
                        a = end
            wanted.sort(key=lambda item: (-item[0], item[2]))
            place.succeed('explain', '--jobs', '--json', name)
            told = json.loads(place.out)['clusters'][0]
            ends = [job['time_end'] for job in cluster.jobs]
            tap.same([(job['id_job'], job['time_end'], job['used'], job['left']) for job in told['jobs']],
                     [(number, ends[number - 1] if 0 < ends[number - 1] <= now else None, float(used), float(left))
                      for left, used, number in wanted[:10]],
                     f"explain has the ten largest jobs of '{name}' (suspended = {suspended})")
            heavy = sorted(days.items(), key=lambda day: (-day[1][1], -day[0]))[:10]
            tap.same([(day['day'], day['used'], day['left']) for day in told['days']],
                     [(first, float(used), float(clock.usage(left))) for first, (used, left) in heavy],
                     f"explain has the ten largest days of '{name}' (suspended = {suspended})")
            tap.ok(told['jobs_left'] == told['associations'][-1]['usage_raw'] and
                   told['job_records'] == len([w for w in wanted]),
                   f"the jobs of '{name}' have all remaining usage (suspended = {suspended})")
            place.succeed('explain', '--jobs', name)
            tap.ok(re.search(f'\nThe largest of {len(days)} days:\n *Day ', place.out) and max(map(len, place.out.split('\n'))) <= 80,
                   f"jobs and days of '{name}' fit into 80 columns (suspended = {suspended})", place.out)
    days_of_readers(place, now)
    place.ends(78, '--jobs fails if the settings have no accounting database', 'explain', '--jobs', 'bea',
               settings='reader.conf')


def own_values(place):
    """Tests the sentence that Slurm's values differ."""
    note = 'Slurm schedules by its own values unless'
    with open(place.path('slurm.conf'), 'w') as file:
        file.write('PriorityType=priority/multifactor\nPriorityDecayHalfLife=7-0\n')
    same = {'slurm.conf': place.path('slurm.conf'), 'usage.half_life': None, 'fairshare.conformance': 'slurmctld'}
    for keys, differs, what in ((same, False, "with slurm.conf's settings and slurmctld's rules"),
                                (same | {'fairshare.conformance': 'documents'}, True, "with the documents' rules"),
                                (same | {'fairshare.algorithm': 'linear', 'fairshare.capacity': 1000}, True, 'with another algorithm'),
                                ({'fairshare.conformance': 'slurmctld'}, True, 'without slurm.conf')):
        place.ready(DRAWING, keys)
        place.succeed('run', '--now', NOW)
        for names in (['ann'], ['ann', 'cid']):
            place.succeed('explain', *names)
            tap.same(place.out.count(note), int(differs), f"{what}, `explain {' '.join(names)}` says {'once' if differs else 'not'} that Slurm's values differ")
    place.ready(DRAWING, same)
    place.succeed('ledger', 'credit', 5, '-u', 'ann', '-A', 'left', '--why', 'test', '--yes')
    place.succeed('run', '--now', NOW)
    place.succeed('explain', 'ann')
    tap.ok(note in place.out, "with a ledger entry, explain says that Slurm's values differ", place.out)
    place.succeed('explain', 'ann', '--csv')
    tap.ok(note not in place.out, 'CSV has no sentence', place.out)


def body():
    os.environ['TZ'] = 'UTC'
    with Place() as place:
        for part in (demo, own_values, all_usage_taken, sentences, forms, reader, jobs, ties, other_ways_to_name, each_account, random_pairs):
            part(place)


tap.main(body)
