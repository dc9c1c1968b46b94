#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs:
"""Tests that formulas give the results of CPython to the last bit while integers are within 2^53,
and fail if CPython raises an exception.  FAIRMILL_LONG=1 tries fifty thousand random formulas
instead of two thousand, FAIRMILL_SEED=N only the formulas of one seed."""

import ast
import builtins
import math
import os
import random
import subprocess
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from program import FAIRMILL
from seeds import seeds

LONG = os.environ.get('FAIRMILL_LONG') == '1'
ANSWERS = os.path.join(os.path.dirname(FAIRMILL), 't', 'pbs', 'answers')

# Python's exceptions, and the reasons that fairmill gives.
FAILURES = {ZeroDivisionError: 'division by zero', OverflowError: 'the number is too large',
            ValueError: 'undefined result', TypeError: 'an integer is required'}

REALS = ['acos', 'acosh', 'asin', 'asinh', 'atan', 'atanh', 'ceil', 'cos', 'cosh', 'erf', 'erfc', 'exp',
         'expm1', 'fabs', 'floor', 'isfinite', 'isinf', 'isnan', 'log', 'log10', 'log1p', 'log2', 'sin',
         'sinh', 'sqrt', 'tan', 'tanh', 'trunc', 'abs', 'cbrt', 'exp2', 'int', 'float', 'bool', 'round', 'round', 'int']
PAIRS = ['atan2', 'copysign', 'fmod', 'log', 'pow', 'remainder']
SEQUENCES = ['sum', 'min', 'max']
REALS = [name for name in REALS if hasattr(math, name) or hasattr(builtins, name)]
OPERATORS = ['+', '-', '*', '/', '//', '%', '+', '-', '*', '/']
BITS = ['&', '|', '^', '<<', '>>']
COMPARISONS = ['<', '<=', '>', '>=', '==', '!=']
EXACT = 2 ** 53


def power(base, exponent):
    """Rejects complex numbers, even if they would be too large."""
    if isinstance(base, float) or isinstance(exponent, float):
        base, exponent = float(base), float(exponent)
        if -math.inf < base < 0 and math.isfinite(exponent) and not exponent.is_integer():
            raise ValueError
    elif abs(base) > 1 and exponent > 2000:
        raise Beyond
    return base ** exponent


def shift_left(left, right):
    if isinstance(left, int) and isinstance(right, int) and right > 2000:
        raise Beyond
    return left << right


def log(*arguments):
    """Rejects the logarithm of infinity to the base of infinity."""
    if arguments == (math.inf, math.inf):
        raise ValueError
    return math.log(*arguments)


class Beyond(Exception):
    """Raised for an integer beyond 2^53."""


def seen(number):
    if isinstance(number, int) and abs(number) > EXACT:
        raise Beyond
    return number


def call(name, *arguments):
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(arguments), keywords=[])


