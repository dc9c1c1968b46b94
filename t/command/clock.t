#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests FAIRMILL_NOW, the current time of demonstrations and tests."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import answering
import tap
from place import NOW, Place

USER, ISO_NOW = 'daemon', '2025-06-21T10:00:00Z'


def at(time):
    return dict(env={k: v for k, v in os.environ.items() if k != 'FAIRMILL_CONF'} | {'FAIRMILL_NOW': str(time)})


def invalid(place):
    for bad in ('', 'tomorrow', '2025-06-21', '2025-06-21T10:00:00', '2025-06-31T10:00:00Z', '2025-06-21T10:00:00Z ', '-1',
                '1750500000x', '253402300800'):
        place.ends(78, f"FAIRMILL_NOW='{bad}' is rejected", 'status', **at(bad))
        place.says('the error names the variable and its value', f"FAIRMILL_NOW='{bad}'")


def runs(place):
    for text, time in ((ISO_NOW, NOW), (NOW + 300, NOW + 300)):
        place.succeed('run', **at(text))
        tap.same(place.query('SELECT as_of, started_at FROM fairmill_run ORDER BY run_id DESC LIMIT 1'), [(time, time)],
                 f'a run with FAIRMILL_NOW={text} is at this time')
    place.succeed('ledger', 'credit', '1h', '--user', 'alice', '--at', 'now-10', '--why', 'test', '--yes', **at(NOW + 300))
    tap.same(place.query('SELECT instant, entered_at FROM fairmill_ledger'), [(NOW + 290, NOW + 300)],
             'relative times and the time of entry are relative to FAIRMILL_NOW')


def ages(place):
    place.ends(0, 'results are fresh at FAIRMILL_NOW', 'status', **at(NOW + 600))
    place.ends(1, 'results are stale a day after', 'status', **at(NOW + 90000))
    for when in (NOW + 600, NOW + 90000):
        place.succeed('report', **at(when))
        tap.same(re.findall('"stoppedAt":([0-9]+)', place.out), [str(when)], 'the page has the time at which it was written')
    place.succeed('report')
    tap.same(re.findall('"stoppedAt":([0-9]+)', place.out), ['0'], 'without FAIRMILL_NOW, the browser asks its own clock')


def over_the_socket(place):
    answering.lock_up(place)
    for when, age in ((NOW + 600, '5 min'), (NOW + 86700, '24 h')):
        with answering.Answering(place, FAIRMILL_NOW=str(when)) as asked:
            client = asked.client(USER)
            for own in (NOW + 600, NOW + 90000):
                place.run('status', **client | {'env': client['env'] | {'FAIRMILL_NOW': str(own)}})
                tap.ok(age in place.out, "over the socket, the client's FAIRMILL_NOW has no effect", place.out, place.err)


def body():
    with Place() as place:
        place.ready()
        invalid(place)
        runs(place)
        ages(place)
        over_the_socket(place)


tap.main(body)
