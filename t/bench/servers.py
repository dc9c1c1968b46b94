# SPDX-License-Identifier: MIT
"""Private databases for benchmarks.  They are filled without durability, then restarted with the
settings of a production server, and measured.  The classes have the same methods; MariaDB has their
descriptions."""

import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))

import mariadb  # noqa: E402
import postgres  # noqa: E402
import site_drawing  # noqa: E402

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
LAYOUT = os.path.join(TOP, 't', 'data', 'layouts', 'slurmdbd-26.05.sql.xz')
STORED = {'clusters': 'cluster_table', 'qos': 'qos_table', 'tres': 'tres_table',
          'events': 'bench_event_table', 'associations': 'bench_assoc_table',
          'last-ran': 'bench_last_ran_table', 'months': 'bench_assoc_usage_month_table',
          'cluster-months': 'bench_usage_month_table', 'cluster-days': 'bench_usage_day_table',
          'days': 'bench_assoc_usage_day_table', 'hours': 'bench_assoc_usage_hour_table',
          'jobs': 'bench_job_table', 'changes': 'bench_job_table'}
FILLED = [table for table in STORED if table != 'changes']
DATABASES_FOR_RESULTS = ('results', 'rollup', 'other')


class Site:
    """The output of t/bench/site for one size."""

    def __init__(self, program, jobs, associations):
        self.command = [program, f'--jobs={jobs}', f'--associations={associations}']
        self.jobs, self.associations = jobs, associations

    def instant(self, step):
        return int(subprocess.check_output([*self.command, f'--step={step}', 'instant']))

    def columns(self, table):
        return subprocess.check_output([*self.command, 'columns', table], text=True).strip().split(',')

    def rows(self, table, step=0):
        """Starts a process that prints the rows of a table."""
        return subprocess.Popen([*self.command, f'--step={step}', table], stdout=subprocess.PIPE)

    def put(self, table, path, step=0):
        subprocess.run([*self.command, f'--step={step}', f'--sqlite={path}', table], check=True)


