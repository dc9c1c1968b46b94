#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill notify`: which messages it sends to whom, how often, and their form."""

import email
import email.policy
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import Place
from program import DRIVERS

DAY = 86400
OCTOBER, NOVEMBER, DECEMBER = 1790812800, 1793491200, 1796083200  # in UTC
NOW = NOVEMBER + 2 * DAY
DRAWING = f'''
cluster tiny
root/
  physics/   20
    alice    10
    optics/  10
      dora   10
  biology/   20
    bob      10
  chemistry/ 59
    carol     1
  empty/      1
  none/       0
    erik      1
job physics.alice   start={OCTOBER + DAY} end={OCTOBER + 4 * DAY} tres=1=10,5=10
job optics.dora     start={OCTOBER + DAY} end={OCTOBER + 3 * DAY} tres=1=10,5=10
job chemistry.carol start={OCTOBER + DAY} end={OCTOBER + 2 * DAY} tres=1=10,5=10
'''
# A mailer that stores each message.  It rejects recipients in the file `refused`, and waits while the file `wait` exists.
MAILER = '''#!/bin/sh
cd "$(dirname "$0")" || exit 1
echo "$@" >arguments
n=$(ls | grep -c '^mail\\.')
cat >new.$$
if grep -qxFf refused new.$$ 2>/dev/null; then rm new.$$; echo "no such user" >&2; exit 67; fi
mv new.$$ mail.$(printf %03d $n)
[ ! -e wait ] || : >waiting
[ ! -e wait ] || echo "the queue is full" >&2
while [ -e wait ]; do sleep 0.05; done
'''
KEYS = {'usage.time_zone': 'UTC', 'notify.from': 'fairshare@hpc.example', 'notify.domain': 'hpc.example'}


def at(now):
    return {name: value for name, value in os.environ.items() if name != 'FAIRMILL_CONF'} | {'FAIRMILL_NOW': str(now)}


def settings(place, keys=None):
    place.settings(KEYS | {'notify.mailer': place.path('mailer') + ' -t  -i'} | (keys or {}))


def ready(place, keys=None, drawing=DRAWING, coordinators=(('physics', 'pi'),), now=NOW):
    place.ready(drawing)
    settings(place, keys)
    with open(place.path('mailer'), 'w', encoding='ascii') as file:
        file.write(MAILER)
    os.chmod(place.path('mailer'), 0o755)
    for account, user in coordinators:
        coordinate(place, account, user)
    place.succeed('run', '--now', now)


def coordinate(place, account, user, deleted=0):
    place.change('INSERT INTO acct_coord_table (creation_time, acct, user, deleted) VALUES (1, ?, ?, ?)', account, user, deleted)


def limit(place, account, minutes):
    place.change("UPDATE tiny_assoc_table SET grp_tres_mins = ? WHERE acct = ? AND user = ''", minutes, account)


def stored(place):
    return sorted(name for name in os.listdir(place.folder) if name.startswith('mail.'))


def read(place, name):
    with open(place.path(name), 'rb') as file:
        return email.message_from_binary_file(file, policy=email.policy.default)


def sent(place, *arguments, now=NOW, status=0):
    """Runs notify and returns the new messages."""
    before = stored(place)
    got = place.run('notify', *arguments, env=at(now))
    if got != status:
        tap.ok(False, f'notify ends with {status}', f'it ended with {got}', place.out, place.err)
    return [read(place, name) for name in stored(place) if name not in before]


def subjects(messages):
    return sorted(f"{message['to']}: {message['subject']}" for message in messages)


def body(message):
    return message.get_body().get_content()


def notices(place):
    return place.query('SELECT kind, id_assoc, subject, recipient, sent_at FROM fairmill_notice ORDER BY 1, 2, 3, 4')


# ---- Statements ----

ONLY_STATEMENTS = {'notify.budget': 'none', 'notify.share': 'none'}


def page_of(message):
    attached, = message.iter_attachments()
    return attached.get_filename(), attached.get_content_type(), attached.get_content()


def named_in(page):
    """Returns the names of accounts and users in the page's data."""
    cluster, = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
    return {row[0] for row in cluster['rows']}


