#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests what a user gets in addition to others: the own row of whatif, and advice that a user can
follow."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import answering
import program
import tap
from place import NOW, Place

USER, OPERATOR, STRANGER = 'daemon', 'man', 'mail'  # logins that every Linux system has
DRAWING = f"""
cluster tiny
root/
  physics/ 60
    alice    10  use 3000
    {USER}   10  use 1000
    zoe      10  use 10
  optics/  30
    bob      10  use 200
    carol    10  use 900
  idle/    10
    {USER}   10  use 400
    erin     10  use 600
job physics.{USER} id_job=902 submit={NOW - 200} time_eligible={NOW - 200} priority=9 partition=p tres_req=1=8 limit=60
job physics.zoe    id_job=903 submit={NOW - 100} time_eligible={NOW - 100} priority=9 partition=p tres_req=1=8 limit=60
job optics.bob     id_job=904 submit={NOW - 100} time_eligible={NOW - 100} priority=9 partition=p tres_req=1=8 limit=60
"""
CHANGE = ('--shares', 'optics=3')
ADVICE = re.compile(r'sacctmgr|fairmill (apply|ledger)|fairmill\.conf|slurm\.conf')


def published(place, keys=None):
    place.ready(DRAWING, {'priority.weight_fairshare': '10000'} | (keys or {}))
    place.change(f"INSERT OR REPLACE INTO user_table (creation_time, name, admin_level) VALUES (1, '{OPERATOR}', 2)")
    place.succeed('run', '--now', NOW)


def ranks(place):
    """Returns {(account, user): rank}."""
    return {(account, user): rank for account, user, rank in place.query(
        "SELECT account, user_name, fair_tree_rank FROM fairmill_fairshare WHERE user_name <> ''")}


def passes(before, after):
    """Returns the pairs (one, other) in which `one` ranks higher only after the change."""
    return {(one, other) for one in before for other in before if before[one] <= before[other] and after[one] > after[other]}


def own_row(place):
    """The own rows equal those of a run after the change."""
    published(place)
    before = ranks(place)
    place.change("UPDATE tiny_assoc_table SET shares = 3 WHERE acct = 'optics' AND \"user\" = ''")
    place.succeed('run', '--now', NOW, '--replace')
    expected, after = passes(before, ranks(place)), ranks(place)
    place.change("UPDATE tiny_assoc_table SET shares = 30 WHERE acct = 'optics' AND \"user\" = ''")
    place.succeed('run', '--now', NOW, '--replace')
    mine = [name for name in before if name[1] == USER]
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        page = asked.ask('whatif', *CHANGE, login=USER)['output']
        cluster = json.loads(asked.ask('whatif', *CHANGE, '--json', login=USER)['output'])['clusters'][0]
        tap.same({(row['account'], row['username']): (row['place_before'], row['place_after']) for row in cluster['own']},
                 {name: (len(before) + 1 - before[name], len(after) + 1 - after[name]) for name in mine},
                 'whatif shows each association of the client with both places')
        for row in cluster['own']:
            name = row['account'], row['username']
            tap.same((row['passed_by']['users'], sorted(row['passed_by']['names'])),
                     (len(by := sorted('/'.join(one) for one, other in expected if other == name and one[1] != USER)), by),
                     f'whatif names the users who pass {"/".join(name)}')
            tap.same((row['passes']['users'], sorted(row['passes']['names'])),
                     (len(of := sorted('/'.join(other) for one, other in expected if one == name and other[1] != USER)), of),
                     f'whatif names the users whom {"/".join(name)} passes')
        tap.ok(sum(row['passes']['users'] + row['passed_by']['users'] for row in cluster['own']) > 2, 'users pass the client in this case', cluster['own'])
        own, _, others = re.split('^(.* would gain.*)$', page, maxsplit=1, flags=re.M)
        row = re.compile(rf'^(physics|idle) +{USER} ', re.M)
        tap.ok(f"You are user '{USER}'" in own and len(row.findall(own)) == 2 and not row.search(others.partition('JobID')[0]),
               'the own rows precede the gains and losses, which do not repeat them', page)
        tap.ok(' would pass you.' in ' '.join(page.split()) and 'you would pass ' in page, 'sentences say who passes the client', page)
        selected = asked.ask('whatif', *CHANGE, '-A', 'optics', login=USER)['output']
        tap.ok('You are' not in selected and 'selected users' in selected, 'filters select the own rows, too', selected)
        one = json.loads(asked.ask('whatif', *CHANGE, '-A', 'idle', '--json', login=USER)['output'])['clusters'][0]['own']
        tap.same([row['account'] for row in one], ['idle'], '--accounts selects one of the own rows')
        top = asked.ask('whatif', '--weights', 'fairshare=90000', '--algorithm', 'classic', '--top', '1', login=USER)['output']
        tap.ok('You are' in top, 'a change of the algorithm shows the own rows', top)
        for change in (('--add-usage', f'idle/{USER}=100'), ('--add-usage', f'idle/{USER}=100', '--remove-user', f'physics/{USER}')):
            page = asked.ask('whatif', *change, login=USER)['output']
            tap.ok('\n\nIn idle, you would pass no user, and 1 user (idle/erin) would pass you.\n\n' in page and 'In physics' not in page,
                   f'only associations that pass or are passed have a sentence ({" ".join(change)})', page)
        for change, ending, own in ((CHANGE, '; these are the first, and yours', ['902']), (('--move', 'optics=physics'), '; these are the first', [])):
            page = asked.ask('whatif', *change, '--top', '1', login=USER)['output']
            tap.ok(f'change places{ending}:\n' in page and re.findall(rf'^(\d+) +{USER} ', page, re.M) == own,
                   f'the own pending job is shown if its place changes ({" ".join(change)})', page)
        removed = asked.ask('whatif', '--remove-user', USER, login=USER)['output']
        tap.ok('You are' in removed and 'pass you' not in removed, 'a removed user passes nobody', removed)
        for login in (STRANGER, 'root'):
            page = asked.ask('whatif', *CHANGE, login=login)['output']
            tap.ok('You are' not in page and re.search('^[0-9]+ would gain', page, re.M), f'{login}, who has no association, gets no own row', page)


