#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite pgsql
"""Tests that the output of `fairmill init --print` for PostgreSQL gives access to the intended
logins and to no others."""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import answering
import site_drawing
import tap
from place import NOW, SMALL
from postgres import Postgres
from program import copy_program, fairmill, write_settings


def denied(server, role, sql, database):
    try:
        server.sql(f'SET ROLE "{role}"; {sql}', database)
    except RuntimeError as error:
        return 'permission denied' in str(error)
    return False


def write(server, folder, **more):
    def login(user, database):
        return dict(server.connection(database), user=user)
    write_settings(f'{folder}/f.conf', dict(
        source=login("roles's source", 'roles_acct'), results=login('roles_writer', 'roles_res'),
        usage=dict(half_life=0, **more)))


def private(server, folder):
    """The settings belong to root and are readable by all users, so the login decides."""
    if os.getuid():
        return
    os.chmod(folder, 0o755)
    program = copy_program(folder)
    server.sql('CREATE ROLE roles_reader LOGIN; GRANT fairmill_reader TO roles_reader', 'roles_res')
    for user, command, wanted in (('roles_writer', ['run', '--now', str(NOW)], 0), ('roles_writer', ['show', '-u', 'alice'], 0),
                                  ('roles_writer', ['ledger', 'credit', '5', '-u', 'alice', '-A', 'physics', '-w', 'a test', '-y'], 0),
                                  ('roles_reader', ['show', '-u', 'alice'], 64)):
        write_settings(f'{folder}/f.conf', dict(
            source=dict(server.connection('roles_acct'), user="roles's source"), report=dict(private='yes'),
            results=dict(server.connection('roles_res'), user=user), usage=dict(half_life=0)))
        done = subprocess.run([program, '-c', f'{folder}/f.conf', *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, cwd='/', **answering.ids('nobody'))
        tap.same((done.returncode, 'private' in done.stdout), (wanted, wanted != 0),
                 f"with private results {user} {'may' if not wanted else 'may not'} {' '.join(command[:2])}")


def owners(server, folder):
    """CREATE OR REPLACE VIEW keeps the owner of a view, with whose rights readers read."""
    server.database('roles_owners')
    server.login('roles_somebody')
    settings = f'{folder}/owners.conf'
    write_settings(settings, dict(source=dict(driver='sqlite', database=f'{folder}/a.db'), usage=dict(half_life=0),
                                  results=server.connection('roles_owners')))
    for command in (['init'], ['run', '--now', NOW]):
        fairmill(settings, *command)
    views = [view for view, in server.sql("SELECT viewname FROM pg_views WHERE viewname LIKE 'fairmill%'", 'roles_owners')]
    tap.ok(len(views) > 9, 'the test has enough views', views)
    for view in views:
        server.sql(f'ALTER VIEW {view} OWNER TO roles_somebody', 'roles_owners')
    status, _, err = fairmill(settings, 'status', '--max-age', '9999d')
    tap.ok(status == 1 and '`fairmill init`' in err,
           'status reports that the owner of views has no rights', status, err)
    fairmill(settings, 'init')
    tap.same(server.sql("SELECT DISTINCT viewowner FROM pg_views WHERE viewname LIKE 'fairmill%'", 'roles_owners'),
             server.sql("SELECT tableowner FROM pg_tables WHERE tablename = 'fairmill_run'", 'roles_owners'),
             'init gives the views to the owner of the tables')
    status, _, err = fairmill(settings, 'status', '--max-age', '9999d')
    tap.ok(not status, 'status succeeds after init', err)


def body():
    with Postgres() as server, tempfile.TemporaryDirectory() as folder:
        settings = f'{folder}/f.conf'
        site_drawing.draw(SMALL).write(f'{folder}/a.db')
        server.copy_sqlite(f'{folder}/a.db', 'roles_acct', ['tiny'])
        write(server, folder)
        status, printed, err = fairmill(settings, 'init', '--print', '--cluster', 'tiny')
        tap.ok(status == 0, 'init --print needs no login', err)
        tap.ok('job_script' not in printed and 'GRANT ALL' not in printed,
               'init --print grants no access to secrets, and never all privileges')
        server.sql(printed, 'postgres')
        tap.ok(True, 'psql accepts the output of init --print')
        tap.same(server.sql("SELECT DISTINCT tableowner FROM pg_tables "
                            "WHERE tablename LIKE 'fairmill%'", 'roles_res'), [['fairmill_owner']],
                 'all tables have one owner, which is not a login')

        for command in (('check',), ('run', '--now', NOW), ('show',), ('status', '--max-age', '9999d'), ('init',)):
            status, _, err = fairmill(settings, *command)
            tap.ok(status == 0, f"the roles are enough for '{command[0]}'", err)
        tap.same(server.sql('SET ROLE fairmill_reader; SELECT count(*) FROM fairmill_sshare',
                            'roles_res'), [['6']], 'a reader may read the views')
        tap.ok(denied(server, 'fairmill_reader', 'DELETE FROM fairmill_run', 'roles_res'),
               'a reader cannot write')
        server.sql('REVOKE SELECT ON fairmill_tree FROM fairmill_owner', 'roles_res')
        for code, *command in ((1, 'status', '--max-age', '9999d'), (2, 'status', '--nagios', '--max-age', '9999d'),
                               (78, 'verify'), (78, 'check'), (78, 'run', '--now', NOW)):
            status, out, err = fairmill(settings, *command)
            tap.ok(status == code and 'readers cannot read the views' in out + err,
                   f"if the views' owner may not read a table '{command[0]}' ends with {code}", status, out, err)
        server.sql('GRANT SELECT ON fairmill_tree TO fairmill_owner; DROP VIEW fairmill_waiting', 'roles_res')
        for code, *command in ((1, 'status', '--max-age', '9999d'), (78, 'verify'), (78, 'run', '--now', NOW), (78, 'init')):
            status, out, err = fairmill(settings, *command)
            tap.ok(status == code and 'waiting' in out + err or command == ['init'] and 'denied' in err,
                   f"if a view is dropped '{command[0]}' of a writer ends with {code}", status, out, err)
        server.sql('GRANT fairmill_owner TO roles_writer', 'roles_res')
        status, _, err = fairmill(settings, 'init')
        tap.ok(status == 0, 'an owner creates a dropped view', err)
        server.sql('REVOKE fairmill_owner FROM roles_writer', 'roles_res')
        tap.same(server.sql("SELECT DISTINCT viewowner FROM pg_views WHERE viewname LIKE 'fairmill%'", 'roles_res'),
                 [['fairmill_owner']], 'all views belong to the role')
        tap.same(server.sql('SET ROLE fairmill_reader; SELECT count(*) FROM fairmill_waiting', 'roles_res'), [['0']],
                 'a reader may read the new view')
        status, _, err = fairmill(settings, 'status', '--max-age', '9999d')
        tap.ok(status == 0, 'status succeeds with the new view', err)
        for who, verb, sql in (('writer', 'change', "UPDATE fairmill_ledger SET why = ''"),
                               ('writer', 'delete', 'DELETE FROM fairmill_ledger'),
                               ('writer', 'change', 'UPDATE fairmill_ledger_reset SET id = 0'),
                               ('writer', 'change', "UPDATE fairmill_ledger_chain SET hash = ''"),
                               ('writer', 'delete', 'DELETE FROM fairmill_ledger_counted'),
                               ('reader', 'add', "INSERT INTO fairmill_ledger_reset VALUES (1, 1)")):
            tap.ok(denied(server, f'fairmill_{who}', sql, 'roles_res'),
                   f'a {who} may not {verb} in the ledger: {sql}')
        status, out, err = fairmill(settings, 'ledger', 'debit', 7, '-u', 'alice', '-A', 'physics',
                                    '--at', NOW, '-w', 'a test', '-y')
        tap.ok(status == 0 and out.startswith('entry 1, '), 'a writer may add to the ledger', out, err)
        status, _, err = fairmill(settings, 'ledger', 'undo', 1, '-w', 'a test', '-y')
        tap.ok(status == 0, 'a writer may undo an entry', err)
        server.sql('SET ROLE fairmill_owner; DROP TABLE fairmill_ledger, fairmill_ledger_reset; '
                   'DELETE FROM fairmill_schema', 'roles_res')
        server.sql('GRANT fairmill_owner TO roles_writer; ALTER ROLE roles_writer SET ROLE fairmill_owner',
                   'roles_res')
        status, _, err = fairmill(settings, 'init')
        tap.ok(status == 0, 'an owner creates the ledger of a new release', err)
        server.sql('ALTER ROLE roles_writer RESET ROLE; REVOKE fairmill_owner FROM roles_writer', 'roles_res')
        tap.ok(denied(server, 'fairmill_writer', 'DELETE FROM fairmill_ledger', 'roles_res') and
               not denied(server, 'fairmill_writer', 'INSERT INTO fairmill_ledger_reset VALUES (1, 1)',
                          'roles_res'),
               'a writer may add to the new ledger, and not delete from it')
        tap.ok(denied(server, "roles's source", 'SELECT job_name FROM tiny_job_table',
                      'roles_acct'), 'the login of the source cannot read texts that users typed')
        tap.ok(denied(server, "roles's source", 'DELETE FROM tiny_job_table', 'roles_acct'),
               'the login of the source cannot write')

        server.sql("UPDATE tiny_assoc_table SET grp_tres_mins = '1001=600' WHERE \"user\" = ''", 'roles_acct')
        for table in ('tiny_assoc_table', 'cluster_table', 'tres_table'):
            server.sql(f'REVOKE SELECT ON {table} FROM "roles\'s source"', 'roles_acct')
            status, _, err = fairmill(settings, 'run', '--now', NOW)
            grant = f'GRANT SELECT ON "{table}" TO "roles\'s source"'
            tap.ok(status == 78 and grant in err, f'without {table} the error contains the GRANT', err)
            server.sql(grant, 'roles_acct')
        write(server, folder, charge='tres', tres_weights='CPU=1', suspended='omitted')
        for table in ('tiny_suspend_table',):
            status, _, err = fairmill(settings, 'run', '--now', NOW)
            grant = re.search(r'GRANT SELECT.* TO .*"', err)
            if tap.ok(status == 78 and grant and f'"{table}"' in grant[0],
                      f'settings that need {table} have an error with the GRANT', err):
                server.sql(grant[0], 'roles_acct')
        status, _, err = fairmill(settings, 'run', '--now', NOW)
        tap.ok(status == 0, 'with these GRANTs a run succeeds', err)
        private(server, folder)
        owners(server, folder)
        write(server, folder, charge='tres', tres_weights='CPU=1', suspended='omitted')
        server.sql('REVOKE SELECT ON fairmill_ledger FROM fairmill_writer', 'roles_res')
        status, _, err = fairmill(settings, 'run', '--now', NOW)
        grant = 'GRANT SELECT, INSERT ON "fairmill_ledger" TO "roles_writer"'
        tap.ok(status == 78 and grant in err, 'the GRANT for the ledger is only for adding rows', err)
        server.sql(grant, 'roles_res')
        server.sql('REVOKE fairmill_writer FROM roles_writer', 'roles_res')
        status, _, err = fairmill(settings, 'run', '--now', NOW)
        grant = 'GRANT fairmill_writer TO "roles_writer"'
        tap.ok(status == 78 and grant in err, 'without the results the error contains the GRANT', err)
        server.sql(grant, 'roles_res')
        status, _, err = fairmill(settings, 'run', '--now', NOW)
        tap.ok(status == 0, 'with the GRANTs on the results a run succeeds', err)
        server.sql('REVOKE CONNECT ON DATABASE roles_acct FROM PUBLIC', 'postgres')
        status, _, err = fairmill(settings, 'run', '--now', NOW)
        grant = 'GRANT CONNECT ON DATABASE "roles_acct" TO "roles\'s source"'
        tap.ok(status == 78 and f'{grant}; GRANT SELECT ON "cluster_table" TO' in err,
               'without the source the error contains the GRANTs', err)
        server.sql(grant, 'postgres')
        server.sql('REVOKE fairmill_writer FROM roles_writer; GRANT fairmill_reader TO roles_writer; '
                   'REVOKE ALL ON ALL TABLES IN SCHEMA public FROM roles_writer', 'roles_res')
        status, _, err = fairmill(settings, 'init')
        tap.ok(status == 78 and 'GRANT fairmill_owner TO "roles_writer"' in err,
               'the error for a reader names the role that init needs', status, err)
        write_settings(f'{folder}/none.conf', dict(
            source=dict(server.connection('roles_acct'), user="roles's source"),
            results=dict(server.connection('roles_none'), user='roles_writer')))
        for command in ('init', 'show'):
            status, _, err = fairmill(f'{folder}/none.conf', command)
            tap.ok(status == 78 and 'roles_none' in err and 'must be created first' in err,
                   f"the error of '{command}' explains how to create the database", status, err)


tap.main(body)