def feed(source, command):
    """Pipes the rows of a process into a client.  Raises RuntimeError if one of them fails."""
    done = subprocess.run(command, stdin=source.stdout, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    source.stdout.close()
    if done.returncode or source.wait():
        raise RuntimeError(f'{os.path.basename(command[0])}: {done.stderr.strip()}')


def quoted(columns, mark='"'):
    return ', '.join(f'{mark}{column}{mark}' for column in columns)


def processor_seconds(pid):
    """Returns the CPU seconds of a process and of its children that have ended."""
    with open(f'/proc/{pid}/stat', encoding='ascii') as file:
        fields = file.read().rpartition(')')[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf('SC_CLK_TCK')


class MariaDB(mariadb.Server):
    driver = 'mysql'
    LOGS = tuple((f'--log-bin=log --server-id=1 --binlog-format=ROW --binlog-row-image={image}', f'binlog_row_image = {image}')
                 for image in ('FULL', 'MINIMAL'))
    alone = True

    def __init__(self, megabytes):
        super().__init__()
        common = (f'--innodb-buffer-pool-size={megabytes}M --innodb-log-file-size=1G '
                  '--local-infile=1 --tmpdir=/tmp')
        self.options = common.split()
        self.measuring = (f'{common} --innodb-flush-log-at-trx-commit=1 '
                          '--innodb-flush-method=O_DIRECT')
        self.described = (f'buffer pool {megabytes} MiB, redo log 1 GiB, O_DIRECT, '
                          'innodb_flush_log_at_trx_commit = 1, no binlog')

    def version(self):
        return 'MariaDB ' + self.sql('SELECT version()')[0][0]

    def restart(self, options=''):
        self.end()
        self.options = f'{self.measuring} {options}'.split()
        self.start()

    def _load(self, site, table, step=0, replace=''):
        columns = site.columns(table)
        feed(site.rows(table, step),
             [*self.client('acct'), '--local-infile', '-e',
              'SET unique_checks = 0, foreign_key_checks = 0; '
              f"LOAD DATA LOCAL INFILE '/dev/stdin' {replace} INTO TABLE {STORED[table]} "
              f"CHARACTER SET latin1 ({quoted(columns, '`')})"])

    def _make_tables(self):
        """Creates the tables.  Returns the SQL that creates the indexes of the job table, which is
        faster after the rows are loaded."""
        with lzma.open(LAYOUT, 'rt', encoding='latin1') as file:
            tables = re.findall(r'^(CREATE TABLE `(?!beta).*?\n\)[^\n]*;)', file.read(), re.M | re.S)
        key = r',\n  ((?:UNIQUE )?KEY [^\n]*?)(?=,?\n)'
        for table in tables:
            table = table.replace('`alpha_', '`bench_')
            if '`bench_job_table`' in table:
                later = ', '.join(f'ADD {found}' for found in re.findall(key, table))
                table = re.sub(key, '', table)
            self.sql(table, 'acct')
        return f'ALTER TABLE bench_job_table {later}'

    def fill(self, site):
        """Creates and fills the accounting database `acct`, and creates the databases for
        results."""
        self.sql('CREATE DATABASE acct CHARACTER SET latin1')
        for name in DATABASES_FOR_RESULTS:
            self.database(name)
        later = self._make_tables()
        for table in FILLED:
            self._load(site, table)
        self.sql(later, 'acct')
        self.sql('ANALYZE TABLE ' + ', '.join(set(STORED.values())), 'acct')
        self.restart()

    def step(self, site, step):
        """Adds and changes the job rows of a step."""
        self._load(site, 'changes', step, 'REPLACE')

    def sections(self, results='results'):
        """Returns the sections [source] and [results] of the settings."""
        return self.connection('acct'), self.connection(results)

    def counters(self):
        """Returns sums since the start of the server: bytes of log, rows read, rows written, pages
        requested, pages read, and CPU seconds."""
        log = sum(int(row[1]) for row in self.sql('SHOW BINARY LOGS'))
        told = {name: int(value) for name, value in self.sql(
            "SHOW GLOBAL STATUS WHERE variable_name LIKE 'Handler%' OR variable_name LIKE 'Innodb_buffer_pool_read%'") if value.isdigit()}
        return (log, sum(value for name, value in told.items() if name.startswith('Handler_read_') and 'retry' not in name),
                sum(told[f'Handler_{what}'] for what in ('write', 'update', 'delete')), told['Innodb_buffer_pool_read_requests'],
                told['Innodb_buffer_pool_reads'], processor_seconds(self.pid))

    def places(self):
        """Returns the source and the results database in the form that t/bench/database accepts."""
        return f'{self.socket}:acct', f'{self.socket}:results'

    def stock(self, query):
        """Returns commands of the stock client that print the rows of a query, by name."""
        return {'mariadb --quick': [*self.client('acct'), '--quick',
                                    "--init-command=SET sql_mode = 'ANSI_QUOTES'", '-e', query]}


class PostgreSQL(postgres.Postgres):
    driver = 'pgsql'
    LOGS = (('', 'wal_level = replica'),)
    alone = True

    def __init__(self, megabytes):
        super().__init__()
        common = f'-c shared_buffers={megabytes}MB -c max_wal_size=8GB -c maintenance_work_mem=512MB'
        self.options = f'{common} -c wal_level=minimal -c max_wal_senders=0'.split()
        self.measuring = (f'{common} -c fsync=on -c full_page_writes=on -c synchronous_commit=on '
                          '-c wal_level=replica')
        self.described = (f'shared_buffers {megabytes} MiB, max_wal_size 8 GiB, fsync, '
                          'synchronous_commit, wal_level replica')

    def version(self):
        return 'PostgreSQL ' + self.sql('SHOW server_version')[0][0]

    restart = MariaDB.restart

    def _copy(self, site, table, step=0, into=None):
        columns = site.columns(table)
        feed(site.rows(table, step),
             [*self.client('acct'), '-c',
              f'COPY "{into or STORED[table]}" ({quoted(columns)}) FROM STDIN'])

    def fill(self, site):
        for name in ('acct', *DATABASES_FOR_RESULTS):
            self.database(name)
        ddl = site_drawing.slurmdbd_tables('pgsql').replace('@CLUSTER@', 'bench')
        later = re.findall(r'^CREATE INDEX "bench_job_[^;]*;', ddl, re.M)
        self.sql(re.sub(r'^CREATE INDEX "bench_job_[^;]*;', '', ddl, flags=re.M), 'acct')
        for table in FILLED:
            self._copy(site, table)
        for index in later:
            self.sql(index, 'acct')
        self.sql('VACUUM (FREEZE, ANALYZE)', 'acct')
        self.restart()

    def counters(self):
        """Waits two seconds, because a session reports its statistics when it ends.  Pages that
        count as read may come from the cache of the system."""
        time.sleep(2)
        log, = self.sql("SELECT pg_current_wal_lsn() - '0/0'")[0]
        told = self.sql('SELECT SUM(tup_returned), SUM(tup_inserted + tup_updated + tup_deleted), SUM(blks_hit + blks_read), SUM(blks_read) '
                        'FROM pg_stat_database')[0]
        return int(log), *map(int, told), processor_seconds(self.pid)

    def step(self, site, step):
        self.sql('CREATE TABLE changes (LIKE bench_job_table INCLUDING DEFAULTS)', 'acct')
        self._copy(site, 'changes', step, 'changes')
        self.sql('BEGIN; DELETE FROM bench_job_table WHERE job_db_inx IN (SELECT job_db_inx FROM changes);'
                 ' INSERT INTO bench_job_table SELECT * FROM changes; DROP TABLE changes; COMMIT', 'acct')

    def sections(self, results='results'):
        return self.connection('acct'), self.connection(results)

    def places(self):
        return tuple(f'host={self.socket} user=postgres dbname={name}' for name in ('acct', 'results'))

    def stock(self, query):
        return {'psql, COPY': [*self.client('acct'), '-c', f'COPY ({query}) TO STDOUT'],
                'psql, FETCH_COUNT': [*self.client('acct'), '--set=FETCH_COUNT=10000', '-c', query]}


class SQLite:
    driver = 'sqlite'
    described = 'page cache of the system; results with synchronous = FULL, write-ahead log'

    def __init__(self, megabytes):
        del megabytes

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix='fm.', dir='/tmp')
        self.source = os.path.join(self.folder, 'acct.db')
        self.results = os.path.join(self.folder, 'results.db')
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def sql(self, text, database=None):
        path = self.results if database == 'results' else self.source
        done = subprocess.run(['sqlite3', '-batch', path], input=text, text=True,
                              stdout=subprocess.PIPE, check=True)
        return [line.split('|') for line in done.stdout.splitlines()]

    def version(self):
        return 'SQLite ' + self.sql('SELECT sqlite_version();')[0][0]

    def fill(self, site):
        ddl = site_drawing.slurmdbd_tables('sqlite').replace('@CLUSTER@', 'bench')
        later = re.findall(r'^CREATE INDEX "bench_job_[^;]*;', ddl, re.M)
        fast = 'PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000;\n'
        self.sql(fast + re.sub(r'^CREATE INDEX "bench_job_[^;]*;', '', ddl, flags=re.M))
        for table in FILLED:
            site.put(table, self.source)
        self.sql(fast + '\n'.join(later) + '\nANALYZE;')

    def step(self, site, step):
        site.put('changes', self.source, step)

    def sections(self, results='results'):
        return (dict(driver='sqlite', database=self.source),
                dict(driver='sqlite', database=os.path.join(self.folder, f'{results}.db')))

    def places(self):
        return self.source, self.results

    def stock(self, query):
        return {'sqlite3': ['sqlite3', '-batch', self.source, query]}


DATABASES = {kind.driver: kind for kind in (MariaDB, PostgreSQL, SQLite)}
