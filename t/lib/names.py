#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""The promised names of fairmill (doc/compatibility.md), one a line: `column TABLE NAME`,
`setting SECTION.KEY = DEFAULT`, `command NAME`, `option COMMAND --NAME`, `letter COMMAND -X --NAME`,
`action COMMAND NAME`, `field COMMAND NAME` (of JSON), `heading COMMAND NAME` (of CSV), `metric NAME`,
`finding KIND`, `status NUMBER`.

    t/lib/names.py >t/data/releases/VERSION-names     names of this build; FAIRMILL and TOP select another
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NOW = '1750500000'
# The arguments with which each command prints rows of the demonstration.
PRINTING = {'check': (), 'verify': (), 'status': (), 'show': (), 'prio': (), 'explain': ('beatriz',),
            'whatif': ('--shares', 'physics=5'), 'forecast': ('beatriz',), 'compare': (), 'history': ('beatriz',),
            'statement': ('--since', '2025-05-01'), 'backtest': ('--since', '2025-06-18', '--half-life', '14-0'),
            'ledger': ('list',), 'diff': ('sshare',), 'shares': ('diff', 'shares')}


def text_of(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def sections(pod):
    """Returns {heading: text}."""
    parts = re.split(r'^=head1 (.*)\n', pod, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def for_readers(pod):
    """Returns the tables and views for readers, according to the manual."""
    names = set()
    for heading, text in sections(pod).items():
        if heading.startswith('fairmill_') and not re.match(r'\s*(Internal|Nothing for readers)', text):
            names |= set(heading.split(', '))
        elif heading == 'VIEWS WITHOUT NAMES':
            names |= set(re.findall(r'^=item B<(fairmill_\w+)>', text, re.M))
    return names


def columns(results, pod):
    db = sqlite3.connect(results)
    for table in sorted(for_readers(pod)):
        for name, in db.execute('SELECT name FROM pragma_table_xinfo(?)', (table,)):
            if not re.fullmatch(r'tres_[0-9]+', name):  # the stored form of fairmill_tres_day
                yield f'column {table} {name}'
    db.close()


def settings(sample):
    section = None
    for line in sample.splitlines():
        if match := re.fullmatch(r'\[(\w+)\]', line):
            section = match.group(1)
        elif match := re.fullmatch(r'#?([a-z_]+) =(.*)', line):
            yield f'setting {section}.{match.group(1)} ={match.group(2)}'


OPTION = re.compile(r' +(?:-(\w), |    )?--([A-Za-z][a-z=-]*)(?: |$)')


def options(command, text):
    for line in text.splitlines()[1:]:
        if match := OPTION.match(line):
            letter, name = match.groups()
            yield f'option {command} --{name}'
            if letter:
                yield f'letter {command} -{letter} --{name}'
        elif command in ('ledger', 'shares') and (match := re.match(r'  ([a-z]+) ', line)):
            yield f'action {command} {match.group(1)}'


def keys(value):
    if isinstance(value, dict):
        for key, below in value.items():
            yield key
            yield from keys(below)
    elif isinstance(value, list):
        for below in value:
            yield from keys(below)


def collect(program, top, sample):
    """Returns all lines, sorted.  `sample` is the text of etc/fairmill.conf from the program's
    table."""
    folder = tempfile.gettempdir()

    def run(*arguments, status=0):
        done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              cwd=folder, env={name: value for name, value in os.environ.items() if name != 'FAIRMILL_CONF'})
        if done.returncode not in (0, status):
            raise RuntimeError(f"{arguments} ended with {done.returncode}: {done.stderr}")
        return done.stdout
    lines = set(settings(sample))
    tables = text_of(top, 'man', 'fairmill-tables.7.pod')
    # Up to 0.3.0 the exit statuses were in fairmill(8).
    statuses = sections(next(text_of(top, 'man', name) for name in ('fairmill-cli.7.pod', 'fairmill.8.pod')
                             if os.path.exists(os.path.join(top, 'man', name))))['EXIT STATUS']
    lines |= {f'status {number}' for number in re.findall(r'^=item B<(\d+)>', statuses, re.M)}
    lines |= {f'finding {kind}' for kind in
              re.findall(r'^=item B<([a-z_]+)>$', sections(tables)['fairmill_finding'], re.M)}
    commands = re.findall(r'^  ([a-z]+) ', run('--help'), re.M)
    lines |= {f'command {name}' for name in commands}
    for command in commands:
        if command != 'help':
            # Up to 0.3.0 --help listed all options.
            text = run('help', '--all-options', command, status=64) or run(command, '--help')
            lines |= set(options(command, text))
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        conf, results, source = (os.path.join(folder, name) for name in ('fm.conf', 'r.db', 'a.db'))
        with open(conf, 'w', encoding='utf-8') as file:
            file.write(f'[source]\ndriver = sqlite\ndatabase = {source}\n[results]\ndriver = sqlite\n'
                       f'database = {results}\n[usage]\ntime_zone = UTC\n')
        subprocess.run([os.path.join(top, 'sql', 'demo', 'make-demo.py'), source, NOW], check=True, stdout=subprocess.DEVNULL)
        run('-c', conf, 'init')
        run('-c', conf, 'run', '--now', NOW)
        run('-c', conf, 'ledger', 'credit', '5', '-u', 'beatriz', '--why', 'x', '--yes')
        lines |= set(columns(results, tables))
        with open(os.path.join(folder, 'sshare'), 'w', encoding='utf-8') as file:
            file.write(run('-c', conf, 'show', '--parsable'))
        if 'shares' in commands:
            with open(os.path.join(folder, 'shares'), 'w', encoding='utf-8') as file:
                file.write(run('-c', conf, 'shares', 'export').replace('Fairshare=1\n', 'Fairshare=77\n'))
        for command, arguments in PRINTING.items():
            if command not in commands:
                continue
            for form in {'--json', '--csv'} & {line.split()[-1] for line in lines if line.startswith(f'option {command} ')}:
                printed = run('-c', conf, command, *arguments, form, status=1)
                lines |= ({f'field {command} {key}' for key in keys(json.loads(printed))} if form == '--json' else
                          {f'heading {command} {name}' for name in printed.partition('\n')[0].split(',')})
        lines |= {f'metric {name}' for name in re.findall(r'^# TYPE (\w+)', run('-c', conf, 'metrics'), re.M)}
    return sorted(lines)


if __name__ == '__main__':
    TOP = os.environ.get('TOP') or os.path.join(HERE, '..', '..')
    FAIRMILL = os.environ.get('FAIRMILL') or os.path.join(TOP, 'build', 'fairmill')
    VERSION = subprocess.run([FAIRMILL, '--version'], capture_output=True, text=True, check=True).stdout.split()[1]
    print(f'# SPDX-License-Identifier: MIT\n# Promised names of {VERSION} (t/lib/names.py).')
    print('\n'.join(collect(FAIRMILL, TOP, text_of(TOP, 'etc', 'fairmill.conf'))))
