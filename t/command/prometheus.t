#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the Prometheus rules: the alerts that they raise, and the metrics that they use."""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place
from program import TOP

RULES = os.path.join(TOP, 'etc', 'prometheus', 'fairmill.rules.yml')


def promtool(place, statement, *arguments):
    done = subprocess.run(['promtool', *arguments], cwd=place.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    tap.ok(done.returncode == 0, statement, done.stdout)


def body():
    if not shutil.which('promtool'):
        return tap.skip_all('promtool (Debian: prometheus) is not installed')
    with Place() as place:
        for path in (RULES, os.path.join(TOP, 't', 'data', 'prometheus', 'rules_test.yml')):
            shutil.copy(path, place.folder)
        promtool(place, 'promtool accepts the rules', 'check', 'rules', 'fairmill.rules.yml')
        promtool(place, 'the rules raise exactly the expected alerts', 'test', 'rules', 'rules_test.yml')
        with open(RULES, encoding='utf-8') as file:
            text = file.read()
        with open(place.path('rules_test.yml'), encoding='utf-8') as file:
            tried = file.read()
        tap.same([name for name in re.findall(r'alert: (\w+)', text) if f'alertname: {name}\n' not in tried], [],
                 'each alert has a test')
        place.ready()
        place.succeed('run', '--now', NOW)
        place.succeed('run', '--now', NOW + 1, '--full')
        place.succeed('metrics')
        asked = set(re.findall(r'\bfairmill_\w+', ' '.join(re.findall(r'expr: (.*)', text))))
        tap.ok(asked, 'the rules use metrics')
        tap.same(asked - set(re.findall(r'^# TYPE (\w+)', place.out, re.M)), set(),
                 'all metrics that the rules use are published')
    return None


tap.main(body)
