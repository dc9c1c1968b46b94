# SPDX-License-Identifier: MIT
"""Forwards between a client and a database server, and simulates network faults at chosen steps.

    with Proxy(server, Fault('cut', sql('COMMIT'))) as proxy:
        ...                             # a client at proxy.socket, or at proxy.port of 127.0.0.1
    proxy.fired                         # the steps at which a fault happened

A connection is a list of steps.  Step 0 is the connect; each later step is a message from the
client.  The server's protocol defines messages and their SQL (protocol.py)."""

import os
import re
import select
import shutil
import socket
import struct
import tempfile
import threading
import time


class Step:
    def __init__(self, connection, number, kind, text='', repeat=0):
        self.connection = connection  # 1 for the first accepted connection
        self.number = number          # within the connection
        self.kind = kind              # connect, or the protocol's name
        self.sql = text
        self.repeat = repeat          # number of earlier steps of this kind and SQL

    def __str__(self):
        name = ' '.join(self.sql.split())
        again = f' ({self.repeat + 1})' if self.repeat else ''
        return f'{self.kind} {name}'.strip()[:70] + again


def sql(pattern, kind=None):
    """Returns a condition for steps whose SQL matches: all messages of a statement, or messages of
    one kind."""
    found = re.compile(pattern, re.IGNORECASE)
    return lambda step: bool(step.sql and found.search(step.sql) and kind in (None, step.kind))


def connection(number):
    return lambda step: step.kind == 'connect' and step.connection == number


def same_as(wanted):
    """Returns a condition for the same step in another connection or another run."""
    return lambda step: (step.connection, step.kind, step.sql, step.repeat) == (
        wanted.connection, wanted.kind, wanted.sql, wanted.repeat)


def always(step):
    return step.kind == 'connect'


class Fault:
    """A fault that happens at steps for which `at` is true.

    cut      both sides see the connection end
    reset    the client sees it reset (TCP only), the server sees it end
    stall    no more data is forwarded, and neither side sees an end
    slow     the rest of the connection passes `rate` bytes a second
    hold     all data is forwarded

    If `meanwhile` is given, it is called before; `link` is the connection.

    The fault happens before the message reaches the server, or after it without a wait, with
    `behind`.
    With `answer`, it happens after this number of bytes of the response have passed; 0 means that
    the response is lost.  It happens once, or with `for_good` at every matching step.  The next
    Proxy starts from the beginning, and calls begin() of `at` if it has one."""

    def __init__(self, action, at, answer=None, behind=False, for_good=False, meanwhile=None, rate=4096):
        self.action, self.at, self.for_good = action, at, for_good
        self.answer, self.behind = answer, behind
        self.meanwhile, self.rate = meanwhile, rate
        self.begin()

    def begin(self):
        self.happened, self.link = 0, None
        if hasattr(self.at, 'begin'):
            self.at.begin()


def no_fault():
    """Returns a fault that has no effect, but shows that the connection was used."""
    return Fault('hold', always, for_good=True, meanwhile=lambda: None)