class Watch(ast.NodeTransformer):
    """Passes each number to seen()."""
    def visit_BinOp(self, node):
        self.generic_visit(node)
        own = {ast.Pow: '_power', ast.LShift: '_shift_left'}.get(type(node.op))
        return call('_seen', call(own, node.left, node.right) if own else node)

    def visit_Call(self, node):
        node.args = [self.visit(argument) for argument in node.args]
        return call('_seen', node)

    def visit_Constant(self, node):
        return call('_seen', node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return call('_seen', node)


def python(formula, values):
    """Returns the result as in float.hex(), the class of the exception, or Beyond."""
    tree = ast.fix_missing_locations(Watch().visit(ast.parse(formula, mode='eval')))
    names = dict(values, _power=power, _shift_left=shift_left, _seen=seen, **{name: getattr(math, name) for name in dir(math) if name[0] != '_'})
    names.update(log=log)
    try:
        return float(eval(compile(tree, 'formula', 'eval'), names)).hex()
    except Beyond:
        return Beyond
    except tuple(FAILURES) as failure:
        return next(kind for kind in FAILURES if isinstance(failure, kind))


def ours(lines):
    """Returns the program's results for formulas with values, in the form of python()."""
    text = ''.join('\t'.join([formula] + [f'{name}={value!r}' for name, value in values.items()]) + '\n'
                   for formula, values in lines)
    done = subprocess.run([ANSWERS], input=text, stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    return [answer if answer.split()[0] in ('refused', 'failed') else float.fromhex(answer).hex()
            for answer in done.stdout.splitlines()]


class Writer:
    """Writes a random formula."""

    def __init__(self, r, values):
        self.r, self.values = r, values

    def number(self):
        r = self.r
        return r.choice([
            lambda: str(r.randrange(10)), lambda: str(r.randrange(10 ** r.randrange(1, 18))),
            lambda: repr(r.uniform(0, 10)), lambda: repr(math.ldexp(r.random(), r.randrange(-1074, 1024))),
            lambda: f'{r.randrange(1000)}.', lambda: f'.{r.randrange(1000)}', lambda: f'{r.randrange(100)}e{r.randrange(20)}',
            lambda: r.choice(['pi', 'e', 'tau', 'inf', 'nan', 'True', 'False']),
            lambda: r.choice(['0', '0.0', '1', '2', '0.5', '9007199254740991', '9007199254740992.0', '1e308', '5e-324']),
        ])()

    def items(self, depth):
        """Returns a sequence."""
        r = self.r
        parts = [self.expression(depth - 1) for _ in range(r.randrange(1, 4))]
        if r.randrange(3):
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        return f"[{', '.join(parts)}]"

    def call(self, depth):
        r = self.r
        kind = r.randrange(10)
        if kind < 4:
            name, count = r.choice(REALS), 1
        elif kind < 6:
            name, count = r.choice(PAIRS), 2
        elif kind < 8:
            name, count = r.choice(['min', 'max']), r.randrange(2, 5)
        elif kind < 9:
            return f'round({self.expression(depth - 1)}, {r.randrange(-4, 8)})'
        else:
            return f'{r.choice(SEQUENCES)}({self.items(depth)})'
        return f"{name}({', '.join(self.expression(depth - 1) for _ in range(count))}{r.choice(['', '', ','])})"

    def expression(self, depth):
        r = self.r
        if depth <= 0:
            return r.choice([self.number, lambda: r.choice(list(self.values))])()
        part = lambda: self.expression(depth - 1)
        kind = r.randrange(23)
        if kind > 20:
            text = f'{part()} {r.choice(BITS)} {part()}' if r.randrange(3) == 0 else f'int({part()}) {r.choice(BITS)} {r.randrange(64)}'
        elif kind > 19:
            return f"({part()} {r.choice(['in', 'not in'])} {self.items(depth)})"
        elif kind < 8:
            text = f'{part()} {r.choice(OPERATORS)} {part()}'
        elif kind < 10:
            text = f"{part()}**{r.choice([str(r.randrange(8)), str(-r.randrange(5)), repr(r.uniform(-3, 3)), '0.5', f'({part()} % 7)'])}"
        elif kind < 11:
            text = r.choice(['-', '+', 'not ', '- -', '-+', '~']) + part()
            # `not` has a lower precedence than the operators that it may follow.
            return f'({text})'
        elif kind < 13:
            text = part() + ''.join(f' {r.choice(COMPARISONS)} {self.expression(depth - 2)}' for _ in range(r.randrange(1, 4)))
        elif kind < 15:
            text = f" {r.choice(['and', 'or'])} ".join(part() for _ in range(r.randrange(2, 4)))
        elif kind < 17:
            text = f'{part()} if {part()} else {part()}'
        else:
            return self.call(depth)
        return f'({text})' if r.randrange(3) else text


def random_lines(seed, count):
    r = random.Random(seed)
    lines = []
    while len(lines) < count:
        values = {'ncpus': r.randrange(1, 129), 'walltime': r.randrange(1, 10 ** 6), 'queue_priority': r.randrange(-1024, 1024),
                  'eligible_time': r.randrange(10 ** 7), 'fairshare_perc': round(r.random(), 6),
                  'fairshare_tree_usage': r.random(), 'fairshare_factor': r.choice([0.0, r.random(), 1.0]),
                  'mem': float(r.randrange(1 << 40))}
        formula = Writer(r, values).expression(r.randrange(1, 6))
        try:
            ast.parse(formula, mode='eval')
        except SyntaxError:  # `not` after an operator
            continue
        # Python's `in` also compares object identity, and this name is always the same object.
        if not (' in ' in formula and 'nan' in formula):
            lines.append((formula, values))
    return lines


def agrees(answer, expected):
    if isinstance(expected, str):
        return answer == expected or (answer == 'nan' and expected == 'nan')
    return answer.startswith('failed') and answer.endswith(FAILURES[expected])


def try_random():
    warnings.simplefilter('ignore', SyntaxWarning)
    for seed in seeds(1):
        lines = random_lines(seed, 50000 if LONG else 2000)
        wrong, failed, beyond = [], 0, 0
        for (formula, values), answer in zip(lines, ours(lines)):
            expected = python(formula, values)
            if expected is Beyond:
                beyond += 1
                continue
            failed += not isinstance(expected, str)
            if not agrees(answer, expected):
                wrong.append(f'{formula}  {values}\n   ours {answer}, Python {expected}')
        tap.ok(not wrong,
               f'{len(lines)} random formulas (seed {seed}) have the results of CPython',
               f'{len(wrong)} wrong', *wrong[:10])
        tap.ok(failed > len(lines) / 20 and failed < len(lines) / 2, 'some formulas fail, but not most of them', failed)
        tap.ok(beyond < len(lines) / 5, 'few formulas have integers beyond 2^53', beyond)


# Expressions that Python's grammar allows and formulas reject, with a word of the message.
REFUSED = [
    ('', 'a number is missing'), ('1 +', 'a number is missing'), ('(1', "')' is missing"), ('1)', 'an operator'), ('1 2', 'an operator'),
    ('"a"', 'invalid character'), ("'a' * 3", 'invalid character'), ('[1]', 'expected a number'), ('{1}', 'expected a number'), ('()', 'expected a number'), ('a = 1', "invalid character '='"),
    ('(a := 1)', "invalid character ':'"), ('a.b', "invalid character '.'"), ('1j', "'1j' is not a number"), ('012', "'012' is not a number"), ('.', "'.' is not a number"), ('0b1', "'0b1' is not a number"),
    ('0x10', "'0x10' is not a number"), ('0xe1', "'0xe1' is not a number"), ('0x1.8', 'not a number'), ('1_0', 'not a number'), ('1e', 'not a number'), ('1e+', 'not a number'),
    ('1.2.3', 'not a number'), ('1if 2 else 3', 'not a number'), ('lambda: 1', "unexpected 'lambda'"), ('1 in 2', 'expected a sequence'), ('1 in (2)', 'expected a sequence'),
    ('1 in (2,) in (3,)', 'an operator'), ('(1, 2) in (1, 2)', "expected ')'"), ('1 not 2', "expected 'in'"), ('1 is 2', 'an operator'), ('None', "unexpected 'None'"),
    ('sqrt', 'requires arguments'), ('sqrt()', 'these arguments'), ('pow(1, 2, 3)', 'these arguments'), ('pow(1)', 'these arguments'), ('max(1)', 'these arguments'),
    ('max(())', 'these arguments'), ('sum(1, 2)', 'these arguments'), ('sum((1, 2), 3)', "expected ')'"), ('sum((1, 2) + (3,))', "expected ')'"),
    ('sum(x for x in (1, 2))', "unexpected 'for'"), ('sqrt((1, 2))', "expected ')'"), ('max((1, 2), 3)', "expected ')'"), ('max(-(1, 2))', "expected ')'"), ('-[1]', 'expected a number'),
    ('1 in (1, 2) + 3', 'an operator'), ('max((1, 2) if 1 else 2)', "expected ')'"), ('1 in ((1, 2),)', "expected ')'"), ('max(((1, 2)))', "expected ')'"),
    ('comb(4, 2)', "unknown function 'comb'"), ('gcd(4, 2)', "unknown function 'gcd'"), ('open("x")', "unknown function 'open'"), ('fsum((1,))', "unknown function 'fsum'"), ('if(1)', "unexpected 'if'"),
    ('__import__("os")', "unknown function '__import__'"), ('1 if 2', "'else' is missing"), ('and 1', "unexpected 'and'"), ('in (1, 2)', "unexpected 'in'"), ('1 == not 1', "unexpected 'not'"),
    ('max(1, 2', "',' or ')' is missing"), ('1 in [1, 2', 'is missing'), ('1 in [1, 2)', 'expected'), ('1;2', "invalid character ';'"), ('(1, 2)', "expected ')'"),
    ('(' * 200 + '1' + ')' * 200, 'nested more'), ('sum(' * 200 + '(1,)' + ')' * 200, 'nested more'), ('1 in (' + '(' * 200 + '1' + ')' * 200 + ',)', 'nested more'),
    ('-' * 200 + '1', 'nested more'), ('~' * 200 + '1', 'nested more'), ('not ' * 200 + '1', 'nested more'), ('2**' * 200 + '1', 'nested more'),
    ('1 if 1 else ' * 200 + '1', 'nested more'), ('1\x01', "invalid character '\x01'"), ('ä', "invalid character 'ä'"), ('1,', 'an operator'), ('f(1)(2)', "unknown function 'f'"), ('sqrt(1)(2)', 'an operator'),
    ('9' * 400, 'not a number'), ('max(1,,2)', 'expected a number'), ('ncpus + unknown', "unknown name 'unknown'"),
    ('1+' * 5000 + '1', 'longer than 8192 bytes'), ('+'.join(f'name{i}' for i in range(65)), 'more than 64 names'),
]


def try_refused():
    for (formula, words), answer in zip(REFUSED, ours([(formula, {'ncpus': 1}) for formula, _ in REFUSED])):
        tap.ok(answer.startswith('refused') and words in answer,
               f'{formula[:30]!r} is rejected with its reason', answer)


def try_documents():
    """Tests the formula of PP-718 and its results for Bob and Suzy."""
    lines = [(formula, values) for formula in ('pow(2, -(fairshare_tree_usage/fairshare_perc))', 'fairshare_factor')
             for values in (dict(fairshare_tree_usage=0.125, fairshare_perc=0.2, fairshare_factor=0.648),
                            dict(fairshare_tree_usage=0.5, fairshare_perc=0.36, fairshare_factor=0.382))]
    answers = [round(float.fromhex(answer), 3) for answer in ours(lines)]
    tap.same(answers, [0.648, 0.382, 0.648, 0.382], "the document's formula and keyword give Bob .648 and Suzy .382")
    answer, = ours([('pow(2, -(fairshare_tree_usage/fairshare_perc))', dict(fairshare_tree_usage=0.5, fairshare_perc=0.0))])
    tap.ok(answer == 'failed formula, column 30: division by zero',
           'an entity without shares divides by zero, as the document warns', answer)


# Formulas of sites and documents, evaluated with typical values of jobs.
PUBLISHED = [
    'ncpus', '1*walltime', '2*walltime', 'ncpus*walltime', 'ncpus + mem/1024', 'fairshare_tree_usage', 'fairshare_perc', 'queue_priority + ncpus',
    'ceil(fabs(-ncpus*(foo1/100.00)*sqrt(100)))', '5*ncpus + 0.05*walltime', 'pow(2,-(fairshare_tree_usage/fairshare_perc))', '10*fairshare_factor',
    'queue_priority*1000 + eligible_time/3600 + 100*fairshare_factor', 'job_priority if job_priority > 0 else queue_priority',
    '(48 * fairshare_factor) + ((6 * fairshare_factor) * ((mem/1048576/8) + ncpus + (ngpus*32))) + (0.000278 * eligible_time) + (4 * log(max(fairshare_factor, 1e-7)))',
    'base_score + score_boost + enable_wfp * wfp_factor * (eligible_time**2 / min(max(walltime, 21600), 43200)**3 * project_priority * nodect / total_cpus)'
    ' + enable_backfill * min(backfill_max, eligible_time / backfill_factor) + enable_fifo * eligible_time / fifo_factor',
    'min(eligible_time, 864000)/8640.0 + 1000*(queue_priority in (10, 150)) - ncpus % 7 # by age',
    'int(eligible_time/3600)*10 + round(fairshare_factor, 2) + bool(ngpus) + (queue_priority & 3) + (1 << job_priority)',
    'sum([eligible_time, walltime]) // max((ncpus, 1)) ** 0.5', 'float(ncpus) ** 2 + abs(job_priority - 5) - -queue_priority ^ 12',
]


def try_published():
    r = random.Random(7)
    wrong = []
    for formula in PUBLISHED:
        lines = []
        for _ in range(50):
            names = {name: r.randrange(1, 1000) for name in ('base_score', 'score_boost', 'wfp_factor', 'project_priority', 'total_cpus', 'backfill_max',
                                                             'backfill_factor', 'fifo_factor', 'enable_wfp', 'enable_backfill', 'enable_fifo')}
            lines.append((formula, names | dict(ncpus=r.randrange(1, 4096), mem=r.randrange(1 << 32), walltime=r.randrange(1, 604800), nodect=r.randrange(1, 512),
                                                ngpus=r.randrange(8), foo1=r.random() * 100, eligible_time=r.randrange(2592000), queue_priority=r.choice((0, 10, 150)),
                                                job_priority=r.randrange(12), fairshare_perc=round(r.random(), 6) + 1e-6, fairshare_tree_usage=round(r.random(), 6),
                                                fairshare_factor=round(r.random(), 6))))
        wrong += [(formula, values, answer) for (_, values), answer in zip(lines, ours(lines)) if not agrees(answer, python(formula, values))]
    tap.ok(not wrong, f'{len(PUBLISHED)} published formulas have the results of CPython bit for bit', *wrong[:5])


def try_limits():
    for formula in ('2 ** 10 ** 30', '10 ** 30000', '1 << 5000', '(10 ** 200) * (10 ** 200)', '2.0 ** 2000'):
        answer, = ours([(formula, {})])
        tap.ok(answer.endswith('the number is too large'), f'{formula} is too large', answer)
    near = [('hypot(3, 4)', '0x1.4000000000000p+2'), ('hypot(1e308, 1e308)', math.hypot(1e308, 1e308).hex()),
            ('hypot(inf, nan)', 'inf'), ('gamma(5)', (24.0).hex()), ('hypot(5e-324, 0)', (5e-324).hex()),
            ('9007199254740993', (2.0 ** 53).hex()), ('1000003 ** 3 / 7', (1000003 ** 3 / 7).hex()), ('1 << 70', (2.0 ** 70).hex())]
    for (formula, expected), answer in zip(near, ours([(formula, {}) for formula, _ in near])):
        tap.ok(answer == expected or abs(float.fromhex(answer) - float.fromhex(expected)) <= math.ulp(float.fromhex(expected)),
               f'{formula} gives the nearest double or one next to it', answer, expected)


def body():
    try_random()
    try_refused()
    try_documents()
    try_published()
    try_limits()


tap.main(body)
