#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""[report] private: users are told of accounts and themselves, and metrics of no user."""

import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import answering
import place as places
import tap
from place import NOW, Place

OTHER = 'nobody'  # logins that every Debian has
STRANGER = 'daemon'  # is in no account
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
    """The users that a command tells of."""
    place.succeed(*command, **more)
    return sorted(name for name in ('alice', OTHER) if name in place.out)


def open_up(place):
    """Let everybody read and write what there is."""
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
    tap.same(len(json.loads(place.out)['ledger']), 5, 'the owner sees every entry of the ledger')
    open_up(place)
    for command in (('ledger', 'list'), ('ledger', 'list', '--cluster', 'tiny')):
        tap.same(names(place, *command, **other), [OTHER], 'others see their own entries')
        tap.ok('account \'physics\'' in place.out, 'and those of accounts', place.out)
        tap.ok(not any(word in place.out for word in ('hers', 'undone', 'whose')), 'and nothing of the rest', place.out)
    place.succeed('ledger', 'list', '--json', **other)
    tap.same([entry['id'] for entry in json.loads(place.out)['ledger']], [2, 5], 'also as JSON')
    tap.same(names(place, 'ledger', 'reset', '--all', '--dry-run', '--why', 'x', **other), [OTHER],
             'what an entry would do is told of accounts and oneself')
    place.ends(64, "another user's entry is not tried", 'ledger', 'credit', '1', '-u', 'alice', '-A', 'physics',
               '--dry-run', '--why', 'x', **other)
    place.says('and the message says why', 'private', "'alice' is not you")


def jobs_and_siblings(place, other):
    for command in (('explain', OTHER, '--jobs'), ('explain', 'physics', '--jobs'), ('explain', OTHER, '--jobs', '--json'),
                    ('explain', 'physics', '--jobs', '--json'), ('run', '--dry-run', '--now', NOW + 7200)):
        tap.same(names(place, *command, **other), [OTHER], f"nobody else has jobs or usage there ({' '.join(map(str, command))})")
    place.succeed('explain', 'physics', '--jobs', '--json', **other)
    told = json.loads(place.out)['clusters'][0]
    tap.same([job['username'] for job in told['jobs']], [OTHER], 'the own records of an account are told')
    tap.same([row['account'] for row in told['siblings']], ['physics', 'chemistry'], 'and its siblings')


def who_does_runs(place, other):
    """Whoever does the runs sees all."""
    everyone = sorted(['alice', OTHER])
    tap.same(names(place, 'show', **other), [OTHER], 'settings and results that everybody may read and write make nobody privileged')
    os.chown(place.path('fm.conf'), 0, other['group'])
    os.chmod(place.path('fm.conf'), 0o640)
    tap.same(names(place, 'show', **other), everyone, 'who may read the settings of the runs, and not everybody may, sees all')
    place.succeed('verify', **other)
    place.succeed('ledger', 'credit', '5', '-u', 'alice', '-A', 'physics', '--why', 'x', '--dry-run', **other)
    tap.ok('alice' in place.out, 'also in the ledger', place.out)
    with open(place.path('fm.conf'), encoding='utf-8') as file:
        text = file.read()
    os.chmod(place.path('fm.conf'), 0o600)
    with open(place.path('reader.conf'), 'w', encoding='utf-8') as file:
        file.write(text[text.index('[results]'):text.index('[usage]')] + '[report]\nprivate = yes\n')
    os.chown(place.path('reader.conf'), 0, other['group'])
    os.chmod(place.path('reader.conf'), 0o640)
    tap.same(names(place, 'show', **other), [OTHER], 'who may read reader.conf does not')
    os.unlink(place.path('reader.conf'))
    open_up(place)
    for owner, mode in ((other['user'], 0o644), (0, 0o660)):
        os.chown(place.path('r.db'), owner, other['group'])
        os.chmod(place.path('r.db'), mode)
        tap.same(names(place, 'show', **other), everyone, f'who may write the results, and not everybody may, sees all ({mode:o})')
    os.chown(place.path('r.db'), 0, 0)
    open_up(place)


