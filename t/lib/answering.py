# SPDX-License-Identifier: MIT
"""Passes a listening socket to `fairmill answer`, as systemd does with fairmill.socket and
fairmill-answer.service."""

import json
import os
import pwd
import socket
import subprocess

import program

SERVICE = 'bin'  # takes the place of the user fairmill; every system has it


def ids(login):
    """Returns arguments of subprocess.Popen to run as this user."""
    entry = pwd.getpwnam(login)
    return dict(user=entry.pw_uid, group=entry.pw_gid, extra_groups=[]) if os.getuid() == 0 else {}


def lock_up(place):
    """Makes the settings and the results readable by the service only."""
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
    # With SQLite, a reader writes files next to the results.
    os.chown(place.folder, service.pw_uid, service.pw_gid)


class Answering:
    """Listens on PLACE/socket, with one process of `fairmill answer` and these options.  `before`
    is a command that starts it."""

    def __init__(self, place, *options, settings='fm.conf', before=(), **environment):
        self.place = place
        self.path = place.path('socket')
        self.command = [*before, program.FAIRMILL, '-c', place.path(settings), 'answer', *options]
        os.chmod(place.folder, 0o755)
        self.environment = {'PATH': os.environ['PATH'], 'LISTEN_FDS': '1', **self._counts(SERVICE), **environment}

    def _folder(self, name):
        """Returns a directory in which all users may write."""
        path = self.place.path(name)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, 0o777)
        return path

    def _counts(self, login):
        """Returns the environment for coverage counts, in a separate directory for each user."""
        return {'GCOV_PREFIX': self._folder(f'counts-{login}')}

    def start(self):
        """Starts the service, as systemd does at the first connection."""
        code = f'exec 3<&{self.listener.fileno()}; LISTEN_PID=$$; export LISTEN_PID; exec "$@"'
        with open(self.place.path('answer.log'), 'ab') as log:
            self.process = subprocess.Popen(['sh', '-c', code, 'sh', *self.command], pass_fds=[self.listener.fileno()],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                                            env=self.environment, cwd='/', **ids(SERVICE))

    def __enter__(self):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)
        self.listener.listen(512)
        self.start()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.listener.close()
        os.unlink(self.path)

    def raw(self, data, end=True, login=None):
        """Returns the response to these bytes; with `login`, as another user in a process of its
        own."""
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
                pass  # rejected before all bytes were read
            return b''.join(iter(lambda: asking.recv(65536), b''))

    def ask(self, *arguments, login=None, **more):
        """Returns the response as a dict."""
        question = dict(fairmill=1, arguments=list(arguments), **more)
        return json.loads(self.raw(json.dumps(question).encode() + b'\n', login=login))

    def client(self, login):
        """Returns the arguments of PLACE.run() for the client as this user, who cannot read the
        settings."""
        clean = {k: v for k, v in os.environ.items() if k not in ('FAIRMILL_CONF', 'FAIRMILL_SOCKET')}
        return dict(settings=None, env=clean | self._counts(login) | {'FAIRMILL_CONF': '/nonexistent/fm.conf', 'FAIRMILL_SOCKET': self.path},
                    **ids(login))
