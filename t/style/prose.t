#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Comments, messages, manual pages, documents and test names are plain English.

Each kind of text may have two idioms per 1,000 words (t/style/prose.py lists them), few long sentences, and almost no
comment that begins with a question word."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'lib')]
import prose
import tap
from commands import TOP, read

MOST_IDIOMS = 2  # per 1,000 words
MOST_LONG = 2  # percent of the sentences
MOST_OPENERS = 1  # percent of the comments, paragraphs or messages


def files():
    """The project's own text files; data of tests is the output of other programs."""
    listed = subprocess.run(['find', '.', '-type', 'f', '-not', '-path', '*/.*', '-not', '-path', './build*', '-not', '-path', '*/data/*'],
                            cwd=TOP, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    place = re.compile(r'(?:src|man|doc|etc|sql|t|cron|build-aux|container|debian)/|NEWS$|[A-Z]+\.md$|[a-z]+\.sh$')
    return sorted(name.removeprefix('./') for name in listed if place.match(name.removeprefix('./')))


def body():
    for line in re.findall(r'^- (.*)', read(f'{TOP}/t/data/prose/idioms.md'), re.M):
        name, _, sentence = line.partition(': ')
        tap.ok(name in prose.idioms(sentence), f'the checker finds the idiom "{name}"', sentence)
    os.chdir(TOP)
    for kind, tally in prose.tally(files()).items():
        tap.ok(tally.words > 1000, f'the checker reads text of kind {kind}')
        rate = tally.per_thousand()
        tap.ok(rate <= MOST_IDIOMS, f'{kind}: at most {MOST_IDIOMS} idioms per 1,000 words', f'{rate:.2f}', *tally.found[:40])
        tap.ok(100 * len(tally.long) <= MOST_LONG * tally.sentences,
               f'{kind}: at most {MOST_LONG} % of the sentences have more than {prose.LONG} words', *tally.long[:20])
        tap.ok(100 * tally.openers <= MOST_OPENERS * tally.pieces,
               f'{kind}: at most {MOST_OPENERS} % begin with a question word', str(tally.openers))


tap.main(body)
