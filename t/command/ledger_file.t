#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests entries that are missing from the ledger, and `ledger export` and `ledger import`.

A missing entry is reported until it is imported again or its loss is accepted."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place
from program import FAIRMILL

DRAWING = '''
cluster tiny
root/
  physics/   60
    alice    10  use 30000
    bob      10  use 10000
  chemistry/ 40
    carol     1  use 20000
'''
TABLES = ('fairmill_ledger', 'fairmill_ledger_reset', 'fairmill_ledger_chain', 'fairmill_ledger_counted')


class Desk(Place):
    def begin(self, drawing=DRAWING):
        """Makes entries: 1 credits alice, 2 bob, 3 resets chemistry, 4 debits bob, 5 undoes 4."""
        self.ready(drawing)
        self.enter('credit', 1000, '-u', 'alice')
        self.enter('credit', 2000, '-u', 'bob')
        self.enter('reset', '-A', 'chemistry')
        self.enter('debit', 7, '-u', 'bob')
        self.enter('undo', 4, at=None)

    def enter(self, *arguments, at=NOW - 10):
        self.succeed('ledger', *arguments, *(['--at', at] if at else []), '-M', 'tiny', '-w', 'a "test", äöü', '-y')

    def message(self, now=NOW, cluster='tiny'):
        self.succeed('run', '--now', now, '--replace')
        return self.query('SELECT message FROM fairmill_run WHERE cluster = ? ORDER BY run_id DESC LIMIT 1', cluster)[0][0]

    def lose(self, *ids, tables=('fairmill_ledger', 'fairmill_ledger_reset')):
        for table in tables:
            self.query(f'DELETE FROM {table} WHERE id IN ({", ".join(map(str, ids))})')

    def found(self, kind='ledger_entry_lost'):
        """Returns [(subject, number of runs)] of the findings."""
        return self.query('SELECT subject, count FROM fairmill_finding WHERE kind = ? ORDER BY 1', kind)

    def rows(self):
        return [self.query(f'SELECT * FROM {table} ORDER BY 1, 2') for table in TABLES[:3]]

    def exported(self):
        self.succeed('ledger', 'export')
        return self.out.splitlines()

    def write(self, lines, name='ledger.json'):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.writelines(line + '\n' for line in lines)
        return self.path(name)


def there_and_back(desk):
    desk.begin()
    desk.message()
    rows, usage = desk.rows(), desk.usage('physics.alice', 'physics.bob', 'chemistry.carol')
    lines = desk.exported()
    entries = [json.loads(line) for line in lines]
    tap.same([(entry['id'], entry['kind'], entry['username'], entry['account']) for entry in entries],
             [(1, 'credit', 'alice', 'physics'), (2, 'credit', 'bob', 'physics'), (3, 'reset', '', 'chemistry'),
              (4, 'debit', 'bob', 'physics'), (5, 'undo', '', '')], 'export writes one line of JSON for each entry')
    tap.same([entries[0]['tres_seconds'], len(entries[2]['covers']), entries[4]['undoes'], entries[0]['why'],
              entries[0]['instant']], [1000, 2, 4, 'a "test", äöü', NOW - 10], 'the lines have all fields of the entries')
    desk.succeed('ledger', 'export', desk.path('ledger.json'))
    with open(desk.path('ledger.json'), encoding='utf-8') as file:
        tap.same(file.read().splitlines(), lines, 'export writes the same lines to a file')
    tap.same(desk.out, '', 'export to a file prints nothing')
    desk.succeed('ledger', 'import', desk.path('ledger.json'))
    tap.same([desk.out, desk.rows()], ['0 entries added, 5 already existed\n', rows],
             'import adds no entry that exists')
    desk.write(lines)
    desk.ready(DRAWING)
    desk.succeed('ledger', 'import', desk.path('ledger.json'), '--dry-run')
    tap.same([desk.out, desk.rows()], ['5 entries would be added, 0 already existed\n', [[], [], []]],
             'import --dry-run prints the number and adds nothing')
    with open(desk.path('ledger.json'), encoding='utf-8') as file:
        done = subprocess.run([FAIRMILL, '-c', desk.path('fm.conf'), 'ledger', 'import'], stdin=file, text=True,
                              stdout=subprocess.PIPE, check=False)
    tap.same([done.returncode, done.stdout], [0, '5 entries added, 0 already existed\n'], 'import reads standard input')
    tap.same(desk.rows(), rows, 'import into another database makes the same rows')
    desk.message()
    tap.same(desk.usage('physics.alice', 'physics.bob', 'chemistry.carol'), usage, 'imported entries count the same')
    tap.same(desk.exported(), lines, 'imported entries are exported unchanged')


