# SPDX-License-Identifier: MIT
"""Temporary database servers, each for the duration of its `with` block, and permanent clients of
them.

A Server may be a server that t/lib/share_servers has started for a whole test run.  If `alone` is
true, the server is this test's own.  Only then it has a process, `pid` and `folder`."""

import contextlib
import os
import pwd
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import tap

# A process that ends all servers of a directory if this program cannot.  When this program is
# killed, its end of the pipe closes.
KEEPER = """
    read -r _ && exit
    for file in "$1"/*.pid; do
        read -r pid <"$file" || continue
        while kill -"$2" "$pid"; do sleep .1; done
    done 2>/dev/null
    rm -rf "$1"
"""


def cells(lines):
    return [[None if cell == 'NULL' else cell for cell in line.split('\t')] for line in lines]


def reason_in(path):
    """Returns the first lines of a log that contain ERROR, or the last lines."""
    with open(path, encoding='utf-8', errors='replace') as file:
        lines = file.readlines()
    return ''.join([line for line in lines if 'ERROR' in line][:3] or lines[-3:])


def held_port(held):
    """Returns a port that no other program gets unless it asks for the number.  The socket, which
    is added to the list `held`, reserves it, and allows programs that set SO_REUSEADDR, as servers
    do."""
    place = socket.socket()
    held.append(place)
    place.bind(('127.0.0.1', 0))  # exclusive, because SO_REUSEADDR is not set yet
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return place.getsockname()[1]


def state_and_parent(process):
    with open(f'/proc/{process}/stat', encoding='utf-8') as file:
        # The second field is a name in brackets.
        state, parent = file.read().rpartition(')')[2].split()[:2]
    return state, int(parent)


def lives(process):
    try:
        return state_and_parent(process)[0] != 'Z'
    except OSError:
        return False


class Folder:
    """A directory with a short path for the files of servers, which is removed after they have
    ended."""

    def __init__(self, signal_name='TERM'):
        self.path = tempfile.mkdtemp(prefix='fm.')
        os.chmod(self.path, 0o755)
        self.keeper = subprocess.Popen(['sh', '-c', KEEPER, 'sh', self.path, signal_name], stdin=subprocess.PIPE,
                                       start_new_session=True)

    def remove(self):
        """Removes the folder, after the servers have ended."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.keeper.communicate(b'done\n')


class Server:
    """The common part of all database servers.  A subclass has PROGRAMS, and the methods install(),
    command() and client().  SHARED is the variable that names the directory of the shared server.
    USER is its user if the tests run as root, and STOP is the signal that ends it."""

    alone = False
    process = None
    options = ()

    def __init__(self):
        self.held = []  # ports

    def __enter__(self):
        self.readers = Readers(self)
        tap.needs(*self.PROGRAMS)
        shared = None if self.alone else os.environ.get(self.SHARED)
        if shared:
            self.find(shared)
            if not self.answers():
                raise RuntimeError(f'no server in {shared}')
        else:
            self.own = Folder(self.STOP.name.removeprefix('SIG'))
            self.folder = self.own.path
            self.give(self.folder)
            self.find(self.folder)
            self.install()
            self.start()
        return self

    def __exit__(self, *_):
        self.readers.close()
        if self.process:
            self.end()
            self.own.remove()
        for place in self.held:
            place.close()

    # ---- its process ----

    def give(self, *folders):
        """Gives folders to the server's user, since the server does not run as root."""
        if not os.getuid():
            for folder in folders:
                os.chown(folder, pwd.getpwnam(self.USER).pw_uid, -1)

    def done(self, command, **more):
        """Runs a command that prepares the server's directory."""
        log = f'{self.folder}/install.log'
        with open(log, 'wb') as file:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, check=False, **more)
        if done.returncode:
            raise RuntimeError(f'{os.path.basename(command[0])}: {reason_in(log)}')

    def launch(self):
        with open(f'{self.folder}/error.log', 'ab') as file:
            self.give(file.name)  # MySQL opens it as its own user
            self.process = subprocess.Popen(self.command(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=file,
                                            stderr=file, start_new_session=True)
        self.pid = self.process.pid
        with open(f'{self.folder}/server.pid', 'w', encoding='ascii') as file:
            file.write(f'{self.pid}\n')
        tap.until(lambda: self.process.poll() is not None or self.answers(), every=.05)

    def start(self):
        """Starts the server, also after it has ended; waits until it responds."""
        self.launch()
        if not self.answers():
            raise RuntimeError(f'{self.PROGRAMS[0]}: {reason_in(f"{self.folder}/error.log")}')

    def end(self, number=None):
        """Ends the server with this signal, or with its usual one."""
        if self.process.poll() is None:
            self.process.send_signal(number or self.STOP)
            self.process.send_signal(signal.SIGCONT)
            self.process.wait()

    def processes(self):
        """Yields its first process, and the children."""
        yield self.pid
        for name in filter(str.isdigit, os.listdir('/proc')):
            with contextlib.suppress(OSError):
                if state_and_parent(name)[1] == self.pid:
                    yield int(name)

    def signal(self, number):
        """Sends a signal to all of its processes, which are returned.  The first process is stopped
        before the others are searched.  It can then start no more, and they are still its
        children."""
        os.kill(self.pid, signal.SIGSTOP)
        tap.until(lambda: state_and_parent(self.pid)[0] in 'TZ', every=.001)
        processes = list(self.processes())
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)
        return processes

    def kill(self):
        processes = self.signal(signal.SIGKILL)
        self.process.wait()
        tap.until(lambda: not any(map(lives, processes)), every=.01)

    def stop(self):
        self.signal(signal.SIGSTOP)

    def go_on(self):
        self.signal(signal.SIGCONT)

    def answers(self):
        return not subprocess.run(self.client(), input='SELECT 1', stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  text=True, check=False).returncode

    # ---- SQL ----

    def sql(self, text, database=None, user=None):
        """Returns rows as lists of text, with NULL as None.  A double has all digits that it
        needs."""
        if not user and self.readers.suit(text):
            return self.readers.ask(text, database)
        if re.search('DATABASE|GLOBAL', text):
            # PostgreSQL does not drop a database with open sessions, and settings apply to new
            # sessions
            self.readers.close()
        done = subprocess.run(self.client(database, user), input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f'{os.path.basename(self.client()[0])}: {done.stderr.strip()}')
        return cells(done.stdout.splitlines())

    def columns(self, table, database):
        return [name for name, in self.sql(
            f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' "
            f'AND table_schema = {self.SCHEMA} ORDER BY ordinal_position', database)]

    def settings(self, source, results, usage=None, fairshare=None, **more):
        """Returns sections for program.write_settings()."""
        return dict(source=dict(self.connection(source), **more), results=self.connection(results),
                    usage=usage or {}, fairshare=fairshare or {})