def after_sudo(place):
    """Without the socket, the own row is that of the user who types."""
    published(place)
    place.succeed('whatif', *CHANGE)
    tap.unlike(place.out, 'You are', 'whatif shows no own row to a user without an association')
    if os.path.exists('/proc/self/loginuid') and int(open('/proc/self/loginuid', encoding='ascii').read()) < 2 ** 32 - 1:
        return
    place.succeed('whatif', *CHANGE, env=os.environ | {'SUDO_USER': USER})
    tap.like(place.out, f"You are user '{USER}'", 'whatif after sudo shows the own row of the user who called sudo')
    tap.like(place.out, 'sacctmgr modify account', 'after sudo, the commands are shown')


def hidden_names(place):
    """If usage is private, others are counted but not named."""
    published(place, {'report.private': 'usage'})
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        told = {login: asked.ask('whatif', *CHANGE, '--json', login=login) for login in (USER, OPERATOR)}
        own = json.loads(told[USER]['output'])['clusters'][0]['own']
        tap.same([row['passed_by']['names'] + row['passes']['names'] for row in own], [[] for _ in own],
                 'whatif does not name hidden users')
        tap.ok(sum(row['passes']['users'] + row['passed_by']['users'] for row in own) > 2, 'whatif counts hidden users', own)
        page = asked.ask('whatif', *CHANGE, login=USER)['output']
        tap.ok(re.search('[0-9] users? would pass you|would pass [0-9]', page) and not re.search('alice|bob|carol|erin|zoe', page.partition('JobID')[0]),
               'the text output counts hidden users and does not name them', page)


def advice(place):
    """Users get no advice that only administrators can follow."""
    for private in ('no', 'usage, jobs'):
        published(place, {'report.private': private})
        answering.lock_up(place)
        with answering.Answering(place) as asked:
            for command in (['whatif', *CHANGE], ['whatif', '--add-usage', f'physics/{USER}=5'], ['whatif', '--weights', 'age=7'],
                            ['explain', f'physics/{USER}'], ['explain', '902'], ['forecast', f'physics/{USER}'], ['budget'],
                            ['statement', '--since', '2025-06-01'], ['waits'], ['compare'], ['history', f'physics/{USER}'], ['prio'], ['status']):
                answer = asked.ask(*command, login=USER)
                tap.ok(not ADVICE.search(answer['output'] + answer['errors']),
                       f'{" ".join(command)} gives users no advice for administrators (private = {private})', answer)
            root = asked.ask('whatif', *CHANGE, login='root')['output'] + asked.ask('budget', login='root')['output']
            tap.ok('sacctmgr modify account' in root and 'fairmill apply' in root and 'To set one' in root,
                   f'administrators get that advice (private = {private})', root)