class Link(threading.Thread):
    """One connection."""

    def __init__(self, proxy, number, client):
        super().__init__(daemon=True)
        self.proxy, self.number, self.client = proxy, number, client
        self.server = None
        self.protocol = proxy.protocol()
        self.steps = 0
        self.seen = {}
        self.pending = None  # a fault that waits for the response
        self.passed = 0      # bytes of that response
        self.rate = None
        self.over = False

    def run(self):
        try:
            if not self._meet(b'', 'connect', '', lambda: self._connect()):
                return
            while not self.over and not self.proxy.stopping:
                ready, _, _ = select.select([self.client, self.server], [], [], .2)
                if self.client in ready and not self._from_client():
                    break
                if self.server in ready and not self.over and not self._from_server():
                    break
        except OSError:
            pass
        except Exception as problem:  # pylint: disable=broad-except
            self.proxy.problems.append(problem)
        finally:
            self.close()

    def _connect(self):
        port = self.proxy.to_port
        self.server = socket.socket(socket.AF_INET if port else socket.AF_UNIX, socket.SOCK_STREAM)
        self.server.connect(('127.0.0.1', port) if port else self.proxy.server_path)

    def _from_client(self):
        data = self.client.recv(65536)
        if not data:
            return False
        for message, kind, text in self.protocol.client(data):
            def forward(message=message, kind=kind, text=text):
                self.protocol.sent(kind, text)
                self._pass(self.server, message)
            if not self._meet(message, kind, text, forward):
                return False
        return True

    def _from_server(self):
        data = self.server.recv(65536)
        if not data:
            return False
        self.protocol.server(data)
        fault = self.pending
        if not fault or self.passed + len(data) < fault.answer:
            self.passed += len(data)
            self._pass(self.client, data)
            return True
        kept = fault.answer - self.passed
        self.pending = None
        self._pass(self.client, data[:kept])
        if not self._do(fault):
            return False
        self._pass(self.client, data[kept:])
        return True

    def _meet(self, message, kind, text, forward):
        """Handles a message of the client; returns False if it ended the connection."""
        repeat = self.seen.get((kind, text), 0)
        self.seen[kind, text] = repeat + 1
        step = Step(self.number, self.steps, kind, text, repeat)
        self.steps += 1
        fault = self.proxy.note(step)
        first = fault and fault.answer is None and not fault.behind
        if first and not self._do(fault):
            return False
        if fault and fault.answer is not None:
            self.pending, self.passed = fault, 0
        forward()
        return not (fault and fault.behind) or self._do(fault)

    def _do(self, fault):
        fault.link = self
        if fault.meanwhile:
            fault.meanwhile()
        if fault.action == 'hold':
            return True
        if fault.action == 'slow':
            self.rate = fault.rate
            return True
        if fault.action == 'stall':
            self.proxy.halt.wait()
        if fault.action == 'reset' and self.client.family == socket.AF_INET:
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        self.over = True
        self.close()
        return False

    def _pass(self, to, data):
        piece = max(1, self.rate // 10) if self.rate else len(data)
        while data and not self.proxy.stopping:
            to.sendall(data[:piece])
            data = data[piece:]
            if self.rate:
                time.sleep(.1)

    def close(self):
        self.over = True
        for end in (self.client, self.server):
            if end:
                end.close()

    def shut(self):
        """Shuts the sockets down, even if a send is blocked."""
        for end in (self.client, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except (OSError, AttributeError):
                pass


class Proxy:
    """Accepts clients on a unix socket, with a path as the server's clients expect, and on a port.
    Connects to the server's unix socket, or to `to_port` of 127.0.0.1."""

    def __init__(self, server, *faults, to_port=None):
        self.protocol, self.faults, self.to_port = server.PROTOCOL, list(faults), to_port
        for fault in faults:
            fault.begin()
        self.server_path = server.socket_file()
        self.steps, self.fired = [], []
        self.links = []
        self.problems = []  # exceptions of `meanwhile`
        self.halt = threading.Event()
        self.guard = threading.Lock()

    @property
    def stopping(self):
        return self.halt.is_set()

    def note(self, step):
        """Records the step; returns the fault that happens at it, or None."""
        with self.guard:
            self.steps.append(step)
            for fault in self.faults:
                if (fault.for_good or not fault.happened) and fault.at(step):
                    fault.happened += 1
                    self.fired.append(step)
                    return fault
        return None

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix='fm')
        self.socket = os.path.join(self.folder, 's')
        on_path = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        os.makedirs(os.path.dirname(self.socket + self.protocol.FILE), exist_ok=True)
        on_path.bind(self.socket + self.protocol.FILE)
        on_port = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        on_port.bind(('127.0.0.1', 0))
        self.port = on_port.getsockname()[1]
        self.listeners = [on_path, on_port]
        for listener in self.listeners:
            listener.listen(64)
        self.thread = threading.Thread(target=self._take, daemon=True)
        self.thread.start()
        return self

    def _take(self):
        while not self.stopping:
            ready, _, _ = select.select(self.listeners, [], [], .1)
            for listener in ready:
                client, _ = listener.accept()
                if client.family == socket.AF_INET:
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                link = Link(self, len(self.links) + 1, client)
                self.links.append(link)
                link.start()

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends every connection."""
        if not self.halt.is_set():
            self.halt.set()
            self.thread.join()
            for listener in self.listeners:
                listener.close()
            for link in self.links:
                link.shut()
                link.join(10)
            shutil.rmtree(self.folder)

    def statements(self):
        """Returns all SQL that was forwarded."""
        with self.guard:
            return [step.sql for step in self.steps if step.sql]