class Session:
    """A client with a permanent session."""

    def __init__(self, server, database=None, user=None, goes_on=True):
        self.server = server
        self.process = subprocess.Popen([*server.client(database, user), *(server.GOES_ON if goes_on else server.ENDS)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, bufsize=0)
        self.count = 0

    def send(self, text):
        """Sends SQL and returns at once."""
        self.count += 1
        end = self.server.SAY.format(f'answer {self.count} ends')
        self.process.stdin.write(f'{text};\n{end}\n'.encode())

    def wait(self):
        """Returns the lines of the last response.  A client whose server is lost prints nothing."""
        answer, last, end = b'', f'answer {self.count} ends\n'.encode(), time.monotonic() + tap.HANG
        while not answer.endswith(last):
            ready, _, _ = select.select([self.process.stdout], [], [],
                                        max(0, end - time.monotonic()))
            more = self.process.stdout.read(65536) if ready else b''
            if not more:
                raise RuntimeError(f"the session {'has ended' if ready else 'does not answer'}: {answer.decode()}")
            answer += more
        return answer[:-len(last)].decode().splitlines()

    def do(self, text):
        self.send(text)
        return self.wait()

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=tap.HANG)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Readers:
    """Permanent clients for reading: starting one takes a hundred times as long as a query."""

    MOST = 8

    def __init__(self, server):
        self.server, self.idle, self.guard = server, [], threading.Lock()

    @staticmethod
    def suit(text):
        """Returns whether this is one statement that reads, without an effect on its session."""
        return re.match(r'\s*(SELECT|SHOW|CHECKSUM|EXPLAIN)\b', text) and not re.search(r';\s*\S|lock|config|into', text, re.I)

    def ask(self, text, database):
        """Queries an idle client.  A client may have ended with its server or its database; then
        another one is used."""
        text = text.rstrip().rstrip(';')
        with self.guard:
            kept = next((one for one in self.idle if one[0] == database), None)
            if kept:
                self.idle.remove(kept)
        if kept:
            with contextlib.suppress(RuntimeError, OSError):
                return self._ask(kept[1], text, database)
        return self._ask(Session(self.server, database, goes_on=False), text, database)

    def _ask(self, session, text, database):
        try:
            lines = session.do(text)
        except (RuntimeError, OSError):
            session.close()
            raise
        with self.guard:
            self.idle.append((database, session))
            left = self.idle.pop(0)[1] if len(self.idle) > self.MOST else None
        if left:
            left.close()
        return cells(lines)

    def close(self):
        with self.guard:
            for _, session in self.idle:
                session.close()
            self.idle = []
