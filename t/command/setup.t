#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the script that `fairmill setup` prints: what it finds in slurm.conf and slurmdbd.conf and
from a server's greeting, and that each variant is a valid shell script.  t/install/production.t runs
the scripts."""

import itertools
import os
import re
import shutil
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import Commands, write
from place import Place

MARIADB = '5.5.5-10.11.6-MariaDB'
MYSQL = '8.4.3'


class Greeting:
    """A server that greets as MariaDB or MySQL does, on a port of this host."""

    def __init__(self, version, protocol=10, flags=0xf7fe):
        body = bytes([protocol]) + version.encode() + b'\0' + bytes(13) + flags.to_bytes(2, 'little') + bytes(30)
        self.packet = len(body).to_bytes(3, 'little') + b'\0' + body

    def __enter__(self):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def serve(self):
        while True:
            try:
                with self.listener.accept()[0] as client:
                    client.sendall(self.packet)
            except OSError:
                return

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def printed(place, *options):
    """Returns the script for this host, with the slurm.conf of the test."""
    place.succeed('setup', *options, settings=None,
                  env=dict(os.environ, SLURM_CONF=place.path('slurm.conf'), FAIRMILL_CONF=place.path('etc/fm.conf')))
    return place.out


def values(script):
    """Returns the variables that the script begins with."""
    return dict(re.findall(r"^([a-z]+)='(.*)'(?: #.*)?$", script, re.M))


def findings(script):
    return re.search(r'^# Found on this host:\n((?:#.*\n)*)', script, re.M)[1]


def slurmdbd(place, text):
    write(place.path('slurmdbd.conf'), text)


def reads_files(place):
    write(place.path('slurm.conf'), 'ClusterName=alpha # of the physicists\nInclude more.conf\n')
    write(place.path('more.conf'), 'accountingstoragehost=db1.invalid\n')
    got = values(printed(place))
    tap.same(got['slurm'], place.path('slurm.conf'), 'the settings name a slurm.conf that SLURM_CONF names')
    tap.same(got['conf'], place.path('etc/fm.conf'), 'the script writes the settings of FAIRMILL_CONF')
    tap.same(got['host'], 'db1.invalid', 'without slurmdbd.conf, the database is assumed on the host of slurmdbd')
    tap.same(got['clusters'], 'alpha', 'the cluster of slurm.conf is computed if the server cannot be asked')
    slurmdbd(place, 'StorageHost=db2.invalid\nStoragePort=3399\nStorageLoc="acct"\nStoragePass=secret7\nStorageUser=slurm\n')
    script = printed(place)
    got = values(script)
    tap.same((got['host'], got['port'], got['database']), ('db2.invalid', '3399', 'acct'), 'slurmdbd.conf names the database')
    tap.unlike(script, 'secret7', 'the script does not contain the password of slurmdbd')
    tap.like(findings(script), "no server of MariaDB or MySQL answers on db2.invalid, port 3399", 'the script names a server that does not answer')
    slurmdbd(place, 'StorageHost=db2.invalid\nStorageLoc=a;b\n')
    script = printed(place)
    tap.same(values(script)['database'], 'slurm_acct_db', 'an unusual name of a database is not used')
    tap.like(findings(script), r"slurmdbd.conf', line 2: cannot use this value of StorageLoc", 'the script names a value that it cannot use')


def reads_greetings(place):
    for version, product in ((MARIADB, 'MariaDB 10.11.6-MariaDB'), (MYSQL, 'MySQL 8.4.3')):
        with Greeting(version) as server:
            slurmdbd(place, f'StorageHost=127.0.0.1\nStoragePort={server.port}\n')
            tap.like(findings(printed(place)), rf'{product} answers on 127.0.0.1, port {server.port}', f'{product} is known by its greeting')
    with Greeting(MYSQL, flags=0xfffe) as server:
        slurmdbd(place, f'StorageHost=127.0.0.1\nStoragePort={server.port}\n')
        tap.same(values(printed(place))['tls'], 'required', 'the connection to a server with TLS is encrypted')
    with Greeting(MARIADB) as server:
        slurmdbd(place, f'StorageHost=localhost\nStoragePort={server.port}\n')
        got = values(printed(place))
        tap.ok('socket' in got or got['host'] == '127.0.0.1', 'a server that answers only on a port of localhost is not looked for on a socket', got)
    with Greeting('HTTP', protocol=72) as server:
        slurmdbd(place, f'StorageHost=127.0.0.1\nStoragePort={server.port}\n')
        tap.like(findings(printed(place)), f'no server of MariaDB or MySQL answers on 127.0.0.1, port {server.port}', 'another server is not taken for one of them')


def shells_accept(place, shell):
    """Tests the variants of results and of the host of the database."""
    checkers = [['sh', '-n'], *([['shellcheck', '--severity=warning']] if shutil.which('shellcheck') else [])]
    with Greeting(MARIADB) as server:
        hosts = {'a server on this host': 'StorageHost=localhost\nStoragePort=1\n',
                 'another host': f'StorageHost=127.0.0.1\nStoragePort={server.port}\n'}
        for (host, text), results in itertools.product(hosts.items(), ('mysql', 'pgsql', 'sqlite')):
            slurmdbd(place, text)
            script = printed(place, '--results', results, '-M', 'alpha,beta')
            write(place.path('setup.sh'), script)
            for checker in checkers:
                shell.works(f'{checker[0]} accepts the script for {results} with {host}', *checker, place.path('setup.sh'))
            tap.unlike(script, '#@|@[a-z_]+@', f'the script for {results} with {host} has no trace of the template')
            tap.same(values(script)['clusters'], 'alpha,beta', 'the script computes the requested clusters')
            tap.same('psql' in script, results == 'pgsql', f'the script for {results} with {host} has commands for PostgreSQL only if it uses it')


def quotes_values(place, shell):
    """A path with special characters stays one word, and cannot run a command."""
    strange = place.path("it's $(touch hacked)")
    os.mkdir(strange)
    shutil.copy(place.path('slurm.conf'), strange)
    write(f'{strange}/more.conf', '')
    place.succeed('setup', settings=None, env=dict(os.environ, SLURM_CONF=f'{strange}/slurm.conf'))
    line, = re.findall('^slurm=.*$', place.out, re.M)
    tap.same(shell.printed('sh', '-c', f'{line}\nprintf %s "$slurm"'), f'{strange}/slurm.conf', 'a strange path stays one word for the shell')
    tap.ok(not os.path.exists(shell.path('hacked')), 'a path cannot run a command')


def body():
    with Place() as place, Commands() as shell:
        place.ends(64, 'an unknown driver is a usage error', 'setup', '--results', 'oracle', settings=None)
        place.says('the error names the driver', "'oracle'")
        place.ends(64, 'a name that is no cluster is a usage error', 'setup', '-M', 'a;b', settings=None)
        place.says('the error names the cluster', "'a;b'")
        reads_files(place)
        reads_greetings(place)
        shells_accept(place, shell)
        quotes_values(place, shell)
        tap.ok(not os.path.exists(place.path('etc')), 'the command writes no file')


tap.main(body)
