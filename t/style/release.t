#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Tests that the version and the dates of releases agree in all files."""

import datetime
import email.utils
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import TOP, read, version
from program import FAIRMILL

# Each of these functions lists releases as (version, day), the newest first.


def in_news(text):
    return re.findall(r'^fairmill ([0-9.]*), ([0-9-]*)$', text, re.M)


def in_debian(text):
    entries = re.findall(r'^fairmill \(([0-9.]*)\).*?^ -- .*?>  (.*?)$', text, re.M | re.S)
    return [(number, str(email.utils.parsedate_to_datetime(date).astimezone(datetime.timezone.utc).date()))
            for number, date in entries]


def in_spec(text):
    """Reads entries like `* Mon Nov 23 2026 NAME <ADDRESS> - VERSION-RELEASE`."""
    entries = re.findall(r'^\* ([A-Z][a-z]* [A-Z][a-z]* \d* \d*) .* ([0-9.]*)-[^ ]*$', text.partition('\n%changelog')[2], re.M)
    return [(number, str(datetime.datetime.strptime(date, '%a %b %d %Y').date())) for date, number in entries]



def body():
    current = version()
    tap.like(current, r'\A\d+(\.\d+){2}\Z', 'configure.ac has a version')
    said = subprocess.run([FAIRMILL, '--version'], stdout=subprocess.PIPE, text=True, check=True).stdout
    tap.same(said.split(' ')[1], current, 'the program prints the version')

    news = read(f'{TOP}/NEWS')
    releases = in_news(news)
    tap.same(releases[0][0], current, 'NEWS begins with this version')
    tap.same(len(re.findall(r'^[A-Za-z ]*fairmill [0-9]', news, re.M)), len(releases), 'every heading of NEWS has a date')
    oldest_first = sorted(releases, key=lambda release: [int(part) for part in release[0].split('.')])
    tap.same(releases, sorted(reversed(oldest_first), key=lambda release: release[1], reverse=True), 'the newest release comes first')
    tap.same(in_debian(read(f'{TOP}/debian/changelog')), releases, 'debian/changelog has the same releases with the same dates')
    if os.path.exists(f'{TOP}/fairmill.spec'):
        spec = read(f'{TOP}/fairmill.spec')
        tap.same(in_spec(spec), releases, 'fairmill.spec has the same releases with the same dates')
        tap.same(re.findall(r'^Version: *(.*)$', spec, re.M), [current], 'fairmill.spec has this version')
    for number, _ in releases:
        names = f'{TOP}/t/data/releases/{number}-names'
        tap.ok(os.path.exists(names) and os.path.getsize(names), f'the promised names of {number} are recorded')


tap.main(body)
