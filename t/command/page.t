#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite browser
"""Tests the page of `fairmill report` in a browser: its functions, its layout, and that it requests
nothing.

With PICTURES=FOLDER in the environment it saves pictures of the pages there for visual checks."""

import base64
import csv
import io
import json
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import site_drawing
import tap
from browser import Browser, Pages
from place import NOW, Place
from program import TOP, fairmill, write_settings

DAY = 86400
ENTER = '\ue007'
TAB = '\ue004'
UTC = {'usage.time_zone': 'UTC', 'usage.half_life': '7-0'}
HOSTILE = '<img src=x onerror="hurt()"></script><script>hurt()</script>'
LONG = 'a-name-that-is-much-longer-than-anybody-would-like-it-to-be-' * 3


def site(place, associations, past=True):
    """Makes a site of about `associations` associations, with jobs of a month and some pending
    jobs."""
    drawn = random.Random(associations)
    made = site_drawing.Site()
    made.tres[1001] = 'gres/gpu'
    cluster = made.cluster('tiny')
    cluster.account('root', '')
    faculties, groups = (2, 1) if associations < 100 else (10, 20)
    users = max(1, associations // faculties // groups - 1)
    for faculty in range(faculties):
        cluster.account(f'faculty{faculty}', 'root', drawn.randint(1, 40))
        for group in range(groups):
            account = f'group{faculty}_{group}'
            cluster.account(account, f'faculty{faculty}', drawn.randint(1, 20))
            for user in range(users):
                number = cluster.user(f'user{faculty}_{group}_{user}', account, drawn.choice([1, 1, 1, 5]))
                for _ in range(drawn.randint(0, 2 if associations > 100 else 30) if past else 0):
                    end = NOW - drawn.randint(0, 30 * DAY)
                    start, count = end - drawn.randint(100, 40000), drawn.choice([1, 8, 64])
                    cluster.job(number, start, end, tres=f'1={count},5={count}' + (',1001=2' if faculty == 0 else ''))
                if past and (associations < 100 or drawn.random() < 0.3):
                    cluster.job(number, 0, 0, billing=4, submit=NOW - drawn.randint(10, DAY), priority=1)
    if os.path.exists(place.path('a.db')):
        os.unlink(place.path('a.db'))
    made.write(place.path('a.db'))


def publish(place, associations, days=10, past=True, **keys):
    place.ready(keys={**UTC, **keys})
    site(place, associations, past)
    for day in range(days - 1, -1, -1):
        place.succeed('run', '--now', NOW - day * DAY)


def report(place, name='page.html'):
    place.succeed('report', '--output', name)


def take_picture(browser, name):
    if os.environ.get('PICTURES'):
        with open(os.path.join(os.environ['PICTURES'], name + '.png'), 'wb') as file:
            file.write(browser.picture())


FITS = '''
    const wide = [...document.querySelectorAll('main *, header *, footer *')].filter(each => {
        const box = each.getBoundingClientRect();
        return box.width > 1 && box.right > document.documentElement.clientWidth + 1
            && !each.closest('.block, .hidden, .choice');
    });
    return [document.documentElement.scrollWidth <= window.innerWidth,
        wide.slice(0, 3).map(each => each.outerHTML.slice(0, 120))];'''

# Returns the number of pairs of blocks that overlap.
COVERED = '''
    const boxes = [...document.querySelectorAll('.block')].map(each => each.getBoundingClientRect());
    let count = 0;
    for (const [i, one] of boxes.entries())
        for (const other of boxes.slice(i + 1))
            if (one.left < other.right - 1 && other.left < one.right - 1
                    && one.top < other.bottom - 1 && other.top < one.bottom - 1)
                count++;
    return count;'''

# Returns the names of blocks that are cut at the top or the bottom.
CUT = '''
    return [...document.querySelectorAll('.block:not(.sliver) b')].filter(name => {
        const box = name.getBoundingClientRect(), block = name.parentElement.getBoundingClientRect();
        return box.height && (box.top < block.top - 1 || box.bottom > block.bottom + 1);
    }).map(name => name.textContent);'''

# Returns the least contrast of a text and its background, by WCAG's formula.
CONTRAST = r'''
    const parts = color => color.match(/[\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = each => {
        for (let at = each; at; at = at.parentElement) {
            const color = parts(getComputedStyle(at).backgroundColor);
            if (color[3] !== 0)
                return color;
        }
        return [255, 255, 255];
    };
    let least = [99, ''];
    for (const each of document.querySelectorAll('body *')) {
        const text = [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        if (!text || !each.offsetWidth || each.matches('script, noscript, .hidden'))
            continue;
        const [one, other] = [light(parts(getComputedStyle(each).color)), light(behind(each))].sort((a, b) => b - a);
        const ratio = (one + 0.05) / (other + 0.05);
        if (ratio < least[0])
            least = [ratio, each.outerHTML.slice(0, 120)];
    }
    return least;'''


def fits(browser, what):
    for width in (390, 768, 1100, 1440):
        browser.window(width)
        browser.wait_for('return document.querySelector(".block, #icicle .empty")')
        time.sleep(0.3)  # Parts are drawn again when the width no longer changes.
        scrolls, wide = browser.run(FITS)
        tap.ok(scrolls and not wide, f'{what} fits into {width} pixels', wide)
        tap.same((browser.run(COVERED), browser.run(CUT)), (0, []), f'{what} has no covered or cut names at {width} pixels')
        for scheme in ('light', 'dark'):
            browser.prefers(scheme)
            browser.wait_for(f'return document.documentElement.dataset.theme === "{scheme}"')
            take_picture(browser, f"{what.replace(' ', '-')}-{width}-{scheme}")
    browser.prefers('light')


def try_use(place, browser, pages):
    publish(place, 10)
    report(place)
    browser.window(1440)
    browser.open('about:blank')
    browser.requests()
    browser.open(pages.url + 'page.html')
    tap.same(browser.console(), [], 'the page opens without messages on the console')
    tap.same(browser.requests(), [pages.url + 'page.html'], 'the page requests only itself')
    tap.same(pages.asked, ['/page.html'], 'the server gets one request')
    tap.same(browser.run("return document.getElementById('title').textContent"), 'Fair shares of tiny',
             'the title names the cluster')
    tap.same(browser.run("return document.querySelectorAll('#charts canvas').length"), 3, 'the page draws three charts')
    tap.same(browser.run("return [document.getElementById('plain'), document.getElementById('app').content.childElementCount]"), [None, 0],
             'the content for browsers without scripts is removed')
    tap.same(browser.run("return document.querySelectorAll('#queue-chart canvas').length"), 1, 'the page draws the queue')

    browser.click('.block[aria-label*="account faculty0"]')
    tap.same(browser.run("return [...document.querySelectorAll('#path button')].map(each => each.textContent)"),
             ['root', 'faculty0'], 'a click on an account opens it')
    tap.same(browser.run("return document.getElementById('chosen-title').firstChild.data"), 'faculty0',
             'the details show the opened account')
    tap.same(browser.run("return document.querySelectorAll('.block[aria-label*=faculty1]').length"), 0,
             'other accounts disappear from the tree')
    browser.click('#path button')
    tap.same(browser.run("return document.querySelectorAll('.block[aria-label*=faculty]').length"), 2,
             'a click on the path returns to the root')
    browser.run("document.querySelector('.block[aria-label*=faculty1]').focus()")
    browser.press(ENTER)
    tap.same(browser.run("return document.querySelector('#path [aria-current]').textContent"), 'faculty1',
             'the Enter key opens an account')
    tap.ok(browser.run("return document.getElementById('path').contains(document.activeElement)"),
           'the focus moves to the path')
    browser.press(TAB)
    tap.ok(browser.run("return document.activeElement.matches('.block')"), 'the Tab key moves to the next block')

    browser.type('#people', 'USER0_0_1')
    names = browser.wait_for('''
        const names = [...document.querySelectorAll('#people-table tbody button')].map(each => each.textContent);
        return names.length === 1 && names;''')
    tap.same(names, ['user0_0_1'], 'the search finds a user')
    browser.click('#people-table tbody button')
    tap.same(browser.run("return document.getElementById('chosen-title').firstChild.data"), 'user0_0_1',
             'a click on a user shows the details')
    tap.ok(browser.run("return Boolean(document.activeElement.closest('#people-table tbody tr'))"),
           'the focus stays in the table row')
    factor, = [value for (value,) in place.query(
        "SELECT fairshare FROM fairmill_fairshare WHERE user_name = 'user0_0_1'")]
    tap.ok(f'{factor:.4f}' in browser.run("return document.getElementById('facts').textContent"),
           'the details show the published factor')
    tap.same(browser.run("return document.querySelectorAll('#charts canvas').length"), 3,
             'the details show three charts of the user')
    browser.type('#people', 'nobody')
    tap.ok(browser.wait_for("return document.getElementById('people-table').textContent === 'No row matches.'"),
           'a search without result says so')
    browser.type('#people', 'faculty')
    browser.wait_for("return document.querySelectorAll('#people-table tbody tr').length === 2")
    sorts = []
    for _ in range(2):
        browser.click('#people-table th:nth-child(3) button')
        sorts.append(browser.run('''
            const cells = [...document.querySelectorAll('#people-table tbody td:nth-child(3)')].map(each => parseFloat(each.textContent));
            return [document.querySelector('#people-table th:nth-child(3)').getAttribute('aria-sort'), cells[0] >= cells[1], cells[0] <= cells[1]];'''))
    tap.same([(way, falls if way == 'descending' else rises) for way, falls, rises in sorts],
             [('descending', True), ('ascending', True)], 'a click on a heading sorts, a second one reverses the order')
    heights = ["return document.querySelector('.block').offsetHeight"] * 2
    browser.click('#path button')
    before = browser.run(heights[0])
    browser.click('.choice label:has([value=usage])')
    tap.ok(browser.run(heights[1]) != before, 'the height of blocks can show usage', before)

    colors = []
    for _ in range(2):
        colors.append(browser.run('''return [getComputedStyle(document.body).backgroundColor,
            document.querySelector('#charts canvas').toDataURL()]'''))
        browser.click('#theme')
    tap.ok(colors[0][0] != colors[1][0] and colors[0][1] != colors[1][1], 'the dark theme has other colors, also in charts',
           colors[0][0], colors[1][0])
    tap.same(browser.run('''
        return [...document.querySelectorAll('button, input, select, canvas')].filter(each => each.offsetWidth
            && !(each.textContent.trim() || each.getAttribute('aria-label') || each.closest('label'))
            ).map(each => each.outerHTML.slice(0, 100));'''), [], 'each control and each chart has a name')
    for scheme in ('light', 'dark'):
        browser.prefers(scheme)
        browser.wait_for(f'return document.documentElement.dataset.theme === "{scheme}"')
        ratio, which = browser.run(CONTRAST)
        tap.ok(ratio >= 4.5, f'the contrast of all texts is sufficient in {scheme}', f'{ratio:.2f}', which)
    browser.prefers('light')
    refused = browser._ask('POST', '/execute/async', dict(args=[pages.url], script='''
        const [url, done] = arguments;
        fetch(url).then(() => done('asked'), () => done('refused'));'''))
    tap.same((refused, pages.asked), ('refused', ['/page.html']), "the browser's policy blocks requests of the page")
    browser.console()


def try_tres(place, browser, pages):
    publish(place, 60, days=2)
    report(place)
    browser.window(1440)
    browser.open(pages.url + 'page.html')
    browser.console()
    label = "return document.querySelector('#charts canvas').getAttribute('aria-label')"
    tap.same(browser.run("return [...document.querySelectorAll('#units option')].map(each => each.textContent)"),
             ['TRES-hours, billed', 'CPU-hours', 'GPU-hours'], 'the usage by day has a list of units')
    tap.ok(browser.run(label).startswith('Usage by day, TRES-hours: '), 'the chart shows billed usage first', browser.run(label))
    billed = browser.run("return document.querySelector('#charts canvas').toDataURL()")
    choose = "const list = document.getElementById('units'); list.value = 'gres/gpu'; list.dispatchEvent(new Event('change'));"
    browser.run(choose)
    most = max(place.query("SELECT sum(seconds) / 3600.0 FROM fairmill_tres_day WHERE tres = 'gres/gpu' AND day >= ? GROUP BY day",
                           NOW - 30 * DAY))[0]
    shown = browser.run(label)
    tap.ok(shown.startswith(f'Usage by day, GPU-hours: highest {most:.3g},'), 'the chart shows the chosen unit', shown, most)
    tap.ok(browser.run("return document.querySelector('#charts canvas').toDataURL()") != billed, 'the chart is drawn again')
    tap.same(browser.run('return document.activeElement.id'), 'units', 'the focus stays in the list of units')
    browser.click('.block[aria-label*="account faculty0"]')
    tap.same(browser.run("return document.getElementById('units').value"), 'gres/gpu', 'the choice applies to other accounts')
    browser.click('#people-table tbody tr:last-child button')
    browser.run("[...document.querySelectorAll('#people-table tbody button')].find(each => each.textContent.startsWith('user')).click()")
    tap.ok(browser.run("return !document.getElementById('units')") and ', TRES-hours: ' in browser.run(label),
           'users have billed usage only', browser.run(label))
    place.succeed('report', '--tres', 'gres/gpu', '--output', 'page.html')
    browser.open(pages.url + 'page.html')
    tap.ok(', GPU-hours: ' in browser.run(label), 'the page opens with the unit of --tres', browser.run(label))
    tap.same(browser.console(), [], 'the page with units has no messages on the console')
    fits(browser, 'a page with units')


def try_names(place, browser, pages):
    publish(place, 10, days=2)
    for old, new in (('user0_0_0', HOSTILE), ('user1_0_0', LONG)):
        place.change('UPDATE tiny_assoc_table SET user = ? WHERE user = ?', new, old)
    for table, column in (('tiny_assoc_table', 'acct'), ('tiny_assoc_table', 'parent_acct'), ('tiny_job_table', 'account')):
        place.change(f'UPDATE {table} SET {column} = ? WHERE {column} = ?', HOSTILE, 'faculty0')
    place.change('UPDATE tiny_job_table SET partition = ?', HOSTILE)
    place.succeed('run', '--full', '--now', NOW + 1)
    report(place)
    browser.open(pages.url + 'page.html')
    tap.same((browser.console(), browser.run("return [document.querySelectorAll('img').length, typeof hurt, document.scripts.length]")),
             ([], [0, 'undefined', 2]), 'names are not read as HTML or scripts')
    tap.ok(HOSTILE in browser.run("return document.getElementById('people-table').textContent"),
           'hostile names are shown as text')
    browser.run("document.querySelectorAll('.block')[0].click()")
    browser.type('#people', 'onerror')
    browser.wait_for("return document.querySelectorAll('#people-table tbody tr').length <= 2")
    browser.run("document.querySelector('#people-table tbody button').click()")
    tap.same((browser.console(), browser.run("return [document.querySelectorAll('img').length, document.scripts.length]")),
             ([], [0, 2]), 'a click on a hostile name runs no script')
    browser.open(pages.url + 'page.html')
    fits(browser, 'a page of hostile and long names')


def try_health(place, browser, pages):
    summary = "return document.getElementById('summary').textContent"
    publish(place, 10, days=1)
    report(place)
    browser.open(pages.url + 'page.html')
    tap.ok('failed' not in browser.run(summary), 'without problems the summary does not mention failures')
    place.change("UPDATE tiny_assoc_table SET parent_acct = 'gone', id_parent = 77 WHERE id_assoc > 1")
    place.run('run')
    report(place, 'failed.html')
    browser.open(pages.url + 'failed.html')
    tap.ok('last run failed · ' in browser.run(summary), 'the summary reports the failed run')


def try_sizes(place, browser, pages):
    publish(place, 10, days=20)
    report(place)
    browser.open(pages.url + 'page.html')
    fits(browser, 'a page of ten associations')
    publish(place, 10000, days=4, **{'priority.weight_age': 1000, 'priority.weight_fairshare': 100000})
    report(place)
    size = os.path.getsize(place.path('page.html'))
    tap.ok(size < 2000000, 'a page of ten thousand associations is below 2 MB', size)
    browser.open(pages.url + 'page.html')
    elements = "return document.querySelectorAll('*').length"
    tap.ok(browser.run(elements) < 3000, 'a large page draws only visible elements')
    browser.run("document.querySelector('.block').click()")
    tap.ok(browser.run(elements) < 3000, 'an opened account draws only visible elements')
    rows = browser.run("return document.querySelectorAll('#people-table tbody tr').length")
    browser.run("document.querySelector('#people-table .more button').focus()")
    browser.press(ENTER)
    tap.same(browser.run("return [...document.querySelectorAll('#people-table tbody tr')].indexOf(document.activeElement.closest('tr'))"),
             rows, "'more' moves the focus to the first new row")
    browser.type('#people', 'user7_13_5')
    tap.ok(browser.wait_for('''return [...document.querySelectorAll('#people-table tbody button')]
        .some(each => each.textContent === 'user7_13_5')'''), 'the search finds a user among ten thousand')
    browser.open(pages.url + 'page.html')
    fits(browser, 'a page of ten thousand associations')
    tap.same(browser.console(), [], 'a large page causes no messages on the console')


def try_nothing(place, browser, pages):
    publish(place, 10, days=1, past=False)
    report(place)
    browser.open(pages.url + 'page.html')
    words = browser.run("return document.querySelector('main').innerText")
    for sentence in ('No usage by day is known yet.', 'No history yet', 'No job is pending.'):
        tap.ok(sentence in words, f"a page without data says '{sentence}'", words)
    tap.same(browser.run("return document.querySelectorAll('canvas').length"), 0, 'a page without data draws no charts')
    browser.click('.choice label:has([value=usage])')
    tap.ok(browser.wait_for("return document.getElementById('icicle').innerText.includes('There is no usage below')"),
           'a page without usage has no heights by usage')
    browser.click('.choice label:has([value=share])')
    fits(browser, 'a page without data')
    publish(place, 10, days=3, **{'report.private': 'yes'})
    report(place)
    browser.open(pages.url + 'page.html')
    words = browser.run("return document.body.innerText")
    tap.ok('user0' not in words and '8 jobs are pending. Data about users is private on this site.' in words,
           'with private = yes the page shows no users', words)
    tap.same(browser.run("return [...document.querySelectorAll('#people-table th')].map(each => each.textContent.replace(/ .$/, ''))"),
             ['Name', 'Account', 'Share', 'Usage', 'Share of all', 'Usage of all', 'Decayed', 'In period', 'Level FS'], 'with private = yes the table has no columns for users')
    fits(browser, 'a page of accounts')
    for algorithm in ('classic', 'linear', 'pbs', 'depth_oblivious'):
        publish(place, 10, days=3, **{'fairshare.algorithm': algorithm, 'fairshare.capacity': 1000})
        report(place)
        browser.open(pages.url + 'page.html')
        browser.run("document.querySelector('#people-table tbody button').click()")
        tap.same((browser.console(), browser.run("return document.getElementById('legend').textContent.includes('factor')")),
                 ([], True), f'with {algorithm} the page shows factors')


def try_openpbs(place, browser, pages):
    """The demonstration of OpenPBS, with its terminology."""
    subprocess.run([f'{TOP}/sql/demo/make-pbs-demo.py', place.path('pbs'), str(NOW)], check=True, stdout=subprocess.DEVNULL)
    conf = place.path('pbs.conf')
    write_settings(conf, dict(source=dict(driver='sqlite', database=place.path('pbs.db'), layout='pbs', clusters='pbs'),
                              results=dict(driver='sqlite', database=place.path('pbs-results.db')), usage=dict(time_zone='UTC')))
    for command in (('import', 'pbs', *(f'--{name}={place.path("pbs")}/{file}' for name, file in (
            ('resource-group', 'resource_group'), ('sched-config', 'sched_config'), ('accounting', 'accounting'), ('queue', 'qstat.json')))),
                    ('init',), ('run', '--now', NOW), ('report', '--output', place.path('pbs.html'))):
        tap.same(fairmill(conf, *command), (0, '', ''), f'{command[0]} of OpenPBS succeeds')
    browser.open(pages.url + 'pbs.html')
    tap.same([browser.run(f"return [...document.querySelectorAll('#{table} th')].map(each => each.textContent.replace(/ .$/, ''))") for table in ('people-table', 'queue-table')],
             [['Name', 'Group', 'Share', 'Usage', 'Usage of all', 'Decayed', 'In period', 'Factor', 'Place'], ['Job', 'Entity', 'Group', 'Queue', 'Place', 'Value', 'Names of the formula']],
             "tables have OpenPBS's terms as headings")
    tap.same(browser.run("return [...document.querySelectorAll('#units option')].map(each => each.textContent)"),
             ['cput', 'CPU-hours', 'walltime-hours'], "the list of units has OpenPBS's formula and resources")
    rows = browser.run("return [...document.querySelectorAll('#queue-table tbody tr')].map(row => [...row.cells].map(cell => cell.innerText))")
    tap.ok(len(rows) == 5 and all(row[0].endswith('.pbs') for row in rows) and rows[-1][5] == '–' and 'has no shares' in rows[-1][6]
           and [float(row[5]) for row in rows[:-1]] == sorted((float(row[5]) for row in rows[:-1]), reverse=True),
           'jobs have their ids and formula values in descending order, or a reason', rows)
    browser.run("document.querySelector('#people-table tbody button').click()")
    words = browser.run('return document.body.innerText')
    tap.same([word for word in ('ccount', 'User', 'user', 'TRES', 'artition', 'QOS', 'lurm') if word in words.replace('users of', '')], [],
             "the page contains none of Slurm's terms")
    take_picture(browser, 'openpbs')
    fits(browser, 'a page of OpenPBS')


def try_queue(place, browser, pages):
    """Pending jobs are listed by pool and place; those that cannot start are last, with the reason."""
    publish(place, 60, days=2)
    jobs = [job for job, in place.query('SELECT id_job FROM fairmill_job_priority ORDER BY id_job')]
    long_detail = 'asks for 2,048 CPUs, partition a-partition-with-a-long-name has 1,536'
    place.query("UPDATE fairmill_job_priority SET pool = '', place = NULL, reason = 'held', reason_detail = ''")
    for job, pool, number, reason, detail in zip(jobs, ('gpu', 'cpu', 'cpu', 'cpu', 'gpu', '', ''), (1, 2, 1, 2, 2, None, None),
                                                 ('', '', '', '', '', 'too_large', 'partition_down'),
                                                 ('', '', '', '', '', long_detail, 'partition old has State=DOWN'), strict=False):
        place.query('UPDATE fairmill_job_priority SET pool = ?, place = ?, reason = ?, reason_detail = ?, partition_name = ? WHERE id_job = ?',
                    pool, number, reason, detail, pool or 'a-partition-with-a-long-name', job)
    place.query("UPDATE fairmill_job_priority SET job_id = '77_5' WHERE id_job = ?", jobs[0])
    report(place)
    browser.window(1440)
    browser.open(pages.url + 'page.html')
    tap.same(browser.console(), [], 'a page with places opens without messages on the console')
    rows = browser.run("return [...document.querySelectorAll('#queue-table tbody tr')].map(row => [...row.cells].map(cell => cell.innerText.trim()))")
    shown = [(row[0], row[4], row[5]) for row in rows]
    tap.same(shown[:5], [(str(jobs[2]), '1', 'cpu'), (str(jobs[1]), '2', 'cpu'), (str(jobs[3]), '2', 'cpu'), ('77_5', '1', 'gpu'), (str(jobs[4]), '2', 'gpu')],
             'pending jobs are listed by pool and place, with ids in the form of squeue')
    reasons = {row[0]: ' '.join(row[1].split()) for row in shown[5:]}
    tap.same([reasons[str(jobs[5])], reasons[str(jobs[6])], reasons[str(jobs[7])]],
             [f'too large it {long_detail}', 'partition down partition old has State=DOWN', 'held it is held'],
             'jobs that cannot start are last, with their reason')
    fits(browser, 'a page with places')
    browser.type('#jobs', 'too large')
    browser.wait_for("return document.querySelectorAll('#queue-table tbody tr').length === 1")
    tap.ok('2,048' in browser.run("return document.querySelector('#queue-table tbody').innerText"), 'the list of jobs can be searched for a reason')
    browser.devtools('Emulation.setScriptExecutionDisabled', value=True)
    for width in (390, 1400):
        browser.window(width)
        browser.open(pages.url + 'page.html')
        words = browser.run('return [document.getElementById("plain").innerText, document.documentElement.scrollWidth <= window.innerWidth]')
        tap.ok(words[1] and '1 in gpu' in words[0] and f'too large: it {long_detail}' in words[0],
               f'without scripts and at {width} pixels, the page has places and reasons', words[0][-3000:])
        take_picture(browser, f'plain-places-{width}')
    browser.devtools('Emulation.setScriptExecutionDisabled', value=False)


def try_csv(place, browser, pages):
    publish(place, 10, days=2)
    for name, former in (('a "b", c', 'user0_0_0'), ('=1+1', 'user0_0_1'), ("'quoted'", 'user0_0_2')):
        place.change('UPDATE tiny_assoc_table SET user = ? WHERE user = ?', name, former)
    place.succeed('run', '--full', '--now', NOW + 1)
    report(place)
    browser.open(pages.url + 'page.html')
    browser.devtools('Browser.setDownloadBehavior', behavior='allow', downloadPath=place.folder)
    saved = {}
    for name in ('shares', 'jobs'):
        browser.click('#people-csv' if name == 'shares' else '#jobs-csv')
        path = place.path(f'tiny-{name}.csv')
        tap.until(lambda path=path: os.path.exists(path))
        with open(path, encoding='utf-8', newline='') as file:
            saved[name] = file.read()
    tap.same(browser.console(), [], 'the policy of the page allows saving tables')
    rows = list(csv.DictReader(io.StringIO(saved['shares'])))
    expected = place.query("SELECT user_name, fairshare, usage_raw, level_usage FROM fairmill_fairshare WHERE user_name <> ''")
    tap.ok({"'=1+1", "''quoted'"} <= {row['Name'] for row in rows},
           'an apostrophe precedes cells that a spreadsheet may read as formulas')
    found = {row['Name'].removeprefix("'"): row for row in rows}
    tap.ok(len(rows) == len(place.query("SELECT 1 FROM fairmill_fairshare WHERE depth > 0"))
           and all(abs(float(found[user][column]) - value) <= 5.1e-4 * value for user, *values in expected
                   for column, value in zip(('Factor', 'Decayed usage', 'Usage'), (values[0], values[1] / 3600, values[2]))),
           'the CSV has all rows with the published values', saved['shares'])
    tap.ok(saved['shares'].count('\r\n') == len(rows) + 1 and '"a ""b"", c"' in saved['shares'],
           'the CSV is quoted as in RFC 4180')
    jobs = list(csv.DictReader(io.StringIO(saved['jobs'])))
    tap.same(sorted(int(job['Job']) for job in jobs), sorted(job for (job,) in place.query('SELECT id_job FROM fairmill_job_priority')),
             'the CSV has all jobs of the page')


def try_plain(place, browser, pages):
    """Tests the page in a browser without scripts, as in a mail program."""
    place.ready(keys={**UTC, 'usage.half_life': '7-0', 'fairshare.capacity': 100})
    site(place, 60)
    for day in range(9, -1, -1):
        if day == 4:
            place.settings({**UTC, 'usage.half_life': '14-0', 'fairshare.capacity': 100})
        place.succeed('run', '--now', NOW - day * DAY)
    report(place)
    browser.open(pages.url + 'page.html')
    words = browser.run("return document.getElementById('changes').innerText")
    tap.ok('half_life: 7-0 → 14-0' in words, 'changed settings are listed below the charts', words)
    tap.same(browser.run("return [...document.querySelectorAll('#facts .sentence')].length === document.querySelectorAll('#facts dd:not(.sentence)').length - 2"),
             True, 'each value except two has a sentence')
    fits(browser, 'a page with changed settings')
    browser.devtools('Emulation.setScriptExecutionDisabled', value=True)
    for width in (390, 1400):
        browser.window(width)
        browser.open(pages.url + 'page.html')
        shown = browser.run('''
            const part = document.getElementById('plain');
            const bars = [...part.querySelectorAll('td td')].map(each => each.getBoundingClientRect());
            return [part.innerText, document.documentElement.scrollWidth <= window.innerWidth,
                bars.every(bar => bar.width > 0 && bar.width <= 121 && bar.height > 4), new Set(bars.map(bar => bar.width)).size > 3];''')
        tap.ok(all(word in shown[0] for word in ('Fair shares of tiny', 'faculty0', 'user0_0_0', 'Usage by day', 'Pending jobs', 'half_life: 7-0 → 14-0')),
               f'without scripts and at {width} pixels, the page shows the essentials', shown[0])
        tap.same(shown[1:], [True, True, True], f'without scripts the page fits into {width} pixels and has bars')
        take_picture(browser, f'plain-{width}')
    browser.devtools('Emulation.setScriptExecutionDisabled', value=False)


def try_backtest(place, browser, pages):
    publish(place, 60, days=2, **{'retention.history_days': 3650})
    place.succeed('backtest', '--half-life', '1-0', '--half-life', '30-0', '--since', NOW - 20 * DAY, '--every', '2d', '--json')
    with open(place.path('trial.json'), 'w', encoding='utf-8') as file:
        file.write(place.out)
    turned = {row['user_name']: row['turned'] for row in json.loads(place.out)['clusters'][0]['associations'] if row['settings'] == '30-0'}
    place.succeed('report', '--backtest', 'trial.json', '--output', 'page.html')
    browser.open(pages.url + 'page.html')
    tap.same(browser.console(), [], 'a page with a backtest opens without messages on the console')
    tap.same(browser.run("return [...document.querySelectorAll('#variant option')].map(each => each.textContent)"), ['1-0', '30-0'],
             'the list of variants has the other settings')
    browser.run("const list = document.getElementById('variant'); list.value = 2; list.dispatchEvent(new Event('change'));")
    shown = browser.run("""
        return [document.getElementById('backtest-words').textContent, document.getElementById('variant').value,
            [...document.querySelectorAll('#backtest-table tbody tr')].map(row => [row.querySelector('button').textContent, row.querySelector("td:nth-last-child(2)").textContent])];""")
    tap.ok('30-0: ' in shown[0] and 'Jobs are not scheduled again' in shown[0] and shown[1] == '2',
           'the page describes the selected variant',
           shown[0])
    most = [[name, f'{value:.1f}'] for name, value in turned.items() if value is not None]
    tap.ok(shown[2][0][1] == max(most, key=lambda each: float(each[1]))[1] and all(each in most for each in shown[2][:10]),
           'the table begins with the most discordant user',
           shown[2][:3])
    browser.click('#backtest-table tbody button')
    tap.same(browser.run("return document.getElementById('chosen-title').textContent.includes(document.querySelector('#backtest-table tbody button').textContent)"),
             True, 'a click on a name selects it')
    fits(browser, 'a page with a backtest')
    report(place)
    browser.open(pages.url + 'page.html')
    tap.same(browser.run("return document.getElementById('backtest-section').hidden"), True,
             'a page without a backtest hides that section')


def try_waits(place, browser, pages):
    publish(place, 60, days=2)
    place.query('DELETE FROM fairmill_wait_final')
    place.query('DELETE FROM fairmill_wait_open')
    report(place)
    browser.open(pages.url + 'page.html')
    tap.same(browser.run("return document.getElementById('waits-section').hidden"), True,
             'a page without waiting times hides that section')
    for partition, bound in (('cpu', 60), ('a-long-name-of-a-partition', 14400), ('gpu', -1)):
        place.query("INSERT INTO fairmill_wait_open SELECT cluster, ?, id_assoc, ?, 'normal', ?, 10 + id_assoc FROM fairmill_fairshare "
                    "WHERE user_name <> ''", NOW // DAY * DAY, partition, bound)
    report(place)
    browser.open(pages.url + 'page.html')
    tap.same(browser.console(), [], 'a page with waiting times opens without messages on the console')
    tables = browser.run("""
        return [...document.querySelectorAll('#waits table')].map(table => [table.querySelector('caption').textContent,
            ...[...table.querySelectorAll('tbody tr')].map(row => [...row.children].map(cell => cell.textContent).join(' '))]);""")
    tap.same([table[0] for table in tables], [f'Waiting times by {name}' for name in ('partition', 'account', 'week of')],
             'the page has tables of partitions, accounts and weeks')
    tap.ok(len(tables[0]) == 4 and tables[0][1].startswith('a-long-name-of-a-partition ') and tables[0][2].endswith(' <1 min <1 min')
           and tables[0][3].endswith(' >7 d >7 d'), 'the table of partitions has their waiting times', tables[0])
    fits(browser, 'a page with waiting times')


def try_print(place, browser, pages):
    publish(place, 300, days=3)
    report(place)
    browser.window(1440)
    browser.prefers('dark')
    browser.open(pages.url + 'page.html')
    state = '[document.querySelectorAll("#people-table tbody tr").length, document.documentElement.dataset.theme]'
    (users,), = place.query('SELECT count(*) FROM fairmill_fairshare WHERE parent_id IS NOT NULL')
    before = browser.run(f'return {state}')
    browser.run(f'addEventListener("beforeprint", () => {{ window.printed = {state}; }})')
    sheets = base64.b64decode(browser.devtools('Page.printToPDF')['data'])
    tap.same(browser.run('return window.printed'), [users, 'light'],
             'the printed page has all rows, and charts in the light theme')
    tap.same((browser.run(f'return {state}'), before), ([25, 'dark'], [25, 'dark']), 'the screen does not change after printing')
    tap.ok(sheets.startswith(b'%PDF'), 'the browser makes a PDF')
    browser.devtools('Emulation.setEmulatedMedia', media='print', features=[dict(name='prefers-color-scheme', value='dark')])
    browser.window(718)  # A4 without its margins
    styles = browser.run("""
        const style = css => getComputedStyle(document.querySelector(css));
        return [style('.block').printColorAdjust, style('#legend i').printColorAdjust,
            style(':root').getPropertyValue('--ink').trim(), style('#icicle').breakInside,
            style('figcaption select').borderTopWidth];""")
    tap.same(styles, ['exact', 'exact', '#1a232e', 'auto', '0px'],
             'printed blocks keep their colors, text is dark, the tree can break, and the unit is plain text')
    scrolls, wide = browser.run(FITS)
    tap.ok(scrolls and not wide, 'no column is cut on paper', wide)
    browser.devtools('Emulation.setEmulatedMedia', media='')
    browser.prefers('light')


def try_pages(place, browser, pages):
    publish(place, 300, days=3)
    place.succeed('report', '--each', 'pages')
    browser.open(pages.url + 'pages/index.html')
    browser.console()
    browser.click('.block[aria-label*="account faculty0"]')
    browser.click('#chosen-place a.page')
    title = browser.wait_for("return document.title.startsWith('faculty0') && document.getElementById('title').textContent")
    tap.same((title, browser.console()), ('Fair shares of faculty0 on tiny', []), 'an account in the index links to its page')
    tap.same(browser.run("return [...document.querySelectorAll('#path span:not(.step), #path button')].map(each => each.textContent)"),
             ['root', 'faculty0'], 'the page shows the path to the account')
    fits(browser, 'a page of an account')
    browser.click('#home')
    tap.ok(browser.wait_for("return document.title.startsWith('tiny') && document.querySelectorAll('#pages a').length > 20"),
           'the page of an account links to the index')


def body():
    with Browser() as browser, Place() as place, Pages(place.folder) as pages:
        for part in (try_use, try_tres, try_health, try_names, try_sizes, try_nothing, try_openpbs, try_queue, try_csv, try_plain, try_backtest, try_waits, try_print, try_pages):
            part(place, browser, pages)


tap.main(body)
