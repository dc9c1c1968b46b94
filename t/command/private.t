#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests [report] private: users see accounts and themselves, and metrics name no users."""

import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import answering
import place as places
import tap
from place import NOW, Place

OTHER = 'nobody'  # a login of every Debian system
STRANGER = 'daemon'  # a login without an association
DRAWING = f"""
cluster tiny
root/
  physics/ 60
    alice      10  use 300
    {OTHER}    10  use 100
  chemistry/ 40
    alice      10  use 50
job physics.alice    id_job=901 submit={NOW - 100} time_eligible={NOW - 100} partition=p tres_req=1=8 limit=60
job physics.{OTHER}  id_job=902 submit={NOW - 100} time_eligible={NOW - 100} partition=p tres_req=1=8 limit=60
"""


def names(place, *command, **more):
    """Returns the users that a command's output names."""
    place.succeed(*command, **more)
    return sorted(name for name in ('alice', OTHER) if name in place.out)


def open_up(place):
    """Lets all users read and write all files."""
    for folder, _, files in os.walk(place.folder):
        os.chmod(folder, 0o777)
        for file in files:
            os.chmod(os.path.join(folder, file), dict([('fm.conf', 0o644), ('fairmill', 0o755)]).get(file, 0o666))


def ledger(place, other):
    for entry in (('credit', '5', '-u', 'alice', '-A', 'physics', '--why', 'hers'),
                  ('credit', '7', '-u', OTHER, '--why', 'his'), ('undo', '1', '--why', 'undone'),
                  ('refund', '1', '--why', 'whose'), ('reset', '--account', 'physics', '--at', '1000', '--why', 'all')):
        place.succeed('ledger', *entry, '--yes')
    place.succeed('ledger', 'list', '--json')
    tap.same(len(json.loads(place.out)['ledger']), 5, 'the owner of the settings sees all ledger entries')
    open_up(place)
    for command in (('ledger', 'list'), ('ledger', 'list', '--cluster', 'tiny')):
        tap.same(names(place, *command, **other), [OTHER], 'another user sees their own ledger entries')
        tap.ok('account \'physics\'' in place.out, 'another user sees the ledger entries of accounts', place.out)
        tap.ok(not any(word in place.out for word in ('hers', 'undone', 'whose')), 'another user sees no other ledger entries',
               place.out)
    place.succeed('ledger', 'list', '--json', **other)
    tap.same([entry['id'] for entry in json.loads(place.out)['ledger']], [2, 5], '--json shows the same ledger entries')
    tap.same(names(place, 'ledger', 'reset', '--all', '--dry-run', '--why', 'x', **other), [OTHER],
             'ledger --dry-run shows only accounts and the user')
    place.ends(64, 'ledger --dry-run for another user is rejected', 'ledger', 'credit', '1', '-u', 'alice', '-A', 'physics',
               '--dry-run', '--why', 'x', **other)
    place.says('the error says that the name is private', 'private', "'alice' is neither you")


def jobs_and_siblings(place, other):
    for command in (('explain', OTHER, '--jobs'), ('explain', 'physics', '--jobs'), ('explain', OTHER, '--jobs', '--json'),
                    ('explain', 'physics', '--jobs', '--json'), ('run', '--dry-run', '--now', NOW + 7200)):
        tap.same(names(place, *command, **other), [OTHER], f"the output names no other user ({' '.join(map(str, command))})")
    place.succeed('explain', 'physics', '--jobs', '--json', **other)
    told = json.loads(place.out)['clusters'][0]
    tap.same([job['username'] for job in told['jobs']], [OTHER], "--jobs of an account shows only the user's own records")
    tap.same([row['account'] for row in told['siblings']], ['physics', 'chemistry'], '--jobs of an account shows its siblings')


def privileged_by_files(place, other):
    """A user who can do the runs sees all users."""
    everyone = sorted(['alice', OTHER])
    tap.same(names(place, 'show', **other), [OTHER], 'files that all users can read and write give no privilege')
    os.chown(place.path('fm.conf'), 0, other['group'])
    os.chmod(place.path('fm.conf'), 0o640)
    tap.same(names(place, 'show', **other), everyone, 'a user who can read the private settings sees all users')
    place.succeed('verify', **other)
    place.succeed('ledger', 'credit', '5', '-u', 'alice', '-A', 'physics', '--why', 'x', '--dry-run', **other)
    tap.ok('alice' in place.out, 'a user who can read the private settings may use ledger --dry-run', place.out)
    with open(place.path('fm.conf'), encoding='utf-8') as file:
        text = file.read()
    os.chmod(place.path('fm.conf'), 0o600)
    with open(place.path('reader.conf'), 'w', encoding='utf-8') as file:
        file.write(text[text.index('[results]'):text.index('[usage]')] + '[report]\nprivate = yes\n')
    os.chown(place.path('reader.conf'), 0, other['group'])
    os.chmod(place.path('reader.conf'), 0o640)
    tap.same(names(place, 'show', **other), [OTHER], 'a user who can read only reader.conf does not see all users')
    os.unlink(place.path('reader.conf'))
    open_up(place)
    for owner, mode in ((other['user'], 0o644), (0, 0o660)):
        os.chown(place.path('r.db'), owner, other['group'])
        os.chmod(place.path('r.db'), mode)
        tap.same(names(place, 'show', **other), everyone, f'a user who can write the results sees all users ({mode:o})')
    os.chown(place.path('r.db'), 0, 0)
    open_up(place)


