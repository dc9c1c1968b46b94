#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests tls_mode and tls_ca.  Each mode must give its protection, or a run ends with 78 and the
reason."""

import contextlib
import os
import subprocess
import select
import shutil
import socket
import sqlite3
import struct
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from mariadb import IS_MYSQL, NAME, NewServer, library_is_mysql
from postgres import NewPostgres
from program import fairmill, write_settings

def _openssl(*arguments):
    done = subprocess.run(['openssl', *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"openssl {' '.join(arguments)}: {done.stdout}")


_KEY = ('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes')


class Authority:
    """A certificate authority; its own certificate is the file `path`."""

    def __init__(self, folder, name):
        self.base, self.name = os.path.join(folder, name), name
        self.path = f'{self.base}.crt'
        _openssl('req', '-x509', *_KEY, '-keyout', f'{self.base}.key', '-out', self.path, '-days', '2',
                 '-subj', f'/CN=authority {name}')

    def sign(self, address, owner):
        """Returns (certificate, key) for a server at an IP address that runs as this user."""
        base = f'{self.base}-{address}'
        with open(f'{base}.ext', 'w', encoding='ascii') as file:
            file.write(f'subjectAltName=IP:{address}\n')
        _openssl('req', *_KEY, '-keyout', f'{base}.key', '-out', f'{base}.csr', '-subj', f'/CN={address}')
        _openssl('x509', '-req', '-in', f'{base}.csr', '-CA', self.path, '-CAkey', f'{self.base}.key',
                 '-CAcreateserial', '-days', '2', '-extfile', f'{base}.ext', '-out', f'{base}.crt')
        if os.getuid() == 0:
            shutil.chown(f'{base}.key', owner)
        return f'{base}.crt', f'{base}.key'


# Client libraries make exceptions for localhost and 127.0.0.1, but not for these addresses.  The
# servers' certificates name the first.
NAMED, NAMELESS = '127.0.0.2', '127.0.0.3'
LOGIN = 'tls_login'
PATIENCE = 30  # a connection is rejected at once, regardless of the deadline

# The name of an account is the cipher of the session that reads it.
USED = 'CREATE TABLE used (cluster VARCHAR(9), id INTEGER, time_start BIGINT, time_end BIGINT, charge INTEGER)'
ASSOCIATIONS = '''CREATE VIEW associations AS
    SELECT 'c' AS cluster, 1 AS id, NULL AS parent_id, 'root' AS account, '' AS user_name,
        '' AS partition_name, 1 AS shares, 0 AS deleted
    UNION ALL SELECT 'c', 2, 1, ({cipher}), '', '', 1, 0'''


def free_port():
    with socket.socket() as probe:
        probe.bind((NAMED, 0))
        return probe.getsockname()[1]


def fill(server, cipher):
    for name in ('tls_acct', 'tls_res'):
        server.database(name)
    server.sql(f'{ASSOCIATIONS.format(cipher=cipher)}; {USED}', 'tls_acct')


class Mariadb:
    """A server that accepts LOGIN only over TLS, and a server without TLS."""

    name, driver, owner = NAME, 'mysql', 'mysql'
    without_tls = {'required': 'the server offers no TLS', 'verify_full': 'the server does not support it'}
    if library_is_mysql():
        without_tls = dict.fromkeys(('required', 'verify_full'), "the server doesn't support it")
    stranger = 'certificate'
    SECURE = ('--tls-version=TLSv1.2,TLSv1.3',) if IS_MYSQL else ()
    PLAIN = () if IS_MYSQL else ('--skip-ssl',)
    STATUS = 'performance_schema' if IS_MYSQL else 'information_schema'
    misnamed = "tls_mode = 'verify_full' and tls_ca"  # the library gives various reasons

    def __init__(self, stack, certificate, key):
        listen = f'--bind-address={NAMED}'
        self.server = stack.enter_context(NewServer(listen, *self.SECURE, f'--ssl-cert={certificate}',
                                                    f'--ssl-key={key}'))
        self.plain = stack.enter_context(NewServer(listen, *self.PLAIN))
        self.port, self.plain_port = self.server.port, self.plain.port
        for server, need in ((self.server, 'REQUIRE SSL'), (self.plain, '')):
            fill(server, f"SELECT variable_value FROM {self.STATUS}.session_status "
                         "WHERE variable_name = 'Ssl_cipher'")
            server.sql(f"CREATE USER {LOGIN}@'127.0.0.%' {need}; GRANT ALL ON *.* TO {LOGIN}@'127.0.0.%'")

    @staticmethod
    def begin(client, server):
        """Exchanges the messages before TLS."""
        client.sendall(server.recv(4096))


class Postgresql:
    name, driver, owner = 'PostgreSQL', 'pgsql', 'postgres'
    without_tls = dict.fromkeys(('required', 'verify_full'), 'server does not support SSL')
    stranger = 'certificate verify failed'
    misnamed = 'certificate'

    def __init__(self, stack, certificate, key):
        self.port, self.plain_port = free_port(), free_port()
        listen = '-c', f'listen_addresses={NAMED}'
        secure = '-c', 'ssl=on', '-c', f'ssl_cert_file={certificate}', '-c', f'ssl_key_file={key}'
        self.server = stack.enter_context(NewPostgres(*listen, *secure, port=self.port))
        self.plain = stack.enter_context(NewPostgres(*listen, port=self.plain_port))
        for server, kind in ((self.server, 'hostssl'), (self.plain, 'host')):
            fill(server, 'SELECT cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
            with open(f'{server.socket}/data/pg_hba.conf', 'a', encoding='ascii') as file:
                file.write(f'{kind} all {LOGIN} 127.0.0.0/8 trust\n')
            server.sql(f'CREATE ROLE {LOGIN} LOGIN SUPERUSER; SELECT pg_reload_conf()')

    @staticmethod
    def begin(client, server):
        server.sendall(client.recv(8))
        client.sendall(server.recv(1))


class Door:
    """Accepts connections in place of the server at an address."""

    def __init__(self, kind, *address):
        self.kind, self.address, self.count = kind, address, 0

    def __enter__(self):
        self.listener = socket.create_server(self.address)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.count += 1
            threading.Thread(target=self.take, args=(client,), daemon=True).start()

    def take(self, client):
        with contextlib.suppress(ConnectionError), client, socket.create_connection((NAMED, self.kind.port)) as server:
            self.pass_on(client, server)


class OtherName(Door):
    """Forwards to the server from an address that its certificate does not name; MariaDB before
    10.11 listens at one address only."""

    def __init__(self, kind):
        super().__init__(kind, NAMELESS, kind.port)

    def pass_on(self, client, server):
        other = {client: server, server: client}
        while True:
            for side in select.select(list(other), [], [])[0]:
                said = side.recv(65536)
                if not said:
                    return
                other[side].sendall(said)


class Cut(Door):
    """Closes the connection when a client begins TLS."""

    def __init__(self, kind, reset):
        super().__init__(kind, NAMED, 0)
        self.reset = reset

    def pass_on(self, client, server):
        self.kind.begin(client, server)
        client.recv(4096)
        if self.reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))


class Rig:
    """Runs with either database or both on the server; the other database is in SQLite."""

    def __init__(self, folder, kind, ours, foreign):
        self.folder, self.kind, self.ours, self.foreign = folder, kind, ours.path, foreign.path
        self.conf = f'{folder}/f.conf'
        db = sqlite3.connect(f'{folder}/tls_acct.db')
        db.executescript(f"{ASSOCIATIONS.format(cipher='SELECT 1')}; {USED}")
        db.close()
        self.write((), {})
        self.run('init')

    def write(self, sides, keys, deadline='60 s'):
        sections = {}
        for side, database in (('source', 'tls_acct'), ('results', 'tls_res')):
            sections[side] = dict(driver='sqlite', database=f'{self.folder}/{database}.db')
            if side in sides:
                sections[side] = dict(dict(driver=self.kind.driver, host=NAMED, port=self.kind.port, user=LOGIN,
                                           database=database), **keys)
        sections['source'].update(layout='plain', usage='used', deadline=deadline)
        write_settings(self.conf, sections)

    def run(self, *command):
        began = time.monotonic()
        self.status, self.out, self.err = fairmill(self.conf, *command)
        self.seconds = time.monotonic() - began
        return self.status

    def works(self, statement, **keys):
        """Tests these keys for source and results, and the cipher of the session that read the
        source."""
        self.write(('source', 'results'), keys)
        said = [(command, self.run(command), self.err) for command in ('init', 'check', 'run', 'show')]
        self.run('show', '--parsable')
        accounts = [line.split('|')[1] for line in self.out.splitlines()]
        tap.ok(not any(status for _, status, _ in said) and len(accounts) == 3,
               f'{self.kind.name}: {statement}', *said, accounts)
        tap.ok('TLS' in accounts[-1] or 'AES' in accounts[-1], 'the server reports an encrypted session', accounts)

    def refuses(self, statement, *said, **keys):
        for side in ('source', 'results'):
            self.write((side,), keys)
            self.run('run')
            tap.ok(self.status == 78 and self.seconds < PATIENCE, f'{self.kind.name}: {statement} ({side})',
                   self.status, self.seconds, self.err)
            tap.ok(self.err.count('\n') == 1 and all(text in self.err for text in said),
                   f'the message gives the reason ({side})', said, self.err)


def modes(rig):
    verified = dict(tls_mode='verify_full', tls_ca=rig.ours)
    rig.works('verify_full accepts a server with the right certificate', **verified)
    rig.works('required accepts a server with a certificate', tls_mode='required')
    rig.write(('source',), dict(tls_mode='off'))
    tap.ok(rig.run('check') == 78 and LOGIN in rig.err,
           f'{rig.kind.name}: off does not encrypt, and a server that requires TLS denies the login',
           rig.status, rig.err)

    rig.refuses('a certificate of another authority is rejected', rig.kind.stranger, NAMED,
                tls_mode='verify_full', tls_ca=rig.foreign)
    rig.refuses('verify_full rejects a certificate of another name', rig.kind.misnamed, NAMELESS,
                host=NAMELESS, **verified)
    rig.works('required accepts a certificate of another name', host=NAMELESS, tls_mode='required')
    for mode, said in rig.kind.without_tls.items():
        rig.refuses(f'{mode} rejects a server without TLS', said, NAMED, port=rig.kind.plain_port,
                    **(verified if mode == 'verify_full' else dict(tls_mode=mode)))
    rig.refuses('a missing tls_ca is rejected', '/nowhere.crt', tls_mode='verify_full', tls_ca='/nowhere.crt')
    rig.refuses('a tls_ca without a certificate is rejected', rig.conf, tls_mode='verify_full', tls_ca=rig.conf)


def words(rig):
    """Tests errors in the settings alone."""
    for mode in ('verify_ca', 'verify_full'):
        rig.refuses(f'{mode} requires tls_ca', f"tls_mode = '{mode}'", 'tls_ca', tls_mode=mode)
    for mode in ('default', 'off', 'required'):
        rig.refuses(f'{mode} rejects tls_ca', f"tls_mode = '{mode}'", 'tls_ca', tls_mode=mode, tls_ca=rig.ours)
    rig.refuses('an unknown tls_mode is rejected', "'verify_ca'", tls_mode='verify-ca')
    rig.refuses('a unix socket cannot have TLS', "tls_mode = 'required'", 'unix socket', host='',
                socket=rig.kind.server.socket, tls_mode='required')


def broken_handshakes(rig):
    for how, reset in (('closed', False), ('reset', True)):
        with Cut(rig.kind, reset) as cut:
            rig.write(('source',), dict(port=cut.port, tls_mode='verify_full', tls_ca=rig.ours), deadline='2 s')
            rig.run('check')
            tap.ok(rig.status == 69 and cut.count > 1,
                   f'{rig.kind.name}: a handshake that the network {how} is retried, and ends with 69',
                   rig.status, cut.count, rig.err)


def keeps_modes(rig, lines):
    """The library reads an option file last, after its other settings."""
    option_file = f'{rig.folder}/option.cnf'
    for line, mode in lines:
        with open(option_file, 'w', encoding='ascii') as file:
            file.write(f'[client]\n{line}\n')
        keys = dict(tls_ca=rig.ours) if mode == 'verify_full' else {}
        if mode == 'required':
            keys['port'] = rig.kind.plain_port
        rig.refuses(f"an option file with {line.split(' ')[0]} does not change {mode}", mode, option_file,
                    tls_mode=mode, option_file=option_file, **keys)


def mysql_library_only(rig):
    rig.works('verify_ca accepts a certificate of another name', host=NAMELESS, tls_mode='verify_ca', tls_ca=rig.ours)
    rig.refuses('verify_ca rejects a certificate of another authority',
                rig.kind.stranger, tls_mode='verify_ca', tls_ca=rig.foreign)
    keeps_modes(rig, ((f'ssl-ca = {rig.foreign}', 'verify_full'), ('ssl-capath = /etc/ssl', 'verify_full'),
                      ('ssl-mode = PREFERRED', 'required')))
    with open(f'{rig.folder}/option.cnf', 'w', encoding='ascii') as file:
        file.write('[client]\nssl-mode = REQUIRED\n')
    rig.refuses('an option file with ssl-mode does not change verify_full', 'certificate', NAMELESS, host=NAMELESS,
                option_file=f'{rig.folder}/option.cnf', tls_mode='verify_full', tls_ca=rig.ours)


def mariadb_library_only(rig):
    rig.refuses('verify_ca is rejected, as the library does not support it', "tls_mode = 'verify_ca'", 'verify_full',
                tls_mode='verify_ca', tls_ca=rig.ours)
    rig.refuses('verify_full at 127.0.0.1 is rejected', "tls_mode = 'verify_full'", '127.0.0.1', host='127.0.0.1',
                tls_mode='verify_full', tls_ca=rig.ours)
    keeps_modes(rig, (('ssl-verify-server-cert = 0', 'verify_full'), (f'ssl-ca = {rig.foreign}', 'verify_full'),
                      ('ssl-capath = /etc/ssl', 'verify_full'), ('ssl-enforce = 0', 'required'),
                      (f'ssl-ca = {rig.ours}', 'off')))


def postgres_only(rig):
    rig.works('verify_ca accepts a certificate of another name', host=NAMELESS, tls_mode='verify_ca', tls_ca=rig.ours)
    rig.refuses('verify_ca rejects a certificate of another authority',
                rig.kind.stranger, tls_mode='verify_ca', tls_ca=rig.foreign)
    services = f'{rig.folder}/services'
    with open(services, 'w', encoding='ascii') as file:
        file.write(f'[local]\nhost={rig.kind.server.socket}\n[weak]\nhost={NAMED}\nsslmode=disable\n')
    os.environ['PGSERVICEFILE'] = services
    try:
        rig.refuses('a service with a unix socket is rejected', "tls_mode = 'required'", 'unix socket',
                    host='', service='local', tls_mode='required')
        rig.works('a service does not change tls_mode', host='', service='weak', tls_mode='required')
    finally:
        del os.environ['PGSERVICEFILE']


def sqlite_has_none(folder):
    for side in ('source', 'results'):
        sections = {each: dict(driver='sqlite', database=f'{folder}/{each}.db') for each in ('source', 'results')}
        sections[side]['tls_mode'] = 'off'
        write_settings(f'{folder}/f.conf', sections)
        status, _, err = fairmill(f'{folder}/f.conf', 'check')
        tap.ok(status == 78 and f'[{side}] tls_mode' in err, f'SQLite rejects tls_mode ({side})', status, err)


def body():
    if not shutil.which('openssl'):
        tap.skip_all('openssl is not installed')
    of_library = mysql_library_only if library_is_mysql() else mariadb_library_only
    for make, more in ((Mariadb, of_library), (Postgresql, postgres_only)):
        with tempfile.TemporaryDirectory(prefix='fm') as folder, contextlib.ExitStack() as stack:
            os.chmod(folder, 0o755)
            ours, foreign = Authority(folder, 'ours'), Authority(folder, 'foreign')
            kind = make(stack, *ours.sign(NAMED, make.owner))
            stack.enter_context(OtherName(kind))
            rig = Rig(folder, kind, ours, foreign)
            for part in (modes, words, broken_handshakes, more):
                part(rig)
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        sqlite_has_none(folder)


tap.main(body)
