# SPDX-License-Identifier: MIT
"""Events in a history of t/lib/history.py: a site, the records of its jobs, and steps.  Each step
is an action of an administrator or an event in a database."""

import random

import reference
from books import CANCELLED, COMPLETED, DAY, RUNNING, Books, Controller
from reference import PARENT
from settings import for_reference

# results that keep stored state, and results that are always computed from scratch
KEPT, FULL = 'kept', 'full'
REGISTERED = '1=64,2=1000,4=7,5=100'
WEIGHTS = ('CPU=1,Node=1.25', 'MAX_TRES,CPU=1,Node=0.3', 'CPU=0.1')
FACTORS = {}, {'q2': '3', 'q3': '0.1'}, {'q1': '2'}
PARTITION_FACTORS = {}, {'gpu': '0.3', 'debug': '0'}, {'p': '5'}
STEPS, DRIFTS = [], []


def step(function):
    """Registers a step that runs detect automatically.  A step returns False if it cannot happen
    now."""
    STEPS.append(function)
    return function


def drift(function):
    """Registers a change below the checkpoint, which only a full run can detect."""
    DRIFTS.append(function)
    return function


class History:
    """The current state, and states at earlier times."""

    def __init__(self, seed, place):
        self.seed, self.place, self.r = seed, place, random.Random(seed)
        r = self.r
        self.pace = r.choice(list(RESETS))
        self.grain = r.choice((1, 1, 60, self.pace // 6))
        self.settings = draw_settings(r, self.pace)
        self.told = seed % 4 == 2  # whether txn_table records changes of associations
        if self.told:
            self.settings['conformance'] = 'slurmctld'
        self.books = Books()
        self.draw_tree()
        self.no_link = 0                     # steps until records arrive again
        self.as_of = None                    # of the newest run
        self.newest = 0                      # newest end that a run has seen
        self.asked = self.damaged = self.back = False  # conditions for the next run
        self.archived, self.dropped = [], []  # rows that may return
        self.ledger = []                     # in the form of t/lib/ledger.py
        self.earlier = []                    # earlier states for a restore from a dump
        self.factor_seen, self.factor_spans = {}, {}  # by QOS: (time, factor)
        first_run, span = self.origin(), self.rounded(self.pace * r.choice((10, 40, 100)))
        self.now = first_run - span
        self.controller = Controller(r, self.now, self.pace, self.grain,
                                     r.choice((None, None, 1, place.largest_sluid)))
        self.pass_time(span, r.choice((20, 60, 120)))
        self.arrive()

    def settings_at(self, now):
        return for_reference(dict(self.settings, now=now, ledger=self.ledger, factor_spans=self.factor_spans), REGISTERED)

    def see_factors(self, as_of):
        """Records factors as runs do.  Factors are not dated, so each counts from the first run that
        saw it.  Returns whether no run has recorded one of them, although one has recorded an
        earlier factor of the same QOS."""
        new = False
        for number, factor in self.books.qos.items():
            known = self.factor_seen.setdefault(number, [])
            new |= bool(known) and known[-1][1] != factor
            known[:] = [(at, other) for at, other in known if at != as_of]
            if not known or known[-1][1] != factor:
                known.append((as_of, factor))
        self.factor_spans = {number: [(at if i else 0, factor) for i, (at, factor) in enumerate(known)]
                             for number, known in self.factor_seen.items()}
        return new

    def rounded(self, seconds):
        return int(seconds) - int(seconds) % self.grain

    def origin(self):
        """Returns a start time, often shortly before usage is reset or the decay epoch advances."""
        r, s = self.r, self.settings
        instant = r.randrange(1600000000, 1750000000)
        kind = r.random()
        if kind < .4 and s['reset_period'] != 'none':
            instant = reference.reset_boundary(self.settings_at(instant))
        elif kind < .6 and s['half_life']:
            instant -= instant % (8 * s['half_life'])
        if kind < .6:
            instant -= r.randrange(1, 6) * self.pace
        return self.rounded(instant)

    def draw_tree(self):
        r, books = self.r, self.books
        books.qos = {1: 1.0, 2: 0.0, 3: 0.5, 4: 2.0}
        books.add_association('root')
        accounts = ['root']
        for i in range(r.randrange(2, 10)):
            books.add_association(f'a{i}', parent_acct=r.choice(accounts), shares=self.shares())
            accounts.append(f'a{i}')
        self.names = len(accounts)
        for _ in range(r.randrange(3, 28)):
            self.draw_user(r.choice(accounts))

    def shares(self):
        return self.r.choice((0, 1, 1, 2, 3, 10, 70, self.r.randrange(1, 10 ** 6), PARENT))

    def draw_user(self, account):
        key = (f'u{self.r.randrange(30):02d}', account, self.r.choice(('', '', '', 'gpu')))
        if key in {(a['user'], a['acct'], a['partition']) for a in self.books.associations.values()}:
            return False
        return self.books.add_association(account, key[0], key[2], shares=self.shares())

    def pass_time(self, seconds, submissions):
        self.now += self.rounded(seconds)
        self.controller.users = self.books.found(users=True)
        self.controller.work(self.now, submissions)

    def arrive(self):
        """Delivers the records that were sent, in order, unless the connection is down; returns
        them."""
        if self.no_link:
            return []
        self.heard = self.now
        unsent, self.controller.unsent = self.controller.unsent, []
        for row in unsent:
            self.books.receive(row)
        return unsent

    def are_sealed(self, records):
        """Returns whether one of the records ended before the checkpoint, below which runs assume
        that all records have arrived.  This happens if an administrator set an end during an
        outage, or an end before a future one.  A run cannot know that this is not the newest
        record."""
        seal = self.seal()
        return any(0 < row['time_end'] < seal for row in records)

    def some(self, keys, most):
        return self.r.sample(keys, min(len(keys), self.r.randrange(1, most + 1)))

    def living(self, users):
        found = self.books.found(users)
        return self.r.choice(found) if found else None

    def runaways(self):
        """Returns open rows that the controller does not know."""
        known = self.controller.knows()
        return [key for key in self.books.open_keys()
                if (self.books.jobs[key]['id_job'], self.books.jobs[key]['time_submit']) not in known]

    def since(self):
        """Returns the time before which ended jobs do not count."""
        s = self.settings_at(self.now)
        return reference.last_unread(reference.Clock(s['half_life'], self.now), reference.reset_boundary(s), s)

    def sealed(self):
        """Returns the keys of checkpointed jobs that charge something, without the first job to
        end."""
        seal, since, jobs = self.seal(), self.since(), self.books.jobs
        found = [key for key, row in jobs.items() if since < row['time_end'] < seal]
        first = min((jobs[key]['time_end'] for key in found), default=0)
        return [key for key in found if jobs[key]['time_end'] > first and self.charges(jobs[key])]

    def charges(self, row):
        return (row['time_start'] < row['time_end'] and row['tres_alloc'].startswith('1=') and
                'junk' not in row['tres_alloc'] and self.books.qos.get(row['id_qos']) != 0)

    def seal(self):
        (sealed_to,), = self.place.ask(KEPT, 'SELECT sealed_to FROM fairmill_seal')
        return int(sealed_to)


# By pace, so that some resets happen, but not all the time.
RESETS = {600: ('daily', 'weekly', 2 * 3600), 3600: ('daily', 'weekly', 'monthly', 5 * 3600),
          6 * 3600: ('weekly', 'monthly', 3 * DAY), DAY: ('monthly', 'quarterly', 40 * DAY)}


def draw_settings(r, pace):
    s = dict(reference.DEFAULTS, time_zone=r.choice(('UTC', 'Europe/Berlin', 'America/New_York')),
             charge=r.choice(('billing', 'auto', 'cpu', 'tres')), tres_weights=r.choice(WEIGHTS),
             qos_factors=r.choice(FACTORS), partition_usage_factors=r.choice(PARTITION_FACTORS),
             suspended=r.choice(('charged', 'omitted')), open_job_cap=r.choice((DAY, 3600)),
             horizon=r.choice((None, None, 5 * pace, 30 * pace)),
             algorithm=r.choice(('fair_tree', 'classic', 'linear', 'depth_oblivious')),
             conformance=r.choice(('documents', 'documents', 'slurmctld')),
             capacity=r.choice(('auto', 1024)), history_days=r.choice((400, 400, 3)))
    s['half_life'] = r.choice((0, pace * 2, pace * 10, 7 * DAY, 7 * DAY, 14 * DAY, 365 * DAY))
    if r.random() < (.85 if s['half_life'] == 0 else .35):
        s['reset_period'] = r.choice(RESETS[pace])
        s['reset_anchor'] = r.choice((0, '2020-03-29'))
    s['checkpoint_after'] = r.choice((60, 60, pace, 3 * pace))
    s['full_every'] = r.choice((365 * DAY, 10 * pace))
    if pace >= 6 * 3600 and r.random() < .3:
        del s['checkpoint_after']  # the default, a day
    s['slurm_version'] = '25.11' if s['open_job_cap'] == DAY else '25.05'
    return s


@step
def nothing_but_time(h):
    pass


@step
def much_time(h):
    h.pass_time(h.pace * h.r.choice((10, 20, 50)), 10)
    h.arrive()


@step
def outage(h):
    """No records arrive for some steps, then all of them, in order."""
    h.no_link = h.no_link or h.r.randrange(2, 5)


@step
def runaways_repaired(h):
    """Repairs runaway jobs like sacctmgr does: they have never run."""
    found = h.runaways()
    if not found:
        return False
    for key in h.some(found, 3):
        row = h.books.jobs[key]
        h.books.change(key, state=COMPLETED, time_end=max(row['time_start'], row['time_eligible'],
                                                          row['time_submit']))


@step
def ended_long_ago(h):
    """Closes open jobs that ended long ago and, if pending, had run.  In an outage, the end is
    before the outage, because the administrator knows only the database."""
    found = [key for key in h.runaways() if h.books.jobs[key]['time_start'] <= h.heard
             and h.books.jobs[key]['time_submit'] <= h.heard]
    if not found:
        return False
    for key in h.some(found, 3):
        row = h.books.jobs[key]
        start = row['time_start'] or h.r.randrange(row['time_submit'], h.heard + 1)
        end = h.r.randrange(start, h.heard + 1)
        h.books.change(key, time_start=start, time_end=end, state=COMPLETED,
                       tres_alloc=row['tres_alloc'] or h.controller.tres())


@step
def ends_to_come(h):
    """A wrong clock gives open jobs an end in the future, which no run can have seen yet."""
    found = [key for key in h.runaways() if 0 < h.books.jobs[key]['time_start'] <= h.now]
    if not found:
        return False
    for key in h.some(found, 3):
        h.books.change(key, time_end=h.now + h.r.choice((200, 300, 301, h.pace, 20 * h.pace, 3650 * DAY)),
                       state=COMPLETED)


@step
def end_to_come_mended(h):
    """Moves a future end to one long ago."""
    found = [key for key, row in h.books.jobs.items()
             if row['time_end'] > h.now and 0 < row['time_start'] <= h.heard]
    if not found:
        return False
    for key in h.some(found, 3):
        h.books.change(key, time_end=h.r.randrange(h.books.jobs[key]['time_start'], h.heard + 1))


@step
def cold_start(h):
    """The controller forgets everything, so all open jobs are cancelled."""
    if h.no_link or not h.books.open_keys():
        return False
    h.controller.cold_start()
    for key in h.books.open_keys():
        h.books.change(key, time_end=h.now, state=CANCELLED)


@step
def purged(h):
    ends = sorted(h.books.ends())
    if len(ends) < 10:
        return False
    before = ends[h.r.randrange(1, len(ends) * 2 // 3)]
    gone = [key for key, row in h.books.jobs.items() if 0 < row['time_end'] < before]
    h.archived += [h.books.remove(key) for key in gone]
    return bool(gone)


@step
def factor_changed(h):
    number = h.r.choice(list(h.books.qos))
    factor = h.r.choice([f for f in (0.0, 0.1, 0.5, 1.0, 1.37, 3.0, 0.3333333333333333)
                         if f != h.books.qos[number]])
    h.books.qos[number] = factor


@step
def qos_added(h):
    number = h.r.choice((9, max(h.books.qos) + 1))
    if number in h.books.qos:
        return False
    h.books.qos[number] = h.r.choice((1.0, 0.25, 5.0))
    h.controller.qos = [*h.controller.qos, number]


@step
def shares_changed(h):
    for number in h.some(h.books.found(users=True) + h.books.found(users=False), 4):
        h.books.change_association(number, shares=h.shares())


@step
def account_moved(h):
    number = h.living(users=False)
    if number is None:
        return False
    below = {h.books.associations[i]['acct'] for i in h.books.below(number)}
    others = [h.books.associations[i]['acct'] for i in h.books.found(users=False)] + ['root']
    above = h.r.choice([name for name in others if name not in below])
    if above == h.books.associations[number]['parent_acct']:
        return False
    h.books.change_association(number, parent_acct=above)


@step
def associations_deleted(h):
    """Marks associations as deleted with their shares reset, and an account with everything below
    it."""
    number = h.living(users=h.r.random() < .7)
    if number is None or set(h.books.found(users=True)) <= set(h.books.below(number)):
        return False
    for below in h.books.below(number):
        h.books.change_association(below, deleted=1, shares=1)


@step
def association_added_again(h):
    """Adds an association again with its old ID."""
    accounts = {h.books.associations[i]['acct'] for i in h.books.found(users=False)} | {'root'}
    found = [i for i in h.books.found(True, deleted=1) if h.books.associations[i]['acct'] in accounts]
    found += [i for i in h.books.found(False, deleted=1) if h.books.associations[i]['parent_acct'] in accounts]
    if not found:
        return False
    for number in h.some(found, 4) if h.told else [h.r.choice(found)]:
        h.books.change_association(number, deleted=0, shares=h.shares())


@step
def association_gone(h):
    """Deletes an association without a mark; its usage counts for no association."""
    number = h.living(users=True)
    if number is None or len(h.books.found(users=True)) < 3:
        return False
    del h.books.associations[number]


@step
def associations_new(h):
    account = h.r.choice([h.books.associations[i]['acct'] for i in h.books.found(users=False)] + ['root'])
    if h.r.random() < .3:
        h.books.add_association(f'a{h.names}', parent_acct=account, shares=h.shares())
        account, h.names = f'a{h.names}', h.names + 1
    return h.draw_user(account)


@step
def restored(h):
    """Restores an earlier dump; no records have arrived since."""
    found = [books for books in h.earlier if max(books.ends(), default=0) < h.newest]
    if not found:
        return False
    h.books = h.r.choice(found).copy()


@step
def clock_back(h):
    h.back = True


def another(h, key, values):
    h.settings = dict(h.settings, **{key: h.r.choice([v for v in values if v != h.settings[key]])})


@step
def half_life_changed(h):
    another(h, 'half_life', (h.pace * 3, 7 * DAY, 30 * DAY))


@step
def charge_changed(h):
    another(h, 'charge', ('auto', 'cpu', 'tres'))


@step
def weights_changed(h):
    another(h, 'tres_weights', WEIGHTS)


@step
def qos_factors_changed(h):
    another(h, 'qos_factors', FACTORS)


@step
def partition_factors_changed(h):
    another(h, 'partition_usage_factors', PARTITION_FACTORS)


@step
def suspended_changed(h):
    another(h, 'suspended', ('charged', 'omitted'))


@step
def horizon_changed(h):
    another(h, 'horizon', (None, 3 * h.pace, 10 * h.pace, 40 * h.pace))


@step
def time_zone_changed(h):
    another(h, 'time_zone', ('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata'))


@step
def history_days_changed(h):
    another(h, 'history_days', (400, 30, 3))


@step
def reset_period_changed(h):
    another(h, 'reset_period', ('none', *RESETS[h.pace]))


@step
def other_settings_changed(h):
    """The charge of an ended job does not depend on these settings, unless it was resized."""
    another(h, *h.r.choice((('conformance', ('documents', 'slurmctld')),
                            ('algorithm', ('fair_tree', 'classic', 'linear', 'pbs')))))


@step
def cap_changed(h):
    """The charge does not depend on this setting, but its findings do."""
    another(h, 'open_job_cap', (DAY, 3600, 7200))


@step
def full_asked_for(h):
    h.asked = True


@step
def sums_damaged(h):
    """Damages stored sums, like a disk or another program."""
    if not int(h.place.ask(KEPT, 'SELECT count(*) FROM fairmill_seal_usage')[0][0]):
        return False
    h.place.ask(KEPT, h.r.choice(('UPDATE fairmill_seal_usage SET sum_0 = sum_0 + 1',
                                  'DELETE FROM fairmill_seal_usage')))
    h.damaged = True


# ---- changes that only a full run detects ----

@drift
def arrived_below(h):
    """Adds a job that no record has reported before."""
    keys, users = h.sealed(), h.books.found(users=True)
    if not keys or not users:
        return False
    like = h.books.jobs[h.r.choice(keys)]
    h.books.receive(h.controller.as_row_of_its_own(dict(
        like, id_job=h.controller.new_id(), id_assoc=h.r.choice(users), id_qos=1,
        tres_alloc='1=7,5=7')).row)


@drift
def changed_below(h):
    keys = h.sealed()
    if not keys:
        return False
    key = h.r.choice(keys)
    row = h.books.jobs[key]
    h.books.change(key, **h.r.choice((dict(tres_alloc='1=123456789,5=123456789'), dict(tres_alloc=''),
                                      dict(time_end=row['time_end'] - 1), dict(time_end=0, state=RUNNING),
                                      dict(id_assoc=h.r.choice(list(h.books.associations))))))


@drift
def deleted_in_the_middle(h):
    keys = h.sealed()
    if not keys:
        return False
    h.dropped = [h.books.remove(key) for key in h.some(keys, 3)]


@drift
def reloaded(h):
    """Reloads all purged rows from their archive."""
    rows = [row for row in h.archived if (row['id_job'], row['time_submit']) not in h.books.key_of
            and row['job_db_inx'] not in h.books.jobs]
    for row in rows:
        h.books.put(row)
    h.archived = []
    return bool(rows)


@drift
def reloaded_in_the_middle(h):
    """Reloads rows deleted there, if the checkpoint is beyond them again."""
    found = [row for row in h.dropped if row['job_db_inx'] not in h.books.jobs
             and (row['id_job'], row['time_submit']) not in h.books.key_of]
    seal, since, ends = h.seal(), h.since(), h.books.ends()
    oldest = min((end for end in ends if end > since), default=seal)
    if not found or not all(oldest < row['time_end'] < seal for row in found):
        return False
    for row in found:
        h.books.put(row)
    h.dropped = []


@drift
def restored_and_gone_on(h):
    """Restores a dump that lacks checkpointed rows; then new jobs end."""
    seal = h.seal()
    found = [books for books in h.earlier if max(books.ends(), default=0) < seal]
    if not found:
        return False
    h.no_link = 0
    h.pass_time(2 * h.pace, 10)
    newest = max(h.books.ends())
    if max((row['time_end'] for row in h.controller.unsent if row['time_start']), default=0) < newest:
        return False
    h.books = h.r.choice(found).copy()
    h.arrive()


# The step that must have happened before.
NEEDS = {end_to_come_mended: ends_to_come, reloaded: purged, reloaded_in_the_middle: deleted_in_the_middle}
