#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests that output and files of OpenPBS's scheduler and server, besides the logs, are imported
into each kind of accounting database."""

import os
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from mariadb import Server
from postgres import Postgres
from program import FAIRMILL, write_settings
from proxy import Fault, Proxy
from sqlite import Sqlite

DAY = 1793491200  # 2026-11-01T00:00:00Z


class Place:
    """An empty accounting database on a server, and a directory with the files to import."""

    count = 0

    def __init__(self, server, folder, zone='UTC'):
        self.server, self.folder = server, folder
        Place.count += 1
        self.database = server.database(f'intake_{Place.count}')
        self.zone = zone
        self.configure('conf', server.connection(self.database))

    def configure(self, name, source):
        write_settings(self.path(name), dict(source=dict(source, clusters='pbs'), results=source, usage=dict(time_zone=self.zone)))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), 'wb') as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def run(self, *options, given=b'', conf='conf'):
        done = subprocess.run([FAIRMILL, '-c', self.path(conf), 'import', 'pbs', *map(str, options)], input=given,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=tap.HANG)
        return done.returncode, (done.stdout + done.stderr).decode()

    def rows(self, columns, table, rest='ORDER BY 1, 2, 3'):
        """Returns rows as text."""
        return [tuple(None if cell is None else str(cell) for cell in row)
                for row in self.server.sql(f'SELECT {columns} FROM {table} {rest}', self.database)]


# ---- sched_config ----

CONFIG = """# scheduler
*	another comment
fair_share: true	ALL
fairshare_usage_res: "ncpus * walltime"
fairshare_entity: \\
    egroup
unknown_shares: 10
half_life: 12:00:00
fairshare_decay_time: 24:00:00 all
fairshare_decay_factor: .25
fairshare_enforce_no_shares: TRUE
resources: "ncpus, mem, arch"
node_sort_key: "sort_priority HIGH"	ALL
"""
SET = [('fairshare_decay_factor', '0', '.25'), ('fairshare_decay_time', '0', '24:00:00'), ('fairshare_enforce_no_shares', '0', 'true'),
       ('fairshare_entity', '0', 'egroup'), ('fairshare_usage_res', '0', 'ncpus * walltime'), ('unknown_shares', '0', '10')]


def config(place, text, *options):
    return place.run('--sched-config', place.write('sched_config', text), *options)


def settings(place):
    return place.rows('name, since, value', 'pbs_setting')


def try_config(place, where):
    tap.same((config(place, CONFIG), settings(place)), ((0, ''), SET),
             f'the first sched_config applies to all earlier times, in {where}')
    config(place, CONFIG.replace('TRUE', '1'), '--at', DAY)
    tap.same(settings(place), SET, 'equivalent values are not recorded again')
    now = CONFIG.replace('unknown_shares: 10', '').replace('.25', '0.5').replace('egroup', '"egroup:euser"')
    tap.same(config(place, now, '--at', DAY), (0, ''), 'a changed sched_config is imported')
    new = [('fairshare_decay_factor', str(DAY), '0.5'), ('fairshare_entity', str(DAY), 'egroup:euser'), ('unknown_shares', str(DAY), None)]
    tap.same(settings(place), sorted(SET + new, key=str),
             'the changed settings apply from then on, removed ones as NULL')
    config(place, now, '--at', DAY + 1)
    tap.same(len(settings(place)), 9, 'the change is recorded once')
    status, said = config(place, CONFIG, '--at', DAY)
    tap.ok(status == 65 and 'a new change must be later' in said and len(settings(place)) == 9, 'past changes are rejected', status, said)
    config(place, CONFIG, '--at', DAY + 9)
    tap.same(settings(place)[-1], ('unknown_shares', str(DAY + 9), '10'), 'a setting that was added again is recorded')


def try_old_jobs(place, where):
    """Tests the job table of an older release, which has no index on the job."""
    os.mkdir(place.path('accounting'))
    text = f'11/01/2026 00:02:00;E;9.pbs;user=bob group=chem qtime={DAY} start={DAY + 1} end={DAY + 2}\n'
    place.write('accounting/20261101', text)
    place.run('--accounting', place.path('accounting'))
    place.server.sql('DROP INDEX pbs_job_id' + (' ON pbs_job' if where == 'MySQL' else ''), place.database)
    place.write('accounting/20261102', text)
    tap.same((place.run('--accounting', place.path('accounting')), place.rows('job_id', 'pbs_job', '')), ((0, ''), [('9.pbs',)]),
             f'a table of an older release is used in {where}')
    failed = False
    try:
        place.server.sql('CREATE INDEX pbs_job_id ON pbs_job (job_id)', place.database)
    except Exception:
        failed = True
    tap.ok(failed, 'the import creates the missing index')


def try_next(place, where):
    """A server may notice late that an import has ended."""
    said, heard = threading.Event(), threading.Event()
    with Proxy(place.server, Fault('hold', lambda step: step.kind == 'quit', meanwhile=lambda: (said.set(), heard.wait()))) as proxy:
        source = dict(place.server.connection(place.database), socket=proxy.socket)
        place.configure('slow', source)
        tap.same(place.run('--sched-config', place.write('sched_config', CONFIG), conf='slow'), (0, ''),
                 f'an import into {where} succeeds')
        tap.ok(said.wait(tap.HANG), 'the server does not notice the end of the import yet')
        tap.same((config(place, CONFIG.replace('.25', '.5'), '--at', DAY), len(settings(place))), ((0, ''), len(SET) + 1),
                 'the next import can begin')
        heard.set()


def try_loose_config(place):
    text = """fairshare_usage_res: cput # the default
