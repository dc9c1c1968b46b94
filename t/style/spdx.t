#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Tests that each file of fairmill names its licence."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import TOP

# Data and pictures that programs wrote, the licence itself, and files that cannot have a comment.
WITHOUT = (':!LICENSE', ':!t/data/**', ':!t/fuzz/corpus-*/**', ':!debian/changelog', ':!debian/source/format', ':!doc/*.png')
LICENCE = re.compile(rb'SPDX-License-Identifier: MIT( \*/| -->)?$', re.M)


def git(*arguments):
    return subprocess.run(['git', '-c', 'safe.directory=*', '-C', TOP, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def has_licence(name):
    with open(os.path.join(TOP, name), 'rb') as file:
        return LICENCE.search(b''.join(file.readline() for _ in range(5)))


def body():
    tap.ok(git('ls-files', '--error-unmatch', 'configure.ac'), 'git lists the tracked files')
    tracked = git('ls-files', '--', *WITHOUT).splitlines()
    tap.ok(len(tracked) > 100, 'the checkout has files')
    tap.empty((name for name in tracked if not has_licence(name)),
              'each file names its licence in the first five lines')


if not os.path.exists(os.path.join(TOP, '.git')):
    tap.not_here('not a git checkout')
tap.main(body)
