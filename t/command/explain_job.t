#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill explain job`: a pending job's priority, and the changes that reverse the order of
two jobs.

The test makes each change and runs again.  The change must reverse the order, and a smaller one
must not."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

DAY = 86400
WAITS = f'submit={NOW - 3 * DAY} limit=60 tres_req=1=1,4=1'
DRAWING = f'''
cluster tiny
registered 1=32,4=4,5=32
root/
  physics/   60
    alice    10  use 300
    bob      10  use 100
  chemistry/ 40
    carol     1  use 200
job physics.alice   id_job=11 time_eligible={NOW - 2 * DAY + 9000} partition=short priority=9 {WAITS}
job chemistry.carol id_job=12 time_eligible={NOW - 20000} partition=short priority=9 {WAITS}
job physics.bob     id_job=13 time_eligible={NOW - 9000} partition=short,long priority=9 {WAITS}
job physics.bob     id_job=14 submit={NOW - 9000} time_eligible={NOW - 9000} partition=short priority=0 limit=60 tres_req=1=1,4=1
job physics.bob     id_job=15 time_eligible={NOW - DAY} partition=short priority=9 qos=2 {WAITS}
qos 2 factor=1
'''
KEYS = {'priority.weight_age': 1000, 'priority.weight_fairshare': 500, 'priority.weight_partition': 100, 'priority.weight_qos': 1100,
        'priority.weight_job_size': 0, 'priority.weight_assoc': 0, 'priority.weight_tres': '', 'priority.max_age': '2-0',
        'priority.partition_factors': 'short:20, long:40'}


class Queue(Place):
    def begin(self):
        self.ready(DRAWING, KEYS)
        self.change("UPDATE qos_table SET priority = id * 5, name = CASE id WHEN 1 THEN 'normal' ELSE 'high' END")
        self.again(NOW)

    def again(self, now):
        self.succeed('run', '--now', now, '--replace')

    def priority(self, job):
        return self.query('SELECT priority FROM fairmill_job_priority WHERE id_job = ? AND best = 1', job)[0][0]

    def explained(self, *jobs):
        self.succeed('explain', 'job', *jobs, '--json')
        return json.loads(self.out)['clusters'][0]

    def said(self, *arguments):
        self.succeed('explain', *arguments)
        return ' '.join(self.out.split())


def one(place):
    place.begin()
    said = place.explained(11)
    parts = {row['part']: row for row in said['parts']}
    stored = place.query('SELECT age_weighted, fairshare_weighted, partition_weighted, qos_weighted, age_factor FROM fairmill_job_priority'
                         ' WHERE id_job = 11')[0]
    tap.same(tuple(parts[name]['weighted_a'] for name in ('Age', 'FairShare', 'Partition', 'QOS')) + (parts['Age']['factor_a'],), stored,
             'the components equal the published ones')
    tap.same((said['a']['place'], said['jobs'], said['b'], said['order'], said['turns']), (2, 4, None, None, None),
             'the job has a place among the jobs that can run')
    text = place.said('job', 11)
    tap.ok("Job '11' of 'alice' in partition 'short', QOS 'normal', has priority" in text and 'place 2 of 4.' in text,
           'the text shows the priority and the place',
           text)
    tap.ok('The largest part is Age' in text, 'the text names the largest component', text)
    text = place.said('job', 13)
    tap.ok("in partition 'long'" in text and "It is also pending in partition 'short', QOS 'normal'" in text,
           'for a job in two partitions, the highest priority counts',
           text)
    tap.ok('cannot start: it is held by its user or an administrator. `scontrol release 14` releases it' in place.said('job', 14), 'a held job has no place')
    tap.same(place.said('12'), place.said('job', 12), "the word 'job' can be omitted before an id")


def lines_fit(place):
    place.begin()
    for columns in 80, 60:
        text = place.on_terminal('explain', 'job', 11, 12, columns=columns, NO_COLOR='1')
        tap.ok(max(map(len, text.splitlines())) <= columns, f'lines fit into {columns} columns', text)


def done(place, what, job, than, least, less):
    """Tests that the job ranks higher after the least change, but not after a smaller one."""
    for change, wanted in (less, False), (least, True):
        place.begin()
        change()
        tap.same(place.priority(job) > place.priority(than), wanted, f"{what}: the job {'ranks higher' if wanted else 'does not rank higher with less'}")


def turns(place):
    place.begin()
    said = place.explained(12, 11)
    turn = said['turns']
    tap.same(said['order'], 'behind', 'the second job ranks higher')
    tap.same(turn['points'], place.priority(11) - place.priority(12) + 1, 'the answer has the number of missing points')
    by_age, age = turn['turns_by_age_in'], turn['age_seconds']
    tap.ok(by_age and by_age > 9000, 'both jobs age until the older one reaches the maximum', turn)
    done(place, 'after the given time', 12, 11, lambda: place.again(NOW + by_age), lambda: place.again(NOW + by_age - 400))

    def older(seconds):
        place.change('UPDATE tiny_job_table SET time_eligible = time_eligible - ? WHERE id_job = 12', seconds)
        place.again(NOW)

    done(place, 'with the given age', 12, 11, lambda: older(age), lambda: older(age - 400))
    tap.same((turn['qos'], turn['partition']), ('high', None), 'the answer proposes a QOS but no partition')

    def with_qos():
        place.change('UPDATE tiny_job_table SET id_qos = 2 WHERE id_job = 12')
        place.again(NOW)

    done(place, 'with the proposed QOS', 12, 11, with_qos, lambda: None)
    place.begin()
    text = place.said('job', 12, 11)
    tap.ok("Job '12' would rank higher than '11'" in text and "- QOS 'high'" in text and 'By age alone it will rank higher in' in text,
           'the text lists the changes that reverse the order', text)
    tap.ok(f"- a nice value lower by {turn['points']}," in text, 'the text also proposes a nice value', text)
    other = place.explained(11, 12)
    tap.same((other['order'], other['turns']), ('ahead', turn), 'with the jobs swapped, the answer proposes the same changes')
    younger = place.explained(13, 12)
    tap.same(younger['turns']['turns_by_age_in'], None, 'ageing never reverses the order for a younger, lower job')


def refused(place):
    place.begin()
    place.ends(64, 'a job that is not pending is rejected', 'explain', 'job', 99)
    place.says('the error names the id of the job', "no pending job '99'")
    place.ends(64, 'an unknown second job is rejected', 'explain', 'job', 11, 99)
    place.ends(64, 'the same job twice is rejected', 'explain', 'job', 11, 11)
    place.ends(64, "--jobs with 'explain job' is rejected", 'explain', 'job', 11, '--jobs')
    place.ends(64, 'three names are rejected', 'explain', 'alice', 'bob', 'carol')
    place.ends(64, 'a word that is not a job id is rejected', 'explain', 'nobody')
    place.says('the error treats the word as a name', "'nobody'")
    place.succeed('explain', 'job', 11, 12, '--csv')
    tap.same(place.out.splitlines()[0], 'cluster,part,weight,factor_a,weighted_a,factor_b,weighted_b,difference',
             'CSV has the documented columns')


def private(place):
    place.begin()
    place.settings(KEYS | {'report.private': 'jobs'})
    place.again(NOW)
    if os.getuid():
        place.ends(64, 'if jobs are private, other users cannot explain them', 'explain', 'job', 11)
    else:
        place.ends(0, 'root can explain private jobs', 'explain', 'job', 11)


def body():
    with Queue() as place:
        for part in one, lines_fit, turns, refused, private:
            part(place)


tap.main(body)
