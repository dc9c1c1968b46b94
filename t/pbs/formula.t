#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs:
"""Formulas mean what CPython says, to the last bit, and fail where it raises an exception.
FAIRMILL_LONG=1 tries fifty thousand random formulas instead of two thousand, FAIRMILL_SEED=N only those
of one seed."""

import ast
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

# What our words are in Python's.
FAILURES = {ZeroDivisionError: 'division by zero', OverflowError: 'the number is too large',
            ValueError: 'there is no such value', TypeError: 'an integer is wanted here'}

REALS = ['acos', 'acosh', 'asin', 'asinh', 'atan', 'atanh', 'ceil', 'cos', 'cosh', 'degrees', 'erf', 'erfc', 'exp',
         'expm1', 'fabs', 'floor', 'isfinite', 'isinf', 'isnan', 'log', 'log10', 'log1p', 'log2', 'radians', 'sin',
         'sinh', 'sqrt', 'tan', 'tanh', 'trunc', 'ulp', 'abs', 'cbrt', 'exp2']
PAIRS = ['atan2', 'copysign', 'fmod', 'isclose', 'log', 'nextafter', 'pow', 'remainder']
WHOLES = {'comb': (2, 2), 'factorial': (1, 1), 'gcd': (0, 3), 'isqrt': (1, 1), 'lcm': (0, 3), 'perm': (1, 2)}
REALS, PAIRS = [[name for name in names if hasattr(math, name) or name == 'abs'] for names in (REALS, PAIRS)]
OPERATORS = ['+', '-', '*', '/', '//', '%', '+', '-', '*', '/']
COMPARISONS = ['<', '<=', '>', '>=', '==', '!=']


def power(base, exponent):
    """A complex number is none of ours, also where it would be too large."""
    if isinstance(base, float) or isinstance(exponent, float):
        base, exponent = float(base), float(exponent)
        if -math.inf < base < 0 and math.isfinite(exponent) and not exponent.is_integer():
            raise ValueError
    return base ** exponent


def factorial(number):
    """Up to Python 3.9 it takes floats that are whole, too, as does perm() of one."""
    if isinstance(number, float):
        raise TypeError
    return math.factorial(number)


def perm(*numbers):
    return math.perm(*numbers) if len(numbers) != 1 else factorial(*numbers)


class Powers(ast.NodeTransformer):
    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        return ast.Call(func=ast.Name(id='_power', ctx=ast.Load()), args=[node.left, node.right], keywords=[])


def python(formula, values):
    """The answer as float.hex() has it, or the class of the exception."""
    tree = ast.fix_missing_locations(Powers().visit(ast.parse(formula, mode='eval')))
    names = dict(values, _power=power, **{name: getattr(math, name) for name in dir(math) if name[0] != '_'})
    names.update(factorial=factorial, perm=perm)
    try:
        return float(eval(compile(tree, 'formula', 'eval'), names)).hex()
    except tuple(FAILURES) as failure:
        return next(kind for kind in FAILURES if isinstance(failure, kind))


def ours(lines):
    """What our program says to formulas with their values: a list like python()'s."""
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
            lambda: str(r.randrange(10)), lambda: str(r.randrange(10 ** r.randrange(1, 25))),
            lambda: repr(r.uniform(0, 10)), lambda: repr(math.ldexp(r.random(), r.randrange(-1074, 1024))),
            lambda: f'{r.randrange(1000)}.', lambda: f'.{r.randrange(1000)}', lambda: f'{r.randrange(100)}e{r.randrange(20)}',
            lambda: f'1_0{r.randrange(10)}', lambda: hex(r.randrange(1 << 60)), lambda: oct(r.randrange(512)),
            lambda: bin(r.randrange(64)), lambda: r.choice(['pi', 'e', 'tau', 'inf', 'nan', 'True', 'False']),
            lambda: r.choice(['0', '0.0', '1', '2', '0.5', '9007199254740993', '9007199254740992.0', '1e308', '5e-324']),
        ])()

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
            return f'ldexp({self.expression(depth - 1)}, {r.randrange(-1100, 1100)})'
        else:
            name = r.choice(list(WHOLES))
            count = r.randint(*WHOLES[name])
            if r.randrange(4):
                return f"{name}({', '.join(str(r.randrange(r.choice([5, 60, 400]))) for _ in range(count))})"
        return f"{name}({', '.join(self.expression(depth - 1) for _ in range(count))}{r.choice(['', '', ','] if count else [''])})"

    def expression(self, depth):
        r = self.r
        if depth <= 0:
            return r.choice([self.number, lambda: r.choice(list(self.values))])()
        part = lambda: self.expression(depth - 1)
        kind = r.randrange(20)
        if kind < 8:
            text = f'{part()} {r.choice(OPERATORS)} {part()}'
        elif kind < 10:
            text = f"{part()}**{r.choice([str(r.randrange(8)), str(-r.randrange(5)), repr(r.uniform(-3, 3)), '0.5', f'({part()} % 7)'])}"
        elif kind < 11:
            text = r.choice(['-', '+', 'not ', '- -', '-+']) + part()
            # `not` binds less than what it may stand behind.
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
        except SyntaxError:  # a `not` behind an operator
            continue
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
        wrong, failed, long_ones = [], 0, 0
        for (formula, values), answer in zip(lines, ours(lines)):
            if answer.endswith('65536 bits'):
                long_ones += 1
                continue
            expected = python(formula, values)
            failed += not isinstance(expected, str)
            if not agrees(answer, expected):
                wrong.append(f'{formula}  {values}\n   ours {answer}, Python {expected}')
        tap.ok(not wrong, f'{len(lines)} random formulas (seed {seed}) have the answers of CPython', f'{len(wrong)} wrong', *wrong[:10])
        tap.ok(failed > len(lines) / 20 and failed < len(lines) / 2, 'some of them fail, and not most', failed)
        tap.ok(long_ones < len(lines) / 100, 'hardly any meets the limit of integers', long_ones)


