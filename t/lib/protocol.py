# SPDX-License-Identifier: MIT
"""The parts of the protocols between clients and database servers that a proxy needs: the end of
a message, and its SQL.

There is one class for each protocol, with one interface, and one object for each connection:

    FILE                  the text after the setting `socket` in the path of the socket's file, for
                          the default port
    ANSWERED              the kinds of messages to which the server responds
    client(data)          handles data from the client; returns [(message, kind, SQL)] of complete messages
    sent(kind, text)      handles a message before it reaches the server
    server(data)          handles data from the server
    session               the server's number of this connection; None before it is known"""


class Mysql:
    """Messages of one connection between a client of MySQL and its server."""

    FILE = ''
    ANSWERED = {'login', 'query', 'prepare', 'execute', 'bulk'}
    COMMANDS = {0x01: 'quit', 0x03: 'query', 0x16: 'prepare', 0x17: 'execute', 0x18: 'long data',
                0x19: 'close', 0xfa: 'bulk'}

    def __init__(self):
        self.unread = b''
        self.statements = {}
        self.preparing = None  # the SQL whose number the server is about to send
        self.answer = b''
        self.session = None

    def client(self, data):
        self.unread += data
        messages = []
        while len(self.unread) >= 4:
            length = int.from_bytes(self.unread[:3], 'little') + 4
            if len(self.unread) < length:
                break
            message, self.unread = self.unread[:length], self.unread[length:]
            messages.append((message, *self._describe(message)))
        return messages

    def _describe(self, message):
        # The sequence numbers of a login continue; each command starts at 0.
        if message[3] != 0 or len(message) < 5:
            return 'login', ''
        kind = self.COMMANDS.get(message[4], f'command {message[4]}')
        if kind in ('query', 'prepare'):
            # Before a query, MySQL's library sends that it has no attributes, if the server
            # supports these.
            text = message[5:].removeprefix(b'\0\1') if kind == 'query' else message[5:]
            return kind, text.decode('utf-8', 'replace')
        if kind in ('execute', 'bulk', 'close', 'long data'):
            return kind, self.statements.get(message[5:9], '')
        return kind, ''

    def sent(self, kind, text):
        if kind == 'prepare':
            self.preparing, self.answer = text, b''

    def server(self, data):
        if self.session is None:
            self.answer += data
            # The greeting contains the version, which a NUL ends, and then the number.
            end = self.answer.find(b'\0', 5)
            if 0 < end <= len(self.answer) - 5:
                self.session = int.from_bytes(self.answer[end + 1:end + 5], 'little')
            return
        if self.preparing is None:
            return
        self.answer += data
        if len(self.answer) >= 9:
            if self.answer[4] == 0:
                self.statements[self.answer[5:9]] = self.preparing
            self.preparing = None


class Pgsql:
    """Messages of one unencrypted connection between a client of PostgreSQL and its server.  A
    statement with arguments consists of five messages, which libpq sends together."""

    FILE = '/.s.PGSQL.5432'
    ANSWERED = {'tls', 'gss', 'login', 'password', 'query', 'sync', 'copy done'}
    # These messages have no type byte.
    FIRST = {80877103: 'tls', 80877104: 'gss', 80877102: 'cancel', 3 << 16: 'login'}
    TYPES = {b'p': 'password', b'Q': 'query', b'P': 'parse', b'B': 'bind', b'D': 'describe', b'E': 'execute',
             b'S': 'sync', b'C': 'close', b'd': 'copy data', b'c': 'copy done', b'f': 'copy fail',
             b'X': 'quit'}

    def __init__(self):
        self.unread = b''
        self.begun = False
        self.sql = ''     # the last SQL
        self.untyped = 0  # number of pending responses of one letter
        self.answer = b''
        self.session = None

    def client(self, data):
        self.unread += data
        messages = []
        while True:
            start = int(self.begun)
            length = int.from_bytes(self.unread[start:start + 4], 'big') + start
            if len(self.unread) < max(length, 5):
                return messages
            message, self.unread = self.unread[:length], self.unread[length:]
            messages.append((message, *self._describe(message)))

    def _describe(self, message):
        if not self.begun:
            kind = self.FIRST[int.from_bytes(message[4:8], 'big')]
            self.begun = kind == 'login'
            return kind, ''
        kind = self.TYPES.get(message[:1], f'message {message[:1]}')
        if kind == 'query':
            self.sql = message[5:-1].decode('utf-8', 'replace')
        elif kind == 'parse':
            # The statement's name, the SQL, and the types of its arguments.
            self.sql = message[5:].split(b'\0')[1].decode('utf-8', 'replace')
        return kind, '' if kind in ('password', 'quit') else self.sql

    def sent(self, kind, _):
        self.untyped += kind in ('tls', 'gss')

    def server(self, data):
        if self.session is not None:
            return
        self.answer += data
        if self.untyped and self.answer:
            if self.answer[:1] in (b'S', b'G'):
                raise ValueError('encrypted data cannot be read')
            self.answer, self.untyped = self.answer[self.untyped:], 0
        while len(self.answer) >= 5:
            length = 1 + int.from_bytes(self.answer[1:5], 'big')
            if len(self.answer) < length:
                return
            message, self.answer = self.answer[:length], self.answer[length:]
            if message[:1] == b'K':
                self.session = int.from_bytes(message[5:9], 'big')
