#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests every pair of drivers for source and results.  Every value is the same bit for bit."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import reference
import tap
from compare import differences, exact, from_server, from_sqlite, priorities
from mariadb import Server
from postgres import Postgres
from program import fairmill, publish, published, same_value, write_settings
from sqlite import Sqlite

CLUSTERS = ('alpha', 'beta-2')
RELEASE = '25.05'
NOW = 1750500000
USAGE = dict(half_life='1-0', open_job_cap='30')  # short enough to cause findings
CHARGES = dict(half_life='7-0', charge='tres', tres_weights='"MAX_TRES, CPU=1, Mem=0.3G, GRES/gpu=2.5, gres/none=1"',
               qos_factors='high:1.5, low:0.1', partition_usage_factors='batch:0.7, gpu:3', suspended='omitted',
               horizon='30-0')
AS_CHARGES = dict(now=NOW, charge='tres', tres_weights=CHARGES['tres_weights'].strip('"'),
                  qos_factors=dict(high='1.5', low='0.1'), partition_usage_factors=dict(batch='0.7', gpu='3'),
                  suspended='omitted', horizon=30 * 86400)
PRIORITY = dict(weight_tres='CPU=100,Mem=10,GRES/gpu=1000', weight_assoc=30,
                partition_factors='gpu:100, batch:30, big:7', flags='SMALL_RELATIVE_TO_TIME')
LARGE = 2 ** 64 - 3  # a key of slurmdbd, in a database with 64-bit unsigned integers
RUN = ('cluster, as_of, kind, status, algorithm, associations, users, jobs_read, '
       'unattributed_usage, truncation_bound, source_newest, source_lag, settings_digest <> \'\'')
HISTORY = 'cluster, as_of, id_assoc, fairshare, usage_raw, level_fs'
LIMITS = ("UPDATE alpha_assoc_table SET grp_tres_mins = '1=900,5=100000,1001=400' WHERE id_assoc = 3",
          "UPDATE alpha_assoc_table SET grp_tres_mins = '1=100000000' WHERE id_assoc = 1",
          "UPDATE qos_table SET grp_tres_mins = '1=30000,4=700' WHERE id IN (1, 2, 4)")
BUDGET = ('cluster, kind, id, account, user_name, partition_name, qos, tres, limit_minutes, used_minutes, running_minutes, '
          'left_minutes, exhausted_at')
USAGE_DAY = 'cluster, day, id_assoc, tres_seconds, sum_2, sum_1, sum_0'
FAIRNESS = 'cluster, as_of, scope, members, jain, use_over, share_over, use_under, share_under'
FINDING = 'cluster, kind, subject, first_seen, last_seen, count, detail'


def load(mariadb, postgres, sqlite):
    """Loads the same accounting database into each server."""
    text = dump.text_of(RELEASE)
    copied = dump.to_sqlite(text, sqlite.connection('pairs')['database'], CLUSTERS)
    tap.ok(copied > 400, f'{copied} rows were copied to SQLite')
    postgres.copy_sqlite(sqlite.connection('pairs')['database'], 'pairs', CLUSTERS)
    subprocess.run(mariadb.client(mariadb.database('pairs')), input=text, text=True, check=True)
    for server in (mariadb, postgres, sqlite):
        for statement in LIMITS:
            server.sql(statement, 'pairs')


def others(server, results):
    """Returns runs, findings and other tables."""
    rows = [tuple(exact(value) for value in row) for table, columns in (
        ('run', RUN), ('finding', FINDING), ('history', HISTORY), ('usage_day', USAGE_DAY), ('budget', BUDGET),
        ('history_point', 'cluster, as_of, algorithm'), ('fairness', FAIRNESS),
        ('account', 'cluster, id_assoc, account, users, best, mean, worst'))
        for row in server.sql(f'SELECT {columns} FROM fairmill_{table}', results)]
    # Booleans are 1 in MariaDB and SQLite, and t in PostgreSQL.
    return sorted(tuple(exact('1') if value == 't' else value for value in row) for row in rows)