def statements(place):
    ready(place, ONLY_STATEMENTS, coordinators=(('physics', 'pi'), ('physics', 'deputy'), ('optics', 'dora')))
    coordinate(place, 'chemistry', 'former', deleted=1)
    first = sent(place)
    tap.same(subjects(first), ['deputy@hpc.example: Usage of physics on tiny in October 2026',
                               'dora@hpc.example: Usage of optics on tiny in October 2026',
                               'pi@hpc.example: Usage of physics on tiny in October 2026'],
             'each coordinator gets the statement of the last month of their own account')
    tap.same([message['from'] for message in first], ['fairshare@hpc.example'] * 3, 'the setting `from` is the sender')
    tap.same([message.defects for message in first], [[]] * 3, 'messages are well-formed')
    tap.same({message['auto-submitted'] for message in first}, {'auto-generated'},
             'messages are marked as automatic, so that no vacation message replies to them')
    tap.same(first[0]['date'].datetime.timestamp(), NOW, 'the date is the time of the message')
    with open(place.path('arguments'), encoding='ascii') as file:
        tap.same(file.read(), '-t -i\n', 'the words of the setting `mailer` are its arguments')
    text = body(first[0])
    for pattern in (r'account\s+\'physics\'', r'2026-10-01 physics +20\.00 288\.0 83\.33 1200\.0 +416\.7', r'2026-10-01 +alice|physics alice',
                    r'2026-10-01 +optics', r'fairmill statement --since 2026-10-01 physics/\n', r'fairmill explain physics/\n'):
        tap.like(text, pattern, f'the statement contains {pattern}')
    for name in ('chemistry', 'carol', 'biology'):
        tap.unlike(text, name, f'the statement of physics does not contain {name}')
    tap.ok(max(map(len, text.splitlines())) <= 72, 'lines of a message have at most 72 columns', text)
    name, kind, page = page_of(first[0])
    tap.same((name, kind), ('physics-2026-10.html', 'text/html'), 'the page of the group is attached')
    tap.ok(page.startswith('<!DOCTYPE html>') and page.endswith('</html>\n'), 'the attached page is complete')
    tap.ok({'physics', 'alice', 'optics', 'dora'} <= named_in(page), 'the attached page has the group and its users', named_in(page))
    tap.unlike(page, 'All groups', 'the attached page has no link to other pages')
    tap.same(page_of(first[2])[0], 'optics-2026-10.html', 'each account has its own page')

    tap.same(sent(place), [], 'a statement is sent once')
    coordinate(place, 'physics', 'new')
    tap.same(subjects(sent(place)), ['new@hpc.example: Usage of physics on tiny in October 2026'],
             'a new coordinator gets the statement of the last month')
    place.succeed('run', '--now', DECEMBER - 60)
    tap.same(sent(place, now=DECEMBER + 60), [], 'no statement is sent before a run after the end of the month')
    place.succeed('run', '--now', DECEMBER + 120)
    tap.same(sent(place, now=DECEMBER + 180), [], 'no statement is sent about a month without usage')


def months(place):
    extra = f'job physics.alice start={NOVEMBER + DAY} end={NOVEMBER + 2 * DAY} tres=1=10,5=10\n'
    ready(place, ONLY_STATEMENTS, DRAWING + extra)
    sent(place)
    place.succeed('run', '--now', DECEMBER + 60)
    tap.same(subjects(sent(place, now=DECEMBER + 120)), ['pi@hpc.example: Usage of physics on tiny in November 2026'],
             'the first run of a month sends the statement of the month before')
    tap.same([row[2] for row in notices(place)], ['2026-10', '2026-11'], 'the statements of both months are recorded')


def nothing_to_state(place):
    accounts = ('physics', 'biology', 'empty', 'none', 'removed')
    ready(place, ONLY_STATEMENTS, coordinators=[(account, 'pi') for account in accounts])
    tap.same([message['subject'] for message in sent(place)],
             ['Usage of physics on tiny in October 2026', 'Usage of biology on tiny in October 2026'],
             'accounts without usage get a statement only if they have shares and users')


# ---- Thresholds ----

def use_of_chemistry(place, days, now):
    (job,), = place.query("SELECT id_assoc FROM fairmill_tree WHERE user_name = 'carol'")
    place.change('UPDATE tiny_job_table SET time_end = ? WHERE id_assoc = ?', OCTOBER + (1 + days) * DAY, job)
    place.succeed('run', '--now', now, '--full')


