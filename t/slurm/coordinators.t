#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests the permissions of users that a real sacctmgr makes coordinators, operators or
administrators."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from slurmdbd import Slurmdbd
from program import fairmill, write_settings

RESULTS = 'fairmill_coordinators'
ACCOUNTS = (('physics', 'root'), ('astro', 'physics'), ('stars', 'astro'), ('chemistry', 'root'))
USERS = (('alice', 'physics'), ('bob', 'astro'), ('carol', 'stars'), ('dan', 'chemistry'), ('eve', 'chemistry'))


def published(server, conf):
    status, out, err = fairmill(conf, 'run')
    if status:
        raise RuntimeError(f'run: {out}{err}')
    rows = {}
    for user, account, privilege in server.sql('SELECT user_name, account, privilege FROM fairmill_privilege', RESULTS):
        rows.setdefault(user, set()).add((account, privilege))
    return rows


def by_slurm(server, user):
    """Returns the accounts that the user coordinates according to slurmdbd."""
    out = server.sacctmgr('show', 'user', user, 'withcoord', 'format=user,coordinators', '--parsable2', '--noheader')
    return {name for line in out.split() for name in line.partition('|')[2].split(',') if name}


def same(server, rows, users, statement):
    for user in users:
        ours = {account for account, privilege in rows.get(user, ()) if privilege == 'coordinator'}
        tap.same(ours, by_slurm(server, user), f'{statement}: {user}')


def body():
    with Slurmdbd() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        conf = f'{folder}/fairmill.conf'
        sections = server.settings(server.accounting, server.database(RESULTS))
        server.sacctmgr('add', 'cluster', 'mill')
        for account, parent in ACCOUNTS:
            server.sacctmgr('add', 'account', account, 'cluster=mill', f'parent={parent}', 'description=d', 'organization=o')
        for user, account in USERS:
            server.sacctmgr('add', 'user', user, f'account={account}', 'cluster=mill')
        server.sacctmgr('add', 'coordinator', 'account=physics', 'names=eve')
        server.sacctmgr('add', 'coordinator', 'account=chemistry', 'names=bob')
        server.sacctmgr('modify', 'user', 'dan', 'set', 'adminlevel=operator')
        write_settings(conf, sections | {'report': dict(private='no')})
        status, _, err = fairmill(conf, 'init')
        tap.same((status, err), (0, ''), 'init creates the tables')
        tap.same(published(server, conf), {}, 'without privacy no permissions are published')
        write_settings(conf, sections | {'report': dict(private='usage')})
        rows = published(server, conf)
        same(server, rows, ('alice', 'bob', 'carol', 'eve'), 'coordinators get all accounts below theirs')
        tap.same({user for user in rows}, {'bob', 'eve', 'dan', 'root'},
                 'only coordinators, the operator and root have permissions')
        tap.same(rows['dan'], {('', 'operator')}, 'an operator may see all users')
        server.sacctmgr('modify', 'user', 'dan', 'set', 'adminlevel=admin')
        server.sacctmgr('delete', 'coordinator', 'account=chemistry', 'names=bob')
        rows = published(server, conf)
        tap.same((rows['dan'], 'bob' in rows), ({('', 'administrator')}, False),
                 'permissions that sacctmgr revoked are no longer published')
        version = server.sacctmgr('--version')
        release = tuple(map(int, re.match(r'\S+ (\d+)\.(\d+)', version).groups()))
        if release < (24, 11):
            return  # UsersAreCoords does not exist in this release
        server.sacctmgr('modify', 'account', 'astro', 'set', 'flags=UsersAreCoords')
        rows = published(server, conf)
        same(server, rows, ('alice', 'bob', 'carol', 'eve'), 'users of an account with UsersAreCoords are coordinators')
        tap.same({'alice', 'bob', 'carol'} & set(rows), {'bob', 'carol'} if release < (25, 5) else {'bob'},
                 'UsersAreCoords applies to direct users, up to 24.11 also to those below')


tap.main(body)
