#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Tests that the manual is well-formed and agrees with the program."""

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
    """Yields (kind of finding, advice) from the source of check."""
    for text in re.findall(r'    FINDING\((.*?)\),\n', code, re.S):
        name, _, remedy = re.findall(r'"([^"]*)"', re.sub(r'"\s+"', '', text))[:3]
        yield name, remedy.replace('`', '') + '.'


def told(manual):
    for name, remedy in re.findall(r'=item B<(\w+)>\n\n(?:(?!=item|=back).)*?What to do: (.*?)\n\n',
                                   re.sub('C<([^>]*)>', r'\1', manual), re.S):
        yield name, re.sub(r'\s+', ' ', remedy)


SECTIONS = ('NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXAMPLES', 'EXIT STATUS', 'SEE ALSO')
# Pages that describe all tables or all settings.
LONG_PAGES = ('fairmill-tables.7', 'fairmill.conf.5')


def pages_of_commands():
    """Returns {command: pages} for each command in the source."""
    code = ''.join(read(path) for path in glob.glob(f'{TOP}/src/command/**/*.c', recursive=True))
    commands = re.findall(r'^const struct command command_\w+ = {\n    \.name = "(\w+)"', code, re.M)
    return {command: [page for page in PAGES if re.fullmatch(rf'fairmill-{command}\.[18]', page)] for command in commands}


def section(pod, name):
    return re.search(rf'^=head1 {name}\n\n(.*?)\n*(?=^=head1 |\Z)', pod, re.M | re.S).group(1)


def rendered(place, page):
    return place.printed('man', '-E', 'UTF-8', '-l', f'{BUILD}/man/{page}',
                         env=dict(os.environ, LC_ALL='C.UTF-8', MANWIDTH='80', MAN_KEEP_FORMATTING='', PAGER='cat'))


def commands_have_pages(place):
    pages = pages_of_commands()
    tap.ok(len(pages) > 20, 'the source has commands')
    tap.empty((command for command, found in pages.items() if len(found) != 1), 'each command has one page')
    for page in (found[0] for found in pages.values() if found):
        pod = read(f'{TOP}/man/{page}.pod')
        headings = [heading for heading in re.findall(r'^=head1 (.*)$', pod, re.M) if heading in SECTIONS]
        tap.same(headings, list(SECTIONS), f'{page} has the sections of a command, in their order')
        if 'SYNOPSIS' in headings:
            text = rendered(place, page)
            synopsis = re.search(r'^SYNOPSIS\n(.*?)^DESCRIPTION$', text, re.M | re.S).group(1)
            tap.ok(len(synopsis.rstrip().splitlines()) <= 15, f'the synopsis of {page} has at most 15 lines', synopsis)


def pages_are_short(place):
    for page in PAGES:
        pod = read(f'{TOP}/man/{page}.pod')
        name = section(pod, 'NAME')
        tap.like(name, rf'^{re.escape(page[:-2])} - [^\n]*[^.\n]$', f'{page}: NAME is one phrase without a full stop')
        if page not in LONG_PAGES:
            tap.ok(len(pod.encode()) <= 20 * 1024, f'{page} has at most 20 KB of POD', len(pod.encode()))
    for page in ('fairmill.1', 'fairmill.8'):
        lines = rendered(place, page).count('\n')
        tap.ok(lines <= 200, f'{page} has at most 200 lines', lines)


def page_is_good(place, name):
    page = f'{BUILD}/man/{name}'
    tap.ok(os.path.exists(page) and os.path.getsize(page), f'{name} was built')
    place.command('man', '--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', page,
                  env=dict(os.environ, LC_ALL='C.UTF-8', MANROFFSEQ='', MANWIDTH='80'))
    tap.ok(place.out.count('\n') > 100, f'{name} is longer than a title')
    # The installation path may be longer than a line.
    tap.empty((line for line in place.err.splitlines() if "can't break line" not in line), f'man reads {name} without a warning')
    tap.unlike(read(page), '@[A-Z]+@', f'{name} has no unexpanded variable')


def body():
    with Commands() as place:
        for pod in sorted(glob.glob(f'{TOP}/man/*.pod')):
            place.works(f'{os.path.basename(pod)} is valid POD', 'podchecker', '-warnings', '-warnings', pod)
        for name in PAGES:
            page_is_good(place, name)
        commands_have_pages(place)
        pages_are_short(place)
        sample = place.printed(f'{BUILD}/settings-doc', '--sample')
    tap.same(f'{sample}\n', read(f'{TOP}/etc/fairmill.conf'), 'etc/fairmill.conf is the output of settings-doc')

    keys = re.findall('^#?([a-z_]+) = ', sample, re.M) + re.findall('^#([a-z_]+) =$', sample, re.M)
    page = read(f'{BUILD}/man/fairmill.conf.5')
    tap.empty(sorted(key for key in set(keys) if key not in page), 'fairmill.conf(5) has every key of the sample')

    problems = re.findall(r'\[HEALTH_\w+\] = \{ "(\w+)",\s+"([^"]+)"', read(f'{TOP}/src/results/health.c'))
    tap.same(re.findall(r'^=item B<(.*)>: C<(\w+)>', read(f'{TOP}/man/fairmill-status.1.pod'), re.M),
             [(words, name) for name, words in problems], 'fairmill-status(1) explains each problem by its text')

    kinds = dict(remedies(read(f'{TOP}/src/core/finding.c')))
    tap.ok(len(kinds) > 20, 'the source has kinds of findings')
    tap.same(dict(told(read(f'{TOP}/man/fairmill-tables.7.pod'))), kinds,
             'fairmill-tables(7) has the advice for each kind of finding')


for program in ('podchecker', 'man'):
    if not shutil.which(program):
        tap.skip_all(f'{program} is not installed')
tap.main(body)
