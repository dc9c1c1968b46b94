#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that OpenPBS's accounting logs become job runs in the accounting database, regardless of
how often and in what pieces they are read."""

import gzip
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from program import FAIRMILL, write_settings

DAY = 1793491200  # 2026-11-01T00:00:00Z


class Place:
    """A directory with settings, logs and an accounting database."""

    def __init__(self, zone='UTC'):
        self.folder = tempfile.mkdtemp(prefix='fm')
        self.logs = self.path('accounting')
        self.database = self.path('accounting.db')
        os.mkdir(self.logs)
        write_settings(self.path('conf'), dict(
            source=dict(driver='sqlite', database=self.database, clusters='pbs'),
            results=dict(driver='sqlite', database=self.path('results.db')), usage=dict(time_zone=zone)))

    def path(self, name):
        return os.path.join(self.folder, name)

    def log(self, name, text, mode='w'):
        with open(os.path.join(self.logs, name), mode, encoding='latin-1') as file:
            file.write(text)

    def run(self, *options):
        done = subprocess.run([FAIRMILL, '-c', self.path('conf'), 'import', 'pbs', '--accounting', self.logs, *options],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=tap.HANG)
        return done.returncode, done.stdout + done.stderr

    def rows(self, columns, table='pbs_job', order='1'):
        with sqlite3.connect(self.database) as db:
            return db.execute(f'SELECT {columns} FROM {table} ORDER BY {order}').fetchall()


def line(at, kind, job, text=''):
    return time.strftime('%m/%d/%Y %H:%M:%S', time.gmtime(DAY + at)) + f';{kind};{job};{text}\n'


def run_text(start, end=None, user='bob', more=''):
    text = f'user={user} group=chem jobname=a queue=workq ctime={DAY} qtime={DAY} etime={DAY + 1} start={DAY + start} Resource_List.ncpus=2'
    if end is not None:
        text += f' session=7 end={DAY + end} Exit_status=0 resources_used.cput=00:00:{(end - start) % 60:02} run_count=1'
    return text + more


def try_records():
    place = Place()
    place.log('20261101', ''.join([
        line(1, 'Q', '1.pbs', 'user=bob'), line(5, 'S', '1.pbs', run_text(5, more=' account="p 1" Resource_List.select="1:ncpus=2 x"')),
        line(50, 'E', '1.pbs', run_text(5, 50, more=' account="p 1" Resource_List.comment=\'a "b" c\'')),
        line(60, 'S', '2.pbs', run_text(60)), line(70, 'R', '2.pbs', run_text(60, 70)), line(80, 'S', '2.pbs', run_text(80)),
        line(81, 'z', '2.pbs', 'resources_used.cput=1'), line(85, 'r', '2.pbs'), line(86, 'z', '2.pbs'), line(95, 'E', '2.pbs', run_text(80, 95)),
        line(96, 'S', '3.pbs', run_text(96)), line(99, 'A', '3.pbs', 'Job deleted'),
        line(96, 'S', '4[].pbs', run_text(96)), line(96, 'S', '4[1].pbs', run_text(96)), line(97, 'E', '4[1].pbs', run_text(96, 97)),
        line(98, 'E', '4[].pbs', run_text(96, 98)), line(99, 'E', '5.pbs', run_text(20, 99)), line(100, 'S', '6.pbs', run_text(100)),
        line(101, 'D', '6.pbs', 'requestor=bob@h'), line(102, 'L', 'license', 'floating license hour:1'), line(103, 'B', 'R1.pbs', 'owner=bob'),
        line(110, 'S', '7.pbs', run_text(110)), line(120, 'S', '7.pbs', run_text(120)),
    ]))
    place.log('20261101.bak', 'not a log\n')
    tap.same(place.run(), (0, ''), 'a log is imported silently, and files with other names are ignored')
    tap.same(place.rows(f'job_id, state, time_start - {DAY}, CASE time_end WHEN 0 THEN 0 ELSE time_end - {DAY} END, used', order='1, 3'), [
        ('1.pbs', 'ended', 5, 50, 'cput=00:00:45'), ('2.pbs', 'rerun', 60, 70, 'cput=00:00:10'), ('2.pbs', 'ended', 80, 95, 'cput=00:00:15'),
        ('3.pbs', 'aborted', 96, 99, ''), ('4[1].pbs', 'ended', 96, 97, 'cput=00:00:01'), ('5.pbs', 'ended', 20, 99, 'cput=00:00:19'),
        ('6.pbs', 'running', 100, 0, ''), ('7.pbs', 'aborted', 110, 120, ''), ('7.pbs', 'running', 120, 0, '')],
        'each run of a job is a row; an array has rows for its jobs only')
    tap.same(place.rows("account, requested", order='job_key')[0], ('p 1', 'ncpus=2 comment=\'a "b" c\''), 'quoted values are complete and stay quoted')
    tap.same(place.rows(f'time_start - {DAY}, time_end - {DAY}', 'pbs_suspension'), [(81, 85), (86, 95)], 'suspensions end when the job continues or ends')
    before = place.rows('*', order='job_key')
    tap.same(place.run(), (0, ''), 'a second import finds nothing new')
    tap.same(place.rows('*', order='job_key'), before, 'a second import changes nothing')
    place.log('20261102', line(86500, 'E', '6.pbs', run_text(100, 86500)))
    place.run()
    tap.same(place.rows('job_id, state, time_end', order='job_key')[6], ('6.pbs', 'ended', DAY + 86500),
             'the log of the next day closes open runs')
    tap.same(len(place.rows('*')), len(before), 'the closed run keeps its row')


def random_log(seed):
    """Returns two days with a few jobs, and the number of lines."""
    r = random.Random(seed)
    events = []
    for job in range(12):
        at = r.randrange(80000)
        for again in range(r.randrange(1, 4)):
            start, end = at, at + r.randrange(1, 20000)
            events.append((start, 'S', f'{job}.pbs', run_text(start, user=f'u{job % 3}')))
            for _ in range(r.randrange(3)):
                events.append((r.randrange(start, end), r.choice('zzrrCT'), f'{job}.pbs', ''))
            last = r.choice('ERA-')
            if last in 'ER':
                for _ in range(r.choice((1, 1, 2))):
                    events.append((end, last, f'{job}.pbs', run_text(start, end, user=f'u{job % 3}')))
            elif last == 'A':
                events.append((end, 'A', f'{job}.pbs', 'gone'))
            at = end + r.randrange(1000)
    events.sort(key=lambda event: event[0])
    days = {}
    for at, kind, job, text in events:
        name = time.strftime('%Y%m%d', time.gmtime(DAY + at))
        days[name] = days.get(name, '') + line(at, kind, job, text)
    return days


def try_pieces():
    wrong = []
    columns = 'job_id, state, time_start, time_end, euser, used'
    for seed in range(40 if os.environ.get('FAIRMILL_LONG') == '1' else 8):
        days, r = random_log(seed), random.Random(seed)
        whole, pieces = Place(), Place()
        for name, text in days.items():
            whole.log(name, text)
        whole.run()
        for name, text in sorted(days.items()):
            at = 0
            while at < len(text):
                more = r.randrange(1, len(text))
                pieces.log(name, text[at:at + more], 'a')
                at += more
                status, said = pieces.run()
                if status:
                    wrong.append((seed, said))
            if r.randrange(2):  # rotated
                path = os.path.join(pieces.logs, name)
                with open(path, 'rb') as plain, gzip.open(path + '.gz', 'wb') as packed:
                    packed.write(plain.read())
                os.remove(path)
        pieces.run()
        for wanted, table in ((columns, 'pbs_job'), ('job_key, time_start, time_end', 'pbs_suspension'), ('name, bytes, rows, digest', 'pbs_file')):
            if table == 'pbs_suspension':  # keys follow the order in which runs were stored
                wanted = '(SELECT job_id || time_start FROM pbs_job j WHERE j.job_key = pbs_suspension.job_key), time_start, time_end'
            if whole.rows(wanted, table, '1, 2, 3') != pieces.rows(wanted, table, '1, 2, 3'):
                wrong.append((seed, table, whole.rows(wanted, table, '1, 2, 3'), pieces.rows(wanted, table, '1, 2, 3')))
    tap.ok(not wrong, 'logs that grow in pieces and are compressed later give the same rows', *wrong[:3])


def record(start, end=None, gridname=None, account=None, arch=None, software=None, project='_pbs_project_default', jobname='a', group='chem', ncpus=2, used='', names=''):
    """Returns a record as OpenPBS writes it: its fields in its order, with users' texts
    unchanged."""
    def quoted(text):
        return text if ' ' not in text else f"'{text}'" if '"' in text else f'"{text}"'

    text = (f'gridname="{gridname}" ' if gridname is not None else '') + f'user=bob group={group} ' + (f'account="{account}" ' if account is not None else '')
    text += f'project={quoted(project)} jobname={jobname} queue=workq ctime={DAY} qtime={DAY} etime={DAY + 1} start={DAY + start} exec_host=n0/0 exec_vnode=(n0:ncpus={ncpus}) '
    text += (f'Resource_List.arch={quoted(arch)} ' if arch is not None else '') + f'Resource_List.ncpus={ncpus} ' + (f'Resource_List.software={quoted(software)} ' if software is not None else '') + 'Resource_List.walltime=01:00:00 '
    if end is not None:
        text += f'session=7 end={DAY + end} Exit_status=0 {used}resources_used.cput=00:00:{(end - start) % 60:02} resources_used.ncpus=2 run_count=1'
    return text


WANTED = 'euser, egroup, queue, time_start, time_end, exit_status, requested, used'
FIELDS = f'user=eve group=root queue=free ctime=1 qtime=1 etime=1 start=1 Resource_List.ncpus=0 Resource_List.walltime=0 session=1 end=2 Exit_status=9 resources_used.cput=0 resources_used.zeal=5 run_count=1'
FORGED = [dict(account=f'p" {FIELDS} x="y'), dict(account=f"p' {FIELDS} x='y"), dict(account=f'" {FIELDS}'), dict(account=f'p {FIELDS}'), dict(account='p" q'),
          dict(account='p"'), dict(account='"'), dict(account="'"), dict(account=''), dict(account='a=b'), dict(account='p;E;1.pbs;user=eve'), dict(account='p' * 300),
          dict(account='\xe9' * 300), dict(account=f'p" start={DAY + 5} end={DAY + 50} account="q'), dict(account='p\t\x1b[31m'), dict(account='\\'),
          dict(project=f'p {FIELDS}'), dict(jobname='"x'), dict(jobname="'x"), dict(jobname='x"='), dict(jobname='start=1'), dict(group='domain users'),
          dict(gridname='g'), dict(gridname='g q=1'),
          dict(software=f'x {FIELDS}'), dict(software=f'x" {FIELDS}'), dict(software=f"x' {FIELDS} y='\"z"), dict(software=f"x' {FIELDS} y=\"z"), dict(arch=f"x' {FIELDS} Resource_List.zeal=1 y='\"z"), dict(software='"a'), dict(software='y' * 99999),
          dict(jobname='"x', software='a b'), dict(jobname="'x", software='a "b" c'), dict(account=f'p" {FIELDS}', software=f"x' {FIELDS} y='\"z")]


def try_forged():
    """Tests text that users can put into a record, and fields that hooks and administrators add."""
    honest = Place()
    honest.log('20261101', line(5, 'S', '1.pbs', record(5)) + line(50, 'E', '1.pbs', record(5, 50)) + line(60, 'S', '2.pbs', record(60)))
    honest.run()
    wanted = honest.rows(WANTED)
    for texts in FORGED:
        place = Place()
        place.log('20261101', line(5, 'S', '1.pbs', record(5, **texts)) + line(50, 'E', '1.pbs', record(5, 50, **texts)) + line(60, 'S', '2.pbs', record(60, **texts)))
        status = place.run()
        got = [tuple(' '.join(word for word in cell.split() if word.startswith(('ncpus', 'walltime', 'cput'))) if isinstance(cell, str) and '=' in cell else
                     cell if cell != 'domain users' else 'chem' for cell in row) for row in place.rows(WANTED)]
        # Users can choose the walltime, which bounds an open run.
        bare = [row[:6] + (row[6].split()[0],) + row[7:] for row in got] if texts.keys() & {'software', 'arch'} else got
        expected = [row[:6] + (row[6].split()[0],) + row[7:] for row in wanted] if texts.keys() & {'software', 'arch'} else wanted
        tap.same((status, bare), ((0, ''), expected), f"a user's text is not a field of the server: {str(texts)[:60]}")
    place = Place()
    place.log('20261101', line(5, 'E', '1.pbs', record(2, 5, account='a b=c')) + line(6, 'E', '2.pbs', record(2, 6, account='p" q')) + line(7, 'E', '3.pbs', record(2, 7, account='x' * 300)))
    place.run()
    tap.same(place.rows('account', order='job_key'), [('a b=c',), ('p" q',), ('x' * 255,)], 'an account is the text of the user, truncated to 255 bytes')
    place = Place()
    odd = 'resources_used.gpu_end=n0:(gpu0:Sun Nov 01 00:59:00 2026) resources_used.json=\'{"a": 1, "b": [2, 3]}\' resources_used.note=a = b  '
    place.log('20261101', line(5, 'S', '1.pbs', record(5, group='domain users')) + line(50, 'E', '1.pbs', record(5, 50, group='domain users', used=odd)))
    tap.same((place.run(), place.rows('egroup, used')), ((0, ''), [('domain users', 'gpu_end="n0:(gpu0:Sun Nov 01 00:59:00 2026)" json=\'{"a": 1, "b": [2, 3]}\' note="a = b" cput=00:00:45 ncpus=2')]),
             'an unquoted value with blanks ends before the next key')


def try_line_breaks():
    """Tests an account that contains complete records of other users."""
    def others(at, count=1):
        return ''.join(line(at, 'E', f'{job}.pbs', record(2, at).replace('bob', 'eve')) for job in range(90, 90 + count))

    def logged(text, kinds='QSE', tail=''):
        """Returns the records of one job with such an account."""
        at = dict(Q=0, S=5, E=50)
        texts = dict(Q=record(5, account=text).replace(f' start={DAY + 5}', '').replace(f'qtime={DAY}', f'qtime={DAY + at["Q"]}'), S=record(5, account=text, software=tail or None), E=record(5, 50, account=text, software=tail or None))
        return ''.join(line(at[kind], kind, '1.pbs', texts[kind]) for kind in kinds)

    whole = 'p" ' + record(4, 49).split('_project_default ')[1]
    for text, what in (('p\nq', 'a line break'), ('\n', 'only a line break'), ('p\n' + others(7), 'a record of another user'), ('p\n' + others(7, 200) + 'x', 'many records'), ('p\n' + others(0), 'a record of the same second'),
                       (whole + '\n' + others(7), 'a record after one that looks complete'), ('p\n11/01/2026 00:00:00;D;2.pbs;\nq\n11/01/2026', 'lines of all kinds'),
                       (f'p" qtime={DAY} x="y\n' + others(7), 'a record after one that has the second of the submission')):
        for tail in ('', f"x start=1 y end=2 qtime=3 z"):
            place = Place()
            place.log('20261101', line(0, 'S', '2.pbs', record(0)) + logged(text, tail=tail) + line(60, 'E', '2.pbs', record(0, 60)) + line(61, 'S', '3.pbs', record(61)))
            tap.same((place.run(), place.rows('job_id, euser, state, used', order='1')), ((0, ''), [('1.pbs', 'bob', 'ended', 'cput=00:00:45 ncpus=2'), ('2.pbs', 'bob', 'ended', 'cput=00:00:00 ncpus=2'), ('3.pbs', 'bob', 'running', '')]),
                     f'an account with {what} is text of its own record')
    place = Place()
    place.log('20261101', others(7).replace('user=eve', 'us') + 'er=eve end=7 run_count=1\n' + line(8, 'E', '1.pbs', record(5, 8)) + record(5, 8) + '\n' + line(9, 'E', '2.pbs', record(5, 9)))
    status, said = place.run()
    tap.ok(status == 65 and place.rows('job_id') == [('1.pbs',), ('2.pbs',)] and '3 of 5 lines' in said, 'part of a record without a beginning is reported', status, said, place.rows('*'))


ROWS = f'job_id, state, time_start - {DAY}, CASE time_end WHEN 0 THEN 0 ELSE time_end - {DAY} END, used'


def try_ends():
    place = Place()
    place.log('20261101', ''.join([
        line(1, 'S', '1.pbs', record(1)), line(10, 'C', '1.pbs'), line(30, 'T', '1.pbs'), line(50, 'E', '1.pbs', record(31, 50)),
        line(2, 'S', '2.pbs', record(2)), line(10, 'C', '2.pbs'), line(12, 'S', '2.pbs', record(12)),
        line(3, 'S', '3.pbs', record(3)), line(40, 'E', '3.pbs', record(20, 40)),
        line(4, 'S', '4.pbs', record(4)), line(40, 'E', '4.pbs', record(1, 2)),
        line(5, 'S', '5.pbs', record(5)), line(9, 'A', '5.pbs', 'gone'), line(12, 'E', '5.pbs', record(5, 12)),
        line(6, 'S', '6.pbs', record(6)), line(9, 'D', '6.pbs', 'requestor=bob@h'), line(12, 'E', '6.pbs', record(6, 12)),
        line(7, 'S', '7.pbs', record(7)), line(11, 'C', '7.pbs')]))
    tap.same(place.run(), (0, ''), 'runs end in many ways')
    tap.same(place.rows(ROWS, order='1, 3'), [
        ('1.pbs', 'ended', 1, 50, 'cput=00:00:19 ncpus=2'), ('2.pbs', 'aborted', 2, 12, ''), ('2.pbs', 'running', 12, 0, ''),
        ('3.pbs', 'aborted', 3, 20, ''), ('3.pbs', 'ended', 20, 40, 'cput=00:00:20 ncpus=2'), ('4.pbs', 'ended', 1, 2, 'cput=00:00:01 ncpus=2'), ('4.pbs', 'running', 4, 0, ''),
        ('5.pbs', 'ended', 5, 12, 'cput=00:00:07 ncpus=2'), ('6.pbs', 'ended', 6, 12, 'cput=00:00:06 ncpus=2'), ('7.pbs', 'running', 7, 0, '')],
        'runs end at a later start or end, and an end overrides an abort')
    tap.same(place.rows(f"(SELECT job_id FROM pbs_job j WHERE j.job_key = pbs_suspension.job_key), time_start - {DAY}, CASE time_end WHEN 0 THEN 0 ELSE time_end - {DAY} END",
                        'pbs_suspension', '1, 2'), [('1.pbs', 10, 30), ('2.pbs', 10, 12), ('7.pbs', 11, 0)],
             'a run is suspended from its checkpoint to its restart')
    place.log('20261102', line(86400, 'a', '7.pbs', 'Resource_List.walltime=UNSET') + line(86401, 'a', '4.pbs', 'Job_Name=x Resource_List.walltime=48:00:00 Account_Name="x Resource_List.ncpus=0"'))
    place.run()
    tap.same(place.rows('requested', "pbs_job WHERE job_id IN ('4.pbs', '7.pbs') AND time_end = 0", 'job_id'), [('ncpus=2 walltime=48:00:00',), ('ncpus=2 walltime=UNSET',)], 'an alteration changes the walltime of an open run')
    place.log('20261102', line(86500, 'T', '7.pbs'), 'a')
    place.run()
    tap.same(place.rows('state', "pbs_job WHERE job_id = '7.pbs'"), [('restarted',)], 'the log of the next day restarts an open run')
    place.log('20261102', line(86600, 'E', '7.pbs', record(86501, 86600)), 'a')
    place.run()
    tap.same(place.rows(ROWS, "pbs_job WHERE job_id = '7.pbs'"), [('7.pbs', 'ended', 7, 86600, 'cput=00:00:39 ncpus=2')], 'an end with another start closes the restarted run')
    again = line(86601, 'E', '7.pbs', record(86501, 86600))
    for name, mode in (('20261102', 'a'), ('20261103', 'w')):
        place.log(name, again, mode)
        place.run()
        tap.same(place.rows(ROWS, "pbs_job WHERE job_id = '7.pbs'"), [('7.pbs', 'ended', 7, 86600, 'cput=00:00:39 ncpus=2')], f'a repeated end in the log of {name} changes nothing')


def try_twice():
    first = ''.join([line(1, 'S', '1.pbs', record(1)), line(5, 'R', '1.pbs', record(1, 5)), line(6, 'R', '1.pbs', record(1, 6)), line(9, 'S', '1.pbs', record(9)),
                     line(20, 'E', '1.pbs', record(9, 20)), line(21, 'E', '2.pbs', record(2, 20)), line(21, 'E', '2.pbs', record(2, 20)),
                     line(30, 'S', '3.pbs', record(30)), line(30, 'R', '3.pbs', record(30, 30)), line(30, 'S', '3.pbs', record(30)), line(35, 'E', '3.pbs', record(30, 35)),
                     line(40, 'S', '4.pbs', record(40))])
    rows = [('1.pbs', 'ended', 9, 20, 'cput=00:00:11 ncpus=2'), ('1.pbs', 'rerun', 1, 5, 'cput=00:00:04 ncpus=2'), ('2.pbs', 'ended', 2, 20, 'cput=00:00:18 ncpus=2'),
            ('3.pbs', 'ended', 30, 35, 'cput=00:00:05 ncpus=2'), ('3.pbs', 'rerun', 30, 30, 'cput=00:00:00 ncpus=2'), ('4.pbs', 'running', 40, 0, '')]
    place = Place()
    place.log('20261101', first)
    tap.same((place.run(), place.rows(ROWS, order='1, 2')), ((0, ''), rows),
             'a run recorded twice is one row, two runs of one second are two')
    for name, text, what in (('20261102', first, 'a whole log'), ('20261103', line(86500, 'R', '1.pbs', record(1, 86500)) + line(86501, 'E', '2.pbs', record(2, 86501)), 'its end'),
                             ('20261104', line(1, 'S', '2.pbs', record(2)), 'its start')):
        place.log(name, text)
        tap.same((place.run(), place.rows(ROWS, order='1, 2')), ((0, ''), rows),
                 f'a log that repeats {what} changes nothing')
    tap.same((place.run('--anew'), place.rows(ROWS, order='1, 2')), ((0, ''), rows), '--anew with all logs gives the same rows')


def try_bad_lines():
    good = line(5, 'E', '1.pbs', run_text(1, 5))
    for bad, words in [
            ('nonsense\n', 'does not begin with a time'), ('13/01/2026 00:00:00;E;1.pbs;user=a\n', 'does not begin with a time'),
            ('11/01/1926 00:00:00;A;1.pbs;\n', 'a time before 1970'),
            (line(1, 'X', '1.pbs'), 'unknown or missing record type'), (line(1, 'E', ''), 'invalid or missing ID'), (line(1, 'E', '1\xe9.pbs', 'user=a start=1'), 'invalid or missing ID'), (line(1, 'E', '1.pbs', f"user={'a' * 256} start=1"), 'a name is longer than 255 bytes'),
            (line(1, 'E', '1.pbs', 'gridname="x" user=a y="" user=b start=1'), 'the record may belong to several users'), (line(1, 'E', '1.pbs', 'user=a start=1 ctime=' + '9' * 18), "'ctime': invalid time"), (line(1, 'E', '1.pbs', 'user=a start=1 end=0x2'), "'end': invalid time at '0x2'"),
            (line(1, 'E', '1.pbs', 'user=a start=9 end=2'), 'end is before start'), (line(1, 'S', '1.pbs', 'user=a'), 'start is missing'),
            (line(1, 'S', '1.pbs', 'start=1'), 'user is missing'), (line(1, 'E', '1.pbs', '"a" user=b'), "missing key=value at '\"a"), (line(1, 'E', '1.pbs', '\x1b[31m'), '\\x1B'),
            (line(1, 'E', '1.pbs', run_text(1, 5))[:40] + line(2, 'E', '2.pbs', run_text(2, 6)), 'the record is cut off and followed by another record'), ('11/01/2026 00:00:00;E;1.pbs;a=\0\n', 'NUL byte')]:
        place = Place()
        place.log('20261101', good + bad + good.replace('1.pbs', '9.pbs'))
        status, said = place.run()
        tap.ok(status == 65 and f"20261101', line 2: " in said and words in said and '1 of 3 lines' in said,
               f'the error names an invalid line: {words}', status, said)
        tap.same([row[0] for row in place.rows('job_id')], ['1.pbs', '9.pbs'], 'the other lines are imported')
        tap.same((place.run(), place.rows('name, pbs_refused.row', 'pbs_refused')), ((0, ''), [('20261101', 2)]), 'the invalid line is stored, and not reported again')
    place = Place()
    place.log('20261101', line(1, 'S', '1.pbs', run_text(1)) + 'nonsense\n' * 1500 + line(9, 'S', '2.pbs', run_text(9)))
    status, said = place.run()
    tap.ok(status == 65 and said.count('does not begin') == 20 and place.rows('COUNT(*), MIN(pbs_refused.row), MAX(pbs_refused.row)', 'pbs_refused') == [(1000, 2, 1001)], 'at most 1000 invalid lines of a log are stored', status, said)
    with sqlite3.connect(place.database) as db:
        db.execute('UPDATE pbs_refused SET text = ? WHERE "row" = 7', [line(5, 'E', '1.pbs', run_text(1, 5)).strip()])
        db.execute('UPDATE pbs_refused SET text = ? WHERE "row" = 9', [line(4, 'E', '3.pbs', run_text(1, 4)).strip()])
    tap.same((place.run(), place.rows('job_id, state', order='1'), place.rows('COUNT(*)', 'pbs_refused')), ((0, ''), [('1.pbs', 'ended'), ('2.pbs', 'running'), ('3.pbs', 'ended')], [(998,)]),
             'an import retries stored lines that it can read now')
    place.log('20261101', line(1, 'S', '1.pbs', run_text(1)))
    tap.same((place.run('--anew'), place.rows('job_id, state'), place.rows('COUNT(*)', 'pbs_refused')), ((0, ''), [('1.pbs', 'running')], [(0,)]), '--anew reads a corrected log again')


def try_changes():
    place = Place()
    text = line(5, 'E', '1.pbs', run_text(1, 5)) + line(9, 'E', '2.pbs', run_text(2, 9))
    place.log('20261101', text + '11/01/2026 00:00')
    place.run()
    tap.same(place.rows('bytes, rows', 'pbs_file'), [(len(text), 2)], 'an incomplete last line is left for the next import')
    for changed, what in ((text.replace('user=bob', 'user=eve'), 'changed'), (text[:100], 'cut'),
                          (text.replace('user=bob', 'user=robert'), 'made longer'), (text.replace('user=bob', 'user=al') + text, 'made shorter')):
        place.log('20261101', changed)
        status, said = place.run()
        tap.ok(status == 65 and 'was changed' in said and '--anew' in said, f'a log that was {what} in its imported part is rejected', status, said)
        tap.same(len(place.rows('*')), 2, 'the imported rows stay')
    place.log('20261101', text.replace('user=bob', 'user=eve'))
    tap.same((place.run('--anew')[0], place.rows('euser')), (0, [('eve',), ('eve',)]), '--anew imports the changed log')
    place.log('20261102.gz', '\x1f\x8b\x08\0\0\0\0\0\0\x03' + 'x' * 50)
    place.log('20261101', text.replace('user=bob', 'user=kim'))
    status, said = place.run('--anew')
    tap.ok(status == 65 and place.rows('euser') == [('eve',), ('eve',)],
           '--anew changes nothing if a later log cannot be read', status, said)
    os.remove(os.path.join(place.logs, '20261102.gz'))
    place.log('20261101.gz', 'x')
    tap.ok('logs of the same day' in place.run()[1], 'two logs of the same day are rejected')
    os.remove(os.path.join(place.logs, '20261101'))
    status, said = place.run()
    tap.ok(status == 65 and 'was changed' in said, 'an invalid compressed log is rejected', status, said)


def try_failures():
    place = Place()
    place.log('20261101', line(5, 'E', '1.pbs', run_text(1, 5)))
    place.run()
    place.log('20261102', line(6, 'E', '2.pbs', run_text(1, 6)) + line(9, 'E', '3.pbs', run_text(2, 9)))
    with sqlite3.connect(place.database) as db:
        db.execute("CREATE TRIGGER broken BEFORE INSERT ON pbs_job WHEN NEW.job_id = '3.pbs' BEGIN SELECT RAISE(ABORT, 'no more'); END")
    status, said = place.run()
    tap.ok(status != 0 and 'no more' in said and 'line' not in said, 'a database error is not reported as an invalid line', status, said)
    tap.same((place.rows('job_id'), place.rows('name', 'pbs_file')), ([('1.pbs',)], [('20261101',)]), 'after an error neither rows nor the log are recorded')
    with sqlite3.connect(place.database) as db:
        db.execute('DROP TRIGGER broken')
    tap.same((place.run(), place.rows('job_id')), ((0, ''), [('1.pbs',), ('2.pbs',), ('3.pbs',)]), 'the next import continues after the error')
    place.log('20261103', ''.join(line(job % 80000, 'E', f'{job}.pbs', run_text(1, 5)) for job in range(4, 60004)))
    killed = 0
    for wait in (.02, .05, .1, .2):
        call = subprocess.Popen([FAIRMILL, '-c', place.path('conf'), 'import', 'pbs', '--accounting', place.logs])
        time.sleep(wait)
        call.kill()
        killed += call.wait() == -9
    tap.ok(killed, 'imports are killed', killed)
    tap.same((place.run(), place.rows('COUNT(*), COUNT(DISTINCT job_id), COUNT(DISTINCT job_key)')), ((0, ''), [(60003,) * 3]), 'the import after the kills stores each run once')


def try_places():
    place = Place()
    with sqlite3.connect(place.database) as db:
        db.execute('CREATE TABLE acct_table (name TEXT)')
    status, said = place.run()
    tap.ok(status == 78 and "slurmdbd's" in said, "slurmdbd's database is rejected", status, said)
    place = Place('Europe/Berlin')
    summer = '10/25/2026 01:30:00;A;1.pbs;\n'
    place.log('20261025', '10/25/2026 01:00:00;S;1.pbs;user=a start=1792882800\n' + summer + '10/25/2026 12:00:00;S;2.pbs;user=a start=1792926000\n10/25/2026 13:00:00;A;2.pbs;\n')
    place.run()
    tap.same(place.rows('time_end'), [(1792884600,), (1792929600,)],
             'times of lines are in time_zone, before and after a clock change')
    place = Place('Europe/Berlin')
    place.log('20261025', '10/25/2026 02:50:00;S;1.pbs;user=a start=1792889400\n10/25/2026 02:51:00;S;3.pbs;user=a start=1792889460\n10/25/2026 02:52:00;A;3.pbs;\n'
              '10/25/2026 02:10:00;z;1.pbs;\n10/25/2026 02:15:00;r;1.pbs;\n10/25/2026 02:20:00;A;1.pbs;\n10/25/2026 03:00:00;S;2.pbs;user=a start=1792893600\n'
              '10/25/2026 03:10:00;A;2.pbs;\n')
    place.run()
    tap.same(place.rows('time_end'), [(1792889520,), (1792891200,), (1792894200,)],
             'the line before decides about the repeated hour')
    place = Place('Europe/Berlin')
    place.log('20261025', '10/25/2026 02:50:00;S;1.pbs;user=a start=1792889400\n10/25/2026 02:10:00;z;1.pbs;\n')
    place.run()
    place.log('20261025', '10/25/2026 02:15:00;r;1.pbs;\n10/25/2026 02:20:00;A;1.pbs;\n', 'a')
    place.run()
    tap.same(place.rows('time_end'), [(1792891200,)], 'a line imported before decides about the repeated hour')
    for options, words in ((['import'], 'use `fairmill import pbs`'), (['import', 'lsf'], "unknown source 'lsf'"), (['import', 'pbs'], 'nothing to import'), (['import', 'pbs', '--queue', 'x', '--anew'], '--anew requires --accounting'),
                           (['import', 'pbs', '--accounting', place.path('none')], 'cannot read directory'), (['import', 'pbs', '--accounting', place.logs, '-M', 'x'], "does not include 'x'")):
        done = subprocess.run([FAIRMILL, '-c', place.path('conf'), *options], stderr=subprocess.PIPE, text=True, timeout=tap.HANG)
        tap.ok(done.returncode in (64, 65) and words in done.stderr, f"{' '.join(options)[:20]}: {words}", done.returncode, done.stderr)


TREE = """# the tree
g1\t11 root 40   # chemistry
g2 12\troot 60

