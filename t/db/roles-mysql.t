#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests that the output of `fairmill init --print` for MariaDB gives access to the intended logins
and to no others."""

import os
import pwd
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import preload
import tap
from mariadb import CLIENT, IS_MYSQL, MONITOR, NewServer, default_role
from program import copy_program, write_settings

# The server identifies clients of its socket, so the login must be a user of this host.
LOGIN = 'nobody' if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
READER = 'roles_grafana'
SOURCE, RESULTS = 'roles_acct', 'roles_res'
NOW = 1750500000
JOB_COLUMNS = {'job_db_inx', 'time_eligible', 'id_assoc', 'id_qos', 'time_submit', 'time_start', 'time_end', 'timelimit', 'id_job',
               'tres_alloc', 'account', 'cpus_req', 'partition', 'priority', 'tres_req', 'id_array_job', 'array_max_tasks',
               'array_task_pending', 'id_array_task', 'array_task_str', 'het_job_id', 'het_job_offset'}

# Settings that need more of the source, and the tables that they need.
MORE = dict(charge='tres', tres_weights='CPU=1', suspended='omitted', partition_usage_factors='gpu:2')
MORE_TABLES = ('alpha_suspend_table',)
ROLLUPS = ('alpha_last_ran_table', 'alpha_assoc_usage_day_table')

# Privileges on the results, and the roles that have them: owner, writer, reader.
MADE = 'CREATE TABLE scratch (a INTEGER)'
POWERS = (
    ('read a table', 'SELECT count(*) FROM fairmill_fairshare', 'owr'),
    ('read a view', 'SELECT count(*) FROM fairmill_sshare', 'owr'),
    ('add rows', "INSERT INTO fairmill_settings SELECT * FROM fairmill_settings WHERE 1 = 0", 'ow'),
    ('change rows', 'UPDATE fairmill_run SET message = message WHERE 1 = 0', 'ow'),
    ('delete rows', 'DELETE FROM fairmill_finding WHERE 1 = 0', 'ow'),
    ('add to the ledger', 'INSERT INTO fairmill_ledger SELECT * FROM fairmill_ledger WHERE 1 = 0', 'ow'),
    ('change the ledger', 'UPDATE fairmill_ledger SET why = why WHERE 1 = 0', 'o'),
    ('delete from the ledger', 'DELETE FROM fairmill_ledger WHERE 1 = 0', 'o'),
    ('change the extent of a reset', 'UPDATE fairmill_ledger_reset SET id = id WHERE 1 = 0', 'o'),
    ('make a table', MADE, 'o'),
    ('alter a table', 'ALTER TABLE scratch ADD COLUMN b INTEGER', 'o'),
    ('make an index', 'CREATE INDEX i ON scratch (a)', 'o'),
    ('make a view', 'CREATE OR REPLACE VIEW scratched AS SELECT a FROM scratch', 'o'),
    ('empty a table', 'TRUNCATE TABLE scratch', 'o'),
    ('drop a view', 'DROP VIEW scratched', 'o'),
    ('drop a table', 'DROP TABLE scratch', 'o'),
    ('let others in', f'GRANT SELECT ON {RESULTS}.* TO {READER}@localhost', ''),
    ('make a procedure', 'CREATE PROCEDURE p() SELECT 1', ''),
    ('lock tables', 'LOCK TABLES fairmill_run WRITE', ''),
)
# Data that a login for the source must not access.
FORBIDDEN = (
    ('scripts of jobs', f'SELECT * FROM {SOURCE}.alpha_job_script_table'),
    ('environments of jobs', f'SELECT * FROM {SOURCE}.alpha_job_env_table'),
    ('command lines of steps', f'SELECT * FROM {SOURCE}.alpha_step_table'),
    ('command lines of jobs', f'SELECT submit_line FROM {SOURCE}.alpha_job_table'),
    ('names of jobs', f'SELECT job_name FROM {SOURCE}.alpha_job_table'),
    ('all columns of jobs', f'SELECT * FROM {SOURCE}.alpha_job_table'),
    ('administrators', f'SELECT * FROM {SOURCE}.user_table'),
    ('other clusters', f'SELECT * FROM {SOURCE}.`beta-2_assoc_table`'),
    ("the server's logins", f"SELECT * FROM mysql.{'user' if IS_MYSQL else 'global_priv'}"),
    ('changing shares', f'UPDATE {SOURCE}.alpha_assoc_table SET shares = 1 WHERE 1 = 0'),
    ('changing jobs', f'UPDATE {SOURCE}.alpha_job_table SET time_end = 1 WHERE 1 = 0'),
    ('adding clusters', f"INSERT INTO {SOURCE}.cluster_table (creation_time, name) VALUES (1, 'x')"),
    ('deleting jobs', f'DELETE FROM {SOURCE}.alpha_job_table WHERE 1 = 0'),
    ('dropping tables', f'DROP TABLE {SOURCE}.alpha_job_table'),
    ('making tables there', f'CREATE TABLE {SOURCE}.t (a INTEGER)'),
    ('making databases', 'CREATE DATABASE roles_other'),
    ('making logins', 'CREATE USER roles_other'),
    ('writing files', "SELECT 1 INTO OUTFILE '/tmp/roles-mysql'"),
)
# Delays the empty send at the end of a connection, until the other side has closed it or a second
# has passed.
LATE = r'''
#define _GNU_SOURCE
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t send(int socket, const void *bytes, size_t count, int flags)
{
    struct pollfd end = { .fd = socket };
    if (!count)
        poll(&end, 1, 1000);
    return syscall(SYS_sendto, socket, bytes, count, flags, (void *)0, 0);
}
'''
DENIED = re.compile(r'ERROR (1044|1045|1142|1143|1227|1370|1410|1698) ')


class Site:
    def __init__(self, folder, server):
        self.folder, self.server = folder, server
        self.conf = f'{folder}/f.conf'
        # LOGIN may not have access to the build directory.
        self.program = copy_program(folder)
        os.chmod(folder, 0o755)

    def write(self, name=None, user=LOGIN, database=RESULTS, **more):
        def login(name):
            return dict(driver='mysql', socket=self.server.socket, user=user, database=name)
        write_settings(name or self.conf, dict(source=dict(login(SOURCE), max_lag='1 m', clusters='alpha'),
                                               results=login(database), usage=dict(half_life=0, **more)))

    def as_login(self, *command, text=''):
        runner = ['runuser', '-u', LOGIN, '--'] if os.getuid() == 0 else []
        done = subprocess.run([*runner, *command], input=text, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=tap.HANG, check=False)
        return done.returncode, done.stdout, done.stderr

    def fairmill(self, *arguments, conf=None):
        return self.as_login(self.program, '-c', conf or self.conf, *map(str, arguments))

    def goes_well(self, statement, *arguments, **more):
        status, out, err = self.fairmill(*arguments, **more)
        return tap.ok(status == 0, statement, status, out, err)

    def query(self, user, sql):
        """Returns whether the statement succeeded, was denied, or failed otherwise, as LOGIN or as
        a user without a password."""
        command = [*CLIENT, f'--socket={self.server.socket}', f'--user={user}', RESULTS]
        if user == LOGIN:
            status, _, err = self.as_login(*command, text=sql)
        else:
            done = subprocess.run(command, input=sql, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  check=False)
            status, err = done.returncode, done.stderr
        return 'done' if not status else 'denied' if DENIED.search(err) else err

    def role(self, role):
        account = f"'{LOGIN}'@localhost"
        self.server.sql(f'GRANT {role} TO {account}; {default_role(role, account)}')


def grants(server, who):
    """Returns {object: privileges} and the roles."""
    rights, roles = {}, set()
    for line, in server.sql(f'SHOW GRANTS FOR {who}'):
        of_table = re.match(r'GRANT (.*?) ON (\S+) TO ', line)
        of_role = re.match(r'GRANT `?(\w+)`?(?:@`%`)? TO ', line)
        if of_table:
            privileges, where = of_table.groups()
            columns = re.match(r'SELECT \((.*)\)$', privileges)
            rights[where.replace('`', '')] = (set(re.findall(r'\w+', columns.group(1))) if columns
                                              else set(privileges.split(', ')))
        elif of_role:
            roles.add(of_role.group(1))
    return rights, roles


def printed_sql(site):
    site.write()
    status, printed, err = site.fairmill('init', '--print')
    tap.ok(status == 0, 'init --print needs no login', err)
    tap.ok('INSTALL PLUGIN auth_socket' in printed, "init --print explains MySQL's logins by socket", printed)
    for again in ('accepts the output of init --print', 'accepts it a second time'):
        done = subprocess.run([*CLIENT, f'--socket={site.server.socket}', '--user=root'],
                              input=printed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        tap.ok(done.returncode == 0 and not done.stdout, f'the client {CLIENT[0]} {again}', done.stdout)
    rights, roles = grants(site.server, f"'{LOGIN}'@localhost")
    tap.same(rights, {'*.*': {MONITOR}, f'{SOURCE}.alpha_job_table': JOB_COLUMNS,
                      f'{SOURCE}.txn_table': {'id', 'timestamp', 'action', 'name', 'cluster', 'info'},
                      **{f'{SOURCE}.{table}': {'SELECT'} for table in (
                          'cluster_table', 'qos_table', 'tres_table', 'alpha_assoc_table', 'alpha_event_table',
                          'alpha_last_ran_table', 'alpha_usage_day_table', 'alpha_usage_month_table', *(f'alpha_assoc_usage_{span}_table'
                                                    for span in ('hour', 'day', 'month')))}},
             "the login may read the source's tables, see a lag, and nothing else")
    tap.same(roles, {'fairmill_writer'}, 'the login has the role of a writer')
    dashboard = f'{READER}_dashboard'
    site.server.sql(f'CREATE USER {dashboard}@localhost; GRANT fairmill_dashboard TO {dashboard}@localhost; '
                    + default_role('fairmill_dashboard', f'{dashboard}@localhost'))
    tap.same([site.query(dashboard, f'SELECT * FROM fairmill_{name}') for name in ('account', 'runs', 'findings', 'fairshare')],
             ['done'] * 3 + ['denied'], 'a dashboard reads only the views without names')
    results = RESULTS.replace('_', '\\_') + '.*'
    tables = [name for name, in site.server.sql(
        f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{RESULTS}'"
        " AND table_type = 'BASE TABLE'")]
    writing = {f'{RESULTS}.{name}': {'INSERT'} if 'ledger' in name else {'INSERT', 'UPDATE', 'DELETE'}
               for name in tables}
    for role, more, what in (('reader', {}, 'read the results'), ('writer', writing, 'write the results, and add to the ledger')):
        rights, roles = grants(site.server, f'fairmill_{role}')
        rights.pop('*.*', None)
        tap.same([{k.replace('\\\\', '\\'): v for k, v in rights.items()}, roles],
                 [{results: {'SELECT'}, **more}, set()], f'a {role} may {what}, and nothing else')


def warns_of_isolation(site):
    name = 'innodb_snapshot_isolation'  # available in MariaDB since 10.6.18
    usual = site.server.sql(f"SHOW GLOBAL VARIABLES LIKE '{name}'")
    said = []
    for value in ('OFF', 'ON') if usual else ():
        site.server.sql(f'SET GLOBAL {name} = {value}')
        said.append(site.fairmill('check')[1])
    for _, value in usual:
        site.server.sql(f'SET GLOBAL {name} = {value}')
    supported, warned = said or (site.fairmill('check')[1], None)
    tap.ok(name not in supported, "'check' does not warn of a server that Slurm supports", supported)
    if usual:
        tap.ok(f"  warning: the server uses '{name} = ON', which Slurm does not support\n" in warned,
               "'check' warns of an unsupported setting", warned)


def commands(site):
    for command in (('check',), ('run', '--now', NOW), ('show',), ('status', '--max-age', '9999d'), ('init',)):
        site.goes_well(f"the role writer is enough for '{command[0]}'", *command)
    warns_of_isolation(site)
    site.server.sql('DROP VIEW fairmill_sshare; DROP TABLE fairmill_finding', RESULTS)
    status, _, err = site.fairmill('init')
    tap.ok(status == 78 and 'denied' in err, 'a writer cannot create tables', status, err)
    site.role('fairmill_owner')
    site.goes_well('an owner creates missing tables', 'init')
    site.goes_well('an owner can run', 'run', '--now', NOW + 1)
    site.role('fairmill_writer')
    site.goes_well('a writer writes the tables that the owner created', 'run', '--now', NOW + 2)
    site.server.sql(f'CREATE USER {READER}@localhost; GRANT fairmill_reader TO {READER}@localhost; '
                    + default_role('fairmill_reader', f'{READER}@localhost'))
    site.write(f'{site.folder}/reader.conf', READER)
    for command in (('show',), ('show', '--json=slurm'), ('status', '--max-age', '9999d')):
        site.goes_well(f"the role reader is enough for '{' '.join(command)}'", *command, conf=f'{site.folder}/reader.conf')
    status, _, err = site.fairmill('run', '--now', NOW + 3, conf=f'{site.folder}/reader.conf')
    tap.ok(status == 78, 'a reader cannot run', status, err)
    account = f"'{READER}'@'localhost'"
    tap.ok(f"GRANT SELECT ON `{SOURCE}`.`cluster_table` TO {account}; " in err and '`qos_table`' in err
           and 'init --print' in err and err.count('\n') == 1,
           'the error for a reader contains the GRANTs on the source', err)
    status, _, err = site.fairmill('init', conf=f'{site.folder}/reader.conf')
    tap.ok(status == 78 and f'GRANT fairmill_owner TO {account}' in err,
           'the error for a reader names the role that init needs', status, err)
    site.server.sql(f'GRANT ALL ON roles_none.* TO {READER}@localhost')
    site.write(f'{site.folder}/none.conf', READER, database='roles_none')
    for command in ('init', 'show'):
        status, _, err = site.fairmill(command, conf=f'{site.folder}/none.conf')
        tap.ok(status == 78 and "'roles_none'" in err and 'must be created first' in err,
               f"the error of '{command}' explains how to create the database", status, err)


def private(site):
    """The settings belong to root and are readable by all users, so the login decides."""
    def write(user):
        name = f'{site.folder}/private.conf'
        site.write(name, user)
        with open(name, 'r+', encoding='utf-8') as file:
            text = file.read().replace('[report]', '[report]\nprivate = yes')
            file.seek(0)
            file.write(text)
        return name
    site.goes_well('a writer makes results private', 'run', '--now', NOW + 3, conf=write(LOGIN))
    site.goes_well('a writer sees all results', 'verify', conf=write(LOGIN))
    if os.getuid():
        return
    status, _, err = site.fairmill('verify', conf=write(READER))
    tap.ok(status == 64 and 'private' in err, 'a reader sees only results that are not private', status, err)


def definers(site):
    """Readers never depend on a person's account.  If a definer is missing, monitors report a
    problem."""
    views = f"SELECT DISTINCT definer FROM information_schema.views WHERE table_schema = '{RESULTS}' AND security_type = 'DEFINER'"
    tap.ok(all(definer.startswith('fairmill_owner') for definer, in site.server.sql(views)), 'views belong to the role',
           site.server.sql(views))
    site.server.sql(f"CREATE USER somebody@localhost; GRANT ALL ON {RESULTS}.* TO somebody@localhost")
    site.write(f'{site.folder}/somebody.conf', 'somebody')
    shared = ['-c', f'{site.folder}/somebody.conf']
    by_somebody = lambda *command: subprocess.run([site.program, *shared, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                  text=True, check=False)
    done = by_somebody('init')
    tap.ok(done.returncode == 0, 'init by a personal login creates the views', done.stderr)
    tap.same(site.query(READER, 'SELECT count(*) FROM fairmill_sshare'), 'done',
             'readers can read the views of a personal login')
    site.server.sql('DROP USER somebody@localhost')
    tap.ok(site.query(READER, 'SELECT count(*) FROM fairmill_sshare') != 'done',
           'readers cannot read the views after the account is removed')
    for status, *command in ((1, 'status', '--max-age', '9999d'), (2, 'status', '--nagios', '--max-age', '9999d'), (78, 'verify'),
                             (78, 'check'), (78, 'run', '--now', NOW + 4)):
        got, out, err = site.fairmill(*command)
        tap.ok(got == status and '`fairmill init`' in out + err and 'GRANT fairmill_writer' not in err,
               f"'{command[0]}' ends with {status} and suggests fairmill init", got, out, err)
    site.role('fairmill_owner')
    site.goes_well('init by the role creates the views again', 'init')
    site.role('fairmill_writer')
    site.goes_well('a writer does not change the views', 'init')
    tap.same(site.query(READER, 'SELECT count(*) FROM fairmill_sshare'), 'done', 'readers can read the new views')
    site.goes_well('status succeeds with the new views', 'status', '--max-age', '9999d')


def powers(site):
    for role, who in (('owner', LOGIN), ('writer', LOGIN), ('reader', READER)):
        if who == LOGIN:
            site.role(f'fairmill_{role}')
        if role != 'owner':
            site.server.sql(f'{MADE}; CREATE VIEW scratched AS SELECT a FROM scratch', RESULTS)
        for what, sql, allowed in POWERS:
            can = role[0] in allowed
            if what == 'make a table' and not can:
                sql = sql.replace('scratch', 'another')
            tap.same(site.query(who, sql), 'done' if can else 'denied', f"{role}s {'can' if can else 'cannot'} {what}")
        site.server.sql('DROP VIEW IF EXISTS scratched; DROP TABLE IF EXISTS scratch', RESULTS)
        for what, sql in FORBIDDEN:
            tap.same(site.query(who, sql), 'denied', f'{what}: forbidden to {role}s')
    tap.same(site.query(READER, f'SELECT id_assoc FROM {SOURCE}.alpha_assoc_table'), 'denied',
             'a reader of the results cannot read the source')
    site.role('fairmill_writer')
    tap.same(site.query(LOGIN, f"SELECT {', '.join(f'`{name}`' for name in JOB_COLUMNS)} FROM {SOURCE}.alpha_job_table"), 'done',
             'the login may read the usage of jobs')


def missing(site):
    """The GRANT in a message is the missing one, and can be executed unchanged."""
    account = f"'{LOGIN}'@'localhost'"
    columns = ', '.join(f'`{name}`' for name in sorted(JOB_COLUMNS))
    for privilege, table in (('SELECT', 'cluster_table'), ('SELECT', 'qos_table'),
                             ('SELECT', 'alpha_assoc_table'),
                             ('SELECT', 'alpha_event_table'), (f'SELECT ({columns})', 'alpha_job_table')):
        site.server.sql(f'REVOKE {privilege} ON {SOURCE}.{table} FROM {account}')
        helped(site, table, 'source')
    site.server.sql(f'REVOKE {MONITOR} ON *.* FROM {account}')
    helped(site, MONITOR, 'source')
    for table, privileges in (('fairmill_finding', 'INSERT, UPDATE, DELETE'), ('fairmill_ledger', 'INSERT')):
        site.server.sql(f'REVOKE {privileges} ON {RESULTS}.{table} FROM fairmill_writer')
    helped(site, 'writing a table', 'results', f'`{RESULTS}`.`fairmill_finding`')
    (user, acct), *_ = site.server.sql("SELECT user, acct FROM alpha_assoc_table WHERE user <> '' AND `partition` = ''",
                                       SOURCE)
    status, _, err = site.fairmill('ledger', 'credit', 5, '-u', user, '-A', acct, '-w', 'x', '-y')
    tap.ok(status == 78 and f'GRANT SELECT, INSERT ON `{RESULTS}`.`fairmill_ledger` TO' in err,
           'the GRANT for the ledger is only for adding rows', status, err)
    site.server.sql(f'REVOKE fairmill_writer FROM {account}')
    helped(site, RESULTS, 'results', 'fairmill_writer')
    site.server.sql(f"REVOKE SELECT ON {SOURCE}.tres_table FROM {account}; "
                    f"UPDATE {SOURCE}.alpha_assoc_table SET grp_tres_mins = '1001=600' WHERE user = ''")
    helped(site, 'tres_table', 'limits', 'tres_table')
    site.write(**MORE)
    for table in MORE_TABLES:
        helped(site, table, 'source', last=table == MORE_TABLES[-1])
    for table in ROLLUPS:
        site.write(source='rollup')
        site.server.sql(f'REVOKE SELECT ON {SOURCE}.{table} FROM {account}')
        helped(site, table, 'source = rollup', table)
    site.write(**MORE)
    status, printed, err = site.fairmill('init', '--print')
    tap.ok(status == 0 and all(f'`{table}` TO' in printed for table in MORE_TABLES),
           'init --print has all GRANTs of these settings', err)


def all_at_once(site):
    """`check` prints every missing GRANT, for the login as the server knows it."""
    account = f"'{LOGIN}'@'localhost'"
    site.write()
    tables = ('cluster_table', 'qos_table', 'alpha_assoc_table', 'alpha_event_table', 'alpha_job_table', 'alpha_last_ran_table',
              'tres_table')
    for table in tables:
        site.server.sql(f'REVOKE ALL PRIVILEGES ON {SOURCE}.{table} FROM {account}')
    status, out, err = site.fairmill('check')
    found = re.findall(r'^    (GRANT .*);$', out, re.M)
    tap.ok(status == 78 and all(any(f'`{table}` TO {account}' in line for line in found) for table in tables),
           'check prints all missing GRANTs', status, out, err)
    tap.ok('next: run the GRANTs above' in out, 'check suggests to run these GRANTs', out)
    site.server.sql('; '.join(found))
    status, out, err = site.fairmill('check')
    tap.ok(status == 0 and 'GRANT' not in out and f'readable by {LOGIN}@localhost' in out, 'check succeeds after the GRANTs', status, out, err)
    # If anything is private, runs also read coordinators and operators.
    site.write()
    with open(site.conf, 'r+', encoding='ascii') as file:
        text = file.read()
        file.seek(0)
        file.write(text.replace('[report]\n', '[report]\nprivate = usage\n'))
    status, out, err = site.fairmill('check')
    found = re.findall(r'^    (GRANT .*);$', out, re.M)
    tap.ok(status == 0 and len(found) == 2 and 'acct_coord_table' in out and 'user_table' in out,
           'check prints GRANTs for coordinators, without which runs succeed', status, out, err)
    site.server.sql('; '.join(found))
    status, out, err = site.fairmill('check')
    tap.ok(status == 0 and 'GRANT' not in out, 'check is silent after the GRANTs for coordinators', status, out, err)
    site.goes_well('a run reads coordinators', 'run', '--now', NOW + 20)


def helped(site, what, side, named='', last=True):
    status, _, err = site.fairmill('run', '--now', NOW + 10)
    found = re.search(rf"GRANT .* '{LOGIN}'@'localhost'", err)
    if tap.ok(status == 78 and found and named in found.group(0) and err.count('\n') == 1,
              f'without {what} the error contains the GRANT ({side})', status, err):
        site.server.sql(found.group(0))
        if last:
            site.goes_well('the GRANT in the error is enough for a run', 'run', '--now', NOW + 10)


def passwords_need_tls(site):
    """MySQL's library requires TLS for passwords of MySQL's default type.  This server runs without TLS."""
    linked = subprocess.run(['ldd', site.program], stdout=subprocess.PIPE, text=True, check=True).stdout
    if not IS_MYSQL or 'libmysqlclient' not in linked:
        return
    site.server.sql("CREATE USER roles_remote@'127.0.0.1' IDENTIFIED BY 'x'")
    with open(f'{site.folder}/remote.cnf', 'w', encoding='ascii') as file:
        file.write('[client]\npassword = x\n')
    keys = dict(driver='mysql', host='127.0.0.1', port=site.server.port, user='roles_remote', database=RESULTS,
                option_file=file.name, tls_mode='off')
    write_settings(f'{site.folder}/remote.conf', dict(source=keys, results=keys))
    status, _, err = site.fairmill('show', conf=f'{site.folder}/remote.conf')
    tap.ok(status == 78 and "tls_mode = 'off'" in err and 'GRANT' not in err,
           'the error for a login without TLS names tls_mode and no GRANT', status, err)


def refused_at_once(site):
    """The server may close the connection before the client library has completed its login."""
    library = preload.make(site.folder, 'late', LATE)
    late = ('env', *(f'{name}={preload.environment(library)[name]}' for name in ('LD_PRELOAD', 'ASAN_OPTIONS')))
    for what, user, database, said in (('has no such database', READER, 'roles_none', 'must be created first'),
                                       ('rejects the login', 'roles_nobody', RESULTS, 'Access denied')):
        site.write(f'{site.folder}/refused.conf', user, database)
        status, _, err = site.as_login(*late, site.program, '-c', f'{site.folder}/refused.conf', 'show')
        tap.ok(status == 78 and said in err, f'the reason of a server that {what} is printed', status, err)


def body():
    with NewServer() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        subprocess.run(server.client(server.database(SOURCE)), input=dump.text_of('25.05'), text=True, check=True)
        site = Site(folder, server)
        for part in (printed_sql, commands, private, definers, powers, missing, all_at_once, passwords_need_tls, refused_at_once):
            part(site)


tap.main(body)