def body():
    with Server() as mariadb, Postgres() as postgres, tempfile.TemporaryDirectory() as folder:
        places = dict(mysql=mariadb, pgsql=postgres, sqlite=Sqlite(folder))
        load(mariadb, postgres, places['sqlite'])
        first, explanations, pages = None, [], []
        for source in places:
            for results in places:
                pair = f'from {source} to {results}'
                database = places[results].database(f'pairs_{source}')
                write_settings(f'{folder}/f.conf', dict(
                    source=places[source].connection('pairs'),
                    results=places[results].connection(database), usage=USAGE,
                    priority=PRIORITY))
                publish(f'{folder}/f.conf', NOW)
                if results == 'sqlite':
                    rows = from_sqlite(places[results].connection(database)['database'])
                else:
                    rows = from_server(places[results], database)
                got = (rows, others(places[results], database), shown(f'{folder}/f.conf'),
                       priorities(places[results], database), waiting(f'{folder}/f.conf'), stated(f'{folder}/f.conf'))
                first = first or got
                wrong, compared = differences(rows, first[0])
                tap.ok(compared > 1000 and not wrong, f'every value is the same {pair}',
                       f'{len(wrong)} of {compared} differ', *wrong[:10])
                tap.same(got[1], first[1], f'runs, findings, history, days and accounts are the same {pair}')
                tap.ok(got[2] == first[2], f'the output of show is the same {pair}')
                tap.ok(len(got[3]) > 30 and got[3] == first[3], f'priorities are the same {pair}')
                tap.ok(got[4] == first[4], f'the output of prio is the same {pair}')
                tap.ok(got[5] == first[5], f'the output of statement, waits and budget is the same {pair}')
                told = explained(f'{folder}/f.conf'), entities(places[results], database)
                pages.append(page(f'{folder}/f.conf'))
                tap.ok(pages[-1] == pages[0], f'the page of report is the same {pair}')
                explanations.append(told)
                tap.ok(told == explanations[0], f'explain, show --pbs, whatif and forecast print the same {pair}',
                       told[0], explanations[0][0])
                check(f'{folder}/f.conf', pair)
        large_keys(places, folder)
        long_reasons(places, folder)
        tap.ok(len(first[1]) > 4, 'the databases have findings to compare', first[1])
        charges(places, folder)


def charges(places, folder):
    """Compares other data of the sources: TRES by name, partitions, suspensions, the oldest job."""
    source = places['sqlite'].connection('pairs')['database']
    expected = {(cluster, number): row for cluster in CLUSTERS for number, row in
                reference.expected(source, cluster, AS_CHARGES)[0].items()}
    first = None
    for name, place in places.items():
        write_settings(f'{folder}/f.conf', dict(
            source=place.connection('pairs'), results=places['sqlite'].connection(f'charged_{name}'),
            usage=CHARGES))
        publish(f'{folder}/f.conf', NOW)
        results = f'{folder}/charged_{name}.db'
        rows = published(results)
        wrong = [key for key, row in expected.items()
                 if not same_value('usage_raw', rows[key]['usage_raw'], row['usage_raw'])]
        used = {value['usage_raw'] for value in expected.values()}
        tap.ok(not wrong and len(used) > 20 and rows.keys() == expected.keys(),
               f'TRES, factors, suspensions and horizon from {name} agree with the reference',
               len(used), wrong)
        got = from_sqlite(results), others(places['sqlite'], f'charged_{name}')
        first = first or got
        tap.ok(got == first and any('tres_unknown' in row for row in got[1]),
               f'every value, run and finding is the same from {name}', got[1], first[1])
        status, out, err = fairmill(f'{folder}/f.conf', 'check')
        tap.ok(status == 0 and "partition_usage_factors contains 'gpu'" in out,
               f'check reads {name} like the others', out, err)


def large_keys(places, folder):
    """Tests a key beyond signed integers in every database."""
    for source in ('mysql', 'pgsql'):
        places[source].sql('UPDATE alpha_job_table SET job_db_inx = '
                           f'{LARGE} WHERE id_job = 1192', 'pairs')
        for results in places:
            write_settings(f'{folder}/f.conf', dict(
                source=places[source].connection('pairs'),
                results=places[results].connection(places[results].database('pairs_large'))))
            publish(f'{folder}/f.conf', NOW)
            rows = places[results].sql(
                'SELECT job_db_inx FROM fairmill_job_priority WHERE id_job = 1192', 'pairs_large')
            status, out, err = fairmill(f'{folder}/f.conf', 'prio', '--json', '-j', '1192')
            tap.ok(status == 0 and [str(row[0]) for row in rows] == [str(LARGE)]
                   and f'"job_db_inx":"{LARGE}"' in out.replace(': ', ':'),
                   f'a 64-bit key passes from {source} to {results}', rows, out, err)


