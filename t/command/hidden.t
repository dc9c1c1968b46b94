#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that the socket reveals nothing about users who are hidden from the client.

This applies to their exact usage, their jobs and their existence."""

import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import answering
import place as places
import tap
from place import NOW, Place

# Every Linux system has these logins.
USER, COORDINATOR, OPERATOR = 'daemon', 'games', 'man'
DAY = 86400
# bob and alice have jobs that rank above and below the jobs of USER; alice is in two accounts.
DRAWING = f"""
cluster tiny
root/
  physics/ 60
    alice         10  use 3000
    {USER}        10  use 1000
    optics/       10
      bob         10  use 200
      {COORDINATOR} 10 use 100
  chemistry/ 40
    alice         10  use 900
    carol         10  use 500
    dora          10
job physics.alice   id_job=901 submit={NOW - 300} time_eligible={NOW - 300} priority=9 partition=p tres_req=1=8 limit=60
job physics.{USER}  id_job=902 submit={NOW - 200} time_eligible={NOW - 200} priority=9 partition=p tres_req=1=8 limit=60
job chemistry.carol id_job=903 submit={NOW - 100} time_eligible={NOW - 100} priority=9 partition=p tres_req=1=8 limit=60
"""
HIDDEN = ('alice', 'bob', 'carol', 'no parent')
WEIGHTS = {'priority.weight_age': '1000', 'priority.weight_fairshare': '10000', 'priority.max_age': '1'}


def published(place, keys=None):
    place.ready(DRAWING, keys)
    place.change(f"INSERT INTO acct_coord_table (creation_time, acct, user) VALUES (1, 'physics', '{COORDINATOR}')")
    place.change(f"INSERT OR REPLACE INTO user_table (creation_time, name, admin_level) VALUES (1, '{OPERATOR}', 2)")
    place.succeed('run', '--now', NOW)
    answering.lock_up(place)


def associations(answer):
    if answer['status']:
        raise RuntimeError(answer)
    return json.loads(answer['output'])['clusters'][0]['associations']


STEP = 9  # TRES-seconds, the smallest decimal number of hours


def passes_at(asked, most):
    """Returns the additional TRES-seconds with which USER ranks below a hidden sibling, according
    to whatif.

    The value is a multiple of STEP.  Returns None if `most` is not enough."""
    def place_with(steps, key='place_after'):
        answer = asked.ask('whatif', '--add-usage', f'{USER}={steps * 0.0025:.4f}', '--json', login=USER)
        return [row[key] for row in associations(answer) if row['username'] == USER][0]
    low, high = 1, most // STEP
    start = place_with(low, 'place_before')
    if place_with(high) == start:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if place_with(middle) == start else (low, middle)
    return low * STEP


def amounts(place):
    published(place)
    with answering.Answering(place) as asked:
        found = passes_at(asked, 4000)
        tap.ok(found and abs(found - 2000) <= 2 * STEP, 'whatif is exact if no user is hidden', found)
        answer = asked.ask('whatif', '--add-usage', f'{USER}=1', '--shares', f'{USER}=2', login=USER)
        tap.ok('approximate' not in answer['output'] and 'ledger' not in answer['output'] and 'sacctmgr' not in answer['output'],
               'whatif proposes no commands to a user', answer)
        answer = asked.ask('whatif', '--add-usage', f'{USER}=1', login='root')
        tap.ok('fairmill ledger debit' in answer['output'], 'whatif proposes a ledger command to root', answer)
    published(place, {'report.private': 'usage'})
    with answering.Answering(place) as asked:
        found = passes_at(asked, 4000)
        tap.ok(found and 500 - 2 * STEP <= found < 1980, 'whatif rounds the usage of hidden users down, by at most half', found)
        answer = asked.ask('whatif', '--add-usage', f'{USER}=1', login=USER)
        tap.ok('approximate' in answer['output'], 'whatif says that values are approximate', answer['output'])
        for login, rounded in ((USER, True), (COORDINATOR, True), (OPERATOR, False), ('root', False)):
            answer = asked.ask('whatif', '--add-usage', 'physics=1', '--json', login=login)
            tap.same(json.loads(answer['output'])['clusters'][0]['rounded'], rounded,
                     f'the field "rounded" is {rounded} for {login}')
            usage = [row['rawusage_before'] for row in associations(answer) if (row['account'], row['username']) == ('physics', '')]
            tap.same(usage, [4300], f'the usage of accounts is exact for {login}')
    # By exact values, USER has used one hundredth less than alice.
    near = DRAWING.replace(f'{USER}        10  use 1000', f'{USER}        10  use 2970')
    for private, wanted in (('no', 'exact'), ('usage', 'rounded')):
        place.ready(near, {'report.private': private, 'usage.time_zone': 'UTC'})
        place.succeed('run', '--now', NOW)
        answering.lock_up(place)
        with answering.Answering(place) as asked:
            told = json.loads(asked.ask('forecast', USER, '--json', login=USER)['output'])['clusters'][0]
            shown = [row['fairshare'] for row in associations(asked.ask('show', '--json', login=USER)) if row['username'] == USER]
            tap.same((told['points'][0]['fairshare'] == shown[0], told['rounded']), (private == 'no', private != 'no'),
                     f'forecast uses {wanted} usage (private = {private})')
            page = asked.ask('forecast', USER, login=USER)['output']
            tap.same('approximate' in page, private != 'no', f'forecast says if values are approximate (private = {private})')


def rates(place):
    """Tests the usage rates of forecast."""
    place.ready(DRAWING, {'report.private': 'usage', 'usage.half_life': '7-0', 'usage.time_zone': 'UTC'})
    now = NOW - NOW % DAY
    rows = place.change("SELECT id_assoc FROM tiny_assoc_table WHERE user != ''")
    for number, (association,) in enumerate(rows):
        for back in range(1, 9):
            place.multiply('tiny_job_table', 'id_job = (SELECT min(id_job) FROM tiny_job_table)', 1, job_db_inx=str(9000 + 100 * number + back),
                           id_job=str(9000 + 100 * number + back), id_assoc=str(association), time_submit=str(now - back * DAY),
                           time_eligible=str(now - back * DAY), time_start=str(now - back * DAY), time_end=str(now - back * DAY + 3600 * (number + 3)))
    place.succeed('run', '--now', now)
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        def told(name, login):
            return json.loads(asked.ask('forecast', name, '--json', login=login)['output'])['clusters'][0]
        for name in ('physics', 'chemistry'):
            exact, rounded = told(name, 'root'), told(name, USER)
            tap.ok(rounded['rounded'] and abs(exact['rate'] - rounded['rate']) <= 1e-9 * exact['rate'] and exact['rate'] > 0 and
                   all(abs(one[key] - other[key]) <= 1e-9 * abs(one[key]) for one, other in zip(exact['points'], rounded['points'])
                       for key in ('rawusage', 'levelfs')),
                   f'forecast uses the exact rate of an account ({name})', exact['points'][-1], rounded['points'][-1])


def jobs(place):
    """The place among hidden jobs would reveal their priorities."""
    published(place, {'report.private': 'jobs'} | WEIGHTS)
    with answering.Answering(place) as asked:
        for change in (['--weights', 'age=5'], ['--weights', 'fairshare=1'], ['--add-usage', f'{USER}=9'], ['--shares', f'{USER}=999']):
            answer = asked.ask('whatif', *change, '--json', login=USER)
            told = json.loads(answer['output'])['clusters'][0]['jobs']
            tap.same([(job['id_job'], job['place_before'], job['place_after']) for job in told], [(902, 1, 1)],
                     f"a job's place counts only jobs that the user may see ({' '.join(change)})")
        told = json.loads(asked.ask('whatif', '--weights', 'age=5', '--json', login='root')['output'])['clusters'][0]['jobs']
        tap.same(sorted(job['place_after'] for job in told), [1, 2, 3], 'root sees the places of all jobs')
        text = ' '.join(asked.ask('explain', 'job', '902', login=USER)['output'].split())
        tap.ok(re.search(r'is at place \d of 3\.', text) and not any(name in text for name in HIDDEN),
               'the place in explain counts hidden jobs, and their users are not named', text)
        tap.same(asked.ask('explain', 'job', '902', '901', login=USER)['status'], 64, 'explain does not compare with a hidden job')


def existence(place):
    """The response for a hidden name must equal the response for an unknown name."""
    for private in ('usage', 'jobs', 'yes'):
        published(place, {'report.private': private})
        with answering.Answering(place) as asked:
            for login in (USER, COORDINATOR):
                for command in (['show', '-u', '@'], ['statement', '-u', '@'], ['prio', '-u', '@'], ['explain', '@'], ['explain', '@', login],
                                ['explain', 'chemistry/@'], ['forecast', '@'], ['history', '@'], ['history', 'chemistry/@'],
                                ['history', '@', '--tres', 'cpu'], ['statement', '-u', '@', '--tres', 'cpu'],
                                ['show', '--pbs', '@'], ['whatif', '--shares', '@=9'], ['whatif', '--add-usage', '@=9'],
                                ['whatif', '--remove-user', '@'], ['whatif', '--move', '@=root'], ['whatif', '--move', 'optics=@'],
                                ['statement', '-u', f'{login},@'], ['prio', '-j', '903', '-u', '@'], ['prio', '-A', 'chemistry', '-u', '@'],
                                ['statement', '@'], ['statement', login, 'chemistry/@'], ['compare', '@'], ['compare', 'chemistry/@'],
                                ['compare', '-u', f'{login},@'], ['history', login, '@'], ['forecast', '-u', f'{login},@'],
                                ['explain', '-u', '@', '-A', 'chemistry'], ['budget', '@'], ['budget', login, 'chemistry/@'], ['waits', '-u', '@'], ['waits', '--by', 'user', '-u', f'{login},@'], ['whatif', '--shares', f'{login}=9', '-u', '@']):
                    if private == 'jobs' and command[0] not in ('prio', 'waits'):
                        continue  # users are not hidden
                    answers = []
                    for name in ('dora', 'nemo'):
                        answer = asked.ask(*[word.replace('@', name) for word in command], login=login)
                        answers.append((answer['status'], answer['output'].replace(name, '@'), answer['errors'].replace(name, '@')))
                    tap.ok(answers[0] == answers[1] and answers[0][0] == 64,
                           f"private = {private}: {login} gets the same error for hidden and unknown names ({' '.join(command)})",
                           *answers)
            if private == 'jobs':
                continue
            answer = asked.ask('whatif', '--remove-user', 'alice', '--json', login=COORDINATOR)
            told = json.loads(answer['output'] or '{"clusters":[{"changes":[]}]}')['clusters'][0]
            tap.ok(len(told['changes']) == 1 and 'physics' in told['changes'][0] and 'chemistry' not in ' '.join(told['changes']) and not told['commands'],
                   f'private = {private}: a coordinator sees no other accounts of their users', answer)


def reasons(place):
    """The reason of a failed run is for administrators only, because it names users and logins."""
    for private in ('no', 'usage', 'yes'):
        published(place, {'report.private': private})
        place.change("UPDATE tiny_assoc_table SET id_parent = 99999, parent_acct = 'zzz' WHERE user IN ('alice', 'carol')")
        place.run('run', '--now', NOW + 60)
        answering.lock_up(place)
        with answering.Answering(place) as asked:
            for form in ([], ['--json'], ['--csv'], ['--columns', 'message,status'], ['--nagios'], ['--nagios', '--max-age', '1s']):
                for login in (USER, COORDINATOR):
                    answer = asked.ask('status', *form, login=login)
                    tap.ok('failed' in answer['output'] and not any(name in answer['output'] + answer['errors'] for name in HIDDEN),
                           f"private = {private}: {login} sees that a run failed but not why ({' '.join(form)})", answer)
            for login in ['root'] + [OPERATOR] * (private != 'no'):
                answer = asked.ask('status', '--json', login=login)
                tap.ok('carol' in answer['output'], f'private = {private}: {login} sees why a run failed', answer)
    for name in os.listdir(place.folder):
        if name.startswith('r.db'):
            os.unlink(place.path(name))
    place.succeed('init')
    place.run('run', '--now', NOW + 60)
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        answer = asked.ask('status', '--json', login=USER)
        tap.ok(answer['status'] == 1 and not any(name in str(answer) for name in HIDDEN),
               'a user does not see why a run failed before the first results',
               answer)
    # Errors of the service itself.
    def log():
        with open(place.path('answer.log'), encoding='utf-8') as file:
            return file.read()
    os.rename(place.path('r.db'), place.path('elsewhere.db'))
    with answering.Answering(place) as asked:
        for command in (['show'], ['status'], ['status', '--nagios'], ['explain', USER]):
            answer = asked.ask(*command, login=USER)
            tap.ok(answer['status'] in (78, 3) and place.folder not in str(answer) and 'journal' in str(answer) and 'init' not in str(answer),
                   f"a user does not see why the service failed ({' '.join(command)})", answer)
        tap.ok(log().count(place.path('r.db')) >= 4, 'the journal has the reason of the failure', log())
        answer = asked.ask('show', login='root')
        tap.ok('r.db' in answer['errors'], 'root sees why the service failed', answer)
    published(place)
    place.query('DROP VIEW fairmill_fairshare')
    place.query('CREATE VIEW fairmill_fairshare AS SELECT * FROM fairmill_fairshare')
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        answer = asked.ask('show', login='root')
        tap.ok(answer['status'] == 1 and 'circular' in answer['errors'], 'root sees the error of the database', answer)
        answer = asked.ask('show', login=USER)
        tap.ok(answer['status'] == 1 and 'circular' not in answer['errors'] and 'journal' in answer['errors'],
               'a user does not see the error of the database',
               answer)
    published(place)
    place.query('UPDATE fairmill_schema SET version = 8')
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        answer = asked.ask('show', login=USER)
        tap.ok(answer['status'] == 78 and 'upgrade of fairmill is not complete; try again later' in answer['errors'] and
               'init' not in answer['errors'], 'before init of an upgrade, a user sees that the upgrade is not complete', answer)
    published(place)
    with open(place.path('r.db'), 'wb') as file:
        file.write(b'no database\n' * 1000)
    answering.lock_up(place)
    with answering.Answering(place) as asked:
        for command in (['show'], ['status'], ['status', '--nagios'], ['explain', USER]):
            answer = asked.ask(*command, login=USER)
            tap.ok(answer['status'] in (1, 3) and place.folder not in str(answer) and 'journal' in str(answer),
                   f"a user does not see which file is damaged ({' '.join(command)})", answer)
    published(place)
    with open(place.path('fm.conf'), 'a', encoding='utf-8') as file:
        file.write('[secret]\nkey = 5\n')
    with answering.Answering(place) as asked:
        for command in (['show'], ['status', '--nagios']):
            answer = asked.ask(*command, login=USER)
            tap.ok(answer['status'] == 78 and 'secret' not in str(answer) and 'fm.conf' not in str(answer),
                   f"a user does not see the contents of the settings ({' '.join(command)})", answer)
        answer = asked.ask('show', login='root')
        tap.ok('secret' in answer['errors'] and 'secret' in log(), 'root and the journal get the error in the settings',
               answer, log())


def body():
    if os.getuid():
        tap.skip_all('needs root')
    with Place() as place:
        places.FAIRMILL = answering.program.FAIRMILL = shutil.copy(places.FAIRMILL, place.path('fairmill'))
        os.chmod(place.path('fairmill'), 0o755)
        amounts(place)
        rates(place)
        jobs(place)
        existence(place)
        reasons(place)


tap.main(body)
