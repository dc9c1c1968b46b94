#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""What is lost of the ledger is named until it is there again or its loss is accepted; export and
import bring it back, and to another database."""

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
        """Entry 1 credits alice, 2 bob, 3 resets chemistry, 4 debits bob, 5 undoes 4."""
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
        """[(subject, in how many runs)]"""
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
              (4, 'debit', 'bob', 'physics'), (5, 'undo', '', '')], 'export writes a line of JSON for each entry')
    tap.same([entries[0]['tres_seconds'], len(entries[2]['covers']), entries[4]['undoes'], entries[0]['why'],
              entries[0]['instant']], [1000, 2, 4, 'a "test", äöü', NOW - 10], 'with all that it says')
    desk.succeed('ledger', 'export', desk.path('ledger.json'))
    with open(desk.path('ledger.json'), encoding='utf-8') as file:
        tap.same(file.read().splitlines(), lines, 'also into a file')
    tap.same(desk.out, '', 'and then prints nothing')
    desk.succeed('ledger', 'import', desk.path('ledger.json'))
    tap.same([desk.out, desk.rows()], ['0 entries added, 5 already existed\n', rows],
             'import adds nothing that is there')
    desk.write(lines)
    desk.ready(DRAWING)
    desk.succeed('ledger', 'import', desk.path('ledger.json'), '--dry-run')
    tap.same([desk.out, desk.rows()], ['5 entries would be added, 0 already existed\n', [[], [], []]],
             'a dry run says what it would add, and adds nothing')
    with open(desk.path('ledger.json'), encoding='utf-8') as file:
        done = subprocess.run([FAIRMILL, '-c', desk.path('fm.conf'), 'ledger', 'import'], stdin=file, text=True,
                              stdout=subprocess.PIPE, check=False)
    tap.same([done.returncode, done.stdout], [0, '5 entries added, 0 already existed\n'], 'import reads standard input')
    tap.same(desk.rows(), rows, 'in another database it makes the same rows')
    desk.message()
    tap.same(desk.usage('physics.alice', 'physics.bob', 'chemistry.carol'), usage, 'which count the same')
    tap.same(desk.exported(), lines, 'and are exported the same')


def sets(desk):
    """An amount, and what it covers."""
    desk.begin()
    desk.enter('set', 4711, '-u', 'alice')
    desk.enter('set', 0, '-u', 'bob')
    desk.message()
    rows, lines, usage = desk.rows(), desk.exported(), desk.usage('physics.alice', 'physics.bob')
    entry = json.loads(lines[5])
    tap.same([entry['kind'], entry['tres_seconds'], entry['covers'], json.loads(lines[6])['tres_seconds']], ['set', 4711, [entry['id_assoc']], 0],
             'a set is exported with its amount and what it covers')
    desk.ready(DRAWING)
    desk.succeed('ledger', 'import', desk.write(lines))
    desk.message()
    tap.same([desk.rows(), desk.usage('physics.alice', 'physics.bob'), desk.exported()], [rows, usage, lines], 'and is the same elsewhere')
    desk.ends(65, 'without an amount it is none', 'ledger', 'import', desk.write([lines[5].replace('"tres_seconds":4711,', '')]))


def lost(desk):
    """With its row in the chain, and without."""
    for tables, what in ((TABLES[:2], 'its row alone'), (TABLES[:3], 'row and hash'), (TABLES, 'all that is known')):
        desk.begin()
        tap.same(desk.message(), '', 'where nothing is lost, nothing is said')
        bob, = desk.usage('physics.bob')
        rows, lines = desk.rows(), desk.exported()
        desk.lose(2, tables=tables)
        tap.ok('entry 2 is lost' in desk.message(), f'{what}: the run has it in its message')
        tap.same([desk.usage('physics.bob'), desk.found()], [[bob + 2000], [('2', 1)]],
                 'is published without it, and has a finding')
        desk.message(NOW + 1)
        tap.same(desk.found(), [('2', 2)], 'as the next run does')
        desk.ends(1, 'list ends with 1', 'ledger', 'list')
        desk.says('and names it', 'entry 2 is lost')
        desk.ends(1, 'so does export', 'ledger', 'export')
        tap.same(desk.out.splitlines(), lines[:1] + lines[2:], 'behind what is left')
        desk.succeed('ledger', 'import', desk.write(lines))
        tap.same([desk.out, desk.rows()], ['1 entries added, 4 already existed\n', rows], 'import brings it back')
        tap.same([desk.message(), desk.usage('physics.bob'), desk.found()], ['', [bob], [('2', 2)]],
                 'then it counts again, and no run says anything more')


def lost_reset(desk):
    """Half of it: what it covers is there."""
    desk.begin()
    desk.message()
    rows, lines = desk.rows(), desk.exported()
    desk.lose(3, tables=TABLES[:1])
    tap.same(desk.message(), 'the ledger: entry 3 is lost', 'a reset whose associations are left is lost')
    desk.succeed('ledger', 'import', desk.write(lines))
    tap.same([desk.rows(), desk.message()], [rows, ''], 'and comes back')
    desk.query('DELETE FROM fairmill_ledger_reset')
    tap.same(desk.message(), 'the ledger: entry 3 is not as it was entered', 'without its associations it is another')
    for table in (TABLES[0], *TABLES[2:]):
        desk.query(f'DELETE FROM {table}')
    desk.query('INSERT INTO fairmill_ledger_reset VALUES (9, 1)')
    desk.enter('credit', 1, '-u', 'bob')
    tap.same(desk.query('SELECT id FROM fairmill_ledger'), [(10,)], 'nor does another entry get what a lost one covered')


def lost_at_the_end(desk):
    desk.begin()
    desk.message()
    desk.lose(4, 5, tables=TABLES[:3])
    tap.same([desk.message(), desk.found()], ['the ledger: entry 4 is lost, entry 5 is lost', [('4', 1), ('5', 1)]],
             'the last entries are known to be lost by the runs that counted them')
    desk.enter('credit', 1, '-u', 'bob')
    tap.same(desk.query('SELECT max(id) FROM fairmill_ledger'), [(6,)], 'no other entry gets their numbers')
    tap.same([desk.message(), desk.found()], ['the ledger: entry 4 is lost, entry 5 is lost', [('4', 2), ('5', 2)]],
             'and they stay lost behind a new one')


def lost_before_any_run(desk):
    desk.begin()
    desk.lose(2)
    desk.ends(1, 'an entry that no run has counted is missed too', 'ledger', 'list')
    desk.says('by its hash', 'entry 2 is lost')
    desk.lose(2, tables=TABLES)
    desk.ends(1, 'without that', 'ledger', 'list')
    desk.says('the next one does not fit', 'entry 2 is lost')


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
    tap.same(desk.message(), 'the ledger: entry 3 is not as it was entered', 'so is one of what a reset covers')
    desk.begin()
    desk.query('UPDATE fairmill_ledger SET tres_seconds = 5 WHERE id = 2')
    desk.ends(1, 'also before any run', 'ledger', 'list')
    desk.says('in the list', 'entry 2 is not as it was entered')
    for column in ('hash', 'chain'):
        desk.begin()
        desk.query(f"UPDATE fairmill_ledger_chain SET {column} = 'x' WHERE id = 2")
        desk.ends(1, f'a {column} that was changed is found', 'ledger', 'list')
        desk.says('and named', 'entry 2 ')


def accepted(desk):
    desk.begin()
    desk.message()
    lines = desk.exported()
    desk.lose(2)
    desk.lose(5, tables=TABLES[:3])
    desk.ends(64, 'what never was cannot be undone', 'ledger', 'undo', 17, '-w', 'x', '-y')
    desk.enter('undo', 2, at=None)
    tap.same(desk.message(), 'the ledger: entry 5 is lost', 'undoing a lost entry accepts its loss')
    desk.ends(64, 'once', 'ledger', 'undo', 2, '-w', 'x', '-y')
    bob, = desk.usage('physics.bob')
    desk.enter('undo', 5, at=None)
    tap.same([desk.message(), desk.usage('physics.bob')], ['', [bob]], 'also that of a lost undo')
    desk.ends(0, 'list ends with 0 then', 'ledger', 'list')
    desk.succeed('ledger', 'import', desk.write(lines))
    tap.same([desk.message(), desk.usage('physics.bob')], ['', [bob]], 'an import brings them back undone')
    desk.enter('undo', 6, at=None)
    desk.message()
    tap.same(desk.usage('physics.bob'), [bob - 2000], 'which can be undone like any undo')


def by_hand(desk):
    """Rows that somebody adds need no hash, and may leave numbers out."""
    desk.begin()
    desk.query("INSERT INTO fairmill_ledger SELECT 50, cluster, instant, 1, 'x', 'x', kind, account, user_name, '', id_assoc,"
               " tres_seconds, NULL, NULL FROM fairmill_ledger WHERE id = 1")
    desk.enter('credit', 1, '-u', 'bob')
    desk.ends(0, 'numbers that nobody ever had are not missed', 'ledger', 'list')
    tap.same([desk.message(), desk.query('SELECT max(id) FROM fairmill_ledger')], ['', [(51,)]], 'by a run neither')
    desk.lose(50)
    tap.same(desk.message(), 'the ledger: entry 50 is lost', 'but a row that was made by hand and counted is')
    desk.succeed('ledger', 'undo', 50, '-w', 'x', '--dry-run', '--now', NOW)
    tap.ok('undo entry 50' in desk.out and 'no usage would change' in desk.out, 'to accept its loss changes nothing', desk.out)


def many(desk):
    desk.begin()
    for _ in range(10):
        desk.enter('credit', 1, '-u', 'bob')
    desk.message()
    desk.lose(*range(1, 13))
    message = desk.message()
    tap.ok(message.endswith('entry 10 is lost, and 2 more') and len(desk.found()) == 12,
           'of many the message names ten, and each has a finding', message)


def of_two_clusters(desk):
    desk.begin(DRAWING + DRAWING.replace('tiny', 'huge'))
    desk.message()
    desk.lose(2)
    tap.same([desk.message(), desk.message(cluster='huge')], ['the ledger: entry 2 is lost', ''],
             'the run of another cluster says nothing')
    desk.lose(2, tables=TABLES)
    tap.same([desk.message(), desk.message(cluster='huge')], ['the ledger: entry 2 is lost'] * 2,
             'unless nothing is left that says of which cluster it was')
    desk.ends(64, 'then to accept the loss takes a cluster', 'ledger', 'undo', 2, '-w', 'x', '-y')
    desk.says('which is said', '--cluster')
    desk.enter('undo', 2, at=None)
    tap.same([desk.message(), desk.message(cluster='huge')], [''] * 2, 'and is for all')


def bad_lines(desk):
    desk.begin()
    lines = desk.exported()
    entries = [json.loads(line) for line in lines]

    def spelled(number, **values):
        """The lines with another one in the place of one."""
        return [*lines[:number - 1], json.dumps({**entries[number - 1], **values}), *lines[number:]]

    def without(number, name):
        entry = {key: value for key, value in entries[number - 1].items() if key != name}
        return [*lines[:number - 1], json.dumps(entry), *lines[number:]]
    desk.ready(DRAWING)
    for bad, number, what in (
            (spelled(2, tres_seconds=2001), 2, 'an amount that was changed'),
            (spelled(3, covers=[1]), 3, 'associations that were'),
            (spelled(4, kind='credit'), 4, 'a kind'), (spelled(5, undoes=2), 5, 'what is undone'),
            (spelled(2, hash='0' * 32), 2, 'a hash'), (spelled(2, chain='0' * 32), 2, 'a link of the chain'),
            (spelled(2, kind='loan'), 2, 'an unknown kind'), (spelled(1, id='1'), 1, 'a number in quotes'),
            (spelled(1, id=-1), 1, 'a negative one'), (spelled(1, more=1), 1, 'a field too many'),
            (without(4, 'why'), 4, 'a field too few'), (without(4, 'hash'), 4, 'no hash'),
            ([*lines[:4], lines[4][:-9]], 5, 'a line that was cut off'), ([*lines[:2], '', *lines[2:]], 3, 'an empty line'),
            ([*lines[:2], lines[1], *lines[2:]], 3, 'an entry twice'), ([lines[1], lines[0]], 2, 'a wrong order'),
            ([*lines[:3], '[1]'], 4, 'a line that is another thing')):
        desk.ends(65, f'{what}: refused', 'ledger', 'import', desk.write(bad))
        desk.says(f'by line {number}', f'line {number}')
        tap.same(desk.rows(), [[], [], []], 'and nothing is added')
    desk.ends(64, 'a file that is not there is refused', 'ledger', 'import', desk.path('nothing'))
    desk.begin()
    other = desk.exported()
    desk.ready(DRAWING)
    desk.enter('credit', 1, '-u', 'bob')
    desk.ends(65, 'another entry of the same number is refused', 'ledger', 'import', desk.write(other))
    desk.says('by its line', 'line 1', 'differs from the ledger', 'entry 1')
    desk.ends(65, 'so are entries that follow from others', 'ledger', 'import', desk.write(other[1:]))
    desk.says('by their line', 'line 1', 'does not match the hash chain')
    for option in (('-u', 'alice'), ('-M', 'tiny'), ('--why', 'x'), ('--json',), ('--at', 5), ('--all',), ('-y',)):
        desk.ends(64, f'export has no use for {option[0]}', 'ledger', 'export', *option)


def older_entries(desk):
    """Those of 0.1.0 have no hash."""
    desk.begin()
    desk.query('DELETE FROM fairmill_ledger_chain')
    desk.ends(0, 'entries without a hash are good', 'ledger', 'list')
    lines = desk.exported()
    desk.enter('credit', 5, '-u', 'carol')
    desk.ends(0, 'the first one that has a hash follows from them', 'ledger', 'list')
    tap.same(desk.exported()[:5], lines, 'they are exported as before')
    desk.query("UPDATE fairmill_ledger SET tres_seconds = 3 WHERE id = 1")
    desk.ends(1, 'and seals them', 'ledger', 'list')
    desk.query("UPDATE fairmill_ledger SET tres_seconds = 1000 WHERE id = 1")
    desk.lose(2)
    desk.ends(1, 'also against a loss', 'ledger', 'list')
    desk.says('which is named', 'entry 2 is lost')
    desk.succeed('ledger', 'import', desk.write(lines))
    desk.succeed('ledger', 'list')
    desk.message()
    desk.query('DELETE FROM fairmill_ledger_chain')
    desk.query("UPDATE fairmill_ledger SET tres_seconds = 3 WHERE id = 1")
    desk.lose(3)
    tap.same(desk.message(), 'the ledger: entry 1 is not as it was entered, entry 3 is lost',
             'once a run has counted them, each is named')


def late(desk):
    """What was entered elsewhere before this run, and came here after it."""
    desk.begin()
    desk.message()
    lines = desk.exported()
    desk.ready(DRAWING)
    desk.succeed('run', '--now', NOW)
    desk.succeed('ledger', 'import', desk.write(lines))
    desk.query('UPDATE fairmill_run SET started_at = started_at + 10')
    desk.succeed('verify')
    tap.ok(True, 'entries that no run has counted are no difference to what it published')


def body():
    with Place() as place:
        place.__class__ = Desk
        for part in (there_and_back, late, sets, lost, lost_reset, lost_at_the_end, lost_before_any_run, changed, accepted, by_hand, many, of_two_clusters,
                     bad_lines, older_entries):
            part(place)


tap.main(body)
