#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests shares with a real slurmdbd.  `sacctmgr load` accepts exported files, fairmill reads the
output of `sacctmgr dump`, and the commands that diff prints have the intended effect."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from slurmdbd import Slurmdbd
from program import FAIRMILL, write_settings

RESULTS = 'fairmill_results'


class Site:
    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        self.conf = f'{folder}/fairmill.conf'
        write_settings(self.conf, server.settings(server.accounting, RESULTS))

    def make(self):
        manage = self.server.sacctmgr
        manage('add', 'cluster', 'mill')
        for account, parent, shares, *more in (
                ('physics', 'root', 60, 'description=Physics: all of it', 'organization=o'),
                ('optics', 'physics', 'parent'), ('chemistry', 'root', 40), ('p h#ys:x', 'root', 0),
                ('c#', 'p h#ys:x', 7), ('old', 'root', 2), ('older', 'old', 3)):
            manage('add', 'account', f'name={account}', 'cluster=mill', f'parent={parent}', f'fairshare={shares}', *more)
        for user, account, shares, *more in (
                ('alice', 'physics', 10), ('alice', 'optics', 'parent'), ('bob', 'optics', 5, 'priority=9'),
                ('bob', 'optics', 6, 'partition=gpu'), ('bob', 'chemistry', 7, 'partition=gpu'), ('carol', 'chemistry', 1),
                ('dora', 'old', 1), ('dora', 'older', 1), ('emil', 'older', 1), ('emil', 'chemistry', 1),
                ('jö', 'optics', 1), ('a:b c', 'p h#ys:x', 2), ('x#y', 'c#', 3),
                ('finn', 'chemistry', 1, 'partition=cpu'), ('finn', 'chemistry', 2, 'partition=gpu')):
            manage('add', 'user', f'name={user}', f'account={account}', 'cluster=mill', f'fairshare={shares}', *more)
        manage('modify', 'account', 'where', 'name=root', 'cluster=mill', 'set', 'fairshare=5')
        manage('modify', 'user', 'where', 'name=bob', 'cluster=mill', 'set', 'defaultaccount=chemistry')

    def tree(self, cluster):
        return sorted(self.server.sql(
            'SELECT acct, user, `partition`, parent_acct, shares, priority, '
            "IF(user = '', 0, (SELECT MAX(other.is_def) FROM {0} other WHERE other.acct = own.acct AND other.user = own.user "
            'AND other.deleted = 0)) '
            'FROM {0} own WHERE deleted = 0'.format(f'`{cluster}_assoc_table`'), self.server.accounting), key=str)

    def fairmill(self, *arguments):
        """Returns the exit status and the output."""
        done = subprocess.run([FAIRMILL, '-c', self.conf, 'shares', *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, cwd=self.folder, check=False)
        return done.returncode, done.stdout

    def write(self, name, text):
        path = f'{self.folder}/{name}'
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def dump(self, cluster):
        path = f'{self.folder}/dump'
        if os.path.exists(path):
            os.unlink(path)
        self.server.sacctmgr('dump', f'cluster={cluster}', f'file={path}')
        return path

    def follow(self, path, statement, refusal=None):
        """Runs the printed commands with sh, after which nothing differs.  Returns whether this
        Slurm accepts all of them."""
        status, commands = self.fairmill('diff', '--commands', path)
        tap.ok(status == 1 and commands, f'{statement}: diff prints commands', status, commands)
        self.write('commands', commands)
        done = subprocess.run(['sh', '-e', 'commands'], cwd=self.folder, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, SLURM_CONF=self.server.conf), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode and refusal and 'can not remove the default account' in done.stdout:
            tap.ok(refusal in commands, f'{statement}: a comment says what this Slurm rejects', commands, done.stdout)
            return False
        tap.ok(not done.returncode, f'{statement}: sh runs the commands', commands, done.stdout)
        tap.same(self.fairmill('diff', path), (0, ''), f'{statement}: after the commands nothing differs')
        return True


def exported(site):
    site.make()
    status, text = site.fairmill('export', '--cluster', 'mill')
    tap.same(status, 0, 'export succeeds for a cluster')
    path = site.write('export', text)
    tap.same(site.fairmill('diff', path), (0, ''), 'the cluster does not differ from the export')
    if not tap.same(site.fairmill('diff', site.dump('mill')), (0, ''),
                    "the cluster does not differ from sacctmgr's dump"):
        with open(f'{site.folder}/dump', encoding='utf-8') as file:
            tap.diag(file.read())
    site.server.sacctmgr('add', 'cluster', 'copy')
    before = site.tree('mill')
    copy = site.write('copy', text.replace("Cluster - 'mill'", "Cluster - 'copy'", 1))
    site.server.sacctmgr('load', f'file={copy}')
    tap.same(site.tree('copy'), before, 'sacctmgr load restores the same tree in an empty cluster')
    tap.same(site.fairmill('diff', copy), (0, ''), 'the cluster that the file names does not differ')
    tap.same(site.fairmill('export', '--cluster', 'copy')[1], text.replace("'mill'", "'copy'", 1),
             'the loaded cluster gives the same export')
    tap.same(site.fairmill('diff', '--cluster=copy', path), (0, ''),
             'a cluster selected on the command line does not differ')
    return text


def changed(site, text):
    """Makes each change of the file separately."""
    def change(statement, *pairs, refusal=None):
        nonlocal text
        before = text
        for old, new in pairs:
            if text.count(old) != 1:
                raise ValueError(f'{old!r} is {text.count(old)} times in {text}')
            text = text.replace(old, new)
        if not site.follow(site.write('wanted', text), statement, refusal):
            text = before
    change('shares', ("Account - 'physics':Fairshare=60", "Account - 'physics':Fairshare=61"),
           ("Cluster - 'mill':Fairshare=5", "Cluster - 'mill':Fairshare=4"))
    change('shares of users with partitions',
           ("User - 'bob':DefaultAccount='chemistry':Fairshare=5", "User - 'bob':DefaultAccount='chemistry':Fairshare=parent"),
           ("User - 'finn':Partition='gpu':DefaultAccount='chemistry':Fairshare=2",
            "User - 'finn':Partition='gpu':DefaultAccount='chemistry':Fairshare=20"))
    change('a new user', ("User - 'carol'", "User - 'gina':Partition='gpu':Fairshare=8\nUser - 'Hans'\nUser - 'carol'"))
    change('a new account with users',
           ("Account - 'chemistry'", "Account - 'bio logy':Fairshare=3:Description='Life: all'\nParent - 'bio logy'\n"
            "User - 'iris':DefaultAccount='physics':Fairshare=3\nUser - 'alice'\nParent - 'root'\nAccount - 'chemistry'"),
           ("User - 'alice':DefaultAccount='physics':Fairshare=10",
            "User - 'alice':DefaultAccount='physics':Fairshare=10\nUser - 'iris':DefaultAccount='physics':Fairshare=4"))
    tap.same(site.server.sql("SELECT acct FROM mill_assoc_table WHERE user = 'iris' AND is_def", site.server.accounting), [['physics']],
             "the new user's default account is the one in the file")
    optics = "Account - 'optics':Fairshare=parent\n"
    change('a moved account', (optics, ''), ("Parent - 'bio logy'", f"{optics}Parent - 'bio logy'"))
    change('a user moved from a default account', ("User - 'carol':DefaultAccount='chemistry':Fairshare=1\n", ''),
           ("User - 'jö'", "User - 'carol':Fairshare=1\nUser - 'jö'"))
    change('a removed partition', ("User - 'finn':Partition='cpu':DefaultAccount='chemistry':Fairshare=1\n", ''),
           refusal='Slurm 24.11 and later keep all partitions of a default account')
    change('a removed association without a partition',
           ("User - 'bob':DefaultAccount='chemistry':Fairshare=parent:Priority=9\n", ''))
    change('a removed user', ("User - 'alice':DefaultAccount='physics':Fairshare=10\n", ''),
           ("User - 'alice'\n", ''), ("User - 'alice':DefaultAccount='physics':Fairshare=parent\n", ''))
    tap.same(site.server.sql("SELECT acct FROM mill_assoc_table WHERE user = 'alice' AND deleted = 0", site.server.accounting), [],
             'a removed user has no account')


def turned(site):
    """Accounts move below each other, and one is removed with everything below it."""
    wanted = '''Cluster - 'mill':Fairshare=4
Parent - 'root'
Account - 'optics':Fairshare=1
Parent - 'optics'
Account - 'new':Fairshare=1
Parent - 'new'
Account - 'physics':Fairshare=parent
Parent - 'physics'
Account - 'chemistry':Fairshare=9
User - 'bob'
Parent - 'chemistry'
User - 'emil':Fairshare=2
'''
    site.follow(site.write('wanted', wanted.replace("Account - 'optics'", "Account - 'chemistry'\nAccount - 'optics'", 1)
                           .replace("Account - 'chemistry':Fairshare=9\n", '')), 'removal of most of a cluster')
    site.follow(site.write('wanted', wanted), 'accounts moved below moved accounts')
    back = '''Cluster - 'mill'
Parent - 'root'
Account - 'chemistry'
Parent - 'chemistry'
Account - 'physics'
User - 'emil'
Parent - 'physics'
Account - 'optics'
User - 'bob'
'''
    site.follow(site.write('wanted', back), 'a reversed branch')


def body():
    with Slurmdbd() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        site = Site(server, folder)
        changed(site, exported(site))
        turned(site)


tap.main(body)
