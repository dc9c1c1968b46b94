#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""The build's lists leave nothing out, and name nothing twice."""

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
    """Names in the lists of a makefile, each as often as it stands there."""
    lines = (re.sub(r'^\w* [+:]*=', '', line) for line in text.splitlines())
    return [word for line in lines if line[:1].isspace() for word in line.replace('\\', ' ').split()
            if '/' in word and not re.search(r'[$(:]', word)]


def lists(text):
    """{variable: names}"""
    return {name: listed(lines) for name, lines in re.findall(r'^(\w+)( =.*(?:\n[ \t].*)*)', text, re.M)}


def twice(names):
    return sorted(name for name, count in collections.Counter(names).items() if count > 1)


def scripts():
    """Tests in files that say what runs them."""
    for path in sorted(glob.glob('t/**/*.t', recursive=True)):
        with open(path, 'rb') as file:
            if file.read(2) == b'#!':
                yield path


def libraries():
    """Packages that a build takes, as build-aux/packages.sh has them."""
    names = subprocess.run(['bash', '-c', '. build-aux/packages.sh; for list in "${!packages_@}"; do declare -n names=$list; '
                            'printf "%s\\n" "${names[@]}"; done'], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return {name for name in names if re.fullmatch('lib.*-dev', name)} - {'libc6-dev', 'libclang-rt-dev'}


def body():
    os.chdir(TOP)
    text = read('files.am')
    tap.ok(text, 'there is a list of files')
    if os.path.exists('.git'):
        made = subprocess.run(['build-aux/list-files.sh'], stdout=subprocess.PIPE, text=True, check=True).stdout
        tap.ok(made == text, 'files.am is what ./autogen.sh would make of the files that are there',
               *sorted(set(made.splitlines()) ^ set(text.splitlines())))

    sources = listed(text.partition('\nEXTRA_DIST')[0])
    tap.empty((name for name in twice(sources) if not re.search(r'^t/fuzz/|\.sh$|\.t$', name)), 'no list of sources names a file twice')
    by_hand = {name for name in listed(read('Makefile.am')) if re.search(r'\.[cht]$', name)}
    tap.empty(sorted(by_hand & set(listed(text))), 'no file of a made list stands in Makefile.am too')

    of_tests = {name: names for name, names in lists(text).items() if name.endswith('_TESTS')}
    in_tests = [name for variable, names in of_tests.items() if variable != 'QUICK_TESTS' for name in names]
    tap.ok(len(in_tests) > 100, 'there are lists of tests')
    tap.empty(twice(in_tests), 'no test is in two lists')
    tap.empty((path for path in scripts() if path not in in_tests),
              'every test script is in a list: what it needs is a word that list-files.sh knows')
    tap.empty((path for path in scripts() if not os.access(path, os.X_OK)), 'every test script can be executed')

    depends = re.search(r'^Build-Depends:.*(?:\n .*)*', read('debian/control'), re.M)[0]
    tap.empty(sorted(libraries() - set(re.findall('^ (lib[^ ,]*)', depends, re.M))),
              'the Debian package is built with every library')


tap.main(body)
