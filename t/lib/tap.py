# SPDX-License-Identifier: MIT
"""TAP for tests in Python.  The name of each result is a true statement."""

import os
import re
import shutil
import sys
import time
import traceback

# After this number of seconds, a program is assumed to hang.  Even on a busy host it would have
# ended long before.
HANG = 600

_count = 0
_failed = 0


def diag(*lines):
    for line in lines:
        for part in str(line).split('\n'):
            print('# ' + part, flush=True)


def ok(condition, statement, *why):
    global _count, _failed
    _count += 1
    if not condition:
        _failed += 1
    print(f"{'ok' if condition else 'not ok'} {_count} - {statement}", flush=True)
    if not condition:
        diag(*why)
    return bool(condition)


def same(got, expected, statement):
    return ok(got == expected, statement, f'got      {got!r}', f'expected {expected!r}')


def like(text, pattern, statement):
    """A line of the text matches the pattern."""
    return ok(re.search(pattern, text, re.M), statement, f'nothing matches {pattern} in:', text)


def unlike(text, pattern, statement):
    return ok(not re.search(pattern, text, re.M), statement, f'matches {pattern}:', text)


def empty(found, statement):
    """This text or list is empty."""
    found = [found] if isinstance(found, str) and found else list(found)
    return ok(not found, statement, *found[:40])


def skip_all(reason):
    """Skips the test if a program is missing.  In CI, all programs must exist, so this is a
    failure."""
    if os.environ.get('CI') == 'true':
        print(f'1..1\nnot ok 1 - {reason}')
        sys.exit(1)
    not_here(reason)


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            skip_all(f'{program} is not installed')


def not_here(reason):
    """Skips the test, because it does not apply here."""
    print(f'1..0 # SKIP {reason}')
    sys.exit(0)


def until(condition, every=.02):
    """Waits until condition() is true, even on a busy host, and returns its value, or a false value
    after HANG seconds.  `every` is in seconds."""
    end = time.monotonic() + HANG
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(every)
    return found


def done():
    if not _count:
        ok(False, 'at least one thing was tested')
    print(f'1..{_count}', flush=True)
    sys.exit(1 if _failed else 0)


def main(body):
    """Runs body().  An exception is a failure and never ends the test silently."""
    try:
        body()
    except Exception:
        ok(False, 'the test ran to its end', traceback.format_exc())
    done()
