# SPDX-License-Identifier: MIT
"""Commands that a test runs in a folder of its own, and where the sources and the build are."""

import os
import re
import shutil
import subprocess
import tempfile

import tap

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
BUILD = os.environ.get('top_builddir') or os.path.join(TOP, 'build')


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def version():
    """The version in configure.ac."""
    return re.search(r'^AC_INIT\(\[fairmill\], \[(.*)\]\)$', read(f'{TOP}/configure.ac'), re.M)[1]


class Commands:
    """A folder, and commands that run in it; `out` and `err` have what the last one wrote."""

    def __init__(self, prefix='fm.'):
        self.prefix = prefix
        self.out = self.err = ''

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix=self.prefix)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, *command, **more):
        """The exit status of a program.  `more` goes to subprocess.run()."""
        for key, value in dict(cwd=self.folder, stdin=subprocess.DEVNULL).items():
            if key not in more and (key != 'stdin' or 'input' not in more):
                more[key] = value
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors='surrogateescape', check=False, **more)
        self.out, self.err = done.stdout, done.stderr
        return done.returncode

    def command_ends(self, status, statement, *command, **more):
        got = self.command(*command, **more)
        return tap.ok(got == status, statement,
                      f"'{' '.join(map(str, command))}' ended with {got}, expected {status}", self.out, self.err)

    def works(self, statement, *command, **more):
        return self.command_ends(0, statement, *command, **more)

    def printed(self, *command, **more):
        """The standard output of a command that must end well, without the last newline."""
        status = self.command(*command, **more)
        if status:
            raise RuntimeError(f"'{' '.join(map(str, command))}' ended with {status}: {self.out}{self.err}")
        return self.out.removesuffix('\n')
