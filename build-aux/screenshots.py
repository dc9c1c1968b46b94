#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Makes the pictures of the page in doc/, from the site that `quickstart.sh site` makes.

    build-aux/screenshots.py [DIRECTORY]

It runs build/fairmill, and needs Chromium and ImageMagick.  The default of DIRECTORY is doc/.  Each
picture has at most 150 kB."""

import base64
import os
import sqlite3
import subprocess
import sys
import tempfile

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path[:0] = [f'{TOP}/t/lib', f'{TOP}/t/command']
import demonstration  # noqa: E402
from browser import Browser, Pages  # noqa: E402
from page_checks import OPEN  # noqa: E402

MOST_BYTES = 150_000
WIDTH = 1400
# A user who computes all year, has waiting jobs, and is in the middle of the order.
USER = '''
SELECT account, user_name
FROM fairmill_fairshare JOIN fairmill_job_priority USING (cluster, account, user_name)
WHERE cluster = 'alder' AND id_assoc IN (SELECT id_assoc FROM fairmill_usage_day WHERE cluster = 'alder' GROUP BY 1 HAVING count(*) > 250)
GROUP BY 1, 2 HAVING count(DISTINCT job_db_inx) BETWEEN 3 AND 8 ORDER BY abs(first_place - 1600), 1, 2 LIMIT 1'''
# The group with most waiting jobs whose budget will be used up.
GROUP = '''
SELECT account
FROM fairmill_budget AS budget
WHERE cluster = 'alder' AND user_name = '' AND used_minutes BETWEEN limit_minutes * 0.7 AND limit_minutes AND exhausted_at IS NOT NULL
ORDER BY (SELECT count(*) FROM fairmill_job_priority WHERE cluster = 'alder' AND account = budget.account) DESC, 1 LIMIT 1'''


def addresses(folder):
    """Returns the addresses of the answers for a user and for a group."""
    with sqlite3.connect(f'{folder}/results.db') as db:
        (account, user), (group,) = db.execute(USER).fetchone(), db.execute(GROUP).fetchone()
    return f'#c/alder/n/{account}/{user}', f'#c/alder/n/{group}'


def save(folder, name, data):
    """Writes a picture with few colors."""
    path = f'{folder}/page-{name}.png'
    for colors in (128, 64, 32):
        subprocess.run(['convert', 'png:-', '-strip', '+dither', '-colors', str(colors), '-define', 'png:compression-level=9', path],
                       input=data, check=True)
        if os.path.getsize(path) <= MOST_BYTES:
            break
    print(f'{path}: {os.path.getsize(path):,} bytes')


def picture(browser, height):
    """Returns the top of the page."""
    clip = dict(x=0, y=0, width=WIDTH, height=height, scale=1)
    return base64.b64decode(browser.devtools('Page.captureScreenshot', format='png', clip=clip, captureBeyondViewport=True)['data'])


def end_of(browser, css):
    """Returns the vertical position after an element."""
    return browser.run(f"return Math.round(document.querySelector('{css}').getBoundingClientRect().bottom + scrollY) + 16")


def open_page(browser, url, address=''):
    browser.window(WIDTH, 1000)
    browser.open('about:blank')
    browser.open(url + address)
    if address:
        browser.wait_for(OPEN)
        browser.run('document.activeElement.blur(); scrollTo(0, 0);')


def main(target):
    with tempfile.TemporaryDirectory() as top:
        demonstration.make_site(top, 'site')
        folder = f'{top}/build/demo'
        user, group = addresses(folder)
        with Browser() as browser, Pages(folder) as pages:
            for name, address, last in (('overview', '', 'groups'), ('user', user, 'answer'), ('group', group, 'answer')):
                open_page(browser, pages.url + 'fairshare.html', address)
                save(target, name, picture(browser, end_of(browser, f'section[id$={last}]')))


main(sys.argv[1] if len(sys.argv) > 1 else f'{TOP}/doc')