def sets(desk):
    """Tests the amount and the associations of a set."""
    desk.begin()
    desk.enter('set', 4711, '-u', 'alice')
    desk.enter('set', 0, '-u', 'bob')
    desk.message()
    rows, lines, usage = desk.rows(), desk.exported(), desk.usage('physics.alice', 'physics.bob')
    entry = json.loads(lines[5])
    tap.same([entry['kind'], entry['tres_seconds'], entry['covers'], json.loads(lines[6])['tres_seconds']], ['set', 4711, [entry['id_assoc']], 0],
             'export has the amount and the associations of a set')
    desk.ready(DRAWING)
    desk.succeed('ledger', 'import', desk.write(lines))
    desk.message()
    tap.same([desk.rows(), desk.usage('physics.alice', 'physics.bob'), desk.exported()], [rows, usage, lines],
             'an imported set makes the same rows and usage')
    desk.ends(65, 'a set without an amount is rejected',
              'ledger', 'import', desk.write([lines[5].replace('"tres_seconds":4711,', '')]))


def lost(desk):
    """Tests missing entries with and without their row in the hash chain."""
    for tables, what in ((TABLES[:2], 'the row'), (TABLES[:3], 'the row and its hash'), (TABLES, 'all rows of the entry')):
        desk.begin()
        tap.same(desk.message(), '', f'a complete ledger causes no message ({what} follow)')
        bob, = desk.usage('physics.bob')
        rows, lines = desk.rows(), desk.exported()
        desk.lose(2, tables=tables)
        tap.ok('entry 2 is lost' in desk.message(), f'{what} missing: the run has a message')
        tap.same([desk.usage('physics.bob'), desk.found()], [[bob + 2000], [('2', 1)]],
                 f'{what} missing: the run omits the entry and has a finding')
        desk.message(NOW + 1)
        tap.same(desk.found(), [('2', 2)], f'{what} missing: the next run has the finding, too')
        desk.ends(1, f'{what} missing: list exits with status 1', 'ledger', 'list')
        desk.says(f'{what} missing: list names the entry', 'entry 2 is lost')
        desk.ends(1, f'{what} missing: export exits with status 1', 'ledger', 'export')
        tap.same(desk.out.splitlines(), lines[:1] + lines[2:], f'{what} missing: export writes the other entries')
        desk.succeed('ledger', 'import', desk.write(lines))
        tap.same([desk.out, desk.rows()], ['1 entries added, 4 already existed\n', rows],
                 f'{what} missing: import restores the entry')
        tap.same([desk.message(), desk.usage('physics.bob'), desk.found()], ['', [bob], [('2', 2)]],
                 f'{what} restored: the entry counts without a new finding')


def lost_reset(desk):
    """Tests a reset of which only the associations are stored."""
    desk.begin()
    desk.message()
    rows, lines = desk.rows(), desk.exported()
    desk.lose(3, tables=TABLES[:1])
    tap.same(desk.message(), 'the ledger: entry 3 is lost', 'a reset without its own row is reported as lost')
    desk.succeed('ledger', 'import', desk.write(lines))
    tap.same([desk.rows(), desk.message()], [rows, ''], 'import restores the lost reset')
    desk.query('DELETE FROM fairmill_ledger_reset')
    tap.same(desk.message(), 'the ledger: entry 3 is not as it was entered',
             'a reset without its associations is reported as changed')
    for table in (TABLES[0], *TABLES[2:]):
        desk.query(f'DELETE FROM {table}')
    desk.query('INSERT INTO fairmill_ledger_reset VALUES (9, 1)')
    desk.enter('credit', 1, '-u', 'bob')
    tap.same(desk.query('SELECT id FROM fairmill_ledger'), [(10,)], 'a new entry does not get the associations of a lost one')


