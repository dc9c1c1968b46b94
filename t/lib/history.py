# SPDX-License-Identifier: MIT
"""Random histories of an accounting database.  After each step of t/lib/happenings.py, a run with
stored state, a full run into other results and t/lib/reference.py must agree.  The two runs must
agree bit for bit, and fairmill_run must describe them correctly.

By default it tries 20 histories on SQLite and 6 on a server, where a history takes three times as
long and port.c tests the differences.  FAIRMILL_LONG=1 tries 100 and 40, FAIRMILL_SITES=N tries N,
and FAIRMILL_SEED=N tries only history N."""

import copy
import os
import re
import tempfile
import traceback
from collections import Counter
from fractions import Fraction

import ledger
import reference
import tap
from books import CLUSTER, DAY, Controller
from compare import differences, exact, unlike_reference
from happenings import (DRIFTS, FULL, KEPT, NEEDS, STEPS, History, association_added_again, associations_deleted,
                        nothing_but_time)
from history_place import Mirror
from program import fairmill, same_value, write_settings
from seeds import seeds
from settings import for_program

RUN = ('kind', 'why', 'message', 'unattributed_usage', 'source_newest', 'truncation_bound', 'drift_max',
       'drifted_associations')
CAUSES = ('first', 'requested', 'earlier', 'settings', 'factor', 'epoch', 'restored', 'reset', 'ledger', 'removals', 'purge',
          'full_every', 'as they were stored', 'since they were checkpointed', 'horizon')
# Settings that decide the charge and the findings of an ended job.
CHARGING = ('half_life', 'charge', 'tres_weights', 'qos_factors', 'partition_usage_factors', 'suspended',
            'horizon', 'time_zone', 'history_days', 'open_job_cap')
SAME_IN_ANY_RUN = ('unattributed_usage', 'source_newest', 'truncation_bound')


def state_of(h, as_of, path):
    """Returns the state on which an incremental run depends."""
    settings = h.settings_at(as_of)
    clock, boundary = reference.Clock(settings['half_life'], as_of), reference.reset_boundary(settings)
    since = reference.last_unread(clock, boundary, settings)
    ends = sorted(end for end in h.books.ends() if end <= as_of)
    return dict(as_of=as_of, settings=settings, since=since, ends=ends, start=max(clock.earliest, boundary or 0),
                grid=clock.epoch if settings['half_life'] else 0,
                newest=max((end for end in ends if end > since), default=0),
                resets=lambda reach, h=h: ledger.resets_below(h, as_of, reach),
                removals=lambda reach: reference.removals_below(path, CLUSTER, settings, reach),
                factors=h.factor_spans)


def factors_in_sums(state, reach):
    """Returns the factors in the sums up to this time that were not always 1."""
    spans = {number: [(at, factor) for at, factor in spans if at < reach] for number, spans in state['factors'].items()}
    return {number: known for number, known in spans.items() if known not in ([], [(0, 1)])}


def causes_of(before, state, asked, damaged):
    """Returns a word for each reason that makes this run full."""
    if before is None:
        return {'first'}
    seal, since = before['seal'], state['since']
    changed = [key for key in CHARGING if before['settings'][key] != state['settings'][key]]
    oldest, oldest_now = ([end for end in ends if end > before['since']]
                          for ends in (before['ends'], state['ends']))
    words = dict(
        requested=asked,
        earlier=state['as_of'] < before['as_of'],
        settings=bool(changed),
        # If a run has uncertain states, it records no factor, and the next run sees it as new.
        factor=factors_in_sums(before, seal) != factors_in_sums(state, seal) or state['undated'],
        epoch=before['grid'] != state['grid'],
        resized=before['settings']['conformance'] != state['settings']['conformance'],
        restored=state['newest'] < before['newest'] and before['newest'] > since,
        reset=state['start'] != before['start'] and state['start'] < seal,
        ledger=state['resets'](seal) != before['resets_in_sums'],
        removals=state['removals'](seal) != before['removals_in_sums'],
        purge=bool(oldest) and oldest[0] < seal and (not oldest_now or oldest_now[0] > oldest[0]),
        horizon=(not state['settings']['half_life'] and not state['start'] and bool(oldest)
                 and oldest[0] < seal and oldest[0] <= since),
        full_every=state['as_of'] - before['full_as_of'] >= state['settings'].get('full_every', 7 * DAY))
    causes = {word for word, holds in words.items() if holds} | set(changed)
    # A run does not check sums that it does not use.
    if damaged and not causes and seal > since + 1:
        causes.add('as they were stored')
    return causes