# What Python's grammar has, and a formula does not, with a word of the refusal.
REFUSED = [
    ('', 'a number is missing'), ('1 +', 'a number is missing'), ('(1', "')' is missing"), ('1)', 'an operator'), ('1 2', 'an operator'),
    ('"a"', 'no texts'), ("'a' * 3", 'no texts'), ('[1]', "no '['"), ('{1}', "no '{'"), ('1 & 2', "no '&'"), ('1 | 2', "no '|'"),
    ('1 ^ 2', "no '^'"), ('~1', "no '~'"), ('1 << 2', 'a number should be'), ('a = 1', "no '='"), ('(a := 1)', "no ':'"), ('a.b', "'.'"),
    ('1j', 'right behind a number'), ('012', 'a decimal number has no 0'), ('0x', "'0x' has no digits"), ('0b2', "'0b' has no digits"), ('1__0', 'right behind a number'),
    ('1if 2 else 3', 'right behind a number'), ('lambda: 1', "no 'lambda'"), ('1 in 2', "no 'in'"), ('1 is 2', "no 'is'"), ('None', "no 'None'"),
    ('sqrt', 'arguments are missing'), ('sqrt()', 'takes 1 argument'), ('pow(1, 2, 3)', 'takes 2 arguments'), ('max(1)', 'takes 2 or more'),
    ('open("x")', "no function 'open'"), ('fsum(1)', 'it takes a sequence'), ('frexp(1)', 'two numbers'), ('if(1)', "'if' is where"), ('__import__("os")', "no function '__import__'"),
    ('1 if 2', "'else' is missing"), ('and 1', "'and' is where"), ('1 == not 1', "'not' is where"), ('isclose(1, 2, rel_tol=1)', "no '='"),
    ('max(1, 2', "',' or ')' is missing"), ('1;2', "no ';'"), ('1 # 2', "no '#'"), ('(1, 2)', "')' should be"), ('(' * 200 + '1' + ')' * 200, 'nests more'),
    ('-' * 200 + '1', 'nests more'), ('1\x01', "no '\x01'"), ('ä', "no 'ä'"), ('1,', 'an operator'), ('f(1)(2)', "no function 'f'"), ('sqrt(1)(2)', 'an operator'),
    ('9' * 4301, '4300 digits'), ('0x' + 'f' * 20000, '65536 bits'), ('max(1,,2)', 'a number should be'), ('ncpus + unknown', "unknown name 'unknown'"),
]


def try_refused():
    for (formula, words), answer in zip(REFUSED, ours([(formula, {'ncpus': 1}) for formula, _ in REFUSED])):
        tap.ok(answer.startswith('refused') and words in answer, f'{formula[:30]!r} is refused by its name', answer)


def try_documents():
    """Seed 003's formula, and what its tree gives for Bob and Suzy."""
    lines = [(formula, values) for formula in ('pow(2, -(fairshare_tree_usage/fairshare_perc))', 'fairshare_factor')
             for values in (dict(fairshare_tree_usage=0.125, fairshare_perc=0.2, fairshare_factor=0.648),
                            dict(fairshare_tree_usage=0.5, fairshare_perc=0.36, fairshare_factor=0.382))]
    answers = [round(float.fromhex(answer), 3) for answer in ours(lines)]
    tap.same(answers, [0.648, 0.382, 0.648, 0.382], "the document's formula gives Bob .648 and Suzy .382, as its keyword")
    answer, = ours([('pow(2, -(fairshare_tree_usage/fairshare_perc))', dict(fairshare_tree_usage=0.5, fairshare_perc=0.0))])
    tap.ok(answer == 'failed formula, column 30: division by zero',
           'an entity without shares is the division by zero of which the document warns', answer)


def try_limits():
    for formula in ('2 ** 10 ** 30', '10 ** 30000', 'factorial(10 ** 9)', 'comb(10 ** 9, 10 ** 8)', 'perm(10 ** 20)', 'lcm(2 ** 60000, 3 ** 30000)',
                    '(2 ** 60000) * (2 ** 60000)'):
        answer, = ours([(formula, {})])
        tap.ok(answer.endswith('65536 bits'), f'{formula} is more than a formula may take', answer)
    near = [('hypot(3, 4)', '0x1.4000000000000p+2'), ('hypot(1e308, 1e308)', math.hypot(1e308, 1e308).hex()),
            ('hypot()', (0.0).hex()), ('hypot(inf, nan)', 'inf'), ('gamma(5)', (24.0).hex()), ('hypot(5e-324, 0)', (5e-324).hex())]
    for (formula, expected), answer in zip(near, ours([(formula, {}) for formula, _ in near])):
        tap.ok(answer == expected or abs(float.fromhex(answer) - float.fromhex(expected)) <= math.ulp(float.fromhex(expected)),
               f'{formula} is the nearest double or next to it', answer, expected)


def body():
    try_random()
    try_refused()
    try_documents()
    try_limits()


tap.main(body)
