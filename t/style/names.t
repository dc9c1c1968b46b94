#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Tests that the name of a function or struct is unique in src/, so that a search finds one
definition."""

import collections
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import TOP

# Each program has its own.  Names in capitals are macros, which ctags reads as functions.
SHARED = {'main'}


def definitions(kinds):
    """Returns by name the files that define it.  A file may define it twice, between #if and
    #else."""
    listing = subprocess.run(['ctags', '--quiet=yes', '--options=NONE', '--languages=C', '--langmap=C:.c.h', f'--kinds-C={kinds}',
                              '--fields=', '-R', '-f', '-', 'src'], cwd=TOP, stdout=subprocess.PIPE, text=True, check=True)
    found = collections.defaultdict(set)
    for line in listing.stdout.splitlines():
        if not line.startswith('!'):
            name, file = line.split('\t')[:2]
            if not name.startswith('__anon'):
                found[name].add(file)
    return found


def shared(found):
    return [f"{name}: {' '.join(sorted(files))}" for name, files in sorted(found.items())
            if len(files) > 1 and name not in SHARED and not name.isupper()]


def body():
    functions, structs = definitions('f'), definitions('s')
    tap.ok(len(functions) > 1000 and len(structs) > 100, 'ctags finds the functions and structs')
    tap.empty(shared(functions), 'no two functions in src/ share a name')
    tap.empty(shared(structs), 'no two structs in src/ share a name')


if not shutil.which('ctags') or b'Universal Ctags' not in subprocess.run(['ctags', '--version'], stdout=subprocess.PIPE,
                                                                        stderr=subprocess.STDOUT, check=False).stdout:
    tap.not_here('universal-ctags is not installed')
tap.main(body)
