#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite browser
"""Tests the page of `fairmill report` in browsers: its layout at every width, its use by keyboard,
without scripts and with assistive technology, and that it requests nothing.

With PICTURES=DIRECTORY in the environment it saves pictures of the pages there for visual checks."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import page_sites
import tap
from browser import DOWN, ENTER, ESCAPE, TAB, Browser, Firefox, Pages
from page_checks import LAYOUT, OPEN, SMALL, fits, has_contrast, is_accessible, open_answer
from page_sites import HOSTILE
from place import Place

SITES = {
    'demo': 'the page of the demonstration', 'private': 'a private page', 'huge': 'a page of 15,500 associations',
    'empty': 'a page without usage', 'one-group': 'a page of one group', 'several': 'a page of two clusters',
    'classic': 'a page with algorithm classic', 'openpbs': 'a page of OpenPBS', 'names': 'a page of hostile and long names',
    'places': 'a page with jobs that cannot start', 'options': 'a page with all options', 'each': 'a page of an account',
}
MOST_BYTES = {'demo': 150_000, 'huge': 1_300_000}
# The tables whose first name is opened.
ANSWERS = ('users', 'groups')
FOCUSED = '''
    const each = document.activeElement, style = getComputedStyle(each), box = each.getBoundingClientRect();
    return [each.tagName, each.id, each.textContent.trim().slice(0, 30), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
        box.width > 1 && box.height > 1, [...document.querySelectorAll('*')].indexOf(each)];'''
# Returns the visible controls and the links whose target is missing or hidden.
DEAD = '''
    const seen = each => each.getClientRects().length && !each.closest('.vh');
    return [...[...document.querySelectorAll('button, input, select, [role=button]')].filter(seen),
        ...[...document.querySelectorAll('a[href^="#"]')].filter(seen).filter(each => {
            const target = document.getElementById(each.getAttribute('href').slice(1)) || document.getElementById(decodeURIComponent(each.getAttribute('href').slice(1)));
            return !target || !target.getClientRects().length;
        })].slice(0, 5).map(each => each.outerHTML.slice(0, 120));'''


def rows(browser, table):
    """Returns the number of visible rows in the bodies of a table."""
    return browser.run("return [...document.querySelectorAll(`table[id$=${arguments[0]}-table] tbody tr`)].filter(each => each.getClientRects().length).length", table)


def take_picture(browser, name):
    if os.environ.get('PICTURES'):
        with open(os.path.join(os.environ['PICTURES'], name + '.png'), 'wb') as file:
            file.write(browser.picture())


def try_requests(_, browser, pages):
    """The page requests only itself, and its policy blocks every other request."""
    browser.window(1400)
    browser.open('about:blank')
    browser.requests()
    pages.asked.clear()
    browser.open(pages.url + 'demo.html')
    for table in ANSWERS:
        open_answer(browser, table)
    tap.same(browser.requests()[:1] + browser.requests(), [pages.url + 'demo.html'], 'the page requests only itself')
    tap.same(pages.asked, ['/demo.html'], 'the server gets one request')
    tap.same(browser.console(), [], 'the page has no messages on the console')
    refused = browser.run_async('''
        const [url, done] = arguments;
        fetch(url).then(() => done('asked'), () => done('refused'));''', pages.url)
    tap.same((refused, pages.asked), ('refused', ['/demo.html']), "the page's policy blocks requests")
    tap.same(browser.run("return [document.querySelectorAll('[style]').length, document.querySelectorAll('[onclick], [onload], [onerror]').length]"),
             [0, 0], 'the page has no style attributes and no inline handlers')
    browser.console()


def try_sizes(place, *_):
    for name, most in MOST_BYTES.items():
        size = os.path.getsize(place.path(f'{name}.html'))
        tap.ok(size <= most, f'{SITES[name]} has at most {most:,} bytes', size)


def try_layout(_, browser, pages):
    """At 14 widths no text is cut or covered, in each site, with and without an open answer."""
    for name, what in SITES.items():
        browser.prefers('light')
        browser.open(f'{pages.url}{name}.html')
        fits(browser, what)
        tap.same(browser.console(), [], f'{what} has no messages on the console')
        for width in (390, 1400, 1920):
            browser.window(width)
            take_picture(browser, f'{name}-{width}')
            tap.empty(browser.run(SMALL), f'{what} has no small buttons at {width} pixels')
        if name in ('demo', 'huge'):
            tops = "return ['groups', 'users'].map(each => document.querySelector(`section[id$=${each}]`).getBoundingClientRect().top)"
            wide = browser.run(tops)
            browser.window(1400)
            tall = browser.run(tops)
            tap.ok(wide[0] == wide[1] and tall[0] < tall[1], f'{what} has groups and users side by side on wide screens only', wide, tall)
        for table in ANSWERS:
            if open_answer(browser, table):
                take_picture(browser, f'{name}-{table}')


def try_themes(_, browser, pages):
    """Texts have contrast in light, dark and forced colors."""
    for name in ('demo', 'huge', 'private', 'openpbs', 'places'):
        browser.window(1400)
        browser.open(f'{pages.url}{name}.html')
        for table in (None, *ANSWERS):
            if table and not open_answer(browser, table):
                continue
            view = f"{SITES[name]}{f', answer of {table}' if table else ''}"
            for scheme, forced in (('light', False), ('dark', False), ('light', True), ('dark', True)):
                browser.prefers(scheme, forced)
                has_contrast(browser, f"{view}, {scheme}{' and forced colors' * forced}")
    browser.prefers('light')
    browser.open(pages.url + 'demo.html')
    colors = []
    for _ in range(3):
        colors.append(browser.run("return [getComputedStyle(document.body).backgroundColor, document.getElementById('theme').textContent]"))
        browser.click('#theme')
    tap.ok(colors[0] == colors[2] != colors[1], 'the button switches between the light and the dark theme', colors)


def try_large_text(_, browser, pages):
    """Texts of twice the size are neither cut nor covered."""
    browser.devtools('Page.setFontSizes', fontSizes=dict(standard=32))
    for name in ('demo', 'huge', 'private'):
        browser.open(f'{pages.url}{name}.html')
        tap.same(browser.run('return getComputedStyle(document.documentElement).fontSize'), '32px', f"{SITES[name]} obeys the browser's size of texts")
        fits(browser, f'{SITES[name]} with texts of 200 %', (768, 1024, 1280, 1600, 1920))
        browser.window(1280)
        take_picture(browser, f'{name}-large-text')
    browser.devtools('Page.setFontSizes', fontSizes=dict(standard=16))


def try_accessibility(_, browser, pages):
    for name, what in SITES.items():
        browser.window(1400)
        browser.prefers('light')
        browser.open(f'{pages.url}{name}.html')
        is_accessible(browser, what)
        for table in ANSWERS:
            if open_answer(browser, table):
                is_accessible(browser, f'{what}, answer of {table},')
        if name in ('demo', 'huge'):
            browser.prefers('dark')
            is_accessible(browser, f'{what} in dark')
    browser.prefers('light')


def try_keyboard(_, browser, pages):
    """The whole page can be used by keyboard, and the focus is visible."""
    browser.window(1400)
    browser.open(pages.url + 'demo.html')
    visited = []
    for _ in range(200):
        browser.press(TAB)
        each = browser.run(FOCUSED)
        if each[0] == 'BODY':
            break
        visited.append(each)
    tap.ok(visited[0][0] == 'A' and visited[0][2].startswith('Skip to') and visited[0][4], 'the first element is the skip link, which is visible with the focus', visited[0])
    tap.ok(visited[1][0] == 'INPUT', 'the second element is the search', visited[1])
    tap.ok({'Save as CSV', 'Users', 'science'} <= {each[2] for each in visited}, 'the Tab key reaches links and buttons', [each[2] for each in visited])
    tap.empty((each for each in visited if not each[3] or not each[4]), 'each focused element is visible and has an outline')
    order = [each[5] for each in visited]
    tap.ok(order == sorted(order), 'the order of the focus is the order of the page', visited)

    browser.open(pages.url + 'demo.html')
    browser.press('/')
    tap.same(browser.run("return document.activeElement.getAttribute('role')"), 'combobox', "'/' moves the focus to the search")
    browser.type('[role=combobox]', 'anders')
    matches = browser.wait_for("const list = [...document.querySelectorAll('[role=listbox]:not([hidden]) [role=option]')].map(each => each.textContent); return list.length && list;")
    tap.ok(matches and all('anders' in match for match in matches), 'the search has matches', matches)
    browser.press(ESCAPE)
    tap.ok(browser.run("return document.querySelector('[role=listbox]').hidden"), 'Escape closes the list')
    browser.type('[role=combobox]', 'anders')
    browser.press(DOWN)
    browser.press(ENTER)
    browser.wait_for(OPEN)
    state = "return [decodeURIComponent(location.hash), document.activeElement.tagName, document.activeElement.textContent.trim().split(/\\s/)[0]]"
    tap.ok(browser.run(state) in ([f'#n/{account}/anders', 'H2', 'anders'] for account in ('astro', 'maths')),
           'Enter opens the answer and moves the focus to its heading', browser.run(state))
    browser.run('history.back()')
    tap.ok(browser.wait_for("return document.querySelector('section[id$=answer]').hidden && !location.hash.includes('anders')"), 'Back closes the answer')
    browser.type('[role=combobox]', 'nosuch')
    tap.ok(browser.wait_for("return document.body.innerText.includes('No user or group has this name.')"), 'a search without a match says so')


def try_no_scripts(place, browser, pages):
    """Without scripts the page has everything but the search and the answers."""
    browser.scripts(False)
    users, groups = (place._query('demo-results.db', f"SELECT count(*) FROM fairmill_fairshare WHERE {which}")[0][0]
                     for which in ("user_name <> ''", "user_name = '' AND depth > 0"))
    for name, what in SITES.items():
        browser.open(f'{pages.url}{name}.html')
        found = []
        for width in (320, 390, 768, 1400, 1920):
            browser.window(width)
            found += [f'{width} pixels: {problem}' for problem in browser.run(LAYOUT)]
        tap.empty(found, f'without scripts, {what} fits into every width')
        # Jobs of a huge page may belong to users that its tables do not list.
        dead = [each for each in browser.run(DEAD) if name != 'huge' or 'href="#n/' not in each]
        tap.same(dead, [], f'without scripts, {what} has no dead buttons or links')
        tap.same(browser.run("return [...document.querySelectorAll('[hidden]')].filter(each => !each.matches('section[id$=answer], #stale, [role=listbox]')).map(each => each.outerHTML.slice(0, 80))"),
                 [], f'without scripts, {what} hides nothing else')
        browser.window(390)
        take_picture(browser, f'{name}-no-scripts')
        if name == 'demo':
            tap.same((rows(browser, 'users'), rows(browser, 'groups')), (users, groups), 'without scripts, the tables have all users and groups')
            jobs, = place._query('demo-results.db', 'SELECT count(DISTINCT id_job) FROM fairmill_job_priority')[0]
            tap.ok(rows(browser, 'jobs') >= jobs, 'without scripts, the table has all waiting jobs', rows(browser, 'jobs'), jobs)
        if name == 'several':
            tap.same(browser.run("return [...document.querySelectorAll('.cluster')].filter(each => each.getClientRects().length).length"), 2,
                     'without scripts, the page shows both clusters')
    browser.scripts(True)


def try_contents(_, browser, pages):
    """Sites that lack something say so."""
    def words(name):
        browser.open(f'{pages.url}{name}.html')
        return browser.run('return document.body.innerText')
    browser.window(1400)
    text = words('private')
    tap.ok('This site hides usage and jobs of users from each other.' in text and 'anders' not in text and 'beatriz' not in text,
           'a private page names no user', text)
    tap.same(browser.run("return document.querySelectorAll('table[id$=users-table], table[id$=jobs-table] tbody tr').length"), 0, 'a private page lists no user and no job')
    tap.ok('anders' not in browser.run('return document.documentElement.outerHTML'), 'the data of a private page have no user')
    tap.ok('No usage counts yet.' in words('empty'), 'a page without usage says so')
    tap.ok('There is one group, so fairshare ' in words('one-group'), 'a page of one group says so')
    text = words('huge')
    tap.ok('furthest from their shares' in text, 'a huge page has the groups that are furthest from their shares')
    browser.type('[role=combobox]', 'user7_13_5')
    tap.ok(browser.wait_for("return [...document.querySelectorAll('[role=option]')].some(each => each.textContent.includes('user7_13_5'))"),
           'the search finds a user who is not listed')
    browser.press(DOWN)
    browser.press(ENTER)
    tap.ok('user7_13_5' in (browser.wait_for(OPEN + '.textContent') or ''), 'and opens the answer')
    text = words('openpbs')
    tap.same([word for word in ('ccount', 'TRES', 'artition', 'QOS', 'lurm', 'GrpTRES') if word in text], [], "a page of OpenPBS has none of Slurm's terms")
    text = words('names')
    tap.ok(HOSTILE in text and browser.run("return [document.querySelectorAll('img').length, typeof hurt, document.scripts.length]") == [0, 'undefined', 2],
           'names are not read as HTML or scripts', text)
    open_answer(browser, 'users')
    tap.same((browser.run("return [document.querySelectorAll('img').length, document.scripts.length]"), browser.console()), ([0, 2], []), 'nor in answers')
    browser.open(pages.url + 'several.html')
    shown = "return [...document.querySelectorAll('.cluster')].filter(each => each.getClientRects().length).map(each => each.dataset.cluster)"
    first = browser.run(shown)
    browser.run("const list = document.querySelector('header select'); list.value = 'two'; list.dispatchEvent(new Event('change', { bubbles: true }));")
    tap.same((first, browser.run(shown)), (['one'], ['two']), 'the list of clusters selects the one that is shown')


def try_pages(_, browser, pages):
    """Pages of accounts have links to each other, and open at their account."""
    browser.window(1400)
    browser.open(pages.url + 'each/index.html')
    links = browser.run("return [...document.querySelectorAll('a[href$=\".html\"]')].map(each => each.getAttribute('href'))")
    tap.ok('tiny/faculty0.html' in links and len(links) == 5, 'the index has links to the pages of all accounts', links)
    fits(browser, 'the index', (320, 768, 1400))
    browser.open(pages.url + 'each/tiny/faculty0.html')
    tap.same(browser.wait_for(OPEN + '.firstChild.textContent.trim()'), 'faculty0', 'the page of an account opens with its answer')
    fits(browser, 'the page of an account', (320, 768, 1400))
    browser.click('a[href="../index.html"]')
    tap.ok(browser.wait_for("return location.pathname.endsWith('/each/index.html')"), 'the page of an account links to the index')
    browser.open(pages.url + 'options.html')
    text = browser.run('return document.body.innerText')
    for words in ('Use by partition', 'half_life: 7-0 → 14-0', '30-0'):
        tap.ok(words in text, f"a page with all options has '{words}'", text)
    tap.same(browser.console(), [], 'these pages have no messages on the console')


def try_firefox(pages):
    with Firefox() as browser:
        for name in ('demo', 'huge', 'private'):
            browser.open(f'{pages.url}{name}.html')
            fits(browser, f'{SITES[name]} in Firefox')
        browser.open(pages.url + 'demo.html')
        browser.type('[role=combobox]', 'beatriz')
        browser.wait_for("return document.querySelector('[role=option]')")
        browser.click('[role=option]')
        browser.wait_for(OPEN)
        tap.like(browser.run("return document.querySelector('section[id$=answer] .lead').textContent"), '^beatriz is at place [0-9]+ of [0-9]+',
                 'in Firefox, a search opens an answer')


def body():
    with Browser() as browser, Place() as place, Pages(place.folder) as pages:
        page_sites.make(place)
        for part in (try_requests, try_sizes, try_contents, try_layout, try_themes, try_large_text, try_accessibility, try_keyboard, try_no_scripts, try_pages):
            part(place, browser, pages)
        try_firefox(pages)


tap.main(body)
