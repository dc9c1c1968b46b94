# SPDX-License-Identifier: MIT
"""The sixty days of t/bench/site, which are to come, as a year that is over."""

import time

DAY = 86400
SITE_DAYS = 60


def stretch(db, site, days=365):
    """Jobs come over so many days up to a midnight, each as long as it was; returns that midnight.  The few
    that are open stay as near to the end as they were: else they were open beyond their limits."""
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
