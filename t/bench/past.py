# SPDX-License-Identifier: MIT
"""Moves the sixty days of t/bench/site, which are in the future, to a past year."""

import time

DAY = 86400
SITE_DAYS = 60


def stretch(db, site, days=365):
    """Distributes the jobs over the `days` days before yesterday (UTC).  Returns the time at which
    yesterday began.  Each job keeps its duration.  Open jobs keep their distance to the end,
    because otherwise they would exceed their time limits."""
    now = int(time.time()) // DAY * DAY - DAY
    last = site.instant(0)
    moved = now - last
    ended = f'{now - days * DAY} + (time_submit - {last - SITE_DAYS * DAY}) * {days} / {SITE_DAYS} - time_submit'
    for condition, by in (('time_end = 0', moved), ('time_end > 0', ended)):
        db.sql('UPDATE bench_job_table SET '
               f'time_start = CASE WHEN time_start > 0 THEN time_start + ({by}) ELSE 0 END, '
               f'time_end = CASE WHEN time_end > 0 THEN time_end + ({by}) ELSE 0 END, '
               f'time_submit = time_submit + ({by}), time_eligible = time_submit + ({by}) WHERE {condition};', 'acct')
    return now
