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


SLURM_CONF = '''ClusterName=tiny
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=5000
AccountingStorageEnforce=limits
NodeName=n[1-10] CPUs=10
NodeName=g[1-2] CPUs=10
PartitionName=normal Nodes=n[1-10] PriorityTier=1 MaxTime=1-0
PartitionName=urgent Nodes=n[1-4] PriorityTier=1000
PartitionName=gpu Nodes=g[1-2]
PartitionName=old Nodes=g1 State=DOWN
'''
PENDING = f'submit={NOW - DAY} limit=60 priority=9 tres_req=1=1,4=1 time_eligible={NOW - DAY}'
TIERS = f'''
cluster tiny
registered 1=120,4=12,5=120
root/
  physics/   60
    alice    10  use 300
    bob      10  use 100
  chemistry/ 40
    carol     1  use 200
job physics.alice   id_job=21 partition=normal {PENDING}
job physics.bob     id_job=22 partition=normal {PENDING}
job physics.bob     id_job=23 partition=normal {PENDING}
job physics.alice   id_job=24 partition=urgent {PENDING}
job chemistry.carol id_job=25 partition=gpu {PENDING}
job chemistry.carol id_job=26 partition=old,gpu {PENDING}
job chemistry.carol id_job=27 partition=normal,urgent {PENDING.replace('1=1,4=1', '1=2048,4=1')}
job chemistry.carol id_job=28 partition=old {PENDING}
job chemistry.carol id_job=29 partition=gone {PENDING}
job chemistry.carol id_job=30 partition=gpu {PENDING.replace(f'time_eligible={NOW - DAY}', f'time_eligible={NOW + DAY}')}
job chemistry.carol id_job=31 partition=gpu {PENDING.replace(f'time_eligible={NOW - DAY}', 'time_eligible=0')}
job chemistry.carol id_job=32 partition=gpu {PENDING.replace('priority=9', 'priority=0')}
job chemistry.carol id_job=33 partition=gpu {PENDING.replace(f'submit={NOW - DAY}', f'submit={NOW - 800 * DAY}').replace(f'={NOW - DAY}', f'={NOW - 800 * DAY}')}
job chemistry.carol id_job=34 partition=normal {PENDING.replace('limit=60', 'limit=6000')}
job chemistry.carol id_job=5000 id_array_job=5000 array_task_str=1-20 array_task_pending=20 partition=old {PENDING}
job chemistry.carol id_job=4000 het_job_id=4000 het_job_offset=0 partition=gone {PENDING}
job chemistry.carol id_job=4001 het_job_id=4000 het_job_offset=1 partition=old {PENDING}
'''


def with_tiers(place):
    with open(place.path('slurm.conf'), 'w', encoding='utf-8') as file:
        file.write(SLURM_CONF)
    place.ready(TIERS, {'slurm.conf': place.path('slurm.conf')})
    place.again(NOW)