def reader(place, login):
    """Makes reader.conf and returns the arguments of place.run() for a user who reads it."""
    os.chmod(place.path('fm.conf'), 0o600)
    with open(place.path('reader.conf'), 'w', encoding='utf-8') as file:
        file.write(f"[results]\ndriver = sqlite\ndatabase = {place.path('r.db')}\n")
    for name in os.listdir(place.folder):
        if name.startswith('r.db'):
            os.chmod(place.path(name), 0o666)
    os.chmod(place.folder, 0o777)
    return dict(settings=None, env=os.environ | {'FAIRMILL_CONF': place.path('fm.conf'), 'FAIRMILL_SOCKET': place.path('none')},
                **answering.ids(login))


def other_login(place):
    """A user cannot see the own rows of another user by naming that user in SUDO_USER."""
    published(place, {'report.private': 'usage, jobs'})
    client = reader(place, STRANGER)
    client['env']['SUDO_USER'] = USER
    place.succeed('whatif', *CHANGE, **client)
    tap.ok('You are' not in place.out and USER not in place.out, 'SUDO_USER does not show the own rows of another user', place.out)


def with_reader_conf(place):
    """Users of reader.conf get what users of the socket get."""
    published(place)
    client = reader(place, USER)
    place.succeed('whatif', *CHANGE, **client)
    tap.ok('You are' in place.out and not ADVICE.search(place.out), 'a user of reader.conf gets the own row and no commands', place.out)
    place.ends(64, 'with reader.conf, a change that needs the accounting database is rejected', 'whatif', '--half-life', '14-0', **client)
    place.says('the error says that reader.conf has no accounting database', 'not available', 'reader.conf')
    place.ends(78, 'with reader.conf, a command for administrators is rejected', 'run', **client)
    place.says('the error names the commands for users', "'run' is for administrators", 'Permission denied', 'you can use show, prio, explain')
    place.ends(78, 'root gets the reason alone', 'run', settings='none.conf')
    tap.ok('administrators' not in place.err, 'root gets no list of commands for users', place.err)


def rejected(place):
    """A rejected request says what users may ask."""
    published(place)
    answering.lock_up(place)
    with open(os.path.join(program.TOP, 'src', 'main.c'), encoding='utf-8') as file:
        names = re.findall(r'&command_(\w+)', file.read())
    def is_for_users(name):
        for folder, _, files in os.walk(os.path.join(program.TOP, 'src', 'command')):
            if name + '.c' in files:
                with open(os.path.join(folder, name + '.c'), encoding='utf-8') as file:
                    return '.for_users = true' in file.read()
        return False
    users = [name for name in names if is_for_users(name)]
    with answering.Answering(place) as asked:
        for command in (['ledger', 'list'], ['report', '--output', '/tmp/x'], ['verify'], ['answer']):
            answer = asked.ask(*command, login=USER)
            lines = answer['errors'].splitlines()
            tap.same((answer['status'], answer['output'], len(lines)), (64, '', 2), f'{command[0]} is rejected in two lines')
            tap.same(lines, [f"fairmill: '{command[0]}' is for administrators and not available over the socket",
                             'fairmill: you can use ' + ', '.join(users)], f'the lines about {command[0]} name the commands for users')
        for option, value, reason in (('--file', '/etc/passwd', 'reads no files'), ('--half-life', '14-0', 'does not read the accounting database'),
                                      ('--now', '2025-06-01', 'does not read the accounting database')):
            answer = asked.ask('whatif', option, value, login=USER)
            tap.ok(answer['status'] == 64 and f'whatif: {option} is not available over the socket, which {reason}; you can use --shares, --move'
                   in answer['errors'] and '--half-life,' not in answer['errors'],
                   f'{option} is rejected with the options that whatif accepts', answer)
        answer = asked.ask('compare', '-c', '/etc/x', login=USER)
        tap.ok(answer['status'] == 64 and answer['errors'].endswith('reads no files\n'), 'an error about an option of all commands names no other options', answer)


def body():
    for test in (own_row, after_sudo, hidden_names, advice, other_login, with_reader_conf, rejected):
        with Place() as place:
            test(place)


if os.getuid():
    tap.not_here('only root can send requests as other users')
tap.main(body)