fairshare_entity: euser  of each user
unknown_shares: true\t# one
fairshare_decay_time: 24:00:00 # a day\r
fairshare_decay_factor: 0.25 x
fairshare_enforce_no_shares: 0 no
"""
    tap.same((config(place, text), settings(place)), ((0, ''), [('fairshare_decay_factor', '0', '0.25'), ('fairshare_decay_time', '0', '24:00:00'), ('fairshare_enforce_no_shares', '0', 'false'),
             ('fairshare_entity', '0', 'euser'), ('fairshare_usage_res', '0', 'cput'), ('unknown_shares', '0', '1')]),
             'further words of a line are ignored, and shares may be boolean')
    for shares in ('false', 'TRUE', '7'):
        tap.same(config(place, text.replace('true', shares)), (0, ''),
                 f'changes in one second are imported one after another: {shares}')
    tap.same(settings(place)[-1][2], '7', 'the last change of the second applies')


def try_bad_config(place):
    for bad, words in (('fairshare_entity : euser', 'the space before the colon'), ('fairshare_entity: group', "'fairshare_entity: group': must be euser,"),
                       ('fairshare_entity:', "'fairshare_entity' has no value"), ('fairshare_usage_res: ncpus * walltime', "'*' follows 'fairshare_usage_res: ncpus'"),
                       ('fairshare_usage_res: "ncpus *"', 'fairshare_usage_res: ncpus *'), ('fairshare_usage_res: __import__("os")', 'fairshare_usage_res'),
                       ('fairshare_decay_time: 1:2:3:4', 'must be a time above 0'), ('fairshare_decay_time: 0', 'must be a time above 0'), ('half_life: 1d', "'half_life: 1d': must be a time above 0"),
                       ('fairshare_decay_factor: 1', 'must be a number above 0'), ('fairshare_decay_factor: 0.5x', 'must be a number above 0'),
                       ('unknown_shares: -1', 'must be a whole number from 0'), ('unknown_shares: 10x', 'must be a whole number from 0'), ('fairshare_enforce_no_shares: yes', 'must be true or false'),
                       ('job_sort_formula: ncpus', "does not read 'job_sort_formula' here"), (':', 'expected NAME: VALUE'), ('unknown_shares: 1\0', 'NUL byte')):
        status, said = config(place, CONFIG + bad + '\n')
        tap.ok(status == 65 and "sched_config', line 14: " in said and words in said, f'the error names a line that the scheduler would not accept: {bad}', status, said)
    status, said = place.run('--sched-config', place.path('none'))
    tap.ok(status == 65 and 'cannot open' in said, 'a missing file is an error', status, said)
    tap.same(settings(place), [], 'after errors nothing is recorded')


# ---- entities ----

def try_entities(place, where):
    os.mkdir(place.path('accounting'))
    end = '11/01/2026 00:0{0}:00;E;{0}.pbs;user={1} group={2} {3}queue={4} qtime={5} start={6} end=%d\n' % (DAY + 500)
    log = ''.join(end.format(*job, DAY + 100) for job in [
        (2, 'bob', 'chem', 'account=p1 ', 'workq', DAY + 50), (3, 'eve', 'bio', '', 'workq', DAY + 40), (4, 'bob', 'chem', '', 'long', DAY + 60)])
    place.write('accounting/20261101', log)
    tree = place.write('resource_group', 'chem 20 root 1\nbob 21 chem 1\n')
    tap.same(place.run('--resource-group', tree, '--accounting', place.path('accounting')), (0, ''),
             f'a tree and a log are imported into {where}')
    tap.same(place.rows(f'kind, name, first_seen - {DAY}', 'pbs_seen'), sorted([
        ('Account_Name', 'bio:eve', '40'), ('Account_Name', 'chem:bob', '60'), ('Account_Name', 'p1', '50'), ('egroup', 'bio', '40'), ('egroup', 'chem', '50'),
        ('egroup:euser', 'bio:eve', '40'), ('egroup:euser', 'chem:bob', '50'), ('euser', 'bob', '50'), ('euser', 'eve', '40'),
        ('queue', 'long', '60'), ('queue', 'workq', '40')]),
             'names are recorded for each kind of entity, with the first queue time')
    numbers = dict(place.rows('name, id_assoc', 'pbs_entity', ''))
    tap.same((numbers.pop('chem'), numbers.pop('bob')), ('20', '21'),
             'entities with shares have the number of their line')
    tap.same(sorted(map(int, numbers.values())), [2 ** 30 + n for n in range(7)],
             'other entities have numbers of their own')
    place.write('accounting/20261102', end.format(5, 'bob', 'new', '', 'workq', DAY + 9, DAY + 100))
    place.run('--accounting', place.path('accounting'))
    tap.same(place.rows(f'name, first_seen - {DAY}', 'pbs_seen', "WHERE kind IN ('egroup', 'queue') ORDER BY 1"),
             [('bio', '40'), ('chem', '50'), ('long', '60'), ('new', '9'), ('workq', '9')],
             'another log adds new names and earlier times')
    after = dict(place.rows('name, id_assoc', 'pbs_entity', ''))
    tap.ok(after.items() >= numbers.items() and after['new'] == str(2 ** 30 + 7),
           'the numbers of entities do not change', after)


# ---- the usage file ----

def record(name, usage, size=50, order='<'):
    """Returns the bytes of { char name[size]; double usage; } as laid out by the C compiler."""
    return struct.pack(f'{order}{-size % 8 + size}sd', name, usage)


def usage_file(*records, version=2.0, decay=DAY - 3600, order='<'):
    return record(b'PBS_MAG!', version, 9, order) + struct.pack(f'{order}q', decay) + b''.join(records)


def try_usage(place, where):
    path = place.write('usage', usage_file(record(b'bob', 12.5), record(b'chem:eve', 1e300)))
    os.utime(path, (DAY, DAY))
    for _ in range(2):
        tap.same(place.run('--usage', path), (0, ''), f'a usage file is imported into {where}')
        tap.same(place.rows('name, as_of, last_decay', 'pbs_usage'), [('bob', str(DAY), str(DAY - 3600)), ('chem:eve', str(DAY), str(DAY - 3600))],
                 'usage is recorded with the time of the file and the last decay')
        tap.same([float(usage) for usage, in place.rows('pbs_usage.usage', 'pbs_usage', 'ORDER BY name')], [12.5, 1e300],
                 'the usage of each entity is recorded')
    tap.same(place.rows('kind, name, first_seen', 'pbs_seen'), [('usage', 'bob', str(DAY)), ('usage', 'chem:eve', str(DAY))], 'the names of entities with usage are recorded')
    tap.same(sorted(place.rows('name, id_assoc', 'pbs_entity', '')), [('bob', str(2 ** 30)), ('chem:eve', str(2 ** 30 + 1))], 'entities with usage have numbers')
    for name, content, wanted in (('big-endian', usage_file(record(b'x', 3, order='>'), order='>'), [('x', 3.0, str(DAY - 3600))]),
                                  ('the older version', record(b'eightlet', 7, 9) + record(b'y', 0.5, 9), [('eightlet', 7.0, '0'), ('y', 0.5, '0')])):
        path = place.write(name, content)
        os.utime(path, (DAY + 5, DAY + 5))
        place.run('--usage', path)
        tap.same([(row[0], float(row[1]), row[2]) for row in place.rows('name, pbs_usage.usage, last_decay', 'pbs_usage', f'WHERE as_of = {DAY + 5} ORDER BY name')], wanted,
                 f'a file of {name} is read, and replaces one of the same time')


def try_old_usage(place, where):
    """Tests the usage table of an older release, which does not have the last decay."""
    for name, at in (('eve', DAY - 9), ('bob', DAY)):
        path = place.write('usage', usage_file(record(name.encode(), 12.5)))
        os.utime(path, (at, at))
        tap.same(place.run('--usage', path), (0, ''), f'a usage file is imported into {"an older" if name == "bob" else "a new"} table in {where}')
        for change in ('CREATE TABLE kept AS SELECT cluster, name, as_of, pbs_usage.usage FROM pbs_usage', 'DROP TABLE pbs_usage',
                       'ALTER TABLE kept RENAME TO pbs_usage') if name == 'eve' else ():
            place.server.sql(change, place.database)
    tap.same(place.rows('name, as_of, last_decay', 'pbs_usage'), [('bob', str(DAY), str(DAY - 3600)), ('eve', str(DAY - 9), None)], 'later usage files add the last decay to the older table')


def try_bad_usage(place):
    good = record(b'bob', 1)
    for content, at, words in (
            (usage_file(good, record(b'eve', -1)), 96, "the usage of 'eve' is negative or not a number"), (usage_file(record(b'eve', float('nan'))), 32, "the usage of 'eve'"),
            (usage_file(good, record(b'x' * 50, 1)), 96, 'the name is too long'), (usage_file(record(b'', 1)), 32, 'the name is empty'), (usage_file(record(b'a/b', 1)), 32, 'invalid character'),
            (usage_file(good, good), 96, "duplicate name 'bob'"), (usage_file(good)[:-1], 32, 'end of file after 63 of 64 bytes'), (usage_file(version=3), 0, 'unsupported version'),
            (usage_file(decay=946713600), 24, 'the time of the last decay'), (usage_file(decay=-1), 24, 'the time of the last decay'), (usage_file()[:24], 24, 'is missing'),
            (usage_file()[:30], 24, 'end of file after 6 of 8 bytes'), (record(b'bob', 1, 9) + b'eve', 24, 'end of file after 3 of 24 bytes'), (b'\x7fELF' + bytes(99), 0, 'invalid character')):
        status, said = place.run('--usage', place.write('usage', content))
        tap.ok(status == 65 and f"usage', byte {at}: " in said and words in said, f'the error names an invalid usage file: {words}', status, said)
    tap.same(place.rows('name', 'pbs_usage', ''), [], 'invalid usage files are not imported')
    tap.same((place.run('--usage', place.write('usage', b'')), place.run('--usage', place.write('usage', usage_file()))), ((0, ''), (0, '')), 'a usage file without usage is valid')


# ---- output of qstat ----

PROLOGUE = f'"timestamp":{DAY + 100}, "pbs_version":"23.06.06", "pbs_server":"pbs"'


def printed(more='', prologue=PROLOGUE):
    return '{' + prologue + (', ' if more else '') + more + '}\n'


def job(job_id, state='Q', more='', user='bob', group='chem'):
    """Returns a job as qstat prints it, which prints text that looks like JSON as JSON."""
    return f'''"{job_id}": {{"Job_Name": "a", "Job_Owner": "{user}@host", "job_state": "{state}", "queue": "workq", "server": "pbs",
        "ctime": "Sun Nov  1 00:00:10 2026", "qtime": "Sun Nov  1 00:00:20 2026", "etime": "Sun Nov  1 00:00:30 2026", "Priority": 5,
        "eligible_time": "26:01:05", "euser": "{user}", "egroup": "{group}", "project": "_pbs_project_default",
        "Resource_List": {{"mem": "1gb", "ncpus": 4, "place": "free pack", "select": "1:ncpus=4", "scale": 0.5, "walltime": "01:00:00", "flag": true}},
        "Variable_List": {{"PBS_O_HOME": "/h", "A": {{"b": [1]}}}}{more}}}'''


def jobs(*each):
    return printed('"Jobs": {' + ', '.join(each) + '}')


def try_queue(place, where):
    prints = jobs(job('1.pbs'), job('2.pbs', 'R'), job('3.pbs', 'H', ', "Account_Name": "17"', 'eve', 'bio'), job('4[].pbs', 'B', ', "array_indices_remaining": "2-3"'),
                  job('4[2].pbs'), job('5[].pbs', 'B', ', "array_indices_remaining": "-"'), job('6.pbs', 'W'), job('7.pbs', 'F'), job('8[1].pbs', 'T'))
    prints += printed('"Queue": {"workq": {"queue_type": "Execution", "Priority": 150}, "long": {"queue_type": "Execution"}, "low": {"Priority": -3}}')
    prints += printed('"Server": {"pbs": {"server_state": "Active", "job_sort_formula": "ncpus*walltime", "job_sort_formula_threshold": 0.5}}')
    tap.same(place.run('--queue', '-', given=prints.encode()), (0, ''),
             f"qstat's jobs, queues and server are imported into {where}")
    waiting = place.rows('job_id, job_key, state', 'pbs_queued')
    tap.same([row[::2] for row in waiting], [('1.pbs', 'Q'), ('3.pbs', 'H'), ('4[].pbs', 'B'), ('6.pbs', 'W'), ('8[1].pbs', 'T')],
             'pending jobs are stored, and an array with pending tasks once')
    tap.same(sorted(int(row[1]) for row in waiting), [1, 2, 3, 4, 5], 'each pending job has its own key')
    tap.same(place.rows(f'euser, egroup, account, project, queue, as_of - {DAY}, ctime - {DAY}, qtime - {DAY}, etime - {DAY}, eligible_time, job_priority', 'pbs_queued', "WHERE job_id = '3.pbs'"),
             [('eve', 'bio', '17', '_pbs_project_default', 'workq', '100', '10', '20', '30', '93665', '5')],
             'the attributes of a pending job are stored')
    tap.same(place.rows('requested', 'pbs_queued', "WHERE job_id = '1.pbs'"), [('mem=1gb ncpus=4 place="free pack" select=1:ncpus=4 scale=0.5 walltime=01:00:00 flag=true',)], 'resources are stored as in the logs')
    tap.same(place.rows('name, priority', 'pbs_queue', 'ORDER BY name'), [('long', '0'), ('low', '-3'), ('workq', '150')],
             'queues have their priorities')
    formula = [('job_sort_formula', '0', 'ncpus*walltime'), ('job_sort_formula_threshold', '0', '0.5')]
    tap.same(settings(place), formula, 'the formula of the server is recorded')
    tap.same(place.rows('name', 'pbs_seen', "WHERE kind = 'Account_Name' ORDER BY 1"), [('17',), ('chem:bob',)], 'entities of pending jobs are recorded')
    place.run('--queue', place.write('q', jobs(job('6.pbs'), job('9.pbs'))))
    tap.same(place.rows('job_id, job_key', 'pbs_queued', 'ORDER BY 1'), [(name, key) for name, key, _ in waiting if name == '6.pbs'] + [('9.pbs', '6')], 'a new output replaces the jobs, and pending jobs keep their keys')
    os.mkdir(place.path('accounting'))
    place.write('accounting/20261101', f'11/01/2026 00:02:00;E;9.pbs;user=bob group=chem qtime={DAY} start={DAY + 1} end={DAY + 2}\n')
    place.run('--accounting', place.path('accounting'))
    tap.same(place.rows('job_key', 'pbs_job', ''), [('7',)], 'no run gets the key of a pending job')
    place.run('--queue', place.write('q', printed() + printed('"Server": {"pbs": {"job_sort_formula_threshold": 0.5}}')))
    tap.same((place.rows('job_id', 'pbs_queued', ''), len(place.rows('name', 'pbs_queue', '')), settings(place)),
             ([], 3, sorted(formula + [('job_sort_formula', str(DAY + 100), None)], key=str)), 'empty output removes jobs, a removed formula is NULL, queues stay')


def try_broken_queue(place):
    """Tests values of users that qstat prints as invalid JSON, and jobs that cannot be read."""
    broken = ['005', '+5', '.5', '5.', '0x1F', 'nan', '-', '1e999', '99999999999999999999', '"\\ud800"', '"\\e"', '"\\u0000"', '"\x01"', '"\xe9"', '"a\nb', '{"a": 005}', '[1, {"b": }]', 'a b', '{' * 3000 + '}' * 3000]
    for value in broken:
        text = jobs(job('1.pbs', more=', "Account_Name": "q"'), job('2.pbs').replace('"A": {"b": [1]}', '"FOO":' + value), job('3.pbs', user='eve'))
        status = place.run('--queue', '-', given=text.encode('latin-1'))
        tap.same((status, place.rows('job_id, euser', 'pbs_queued', 'ORDER BY 1')), ((0, ''), [('1.pbs', 'bob'), ('2.pbs', 'bob'), ('3.pbs', 'eve')]), f'a value that is invalid JSON does not lose a job: {value[:20]!r}')
    for name, value, wanted in (('Account_Name', '005', '005'), ('Account_Name', '1e999', '1e999'), ('Account_Name', '"a\\u00e9\\"b"', 'a\xe9"b'), ('Account_Name', '"\\ud800"', '\\ud800'),
                                ('Account_Name', '"' + 'y' * 300 + '"', 'y' * 255), ('Account_Name', '"' + 'z' * 200000 + '"', 'z' * 255), ('project', '{"b": [1, 2]}', '{"b":[1,2]}')):
        status = place.run('--queue', '-', given=jobs(job('1.pbs').replace('"project": "_pbs_project_default"', f'"{name}": {value}')).encode())
        tap.same((status, place.rows('project' if name == 'project' else 'account', 'pbs_queued', '')), ((0, ''), [(wanted,)]), f'{name} has its original value: {wanted[:20]!r}')
    for value in ('"x\' ncpus=0 y=\\"z"', '"a \\"b\\" \'c\'"', '"' + 'y' * 99999 + '"', '007'):
        status = place.run('--queue', '-', given=jobs(job('1.pbs').replace('"ncpus": 4', f'"ncpus": 4, "software": {value}')).encode())
        requested = place.rows('requested', 'pbs_queued', '')[0][0]
        tap.ok(status == (0, '') and requested.startswith('mem=1gb ncpus=4 ') and requested.endswith('walltime=01:00:00 flag=true'), f'a resource with any text is one resource: {value[:20]!r}', status, requested)
    text = jobs(job('1.pbs'), job('2.pbs').replace('Sun Nov  1 00:00:20', 'x'), job('3.pbs', user='b' * 255), job('4.pbs'))
    status, said = place.run('--queue', '-', given=text.encode())
    tap.ok(status == 65 and "job '2.pbs': 'qtime'" in said and "job '3.pbs': a name" in said and 'cannot read 2 pending jobs; the others were imported' in said,
           'the error names a job that cannot be read', status, said)
    tap.same(place.rows('job_id', 'pbs_queued', 'ORDER BY 1'), [('1.pbs',), ('4.pbs',)], 'the other jobs are imported')
    tap.same((place.run('--queue', '-', given=jobs(job('1.pbs'), job('1.pbs'), job('2.pbs')).encode()), place.rows('job_id', 'pbs_queued', 'ORDER BY 1')), ((0, ''), [('1.pbs',), ('2.pbs',)]), 'a job that is printed twice is stored once')
    for given in ('[' * 4000000, '{"a":' * 1000000, '{' + PROLOGUE + ', "x": ' + '[' * 4000000, '{"' + 'k' * 4000000):
        status, said = place.run('--queue', '-', given=given.encode())
        tap.ok(status == 65 and len(said) < 500, 'output that is not from qstat is rejected', status, said[:200])


def try_bad_queue(place):
    good = jobs(job('1.pbs'))
    place.run('--queue', place.write('q', good))
    for bad, words in (
            ('', "'%s' is empty"), (good[:-3], 'invalid JSON in line '), ('[]', 'timestamp or pbs_server is missing'), ('{"Jobs": {}}', 'timestamp or pbs_server is missing'), (good + good, 'two outputs of this kind'),
            (jobs(job('1.pbs').replace('"euser"', '"x"')), "job '1.pbs': euser is missing; qstat shows it only to managers"), (jobs('"1.pbs": {}'), "job '1.pbs': job_state is missing"), (jobs('"1.pbs": 7'), "job '1.pbs': job_state is missing"),
            (jobs(job('1.pbs').replace('Sun Nov  1 00:00:20', 'So 1. Nov 00:00:20')), "'qtime': 'So 1. Nov 00:00:20 2026' is not a time"), (jobs(job('1.pbs').replace('26:01:05', '26h')), "'eligible_time': '26h' is not a duration"),
            (jobs(job('1.pbs').replace('"Priority": 5', '"Priority": 5.5')), "'Priority': '5.5' is not an integer"), (jobs(job('1.pbs').replace('"mem"', '"m m"')), 'is not a valid resource'), (jobs(job('1.pbs', user='b' * 255)), 'too long'),
            (printed('"Queue": {"q": {"Priority": "x"}}'), "queue 'q': 'Priority': 'x' is not an integer"), (printed('"Server": {"a": {}, "b": {}}'), 'expected one server, found 2'), (good + '\n\n{"x": nul}', ': timestamp or pbs_server is missing'),
            (good + '{"x" 1}', 'invalid JSON in line 6: a colon is missing'), (good + '{' + PROLOGUE + ', "Jobs": {"9.pbs": {"x": [1', 'two outputs of this kind'),
            (jobs(job('1.pbs') + ', "9.pbs": {"x": [1'), ': end of file within an object'), (jobs(job('1.pbs') + ', "9.pbs": {7}'), "job '9.pbs': invalid JSON in line 5: a key is missing")):
        status, said = place.run('--queue', place.write('q', bad))
        words = words.replace('%s', place.path('q'))
        tap.ok(status == 65 and f"{place.path('q')}'" in said and words in said, f'the error names invalid qstat output: {words[-50:]}', status, said)
    tap.same(place.rows('job_id', 'pbs_queued', ''), [('1.pbs',)], 'invalid output keeps the earlier jobs')


def try_large_input(place):
    """Input that is read from a pipe is not kept."""
    command = subprocess.Popen([FAIRMILL, '-c', place.path('conf'), 'import', 'pbs', '--queue', '-'],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        for _ in range(120):
            command.stdin.write(b'[' * 1000000)
        command.stdin.close()
    except BrokenPipeError:
        pass
    said = command.stderr.read()
    _, status, used = os.wait4(command.pid, 0)
    command.returncode = os.waitstatus_to_exitcode(status)
    tap.ok(command.returncode == 65 and used.ru_maxrss < 80000,
           '120 MB of invalid JSON from a pipe are rejected with little memory', command.returncode, f'{used.ru_maxrss} kB', said[:200])


LISTED = """Sched default
    sched_host = host
    job_sort_formula_threshold = 0.5
    scheduling = True
    opt_backfill_fuzzy = low

