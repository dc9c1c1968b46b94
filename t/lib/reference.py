# SPDX-License-Identifier: MIT
"""Computes the values of fairmill independently, in Python's integers and fractions.

It is slow and short on purpose.  It shares no code with the program, and computes every
value from its definition, not in the way of the program.
`expected(path, cluster, settings)` reads an accounting database in slurmdbd's
layout from SQLite and returns {id_assoc: {column: value}}.  A value that the
definitions leave open is UNDEFINED.
"""

import datetime
import math
import re
import sqlite3
import zoneinfo
from decimal import Decimal, Context, ROUND_HALF_EVEN
from fractions import Fraction

PARENT = 2147483647
NO_LIMIT = {0, 0xfffffffe, 0xffffffff}
SKEW = 300
UNIT = 10 ** 6 * 2 ** 20
INFINITE = 1e100
UNDEFINED = object()

DEFAULTS = dict(
    now=None, half_life=7 * 86400, reset_period='none', reset_anchor=0, time_zone='UTC',
    charge='billing', tres_weights='', qos_factors={}, partition_usage_factors={},
    suspended='charged', open_job_cap=86400, horizon=None, algorithm='fair_tree', conformance='documents',
    dampening=Fraction(1), capacity=None, capacity_half_lives=Fraction(2),
    # by QOS: [(since, factor)], the oldest first
    pbs_minimum_usage=Fraction(0), ledger=(), factor_spans={})

_context = Context(prec=150, rounding=ROUND_HALF_EVEN, Emax=10 ** 9, Emin=-10 ** 9)
_LN2 = _context.ln(Decimal(2))


def _power_of_two(numerator, denominator):
    """Returns 2^(numerator/denominator) to 150 digits."""
    return _context.exp(_context.divide(_context.multiply(_LN2, Decimal(numerator)),
                                        Decimal(denominator)))


# ---- the decay table ----

_within = {}  # by half-life


