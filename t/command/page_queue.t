#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the waiting jobs on the page of `fairmill report`."""

import html
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, TINY, Place

HOUR = 3600
# The partitions `cpu` and `urgent` share nodes.
CONF = '''ClusterName=tiny
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightPartition=500
NodeName=n[1-8] CPUs=64 Gres=gpu:2
NodeName=g[1-2] CPUs=16
PartitionName=DEFAULT MaxTime=2-0
PartitionName=cpu Nodes=n[1-8] PriorityJobFactor=10
PartitionName=urgent Nodes=n[1-4] PriorityTier=9
PartitionName=gpu Nodes=g[1-2] PriorityJobFactor=10
'''


def job(number, partition='cpu', tres='1=8,4=1', user='alice', **more):
    """A pending job; the age of job N is N hours, so that a higher number has a higher priority."""
    values = dict(id_job=number, submit=NOW - 86400, time_eligible=NOW - number * HOUR, partition=partition, tres_req=tres, limit=90, priority=9) | more
    return f'job physics.{user} ' + ' '.join(f'{name}={value}' for name, value in values.items()) + '\n'


class Queue(Place):
    def begin(self, *jobs, conf=CONF, keys=None):
        with open(self.path('slurm.conf'), 'w', encoding='ascii') as file:
            file.write(conf)
        self.ready(TINY + ''.join(jobs), {'slurm.conf': self.path('slurm.conf'), **(keys or {})})
        self.change("REPLACE INTO tres_table (creation_time, id, type, name) VALUES (1, 1, 'cpu', ''), (1, 4, 'node', ''), (1, 1001, 'gres', 'gpu')")
        self.succeed('run', '--now', NOW, '--replace')

    def section(self, *arguments):
        """Returns the HTML of the section."""
        self.succeed('report', *arguments)
        return re.search(r'<section id="queue".*?</section>', self.out, re.S)[0]


def text_of(part):
    """Returns the text without what only narrow screens show."""
    part = re.sub(r'<(svg|caption).*?</\1>|<span class="sub">.*?</span>', '', part, flags=re.S)
    return ' '.join(html.unescape(re.sub(r'<[^>]*>', '', part)).split())


def rows(section, name):
    table = re.search(rf'<table id="{name}".*?</table>', section, re.S)
    return [[text_of(cell) for cell in re.findall(r'<t[hd]\b[^>]*>(.*?)</t[hd]>', row, re.S)] for row in re.findall(r'<tr>.*?</tr>', table[0], re.S)] if table else None


def order(place):
    place.begin(job(1), job(3), job(2, 'urgent', '1=4,4=1,1001=2'), job(4, 'gpu', limit=0), job(5, user='bob', tres='1=9999', limit=2880),
                job(6, time_eligible=NOW + HOUR), job(7, id_array_job=90, id_array_task=12))
    section = place.section()
    tap.ok('5 jobs wait for their turn, and 2 more cannot start. These partitions share nodes, so their jobs have one order: urgent with cpu.' in text_of(section),
           'a sentence counts the jobs, and names the partitions that share nodes', text_of(section)[:300])
    tap.same(rows(section, 'partitions-table'), [
        ['Partition', 'Jobs', 'Cores asked for', 'Next job', 'Median wait, 7 days', '9 of 10 waited less than'],
        ['cpu', '5', '24', '90_12, alice', '–', '–'], ['gpu', '1', '8', '4, alice', '–', '–'], ['urgent', '1', '4', '2, alice', '–', '–']],
        'partitions have their jobs, the cores that jobs which can start ask for, and the next job')
    found = rows(section, 'jobs-table')
    tap.same(found[0], ['Place', 'Job', 'User', 'Group', 'Partition', 'QOS', 'Asks for', 'Waiting', 'Priority', 'Parts of the priority'],
             'the table of jobs has these columns')
    tap.same([row[:2] + row[6:8] for row in found[1:6]], [
        ['1', '2', '4 cores, 2 GPUs, 1.5 h', '2.0 h'], ['2', '90_12', '8 cores, 1.5 h', '7.0 h'],
        ['3', '3', '8 cores, 1.5 h', '3.0 h'], ['4', '1', '8 cores, 1.5 h', '60 min'], ['1', '4', '8 cores', '4.0 h']],
        'jobs are listed by the partitions that share nodes, and by place')
    tap.same([(row[0], row[1], row[-1]) for row in found[6:]], [
        ('–', '5', 'cannot start: it asks for 9,999 CPUs, partition cpu has 512'),
        ('–', '6', 'cannot start: it waits until 2025-06-21T11:00:00, its begin time')], 'jobs that cannot start are last, with the reason')
    tap.ok('<a href="#n/physics/alice">alice</a>' in section, 'users are links to their answers')
    widths = [[float(width) for width in re.findall(r' width="([\d.]+)%', row)] for row in re.findall(r'<svg class="pb".*?</svg>', section)]
    tap.ok(len(widths) == 5 and abs(max(sum(row) for row in widths) - 100) < 0.1, 'the longest bar has the full width', widths)


