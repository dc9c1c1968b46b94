#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill answer`: users who cannot read the settings send requests to a socket.

The response contains only values that the user may see."""

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import answering
import place as places
import tap
from place import NOW, Place

# Every Linux system has these logins.
USER, COORDINATOR, OPERATOR, STRANGER = 'daemon', 'games', 'man', 'mail'
DRAWING = f"""
cluster tiny
root/
  physics/ 60
    alice      10  use 300
    {USER}     10  use 100
    optics/    10
      bob      10  use 20
      {COORDINATOR} 10 use 10
  chemistry/ 40
    carol      10  use 50
job physics.alice   id_job=901 submit={NOW - 100} time_eligible={NOW - 100} partition=p tres_req=1=8 limit=60
job physics.{USER}  id_job=902 submit={NOW - 100} time_eligible={NOW - 100} partition=p tres_req=1=8 limit=60
job optics.bob      id_job=903 submit={NOW - 100} time_eligible={NOW - 100} partition=p tres_req=1=8 limit=60
job physics.alice   id_job=904 start={NOW - 7200} end={NOW - 3600} cpu=2
job physics.{USER}  id_job=905 start={NOW - 7200} end={NOW - 3600} cpu=1
"""
EVERYBODY = sorted(['alice', 'bob', 'carol', USER, COORDINATOR])


def published(place, keys=None):
    place.ready(DRAWING, keys)
    for sql in (f"INSERT INTO acct_coord_table (creation_time, acct, user) VALUES (1, 'physics', '{COORDINATOR}')",
                f"INSERT INTO acct_coord_table (creation_time, acct, user, deleted) VALUES (1, 'chemistry', '{USER}', 1)",
                f"INSERT OR REPLACE INTO user_table (creation_time, name, admin_level) VALUES (1, '{OPERATOR}', 2)"):
        place.change(sql)
    place.succeed('run', '--now', NOW)
    place.succeed('run', '--now', NOW + 7200)
    answering.lock_up(place)


def questions(place):
    """Invalid requests, and commands that the socket does not run."""
    with answering.Answering(place) as asked:
        for bad, said in ((b'', 'not valid JSON'), (b'show\n', 'not valid JSON'), (b'[1]\n', 'not a JSON object'), (b'{}\n', 'version'),
                          (b'{"fairmill":2,"arguments":["show"]}\n', 'version'), (b'{"fairmill":1}\n', 'arguments'),
                          (b'{"fairmill":1,"arguments":[]}\n', 'arguments'),
                          (b'{"fairmill":1,"arguments":["show",3]}\n', 'strings'),
                          (b'{"fairmill":1,"arguments":["sh\\u0000ow"]}\n', 'JSON'),
                          (b'{"fairmill":1,"fairmill":1,"arguments":["show"]}\n', 'JSON'),
                          (b'\xff\xfe\x00\n', 'not valid JSON'), (b'[' * 60000 + b'\n', 'not valid JSON')):
            answer = json.loads(asked.raw(bad))
            tap.ok(answer['status'] == 64 and said in answer['errors'] and not answer['output'],
                   f'the request {bad[:40]!r} is rejected', answer)
        answer = json.loads(asked.raw(b'{"fairmill":1,"arguments":["' + b'x' * 70000))
        tap.ok(answer['status'] == 69 and '65536 bytes' in answer['errors'], 'a request that is too long is rejected', answer)
        answer = asked.ask(*['show'] * 300)
        tap.ok(answer['status'] == 64, 'a request with too many arguments is rejected', answer)
        for command in (['run'], ['init'], ['check'], ['verify'], ['forget', 'tiny'], ['import', 'pbs'], ['diff', '/etc/passwd'],
                        ['ledger', 'list'], ['report'], ['metrics'], ['answer']):
            answer = asked.ask(*command)
            tap.ok(answer['status'] == 64 and 'socket' in answer['errors'], f"the socket rejects '{' '.join(command)}'", answer)
        for command in (['show', '-c', '/etc/passwd'], ['show', '--config=/etc/passwd'], ['whatif', '--file', '/etc/passwd'],
                        ['whatif', '-f-']):
            answer = asked.ask(*command)
            tap.ok(answer['status'] == 64 and 'reads no files' in answer['errors'],
                   f"the socket rejects paths of files ({' '.join(command)})",
                   answer)
        for command in (['nonsense'], ['-c', 'x', 'show'], ['--help'], ['show', '--nonsense'], ['\x1b[2J']):
            answer = asked.ask(*command)
            tap.ok(answer['status'] == 64 and '\x1b' not in answer['errors'], f'the socket rejects {command} as a usage error',
                   answer)
        tap.ok('usage: fairmill show' in asked.ask('show', '--help')['output'], 'the socket sends the help of a command')
        answer = asked.ask('show', later='key', terminal={'columns': 200, 'colours': True})
        tap.ok('\x1b[' in answer['output'], 'a terminal gets colours, and unknown keys are ignored', answer)
        tap.ok('\x1b[' not in asked.ask('show')['output'], 'a client without a terminal gets no colours')
        answer = asked.ask('whatif', '--half-life', '14-0')
        tap.ok(answer['status'] == 64 and 'accounting database' in answer['errors'],
               'a variant that needs job rows is rejected with the reason',
               answer)


def same_as_direct(place):
    """The client prints the same output and errors, and exits with the same status.

    This also holds for the width and the colours of a terminal."""
    with answering.Answering(place) as asked:
        client = asked.client(USER)
        for command in (('show',), ('show', '--json'), ('show', '-lmP'), ('show', '--pbs'), ('prio', '-l'), ('explain', 'alice', '--json'),
                        ('explain', 'alice', 'bob', '--json'), ('compare',), ('history', 'alice'), ('history', 'alice', '--csv'), ('statement', '--since', '2020-01-01', '--csv'),
                        ('statement', '--tres', 'cpu'), ('history', 'alice', '--tres', 'cpu'), ('history', 'alice', '--tres', 'none'), ('budget', '--json'), ('waits', '--since', '2020-01-01'),
                        ('whatif', '--shares', 'alice=70', '--csv'), ('show', '-u', 'who'), ('show', '-x'), ('whatif', '--csv')):
            direct = place.run(*command), place.out, place.err
            told = place.run(*command, **client), place.out, place.err
            tap.same(told, direct, f"the socket's response equals the direct output ({' '.join(command)})")
        place.succeed('show', '--json=slurm')
        direct = json.loads(place.out)
        place.succeed('show', '--json=slurm', **client)
        told = json.loads(place.out)
        tap.same(told.pop('meta')['client']['user'], USER, 'meta of --json=slurm names the client of the socket')
        direct.pop('meta')
        tap.same(told, direct, 'the rest of --json=slurm equals the direct output')
        status = place.run('status', **client)
        tap.ok(status in (0, 1) and place.out.startswith('Cluster'), 'status prints its output over the socket',
               place.out, place.err)
        for columns in (40, 132):
            conf = {'FAIRMILL_CONF': '/nonexistent/fm.conf', 'FAIRMILL_SOCKET': asked.path}
            for command in (('history', 'alice'), ('show',)):
                direct = place.on_terminal(*command, columns=columns, LC_ALL='C.UTF-8')
                told = place.on_terminal(*command, columns=columns, settings=None, LC_ALL='C.UTF-8', **conf)
                tap.same(told, direct, f"the socket's response equals the direct output on {columns} columns ({command[0]})")
        place.ends(69, 'a file that is not a socket is an error', 'show',
                   **client | {'env': client['env'] | {'FAIRMILL_SOCKET': place.path('fm.conf')}})
        place.says('the error says that the client cannot connect to the socket', 'cannot connect')
        place.ends(3, 'status --nagios exits with 3 if it cannot connect', 'status', '--nagios',
                   **client | {'env': client['env'] | {'FAIRMILL_SOCKET': place.path('fm.conf')}})
        tap.ok(place.out.startswith('FAIRMILL UNKNOWN - cannot connect') and place.out.count('\n') == 1,
               'status --nagios prints the reason in one line',
               place.out, place.err)
        place.ends(78, 'without a socket, unreadable settings are an error', 'show',
                   **client | {'env': client['env'] | {'FAIRMILL_SOCKET': place.path('none')}})
        place.says('the error says that the host has no socket for users', 'no socket for users', 'fairmill.socket')


def administrators(place):
    """A user who cannot read the settings sees which commands are available."""
    with answering.Answering(place) as asked:
        client = asked.client(USER)
        for command in (['ledger', 'list'], ['verify'], ['run'], ['check'], ['metrics'], ['report']):
            place.ends(78, f"a user cannot run '{command[0]}' over the socket", *command, **client)
            place.says('the error names the commands that users can run',
                       f"'{command[0]}' is for administrators", 'show, prio, explain')
        client['env'] = client['env'] | {'FAIRMILL_SOCKET': place.path('none')}
        place.ends(78, 'without a socket, verify reports unreadable settings', 'verify', **client)
        tap.ok('administrators' not in place.err, 'without a socket, the error does not mention administrators', place.err)


def forecasts(place):
    """Without the accounting database, forecasts use published values and daily usage."""
    day = 86400
    place.ready(f"""