def places(place):
    """Slurm orders the jobs of a pool by PriorityTier and then by priority."""
    with_tiers(place)
    for job, wanted in (
            (24, "is at place 1 of 4 in pool 'normal' (partitions 'normal', 'urgent'). Slurm considers it next: it starts as soon as"),
            (22, "is at place 2 of 4 in pool 'normal' (partitions 'normal', 'urgent'), shared with 1 other job. Jobs in partitions with a "
                 "higher PriorityTier (up to 1000; 'normal' has 1) come first"),
            (21, 'is at place 4 of 4'),
            (26, "is at place 1 of 2 in pool 'gpu', shared with 1 other job."),
            (26, "It is also pending in partition 'old', QOS 'q1' (partition old has State=DOWN).")):
        text = place.said('job', job)
        tap.ok(wanted in text.split(' Part ')[0], f'the explanation of job {job} begins with its place: {wanted[:40]}', text)
    said = place.explained(21, 24)
    tap.same([[said[job][key] for key in ('place', 'of', 'pool', 'tier', 'reason', 'detail')] for job in 'ab'] + [said['order'], said['turns']],
             [[4, 4, 'normal', 1, '', ''], [1, 4, 'normal', 1000, '', ''], 'behind', None],
             'JSON has places, pools and tiers, and no change of priority if the tiers differ')
    text = place.said('job', 21, 24)
    tap.ok("partition 'urgent' has the higher PriorityTier (1000, 'normal' has 1), so no priority changes the order. '21' can rank higher "
           "only in a partition with at least this tier, such as 'urgent'." in text and 'nice value' not in text,
           'between jobs of different tiers, only another partition is proposed', text)
    text = place.said('job', 21, 22)
    tap.ok('- a nice value lower by' in text and "- partition 'urgent'" in text,
           'between jobs of the same tier, a partition with a higher tier is one of the proposals', text)
    tap.same(place.explained(21, 22)['turns']['partition'], 'urgent', 'JSON proposes the partition with the higher tier')
    text = place.said('job', 22, 25)
    tap.ok("do not compete: partitions 'normal' and 'gpu' share no nodes." in text and 'nice value' not in text,
           'jobs of different pools do not compete', text)
    tap.same(place.explained(22, 25)['order'], 'none', 'jobs of different pools have no order')
    place.change("UPDATE tiny_job_table SET partition = 'gpu,urgent' WHERE id_job = 22")
    place.again(NOW)
    said = place.explained(22, 25)
    tap.same(([(said[job]['pool'], said[job]['partition'], said[job]['place']) for job in 'ab'], said['order']),
             ([('gpu', 'gpu', 3), ('gpu', 'gpu', 1)], 'behind'), 'two jobs are compared in the pool that they share')
    tap.same(place.explained(21, 22)['b']['pool'], 'normal', 'the pool of the best rows is preferred')
    text = place.said('job', 22, 25)
    tap.ok("It is also pending in partition 'urgent', QOS 'q1' (place 1 in pool 'normal')" in text and 'do not compete' not in text
           and "Job '22' would rank higher" in text, 'the text compares them there, and has the place in the other pool', text)


def reasons(place):
    with_tiers(place)
    for job, wanted in (
            (27, 'it asks for 2,048 CPUs, partition urgent has 40; it asks for 2,048 CPUs, partition normal has 100. Ask for less, or'),
            (28, 'partition old has State=DOWN. Choose another partition with `scontrol update JobId=28 Partition=NAME`'),
            (29, 'slurm.conf has no partition gone. Choose'),
            (30, 'it waits until 2025-06-22T'),
            (31, 'it waits for another job. `scontrol show job 31`'),
            (32, 'it is held by its user or an administrator. `scontrol release 32`'),
            (33, 'it has been pending since 2023-04-'),
            (34, 'it asks for 4-04:00:00, partition normal allows 1-00:00:00. Ask for less'),
            ('5000', 'partition old has State=DOWN. Choose another partition with `scontrol update JobId=5000 '),
            ('5000_12', 'partition old has State=DOWN. Choose another partition with `scontrol update JobId=5000 '),
            ('4000+1', 'partition old has State=DOWN. Choose another partition with `scontrol update JobId=4000+1 ')):
        text = place.said('job', job).split(' Part ')[0]
        tap.ok(f" cannot start: {wanted}" in text, f'the explanation of job {job} begins with the reason', text)
        said = place.explained(job)
        tap.ok(said['a']['place'] is None and said['a']['reason'] and said['a']['detail'], f'JSON has the reason of job {job}', said['a'])
    tap.same(place.said('5000_12'), place.said('job', '5000_12'), "the word 'job' can be omitted before the id of a task")
    tap.same(place.explained(27, 21)['order'], 'none', 'a job that cannot start has no order')


def used_up(place):
    """A used-up limit is not in the job's row."""
    with_tiers(place)
    ids = dict(place.query("SELECT account || '/' || user_name, id_assoc FROM fairmill_fairshare"))
    for account, most, used in (('physics', 1000, 1000), ('chemistry', 1000, 10)):
        place.query('INSERT INTO fairmill_budget VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', 'tiny', 'association', ids[f'{account}/'],
                    account, '', '', '', 'gres/gpu', most, used, 0, most - used, None, 1, NOW)
    text = place.said('job', 21)
    tap.ok("The limit of 1,000 gres/gpu-minutes of account 'physics' is used up: a job that uses gres/gpu cannot start. See "
           "`fairmill budget physics/alice`." in text, 'a used-up limit of an account is mentioned', text)
    tap.ok('is used up' not in place.said('job', 25), 'a limit that is not used up is not mentioned')


def body():
    with Queue() as place:
        for part in one, places, reasons, used_up, lines_fit, turns, refused, private:
            part(place)


tap.main(body)