def long_reasons(places, folder):
    """Tests a reason that is longer than the names in it."""
    name = 'p' * 255
    with open(f'{folder}/slurm.conf', 'w', encoding='ascii') as file:
        file.write('ClusterName=alpha\nSlurmctldHost=head\nNodeName=n1 CPUs=4\nPartitionName=main Nodes=n1\n')
    places['mysql'].sql(f"UPDATE alpha_job_table SET `partition` = '{name}' WHERE id_job = 1192", 'pairs')
    for results in places:
        write_settings(f'{folder}/f.conf', dict(
            source=dict(places['mysql'].connection('pairs'), clusters='alpha'), slurm=dict(conf=f'{folder}/slurm.conf'),
            results=places[results].connection(places[results].database('pairs_reasons'))))
        publish(f'{folder}/f.conf', NOW)
        rows = places[results].sql('SELECT reason, reason_detail FROM fairmill_job_priority WHERE id_job = 1192', 'pairs_reasons')
        tap.same([tuple(row) for row in rows], [('partition_unknown', f'slurm.conf has no partition {name}')],
                 f'a long reason is stored in {results}')


def waiting(settings):
    status, out, err = fairmill(settings, 'prio', '--parsable')
    if status or out.count('\n') < 30:
        raise RuntimeError(f'prio ended with {status}: {out}{err}')
    return out


def stated(settings):
    told = []
    for more in ((), ('--tres', 'cpu')):
        status, out, err = fairmill(settings, 'statement', '--csv', '--since', '2025-01-01', *more)
        if status or out.count('\n') < 50:
            raise RuntimeError(f'statement {more} ended with {status}: {out}{err}')
        told.append(out)
    for more in (('--by', 'account,qos'), ('--by', 'user,partition', '--per', 'week')):
        status, out, err = fairmill(settings, 'waits', '--csv', '--since', '2025-01-01', *more)
        if status or out.count('\n') < 10:
            raise RuntimeError(f'waits {more} ended with {status}: {out}{err}')
        told.append(out)
    for more in ((), ('phys',)):
        status, out, err = fairmill(settings, 'budget', '--csv', *more)
        if status or out.count('\n') < 4:
            raise RuntimeError(f'budget {more} ended with {status}: {out}{err}')
        told.append(out)
    return told


def shown(settings):
    status, out, err = fairmill(settings, 'show', '--parsable')
    if status or out.count('\n') < 50:
        raise RuntimeError(f'show ended with {status}: {out}{err}')
    return out


def explained(settings):
    """Returns the output of explain, show --pbs, whatif and forecast for two users of a cluster."""
    rows = [line.split('|') for line in shown(settings).splitlines()[1:]]
    cluster = rows[0][0]
    names = ['/'.join(filter(None, row[1:4])) for row in rows if row[0] == cluster and row[2]]
    told = ''
    for command in (('explain', names[0], names[-1]), ('explain', '--jobs', '--json', names[0]),
                    ('show', '--pbs', names[0]), ('show', '--pbs', names[0], names[-1]),
                    ('whatif', '--json', '--shares', f'{names[0]}=77'),
                    ('whatif', '--json', '--half-life', '3-0', '--add-usage', f'{names[-1]}=10'),
                    ('forecast', names[0], '--json', '--days', '3', '--now', str(NOW))):
        status, out, err = fairmill(settings, *command, '--cluster', cluster)
        if status:
            raise RuntimeError(f'{command} ended with {status}: {out}{err}')
        told += out
    return told


def page(settings):
    """Returns the page of report, or None if the build has no report."""
    if fairmill(settings, 'report', '--help')[0]:
        return None
    status, out, err = fairmill(settings, 'report')
    if status or '"jobs":[[' not in out.replace('\n', ''):
        raise RuntimeError(f'report ended with {status}: {err}')
    return out


def entities(server, database):
    return sorted(tuple(exact(value) for value in row) for row in server.sql(
        'SELECT cluster, id_assoc, name, resgroup, cresgroup, shares, fairshare_perc, '
        'fairshare_tree_usage, fairshare_factor, usage_perc FROM fairmill_pbsfs', database))


def check(settings, pair):
    for command in (('check',), ('history', 'root', '--usage', '--json'), ('history', 'root', '--csv'), ('status', '--max-age', '3650 d'), ('run', '--now', NOW + 1),
                    ('run', '--now', NOW, '--replace')):
        status, out, err = fairmill(settings, *command)
        tap.ok(status == 0, f"'{' '.join(map(str, command))}' succeeds {pair}", out, err)


tap.main(body)
