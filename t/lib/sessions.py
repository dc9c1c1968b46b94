# SPDX-License-Identifier: MIT
"""What a page shows of a shell: commands behind `$ ', and what they print below them."""

import os
import re
import subprocess

import terminal

INDENT = '    '


class Session:
    """An indented block of a page that begins with `$ '; first and end are its lines in the page."""

    def __init__(self, first, lines):
        self.first, self.end = first, first + len(lines)
        self.shown = ''.join(line.removeprefix(INDENT) for line in lines)

    def __str__(self):
        return self.shown.partition('\n')[0]

    def commands(self):
        """Each with its lines that go on behind a backslash."""
        return re.findall(r'^\$ ((?:.*\\\n)*.*)\n', self.shown, re.M)

    def typed(self, folder, columns=None, **environment):
        """The session as it looks where the folder is; on a terminal where a width is given."""
        shown = ''
        for command in self.commands():
            run = printed_on_terminal if columns else printed
            shown += f'$ {command}\n' + run(command, folder, columns, os.environ | environment)
        return shown


def printed(command, folder, _, environment):
    return terminal.without_age(
        subprocess.run(['sh', '-c', command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout)


def printed_on_terminal(command, folder, columns, environment):
    return terminal.printed(['sh', '-c', command], folder, columns, environment | {'TERM': 'dumb'})


def blocks(text):
    """(first line, lines) of the indented blocks of a page, blank lines between their lines among them."""
    lines, first = text.splitlines(True), None
    for number, line in enumerate(lines + ['end\n']):
        if line.startswith(INDENT) and first is None:
            first = number
        elif first is not None and line.strip() and not line.startswith(INDENT):
            end = number
            while not lines[end - 1].strip():
                end -= 1
            yield first, lines[first:end]
            first = None


def sessions(text):
    return [Session(first, lines) for first, lines in blocks(text) if lines[0].startswith(INDENT + '$ ')]


def retyped(text, session, shown):
    """The page with other contents of a session."""
    lines = text.splitlines(True)
    lines[session.first:session.end] = [INDENT * bool(line.strip()) + line for line in shown.splitlines(True)]
    return ''.join(lines)