def lost_at_the_end(desk):
    desk.begin()
    desk.message()
    desk.lose(4, 5, tables=TABLES[:3])
    tap.same([desk.message(), desk.found()], ['the ledger: entry 4 is lost, entry 5 is lost', [('4', 1), ('5', 1)]],
             'lost last entries are known from the runs that counted them')
    desk.enter('credit', 1, '-u', 'bob')
    tap.same(desk.query('SELECT max(id) FROM fairmill_ledger'), [(6,)], 'a new entry does not get the number of a lost one')
    tap.same([desk.message(), desk.found()], ['the ledger: entry 4 is lost, entry 5 is lost', [('4', 2), ('5', 2)]],
             'the last entries are still lost after a new entry')


def lost_before_any_run(desk):
    desk.begin()
    desk.lose(2)
    desk.ends(1, 'list exits with status 1 if an uncounted entry is lost', 'ledger', 'list')
    desk.says('list names a lost entry by its hash', 'entry 2 is lost')
    desk.lose(2, tables=TABLES)
    desk.ends(1, 'list exits with status 1 if the hash is lost, too', 'ledger', 'list')
    desk.says('list names a lost entry because the next hash does not match', 'entry 2 is lost')


def changed(desk):
    for column, value in (('tres_seconds', 20000), ('instant', 5), ('id_assoc', 1), ('cluster', "'huge'"), ('why', "'x'"),
                          ('who', "'x'"), ('entered_at', 7), ('user_name', "'alice'"), ('kind', "'debit'")):
        desk.begin()
        desk.message()
        desk.query(f'UPDATE fairmill_ledger SET {column} = {value} WHERE id = 2')
        tap.same([desk.message(), desk.found('ledger_entry_changed'), desk.found()],
                 ['the ledger: entry 2 is not as it was entered', [('2', 1)], []], f'a change of {column} is found')
    desk.begin()
    desk.message()
    desk.query('UPDATE fairmill_ledger_reset SET id_assoc = 1 WHERE id_assoc = (SELECT max(id_assoc) FROM fairmill_ledger_reset)')
    tap.same(desk.message(), 'the ledger: entry 3 is not as it was entered', 'a change of the associations of a reset is found')
    desk.begin()
    desk.query('UPDATE fairmill_ledger SET tres_seconds = 5 WHERE id = 2')
    desk.ends(1, 'list exits with status 1 for a changed, uncounted entry', 'ledger', 'list')
    desk.says('list names the changed entry', 'entry 2 is not as it was entered')
    for column in ('hash', 'chain'):
        desk.begin()
        desk.query(f"UPDATE fairmill_ledger_chain SET {column} = 'x' WHERE id = 2")
        desk.ends(1, f'a changed {column} is found', 'ledger', 'list')
        desk.says(f'list names the entry of the changed {column}', 'entry 2 ')


def accepted(desk):
    desk.begin()
    desk.message()
    lines = desk.exported()
    desk.lose(2)
    desk.lose(5, tables=TABLES[:3])
    desk.ends(64, 'an undo of an entry that never existed is rejected', 'ledger', 'undo', 17, '-w', 'x', '-y')
    desk.enter('undo', 2, at=None)
    tap.same(desk.message(), 'the ledger: entry 5 is lost', 'an undo of a lost entry accepts the loss')
    desk.ends(64, 'a second undo of a lost entry is rejected', 'ledger', 'undo', 2, '-w', 'x', '-y')
    bob, = desk.usage('physics.bob')
    desk.enter('undo', 5, at=None)
    tap.same([desk.message(), desk.usage('physics.bob')], ['', [bob]], 'an undo of a lost undo accepts the loss')
    desk.ends(0, 'list exits with status 0 after the losses were accepted', 'ledger', 'list')
    desk.succeed('ledger', 'import', desk.write(lines))
    tap.same([desk.message(), desk.usage('physics.bob')], ['', [bob]], 'import restores accepted entries as undone')
    desk.enter('undo', 6, at=None)
    desk.message()
    tap.same(desk.usage('physics.bob'), [bob - 2000], 'the acceptance of a loss can be undone')


