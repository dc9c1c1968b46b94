#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Makes the pictures of the page in doc/, from the demonstration at the current time.

    build-aux/screenshots.py [DIRECTORY]

It runs build/fairmill, and needs Chromium, poppler-utils and ImageMagick.  The default of DIRECTORY is
doc/.  Each picture has at most 150 kB."""

import base64
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path[:0] = [f'{TOP}/t/lib', f'{TOP}/t/command']
from browser import Browser, Pages  # noqa: E402
from page_checks import OPEN  # noqa: E402

MOST_BYTES = 150_000
SETTINGS = '''[source]
driver = sqlite
database = accounting.db

[results]
driver = sqlite
database = results.db

[slurm]
conf = slurm.conf

[usage]
time_zone = UTC
'''


def make_site(folder):
    """Makes the demonstration and its page as of the last five minutes."""
    now = int(time.time()) // 300 * 300
    with open(f'{folder}/fairmill.conf', 'w', encoding='utf-8') as file:
        file.write(SETTINGS)

    def run(*command):
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    run(f'{TOP}/sql/demo/make-demo.py', 'accounting.db', str(now))
    for command in (('init',), ('run', '--now', str(now)), ('backfill',), ('report', '--output', 'page.html')):
        run(f'{TOP}/build/fairmill', '-c', 'fairmill.conf', *command)


def addresses(folder):
    """Returns the addresses of the user with the most usage and of an account with a budget."""
    with sqlite3.connect(f'{folder}/results.db') as db:
        (account, user), = db.execute("SELECT account, user_name FROM fairmill_fairshare WHERE user_name <> '' "
                                      'ORDER BY usage_raw DESC LIMIT 1')
        (group,), = db.execute("SELECT account FROM fairmill_budget WHERE account <> '' AND user_name = '' ORDER BY account LIMIT 1")
    return f'#n/{account}/{user}', f'#n/{group}'


def save(folder, name, data):
    """Writes a picture with few colors."""
    path = f'{folder}/page-{name}.png'
    for colors in (128, 64, 32):
        subprocess.run(['convert', 'png:-', '-strip', '+dither', '-colors', str(colors), '-define', 'png:compression-level=9', path],
                       input=data, check=True)
        if os.path.getsize(path) <= MOST_BYTES:
            break
    print(f'{path}: {os.path.getsize(path):,} bytes')


def picture(browser, width, height):
    """Returns the top of the page."""
    clip = dict(x=0, y=0, width=width, height=height, scale=1)
    return base64.b64decode(browser.devtools('Page.captureScreenshot', format='png', clip=clip, captureBeyondViewport=True)['data'])


def end_of(browser, css):
    """Returns the vertical position after an element."""
    return browser.run(f"return Math.round(document.querySelector('{css}').getBoundingClientRect().bottom + scrollY) + 16")


def first_sheet(browser, folder):
    with open(f'{folder}/page.pdf', 'wb') as file:
        file.write(base64.b64decode(browser.devtools('Page.printToPDF', paperWidth=8.27, paperHeight=11.69)['data']))
    subprocess.run(['pdftoppm', '-png', '-r', '90', '-singlefile', f'{folder}/page.pdf', f'{folder}/page'], check=True)
    with open(f'{folder}/page.png', 'rb') as file:
        return file.read()


def open_page(browser, url, width, address=''):
    browser.window(width, 1000)
    browser.open('about:blank')
    browser.open(url + address)
    if address:
        browser.wait_for(OPEN)
        browser.run('document.activeElement.blur(); scrollTo(0, 0);')


def main(target):
    with tempfile.TemporaryDirectory() as folder, Browser() as browser, Pages(folder) as pages:
        make_site(folder)
        user, group = addresses(folder)
        url = pages.url + 'page.html'
        open_page(browser, url, 1400)
        save(target, 'overview', picture(browser, 1400, end_of(browser, 'section[id$=groups]')))
        save(target, 'print', first_sheet(browser, folder))
        for name, address in ('user', user), ('group', group):
            open_page(browser, url, 1400, address)
            save(target, name, picture(browser, 1400, end_of(browser, 'section[id$=answer]')))
        open_page(browser, url, 390, user)
        save(target, 'phone', picture(browser, 390, end_of(browser, 'section[id$=answer]')))
        browser.prefers('dark')
        open_page(browser, url, 1920)
        save(target, 'dark', picture(browser, 1920, end_of(browser, '.pair')))


main(sys.argv[1] if len(sys.argv) > 1 else f'{TOP}/doc')
