#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Makes random mutants of the source in a copy of the tree, and prints the mutants that no test detects.  Each of
them shows a missing test or unnecessary code, or is equivalent to the original.

    build-aux/mutants.py [--count N] [--seconds N] [--seed N] [--jobs N] [--only FILE] [DIRECTORY...]

DIRECTORYs of src/ are changed; the default is core, results and compute.  The copy is in build-mutants/.  A mutant
is tested, until a test fails, with the unit tests, the quick tests of commands, and the short comparisons with
second implementations.  The fastest tests come first."""

import argparse
import glob
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
PLACE = os.path.join(TOP, 'build-mutants')
TREE = os.path.join(PLACE, 'tree')
BUILD = os.path.join(PLACE, 'build')
MEMORY = 8 << 30

MORE_TESTS = [f't/slurm/{name}.t' for name in
              ('documents', 'gpus', 'history', 'layouts', 'past', 'property', 'rollup', 'sprio')]


# ---- changes ----

OPERATORS = {'<=': ('<', '>'), '>=': ('>', '<'), '==': ('!=',), '!=': ('==',), '<': ('<=', '>='), '>': ('>=', '<='),
             '&&': ('||',), '||': ('&&',), '+': ('-',), '-': ('+',), '*': ('/',), '/': ('*',), '%': ('*',),
             '+=': ('-=', '='), '-=': ('+=', '='), '*=': ('/=', '='), '/=': ('*=',), '++': ('--',), '--': ('++',),
             '&': ('|',), '|': ('&',), '<<': ('>>',), '>>': ('<<',), '|=': ('&=', '='), '&=': ('|=', '=')}
BINARY_ONLY = set('+-*&')  # without blanks on both sides they are a sign, a pointer or an address
TOKEN = re.compile(r'''(?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|^[ \t]*\#(?:\\\n|[^\n])*|->|<[a-z/_]+\.h>)
    |(?P<number>\b\d+(?:\.\d+)?\b)|(?P<word>\b(?:true|false)\b)
    |(?P<operator><<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|[-+*/%<>&|])''',
                   re.VERBOSE | re.DOTALL | re.MULTILINE)
CONDITION = re.compile(r'\b(?:if|while) \(')
# A line with one call or assignment.
STATEMENT = re.compile(r'(?<=[;{})]\n)[ \t]+(?!return|break|continue|goto|else|case|default|struct|static|const|enum|union)'
                       r'(?:[\w>.\[\]*()-]+ [-+*/|&^]?= [^;{}\n]+|\*?[\w>.\[\]-]+(?:\+\+|--)|[a-z_0-9>.-]+\([^;{}\n]*\));(?=\n)')
UNSEEN = re.compile(r'\b(?:free|\w+_free|\w+_destroy|__builtin_prefetch|fetch_\w+)\(')


def closing(text, at):
    """Return the position after the parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == '(') - (text[i] == ')')
        if not depth:
            return i + 1
    return len(text)


def changes(text):
    """Return a list of (kind, from, to, replacement)."""
    found, dead = [], []
    for match in TOKEN.finditer(text):
        start, end = match.span()
        if match['skip']:
            dead.append((start, end))
        elif match['number']:
            number = match['number']
            others = [str(int(number) + 1), str(int(number) - 1)] if number.isdigit() and not number.startswith('0x') else []
            failure = text[:start].endswith(' -')  # callers only test for 0, so -2 is the same as -1
            if not failure and text[end:end + 1] not in 'xX' and (number == '0' or not number.startswith('0')):
                found += [('number', start, end, other) for other in others if not other.startswith('-')]
        elif match['word']:
            found.append(('number', start, end, 'false' if match['word'] == 'true' else 'true'))
        else:
            sign = match['operator']
            spaced = text[start - 1] == ' ' and text[end:end + 1] in ' \n'
            if sign in BINARY_ONLY and not spaced or sign in '<>' and not spaced:
                continue
            found += [('operator', start, end, other) for other in OPERATORS.get(sign, ())]
    for match in CONDITION.finditer(text):
        start = match.end() - 1
        found.append(('condition', start, closing(text, start), f'(!{text[start:closing(text, start)]})'))
    for match in STATEMENT.finditer(text):
        if not UNSEEN.search(match[0]):
            found.append(('statement', match.start(), match.end(), ''))
    dead.append((0, start_of_code(text)))
    return [change for change in found if not any(low <= change[1] < high for low, high in dead)]


def start_of_code(text):
    """Return the position after the last #include line."""
    last = [match.end() for match in re.finditer(r'^#include.*$', text, re.MULTILINE)]
    return last[-1] if last else 0


class Mutant:
    def __init__(self, file, text, change):
        self.file, self.text = file, text
        self.kind, start, end, new = change
        self.mutated = text[:start] + new + text[end:]
        self.line = text.count('\n', 0, start if text[start] != '\n' else start + 1) + 1
        first, last = text.rfind('\n', 0, start) + 1, text.find('\n', end)
        self.before = text[first:last]
        self.after = self.mutated[first:last + len(new) - (end - start)]

    def write(self):
        write(self.file, self.mutated)

    def take_back(self):
        write(self.file, self.text)

    def __str__(self):
        lines = [f'{self.file}:{self.line}: {self.kind}']
        lines += ['    - ' + line.strip() for line in self.before.split('\n')]
        lines += ['    + ' + line.strip() for line in self.after.split('\n') if line.strip()]
        return '\n'.join(lines)


def write(file, text):
    with open(os.path.join(TREE, file), 'w', encoding='utf-8') as out:
        out.write(text)