def by_hand(desk):
    """Rows that are inserted by hand need no hash, and may skip numbers."""
    desk.begin()
    desk.query("INSERT INTO fairmill_ledger SELECT 50, cluster, instant, 1, 'x', 'x', kind, account, user_name, '', id_assoc,"
               " tres_seconds, NULL, NULL FROM fairmill_ledger WHERE id = 1")
    desk.enter('credit', 1, '-u', 'bob')
    desk.ends(0, 'list does not report skipped numbers', 'ledger', 'list')
    tap.same([desk.message(), desk.query('SELECT max(id) FROM fairmill_ledger')], ['', [(51,)]],
             'a run does not report skipped numbers')
    desk.lose(50)
    tap.same(desk.message(), 'the ledger: entry 50 is lost', 'a counted row that was inserted by hand is reported if it is lost')
    desk.succeed('ledger', 'undo', 50, '-w', 'x', '--dry-run', '--now', NOW)
    tap.ok('undo entry 50' in desk.out and 'no usage would change' in desk.out,
           'accepting the loss of an uncounted row changes no usage',
           desk.out)


def many(desk):
    desk.begin()
    for _ in range(10):
        desk.enter('credit', 1, '-u', 'bob')
    desk.message()
    desk.lose(*range(1, 13))
    message = desk.message()
    tap.ok(message.endswith('entry 10 is lost, and 2 more') and len(desk.found()) == 12,
           'the message names ten of many lost entries, and findings all', message)


def of_two_clusters(desk):
    desk.begin(DRAWING + DRAWING.replace('tiny', 'huge'))
    desk.message()
    desk.lose(2)
    tap.same([desk.message(), desk.message(cluster='huge')], ['the ledger: entry 2 is lost', ''],
             'a run of another cluster does not report the lost entry')
    desk.lose(2, tables=TABLES)
    tap.same([desk.message(), desk.message(cluster='huge')], ['the ledger: entry 2 is lost'] * 2,
             'each cluster reports a lost entry without a known cluster')
    desk.ends(64, 'accepting a loss without a known cluster requires --clusters', 'ledger', 'undo', 2, '-w', 'x', '-y')
    desk.says('the error names --clusters', '--cluster')
    desk.enter('undo', 2, at=None)
    tap.same([desk.message(), desk.message(cluster='huge')], [''] * 2, 'an accepted loss counts for all clusters')