class Clock:
    """Q(t): the integral of the decay up to t, as an integer."""

    def __init__(self, half_life, now):
        self.half_life, self.now = half_life, now
        if half_life == 0:
            self.earliest = 0
            return
        self.epoch = max(0, 8 * (now // half_life // 8) - 56)
        self.earliest = self.epoch * half_life
        self.mean = _context.divide(Decimal(half_life), _LN2)
        self.scale = 61 - _floor_log2(self.mean)
        self.table = _within.setdefault(half_life, {})

    def within(self, f):
        """Returns R(f), rounded to nearest.  There are no ties, because only whole values are
        rational."""
        if f not in self.table:
            exact = _context.multiply(
                _context.multiply(Decimal(2) ** self.scale if self.scale >= 0
                                  else _context.divide(Decimal(1), Decimal(2 ** -self.scale)),
                                  self.mean),
                _power_of_two(f, self.half_life))
            value = int(exact.to_integral_value(rounding=ROUND_HALF_EVEN, context=_context))
            assert 2 ** 61 <= value < 2 ** 63
            self.table[f] = value
        return self.table[f]

    def at(self, t):
        if self.half_life == 0:
            return t
        return self.within(t % self.half_life) << (t // self.half_life - self.epoch)

    def slope(self, t):
        """Returns the growth of at() per second at a time."""
        if self.half_life == 0:
            return 1
        return int(_context.divide(_context.multiply(Decimal(self.at(t)), _LN2), Decimal(self.half_life)))

    def usage(self, total):
        """Returns the decayed TRES-seconds of a sum of charges, exact to more than 100 digits."""
        if self.half_life == 0:
            return Fraction(total, UNIT)
        age = self.scale + self.now // self.half_life - self.epoch
        below = Fraction(_power_of_two(self.now % self.half_life, self.half_life))
        return Fraction(total) / (UNIT * below * Fraction(2) ** age)


def _floor_log2(value):
    power = 0
    while Decimal(2) ** (power + 1) <= value:
        power += 1
    while power > -1000 and (Decimal(2) ** power if power >= 0
                             else Decimal(1) / 2 ** -power) > value:
        power -= 1
    return power


# ---- the ledger ----

def counting(ledger, now):
    """Returns the entries that count: dated up to now, and not undone by an entry that is not
    undone itself."""
    undone = set()
    for entry in sorted(ledger, key=lambda entry: -entry['id']):
        if entry['kind'] == 'undo' and entry['id'] not in undone:
            undone.add(entry['undoes'])
    return [entry for entry in ledger if entry['id'] not in undone and entry['instant'] <= now]


class Corrections:
    """The effects of the entries that count."""

    def __init__(self, settings):
        self.entries = counting(settings['ledger'], settings['now'])
        self.resets, self.refunds = {}, {}
        for entry in self.entries:
            if entry['kind'] in ('reset', 'set'):
                for number in entry['associations'] or ():
                    self.resets[number] = max(self.resets.get(number, 0), entry['instant'])
            elif entry['kind'] == 'refund':
                self.refunds[entry['id_job']] = max(self.refunds.get(entry['id_job'], 0), entry['instant'])

    def refunded(self, job):
        return max(job['time_start'], job['time_submit']) <= self.refunds.get(job['id_job'], -1)

    def is_last(self, entry):
        """Returns whether no later reset covers the set, or one for the same time that was entered
        later."""
        return not any((other['instant'], other['id']) > (entry['instant'], entry['id']) for other in self.entries
                       if other['kind'] in ('reset', 'set') and (other['associations'] is None or entry['id_assoc'] in other['associations']))

    def adjustments(self, clock, boundary):
        """Yields (association, sum, whether it is set) for each credit, debit and set."""
        for entry in self.entries:
            if entry['kind'] == 'set' and self.is_last(entry) and max(clock.earliest, boundary or 0) <= entry['instant']:
                yield entry['id_assoc'], entry['tres_seconds'] * UNIT * clock.slope(entry['instant']), True
            if entry['kind'] not in ('credit', 'debit'):
                continue
            end, number = entry['instant'], entry['id_assoc']
            begin = max(end - 1, clock.earliest, boundary or 0, self.resets.get(number, 0))
            if begin < end:
                amount = entry['tres_seconds'] * UNIT * (clock.at(end) - clock.at(begin))
                yield number, amount if entry['kind'] == 'debit' else -amount, False


def reset_boundary(settings):
    """Returns the last boundary of the period or reset of the whole cluster up to now, or None."""
    resets = [entry['instant'] for entry in counting(settings['ledger'], settings['now'])
              if entry['kind'] == 'reset' and entry['associations'] is None]
    periodic = periodic_boundary(settings)
    return max(resets + [periodic or 0]) if resets else periodic


def periodic_boundary(settings):
    now, period = settings['now'], settings['reset_period']
    if period == 'none':
        return None
    if isinstance(period, int):
        return settings['reset_anchor'] + (now - settings['reset_anchor']) // period * period
    zone = zoneinfo.ZoneInfo(settings['time_zone'])
    day = datetime.datetime.fromtimestamp(now, zone).date()
    if period == 'weekly':
        day -= datetime.timedelta(days=(day.weekday() + 1) % 7)
    elif period == 'monthly':
        day = day.replace(day=1)
    elif period == 'quarterly':
        day = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    elif period == 'yearly':
        day = day.replace(month=1, day=1)
    elif period != 'daily':
        raise ValueError(period)
    midnight = datetime.datetime(day.year, day.month, day.day, tzinfo=zone)
    return int(midnight.timestamp())


# ---- usage ----

def tres_count(text, wanted):
    """Returns the count of one TRES in '1=4,5=9', or None if it is missing.  Raises ValueError if
    it is not a count."""
    for item in (text or '').split(','):
        key, _, value = item.partition('=')
        if key == str(wanted):
            if not value.isdigit() or not value.isascii() or int(value) >= 2 ** 64 - 2:
                raise ValueError(item)
            return int(value)
    return None


def read_weights(text, tres):
    """Returns 'MAX_TRES, CPU=1, Mem=0.25G' as (rule, {id: (type, weight)}); tres: {(type, name):
    id}."""
    rule, weights = 'SUM', {}
    for item in text.split(','):
        name, _, weight = (part.strip() for part in item.partition('='))
        kind, _, name = name.lower().partition('/')
        if weight == '':
            assert kind in ('max_tres', 'max_tres_gres', ''), item
            rule = max(rule, kind.upper(), key=('', 'SUM', 'MAX_TRES', 'MAX_TRES_GRES').index)
            continue
        power = 'KMGTP'.find(weight[-1].upper()) + 1
        if power:
            weight = weight[:-1]
            power = max(0, power - 2) if kind in ('mem', 'bb') else power
        number = tres.get((kind, name))
        if number not in (None, 5):
            weights[number] = kind, Fraction(weight) / 1024 ** power
    return rule, {i: pair for i, pair in weights.items() if pair[1]}


def charge(text, factor, settings):
    """Returns the units per second of a job with these TRES, or None if it charges nothing and is a
    finding."""
    try:
        if settings['charge'] == 'tres' or settings['charge'] == 'auto' and is_verified(text, settings):
            total = weighted(text, factor, *settings['weights'])
        else:
            count = tres_count(text, 1 if settings['charge'] == 'cpu' else 5)
            total = (count or 0) * round(factor * UNIT)
    except ValueError:
        return None
    return total if total < 2 ** 104 else None


def weighted(text, factor, rule, weights, price=lambda weight, factor: round(weight * factor * UNIT)):
    of_highest = {'SUM': (), 'MAX_TRES': ('cpu', 'mem', 'node', 'gres'),
                  'MAX_TRES_GRES': ('cpu', 'mem', 'node')}[rule]
    highest, added = [0], []
    for number, (kind, weight) in sorted(weights.items()):
        part = (tres_count(text, number) or 0) * price(weight, factor)
        (highest if kind in of_highest else added).append(part)
    return max(highest) + sum(added)


def made_by(text, weights):
    """Returns the billings that slurmctld, which computes weights in doubles, may have stored for
    these weights."""
    return {int(weighted(text, 1, *weights, price=lambda weight, _: kind(weight))) for kind in (Fraction, float)}


def is_verified(text, settings):
    """Returns whether there are weights that give the billing of these TRES."""
    if '=' not in settings['tres_weights']:
        return False
    billing = tres_count(text, 5) or 0
    try:
        return billing in made_by(text, settings['weights'])
    except ValueError:
        return False


def without(begin, end, suspended):
    """Returns the rest of [begin, end) without these intervals, of which an end of 0 is open."""
    for start, stop in sorted((a, b or end) for a, b in suspended if a):
        if stop <= start:
            continue
        if begin < min(start, end):
            yield begin, min(start, end)
        begin = max(begin, stop)
    if begin < end:
        yield begin, end


def interval(job, clock, boundary, settings):
    """Returns the charged interval [a, b), which is empty if b <= a."""
    now, start, end = settings['now'], job['time_start'], job['time_end']
    if start == 0 or (end != 0 and end < start) or start > now + SKEW:
        return 0, 0
    if end != 0 and settings['horizon'] and now - end > settings['horizon']:
        return 0, 0
    if end == 0 or end > now + SKEW:
        end = now
        if job['timelimit'] not in NO_LIMIT:
            end = min(end, start + job['timelimit'] * 60 + settings['open_job_cap'])
    return max(start, job['time_submit'], clock.earliest, boundary or 0), min(end, now)


def _rows(db, table, columns):
    names = [name for (name,) in db.execute('SELECT name FROM pragma_table_info(?)', (table,))]
    wanted = [c for c in columns if c in names]
    found = db.execute('SELECT %s FROM "%s"' % (', '.join(f'"{c}"' for c in wanted), table))
    return [dict(zip(wanted, row)) for row in found]


# ---- the tree ----

class Node:
    def __init__(self, row):
        self.id = row['id_assoc']
        self.account, self.user, self.partition = row['acct'], row['user'], row['partition']
        self.is_parent = row['shares'] == PARENT
        self.shares = 1 if row['shares'] is None else max(0, row['shares'])
        self.row = row
        self.above = self.fair = None
        self.children, self.level = [], []
        self.own = self.total = 0
        self.is_set = False


def read_tree(db, cluster):
    rows = _rows(db, f'{cluster}_assoc_table',
                 ['id_assoc', 'user', 'acct', 'partition', 'parent_acct', 'shares', 'deleted',
                  'id_parent', 'lineage', 'lft'])
    accounts = {row['acct']: row for row in rows if row['user'] == ''}
    by_id = {row['id_assoc']: row for row in rows}

    def above(row):
        if row.get('id_parent'):
            return by_id.get(row['id_parent'])
        return accounts.get(row['acct'] if row['user'] else row['parent_acct'])

    nodes = {row['id_assoc']: Node(row) for row in rows if not row['deleted']}
    heirs = {}
    for row in rows:
        at = row
        while at is not None and at['deleted']:
            at = above(at)
        heirs[row['id_assoc']] = nodes[at['id_assoc']] if at else None
    for node in nodes.values():
        parent = above(node.row)
        node.above = heirs[parent['id_assoc']] if parent else None
        if node.above:
            node.above.children.append(node)
    root, = [n for n in nodes.values() if n.above is None]
    for node in nodes.values():
        if node is not root:
            node.fair = node.above
            while node.fair is not root and node.fair.is_parent:
                node.fair = node.fair.above
    ordered = list(nodes.values())
    if any(n.row.get('lineage') for n in ordered):
        ordered.sort(key=lambda n: n.row['lineage'].encode())
    else:
        ordered.sort(key=lambda n: n.row.get('lft') or 0)
    for node in ordered:
        if node.fair:
            node.fair.level.append(node)
    return root, nodes, heirs


def down(root):
    """Returns every node, parents before children."""
    order = [root]
    for node in order:
        order.extend(node.children)
    return order


class Nowhere:
    """Takes charges without an association."""
    id, own, is_set = None, 0, False


def removals(db, cluster, now):
    """Returns {association: [(until, owner)]}: the current owner of its usage before each of its
    removals.  Usage moves from one owner to the next, as in slurmctld."""
    rows = {row['id_assoc']: row for row in _rows(db, f'{cluster}_assoc_table', [
        'id_assoc', 'user', 'acct', 'parent_acct', 'creation_time'])}
    accounts = {row['acct']: number for number, row in rows.items() if not row['user']}
    names = {number: (row['acct'], row['user']) for number, row in rows.items()}
    born = {number: row['creation_time'] for number, row in rows.items()}
    added, gone_at, back_at, told_in = {}, {}, {}, {}
    told = sorted(_rows(db, 'txn_table', ['id', 'timestamp', 'action', 'name', 'cluster', 'info']),
                  key=lambda row: (row['timestamp'], row['id']))
    for row in told:
        if row['cluster'] in ('', cluster) and row['action'] == 1404:
            number, info = int(row['name'].partition('=')[2]), dict(re.findall(r"(\w+)='([^']*)'", row['info']))
            names.setdefault(number, (info['acct'], info['user']))
            born.setdefault(number, row['timestamp'])
            # a user's parent_acct is not logged
            added.setdefault(number, []).append((row['timestamp'], row['id'], info.get('parent_acct', '')))
            back_at.setdefault(row['timestamp'], set()).add(number)
    for row in told:
        at, action = row['timestamp'], row['action']
        if at > now or row['cluster'] not in ('', cluster) or action not in (1437, 1439):
            continue
        named = re.findall(r"'([^']*)'", row['name'])
        found = [number for number, (_, user) in names.items() if user in named]
        if action == 1437:
            found = [int(number) for number in re.findall(r'id_assoc=(\d+)', row['name'])]
        gone_at.setdefault(at, set()).update(number for number in found if born.get(number, at + 1) <= at)
        told_in.update({(number, at): row['id'] for number in found})

    def above(number, at):
        account, user = names[number]
        # It may have been added again in the same second.
        removal = at, told_in.get((number, at), 0)
        earlier, later = ([parent for when, told, parent in added.get(number, ()) if ((when, told) > removal) == later]
                          for later in (False, True))
        if user:
            parent = account
        elif earlier and (later or number not in rows):
            parent = earlier[-1]
        else:
            parent = rows[number]['parent_acct']
        return accounts.get(parent)

    gone, buckets = set(), {}
    for at in sorted({*gone_at, *back_at}):
        leaving = gone_at.get(at, set()) - gone
        for number in leaving:
            to = above(number, at)
            while to in leaving:
                to = above(to, at)
            if to:
                buckets.setdefault(to, []).extend([*buckets.pop(number, ()), (number, at)])
        gone = (gone | leaving) - back_at.get(at, set())
    found = {}
    for holder, parts in buckets.items():
        for number, until in parts:
            found.setdefault(number, []).append((until, holder))
    return {number: sorted(parts) for number, parts in found.items()}


def removals_that_matter(db, cluster, heirs, settings):
    """Returns the removals whose owners differ from the tree's usage transfer."""
    if settings['conformance'] != 'slurmctld':
        return {}
    return {number: parts for number, parts in removals(db, cluster, settings['now']).items()
            if heirs.get(number) and any(heirs.get(holder) is not heirs[number] for _, holder in parts)}


def removals_below(path, cluster, settings, reach):
    """Returns the removals that affect sums up to this time."""
    db, found = sqlite3.connect(path), set()
    try:
        for number, parts in removals_that_matter(db, cluster, read_tree(db, cluster)[2], settings).items():
            starts = [0] + [until for until, _ in parts]
            found |= {(number, holder, start, min(until, reach))
                      for start, (until, holder) in zip(starts, parts) if start < reach}
    finally:
        db.close()
    return found


def _factors(db, settings):
    """Returns [(since, factor)] by QOS, the oldest first: the known past factors, or today's."""
    def exact(factor):
        return Fraction(1) if factor is None or factor < 0 else Fraction(repr(float(factor)))
    names = {row['id']: row['name'] for row in _rows(db, 'qos_table', ['id', 'name'])}
    spans = {row['id']: [(0, row['usage_factor'])] for row in _rows(db, 'qos_table', ['id', 'usage_factor'])}
    return {number: [(since, exact(factor) * Fraction(settings['qos_factors'].get(names.get(number, f'q{number}'), 1)))
                     for since, factor in known]
            for number, known in (spans | settings['factor_spans']).items()}


def _slices(job, begin, end, factors, settings):
    """Yields (start, end, charge per second of [start, end), or None if it is not readable)."""
    spans = factors.get(job['id_qos'], [(0, Fraction(1))])
    partition = Fraction(settings['partition_usage_factors'].get(job['partition'].split(',')[0], 1))
    for (since, factor), (until, _) in zip(spans, [*spans[1:], (end, 0)]):
        one, other = max(begin, since), min(end, until)
        if one < other:
            yield one, other, charge(job['tres_alloc'], factor * partition, settings)


PERIOD = 300  # of slurmctld's decay cycles, by default
RESIZING = 8192


def last_pass(registered, before, now):
    """Returns the last decay cycle before this time.  Cycles are whole periods from the last
    registration or from now, whichever is nearer."""
    known = max((at for at in registered if at < before and at <= now), default=None)
    origin = known if known is not None and before < now and before - known <= now - before else now
    return before - 1 - (before - 1 - origin) % PERIOD


def charged_again(jobs, registered, settings):
    """Yields rows for the time between the last decay cycle and each resize, with the size of the
    job's next row."""
    if settings['conformance'] != 'slurmctld':
        return
    sizes, now = {}, settings['now']
    for job in jobs:
        key = job['id_job'], job['time_submit']
        sizes[key] = max(sizes.get(key, ''), job['tres_alloc'])
    for job in jobs:
        start, end = job['time_start'], job['time_end']
        if job['state'] == RESIZING and 0 < start < end <= now and (job['id_job'], end) in sizes:
            recent = now - end <= settings.get('checkpoint_after', 86400)
            since = last_pass(registered, end, now) if recent else end - PERIOD // 2
            yield dict(job, time_submit=0, time_start=max(since, start), timelimit=0, tres_alloc=sizes[job['id_job'], end])


def add_usage(db, cluster, root, heirs, clock, settings):
    """Returns the first charged second, the number of jobs that are findings, and the usage without
    an association."""
    factors = _factors(db, settings)
    boundary = reset_boundary(settings)
    first = None
    findings = 0
    nowhere = Nowhere()
    corrections = Corrections(settings)
    suspended = {}
    if settings['suspended'] == 'omitted':
        for row in _rows(db, f'{cluster}_suspend_table', ['job_db_inx', 'time_start', 'time_end']):
            suspended.setdefault(row['job_db_inx'], []).append((row['time_start'], row['time_end']))
    removed = removals_that_matter(db, cluster, heirs, settings)
    jobs = list(_rows(db, f'{cluster}_job_table',
                      ['job_db_inx', 'id_job', 'id_assoc', 'id_qos', 'partition', 'time_submit', 'time_start',
                       'time_end', 'timelimit', 'tres_alloc', 'state']))
    registered = [row['time_start'] for row in _rows(db, f'{cluster}_event_table', ['time_start', 'node_name'])
                  if row['node_name'] == '']
    for job, is_row in [*((job, True) for job in jobs), *((job, False) for job in charged_again(jobs, registered, settings))]:
        begin, end = interval(job, clock, boundary, settings)
        slices = list(_slices(job, begin, end, factors, settings))
        findings += is_row and any(amount is None for _, _, amount in slices)
        for since, until, amount in slices:
            if not amount:
                continue
            if is_row:
                first = since if first is None else min(first, since)
            if corrections.refunded(job):
                continue
            for to, whose in (*removed.get(job['id_assoc'], ()), (until, job['id_assoc'])):
                counted, to = max(since, corrections.resets.get(whose, 0)), min(to, until)
                since = max(since, to)
                for one, other in without(counted, to, is_row and suspended.get(job['job_db_inx']) or ()):
                    (heirs.get(whose) or nowhere).own += amount * (clock.at(other) - clock.at(one))
    for number, amount, is_set in corrections.adjustments(clock, boundary):
        owner = heirs.get(number) or nowhere
        owner.own += amount
        owner.is_set |= is_set and owner.id == number
    for node in reversed(down(root)):
        node.total += max(0, node.own)
        if node.above:
            node.above.total += node.total
    return first, findings, max(0, nowhere.own)


def usage_of_days(path, cluster, settings):
    """Returns the beginnings of the days that a run stores, units times seconds by (day,
    association), and TRES-seconds by (day, association, TRES) for the TRES in KEPT_TRES."""
    settings = dict(DEFAULTS, **settings)
    db = sqlite3.connect(path)
    try:
        return _usage_of_days(db, cluster, settings)
    finally:
        db.close()


def _midnights(settings, since):
    """Returns the midnights from this time to the first one after now."""
    zone = zoneinfo.ZoneInfo(settings['time_zone'])
    day = datetime.datetime.fromtimestamp(max(since, 0), zone).date() - datetime.timedelta(days=1)
    found = []
    while not found or found[-1] <= settings['now']:
        midnight = int(datetime.datetime(day.year, day.month, day.day, tzinfo=zone).timestamp())
        if midnight >= since:
            found.append(midnight)
        day += datetime.timedelta(days=1)
    return found


def _first_of_days(clock, settings):
    boundary, since = reset_boundary(settings), last_unread(clock, reset_boundary(settings), settings)
    if boundary is not None and since == boundary:
        # A reset does not remove the usage of its own day.
        zone = zoneinfo.ZoneInfo(settings['time_zone'])
        today = datetime.datetime.fromtimestamp(boundary, zone).date()
        midnight = datetime.datetime(today.year, today.month, today.day, tzinfo=zone)
        day = datetime.datetime.fromtimestamp(midnight.timestamp() - 1, zone).date()
        since = int(datetime.datetime(day.year, day.month, day.day, tzinfo=zone).timestamp())
        if settings['horizon']:
            since = max(since, settings['now'] - settings['horizon'] - 1)
    return max(since, settings['now'] - settings.get('history_days', 400) * 86400)


# The TRES that `tres = auto` keeps, without gres and limits.
KEPT_TRES = {1: 'cpu', 4: 'node'}


def _kept_counts(text):
    """Returns the counts of the kept TRES, each by its name.  A count that is not a number is 0."""
    found = {}
    for number, name in KEPT_TRES.items():
        try:
            found[name] = tres_count(text, number) or 0
        except ValueError:
            pass
    return {name: count for name, count in found.items() if 0 < count < 2 ** 36}


def _usage_of_days(db, cluster, settings):
    clock, factors, days = Clock(settings['half_life'], settings['now']), _factors(db, settings), {}
    amounts = {}
    tres = {(row['type'].lower(), row['name'].lower()): row['id']
            for row in _rows(db, 'tres_table', ['id', 'type', 'name'])}
    settings['weights'] = read_weights(settings['tres_weights'], tres)
    midnights = _midnights(settings, _first_of_days(clock, settings))
    suspended = {}
    if settings['suspended'] == 'omitted':
        for row in _rows(db, f'{cluster}_suspend_table', ['job_db_inx', 'time_start', 'time_end']):
            suspended.setdefault(row['job_db_inx'], []).append((row['time_start'], row['time_end']))
    for job in _rows(db, f'{cluster}_job_table',
                     ['job_db_inx', 'id_assoc', 'id_qos', 'partition', 'time_submit', 'time_start',
                      'time_end', 'timelimit', 'tres_alloc']):
        begin, end = interval(job, Undecayed, None, settings)
        counts = _kept_counts(job['tres_alloc'])
        parts = [(one, other, amount or 0) for since, until, amount in _slices(job, begin, end, factors, settings)
                 if amount or counts for one, other in without(since, until, suspended.get(job['job_db_inx'], ()))]
        for one, other, amount in parts:
            for midnight, next_one in zip(midnights, midnights[1:]):
                seconds = min(other, next_one) - max(one, midnight)
                if seconds > 0:
                    key = midnight, job['id_assoc']
                    days[key] = days.get(key, 0) + amount * seconds
                    for name, count in counts.items():
                        amounts[*key, name] = amounts.get((*key, name), 0) + count * seconds
    return midnights, days, amounts


class Undecayed:
    """A decay table without decay."""
    earliest = 0


def source_record(db, cluster, clock, settings):
    """Returns the values for fairmill_run: the newest start or end up to now of jobs that count,
    and the weight of usage that is missing or before the horizon."""
    now, horizon, boundary = settings['now'], settings['horizon'], reset_boundary(settings)
    since = last_unread(clock, boundary, settings)
    jobs = [(job['time_start'], job['time_end'])
            for job in _rows(db, f'{cluster}_job_table', ['time_start', 'time_end'])
            if job['time_start'] and (not job['time_end'] or job['time_start'] <= job['time_end'])]
    newest = max((t for start, end in jobs if end == 0 or end > since
                  for t in (start, end) if 0 < t <= now), default=None)
    last = min((end for _, end in jobs if 0 < end <= now), default=None)
    bound = None
    if last is not None:
        last = max(last, now - horizon) if horizon else last
        if boundary and last <= boundary:
            bound = 0.0
        elif settings['half_life']:
            bound = 2.0 ** (-(now - last) / settings['half_life'])
    return dict(source_newest=newest, truncation_bound=bound)


def last_unread(clock, boundary, settings):
    """Returns the latest time at which ended jobs do not count."""
    behind = settings['now'] - settings['horizon'] - 1 if settings['horizon'] else 0
    return max(clock.earliest, boundary or 0, behind)


# ---- values ----

def _ratio(a, b):
    return Fraction(a) / Fraction(b) if b else Fraction(0)


def _half(exponent):
    """Returns 2^-exponent as the nearest double."""
    if exponent > 1100:
        return 0.0
    whole = math.floor(exponent)
    return math.ldexp(2.0 ** -float(exponent - whole), -whole)


def _level_sums(node, slurm):
    shares = sum(m.shares for m in node.level if not m.is_parent)
    if slurm:
        shares %= 2 ** 32
    usage = sum(m.total for m in node.level if m.user or not m.is_parent)
    return shares, usage


def values(root, nodes, clock, first, settings):
    slurm = settings['conformance'] == 'slurmctld'
    order = down(root)
    everything = root.total
    damping = Fraction(settings['dampening'])
    capacity = _capacity(clock, first, settings)
    minimum = Fraction(settings['pbs_minimum_usage'])
    for node in order:
        node.level_shares, node.level_total = _level_sums(node, slurm)
        node.usage = clock.usage(node.total)
    _pbs_usage(order, minimum)
    users = [n for n in order if n.user]

    rows = {}
    # Follow the fairshare parents, so that each node finds its parent's values.
    todo = [root]
    for node in todo:
        todo.extend(node.level)
    for node in todo:
        v = rows[node.id] = dict(
            id_assoc=node.id, parent_id=node.above.id if node.above else None,
            depth=rows_depth(node), account=node.account, user_name=node.user,
            partition_name=node.partition, shares=None if node.is_parent else node.shares,
            usage_raw=float(node.usage), usage_norm=float(_ratio(node.total, everything)))
        v['capacity_usage'] = (None if capacity is None else UNDEFINED if capacity is UNDEFINED
                               else float(_ratio(node.usage, capacity)))
        own = _ratio(node.total, everything)
        own_capacity = None if capacity in (None, UNDEFINED) else _ratio(node.usage, capacity)
        own_pbs = _ratio(node.pbs, root.pbs)
        if node is root:
            _root_values(v, node, own, own_capacity, capacity)
            continue
        fair = node.fair
        top = fair is root
        if node.is_parent:
            node.S = fair.S
            node.classic = own if top else fair.classic
            node.linear = own_capacity if top else fair.linear
            node.ratio = own if top else fair.ratio
            node.tree_usage = own_pbs if top else fair.tree_usage
            node.barren = False if top else fair.barren
        else:
            share = _ratio(node.shares, fair.level_shares)
            node.S = share * fair.S
            node.barren = fair.level_shares == 0
            blend = Fraction(1) if node.barren else share
            node.classic = own if top else own + (fair.classic - own) * blend
            # pbsfs: an entity in a level without shares, or below a group without a target, gets no
            # usage from above.
            alone = top or minimum and (node.barren or not fair.S)
            node.tree_usage = own_pbs if alone else own_pbs + (fair.tree_usage - own_pbs) * blend
            if own_capacity is None:
                node.linear = None
            else:
                node.linear = own_capacity if top else own_capacity + (fair.linear - own_capacity) * blend
            node.ratio = _oblivious(node, fair, top, own, everything)
        S = node.S
        v['shares_norm'] = v['pbs_target'] = float(S)
        v['classic_usage'] = float(node.classic)
        v['classic_factor'] = _by_release(node, root, node.classic / S / damping if S else None, settings)
        v['pbs_tree_usage'] = float(node.tree_usage)
        v['pbs_factor'] = _half(node.tree_usage / S) if S else 0.0
        if node.linear is None:
            v['linear_usage'] = v['linear_factor'] = capacity
        else:
            v['linear_usage'] = float(node.linear)
            v['linear_factor'] = 0.0 if node.barren else float(min(1, max(0, (S - node.linear + 1) / 2)))
        v['depth_oblivious_ratio'] = float(node.ratio) if S else None
        # The tree is walked from the root down, so the parent's value is already known.
        node.oblivious_usage = (node.ratio * S if S else
                                fair.oblivious_usage if node.is_parent and fair is not root else own)
        v['depth_oblivious_usage'] = float(node.oblivious_usage)
        v['depth_oblivious_factor'] = _by_release(node, root, node.ratio / damping if S else None, settings)
        _level_values(v, node, fair, root, slurm)
        v['fair_tree_rank'] = v['fair_tree_factor'] = None

    ranks = slurmctld_ranks(root, len(users), clock) if slurm else document_ranks(root, len(users))
    for node in users:
        rank = ranks[node.id]
        rows[node.id]['fair_tree_rank'] = rank
        rows[node.id]['fair_tree_factor'] = rank if rank is UNDEFINED else float(Fraction(rank, len(users)))
    published = dict(fair_tree='fair_tree_factor', classic='classic_factor', linear='linear_factor',
                     depth_oblivious='depth_oblivious_factor',
                     pbs='pbs_factor')[settings['algorithm']]
    for v in rows.values():
        v['fairshare'] = v[published]
    return rows


def is_of_25_11(settings):
    """Returns whether slurmctld is of Slurm 25.11 or later."""
    return settings['conformance'] == 'slurmctld' and settings.get('slurm_version', '22.05') >= '25.11'


def _by_release(node, root, exponent, settings):
    """Returns a factor of classic or depth-oblivious; without shares there is no exponent."""
    if is_of_25_11(settings):
        if not node.user:
            return None
        if node.is_parent and node.fair is root:
            exponent = 1 / Fraction(settings['dampening'])
    return 0.0 if exponent is None else _half(exponent)


def rows_depth(node):
    depth = 0
    while node.above:
        node, depth = node.above, depth + 1
    return depth


def _capacity(clock, first, settings):
    if settings['capacity'] is None:
        return None
    capacity = Fraction(settings['capacity'])
    if settings['half_life']:
        return capacity * settings['half_life'] * Fraction(settings['capacity_half_lives'])
    since = reset_boundary(settings)
    since = first if since is None else since
    if since is None or since == settings['now']:
        return UNDEFINED
    return capacity * (settings['now'] - since)


def _root_values(v, root, own, own_capacity, capacity):
    root.S = Fraction(1)
    root.classic = root.tree_usage = own
    root.linear = own_capacity
    root.ratio = None
    root.oblivious_usage = own
    root.barren = False
    v.update(shares_norm=1.0, pbs_target=1.0, usage_norm=float(own), classic_usage=float(own),
             pbs_tree_usage=float(own), depth_oblivious_usage=float(own))
    v['linear_usage'] = v['capacity_usage']
    for name in ('level_shares_norm', 'level_usage', 'classic_factor', 'linear_factor',
                 'depth_oblivious_ratio', 'depth_oblivious_factor', 'level_fs',
                 'fair_tree_rank', 'fair_tree_factor', 'pbs_factor'):
        v[name] = None


def _level_values(v, node, fair, root, slurm):
    level = fair.total if slurm else fair.level_total
    U = _ratio(node.total, level)
    v['level_usage'] = float(U)
    v['level_fs_infinite'] = 0
    if node.is_parent:
        v['level_shares_norm'] = None if fair is root else float(fair.level_share)
        v['level_fs'] = None
        node.level_share = Fraction(0) if fair is root else fair.level_share
        return
    S = node.level_share = _ratio(node.shares, fair.level_shares)
    v['level_shares_norm'] = float(S)
    if S == 0:
        v['level_fs'] = 0.0
    elif U == 0:
        v['level_fs'], v['level_fs_infinite'] = INFINITE, 1
    else:
        v['level_fs'] = float(S / U)


def _oblivious(node, fair, top, own, everything):
    if node.S == 0:
        return Fraction(0)
    ratio = own / node.S
    if top:
        return ratio
    siblings = sum(m.total for m in fair.level if not m.is_parent)
    local = _ratio(ratio, _ratio(siblings, everything) / fair.S)
    if fair.ratio == 0 or local == 0:
        return Fraction(0)
    above, here = math.log(fair.ratio), _log(local)
    k = 1.0 if above * here >= 0 else 1 / (1 + (5 * above) ** 2)
    return Fraction(math.exp(above + k * here))


def _log(x):
    """Returns ln of a fraction that may be near 1, where the log of a rounded value would have no
    digits left."""
    return math.log1p(float(x - 1)) if Fraction(1, 2) < x < 2 else math.log(x)


def _pbs_usage(order, minimum):
    """Adds usage to a base, unless it was set.  A group has its base and its leaves with usage."""
    for node in order:
        node.pbs = max(node.usage, minimum) if node.user and node.is_set else minimum + node.usage
        node.base = node.pbs - node.usage if node.user and node.usage else 0
    for node in reversed(order):
        if node.above:
            node.above.base += node.base
        if not node.user:
            node.pbs += node.base


# ---- Fair Tree ----

def _users_below(root):
    todo = [root]
    for node in todo:
        todo.extend(node.level)
    for node in reversed(todo):
        node.has_users = bool(node.user) or any(m.has_users for m in node.level)


def document_ranks(root, count):
    """Ranks by the text of the document: children of tied accounts form one list."""
    _users_below(root)

    def place(node):
        if not node.is_parent and node.shares == 0:
            return (0, 0)
        if node.is_parent or node.total == 0:
            return (2, 0)
        return (1, Fraction(node.shares,
                            node.fair.level_shares) * Fraction(node.fair.level_total, node.total))

    ranks, left = {}, count
    todo = [(root.level, None)]
    while todo:
        members, tied = todo.pop()
        groups = {}
        for node in members:
            if node.user or (node.has_users and not node.is_parent):
                groups.setdefault(place(node), []).append(node)
        if not groups:
            continue
        key = max(groups)
        group = groups.pop(key)
        rest = [n for g in groups.values() for n in g]
        if rest:
            todo.append((rest, None))
        users = [n for n in group if n.user]
        rank = left if tied is None else tied
        for node in users:
            ranks[node.id] = rank
        left -= len(users)
        below = [m for n in group if not n.user for m in n.level]
        if below:
            todo.append((below, rank if users else tied))
    return ranks


def to_long_double(x):
    """Returns x rounded to 64 bits of mantissa, half to even."""
    if x == 0:
        return Fraction(0)
    x = Fraction(x)
    shift = x.numerator.bit_length() - x.denominator.bit_length() - 64
    while x / Fraction(2) ** shift >= 2 ** 64:
        shift += 1
    while x / Fraction(2) ** shift < 2 ** 63:
        shift -= 1
    return round(x / Fraction(2) ** shift) * Fraction(2) ** shift


def slurmctld_ranks(root, count, clock):
    """Ranks by the walk of the controller.  A rank that depends on the rounding of its usage is
    UNDEFINED."""
    by_value = _walk(root, count, lambda n: to_long_double(n.usage))
    by_sum = _walk(root, count, lambda n: to_long_double(n.total))
    if clock.half_life == 0:
        return by_value
    return {i: r if by_sum[i] == r else UNDEFINED for i, r in by_value.items()}


def _walk(root, count, usage):
    infinite, no_value = (2, 0), (1, Fraction(4294967294))

    def level_fs(node):
        if node.is_parent:
            return infinite if node.user else no_value
        if node.shares == 0 or node.fair.level_shares == 0:
            return (1, Fraction(0))
        S = Fraction(node.shares / node.fair.level_shares)
        below = usage(node.fair)
        U = to_long_double(usage(node) / below) if below else 0
        return (1, to_long_double(S / U)) if U else infinite

    ranks, state = {}, dict(left=count, rank=count)

    def arrange(node):
        listed = [(level_fs(m), m)
                  for m in ([] if node.is_parent and node is not root else node.level)]
        listed.sort(key=lambda pair: (pair[0], bool(pair[1].user)), reverse=True)
        return listed

    # The stack of lists that are being walked.
    stack = [dict(list=arrange(root), at=0, previous=no_value, tied=False)]
    while stack:
        frame = stack[-1]
        if frame['at'] == len(frame['list']):
            stack.pop()
            continue
        value, node = frame['list'][frame['at']]
        tied = (frame['at'] == 0 and frame['tied']) or frame['previous'] == value
        frame['at'] += 1
        frame['previous'] = value
        if node.user:
            if not tied:
                state['rank'] = state['left']
            ranks[node.id] = state['rank']
            state['left'] -= 1
        else:
            stack.append(dict(list=arrange(node), at=0, previous=no_value, tied=tied))
    return ranks


# ---- everything ----

def expected_run(path, cluster, settings):
    """Returns the values, the number of findings, and the columns of fairmill_run."""
    settings = dict(DEFAULTS, **settings)
    db = sqlite3.connect(path)
    try:
        root, nodes, heirs = read_tree(db, cluster)
        tres = {(row['type'].lower(), row['name'].lower()): row['id']
                for row in _rows(db, 'tres_table', ['id', 'type', 'name'])}
        settings['weights'] = read_weights(settings['tres_weights'], tres)
        clock = Clock(settings['half_life'], settings['now'])
        first, findings, nowhere = add_usage(db, cluster, root, heirs, clock, settings)
        record = source_record(db, cluster, clock, settings)
    finally:
        db.close()
    record['unattributed_usage'] = float(clock.usage(nowhere))
    return values(root, nodes, clock, first, settings), findings, record


def expected(path, cluster, settings):
    """Returns the values and the number of findings."""
    return expected_run(path, cluster, settings)[:2]


def self_check():
    """Checks the decay table against another computation, and a walk whose ranks are known; returns
    the number of comparisons."""
    checked = 0
    for half_life in (60, 3600, 7 * 86400, 365 * 86400):
        clock = Clock(half_life, 1750500000)
        for f in (0, 1, half_life // 3, half_life - 1):
            assert abs(clock.within(f) - _series(half_life, f,
                                                 clock.scale)) <= Fraction(1, 2), (half_life, f)
            checked += 1
        # The integral over one half-life that ends now is (1 - 1/2) H / ln 2.
        now = 1750500000
        whole = clock.usage(UNIT * (clock.at(now) - clock.at(now - half_life)))
        assert abs(whole / (Fraction(clock.mean) / 2) - 1) < Fraction(1, 10 ** 15)
        checked += 1
    for x in (Fraction(1, 3), Fraction(2 ** 64 + 1), Fraction(2 ** 65 + 6), Fraction(10 ** 30, 7)):
        y = to_long_double(x)
        assert abs(y / x - 1) <= Fraction(1, 2 ** 64)
        assert (y.numerator >> (y.numerator & -y.numerator).bit_length() - 1).bit_length() <= 64
        checked += 1
    return checked


def _series(half_life, f, scale):
    """Returns 2^scale (H / ln 2) 2^(f/H) by power series in fractions of 2^-400."""
    one = 1 << 400
    ln2 = sum(one // (n * 2 ** n) for n in range(1, 400))
    x = ln2 * f // half_life
    term, total, n = one, 0, 0
    while term:
        total += term
        n += 1
        term = term * x // one // n
    return Fraction(2) ** scale * Fraction(half_life * total, ln2)
