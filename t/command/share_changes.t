#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Whatever changes of an association is noted, by itself, once, and under the run that saw it."""

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
    """Its runs are of now, some of the same second."""

    def noted(self):
        self.succeed('run')
        return self.query(f'SELECT {COLUMNS} FROM fairmill_share_change'
                          ' WHERE run_id = (SELECT max(run_id) FROM fairmill_run) ORDER BY id_assoc')

    def change_all(self, *statements):
        for statement in statements:
            self.change(statement.replace('assoc', 'tiny_assoc_table', 1))


STEPS = (
    ('a user that is gone', (f'UPDATE assoc SET deleted = 1 WHERE id_assoc = {ALICE}',),
     [(ALICE, 1, PHYSICS, 'physics', 'physics', 'alice', '', None)]),
    ('one that is back, and as before', (f'UPDATE assoc SET deleted = 0 WHERE id_assoc = {ALICE}',),
     [(ALICE, 0, PHYSICS, 'physics', 'physics', 'alice', '', None)]),
    ('nothing where nothing changed', (), []),
    ('other shares', (f'UPDATE assoc SET shares = 3 WHERE id_assoc = {EVE}',),
     [(EVE, 0, LAB, 'lab', 'lab', 'eve', '', 3)]),
    ("a user's other name", (f"UPDATE assoc SET \"user\" = 'karl' WHERE id_assoc = {CAROL}",),
     [(CAROL, 0, CHEMISTRY, 'chemistry', 'chemistry', 'karl', 'gpu', 1)]),
    ('another partition', (f"UPDATE assoc SET partition = 'cpu' WHERE id_assoc = {CAROL}",),
     [(CAROL, 0, CHEMISTRY, 'chemistry', 'chemistry', 'karl', 'cpu', 1)]),
    ("an account's other name, and of what is right below it",
     (f"UPDATE assoc SET acct = 'science' WHERE id_assoc IN ({PHYSICS}, {ALICE})",
      f"UPDATE assoc SET parent_acct = 'science' WHERE id_assoc = {LAB}"),
     [(PHYSICS, 0, ROOT, 'root', 'science', '', '', 60), (LAB, 0, PHYSICS, 'science', 'lab', '', '', 5),
      (ALICE, 0, PHYSICS, 'science', 'science', 'alice', '', None)]),
    ('an account that another one took the place of',
     (f'UPDATE assoc SET id_assoc = 20 WHERE id_assoc = {PHYSICS}', f'UPDATE assoc SET id_parent = 20 WHERE id_parent = {PHYSICS}'),
     [(PHYSICS, 1, ROOT, 'root', 'science', '', '', None), (LAB, 0, 20, 'science', 'lab', '', '', 5),
      (ALICE, 0, 20, 'science', 'science', 'alice', '', None), (20, 0, ROOT, 'root', 'science', '', '', 60)]),
    ('what was gone before is not noted again', (f'UPDATE assoc SET shares = 4 WHERE id_assoc = {EVE}',),
     [(EVE, 0, LAB, 'lab', 'lab', 'eve', '', 4)]),
)


def body():
    with Site() as site:
        site.ready(TREE)
        tap.same(len(site.noted()), 7, 'the first run notes every association')
        for what, statements, wanted in STEPS:
            site.change_all(*statements)
            tap.same(site.noted(), wanted, f'noted: {what}')


tap.main(body)