Sched other
    job_sort_formula_threshold = 7
    job_sort_formula = mem

"""
PRINTED = """#
# Create and define scheduler default
#
create sched default
set sched sched_host = host
set sched job_sort_formula_threshold = 0.5
create sched other
set sched other job_sort_formula_threshold = 7
set sched other job_sort_formula = "mem"
"""


def try_scheduler(place):
    """Tests the scheduler's threshold and formula."""
    server = lambda at, text='': place.write('q', printed('"Server": {"pbs": {"server_state": "Active"%s}}' % text, PROLOGUE.replace(str(DAY + 100), str(DAY + at))))
    when = lambda at: ('--at', DAY + at)
    tap.same(place.run('--scheduler', place.write('s', LISTED), *when(0)), (0, ''), 'the output of qmgr list sched is imported')
    threshold = ('job_sort_formula_threshold', '0', '0.5')
    tap.same(settings(place), [threshold], 'the threshold of the scheduler default is recorded')
    tap.same((place.run('--scheduler', place.write('s', PRINTED), *when(10)), settings(place)), ((0, ''), [threshold]), 'print sched gives the same threshold')
    place.run('--queue', server(200, ', "job_sort_formula": "ncpus"'))
    tap.same(settings(place), [('job_sort_formula', '0', 'ncpus'), threshold], "qstat's server output does not change the threshold")
    place.run('--scheduler', place.write('s', LISTED.replace('0.5', '-3e2')), *when(300))
    tap.same(settings(place)[-1], ('job_sort_formula_threshold', str(DAY + 300), '-3e2'), 'a changed threshold applies from then on')
    place.run('--scheduler', place.write('s', LISTED.replace('    job_sort_formula_threshold = 0.5\n', '')), *when(400))
    tap.same(settings(place)[-1], ('job_sort_formula_threshold', str(DAY + 400), None), 'a removed threshold is NULL from then on')
    formula = 'max(queue_priority, 10) + min(eligible_time/3600.0, 240) + 100*min(1,\n\tncpus / 128.0, ngpus)'
    owns = LISTED.replace('    scheduling', f'    job_sort_formula = {formula}\n    scheduling')
    place.run('--queue', server(500), '--scheduler', place.write('s', owns), *when(500))
    tap.same([row for row in settings(place) if row[1] == str(DAY + 500)],
             [('job_sort_formula', str(DAY + 500), formula.replace('\n\t', '')), ('job_sort_formula_threshold', str(DAY + 500), '0.5')],
             "the scheduler's formula applies if the server has no formula")
    place.run('--queue', server(600, ', "job_sort_formula": "mem"'), '--scheduler', place.write('s', owns), *when(600))
    tap.same([row for row in settings(place) if row[1] == str(DAY + 600)], [('job_sort_formula', str(DAY + 600), 'mem')], "the server's formula overrides the scheduler's")
    status, said = place.run('--scheduler', place.write('s', PRINTED + 'set sched job_sort_formula = "lambda: 1"\n'), *when(700))
    tap.ok(status == 0 and "'lambda'" in said, 'a formula that cannot be evaluated is reported', status, said)
    for bad, words in ((LISTED.replace('0.5', 'x'), "job_sort_formula_threshold 'x'"), ('', "scheduler 'default' is missing"), (LISTED.replace('Sched default', 'Sched first'), "scheduler 'default' is missing"),
                       ('Server pbs\n    scheduling = True\n', "scheduler 'default' is missing")):
        status, said = place.run('--scheduler', place.write('s', bad))
        tap.ok(status == 65 and words in said and place.path('s') in said, f'rejected: {words}', status, said)
    tap.same(place.run('--scheduler', place.path('none'))[0], 65, 'a missing file is an error')