def draw(files, r):
    """Yield changes forever: choose a kind first, then a place of this kind, so that frequent kinds are not preferred."""
    places = {}
    for file in files:
        with open(os.path.join(TREE, file), encoding='utf-8') as source:
            text = source.read()
        for change in changes(text):
            places.setdefault(change[0], []).append((file, text, change))
    while places:
        kind = r.choice(sorted(places))
        yield Mutant(*places[kind].pop(r.randrange(len(places[kind]))))
        if not places[kind]:
            del places[kind]


# ---- tests ----

def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(*command, seconds=600, **more):
    """Return (success, output).  If the time is up, end the process and its children."""
    process = subprocess.Popen(command, cwd=BUILD, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True, preexec_fn=limited, text=True, errors='replace', **more)
    try:
        said = process.communicate(timeout=seconds)[0]
        return process.returncode == 0, said
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return False, 'it lasts too long'


def copy_tree():
    """Write changed files only, so that little is built again."""
    def unwanted(folder, names):
        return [n for n in names if folder == TOP and (n in ('.git', 'fuzz') or n.startswith('build') and n != 'build-aux')]

    def copy(old, new):
        if not os.path.exists(new) or open(old, 'rb').read() != open(new, 'rb').read():
            shutil.copy2(old, new)
            os.utime(new)
    shutil.copytree(TOP, TREE, ignore=unwanted, dirs_exist_ok=True, symlinks=True, copy_function=copy)
    os.makedirs(BUILD, exist_ok=True)
    if not os.path.exists(os.path.join(BUILD, 'Makefile')):
        compiler = 'ccache gcc' if shutil.which('ccache') else 'gcc'
        good, said = run(os.path.join(TREE, 'configure'), f'CC={compiler}', 'CFLAGS=-O1', '--disable-server-tests')
        if not good:
            sys.exit(f'mutants.py: configure failed:\n{said}')


def needs_little(test):
    with open(os.path.join(TREE, test), encoding='utf-8') as file:
        return '# needs: sqlite\n' in file.readlines()[:5]


class Trials:
    def __init__(self, jobs):
        self.make = 'make', '-s', f'-j{jobs}'
        scratch = subprocess.run([os.path.join(TREE, 'build-aux', 'scratch.sh')], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout.strip()
        self.environment = {**os.environ, 'FAIRMILL': os.path.join(BUILD, 'fairmill'), 'top_srcdir': TREE, 'top_builddir': BUILD,
                            'TMPDIR': scratch, 'PYTHONDONTWRITEBYTECODE': '1', 'FAIRMILL_PAIRS': '40', 'FAIRMILL_SITES': '4'}
        self.environment.pop('FAIRMILL_LONG', None)
        self.seconds = {}

    def test(self, name):
        path = name if name.startswith('t/unit/') else os.path.join(TREE, name)
        return run('prove', '-Q', path, seconds=10 + 10 * self.seconds.get(name, 60), env=self.environment)

    def begin(self):
        """Return the tests that pass without a change, the longest last."""
        good, said = run(*self.make, 'all', 'check-programs')
        if not good:
            sys.exit(f'mutants.py: the tree does not build:\n{said[-3000:]}')
        units = sorted(glob.glob('t/unit/*.t', root_dir=BUILD))
        others = [name for name in sorted(glob.glob('t/command/*.t', root_dir=TREE)) + MORE_TESTS if needs_little(name)]
        for name in units + others:
            begun = time.monotonic()
            if self.test(name)[0]:
                self.seconds[name] = time.monotonic() - begun
            else:
                print(f"'{name}' fails without any change; skipped", flush=True)
        self.units, self.others = (sorted(filter(self.seconds.get, names), key=self.seconds.get) for names in (units, others))

    def killer(self, mutant):
        """Return the test that fails, 'compiler', or None."""
        mutant.write()
        try:
            if not run(*self.make, 'check-programs')[0]:
                return 'compiler'
            for name in self.units:
                if not self.test(name)[0]:
                    return name
            if not run(*self.make, 'all')[0]:
                return 'compiler'
            return next((name for name in self.others if not self.test(name)[0]), None)
        finally:
            mutant.take_back()


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1].strip())
    parser.add_argument('--count', type=int, default=20)
    parser.add_argument('--seconds', type=int, default=3600)
    parser.add_argument('--seed', type=int, default=int(time.time()))
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--only')
    parser.add_argument('folders', nargs='*', default=['core', 'results', 'compute'])
    return parser.parse_args()


def main():
    asked = arguments()
    until = time.monotonic() + asked.seconds
    copy_tree()
    trials = Trials(asked.jobs)
    trials.begin()
    print(f'seed {asked.seed}', flush=True)
    files = [asked.only] if asked.only else sorted(
        name for folder in asked.folders for name in glob.glob(f'src/{folder}/**/*.c', root_dir=TREE, recursive=True))
    tried, survivors = 0, []
    for mutant in draw(files, random.Random(asked.seed)):
        if tried == asked.count or time.monotonic() > until:
            break
        killer = trials.killer(mutant)
        if killer == 'compiler':
            continue
        tried += 1
        print(f"{'SURVIVES' if not killer else 'killed'}: {mutant.file}:{mutant.line} {mutant.kind}"
              + (f' by {killer}' if killer else f'\n{mutant}'), flush=True)
        if not killer:
            survivors.append(mutant)
    print(f'{tried} mutants, {len(survivors)} survive')
    for mutant in survivors:
        print(mutant)
    return tried == len(survivors)  # then nothing is tried at all


sys.exit(main())
