#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Tests that the build's lists are complete and free of duplicates."""

import collections
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import TOP, read


def listed(text):
    """Returns the names in the lists of a makefile, with duplicates."""
    lines = (re.sub(r'^\w* [+:]*=', '', line) for line in text.splitlines())
    return [word for line in lines if line[:1].isspace() for word in line.replace('\\', ' ').split()
            if '/' in word and not re.search(r'[$(:]', word)]


def lists(text):
    """Returns {variable: names}."""
    return {name: listed(lines) for name, lines in re.findall(r'^(\w+)( =.*(?:\n[ \t].*)*)', text, re.M)}


def twice(names):
    return sorted(name for name, count in collections.Counter(names).items() if count > 1)


def scripts():
    """Yields the test files that name an interpreter."""
    for path in sorted(glob.glob('t/**/*.t', recursive=True)):
        with open(path, 'rb') as file:
            if file.read(2) == b'#!':
                yield path


def libraries():
    """Returns the packages that a build needs, according to build-aux/packages.sh."""
    names = subprocess.run(['bash', '-c', '. build-aux/packages.sh; for list in "${!packages_@}"; do declare -n names=$list; '
                            'printf "%s\\n" "${names[@]}"; done'], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return {name for name in names if re.fullmatch('lib.*-dev', name)} - {'libc6-dev', 'libclang-rt-dev'}


def body():
    os.chdir(TOP)
    text = read('files.am')
    tap.ok(text, 'the list of files exists')
    if os.path.exists('.git'):
        made = subprocess.run(['build-aux/list-files.sh'], stdout=subprocess.PIPE, text=True, check=True).stdout
        tap.ok(made == text, 'files.am is the list that ./autogen.sh would write',
               *sorted(set(made.splitlines()) ^ set(text.splitlines())))

    sources = listed(text.partition('\nEXTRA_DIST')[0])
    tap.empty((name for name in twice(sources) if not re.search(r'^t/fuzz/|\.sh$|\.t$', name)), 'no list of sources names a file twice')
    by_hand = {name for name in listed(read('Makefile.am')) if re.search(r'\.[cht]$', name)}
    tap.empty(sorted(by_hand & set(listed(text))), 'Makefile.am names no file of a generated list')

    of_tests = {name: names for name, names in lists(text).items() if name.endswith('_TESTS')}
    in_tests = [name for variable, names in of_tests.items() if variable != 'QUICK_TESTS' for name in names]
    tap.ok(len(in_tests) > 100, 'the lists of tests exist')
    tap.empty(twice(in_tests), 'no test is in two lists')
    tap.empty((path for path in scripts() if path not in in_tests),
              'every test script is in a list, with a requirement that list-files.sh knows')
    tap.empty((path for path in scripts() if not os.access(path, os.X_OK)), 'every test script is executable')

    depends = re.search(r'^Build-Depends:.*(?:\n .*)*', read('debian/control'), re.M)[0]
    tap.empty(sorted(libraries() - set(re.findall('^ (lib[^ ,]*)', depends, re.M))),
              'the Debian package is built with every library')


tap.main(body)
