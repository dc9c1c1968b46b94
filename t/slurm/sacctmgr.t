#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests a complete site: shares set with sacctmgr, slurmdbd's own tables, and a login with only the
GRANTs that `fairmill init --print` prints.  Then a run from the crontab line under a user who is
not root, and plain SQL that reads the results."""

import os
import pwd
import re
import shlex
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from mariadb import CLIENT
from program import FAIRMILL, TOP, copy_program, write_settings
from slurmdbd import Slurmdbd

RESULTS = 'fairmill_results'
SECRET = 'only for this test'


class Site:
    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        self.conf = f'{folder}/fairmill.conf'
        self.ended = int(time.time()) - 3600
        self.user = 'nobody' if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name

    def make(self):
        manage = self.server.sacctmgr
        for cluster in ('mill', 'spare-1'):
            manage('add', 'cluster', cluster)
            for account, shares in (('physics', 60), ('chemistry', 40)):
                manage('add', 'account', account, f'cluster={cluster}', f'fairshare={shares}',
                       'description=d', 'organization=o')
        for user, account, shares in (('alice', 'physics', 10), ('bob', 'physics', 10),
                                      ('carol', 'chemistry', 1)):
            manage('add', 'user', user, f'account={account}', 'cluster=mill', f'fairshare={shares}')
        manage('add', 'user', 'dora', 'account=physics', 'cluster=spare-1', 'fairshare=5')

    def job(self, user, seconds, billing):
        """Inserts a job as the controller would have reported it.  All jobs end at the same
        time."""
        end = self.ended
        self.server.sql(
            f'{self.server.LENIENT} INSERT INTO mill_job_table (job_name, id_assoc, id_job, id_qos, id_resv, id_wckey, id_user, id_group, het_job_id, '
            'het_job_offset, cpus_req, nodes_alloc, `partition`, priority, state, state_reason_prev, time_submit, time_eligible, '
            "time_start, time_end, tres_alloc) SELECT 'j', id_assoc, id_assoc, 1, 0, 0, 0, 0, 0, 0, 1, 1, 'p', 1, 3, 0, "
            f"{end - seconds}, {end - seconds}, {end - seconds}, {end}, '1={billing},5={billing}' FROM mill_assoc_table "
            f"WHERE user = '{user}'", self.server.accounting)

    def settings(self, **usage):
        """Writes settings for two logins, each with a password in the user's own option file."""
        def connection(login, database):
            path = f'{self.folder}/{login}.cnf'
            with open(path, 'w', encoding='ascii') as file:
                file.write(f'[client]\npassword = "{SECRET}"\n')
            os.chmod(path, 0o600)
            if os.geteuid() == 0:
                os.chown(path, pwd.getpwnam(self.user).pw_uid, -1)
            return dict(driver='mysql', socket=self.server.socket, user=login, database=database,
                        option_file=path)
        write_settings(self.conf, dict(source=connection('fm_source', self.server.accounting),
                                       results=connection('fm_results', RESULTS), usage=usage))

    def grant(self):
        """Executes the output of init --print as the databases' administrator; returns the number
        of GRANTs."""
        for login in ('fm_source', 'fm_results'):
            self.server.sql(f"DROP USER IF EXISTS '{login}'@'localhost'; CREATE USER '{login}'@'localhost' IDENTIFIED BY '{SECRET}'")
        printed = subprocess.run([FAIRMILL, '-c', self.conf, 'init', '--print', '--cluster', 'mill',
                                  '--cluster', 'spare-1'],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
        self.server.sql(printed)
        self.role('fairmill_owner')
        return len(re.findall(r'^GRANT SELECT.* TO .fm_source.@', printed, re.MULTILINE))

    def role(self, name):
        self.server.sql(f"GRANT {name} TO 'fm_results'@'localhost'; SET DEFAULT ROLE {name} FOR 'fm_results'@'localhost'")

    def run(self, *command):
        """Runs the command line as that user with cron's environment; returns (status, output)."""
        environment, line = crontab()
        if command:
            line = ' '.join(('fairmill', *command))
        bin_folder = f'{self.folder}/bin'
        os.makedirs(bin_folder, exist_ok=True)
        if not os.path.exists(f'{bin_folder}/fairmill'):
            # other users may not have access to the build directory
            copy_program(bin_folder)
        environment = dict(environment, PATH=f"{bin_folder}:{environment['PATH']}", HOME='/',
                           LOGNAME=self.user,
                           FAIRMILL_CONF=self.conf)
        become = ['runuser', '-u', self.user, '--'] if os.geteuid() == 0 else []
        done = subprocess.run(['env', '-i', *(f'{k}={v}' for k, v in environment.items()), *become,
                               environment['SHELL'], '-c', line],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, cwd='/', check=False)
        return done.returncode, done.stdout

    def read(self, columns, where):
        return self.server.sql(f"SELECT {columns} FROM fairmill_fairshare WHERE {where} ORDER BY cluster, id_assoc", RESULTS)


def crontab():
    """Returns the environment and the run command of the file that sites copy."""
    environment, commands = {}, []
    with open(os.path.join(TOP, 'cron', 'fairmill.cron'), encoding='ascii') as file:
        for line in file.read().splitlines():
            setting = re.fullmatch(r'([A-Z_]+)=(.*)', line)
            entry = re.fullmatch(r'(?:[-*/,0-9]+\s+){5}(\S+)\s+(.*)', line)
            if setting:
                environment[setting[1]] = setting[2]
            elif entry:
                commands.append(entry[2])
    if [command.split()[1] for command in commands] != ['run', 'verify'] or 'PATH' not in environment or 'SHELL' not in environment:
        raise ValueError(f'cron/fairmill.cron: {commands} {environment}')
    return environment, commands[0]


def good(site, statement):
    status, said = site.run()
    tap.same((status, said), (0, ''), statement)


def first_run(site):
    site.make()
    site.job('alice', 1000, 4)
    site.job('bob', 1000, 2)
    site.job('carol', 500, 4)
    site.settings()
    tap.ok(site.grant() >= 8, 'init --print prints a GRANT for each table that is read')
    tap.same(site.run('init'), (0, ''), 'the owner of the results creates the tables')
    site.server.sql("REVOKE fairmill_owner FROM 'fm_results'@'localhost'")
    site.role('fairmill_writer')
    # Cron adds the schedule.  This test covers the command and its environment.
    good(site, 'a run from the crontab line, not as root, is silent')
    tap.same(site.read('cluster, account, user_name', "user_name <> ''"),
             [['mill', 'root', 'root'], ['mill', 'physics', 'alice'], ['mill', 'physics', 'bob'],
              ['mill', 'chemistry', 'carol'],
              ['spare-1', 'root', 'root'], ['spare-1', 'physics', 'dora']],
              'users added with sacctmgr are published on both clusters')
    tap.same(site.read('shares, level_shares_norm', "user_name = 'alice'"), [['10', '0.5']],
             'the shares are published')
    (alice,), = site.read('usage_raw', "user_name = 'alice'")
    (bob,), = site.read('usage_raw', "user_name = 'bob'")
    tap.ok(3900 < float(alice) < 4000 and float(alice) == 2 * float(bob),
           'the slightly decayed usage is published', alice, bob)
    status, said = site.run('check')
    tap.ok(status == 0, 'check finds no errors', status, said)
    status, said = site.run('show', '--parsable', '--user', 'alice')
    tap.ok(status == 0 and '|physics|alice|' in said, 'the cron user may show the results', said)


def privileges(site):
    """The login for the accounting database has no other privileges."""
    def attempt(sql):
        done = subprocess.run([*CLIENT, f'--socket={site.server.socket}',
                               '--user=fm_source',
                               f'--password={SECRET}', site.server.accounting], input=sql,
                               text=True, capture_output=True, check=False)
        return done.returncode, done.stderr
    tap.same(attempt('SELECT count(*) FROM mill_assoc_table')[0], 0,
             'the login may read associations')
    # Slurm 20.11 does not record command lines.
    command_lines = ('submit_line' if 'submit_line' in site.server.columns('mill_job_table', site.server.accounting) else 'work_dir')
    for sql, what in (('UPDATE mill_assoc_table SET shares = 1', 'write'),
                      ('SELECT * FROM mill_job_script_table', "read users' scripts"),
                      ('SELECT * FROM mill_job_env_table', "read users' environments"),
                      ('SELECT * FROM mill_step_table', 'read steps'),
                      (f'SELECT {command_lines} FROM mill_job_table', "read users' command lines, or folders"),
                      ('DROP TABLE qos_table', 'drop'),
                      (f'SELECT * FROM {RESULTS}.fairmill_fairshare', 'read the results')):
        status, said = attempt(sql)
        tap.ok(status and 'denied' in said, f'the login cannot {what}', said)


def foretold(site):
    """The output of whatif has the predicted effect, and no other."""
    def rows():
        return sorted(site.server.sql("SELECT acct, `partition`, shares FROM mill_assoc_table WHERE user = 'vikram' "
                                      'AND deleted = 0', site.server.accounting))

    def follow(*arguments):
        good(site, 'a run before whatif is silent')
        status, said = site.run('whatif', *arguments)
        lines = [shlex.split(line) for line in said.splitlines() if line.startswith('sacctmgr')]
        tap.ok(not status and lines, f"whatif {' '.join(arguments)} prints commands", status, said)
        for line in lines:
            site.server.sacctmgr(*line[1:])

    manage = site.server.sacctmgr
    for account, shares, *more in (('chemistry', 1), ('chemistry', 3, 'partition=gpu'), ('chemistry', 4, 'partition=cpu'),
                                   ('physics', 2)):
        manage('add', 'user', 'vikram', f'account={account}', 'cluster=mill', f'fairshare={shares}', *more)
    follow('--cluster=mill', '--shares', 'chemistry/vikram=9')
    tap.same(rows(), [['chemistry', '', '9'], ['chemistry', 'cpu', '4'], ['chemistry', 'gpu', '3'], ['physics', '', '2']],
             'a change without a partition keeps shares with a partition')
    follow('--cluster=mill', '--shares', 'chemistry/vikram/gpu=7', '--shares', 'physics/vikram=8')
    tap.same(rows(), [['chemistry', '', '9'], ['chemistry', 'cpu', '4'], ['chemistry', 'gpu', '7'], ['physics', '', '8']],
             'a change with a partition keeps the other shares')
    follow('--cluster=mill', '--remove-user', 'chemistry/vikram')
    tap.same(rows(), [['physics', '', '8']], 'a user with several partitions is removed from its default account')
    for partition in ('gpu', 'cpu'):
        manage('add', 'user', 'vikram', 'account=physics', 'cluster=mill', f'partition={partition}')
    manage('add', 'user', 'vikram', 'account=chemistry', 'cluster=mill', 'partition=gpu')
    follow('--cluster=mill', '--remove-user', 'vikram')
    tap.same(rows(), [], 'a user is removed from all accounts')


def changes(site):
    manage = site.server.sacctmgr
    before = site.read('fairshare, level_fs', "user_name IN ('alice', 'bob')")
    manage('modify', 'user', 'alice', 'account=physics', 'set', 'fairshare=30')
    good(site, 'after a change of shares a run is silent')
    after = site.read('fairshare, level_fs', "user_name IN ('alice', 'bob')")
    tap.same(site.read('shares, level_shares_norm', "user_name IN ('alice', 'bob')"),
             [['30', '0.75'], ['10', '0.25']],
             'plain SQL shows the new shares')
    tap.ok(float(before[0][0]) < float(before[1][0]) and float(after[0][0]) > float(after[1][0]),
           'plain SQL shows that alice has overtaken bob', before, after)
    manage('modify', 'account', 'chemistry', 'set', 'fairshare=parent')
    good(site, 'after parent shares a run is silent')
    tap.same(site.server.sql("SELECT rawshares FROM fairmill_sshare WHERE cluster = 'mill' AND account = 'chemistry' AND username = ''", RESULTS),
             [['parent']], 'the view shows parent')
    (whole,), = site.read('usage_raw',
                          "cluster = 'mill' AND account = 'physics' AND user_name = ''")
    manage('delete', 'user', 'bob')
    good(site, 'after a user was deleted a run is silent')
    tap.same(site.read('user_name', "account = 'physics' AND user_name <> '' AND cluster = 'mill'"),
             [['alice']], 'the deleted user has no row')
    (left,), = site.read('usage_raw', "cluster = 'mill' AND account = 'physics' AND user_name = ''")
    tap.ok(abs(float(left) / float(whole) - 1) < 1e-3,
           "the deleted user's usage stays with the account", left, whole)
    manage('delete', 'cluster', 'spare-1')
    # Within a day of its creation, slurmdbd deletes the row instead of marking it as deleted.
    status, said = site.run()
    tap.ok(status == 65 and "'spare-1'" in said and 'forget' in said,
           'the error names a cluster whose row slurmdbd deleted', status, said)
    tap.ok(site.server.sql("SELECT count(*) FROM fairmill_run WHERE cluster = 'spare-1'",
                           RESULTS)[0][0] != '0', 'the runs of the missing cluster stay recorded')
    tap.same(site.run('forget', '--cluster', 'spare-1', '--yes')[0], 0, 'forget deletes the missing cluster')
    good(site, 'after forget a run is silent')
    tap.same(site.server.sql('SELECT DISTINCT cluster FROM fairmill_fairshare', RESULTS),
             [['mill']], 'the deleted cluster has no rows')


def without(site):
    """Tests a missing privilege and a wrong password."""
    site.server.sql(f"REVOKE SELECT ON {site.server.accounting}.qos_table FROM 'fm_source'@'localhost'")
    status, said = site.run()
    tap.ok(status == 78 and 'GRANT SELECT' in said and 'qos_table' in said,
           'the error for a missing privilege contains the GRANT', status, said)
    tap.same(site.server.sql('SELECT DISTINCT cluster FROM fairmill_fairshare', RESULTS),
             [['mill']], 'a failed run keeps the old results')
    grant = re.search(r'GRANT SELECT[^;\n]*? ON \S+ TO [^\s;]+', said)
    if tap.ok(grant, 'the printed GRANT is valid SQL', said):
        site.server.sql(grant[0])
        good(site, 'a run with the new privilege is silent')
    site.server.sql("ALTER USER 'fm_source'@'localhost' IDENTIFIED BY 'another'")
    status, said = site.run()
    tap.ok(status == 78 and 'fm_source' in said and SECRET not in said,
           'the error for a wrong password does not contain the password', status, said)


def body():
    with Slurmdbd() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        os.chmod(folder, 0o755)
        site = Site(server, folder)
        try:
            for part in (first_run, privileges, foretold, changes, without):
                part(site)
        finally:
            server.sql(f'DROP DATABASE IF EXISTS {RESULTS}')
            for login in ('fm_source', 'fm_results'):
                server.sql(f"DROP USER IF EXISTS '{login}'@'localhost'")


tap.main(body)