# ---- the server's own database ----

# The tables of OpenPBS's pbs_db_schema.sql that import reads.
SCHEMA = """
CREATE EXTENSION hstore;
CREATE SCHEMA pbs;
CREATE TABLE pbs.server (sv_jobidnumber BIGINT NOT NULL, attributes hstore NOT NULL DEFAULT '');
CREATE TABLE pbs.scheduler (sched_name TEXT NOT NULL PRIMARY KEY, attributes hstore NOT NULL DEFAULT '');
CREATE TABLE pbs.queue (qu_name TEXT NOT NULL PRIMARY KEY, qu_type INTEGER NOT NULL, attributes hstore NOT NULL DEFAULT '');
CREATE TABLE pbs.job (ji_jobid TEXT NOT NULL PRIMARY KEY, ji_state INTEGER NOT NULL, ji_queue TEXT NOT NULL, attributes hstore NOT NULL DEFAULT '');
"""
BOB = f"""euser=>"5.bob", egroup=>"5.chem", qtime=>"9.{DAY + 20}", ctime=>"9.{DAY + 10}", "Resource_List.ncpus"=>"3.4", "Resource_List.scale"=>"3.0.5",
    "Resource_List.place"=>"3.free pack", eligible_time=>"1.26:01:05", Priority=>"1.-7", job_state=>"1.R", queue=>"1.old", "Variable_List"=>"1.A=1" """


