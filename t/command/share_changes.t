#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that each change of an association is recorded once, by the run that saw it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import Place

COLUMNS = 'id_assoc, deleted, parent_id, parent_account, account, user_name, partition_name, shares'
TREE = '''
root/
  physics/     60
    lab/        5
      eve       1
    alice       parent
  chemistry/   40
    carol@gpu   1
'''
ROOT, PHYSICS, LAB, EVE, ALICE, CHEMISTRY, CAROL = range(1, 8)


class Site(Place):
    """A site whose runs are for the current time; some are for the same second."""

    def recorded(self):
        self.succeed('run')
        return self.query(f'SELECT {COLUMNS} FROM fairmill_share_change'
                          ' WHERE run_id = (SELECT max(run_id) FROM fairmill_run) ORDER BY id_assoc')

    def change_all(self, *statements):
        for statement in statements:
            self.change(statement.replace('assoc', 'tiny_assoc_table', 1))


STEPS = (
    ('a removed user', (f'UPDATE assoc SET deleted = 1 WHERE id_assoc = {ALICE}',),
     [(ALICE, 1, PHYSICS, 'physics', 'physics', 'alice', '', None)]),
    ('a user who returns unchanged', (f'UPDATE assoc SET deleted = 0 WHERE id_assoc = {ALICE}',),
     [(ALICE, 0, PHYSICS, 'physics', 'physics', 'alice', '', None)]),
    ('no row without a change', (), []),
    ('changed shares', (f'UPDATE assoc SET shares = 3 WHERE id_assoc = {EVE}',),
     [(EVE, 0, LAB, 'lab', 'lab', 'eve', '', 3)]),
    ('a renamed user', (f"UPDATE assoc SET \"user\" = 'karl' WHERE id_assoc = {CAROL}",),
     [(CAROL, 0, CHEMISTRY, 'chemistry', 'chemistry', 'karl', 'gpu', 1)]),
    ('a changed partition', (f"UPDATE assoc SET partition = 'cpu' WHERE id_assoc = {CAROL}",),
     [(CAROL, 0, CHEMISTRY, 'chemistry', 'chemistry', 'karl', 'cpu', 1)]),
    ('a renamed account and its direct members',
     (f"UPDATE assoc SET acct = 'science' WHERE id_assoc IN ({PHYSICS}, {ALICE})",
      f"UPDATE assoc SET parent_acct = 'science' WHERE id_assoc = {LAB}"),
     [(PHYSICS, 0, ROOT, 'root', 'science', '', '', 60), (LAB, 0, PHYSICS, 'science', 'lab', '', '', 5),
      (ALICE, 0, PHYSICS, 'science', 'science', 'alice', '', None)]),
    ('an account that was replaced by another one',
     (f'UPDATE assoc SET id_assoc = 20 WHERE id_assoc = {PHYSICS}', f'UPDATE assoc SET id_parent = 20 WHERE id_parent = {PHYSICS}'),
     [(PHYSICS, 1, ROOT, 'root', 'science', '', '', None), (LAB, 0, 20, 'science', 'lab', '', '', 5),
      (ALICE, 0, 20, 'science', 'science', 'alice', '', None), (20, 0, ROOT, 'root', 'science', '', '', 60)]),
    ('no row for an association that was removed before', (f'UPDATE assoc SET shares = 4 WHERE id_assoc = {EVE}',),
     [(EVE, 0, LAB, 'lab', 'lab', 'eve', '', 4)]),
)


def body():
    with Site() as site:
        site.ready(TREE)
        tap.same(len(site.recorded()), 7, 'the first run records each association')
        for what, statements, wanted in STEPS:
            site.change_all(*statements)
            tap.same(site.recorded(), wanted, f'a run records: {what}')


tap.main(body)
