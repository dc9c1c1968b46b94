# SPDX-License-Identifier: MIT
"""What systemd does with fairmill.socket and fairmill@.service: a process of `fairmill answer` for each connection."""

import json
import os
import pwd
import socket
import subprocess
import threading
import time

import program

SERVICE = 'bin'  # stands for the user fairmill; every system has it


def ids(login):
    """For subprocess.Popen."""
    entry = pwd.getpwnam(login)
    return dict(user=entry.pw_uid, group=entry.pw_gid, extra_groups=[]) if os.getuid() == 0 else {}


def lock_up(place):
    """Only the service may read the settings and the results."""
    os.chmod(place.folder, 0o755)
    if os.getuid():
        return
    service = pwd.getpwnam(SERVICE)
    for name in os.listdir(place.folder):
        if name.startswith(('r.db', 'a.db')):
            os.chown(place.path(name), service.pw_uid, service.pw_gid)
            os.chmod(place.path(name), 0o600)
        elif name.endswith('.conf'):
            os.chown(place.path(name), 0, service.pw_gid)
            os.chmod(place.path(name), 0o640)
    # With SQLite a reader writes beside the results.
    os.chown(place.folder, service.pw_uid, service.pw_gid)


class Answering:
    """Listens on PLACE/socket.  `most`: MaxConnections; `seconds`: RuntimeMaxSec."""

    def __init__(self, place, settings='fm.conf', most=64, seconds=30, **environment):
        self.place, self.most, self.seconds = place, most, seconds
        self.path = place.path('socket')
        self.command = [program.FAIRMILL, '-c', place.path(settings), 'answer']
        os.chmod(place.folder, 0o755)
        self.environment = {'PATH': os.environ['PATH'], 'RUNTIME_DIRECTORY': self._folder('askers'),
                            **self._counts(SERVICE), **environment}
        self.refused = self.answered = 0

    def _folder(self, name):
        """In which everybody may write."""
        path = self.place.path(name)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, 0o777)
        return path

    def _counts(self, login):
        """Where a program that counts its lines for coverage writes them if another user runs it: each his own folders."""
        return {'GCOV_PREFIX': self._folder(f'counts-{login}')}

    def __enter__(self):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)
        self.listener.listen(512)
        self.processes = []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        os.unlink(self.path)
        for process, _ in self.processes:
            process.kill()
            process.wait()

    def _end(self):
        for process, since in self.processes:
            if process.poll() is None and time.monotonic() - since > self.seconds:
                process.kill()
                process.wait()
        self.processes = [pair for pair in self.processes if pair[0].poll() is None]

    def _serve(self):
        with open(self.place.path('answer.log'), 'ab') as log:
            while True:
                try:
                    connection, _ = self.listener.accept()
                except OSError:
                    return
                self._end()
                if len(self.processes) >= self.most:
                    self.refused += 1
                else:
                    self.answered += 1
                    process = subprocess.Popen(self.command, stdin=connection, stdout=connection, stderr=log,
                                               env=self.environment, cwd='/', **ids(SERVICE))
                    self.processes.append((process, time.monotonic()))
                connection.close()

    def raw(self, data, end=True, login=None):
        """The bytes that answer these bytes; as another user in a process of its own."""
        if login:
            code = ('import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); '
                    's.sendall(sys.stdin.buffer.read()); s.shutdown(1); '
                    '[sys.stdout.buffer.write(b) for b in iter(lambda: s.recv(65536), b"")]')
            return subprocess.run(['/usr/bin/python3', '-c', code, self.path], input=data, stdout=subprocess.PIPE, cwd='/',
                                  check=True, **ids(login)).stdout
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(self.path)
            try:
                asking.sendall(data)
                if end:
                    asking.shutdown(socket.SHUT_WR)
            except BrokenPipeError:
                pass  # refused before all was read
            return b''.join(iter(lambda: asking.recv(65536), b''))

    def ask(self, *arguments, login=None, **more):
        """The answer as it comes: a dict."""
        question = dict(fairmill=1, arguments=list(arguments), **more)
        return json.loads(self.raw(json.dumps(question).encode() + b'\n', login=login))

    def client(self, login):
        """What PLACE.run() needs to run the client as this user, who may not read the settings."""
        clean = {k: v for k, v in os.environ.items() if k not in ('FAIRMILL_CONF', 'FAIRMILL_SOCKET')}
        return dict(settings=None, env=clean | self._counts(login) | {'FAIRMILL_CONF': '/nonexistent/fm.conf', 'FAIRMILL_SOCKET': self.path},
                    **ids(login))