def deleted_association(place, other):
    """Jobs of a deleted association still belong to a user."""
    place.change("UPDATE tiny_assoc_table SET deleted = 1 WHERE user = 'alice'")
    place.succeed('run', '--now', NOW + 7300)
    open_up(place)
    place.succeed('explain', 'physics', '--jobs', '--json')
    tap.ok('' in [job['username'] for job in json.loads(place.out)['clusters'][0]['jobs']],
           'the owner of the settings sees jobs of a deleted association',
           place.out)
    place.succeed('explain', 'physics', '--jobs', '--json', **other)
    tap.same([job['username'] for job in json.loads(place.out)['clusters'][0]['jobs']], [OTHER],
             'another user does not see jobs of a deleted association')


def strangers(place):
    stranger = answering.ids(STRANGER)
    place.succeed('show', '--json', **stranger)
    tap.same([row['account'] for row in json.loads(place.out)['clusters'][0]['associations']], ['root', 'chemistry', 'physics'],
             'a user without an association sees accounts')
    tap.ok('alice' not in place.out and OTHER not in place.out, 'a user without an association sees no users')
    place.succeed('show', '--account', 'physics', **stranger)
    tap.ok('physics' in place.out and 'chemistry' not in place.out, 'a user without an association can select an account')


def privileged(place, other):
    """Published privileges let users see more.  Data that the last run hid stays hidden."""
    place.query(f"INSERT INTO fairmill_privilege VALUES ('tiny', '{OTHER}', 'chemistry', 'coordinator')")
    open_up(place)
    place.succeed('show', '--parsable', '-u', 'alice', **other)
    tap.same([line.split('|')[1:3] for line in place.out.splitlines()[1:]], [['root', ''], ['chemistry', ''], ['chemistry', 'alice']],
             'a coordinator sees a user only in their own account')
    place.query(f"UPDATE fairmill_privilege SET account = '', privilege = 'operator' WHERE user_name = '{OTHER}'")
    for command in (('ledger', 'credit', '1', '-u', 'alice', '-A', 'physics', '--dry-run', '--why', 'x'), ('ledger', 'export', '-'),
                    ('ledger', 'list'), ('backtest', '--half-life', '3-0')):
        place.succeed(*command, **other)
        tap.ok('alice' in place.out, f'an operator sees all users ({command[1]})', place.out)
    place.query(f"DELETE FROM fairmill_privilege WHERE user_name = '{OTHER}'")


def retired(place, other):
    """The reader's settings hide nothing, but the settings of the last run did."""
    place.settings({'report.private': 'no'})
    open_up(place)
    place.ends(64, 'another user cannot export the ledger', 'ledger', 'export', '-', **other)
    place.change('UPDATE cluster_table SET deleted = 1')
    place.ends(65, 'a run without clusters exits with status 65', 'run', '--now', NOW + 7400)
    tap.same(place.query('SELECT count(*) FROM fairmill_fairshare'), [(0,)], 'the cluster is retired')
    open_up(place)
    for command in (('history', 'alice'), ('history', 'alice', '--usage')):
        place.ends(64, f'history of a retired cluster is rejected ({len(command)} words)', *command, **other)
    told = place.err
    place.ends(64, 'history of an unknown name is rejected', 'history', 'nemo', **other)
    tap.same(place.err.replace('nemo', 'alice'), told, 'the error for an unknown name is the same')
    place.succeed('history', 'alice')
    tap.same(names(place, 'ledger', 'list', **other), [OTHER], 'the ledger of a retired cluster stays private')
    place.ends(64, 'the ledger of a retired cluster cannot be exported', 'ledger', 'export', '-', **other)
    place.query('UPDATE fairmill_run SET started_at = 5')
    place.settings({'report.private': 'no', 'source.clusters': 'tiny'})
    place.ends(65, 'a run with a missing cluster exits with status 65', 'run', '--now', NOW + 7500)
    place.ends(65, 'a second run with a missing cluster exits with status 65', 'run', '--now', NOW + 7500)
    open_up(place)
    place.ends(64, 'history of a cluster stays private as long as it exists', 'history', 'alice', **other)


