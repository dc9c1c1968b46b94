#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Changes shares and the tree with sacctmgr, and publishes after each change.  Later runs for these
times publish the same values, from the state that runs recorded and from slurmdbd's txn_table
alone."""

import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from slurmdbd import Slurmdbd
from program import fairmill, write_settings

RESULTS = 'fairmill_past'

# In this order; astro is deleted with its user, and is added again below another account.
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
        """Returns all columns except run_id."""
        rows = self.server.sql('SELECT * FROM fairmill_fairshare ORDER BY id_assoc', RESULTS)
        columns = self.server.columns('fairmill_fairshare', RESULTS)
        return [[cell for name, cell in zip(columns, row) if name != 'run_id'] for row in rows]

    def publish(self):
        """Runs fairmill in a second of its own; returns its time, the published rows, and the
        output of show."""
        time.sleep(1.2)
        self.fairmill('run')
        (instant,), = self.server.sql('SELECT DISTINCT computed_at FROM fairmill_fairshare', RESULTS)
        time.sleep(1.2)
        return int(instant), self.published(), self.fairmill('show')

    def doubts(self):
        """Returns the findings about the past, and deletes them."""
        found = self.server.sql("SELECT kind, detail FROM fairmill_finding WHERE kind LIKE 'past%' ORDER BY subject", RESULTS)
        self.server.sql('DELETE FROM fairmill_finding', RESULTS)
        return found

    def message(self):
        return self.server.sql('SELECT message FROM fairmill_run ORDER BY run_id DESC LIMIT 1', RESULTS)[0][0]

    def forget(self):
        """Deletes the association history that runs recorded, and its row counts and hashes."""
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
        tap.ok(again == rows, f'{by}, the run for the time after "{name}" publishes the same rows',
               *unlike(rows, again), site.message())
        if forgotten:
            tap.ok('0 from earlier runs,' in site.message() or not site.message(), f'no run is evidence for "{name}"',
                   site.message())
    tap.same(site.doubts(), [], f'{by}, no state is uncertain')


def dry(site, past, by):
    for name, (instant, _, shown) in list(past.items())[2::4]:
        tap.same(site.fairmill('run', '--dry-run', '--now', instant), shown,
                 f'{by}, a dry run for the time after "{name}" prints the same as show')


def noted(site, changes):
    """Runs record no more rows than there are associations and changes."""
    (first,), = site.server.sql('SELECT count(*) FROM fairmill_share_change WHERE as_of = (SELECT min(as_of) FROM fairmill_share_change)', RESULTS)
    (later,), = site.server.sql('SELECT count(*) FROM fairmill_share_change', RESULTS)
    tap.same(first, '9', 'the first run records each association')
    tap.ok(changes <= int(later) - 9 <= changes + 3, 'later runs record only changes', first, later)


def moved(site, past):
    """slurmdbd does not record the move of an account, but runs do."""
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
             'with txn_table only, a finding names the moved account')
    tap.ok('uncertain: 1' in site.message(), 'the run counts the uncertain state', site.message())
    tap.same(site.server.sql('SELECT count(*) FROM fairmill_share_change', RESULTS), [['0']],
             'uncertain states are not recorded')


def purged(site, past):
    """Transactions that slurmdbd purged are no longer available."""
    instant = past['modify user alice'][0]
    site.forget()
    site.server.sql(f'DELETE FROM txn_table WHERE timestamp <= {instant}', site.server.accounting)
    site.fairmill('run', '--now', instant, '--replace')
    found = site.doubts()
    tap.ok(['past_unknown', "existence, shares, parent of account 'chemistry'"] in found and
           ['past_unknown', "existence, shares of user 'bob' of account 'physics'"] in found,
           'with a purged txn_table, findings name the entities modified since then', *found)
    site.forget()
    site.fairmill('run', '--now', past['add user eve'][0], '--replace')
    tap.ok(site.published() == past['add user eve'][1], 'the rest of txn_table is enough to publish the same rows')
    # To move an account, slurmdbd up to 24.11 modified all accounts; later releases modify only the
    # moved one.  The parents of the other accounts are certain.
    touched = site.server.sql("SELECT acct FROM mill_assoc_table WHERE user = '' AND acct IN ('physics', 'chemistry') "
                              f"AND mod_time > {past['add user eve'][0]} ORDER BY acct", site.server.accounting)
    tap.same(sorted(detail for _, detail in site.doubts()), [f"parent of account '{account}'" for account, in touched],
             'only the parents of accounts modified since then are uncertain')


def without(site, past):
    """Tests a login that cannot read txn_table, which is optional."""
    login = 'fm_past'
    site.server.login(login)
    site.server.allow(login, 'SELECT', site.server.accounting, 'mill_assoc_table')
    for table in ('cluster_table', 'qos_table', 'tres_table', 'mill_event_table', 'mill_job_table'):
        site.server.allow(login, 'SELECT', site.server.accounting, table)
    sections = site.server.settings(site.server.accounting, RESULTS, user=login)
    write_settings(site.conf, sections)
    site.fairmill('run', '--now', list(past.values())[-1][0], '--replace')
    tap.ok(['past_unreadable', 'txn_table is missing or not readable'] in site.doubts(),
             'a run without access to txn_table succeeds with a finding')
    site.server.sql(f'DROP USER {login}@localhost')


def manage(server, change):
    """Slurm 20.11 requires that users are removed before the account that is their default
    account."""
    try:
        server.sacctmgr(*change)
    except RuntimeError as refusal:
        if 'have these as their Default Accounts' not in str(refusal):
            raise
        server.sacctmgr('delete', 'user', 'eve')
        server.sacctmgr(*change)


def body():
    # Another test has slurmdbd's database in the shared server.
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
            replay(site, past, 'with recorded states')
            dry(site, past, 'with recorded states')
            replay(site, past, 'with txn_table only', forgotten=True)
            site.forget()
            dry(site, past, 'with txn_table only')
            moved(site, past)
            purged(site, past)
            without(site, past)
        finally:
            server.sql(f'DROP DATABASE IF EXISTS {RESULTS}')


tap.main(body)