def share(place):
    ready(place, {'notify.statement': 'no', 'notify.budget': 'none'}, coordinators=(('physics', 'pi'), ('biology', 'bob')))
    first = sent(place)
    tap.same(subjects(first), ['pi@hpc.example: optics on tiny has used 3.33 times its share',
                               'pi@hpc.example: physics on tiny has used 4.17 times its share'],
             'coordinators of an account or the nearest account above get a message if the usage is twice the share')
    place.succeed('explain', 'physics/')
    sentence = re.search(r'physics has used [^:]*:', ' '.join(place.out.split()))[0]
    message, = (each for each in first if each['subject'].startswith('physics'))
    tap.ok(sentence in ' '.join(body(message).split()), f'the message has the number of explain: {sentence}', body(message))
    tap.same(sent(place), [], 'the message is sent once')

    use_of_chemistry(place, 8, NOW + 60)
    tap.same(sent(place, now=NOW + 60), [], 'no message is sent when the usage falls below the threshold')
    tap.same([row[0] for row in notices(place)], ['share'], 'at 1.92 times the share the notice is kept, and at 1.54 it ends')
    use_of_chemistry(place, 1, NOW + 120)
    tap.same(subjects(sent(place, now=NOW + 120)), ['pi@hpc.example: optics on tiny has used 3.33 times its share'],
             'usage that varies around the threshold is notified once, and usage that was below it again')
    use_of_chemistry(place, 20, NOW + 180)
    tap.same((sent(place, now=NOW + 180), notices(place)), ([], []), 'both notices end')
    use_of_chemistry(place, 1, NOW + 240)
    tap.same(len(sent(place, now=NOW + 240)), 2, 'both are notified again')


def budget(place):
    ready(place, {'notify.statement': 'no', 'notify.share': 'none'})
    for account, minutes in (('physics', '1=90000'), ('optics', '1=1000000'), ('chemistry', '1=1')):
        limit(place, account, minutes)
    place.succeed('run', '--now', NOW + 60)
    first = sent(place, now=NOW + 60)
    tap.same(subjects(first), ['pi@hpc.example: physics on tiny has used 80.0 % of its cpu budget'],
             'coordinators get a message at 80 % of a limit of their account')
    for pattern in (r'72,000 of 90,000\s+CPU-minutes', 'limit is( not)? reached', 'do\\s+not\\s+start', 'fairmill budget physics/\n',
                    'falls\\s+below\\s+72.0 %\\s+and\\s+then\\s+reaches\\s+80.0 %\\s+of\\s+the\\s+limit'):
        tap.like(body(first[0]), pattern, f'the message about a budget contains {pattern}')
    tap.same(sent(place, now=NOW + 60), [], 'the message about a budget is sent once')
    limit(place, 'physics', '1=95000')
    place.succeed('run', '--now', NOW + 120)
    tap.same((sent(place, now=NOW + 120), len(notices(place))), ([], 1), 'the notice is kept at 75.8 %')
    limit(place, 'physics', '1=105000')
    place.succeed('run', '--now', NOW + 180)
    tap.same((sent(place, now=NOW + 180), notices(place)), ([], []), 'the notice ends below 72 %')
    limit(place, 'physics', '1=72000')
    place.succeed('run', '--now', NOW + 240)
    tap.same(subjects(sent(place, now=NOW + 240)), ['pi@hpc.example: physics on tiny has used 100.0 % of its cpu budget'],
             'the budget is notified again')
    limit(place, 'physics', '')
    place.succeed('run', '--now', NOW + 300)
    tap.same((sent(place, now=NOW + 300), notices(place)), ([], []), 'the notice of a removed limit ends')


def stale(place):
    ready(place)
    late = NOW + 3 * DAY
    tap.same(subjects(sent(place, now=late, status=1)), ['pi@hpc.example: Usage of physics on tiny in October 2026'],
             'stale results send statements, and no thresholds')
    place.says('the error names the cluster and the reason', "cluster 'tiny'", 'thresholds were not checked', 'stale')
    settings(place, ONLY_STATEMENTS)
    tap.same(sent(place, now=late), [], 'stale results are no error without thresholds')


# ---- Mailers ----

def refuse(place, *recipients):
    with open(place.path('refused'), 'w', encoding='ascii') as file:
        file.writelines(f'To: {name}@hpc.example\n' for name in recipients)