def gone(place, other):
    """The jobs of an association that was deleted are somebody's, too."""
    place.change("UPDATE tiny_assoc_table SET deleted = 1 WHERE user = 'alice'")
    place.succeed('run', '--now', NOW + 7300)
    open_up(place)
    place.succeed('explain', 'physics', '--jobs', '--json')
    tap.ok('' in [job['username'] for job in json.loads(place.out)['clusters'][0]['jobs']], 'the owner sees them', place.out)
    place.succeed('explain', 'physics', '--jobs', '--json', **other)
    tap.same([job['username'] for job in json.loads(place.out)['clusters'][0]['jobs']], [OTHER], 'nobody else does')


def strangers(place):
    stranger = answering.ids(STRANGER)
    place.succeed('show', '--json', **stranger)
    tap.same([row['account'] for row in json.loads(place.out)['clusters'][0]['associations']], ['root', 'chemistry', 'physics'],
             'who is in no account is shown the accounts')
    tap.ok('alice' not in place.out and OTHER not in place.out, 'and no user')
    place.succeed('show', '--account', 'physics', **stranger)
    tap.ok('physics' in place.out and 'chemistry' not in place.out, 'or the account that was asked for')


def privileged(place, other):
    """What runs published says who may see more, and what the last run had hidden stays so."""
    place.query(f"INSERT INTO fairmill_privilege VALUES ('tiny', '{OTHER}', 'chemistry', 'coordinator')")
    open_up(place)
    place.succeed('show', '--parsable', '-u', 'alice', **other)
    tap.same([line.split('|')[1:3] for line in place.out.splitlines()[1:]], [['root', ''], ['chemistry', ''], ['chemistry', 'alice']],
             'a coordinator is told where a user is in the account, and of no other')
    place.query(f"UPDATE fairmill_privilege SET account = '', privilege = 'operator' WHERE user_name = '{OTHER}'")
    for command in (('ledger', 'credit', '1', '-u', 'alice', '-A', 'physics', '--dry-run', '--why', 'x'), ('ledger', 'export', '-'),
                    ('ledger', 'list'), ('backtest', '--half-life', '3-0')):
        place.succeed(*command, **other)
        tap.ok('alice' in place.out, f'an operator may see all ({command[1]})', place.out)
    place.query(f"DELETE FROM fairmill_privilege WHERE user_name = '{OTHER}'")


def retired(place, other):
    """The settings of who reads hide nothing; those of the last run did."""
    place.settings({'report.private': 'no'})
    open_up(place)
    place.ends(64, 'the ledger of others is not exported', 'ledger', 'export', '-', **other)
    place.change('UPDATE cluster_table SET deleted = 1')
    place.ends(65, 'no cluster is left', 'run', '--now', NOW + 7400)
    tap.same(place.query('SELECT count(*) FROM fairmill_fairshare'), [(0,)], 'this one is retired')
    open_up(place)
    for command in (('history', 'alice'), ('history', 'alice', '--usage')):
        place.ends(64, f'nor is the past of a retired cluster told ({len(command)})', *command, **other)
    told = place.err
    place.ends(64, 'nor who was there', 'history', 'nemo', **other)
    tap.same(place.err.replace('nemo', 'alice'), told, 'by the same message')
    place.succeed('history', 'alice')
    tap.same(names(place, 'ledger', 'list', **other), [OTHER], 'nor its ledger')
    place.ends(64, 'nor exported', 'ledger', 'export', '-', **other)
    place.query('UPDATE fairmill_run SET started_at = 5')
    place.settings({'report.private': 'no', 'source.clusters': 'tiny'})
    place.ends(65, 'a run that misses it', 'run', '--now', NOW + 7500)
    place.ends(65, 'and another one', 'run', '--now', NOW + 7500)
    open_up(place)
    place.ends(64, 'as little as long as there is a past of it', 'history', 'alice', **other)