def private(place):
    place.ready(DRAWING, {'report.private': 'yes'})
    place.succeed('run', '--now', NOW)
    place.succeed('run', '--now', NOW + 7200)
    for command in (('show',), ('prio', '--long'), ('history', 'alice'), ('explain', 'physics/alice', OTHER)):
        tap.ok('alice' in names(place, *command), f'the owner of the settings sees all users ({command[0]})')
    tap.same(names(place, 'metrics'), [], 'metrics name no users')
    tap.ok('slurm_account_fairshare_raw_shares{cluster="tiny",account="physics"} 60\n' in place.out, 'metrics name accounts')
    place.settings({'report.private': 'no'})
    tap.same(names(place, 'metrics'), [], 'metrics omit users if the last run hid them')
    place.succeed('run', '--now', NOW + 7200)
    tap.same(names(place, 'metrics'), sorted(['alice', OTHER]), 'metrics name users if the last run did not hide them')
    if os.getuid():
        # In CI a skipped test is a failure, because its output is not read.
        ci = os.environ.get('CI') == 'true'
        tap.ok(not ci, 'the tests as another user run' + ('' if ci else ' # SKIP needs root'))
        return
    # A user who can read all files and sees only themselves.
    place.settings({'report.private': 'yes'})
    place.succeed('run', '--now', NOW + 7200)
    # The build directory may not be accessible to others.
    places.FAIRMILL = shutil.copy(places.FAIRMILL, place.path('fairmill'))
    open_up(place)
    other = answering.ids(OTHER)
    for command in (('show',), ('show', '--parsable'), ('show', '--json'), ('prio', '--long'), ('prio', '--json'),
                    ('history', OTHER), ('explain', OTHER), ('compare',), ('compare', '--csv'), ('compare', '--json'),
                    ('whatif', '--add-usage', f'{OTHER}=900'), ('whatif', '--json', '--add-usage', f'{OTHER}=900'),
                    ('forecast', OTHER, '--now', str(NOW))):
        tap.same(names(place, *command, **other), [OTHER], f"a user sees only themselves ({' '.join(command)})")
    place.succeed('show', '--json', **other)
    tap.same([row['account'] for row in json.loads(place.out)['clusters'][0]['associations']],
             ['root', 'chemistry', 'physics', 'physics'], 'a user sees the accounts')
    place.succeed('show', '--parsable')
    with open(place.path('print'), 'w', encoding='utf-8') as file:
        file.write(place.out)
    place.run('diff', '--at', NOW + 7200, '--json', place.path('print'), **other)
    tap.ok('alice' not in place.out and OTHER in place.out, 'diff shows no other users', place.out, place.err)
    with open(place.path('sprio'), 'w', encoding='ascii') as file:
        file.write(f'JOBID|USER|PRIORITY|AGE\n901|alice|77|77\n902|{OTHER}|77|77\n')
    os.chmod(place.path('sprio'), 0o644)
    place.run('diff', '--at', NOW + 7200, '--json', place.path('sprio'), **other)
    tap.ok({row['jobid'] for row in json.loads(place.out)['clusters'][0]['differences']} == {902},
           'diff shows no jobs of other users', place.out, place.err)
    tap.same(names(place, 'history', 'physics', **other), [], 'all users can see the history of accounts')
    place.succeed('whatif', '--shares', 'physics=1', **other)
    tap.ok('among the users you may see' in place.out, 'whatif does not count the changes of hidden users', place.out)
    for command in (('show', '--user', 'alice'), ('prio', '-u', 'alice'), ('history', 'alice'), ('explain', 'alice'),
                    ('explain', OTHER, 'alice'), ('explain', 'physics/alice'), ('show', '--pbs', 'alice'), ('forecast', 'alice'),
                    ('whatif', '--shares', 'alice=7'), ('whatif', '--remove-user', 'alice')):
        place.ends(64, f"a request for another user is rejected ({' '.join(command)})", *command, **other)
        place.says(f"the error says that the name is private ({' '.join(command)})", 'private', "alice' is neither you")
    for command in (('explain', '{}'), ('history', '{}'), ('show', '--pbs', '{}'), ('whatif', '--remove-user', '{}')):
        told = []
        for name in ('chemistry/alice', 'chemistry/nemo'):
            place.ends(64, f'the accounts of another user are not revealed ({command[0]})',
                       *[word.format(name) for word in command], **other)
            told.append(place.err.replace(name, ''))
        tap.same(told[1], told[0], f'an unknown name has the same error as a hidden one ({command[0]})')
    place.succeed('explain', OTHER, **other)
    tap.ok(f'{OTHER} is at place' in place.out and 'Pausing' not in place.out and 'the others continue' not in place.out,
           'explain forecasts no place from the usage of hidden users', place.out)
    privileged_by_files(place, other)
    jobs_and_siblings(place, other)
    strangers(place)
    ledger(place, other)
    privileged(place, other)
    deleted_association(place, other)
    retired(place, other)


def body():
    with Place() as place:
        private(place)


tap.main(body)