def several(place):
    """Job 3 can start in two pools, and its best row is in `gpu`."""
    place.begin(job(1), job(2), job(3, 'cpu,urgent,gpu'), job(4, 'gpu'), conf=CONF.replace('g[1-2] PriorityJobFactor=10', 'g[1-2] PriorityJobFactor=90'))
    section = place.section()
    tap.same([(row[0], row[1], row[4]) for row in rows(section, 'jobs-table')[1:]],
             [('1', '3', 'urgent'), ('2', '2', 'cpu'), ('3', '1', 'cpu'), ('1', '4', 'gpu'), ('2', '3', 'gpu')],
             'a job of several partitions has a row in each order, so that no place is missing')
    tap.same([row[:4] for row in rows(section, 'partitions-table')[1:]],
             [['cpu', '3', '24', '3, alice'], ['gpu', '2', '16', '4, alice'], ['urgent', '1', '8', '3, alice']],
             'each partition counts it, and names its next job')
    tap.ok('4 jobs wait for their turn.' in text_of(section) and 'has a row for each.' in text_of(section), 'the sentence counts it once',
           text_of(section)[:200])


def numbers(place):
    place.begin()
    tap.ok('No job is waiting.' in text_of(place.section()), 'without jobs, a sentence says so')
    place.begin(job(1, time_eligible=0), job(2, priority=0, time_eligible=0))
    section = place.section()
    tap.ok('2 jobs cannot start.' in text_of(section), 'if all jobs cannot start, a sentence says so', text_of(section)[:200])
    place.begin(*(job(number, user='alice' if number % 2 else 'bob') for number in range(1, 541)))
    section = place.section()
    tap.same((len(rows(section, 'jobs-table')) - 1, '40 other jobs are waiting; fairmill prio lists all.' in text_of(section)), (500, True),
             'the table lists at most 500 jobs, and a sentence counts the others')
    tap.ok('id="jobs-table-more">Show all 500<' in section and 'id="partitions-table-more"' not in section, 'scripts show the rows on request')


def hidden(place):
    place.begin(job(1), job(2, user='bob'), keys={'report.private': 'yes'})
    section = place.section()
    tap.same(rows(section, 'partitions-table')[1], ['cpu', '2', '16', '–', '–'], 'the page of a private site has the partitions, without the next job')
    tap.ok(rows(section, 'jobs-table') is None and 'alice' not in section and 'bob' not in section, 'it has no jobs and no names')
    place.begin(job(1), job(2, user='bob'), job(3, user='bob', time_eligible=0), 'job chemistry.carol id_job=4 partition=cpu priority=9\n')
    section = place.section('-A', 'physics')
    tap.ok('2 jobs wait for their turn, and 1 more cannot start. The first table counts all jobs of the cluster.' in text_of(section)
           and 'carol' not in section and 'Next job' not in section, "the page of a group has the group's jobs", text_of(section)[:300])


def running(place):
    place.begin(job(1), job(2, start=NOW - HOUR), keys={'priority.flags': 'CALCULATE_RUNNING'})
    tap.same([row[1] for row in rows(place.section(), 'jobs-table')[1:]], ['1'], 'running jobs with a priority do not wait')


def body():
    with Queue() as place:
        for test in order, several, numbers, hidden, running:
            test(place)


tap.main(body)
