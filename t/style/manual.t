#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""The manual is well-formed, and as the program is."""

import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import BUILD, TOP, Commands, read

PAGES = sorted(os.path.basename(pod).removesuffix('.pod') for pod in glob.glob(f'{TOP}/man/*.pod'))


def remedies(code):
    """Of each kind of finding: what to do, as check says it."""
    for text in re.findall(r'    FINDING\((.*?)\),\n', code, re.S):
        name, _, remedy = re.findall(r'"([^"]*)"', re.sub(r'"\s+"', '', text))[:3]
        yield name, remedy.replace('`', '') + '.'


def told(manual):
    for name, remedy in re.findall(r'=item B<(\w+)>\n\n(?:(?!=item|=back).)*?What to do: (.*?)\n\n',
                                   re.sub('C<([^>]*)>', r'\1', manual), re.S):
        yield name, re.sub(r'\s+', ' ', remedy)


def page_is_good(place, name):
    page = f'{BUILD}/man/{name}'
    tap.ok(os.path.exists(page) and os.path.getsize(page), f'{name} was made')
    place.command('man', '--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', page,
                  env=dict(os.environ, LC_ALL='C.UTF-8', MANROFFSEQ='', MANWIDTH='80'))
    tap.ok(place.out.count('\n') > 100, f'{name} is more than a title')
    # Where it is installed may be a path that is longer than a line.
    tap.empty((line for line in place.err.splitlines() if "can't break line" not in line), f'man reads {name} without a warning')
    tap.unlike(read(page), '@[A-Z]+@', f'nothing in {name} is left to fill in')


def body():
    with Commands() as place:
        for pod in sorted(glob.glob(f'{TOP}/man/*.pod')):
            place.works(f'{os.path.basename(pod)} is good POD', 'podchecker', '-warnings', '-warnings', pod)
        for name in PAGES:
            page_is_good(place, name)
        sample = place.printed(f'{BUILD}/settings-doc', '--sample')
    tap.same(f'{sample}\n', read(f'{TOP}/etc/fairmill.conf'), 'etc/fairmill.conf is the sample that settings-doc makes')

    keys = re.findall('^#?([a-z_]+) = ', sample, re.M) + re.findall('^#([a-z_]+) =$', sample, re.M)
    page = read(f'{BUILD}/man/fairmill.conf.5')
    tap.empty(sorted(key for key in set(keys) if key not in page), 'fairmill.conf(5) has every key of the sample')

    kinds = dict(remedies(read(f'{TOP}/src/core/finding.c')))
    tap.ok(len(kinds) > 20, 'there are kinds of findings')
    tap.same(dict(told(read(f'{TOP}/man/fairmill-tables.7.pod'))), kinds, 'fairmill-tables(7) says of each what to do')


for program in ('podchecker', 'man'):
    if not shutil.which(program):
        tap.skip_all(f'{program} is not there')
tap.main(body)