def private(place):
    place.ready(DRAWING, {'report.private': 'yes'})
    place.succeed('run', '--now', NOW)
    place.succeed('run', '--now', NOW + 7200)
    for command in (('show',), ('prio', '--long'), ('history', 'alice'), ('explain', 'physics/alice', OTHER)):
        tap.ok('alice' in names(place, *command), f'the owner of the settings sees all ({command[0]})')
    tap.same(names(place, 'metrics'), [], 'metrics name no user')
    tap.ok('slurm_account_fairshare_raw_shares{cluster="tiny",account="physics"} 60\n' in place.out, 'but accounts')
    place.settings({'report.private': 'no'})
    tap.same(names(place, 'metrics'), [], 'what the run had hidden stays so')
    place.succeed('run', '--now', NOW + 7200)
    tap.same(names(place, 'metrics'), sorted(['alice', OTHER]), 'until one that hides nothing')
    if os.getuid():
        # Where nobody looks at what was skipped it is a failure.
        ci = os.environ.get('CI') == 'true'
        tap.ok(not ci, 'as another user' + ('' if ci else ' # SKIP needs root'))
        return
    # One who may read everything, and is told of himself.
    place.settings({'report.private': 'yes'})
    place.succeed('run', '--now', NOW + 7200)
    # The build may be where others may not look.
    places.FAIRMILL = shutil.copy(places.FAIRMILL, place.path('fairmill'))
    open_up(place)
    other = answering.ids(OTHER)
    for command in (('show',), ('show', '--parsable'), ('show', '--json'), ('prio', '--long'), ('prio', '--json'),
                    ('history', OTHER), ('explain', OTHER), ('compare',), ('compare', '--csv'), ('compare', '--json'),
                    ('whatif', '--add-usage', f'{OTHER}=900'), ('whatif', '--json', '--add-usage', f'{OTHER}=900'),
                    ('forecast', OTHER, '--now', str(NOW))):
        tap.same(names(place, *command, **other), [OTHER], f"others see themselves only ({' '.join(command)})")
    place.succeed('show', '--json', **other)
    tap.same([row['account'] for row in json.loads(place.out)['clusters'][0]['associations']],
             ['root', 'chemistry', 'physics', 'physics'], 'and the accounts')
    place.succeed('show', '--parsable')
    with open(place.path('print'), 'w', encoding='utf-8') as file:
        file.write(place.out)
    place.run('diff', '--at', NOW + 7200, '--json', place.path('print'), **other)
    tap.ok('alice' not in place.out and OTHER in place.out, 'nor does diff tell of others', place.out, place.err)
    with open(place.path('sprio'), 'w', encoding='ascii') as file:
        file.write(f'JOBID|USER|PRIORITY|AGE\n901|alice|77|77\n902|{OTHER}|77|77\n')
    os.chmod(place.path('sprio'), 0o644)
    place.run('diff', '--at', NOW + 7200, '--json', place.path('sprio'), **other)
    tap.ok({row['jobid'] for row in json.loads(place.out)['clusters'][0]['differences']} == {902},
           "nor of others' jobs", place.out, place.err)
    tap.same(names(place, 'history', 'physics', **other), [], 'accounts have a history for everybody')
    place.succeed('whatif', '--shares', 'physics=1', **other)
    tap.ok('of those whom you may see' in place.out, 'what others would gain or lose is not counted', place.out)
    for command in (('show', '--user', 'alice'), ('prio', '-u', 'alice'), ('history', 'alice'), ('explain', 'alice'),
                    ('explain', OTHER, 'alice'), ('explain', 'physics/alice'), ('show', '--pbs', 'alice'), ('forecast', 'alice'),
                    ('whatif', '--shares', 'alice=7'), ('whatif', '--remove-user', 'alice')):
        place.ends(64, f"another user is refused ({' '.join(command)})", *command, **other)
        place.says('and the message says why', 'private', "alice' is not you")
    for command in (('explain', '{}'), ('history', '{}'), ('show', '--pbs', '{}'), ('whatif', '--remove-user', '{}')):
        told = []
        for name in ('chemistry/alice', 'chemistry/nemo'):
            place.ends(64, f'who is in which account is not told ({command[0]})', *[word.format(name) for word in command], **other)
            told.append(place.err.replace(name, ''))
        tap.same(told[1], told[0], 'a name that is nobody\'s has the same message')
    who_does_runs(place, other)
    jobs_and_siblings(place, other)
    strangers(place)
    ledger(place, other)
    privileged(place, other)
    gone(place, other)
    retired(place, other)


def body():
    with Place() as place:
        private(place)


tap.main(body)