def try_server_database(place, postgres):
    database = postgres.database('pbs_datastore')
    postgres.sql(SCHEMA + f"""
        INSERT INTO pbs.job VALUES ('1.pbs', 1, 'workq', '{BOB}'), ('2.pbs', 4, 'workq', '{BOB}'), ('3.pbs', 2, 'long', '{BOB}, Account_Name=>"1.p.1", project=>"1._p"'),
            ('4[].pbs', 7, 'workq', '{BOB}, array_indices_remaining=>"1.2-3"'), ('5.pbs', 9, 'workq', '');
        INSERT INTO pbs.queue VALUES ('workq', 1, 'Priority=>"1.150"'), ('long', 1, '');
        INSERT INTO pbs.scheduler VALUES ('default', 'job_sort_formula=>"1.0.5*ncpus", job_sort_formula_threshold=>"1.2.5"'), ('other', 'job_sort_formula=>"1.mem"');
        INSERT INTO pbs.server VALUES (7, 'comment=>"1.x"');""", database)
    os.environ['PGSERVICEFILE'] = place.write('service', f'[openpbs]\nhost={postgres.socket}\nport={postgres.port}\nuser=postgres\ndbname={database}\n')
    tap.same(place.run('--server-database', 'openpbs'), (0, ''), "OpenPBS's own database is read")
    tap.same(place.rows('job_id, state, queue, account, project', 'pbs_queued'), [('1.pbs', 'Q', 'workq', '', ''), ('3.pbs', 'H', 'long', 'p.1', '_p'), ('4[].pbs', 'B', 'workq', '', '')],
             'pending jobs are imported, with the state and queue columns')
    row = place.rows(f'euser, egroup, ctime - {DAY}, qtime - {DAY}, etime, eligible_time, job_priority', 'pbs_queued', "WHERE job_id = '1.pbs'")
    tap.same(row, [('bob', 'chem', '10', '20', '0', '93665', '-7')], 'the attributes of pending jobs are imported')
    requested = place.rows('requested', 'pbs_queued', "WHERE job_id = '1.pbs'")[0][0]
    tap.same(sorted(requested.replace('free pack', 'free_pack').split()), ['ncpus=4', 'place="free_pack"', 'scale=0.5'], 'the resources of pending jobs are imported')
    tap.same(place.rows('name, priority', 'pbs_queue', 'ORDER BY 1'), [('long', '0'), ('workq', '150')], "the queues' priorities are imported")
    tap.same(settings(place), [('job_sort_formula', '0', '0.5*ncpus'), ('job_sort_formula_threshold', '0', '2.5')], 'the formula of the scheduler default is imported')
    postgres.sql('UPDATE pbs.server SET attributes = \'job_sort_formula=>"1.mem"\'', database)
    place.run('--server-database', 'openpbs')
    tap.same(settings(place)[1][2], 'mem', "the server's formula overrides the scheduler's")
    postgres.sql("UPDATE pbs.job SET attributes = 'qtime=>\"9.x\"' WHERE ji_jobid = '3.pbs'", database)
    status, said = place.run('--server-database', 'openpbs')
    tap.ok(status == 65 and "job '3.pbs': 'qtime': 'x' is not a time" in said, 'the error names an invalid attribute', status, said)
    tap.same(place.rows('job_id', 'pbs_queued', 'ORDER BY 1'), [('1.pbs',), ('4[].pbs',)], 'the other jobs are imported')
    status, said = place.run('--server-database', 'nowhere')
    tap.ok(status != 0 and 'nowhere' in said, 'the error names an unknown service', status, said)
    tap.same(place.run('--server-database', 'openpbs', '--queue', '-')[0], 64, '--server-database and --queue are mutually exclusive')


def body():
    with Server() as mariadb, Postgres() as postgres, tempfile.TemporaryDirectory() as databases:
        for where, server in dict(SQLite=Sqlite(databases), MySQL=mariadb, PostgreSQL=postgres).items():
            for case in (try_config, try_entities, try_usage, try_old_usage, try_old_jobs, try_queue, *([] if where == 'SQLite' else [try_next])):
                with tempfile.TemporaryDirectory() as folder:
                    case(Place(server, folder), where)
        with tempfile.TemporaryDirectory() as folder:
            try_server_database(Place(Sqlite(databases), folder), postgres)
        for case in (try_loose_config, try_bad_config, try_bad_usage, try_broken_queue, try_bad_queue, try_large_input, try_scheduler):
            with tempfile.TemporaryDirectory() as folder:
                case(Place(Sqlite(databases), folder))


tap.main(body)
