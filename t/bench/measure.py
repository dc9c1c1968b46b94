# SPDX-License-Identifier: MIT
"""Functions of all benchmarks: sizes from the environment, timed commands, and Markdown tables."""

import os
import platform
import re
import subprocess
import sys
import textwrap

import servers
from program import FAIRMILL, write_settings

TOOLS = os.path.abspath(os.path.join(os.environ.get('top_builddir', os.path.join(servers.TOP, 'build')), 't', 'bench'))
SITE = os.path.join(TOOLS, 'site')


PAGE = os.path.join(servers.TOP, 'doc', 'benchmarks.md')


def number(name, default):
    return int(os.environ.get(name) or default)


def numbers(name, default):
    return [int(word) for word in (os.environ.get(name) or default).split()]


def machine_megabytes():
    return os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') // 2**20


def machine():
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        name = re.search(r'model name\s*: (.*)', file.read())
    return f'{os.cpu_count()} cores ({name[1] if name else platform.machine()}), ' \
           f'{machine_megabytes() / 1024:.0f} GiB'


def say(text):
    print(f'# {text}', file=sys.stderr, flush=True)


def timed(command, env=None):
    """Runs a command.  Returns (seconds, CPU seconds, peak memory in KiB, page faults), and its
    standard error.  Raises RuntimeError if it fails."""
    done = subprocess.run([os.path.join(TOOLS, 'timed'), *command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, env=env)
    if done.returncode:
        raise RuntimeError(f"'{' '.join(command)}': {done.stderr.strip()}")
    seconds, processor, kibibytes, faults = done.stdout.split()
    return (float(seconds), float(processor), int(kibibytes), int(faults)), done.stderr


def drivers_built():
    return [driver for driver in servers.DATABASES
            if not subprocess.run([os.path.join(TOOLS, 'database'), driver, 'ways'], check=False,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode]


WAITING = ('SELECT user_name, COUNT(*) FROM fairmill_job_priority GROUP BY user_name ORDER BY COUNT(*), user_name LIMIT 100;')
ASSOCIATIONS = 'SELECT account, user_name, usage_raw FROM fairmill_fairshare WHERE user_name IN ({});'


def chosen_user(db):
    """Returns the account and the name of a typical user that `results` contains: of the users with
    one association, usage and a pending job, the one with the fewest pending jobs."""
    waiting = {user: int(count) for user, count in db.sql(WAITING, 'results')}
    rows = db.sql(ASSOCIATIONS.format(', '.join(f"'{user}'" for user in waiting)), 'results')
    users = [user for _, user, _ in rows]
    return min((waiting[user], account, user) for account, user, usage in rows if users.count(user) == 1 and float(usage) > 0)[1:]


def shown(seconds):
    return f'{seconds:.2f}' if seconds >= 1 else f'{seconds:.3f}'


def table(headings, rows):
    lines = ['| ' + ' | '.join(headings) + ' |', '| ' + ' | '.join('---' for _ in headings) + ' |']
    return '\n'.join(lines + ['| ' + ' | '.join(map(str, row)) + ' |' for row in rows]) + '\n'


def write_page(heading, text):
    """Replaces a section of doc/benchmarks.md, or adds it at the end, if BENCH_WRITE is `yes`."""
    if os.environ.get('BENCH_WRITE') != 'yes':
        return
    with open(PAGE, encoding='utf-8') as file:
        before, _, after = file.read().partition(f'\n{heading}\n')
    _, found, rest = after.partition('\n## ')
    text = '\n'.join(line if line.startswith(('|', '#')) else textwrap.fill(line, 98) for line in text.split('\n'))
    with open(PAGE, 'w', encoding='utf-8') as file:
        file.write(f'{before}\n{heading}\n\n{text}{found}{rest}')


class Place:
    """A source and a results database in `db`, and the settings with which one program publishes
    them."""

    def __init__(self, db, folder, name='results', program=FAIRMILL):
        self.db, self.name, self.program = db, name, program
        self.settings = os.path.join(folder, f'{name}.conf')
        self.user_settings = os.path.join(folder, f'{name}-user.conf')

    def configure(self, **sections):
        source, results = self.db.sections(self.name)
        given = dict(source=dict(source, deadline='1h'), results=results, usage=dict(time_zone='UTC'))
        for section, keys in sections.items():
            given[section] = dict(given.get(section, {}), **keys)
        write_settings(self.settings, given)
        write_settings(self.user_settings, dict(results=results))

    def command(self, *arguments):
        return [self.program, '-c', self.settings, *map(str, arguments)]

    def user_command(self, *arguments):
        """Returns the command of a user who can read only the results."""
        return [self.program, '-c', self.user_settings, *map(str, arguments)]

    def time(self, *arguments):
        return timed(self.command(*arguments))[0]

    def ask(self, *arguments):
        return subprocess.run(self.command(*arguments), stdout=subprocess.PIPE, text=True, check=True).stdout