class Trial:
    """The runs of a history.  The first error ends it; errors are collected."""

    def __init__(self, h, mirror, folder, counts):
        self.h, self.mirror, self.folder, self.counts = h, mirror, folder, counts
        self.done, self.wrong, self.instants = [], [], {KEPT: set(), FULL: set()}
        # before: of the run that wrote the checkpoint; full_as_of: of the last full run
        self.before = self.full_as_of = None
        self.truth = {}  # associations, by the time from which they apply
        self.newest = 0  # time of the newest run
        self.connections = {name: h.place.fresh(name, h.seed) for name in (KEPT, FULL)}
        self.entered = 0  # number of entries in the ledger
        self.purged_until = 0  # sums of days before this time contain purged jobs
        self.write_settings()
        for name in self.connections:
            self.fairmill(name, 'init')

    def write_settings(self):
        usage, fairshare = for_program(self.h.settings)
        for name, connection in self.connections.items():
            write_settings(f'{self.folder}/{name}.conf', dict(
                source=self.h.place.accounting(self.mirror.path), results=connection, usage=usage,
                fairshare=fairshare, retention=dict(history_days=self.h.settings['history_days'],
                                                    history_interval=0)))

    def enter_ledger(self):
        new, self.entered = self.h.ledger[self.entered:], len(self.h.ledger)
        for name in self.connections:
            for statement in ledger.statements(new, CLUSTER):
                self.h.place.ask(name, statement)

    def fairmill(self, name, *command):
        status, out, err = fairmill(f'{self.folder}/{name}.conf', *command)
        if status:
            raise RuntimeError(f"'{' '.join(map(str, command))}' ended with {status}: {out}{err}")

    def run(self, name, as_of, full):
        """Returns the rows, the row of fairmill_run, and the findings."""
        back = self.h.as_of is not None and as_of < self.h.as_of
        self.fairmill(name, 'run', '--now', as_of, *['--replace'] * back, *['--full'] * full)
        record, = self.h.place.ask(
            name, f"SELECT {', '.join(RUN)} FROM fairmill_run ORDER BY run_id DESC LIMIT 1")
        findings = {tuple(map(str, row)) for row in self.h.place.ask(
            name, f'SELECT kind, subject, detail FROM fairmill_finding WHERE last_seen = {as_of}')}
        # Findings of an earlier run for the same time still exist.
        if as_of in self.instants[name]:
            findings = None
        # Only the run with stored state can have findings about stored state.
        findings = findings and {row for row in findings if row[0] not in ('kept_rows_changed', 'sealed_jobs_changed')}
        self.instants[name].add(as_of)
        return self.h.place.rows(name), dict(zip(RUN, record)), findings

    def days(self, name):
        """Returns the first day that may still change, and the stored values for each day and
        association: units, TRES-seconds, and the usage by TRES."""
        span = self.h.place.ask(name, 'SELECT final_to FROM fairmill_usage_span')
        rows = self.h.place.ask(
            name, 'SELECT day, id_assoc, sum_2, sum_1, sum_0, tres_seconds FROM fairmill_usage_day')
        amounts = by_key((tuple(map(int, row[:2])), row[2], int(row[3])) for row in self.h.place.ask(
            name, 'SELECT day, id_assoc, tres, seconds FROM fairmill_tres_day'))
        return int(span[0][0]), {key: (words(*row[2:5]), float(row[5]), amounts.get(key, {}))
                                 for row in rows for key in [(int(row[0]), int(row[1]))]}

    def days_are_right(self, as_of, kept_is_exact):
        """Checks that the days of both results have the usage of their jobs, and that older days
        have not changed."""
        midnights, expected, amounts = reference.usage_of_days(self.mirror.path, CLUSTER, self.h.settings_at(as_of))
        amounts = by_key((key[:2], key[2], seconds) for key, seconds in amounts.items())
        for name in (KEPT, FULL) if kept_is_exact else (FULL,):
            final_to, got = self.days(name)
            lost = self.purged_until if name == KEPT else 0
            # After a change of the time zone, even today may be final.
            since = next((midnight for midnight in midnights if midnight >= final_to and midnight > lost), as_of + 1)
            wanted = {key: (units, float(Fraction(units, reference.UNIT)), amounts.get(key, {}))
                      for key, units in expected.items() if key[0] >= since and (units or key in amounts)}
            young = {key: row for key, row in got.items() if key[0] >= since}
            unlike = [f'{key}: {young.get(key)}, expected {wanted.get(key)}'
                      for key in sorted(set(young) | set(wanted)) if young.get(key) != wanted.get(key)]
            self.counts['days'] += len(wanted)
            self.counts['free days'] += sum(not row[0] for row in wanted.values())
            self.check(not unlike, f'days of {name} since {since}:', len(unlike), 'differ:', *unlike[:4])

    def check(self, condition, *why):
        if not condition:
            self.wrong.append(' '.join(map(str, why)))

    def same(self, name, got, full):
        """Compares bit for bit."""
        wrong, compared = differences(got[0], full[0])
        self.counts['values'] += compared
        wrong += [f'{column}: {got[1][column]} and {full[1][column]}' for column in SAME_IN_ANY_RUN
                  if exact(got[1][column]) != exact(full[1][column])]
        if None not in (got[2], full[2]):
            wrong += [f'finding {row}' for row in got[2] ^ full[2]]
        self.check(compared and not wrong, f'{name} and another full one:', len(wrong), 'differ:', *wrong[:6])

    def stamp(self):
        """Marks changes since the last run as slurmdbd does: modified just after that run."""
        before, now, books = self.truth[max(self.truth)] if self.truth else {}, self.newest + 1, self.h.books
        if books.associations == before:
            return
        for number in sorted({*before, *books.associations}) if self.h.told else ():
            books.tell_of(now, number, before.get(number), books.associations.get(number))
        for number, row in books.associations.items() if self.truth else ():
            if row != before.get(number):
                created = before.get(number, {}).get('creation_time', 1) if number in before else now
                books.associations[number] = dict(row, creation_time=created, mod_time=now)
        self.truth[now] = dict(books.associations)

    def books_of(self, as_of):
        """Returns the books with the associations of that time."""
        books = self.h.books.copy()
        books.associations = self.truth[max(at for at in self.truth if at <= as_of)]
        return books

    def look_back(self):
        """Runs for a time with other associations, or at least for an earlier run."""
        changed = [at for at, rows in self.truth.items() if at > 1 and rows != self.h.books.associations]
        as_of = self.h.r.choice(changed or [self.h.as_of])
        self.done.append(f'look back to {as_of}')
        self.as_the_reference(self.run(FULL, as_of, True), as_of, True)

    def backfill(self):
        """Checks that backfilled points are equal bit for bit to runs for the same times."""
        h, ask = self.h, lambda sql: self.h.place.ask(FULL, sql)
        usage, fairshare = for_program(h.settings)
        write_settings(f'{self.folder}/backfill.conf', dict(
            source=h.place.accounting(self.mirror.path), results=self.connections[FULL], usage=usage,
            fairshare=fairshare, retention=dict(history_days=20000, history_interval=0)))
        first, last = min(self.instants[FULL]), max(self.instants[FULL])
        every = max((last - first) // h.r.randrange(3, 9), 1)
        if every % DAY == 0:  # points at multiples of a day would be at midnight
            every += 1
        instants = [at for at in range(-(-first // every) * every, last + 1, every)]
        ask('DELETE FROM fairmill_history_point')
        status, out, err = fairmill(f'{self.folder}/backfill.conf', 'backfill', '--since', first, '--until', last, '--every', every)
        self.check(status == 0, f'backfill since {first} every {every} ended with {status}:', out, err)
        ask('CREATE TABLE tried AS SELECT * FROM fairmill_history WHERE as_of IN (SELECT as_of FROM fairmill_backfill)')
        ask('CREATE TABLE tried_fairness AS SELECT * FROM fairmill_fairness WHERE as_of IN (SELECT as_of FROM fairmill_backfill)')
        made = dict(ask('SELECT as_of, truncation_bound FROM fairmill_backfill'))
        made = {int(as_of): bound for as_of, bound in made.items()}
        doubts = {int(as_of): int(doubts) for as_of, doubts in ask('SELECT as_of, in_doubt FROM fairmill_backfill')}
        for as_of in instants:
            status, out, err = fairmill(f'{self.folder}/backfill.conf', 'run', '--now', as_of, '--replace', '--full')
            if as_of not in made:
                self.check(status == 65, f'no point of {as_of}, where a run ends with {status}:', err)
                continue
            rows = f'(SELECT * FROM tried WHERE as_of = {as_of}) AS t'
            same = ' AND '.join(f'COALESCE(t.{column}, -7) = COALESCE(f.{column}, -7)'
                                for column in ('fairshare', 'usage_raw', 'level_fs'))
            counted = ask(f'SELECT (SELECT COUNT(*) FROM {rows}), COUNT(*), SUM(CASE WHEN {same} THEN 1 ELSE 0 END)'
                          f' FROM fairmill_fairshare AS f LEFT JOIN {rows} ON t.id_assoc = f.id_assoc')
            record, = ask(f'SELECT truncation_bound, message FROM fairmill_run WHERE as_of = {as_of} ORDER BY run_id DESC LIMIT 1')
            there, wanted, right = (int(number or 0) for number in counted[0])
            self.counts['backfilled'] += right
            self.check(there == wanted == right, f'backfill of {as_of}: {there} rows, {right} of {wanted} as the run has them')
            self.check(same_value('truncation_bound', *(number if number is None else float(number)
                                                        for number in (made[as_of], record[0]))) and
                       doubts[as_of] == in_doubt((None, dict(message=record[1]))),
                       f'backfill of {as_of} says {made[as_of]}, {doubts[as_of]}, and the run {record}')
        same = ' AND '.join(f'COALESCE(t.{column}, -7) = COALESCE(f.{column}, -7)'
                            for column in ('members', 'jain', 'use_over', 'share_over', 'use_under', 'share_under'))
        counted = ask(f'SELECT COUNT(*), SUM(CASE WHEN {same} THEN 1 ELSE 0 END) FROM tried_fairness AS t'
                      ' LEFT JOIN fairmill_fairness AS f ON f.as_of = t.as_of AND f.scope = t.scope')
        self.check(all(2 * len(made) == int(number or 0) for number in counted[0]), 'backfill and runs have the same fairness', counted)
        ask('DROP TABLE tried')
        ask('DROP TABLE tried_fairness')

    def as_the_reference(self, full, as_of, back):
        settings = self.h.settings_at(as_of)
        path = self.mirror.path
        if back:
            books = self.books_of(as_of)
            # The reference cannot know uncertain states.
            if in_doubt(full):
                self.counts['doubts'] += 1
                return
            self.counts['pasts'] += books.associations != self.h.books.associations
            path = self.mirror.of(books)
        expected, _, record = reference.expected_run(path, CLUSTER, settings)
        rows = {int(number): typed(row) for number, row in full[0].items()}
        unlike, compared = unlike_reference(rows, expected, settings['conformance'])
        for column in SAME_IN_ANY_RUN:
            got = full[1][column]
            if not same_value(column, got if got is None else float(got), record[column],
                              exact={'source_newest', 'unattributed_usage'}):
                unlike.append(f'{column}: {got}, expected {record[column]}')
        self.check(not unlike and compared, 'full run and reference:', len(unlike), 'differ:', *unlike[:6])

    def kind_is_right(self, record, causes, drifting):
        """A run is full if there is a reason, and records the first reason that it finds.  A change
        below the checkpoint may be among the rows that it read again."""
        kind, why = record['kind'], (record['why'] or '').lower()
        if drifting and not causes and 'since they were checkpointed' in why:
            causes = {'since they were checkpointed'}
        named = {word for word in causes if word in why}
        self.counts[kind] += 1
        self.counts.update(f"full because of '{word}'" for word in named)
        self.check((kind == 'full') == bool(causes) == bool(named), f"{kind} because '{why}', expected", *causes)

    def drift_is_found(self, kept, full, as_of):
        """The incremental run may be wrong.  The next full run is correct, and reports the
        drift."""
        wrong, _ = differences(kept[0], full[0])
        again = self.run(KEPT, as_of, full=True)
        self.same('the full run after a drift', again, full)
        self.days_are_right(as_of, True)
        if wrong:
            self.counts['drift'] += 1
            largest, associations = again[1]['drift_max'], again[1]['drifted_associations']
            # The drift is of the charge; usage by TRES may drift alone, as in a free partition.
            charged = [each for each in wrong if 'grp_tres_raw' not in each]
            self.check((float(largest or 0) > 0 or not charged) and int(associations or 0) > 0,
                       f'a drift of {largest} and {associations} associations was reported for', *wrong[:3])

    def seal_of(self, state):
        """The checkpoint is never closer to the newest end than checkpoint_after."""
        seal, after = self.h.seal(), state['settings'].get('checkpoint_after', DAY)
        self.check(seal <= max(state['since'] + 1, state['newest'] - after),
                   f"the seal is {seal}, the newest end {state['newest']}, checkpoint_after {after}")
        self.counts['seals moved'] += bool(self.before and seal > self.before['seal'])
        return seal

    def is_verified(self, name):
        """Verify confirms the published and stored state."""
        status, out, err = fairmill(f'{self.folder}/{name}.conf', 'verify')
        self.counts['verified'] += 1
        self.check(status == 0, f'verify of {name} ended with {status}:', out, err)

    def try_step(self, drifting):
        h = self.h
        as_of = h.now - h.r.choice((0, 0, 0, h.grain))
        if h.as_of is not None:
            as_of = h.as_of - h.rounded(h.r.randrange(3 * h.pace)) - h.grain if h.back else max(h.as_of, as_of)
        self.stamp()
        if not h.back and self.newest:
            as_of = max(as_of, self.newest + (max(self.truth) > self.newest and h.grain))
        self.write_settings()
        self.mirror.write(h.books)
        back = h.as_of is not None and as_of < h.as_of
        before = back and [self.days(name) for name in (KEPT, FULL)]
        self.enter_ledger()
        noted = copy.deepcopy(h.factor_seen), h.factor_spans
        undated = as_of >= self.newest and h.see_factors(as_of)
        kept = self.run(KEPT, as_of, h.asked)
        full = self.run(FULL, as_of, True)
        self.as_the_reference(full, as_of, back)
        self.newest = max(self.newest, as_of)
        # Rows purged before a reset make no run full, and stay in the sums of their days.
        if kept[1]['kind'] == 'full':
            self.purged_until = 0
        elif h.earlier and set(h.earlier[-1].jobs) - set(h.books.jobs):
            self.purged_until = as_of
        # A run without knowledge of the purge has sums of today that cannot be computed again.
        # Servers are slow.
        if not drifting and not self.purged_until and (self.h.place.driver == 'sqlite' or len(self.done) % 4 == 0):
            self.is_verified(KEPT)
        if back:
            self.check([self.days(name) for name in (KEPT, FULL)] == before, 'a run for a past time changed days')
        else:
            self.days_are_right(as_of, not drifting or kept[1]['kind'] == 'full')
        state = dict(state_of(h, as_of, self.mirror.path), undated=undated)
        causes = causes_of(self.before, state, h.asked, h.damaged)
        self.kind_is_right(kept[1], causes, drifting)
        if drifting and kept[1]['kind'] == 'incremental':
            self.drift_is_found(kept, full, as_of)
        else:
            self.same(f"{kept[1]['kind']} run", kept, full)
        if not drifting and not causes:
            self.check(not float(full[1]['drift_max'] or 0), 'a drift was reported without a reason:', full[1])
        # A run for a past time does not change the checkpoint.
        if not self.before or as_of >= self.before['as_of']:
            h.newest = state['newest']
            if drifting or kept[1]['kind'] == 'full':
                self.full_as_of = as_of
            seal = self.seal_of(state)
            self.before = dict(state, full_as_of=self.full_as_of, seal=seal, resets_in_sums=state['resets'](seal),
                               removals_in_sums=state['removals'](seal))
        # A run with uncertain associations records no factors.
        if in_doubt(full):
            h.factor_seen, h.factor_spans = noted
        h.as_of, h.asked, h.damaged, h.back = as_of, False, False, False
        h.earlier.append(h.books.copy())


def in_doubt(run):
    """Returns the number of uncertain associations."""
    found = re.search(r'uncertain: ([0-9]+)', run[1]['message'] or '')
    return int(found[1]) if found else 0


def by_key(found):
    """Returns {key: {tres: seconds}}, from triples."""
    amounts = {}
    for key, tres, seconds in found:
        amounts.setdefault(key, {})[tres] = seconds
    return amounts


def words(*three):
    """Returns the integer of three signed words."""
    high, middle, low = map(int, three)
    return high << 128 | middle % 2 ** 64 << 64 | low % 2 ** 64


def typed(row):
    """Returns a row of compare.exact() in the types of the reference."""
    texts = ('cluster', 'account', 'user_name', 'partition_name', 'grp_tres_mins', 'grp_tres_raw', 'tres_run_mins')
    return {column: value if value is None or column in texts
            else int(value) if column == 'id_assoc' else float.fromhex(value)
            for column, value in row.items()}


def planned(seed, r, told):
    """Returns the steps of a history: some in turn, so that every 20 histories have all steps, and
    others at random."""
    every = STEPS + DRIFTS
    wanted = [every[(seed // 3 * 7 + i) % len(every)] for i in range(7)]
    wanted += [r.choice(STEPS[:2] + every) for _ in range(r.randrange(1, 7))]
    if told:
        wanted += [associations_deleted, association_added_again] * 2
    needs = {**NEEDS, **ledger.NEEDS}
    for function in wanted:
        if function in needs:
            wanted.append(needs[function])
    return r.sample(wanted, len(wanted))


def try_steps(h, trial, waiting, counts):
    """Tries the steps of a history.  A step that is not possible yet is tried again later."""
    trial.try_step(False)
    for _ in range(len(waiting) + 2):
        h.pass_time(h.pace * h.r.choice((0, .02, .3, 1, 1, 2, 5)), h.r.randrange(0, 14))
        h.no_link = max(0, h.no_link - 1)
        arrived = h.arrive()
        counts['records'] += len(arrived)
        late = h.are_sealed(arrived)
        counts['late'] += late
        function = next((each for each in waiting if each(h) is not False), nothing_but_time)
        if function in waiting:
            waiting.remove(function)
        trial.done.append(f'{function.__name__} at {h.now}')
        counts[function.__name__] += 1
        trial.try_step(late or function in DRIFTS)
        if trial.wrong:
            return
    trial.look_back()
    trial.backfill()


def try_history(seed, place, mirror, folder, counts):
    h = History(seed, place)
    trial = Trial(h, mirror, folder, counts)
    try:
        try_steps(h, trial, planned(seed, h.r, h.told), counts)
    except Exception:
        trial.wrong.append(traceback.format_exc())
    counts.update(h.controller.seen)
    tap.ok(not trial.wrong, f'history {seed} on {place.driver}: all runs agree at each of {len(trial.done)} steps',
           f'FAIRMILL_SEED={seed} tries it again', str(h.settings), *trial.done, *trial.wrong)


def all_happened(counts):
    wanted = [each.__name__ for each in STEPS + DRIFTS]
    wanted += [f"full because of '{word}'" for word in CAUSES + CHARGING]
    rare = [name for name in wanted if not counts[name]]
    rare += [kind for kind in Controller.KINDS if counts[kind] < 20]
    rare += ['late'] if not counts['late'] else []
    rare += ['pasts'] if counts['pasts'] < 3 else []
    tap.ok(not rare, 'all steps and reasons happened', 'too rare:', *rare)
    tap.ok(counts['incremental'] * 3 > counts['full'] * 2 and counts['seals moved'] * 2 > counts['incremental'] and
           counts['drift'] > 5 and counts['values'] > 10 ** 5,
           f"{counts['incremental']} runs were incremental, {counts['full']} full; the checkpoint advanced "
           f"{counts['seals moved']} times, {counts['drift']} drifts were found; {counts['values']} values were "
           "compared",
           'too few')


# Histories that found rare errors.
FOUND = 19, 31, 176, 194, 257, 327, 331, 335, 385, 408, 561, 599


def body(place_of):
    """Tries the histories. place_of(folder) creates a place."""
    counts = Counter()
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        place = place_of(folder)
        # Each driver has its own histories.
        offset = ('sqlite', 'mysql', 'pgsql').index(place.driver)
        mirror = Mirror(folder, place)
        numbers = seeds(6 if offset else 20, 40 if offset else 100)
        if len(numbers) > 1:
            numbers = sorted({*range(offset, 3 * len(numbers), 3), *(FOUND if len(numbers) >= 20 else ())})
        for seed in numbers:
            try_history(seed, place, mirror, folder, counts)
        place.close()
    if len(numbers) >= 20:
        all_happened(counts)
        tap.diag(', '.join(f'{name} {number}' for name, number in sorted(counts.items())))
