# SPDX-License-Identifier: MIT
"""Runs a test's commands in a directory of its own, and finds the sources and the build."""

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


def has_text(path):
    return os.path.isfile(path) and os.path.getsize(path) > 0


def forget_build():
    """Removes the variables of an outer make or package build, which must not change the builds of
    this test."""
    for name in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'MAKEOVERRIDES', 'DESTDIR', 'CONFIG_SITE', 'FAIRMILL_CONF',
                 'CFLAGS', 'CPPFLAGS', 'LDFLAGS'):
        os.environ.pop(name, None)


def configured(name):
    """Returns a variable of the build's Makefile."""
    found = re.search(f'^{name} = (.*)$', read(f'{BUILD}/Makefile'), re.M)
    return found[1] if found else ''


def files_below(folder):
    """Returns the relative paths of all files below the folder, without directories."""
    return sorted(os.path.relpath(os.path.join(path, name), folder)
                  for path, folders, names in os.walk(folder)
                  for name in names + [name for name in folders if os.path.islink(os.path.join(path, name))])


def version():
    """Returns the version in configure.ac."""
    return re.search(r'^AC_INIT\(\[fairmill\], \[(.*)\]\)$', read(f'{TOP}/configure.ac'), re.M)[1]


class Commands:
    """A directory, and commands that run in it.  `out` and `err` contain the output of the last
    command."""

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
        """Runs a program and returns its exit status.  `more` is passed to subprocess.run()."""
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
        """Returns the standard output of a command that must succeed, without the last newline."""
        status = self.command(*command, **more)
        if status:
            raise RuntimeError(f"'{' '.join(map(str, command))}' ended with {status}: {self.out}{self.err}")
        return self.out.removesuffix('\n')