def bad_lines(desk):
    desk.begin()
    lines = desk.exported()
    entries = [json.loads(line) for line in lines]

    def spelled(number, **values):
        """Returns the lines with changed values in one of them."""
        return [*lines[:number - 1], json.dumps({**entries[number - 1], **values}), *lines[number:]]

    def without(number, name):
        entry = {key: value for key, value in entries[number - 1].items() if key != name}
        return [*lines[:number - 1], json.dumps(entry), *lines[number:]]
    desk.ready(DRAWING)
    for bad, number, what in (
            (spelled(2, tres_seconds=2001), 2, 'a changed amount'),
            (spelled(3, covers=[1]), 3, 'changed associations'),
            (spelled(4, kind='credit'), 4, 'a changed kind'), (spelled(5, undoes=2), 5, 'a changed undone entry'),
            (spelled(2, hash='0' * 32), 2, 'a changed hash'), (spelled(2, chain='0' * 32), 2, 'a changed chain hash'),
            (spelled(2, kind='loan'), 2, 'an unknown kind'), (spelled(1, id='1'), 1, 'a number in quotes'),
            (spelled(1, id=-1), 1, 'a negative number'), (spelled(1, more=1), 1, 'an additional field'),
            (without(4, 'why'), 4, 'a missing field'), (without(4, 'hash'), 4, 'a missing hash'),
            ([*lines[:4], lines[4][:-9]], 5, 'a truncated line'), ([*lines[:2], '', *lines[2:]], 3, 'an empty line'),
            ([*lines[:2], lines[1], *lines[2:]], 3, 'a repeated entry'), ([lines[1], lines[0]], 2, 'a wrong order'),
            ([*lines[:3], '[1]'], 4, 'a line that is not an object')):
        desk.ends(65, f'{what} is rejected', 'ledger', 'import', desk.write(bad))
        desk.says(f'{what}: the error names line {number}', f'line {number}')
        tap.same(desk.rows(), [[], [], []], f'{what}: nothing is added')
    desk.ends(64, 'import of a missing file is rejected', 'ledger', 'import', desk.path('nothing'))
    desk.begin()
    other = desk.exported()
    desk.ready(DRAWING)
    desk.enter('credit', 1, '-u', 'bob')
    desk.ends(65, 'a different entry with the same number is rejected', 'ledger', 'import', desk.write(other))
    desk.says('the error names the line and the different entry', 'line 1', 'differs from the ledger', 'entry 1')
    desk.ends(65, 'entries of a different hash chain are rejected', 'ledger', 'import', desk.write(other[1:]))
    desk.says('the error names the line and the hash chain', 'line 1', 'does not match the hash chain')
    for option in (('-u', 'alice'), ('-M', 'tiny'), ('--why', 'x'), ('--json',), ('--at', 5), ('--all',), ('-y',)):
        desk.ends(64, f'export rejects {option[0]}', 'ledger', 'export', *option)


def older_entries(desk):
    """Entries of 0.1.0 were stored without hashes."""
    desk.begin()
    desk.query('DELETE FROM fairmill_ledger_chain')
    desk.ends(0, 'list accepts entries without a hash', 'ledger', 'list')
    lines = desk.exported()
    desk.enter('credit', 5, '-u', 'carol')
    desk.ends(0, 'list accepts a first hash after entries without one', 'ledger', 'list')
    tap.same(desk.exported()[:5], lines, 'entries without a hash are exported unchanged')
    desk.query("UPDATE fairmill_ledger SET tres_seconds = 3 WHERE id = 1")
    desk.ends(1, 'the first hash protects earlier entries against changes', 'ledger', 'list')
    desk.query("UPDATE fairmill_ledger SET tres_seconds = 1000 WHERE id = 1")
    desk.lose(2)
    desk.ends(1, 'the first hash protects earlier entries against loss', 'ledger', 'list')
    desk.says('the error names the lost entry', 'entry 2 is lost')
    desk.succeed('ledger', 'import', desk.write(lines))
    desk.succeed('ledger', 'list')
    desk.message()
    desk.query('DELETE FROM fairmill_ledger_chain')
    desk.query("UPDATE fairmill_ledger SET tres_seconds = 3 WHERE id = 1")
    desk.lose(3)
    tap.same(desk.message(), 'the ledger: entry 1 is not as it was entered, entry 3 is lost',
             'each changed or lost entry is reported after a run counted them')


def imported_late(desk):
    """Tests entries that were made elsewhere before a run, and imported after it."""
    desk.begin()
    desk.message()
    lines = desk.exported()
    desk.ready(DRAWING)
    desk.succeed('run', '--now', NOW)
    desk.succeed('ledger', 'import', desk.write(lines))
    desk.query('UPDATE fairmill_run SET started_at = started_at + 10')
    desk.succeed('verify')
    tap.ok(True, 'verify ignores entries that no run has counted')


def body():
    with Place() as place:
        place.__class__ = Desk
        for part in (there_and_back, imported_late, sets, lost, lost_reset, lost_at_the_end, lost_before_any_run, changed, accepted, by_hand, many, of_two_clusters,
                     bad_lines, older_entries):
            part(place)


tap.main(body)
