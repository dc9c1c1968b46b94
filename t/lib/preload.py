# SPDX-License-Identifier: MIT
"""A library that is loaded before all others, for one program."""

import os
import shutil
import subprocess


def compiler():
    """Returns the command of the compiler, or None if it is missing."""
    return shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')


def make(folder, name, source):
    """Builds the library in this directory and returns its path."""
    path = os.path.join(folder, name)
    with open(f'{path}.c', 'w', encoding='ascii') as file:
        file.write(source)
    subprocess.run([compiler(), '-shared', '-fPIC', '-O1', '-o', f'{path}.so', f'{path}.c'], check=True)
    return f'{path}.so'


def environment(library):
    return {k: v for k, v in os.environ.items() if k != 'FAIRMILL_CONF'} | {
        'LD_PRELOAD': library,
        # Sanitizers check that they are the first library, which is not necessary here.
        'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'}