bob 21 g1 50
suzy 22 g2 60
"""


def groups(place, text, *options):
    path = place.path('resource_group')
    with open(path, 'w', encoding='latin-1') as file:
        file.write(text)
    done = subprocess.run([FAIRMILL, '-c', place.path('conf'), 'import', 'pbs', '--resource-group', path, *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=tap.HANG)
    return done.returncode, done.stdout + done.stderr


def tree_at(place, at):
    return place.rows(f'name, parent, cresgroup, shares', f'(SELECT * FROM pbs_group WHERE since <= {at} AND (until = 0 OR until > {at}))', 'place')


def try_groups():
    place = Place()
    first = [('g1', 'root', 11, 40), ('g2', 'root', 12, 60), ('bob', 'g1', 21, 50), ('suzy', 'g2', 22, 60)]
    tap.same(groups(place, TREE), (0, ''), 'a resource_group is imported silently')
    tap.same(tree_at(place, 0), first, 'the first resource_group applies to all earlier times')
    tap.same(groups(place, TREE, '-v', '--at', str(DAY))[0:1] + tuple(place.rows('COUNT(*)', 'pbs_group')), (0, (4,)), 'an unchanged resource_group adds no rows')
    second = TREE.replace('bob 21 g1 50', 'eve 21 g1 70').replace('60\n\n', '61\n\n')
    tap.same(groups(place, second, '--at', str(DAY)), (0, ''), 'a changed resource_group is imported')
    now = [('g1', 'root', 11, 40), ('g2', 'root', 12, 61), ('eve', 'g1', 21, 70), ('suzy', 'g2', 22, 60)]
    tap.same((tree_at(place, DAY - 1), tree_at(place, DAY)), (first, now), 'each time has its own tree')
    tap.same(place.rows('name, id_assoc', 'pbs_entity', 'first_seen, id_assoc'),
             [('g1', 11), ('g2', 12), ('bob', 21), ('suzy', 22), ('eve', 2 ** 30)], 'a name keeps its number, and a second name gets its own')
    status, said = groups(place, TREE, '--at', str(DAY))
    tap.ok(status == 65 and 'a new change must be later' in said and tree_at(place, DAY) == now, 'past changes are rejected', status, said)
    tap.same((groups(place, TREE, '--at', str(DAY + 9)), tree_at(place, DAY + 9)), ((0, ''), first), 'a removed name is added again')
    tap.same(dict(place.rows('name, id_assoc', 'pbs_entity'))['bob'], 21, 'an added name has its earlier number')
    tap.same(groups(place, TREE.replace('suzy 22 g2 60\n', ''), '--at', str(DAY + 50))[0], 0, 'the last line is removed')
    status, said = groups(place, TREE, '--at', str(DAY + 40))
    tap.ok(status == 65 and 'a new change must be later' in said, 'a change between two others is rejected', status, said)
    tap.same((groups(place, TREE, '--at', str(DAY + 60))[0], tree_at(place, DAY + 60)), (0, first), 'the line is added again after the last change')
    for bad, words in (('x 1 root', 'expected NAME NUMBER PARENT SHARES'), ('x 31 g9 1', "parent 'g9' is not in an earlier line"), ('bob 31 root 1', "duplicate name 'bob'"),
                       ('unknown 31 root 1', "duplicate name 'unknown'"), ('TREEROOT 31 root 1', "duplicate name 'TREEROOT'"), ('x 31 root 1.5', "invalid shares '1.5'"),
                       ('x 3x root 1', "invalid number '3x'"), ('x 31 root 2147483648', "invalid shares '2147483648'"), ('x 31 root 40#c', "invalid shares '40#c'"), ('x 31 root 0x10', "invalid shares '0x10'"),
                       ('x 31 root +-1', "invalid shares '+-1'"), ('x 31 root 40\r', 'not CR LF'), ('x 31 root ' + '1' * 250, "invalid shares '1111"), ('# ' + 'x ' * 130, 'expected NAME NUMBER PARENT SHARES'),
                       ('x\v31 root 1', 'expected NAME NUMBER PARENT SHARES')):
        status, said = groups(place, TREE + bad + '\n', '--at', str(DAY + 99))
        tap.ok(status == 65 and 'line 7: ' in said and words in said, f'the error names an invalid line: {words}', status, said)
    tap.same(tree_at(place, DAY + 99), first, 'an invalid line changes nothing')
    place = Place()
    loose = ('* comment\n  \t# comment\n\r\n  g1 11 root 40 professor # of chemistry\nbob 11 g1 +5\nlab#1 1 TREEROOT 3\nroot\t0 lab#1 -1\n eve -4 unknown 1 2 3 4\n'
             + 'kim 2147483647 root 7' + ' ' * 300 + '\nray 13 root 8')
    wanted = [('g1', 'root', 11, 40), ('bob', 'g1', 11, 5), ('lab#1', 'root', 1, 3), ('root', 'lab#1', 0, -1), ('eve', 'unknown', -4, 1), ('kim', 'root', 2147483647, 7), ('ray', 'root', 13, 8)]
    for again in ('silently', 'several times in one second'):
        tap.same((groups(place, loose), tree_at(place, int(time.time()) + 60)), ((0, ''), wanted), f'a resource_group with every form that the scheduler accepts is imported {again}')
        loose, wanted = loose.replace('13', '14'), wanted[:-1] + [('ray', 'root', 14, 8)]
    groups(place, loose.replace('14', '15'))
    numbers = dict(place.rows('name, id_assoc', 'pbs_entity'))
    tap.same(([numbers[name] for name in ('g1', 'ray')], min(number for name, number in numbers.items() if name not in ('g1', 'ray')) >= 2 ** 30, len(set(numbers.values()))), ([11, 13], True, 7),
             'fairmill numbers names with a duplicate or missing number')


def body():
    try_groups()
    try_records()
    try_pieces()
    try_forged()
    try_line_breaks()
    try_ends()
    try_twice()
    try_bad_lines()
    try_changes()
    try_failures()
    try_places()


tap.main(body)
