#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Removes users and accounts with sacctmgr and adds them again.  Their earlier usage stays with the
accounts that were above them, as in slurmctld."""

import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from slurmdbd import Slurmdbd
from program import fairmill, write_settings

RESULTS = 'fairmill_readded'


class Site:
    def __init__(self, server, folder):
        self.server, self.conf = server, f'{folder}/fairmill.conf'
        sections = server.settings(server.accounting, server.database(RESULTS))
        write_settings(self.conf, sections | dict(fairshare=dict(conformance='slurmctld'), usage=dict(half_life=0)))

    def manage(self, *arguments):
        """Runs sacctmgr in a second of its own."""
        self.server.sacctmgr(*arguments)
        time.sleep(1.1)

    def add_user(self, user, account):
        self.manage('add', 'user', user, f'account={account}', 'cluster=mill')

    def add_account(self, account, parent):
        self.manage('add', 'account', account, 'cluster=mill', f'parent={parent}', 'description=d', 'organization=o')

    def make(self):
        self.server.sacctmgr('add', 'cluster', 'mill')
        for account, parent in ('physics', 'root'), ('chemistry', 'root'), ('astro', 'physics'), ('stars', 'astro'):
            self.add_account(account, parent)
        for user, account in ('alice', 'physics'), ('bob', 'physics'), ('carol', 'chemistry'), ('eve', 'stars'):
            self.add_user(user, account)
        # slurmdbd keeps no row of a user removed on the first day without a job.
        for number, user in enumerate(('alice', 'bob', 'carol', 'eve')):
            self.job(user, 10 ** number, 3600, 100)

    def job(self, user, billing, ago, seconds):
        self.server.job('mill', f"user = '{user}'", int(time.time()) - ago, seconds, billing)

    def fairmill(self, *command):
        status, out, err = fairmill(self.conf, *command)
        if status or err:
            raise RuntimeError(f'{command} ended with {status}: {out}{err}')

    def usage(self, *names, at=None):
        self.fairmill('run', *(('--now', at, '--replace') if at else ()))
        rows = {user or f'{account}/': float(usage) for account, user, usage in self.server.sql(
            'SELECT account, user_name, usage_raw FROM fairmill_fairshare', RESULTS)}
        return [rows.get(name) for name in names]


def users(site):
    names = 'root/', 'physics/', 'alice', 'bob'
    tap.same(site.usage(*names), [111100, 101100, 100, 1000], 'at first, each user has its own usage')
    site.manage('delete', 'user', 'alice')
    between = int(time.time())
    tap.same(site.usage(*names), [111100, 101100, None, 1000], "a deleted user's usage is the account's")
    site.add_user('alice', 'physics')
    tap.same(site.usage(*names), [111100, 101100, 0, 1000], 'a user who is added again begins at 0')
    site.manage('delete', 'user', 'bob', 'account=physics', 'cluster=mill')
    site.add_user('bob', 'physics')
    time.sleep(3)
    site.job('bob', 7, 2, 2)
    tap.same(site.usage(*names), [111114, 101114, 0, 14], 'a user deleted from one account begins at 0, too')
    tap.same(site.usage(*names, at=between), [111100, 101100, None, 1000],
             'a run for a time before that has the earlier usage')
    site.fairmill('run', '--replace')


def accounts(site):
    names = 'root/', 'physics/', 'astro/', 'stars/', 'eve', 'chemistry/'
    tap.same(site.usage(*names), [111114, 101114, 100000, 100000, 100000, 10000],
             'accounts have the usage of the users below')
    site.manage('delete', 'account', 'astro')
    tap.same(site.usage(*names), [111114, 101114, None, None, None, 10000],
             'a deleted account leaves its usage to the account above')
    site.add_account('astro', 'chemistry')
    site.add_account('stars', 'astro')
    site.add_user('eve', 'stars')
    tap.same(site.usage(*names), [111114, 101114, 0, 0, 0, 10000],
             'usage stays there when the account is added elsewhere')
    site.job('eve', 5, 1, 1)
    tap.same(site.usage(*names), [111119, 101114, 5, 5, 5, 10005], 'later usage counts for the new parent')


def body():
    # Another test has slurmdbd's database in the shared server.
    os.environ.pop('FAIRMILL_TEST_MARIADB', None)
    with Slurmdbd() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        site = Site(server, folder)
        try:
            site.fairmill('init')
            site.make()
            users(site)
            accounts(site)
            tap.same(server.sql("SELECT kind, subject, detail FROM fairmill_finding WHERE kind <> 'capacity_unknown'", RESULTS), [],
                     'fairmill understands all rows that sacctmgr wrote')
        finally:
            server.sql(f'DROP DATABASE IF EXISTS {RESULTS}')


tap.main(body)