cluster tiny
root/
  physics/ 60
    alice  10 use 300
    bob    10 use 9000
  chemistry/ 40
    carol  10 use 50
""", {'usage.half_life': '7-0'})
    rows = place.change('SELECT id_assoc, user FROM tiny_assoc_table WHERE user != \'\'')
    for number, (association, _) in enumerate(rows):  # the same usage each day, in whole days
        for back in range(1, 12):
            start = NOW - NOW % day - back * day
            place.multiply('tiny_job_table', 'id_job = (SELECT min(id_job) FROM tiny_job_table)', 1,
                           job_db_inx=str(9000 + 100 * number + back), id_job=str(9000 + 100 * number + back),
                           id_assoc=str(association), time_submit=str(start), time_eligible=str(start), time_start=str(start),
                           time_end=str(start + day))
    now = NOW - NOW % day
    place.settings({'usage.half_life': '7-0', 'usage.time_zone': 'UTC'})
    place.succeed('run', '--now', now)
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        for command in (['alice'], ['physics'], ['alice', '--until', '0.5'], ['bob', '--job', '100x10h'],
                        ['carol', '--days', '400']):
            place.succeed('forecast', *command, '--now', now, '--json')
            exact = json.loads(place.out)['clusters'][0]
            answer = asked.ask('forecast', *command, '--json')
            told = json.loads(answer['output'])['clusters'][0]
            differ = []
            for one, other in zip(exact['points'], told['points']):
                for key, value in one.items():
                    near = value == other[key] if not isinstance(value, float) or other[key] is None else \
                        abs(value - other[key]) <= 1e-9 * max(abs(value), 1)
                    if not near:
                        differ.append((key, value, other[key]))
            tap.ok(len(told['points']) == len(exact['points']) > 40 and not differ and answer['status'] == 0,
                   f"forecast {' '.join(command)} equals the one from the accounting database",
                   len(differ), differ[:9], answer['errors'])
        place.succeed('explain', 'physics', '--jobs', '--json')
        exact = json.loads(place.out)['clusters'][0]['days']
        told = json.loads(asked.ask('explain', 'physics', '--jobs', '--json')['output'])['clusters'][0]
        tap.ok(exact and [day['day'] for day in told['days']] == [day['day'] for day in exact] and
               all(abs(one[key] - other[key]) <= 1e-6 * max(one[key], 1) for one, other in zip(exact, told['days'])
                   for key in ('used', 'left')) and told['job_records'] is None and not told['jobs'],
               'the heaviest days equal those from the accounting database, without jobs', exact, told)
        answer = asked.ask('explain', 'physics', '--jobs')
        tap.ok('the accounting database was not read' in ' '.join(answer['output'].split()) and 'The largest of' in answer['output'],
               'explain --jobs says that job records need the accounting database', answer['output'])
        answer = asked.ask('forecast', 'alice')
        tap.ok('database was not read' in answer['output'], 'forecast says that it did not read the accounting database',
               answer['output'])
        os.rename(place.path('a.db'), place.path('elsewhere.db'))
        for command in (['show'], ['prio'], ['explain', 'alice', '--jobs'], ['forecast', 'alice'], ['compare'], ['history', 'alice'],
                        ['whatif', '--add-usage', 'alice=9'], ['status', '--json']):
            answer = asked.ask(*command)
            tap.ok(answer['status'] in (0, 1) and answer['output'] and 'elsewhere' not in answer['errors'],
                   f'the socket does not read the accounting database ({command[0]})', answer)
        os.rename(place.path('elsewhere.db'), place.path('a.db'))
        answer = asked.ask('forecast', 'alice', '--now', str(now))
        tap.ok(answer['status'] == 64 and 'accounting database' in answer['errors'], 'forecast with another time is rejected',
               answer)
    place.settings({'usage.half_life': '7-0', 'usage.time_zone': 'UTC', 'retention.history_days': '0'})
    for name in os.listdir(place.folder):
        if name.startswith('r.db'):
            os.unlink(place.path(name))
    place.succeed('init')
    place.succeed('run', '--now', now)
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        answer = asked.ask('forecast', 'alice')
        tap.ok(answer['status'] == 1 and 'no daily usage' in answer['errors'],
               'forecast without daily usage fails with the reason',
               answer)


def names(output):
    return sorted(row['username'] for row in json.loads(output)['clusters'][0]['associations'] if row['username'])


def jobs(output):
    return sorted(row['jobid'] for row in json.loads(output)['clusters'][0]['jobs'])


def seen(asked, login):
    answers = [asked.ask(*command, '--json', login=login) for command in (['show'], ['prio'])]
    tap.ok(all(answer['status'] == 0 for answer in answers), f'the requests of {login} succeed', answers)
    return names(answers[0]['output']), jobs(answers[1]['output'])


ALL_JOBS = [901, 902, 903]
VIEWS = {
    'no': {USER: (EVERYBODY, ALL_JOBS), STRANGER: (EVERYBODY, ALL_JOBS)},
    'usage': {USER: ([USER], ALL_JOBS), COORDINATOR: (sorted(['alice', 'bob', USER, COORDINATOR]), ALL_JOBS),
              OPERATOR: (EVERYBODY, ALL_JOBS), STRANGER: ([], ALL_JOBS)},
    'jobs': {USER: (EVERYBODY, [902]), COORDINATOR: (EVERYBODY, ALL_JOBS), STRANGER: (EVERYBODY, [])},
    'yes': {USER: ([USER], [902]), COORDINATOR: (sorted(['alice', 'bob', USER, COORDINATOR]), ALL_JOBS),
            OPERATOR: (EVERYBODY, ALL_JOBS), STRANGER: ([], []), 'root': (EVERYBODY, ALL_JOBS),
            answering.SERVICE: (EVERYBODY, ALL_JOBS)},
}


def views(place):
    for private, expected in VIEWS.items():
        published(place, {'report.private': private})
        with answering.Answering(place) as asked:
            for login, (users, waiting) in expected.items():
                tap.same(seen(asked, login), (users, waiting), f'private = {private}: {login} sees the permitted users and jobs')


def users_are_coordinators(place):
    published(place, {'report.private': 'usage'})
    place.change("UPDATE tiny_assoc_table SET flags = 65536 WHERE acct = 'physics' AND user = ''")
    place.succeed('run', '--now', NOW + 7300)
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        tap.same(seen(asked, USER)[0], sorted(['alice', 'bob', USER, COORDINATOR]),
                 'with UsersAreCoords, a member of an account sees everything below it')
    for release, below, statement in (('24.11', [('optics',)], 'is a coordinator'), ('25.05', [], 'is not a coordinator')):
        place.settings({'report.private': 'usage', 'fairshare.slurm_version': release})
        place.succeed('run', '--now', NOW + 7300, '--replace')
        tap.same(place.query("SELECT account FROM fairmill_privilege WHERE user_name = 'bob'"), below,
                 f'in {release}, a member of an account below it {statement}')
    answering.lock_up(place)
    place.change("UPDATE tiny_assoc_table SET flags = 0 WHERE user = ''")
    place.change("UPDATE tiny_assoc_table SET flags = 65536 WHERE acct = 'optics' AND user = ''")
    place.change('DELETE FROM acct_coord_table')
    place.succeed('run', '--now', NOW + 7400)
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        tap.same(seen(asked, COORDINATOR)[0], sorted(['bob', COORDINATOR]), 'a member with UsersAreCoords sees only this account')
        tap.same(seen(asked, USER)[0], [USER], 'a user above the account with UsersAreCoords sees only themselves')
    tap.same(place.query('SELECT user_name, account, privilege FROM fairmill_privilege ORDER BY 1, 2'),
             [('bob', 'optics', 'coordinator'), (COORDINATOR, 'optics', 'coordinator'), (OPERATOR, '', 'operator')],
             'fairmill_privilege contains the coordinators and operators')


def refused(place):
    """Each command that names another user."""
    published(place, {'report.private': 'yes'})
    with answering.Answering(place) as asked:
        for command in (['show', '-u', 'alice'], ['explain', 'alice'], ['explain', USER, 'alice'], ['history', 'alice'],
                        ['statement', '-u', 'alice'], ['statement', '-u', 'alice', '--tres', 'cpu'], ['history', 'alice', '--tres', 'cpu'],
                        ['budget', 'alice'], ['waits', '-u', 'alice'], ['whatif', '--shares', 'alice=9'], ['whatif', '--remove-user', 'alice'], ['prio', '-u', 'alice'],
                        ['show', '--pbs', 'alice'], ['forecast', 'alice']):
            answer = asked.ask(*command, login=USER)
            tap.ok(answer['status'] == 64 and "'alice' is neither you" in answer['errors'] and not answer['output'],
                   f"a request for another user is rejected ({' '.join(command)})", answer)
        for command in (['explain', USER], ['compare', '--json'], ['whatif', '--add-usage', f'{USER}=9'],
                        ['whatif', '--json', '--shares', 'physics=1'], ['history', USER], ['show', '-l'], ['prio', '-l'],
                        ['forecast', USER], ['explain', 'physics'], ['show', '--pbs'], ['show', '--pbs', '--list'], ['show', '-alm'],
                        ['show', '-U', '--csv'], ['show', '-a', '--json=slurm'], ['compare'], ['compare', '--csv'], ['prio', '-w'], ['prio', '-S', 'u'],
                        ['explain', 'root', '--jobs'], ['explain', 'optics', '--jobs', '--json'], ['history', 'physics'],
                        ['whatif', '--move', 'optics=root'], ['whatif', '--weights', 'fairshare=1000', '--json'],
                        ['forecast', 'physics', '--until', '0.5'], ['statement', '--since', '2020-01-01'],
                        ['statement', '--since', '2020-01-01', '--tres', 'cpu'], ['history', 'physics', '--tres', 'cpu'],
                        ['statement', '--since', '2020-01-01', '-A', 'physics', '--json'], ['status', '--json']):
            answer = asked.ask(*command, login=USER)
            tap.ok(answer['status'] == (command[0] == 'status') and not any(name in answer['output'] for name in ('alice', 'bob', 'carol')),
                   f"the response contains no other user ({' '.join(command)})", answer)
        answer = asked.ask('explain', 'alice', login=COORDINATOR)
        tap.ok(answer['status'] == 0 and 'alice' in answer['output'], 'a coordinator can request a user of their accounts',
               answer)
        answer = asked.ask('explain', 'carol', login=COORDINATOR)
        tap.ok(answer['status'] == 64, 'a coordinator cannot request a user of other accounts', answer)
        answer = asked.ask('show', login='nobody')
        tap.ok(answer['status'] == 78 and 'cannot answer' in answer['errors'] and not answer['output'],
               'a login that is unknown on the host is rejected', answer)
        # A user's own settings file does not reveal anything that the user may not see.
        forged = place.path('forged')
        os.mkdir(forged)
        shutil.copy(place.path('fm.conf'), forged)
        with open(os.path.join(forged, 'fm.conf'), 'a', encoding='utf-8') as file:
            file.write('[report]\nprivate = no\n')
        os.system(f"sed -i '/^private = yes/d' {forged}/fm.conf")
        os.chmod(os.path.join(forged, 'fm.conf'), 0o644)
        client = asked.client(USER)
        place.run('show', **client | {'env': client['env'] | {'FAIRMILL_CONF': os.path.join(forged, 'fm.conf')}})
        tap.ok('alice' not in place.out, 'forged settings do not reveal other users', place.out)
        tap.ok(place.run('show', **client) == 0 and 'alice' not in place.out and USER in place.out,
               'the socket still answers after a request with forged settings', place.out, place.err)


def slurm_conf(place):
    with open(place.path('slurm.conf'), 'w', encoding='ascii') as file:
        file.write('ClusterName=tiny\nPrivateData=account,Usages,node\n')
    published(place, {'slurm.conf': place.path('slurm.conf')})
    with answering.Answering(place) as asked:
        tap.same(seen(asked, USER), ([USER], ALL_JOBS),
                 "PrivateData of slurm.conf is the default; Slurm's substring search applies")
    published(place, {'slurm.conf': place.path('slurm.conf'), 'report.private': 'no'})
    with answering.Answering(place) as asked:
        tap.same(seen(asked, USER), (EVERYBODY, ALL_JOBS), "the setting 'private' overrides PrivateData")


QUESTION = json.dumps(dict(fairmill=1, arguments=['show'])).encode() + b'\n'
# Python code that one user runs in a loop.
FLOODS = {
    'connects and closes': 'connect().close()',
    'sends a byte and closes': 's = connect(); s.send(b"{"); s.close()',
    'sends a request and closes': f's = connect(); s.send({QUESTION!r}); s.close()',
    'sends requests': f's = connect(); s.send({QUESTION!r}); s.recv(65536); s.close()',
    'sends requests and reads no response': f's = connect(); s.send({QUESTION!r}); held.append(s)',
    'sends too much': 's = connect(); s.send(b"x" * 70000); s.close()',
    'keeps connections': 'held.append(connect())',
}


def flood(asked, code):
    loop = ('import socket, sys, threading, time; held = []\n'
            'def connect():\n'
            '    s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1]); return s\n'
            'def work():\n'
            '    while True:\n'
            '        try:\n'
            f'            {code}\n'
            '        except OSError: pass\n'
            '        del held[:-50]; time.sleep(.002)\n'
            'for _ in range(8): threading.Thread(target=work, daemon=True).start()\n'
            'print(flush=True); time.sleep(600)\n')
    process = subprocess.Popen(['/usr/bin/python3', '-c', loop, asked.path], stdout=subprocess.PIPE, cwd='/', **answering.ids(STRANGER))
    process.stdout.readline()
    return process


def crowds(place):
    """A user who sends requests all the time does not slow down others."""
    published(place, {'report.private': 'yes'})
    for what, code in FLOODS.items():
        with answering.Answering(place) as asked, flood(asked, code) as flooder:
            for _ in range(3):
                place.succeed('show', **asked.client(USER))
            flooder.kill()
            tap.ok(USER in place.out, f'another user is answered while one user {what}', place.out)
    # Each started process adds a line to this file.
    started = place.path('started')
    real, wrapper = answering.program.FAIRMILL, place.path('wrapper')
    with open(wrapper, 'w', encoding='utf-8') as file:
        file.write(f'#!/bin/bash\necho >>{started}\nexec -a "$0" {real} "$@"\n')
    os.chmod(wrapper, 0o755)
    answering.program.FAIRMILL = wrapper
    for sent in (b'', b'{', QUESTION):
        with open(started, 'w', encoding='utf-8'):
            os.chmod(started, 0o666)
        with answering.Answering(place) as asked:
            for _ in range(100):
                with socket.socket(socket.AF_UNIX) as peer:
                    peer.connect(asked.path)
                    peer.sendall(sent)
            asked.ask('show', login=USER)  # connections are accepted in order
            with open(started, encoding='utf-8') as file:
                lines = len(file.readlines())
            tap.ok(lines == 2 if not sent else lines < 50, f'no process is started for clients that are gone ({sent})', lines)
    answering.program.FAIRMILL = real
    # A user who has reached the limit of requests gets an error.
    holder = ('import select, socket, sys, time; all = [socket.socket(socket.AF_UNIX) for _ in range(8)]\n'
              'for s in all: s.connect(sys.argv[1])\n'
              'while len(select.select(all, [], [], 9)[0]) < 4: time.sleep(0.01)\n'
              'print(flush=True); time.sleep(60)\n')
    with answering.Answering(place) as asked:
        def refused():
            """Returns the error for a user at the limit, or None.  A connection is held for five
            seconds."""
            with subprocess.Popen(['/usr/bin/python3', '-c', holder, asked.path], stdout=subprocess.PIPE, cwd='/',
                                  **answering.ids(STRANGER)) as held:
                held.stdout.readline()  # four were rejected, so four are held
                answer = asked.ask('show', login=STRANGER)
                held.kill()
            return answer if answer['status'] else None
        answer = tap.until(refused)
        tap.ok(answer and answer['status'] == 75 and answer.get('busy') and '4 of yours' in answer['errors'],
               'a user can have four requests at once', answer)
        tap.same(place.run('show', **asked.client(STRANGER)), 0, 'a user is answered after their other requests have ended')
    with answering.Answering(place, '--most', '1') as asked:
        def crowded():
            with socket.socket(socket.AF_UNIX) as held:
                held.connect(asked.path)
                answer = asked.ask('show', login=USER)
            return answer if answer['status'] else None
        answer = tap.until(crowded)
        tap.ok(answer['status'] == 75 and answer['busy'], '--most limits the requests of all users together', answer)
        tap.same(place.run('show', **asked.client(USER)), 0, 'a user is answered after the requests of others have ended')


def service(place):
    """Tests the listening process."""
    published(place)
    with answering.Answering(place, '--idle', '1s') as asked:
        tap.same(asked.ask('show')['status'], 0, 'the first request is answered')
        tap.same(tap.until(lambda: asked.process.poll() is not None) and asked.process.returncode, 0,
                 'the listening process exits when it is idle')
        with socket.socket(socket.AF_UNIX) as waiting:
            waiting.connect(asked.path)
            asked.start()
            waiting.sendall(QUESTION)
            tap.ok(b'"status":0' in waiting.recv(65536), 'the next process answers a client that connected in between')
    with answering.Answering(place) as asked:
        tap.same(asked.ask('show')['status'], 0, 'a request succeeds before the settings change')
        place.settings({'report.private': 'yes'})
        answering.lock_up(place)
        tap.ok('alice' not in asked.ask('show', login=USER if not os.getuid() else None)['output'] or os.getuid(),
               'the settings are read for each request')
        if not os.getuid():
            status = subprocess.run(['sh', '-c', f'grep -c . /proc/{asked.process.pid}/maps; ls -l /proc/{asked.process.pid}/fd'],
                                    stdout=subprocess.PIPE, text=True, check=True).stdout
            tap.ok('.db' not in status and '.conf' not in status, 'the listening process has no results or settings open', status)
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen([answering.program.FAIRMILL, '-c', place.path('fm.conf'), 'answer'], stdin=theirs, stdout=theirs):
        ours.sendall(QUESTION)
        tap.ok(b'"status":0' in ours.recv(65536), 'a connected socket as standard input is answered')
    for options, said in ((['--most', 'x'], 'most'), (['--idle', 'soon'], 'idle')):
        place.ends(64, f"'answer {' '.join(options)}' is rejected", 'answer', *options)
        place.says(f'the error names the option {said}', said)
    place.ends(64, 'standard input that is not a socket is rejected', 'answer')
    place.says("the error names systemd's fairmill.socket", 'fairmill.socket')


def silent(place):
    """Connections of clients that send nothing, or do not read, are closed."""
    crowd = '\n'.join(f'    u{i:04} 1' for i in range(1500))
    published(place)
    place.ready(f'cluster tiny\nroot/\n  many/ 1\n{crowd}\n')
    place.succeed('run', '--now', NOW)
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        def ended(statement, data):
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(asked.path)
                peer.sendall(data)
                polled = select.poll()
                polled.register(peer, 0)  # the end of the connection, even if data is unread
                tap.ok(polled.poll(1000 * tap.HANG), statement)
        ended('a client that sends nothing is disconnected', b'')
        ended('a client that does not read is disconnected', b'{"fairmill":1,"arguments":["show","--json"]}\n')
        began = time.monotonic()
        answer = asked.ask('show', '--json')
        tap.ok(len(json.loads(answer['output'])['clusters'][0]['associations']) == 1502,
               'a long response is complete', len(answer['output']), answer['errors'], time.monotonic() - began)


def body():
    with Place() as place:
        places.FAIRMILL = answering.program.FAIRMILL = shutil.copy(places.FAIRMILL, place.path('fairmill'))
        os.chmod(place.path('fairmill'), 0o755)
        published(place)
        questions(place)
        same_as_direct(place)
        administrators(place)
        forecasts(place)
        silent(place)
        service(place)
        if os.getuid():
            # In CI a skipped test is a failure, because its output is not read.
            ci = os.environ.get('CI') == 'true'
            tap.ok(not ci, 'the tests as other users run' + ('' if ci else ' # SKIP needs root'))
            return
        views(place)
        users_are_coordinators(place)
        refused(place)
        slurm_conf(place)
        crowds(place)


tap.main(body)