def failures(place):
    ready(place, ONLY_STATEMENTS, coordinators=[('physics', f'u{number}') for number in range(8)])
    refuse(place, 'u1')
    tap.same(len(sent(place, status=1)), 7, 'messages to other recipients are sent if the mailer fails for one')
    place.says('the error names the recipient, the mailer, its status and its message', 'u1@hpc.example', place.path('mailer'),
               'status 67', 'no such user')
    tap.same(len(notices(place)), 7, 'a message that was not sent is not recorded')
    refuse(place)
    tap.same(subjects(sent(place)), ['u1@hpc.example: Usage of physics on tiny in October 2026'],
             'the next time, only the message that was not sent is sent')
    place.query('DELETE FROM fairmill_notice')
    refuse(place, *(f'u{number}' for number in range(8)))
    sent(place, status=1)
    tap.same(place.err.count('status 67'), 5, 'after five failures in a row, no further message is tried')

    settings(place, ONLY_STATEMENTS | {'notify.mailer': place.path('none') + ' -t'})
    place.ends(78, 'a missing mailer is an error of the settings', 'notify', env=at(NOW))
    place.says('the error names the missing mailer', place.path('none'), '[notify] mailer')
    settings(place, ONLY_STATEMENTS | {'source.deadline': '1 s'})
    refuse(place)
    open(place.path('wait'), 'w').close()
    place.ends(69, 'a mailer that hangs is ended at the deadline', 'notify', env=at(NOW))
    place.says('the error names the mailer that hangs', place.path('mailer'), 'deadline', 'the queue is full')
    tap.same(notices(place), [], 'a message whose mailer was ended is not recorded')


def two_at_once(place):
    ready(place, ONLY_STATEMENTS)
    open(place.path('wait'), 'w').close()
    first = place.start('notify', env=at(NOW))
    tap.until(lambda: os.path.exists(place.path('waiting')))
    place.ends(75, 'a second process ends while the first one sends messages', 'notify', env=at(NOW))
    place.says('the error says that another process sends messages', 'another process sends messages')
    place.ends(0, 'a dry run is possible meanwhile', 'notify', '--dry-run', env=at(NOW))
    place.ends(0, 'a run is possible meanwhile', 'run', '--now', NOW + 60)
    os.unlink(place.path('wait'))
    first.communicate(timeout=tap.HANG)
    tap.same((first.returncode, len(stored(place)), len(notices(place))), (0, 1, 1), 'the message is sent once')


def dry_run(place):
    ready(place)
    before = place.query('SELECT * FROM fairmill_run'), notices(place)
    tap.same(sent(place, '--dry-run'), [], '--dry-run sends nothing')
    tap.same(re.findall(r'^(?:To|Subject): (.*)', place.out, re.M),
             ['pi@hpc.example', 'Usage of physics on tiny in October 2026', 'pi@hpc.example',
              'physics on tiny has used 4.17 times its share', 'pi@hpc.example', 'optics on tiny has used 3.33 times its share'],
             '--dry-run prints all messages')
    tap.like(place.out, r'\n\[attached: physics-2026-10\.html, \d+ kB\]\n', '--dry-run names the page')
    tap.same((place.query('SELECT * FROM fairmill_run'), notices(place)), before, '--dry-run changes nothing')
    tap.same((len(sent(place)), place.out, place.err), (3, '', ''), 'the messages are sent without output')


# ---- Names ----

HOSTILE = 'x\nBcc: all@evil.example\n\n--=_fairmill\nTo: you'


def names(place):
    recipients = ['pi', 'a,b@evil.example', 'x@evil.example', '-oQ/tmp', 'a b', 'c\nBcc: d', 'ä', '', 'x' * 65, 'a..b']
    ready(place, ONLY_STATEMENTS)
    for account in ('tiny_assoc_table', 'acct_coord_table', 'tiny_job_table'):
        column = {'tiny_job_table': 'account'}.get(account, 'acct')
        place.change(f"UPDATE {account} SET {column} = ? WHERE {column} = 'physics'", HOSTILE)
    place.change("UPDATE tiny_assoc_table SET parent_acct = ? WHERE parent_acct = 'physics'", HOSTILE)
    for user in recipients[1:]:
        coordinate(place, HOSTILE, user)
    place.succeed('run', '--now', NOW + 60, '--full')
    messages = sent(place, now=NOW + 60, status=65)
    tap.same([(message['to'], message['bcc'], message['cc'], message.defects) for message in messages],
             [(f'{user}@hpc.example', None, None, []) for user in ('pi', 'a..b')],
             'names of accounts and coordinators add no header and no recipient')
    tap.same([len(list(message.walk())) for message in messages], [3] * len(messages), 'names of accounts add no part to a message')
    tap.same(len(re.findall('is not a plain address', place.err)), 8, 'each coordinator whose login is not a plain address is named')
    place.says('the error names the coordinator and the account', "'a,b@evil.example'", "'-oQ/tmp'", "account 'x\\x0ABcc:")
    name, _, page = page_of(messages[0])
    tap.like(name, r'^[A-Za-z0-9~._-]+\.html$', 'the name of the page has no special character')
    tap.unlike(body(messages[0]), r'\n--=|\nBcc|\nTo:', 'names begin no line of the body')


