#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Shares and the tree change through sacctmgr, and a run publishes after each change.  Later runs of
those instants publish the same once more: by what runs noted, and by slurmdbd's txn_table alone."""

import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from slurmdbd import Slurmdbd
from program import fairmill, write_settings

RESULTS = 'fairmill_past'

# In this order; astro is deleted with its user, and comes back elsewhere.
CHANGES = (
    ('modify', 'user', 'alice', 'account=physics', 'set', 'fairshare=30'),
    ('modify', 'account', 'chemistry', 'set', 'fairshare=parent'),
    ('delete', 'user', 'bob'),
    ('add', 'user', 'bob', 'account=physics', 'cluster=mill', 'fairshare=7'),
    ('add', 'user', 'dora', 'account=chemistry', 'cluster=mill', 'fairshare=5'),
    ('modify', 'user', 'dora', 'set', 'fairshare=6', 'maxjobs=9'),
    ('delete', 'user', 'dora', 'account=chemistry', 'cluster=mill'),
    ('delete', 'account', 'astro'),
    ('add', 'account', 'astro', 'cluster=mill', 'parent=chemistry', 'fairshare=3',
     'description=d', 'organization=o'),
    ('add', 'user', 'eve', 'account=astro', 'cluster=mill', 'fairshare=4'),
    ('add', 'account', 'geology', 'cluster=mill', 'parent=physics', 'fairshare=9',
     'description=d', 'organization=o'),
)


class Site:
    def __init__(self, server, folder):
        self.server, self.conf = server, f'{folder}/fairmill.conf'
        write_settings(self.conf, server.settings(server.accounting, server.database(RESULTS)))

    def make(self):
        manage = self.server.sacctmgr
        manage('add', 'cluster', 'mill')
        for account, shares, parent in (('physics', 60, 'root'), ('chemistry', 40, 'root'),
                                        ('astro', 20, 'physics')):
            manage('add', 'account', account, 'cluster=mill', f'fairshare={shares}', f'parent={parent}',
                   'description=d', 'organization=o')
        for user, account, shares in (('alice', 'physics', 10), ('bob', 'physics', 10),
                                      ('carol', 'chemistry', 1), ('eve', 'astro', 2)):
            manage('add', 'user', user, f'account={account}', 'cluster=mill', f'fairshare={shares}')
        for user, billing in (('alice', 4), ('bob', 2), ('carol', 3), ('eve', 1)):
            self.server.job('mill', f"user = '{user}'", int(time.time()) - 4600, 1000, billing)

    def fairmill(self, *command):
        status, out, err = fairmill(self.conf, *command)
        if status or err:
            raise RuntimeError(f'{command} ended with {status}: {out}{err}')
        return out

    def published(self):
        """All but which run it was."""
        rows = self.server.sql('SELECT * FROM fairmill_fairshare ORDER BY id_assoc', RESULTS)
        columns = self.server.columns('fairmill_fairshare', RESULTS)
        return [[cell for name, cell in zip(columns, row) if name != 'run_id'] for row in rows]

    def publish(self):
        """A run, in a second of its own: (its instant, what it published, what show says of it)."""
        time.sleep(1.2)
        self.fairmill('run')
        (instant,), = self.server.sql('SELECT DISTINCT computed_at FROM fairmill_fairshare', RESULTS)
        time.sleep(1.2)
        return int(instant), self.published(), self.fairmill('show')

    def doubts(self):
        """What was found of the past; forgets it."""
        found = self.server.sql("SELECT kind, detail FROM fairmill_finding WHERE kind LIKE 'past%' ORDER BY subject", RESULTS)
        self.server.sql('DELETE FROM fairmill_finding', RESULTS)
        return found

    def message(self):
        return self.server.sql('SELECT message FROM fairmill_run ORDER BY run_id DESC LIMIT 1', RESULTS)[0][0]

    def forget(self):
        """What runs noted, and that they did."""
        self.server.sql('DELETE FROM fairmill_share_change; DELETE FROM fairmill_share_state; '
                        "DELETE FROM fairmill_kept WHERE table_name IN ('fairmill_share_change', 'fairmill_share_state')",
                        RESULTS)


def unlike(one, other):
    return [pair for pair in zip(one, other) if pair[0] != pair[1]][:3] + [len(one), len(other)]


def replay(site, past, by, forgotten=False):
    for name, (instant, rows, _) in past.items():
        if forgotten:
            site.forget()
        site.fairmill('run', '--now', instant, '--replace')
        again = site.published()
        tap.ok(again == rows, f'{by}, the instant after "{name}" is published as it was',
               *unlike(rows, again), site.message())
        if forgotten:
            tap.ok('0 from earlier runs,' in site.message() or not site.message(), f'which no run told of "{name}"',
                   site.message())
    tap.same(site.doubts(), [], f'{by}, nothing is in doubt')