def non_ascii(place):
    name = 'Überlänge-物理-' + 'é' * 60
    ready(place, ONLY_STATEMENTS)
    for table, column in (('tiny_assoc_table', 'acct'), ('acct_coord_table', 'acct'), ('tiny_job_table', 'account'),
                          ('tiny_assoc_table', 'parent_acct')):
        place.change(f"UPDATE {table} SET {column} = ? WHERE {column} = 'physics'", name)
    place.succeed('run', '--now', NOW + 60, '--full')
    message, = sent(place, now=NOW + 60)
    tap.same(message['subject'], f'Usage of {name} on tiny in October 2026', 'the subject has names that are not ASCII')
    with open(place.path('mail.000'), 'rb') as file:
        raw = file.read()
    tap.ok(raw.isascii(), 'a message is ASCII')
    tap.ok(max(len(line) for line in raw.split(b'\n') if b'name=' not in line) <= 78,
           'lines of a message have at most 78 characters', raw[:2000])
    tap.ok(name in body(message).replace('\n', ''), 'the body has names that are not ASCII', body(message))


def private(place):
    ready(place, {'report.private': 'yes'} | ONLY_STATEMENTS)
    message, = sent(place)
    tap.like(body(message), 'alice', 'with `private`, the statement has the users of the group')
    page = page_of(message)[2]
    tap.ok({'alice', 'dora'} <= named_in(page), 'with `private`, the page has the users of the group', named_in(page))
    for user in ('carol', 'bob', 'erik'):
        tap.unlike(page, rf'\b{user}\b', f'with `private`, the page does not have {user} of another group')
    place.succeed('show', '--json')
    tap.like(place.out, 'carol', 'the login of the runs sees all users')


# ---- Settings and sources ----

def required(place):
    ready(place, {'notify.from': None})
    place.ends(78, 'the setting `from` is required', 'notify', env=at(NOW))
    place.says('the error names the setting', '[notify] from')
    settings(place, {'notify.domain': None})
    tap.same({message['to'] for message in sent(place)}, {'pi'}, 'without `domain`, the recipient is the login')
    place.query('DELETE FROM fairmill_notice')
    with open(place.path('slurm.conf'), 'w', encoding='ascii') as file:
        file.write('ClusterName=tiny\nPriorityDecayHalfLife=0\nMailDomain=slurm.example\n')
    settings(place, {'notify.domain': None, 'slurm.conf': place.path('slurm.conf')})
    tap.same({message['to'] for message in sent(place)}, {'pi@slurm.example'}, 'MailDomain of slurm.conf is the default of `domain`')
    settings(place, {'notify.statement': 'no', 'notify.budget': 'none', 'notify.share': 'none'})
    place.query('DELETE FROM fairmill_notice')
    tap.same(sent(place), [], 'each kind of message can be switched off')
    if 'mysql' not in DRIVERS:
        return
    settings(place, {'source.driver': 'mysql', 'source.database': 'acct', 'source.user': 'fairmill', 'results.driver': 'mysql',
                     'results.database': 'res', 'results.user': 'fairmill'})
    place.succeed('init', '--print')
    tap.like(place.out, 'GRANT SELECT .*acct_coord_table', 'with `from`, init --print grants acct_coord_table')
    tap.unlike(place.out, 'user_table', 'without `private`, init --print does not grant user_table')


def other_sources(place):
    ready(place)
    for layout in ('plain', 'pbs'):
        settings(place, {'source.layout': layout})
        place.ends(78, f'layout {layout} has no coordinators', 'notify', env=at(NOW))
        place.says(f'the error says that layout {layout} has none', f'layout = {layout}', 'no coordinators')


def body_of_test():
    for part in (statements, months, nothing_to_state, share, budget, stale, failures, two_at_once, dry_run, names, non_ascii, private,
                 required, other_sources):
        with Place() as place:
            part(place)


tap.main(body_of_test)