def dry(site, past, by):
    for name, (instant, _, shown) in list(past.items())[2::4]:
        tap.same(site.fairmill('run', '--dry-run', '--now', instant), shown,
                 f'{by}, a dry run of the instant after "{name}" prints what show did')


def noted(site, changes):
    """No more rows than there are associations and changes."""
    (first,), = site.server.sql('SELECT count(*) FROM fairmill_share_change WHERE as_of = (SELECT min(as_of) FROM fairmill_share_change)', RESULTS)
    (later,), = site.server.sql('SELECT count(*) FROM fairmill_share_change', RESULTS)
    tap.same(first, '9', 'the first run notes each association')
    tap.ok(changes <= int(later) - 9 <= changes + 3, 'later ones only what has changed', first, later)


def moved(site, past):
    """slurmdbd tells nothing of an account that was moved, runs do."""
    last = list(past)[-1]
    both = {last: past[last]}
    site.forget()
    site.fairmill('run', '--now', past[last][0], '--replace')
    site.server.sacctmgr('modify', 'account', 'geology', 'cluster=mill', 'set', 'parent=chemistry')
    both['geology moved'] = site.publish()
    replay(site, both, 'with a move')
    site.forget()
    site.fairmill('run', '--now', past[last][0], '--replace')
    tap.same(site.doubts(), [['past_unknown', "parent of account 'geology'"]],
             'by txn_table alone, a finding names the account that was moved at an unknown time')
    tap.ok('uncertain: 1' in site.message(), 'and the run counts it', site.message())
    tap.same(site.server.sql('SELECT count(*) FROM fairmill_share_change', RESULTS), [['0']],
             'what is in doubt is not noted')


def purged(site, past):
    """What slurmdbd has purged is not told any more."""
    instant = past['modify user alice'][0]
    site.forget()
    site.server.sql(f'DELETE FROM txn_table WHERE timestamp <= {instant}', site.server.accounting)
    site.fairmill('run', '--now', instant, '--replace')
    found = site.doubts()
    tap.ok(['past_unknown', "existence, shares, parent of account 'chemistry'"] in found and
           ['past_unknown', "existence, shares of user 'bob' of account 'physics'"] in found,
           'where txn_table was purged, findings name what was touched since', *found)
    site.forget()
    site.fairmill('run', '--now', past['add user eve'][0], '--replace')
    tap.ok(site.published() == past['add user eve'][1], 'by what is left of txn_table all is published as it was')
    # To move an account slurmdbd up to 24.11 touched all of them, a later one does that only.  The other accounts' parents are told.
    touched = site.server.sql("SELECT acct FROM mill_assoc_table WHERE user = '' AND acct IN ('physics', 'chemistry') "
                              f"AND mod_time > {past['add user eve'][0]} ORDER BY acct", site.server.accounting)
    tap.same(sorted(detail for _, detail in site.doubts()), [f"parent of account '{account}'" for account, in touched],
             'and in doubt is only where accounts were that were touched since')


def without(site, past):
    """The table is optional."""
    login = 'fm_past'
    site.server.login(login)
    site.server.allow(login, 'SELECT', site.server.accounting, 'mill_assoc_table')
    for table in ('cluster_table', 'qos_table', 'mill_event_table', 'mill_job_table'):
        site.server.allow(login, 'SELECT', site.server.accounting, table)
    sections = site.server.settings(site.server.accounting, RESULTS, user=login)
    write_settings(site.conf, sections)
    site.fairmill('run', '--now', list(past.values())[-1][0], '--replace')
    tap.ok(['past_unreadable', 'txn_table is missing or not readable'] in site.doubts(),
             'a login that may not read txn_table has a finding, and the run goes on')
    site.server.sql(f'DROP USER {login}@localhost')


def manage(server, change):
    """Slurm 20.11 wants users gone before the account that is their default one."""
    try:
        server.sacctmgr(*change)
    except RuntimeError as refusal:
        if 'have these as their Default Accounts' not in str(refusal):
            raise
        server.sacctmgr('delete', 'user', 'eve')
        server.sacctmgr(*change)


def body():
    # Another test has slurmdbd's database in the server that tests share.
    os.environ.pop('FAIRMILL_TEST_MARIADB', None)
    with Slurmdbd() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        site = Site(server, folder)
        try:
            site.fairmill('init')
            site.make()
            past = {'the beginning': site.publish()}
            for change in CHANGES:
                manage(server, change)
                past[' '.join(change[:3])] = site.publish()
            noted(site, len(CHANGES))
            replay(site, past, 'by what runs noted')
            dry(site, past, 'by what runs noted')
            replay(site, past, 'by txn_table', forgotten=True)
            site.forget()
            dry(site, past, 'by txn_table')
            moved(site, past)
            purged(site, past)
            without(site, past)
        finally:
            server.sql(f'DROP DATABASE IF EXISTS {RESULTS}')


tap.main(body)
