#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite browser
"""Tests the answers of the page of `fairmill report`: their sentences are those of `fairmill explain`, and the users
ahead add up to the place.  Also tests addresses, search, sorting, folding, CSV and the choice of a unit."""

import csv
import json
import os
import re
import sys
from urllib.parse import quote

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import page_sites
import tap
from browser import ENTER, ESCAPE, Browser, Pages
from place import NOW, Place

# Tied accounts, `parent` and 0 shares, partitions, and levels of one member.  fresh and new are tied without usage.
ODD = '''
cluster tiny
root/
  physics/     40
    alice      10  use 300
    bob    parent  use 10
    carol@gpu   5  use 70
    carol@cpu   5
  tied/        20
    dora        1  use 100
    emil        3
    fred        1  use 40
  equal/       20
    gina        1  use 100
    hugo        3
    ines        1  use 40
  lent/    parent
    jack        1  use 5
    deep/       3
      kate      1  use 50
      lena      1  use 1
  none/         0
    mark        1  use 20
    nora        1
  nothing/      0
    olga        4  use 30
  fresh/        5
    paul        1
  new/          5
    alice       1
  zero/        10
    quin        0  use 60
    ruth        1  use 2
    sara        0
  root2/        5
'''
NAMES = ['"quoted" \'name\'', 'a/b', '100%', '<b>&amp;', 'Jürgen 京', '=1+1', 'back\\slash', 'tab\tname']

# Opens each address, and returns the parts of its answer.
COLLECT = '''
    const [addresses, done] = arguments;
    (async () => {
        const found = [];
        for (const address of addresses) {
            await new Promise(resolve => {
                addEventListener('hashchange', () => setTimeout(resolve), { once: true });
                location.hash = address;
            });
            const box = [...document.querySelectorAll('section[id$=answer]')].find(each => !each.hidden);
            const text = css => box && box.querySelector(css) ? box.querySelector(css).textContent : null;
            found.push({
                lead: text('.lead'), title: text('h2'), page: document.title,
                ahead: box ? [...box.querySelectorAll('.ladder .n')].map(each => each.textContent) : [],
                focus: document.activeElement.tagName, scripts: document.scripts.length,
            });
        }
        done(found);
    })();'''
OPEN = "return [...document.querySelectorAll('section[id$=answer]')].find(each => !each.hidden)"
TITLE = OPEN + "?.querySelector('h2').textContent"
# Makes the page keep the file that it would save.
KEEP_FILE = '''
    URL.createObjectURL = blob => { window.saved = blob; return '#'; };
    HTMLAnchorElement.prototype.click = function () { window.savedName = this.download; };'''


def spaced(text):
    return re.sub(r'\s+', ' ', text or '').strip()


def address(*names):
    return 'n/' + '/'.join(quote(name, safe="-_.!~*'()") for name in names if name)


def associations(place, database='r.db', cluster=None):
    """Returns (account, user, partition) of each association below the root."""
    where = f"WHERE cluster = '{cluster}' AND account <> ''" if cluster else ''
    rows = place._query(database, f'SELECT account, user_name, partition_name, depth FROM fairmill_fairshare {where} ORDER BY 1, 2, 3')
    return [row[:3] for row in rows if row[3]]


def explained(place, conf, names):
    """Returns the first paragraph of the explanation of an association."""
    account, user, partition = names
    asked = '/'.join(filter(None, (account, user, partition))) if user else f'{account}/'
    place.succeed('explain', asked, settings=conf)
    paragraphs = place.out.strip().split('\n\n')
    return spaced(next((each for each in paragraphs if re.search(r' (is at place|has used|has no |has no place)|^No usage', spaced(each))),
                       place.out))


def has_answers(place, browser, url, what, conf, database='r.db'):
    """Compares the first sentences of all answers of a page with those of explain."""
    browser.open(url)
    rows = associations(place, database)
    answers = browser.run_async(COLLECT, [address(*names) for names in rows])
    wrong = [(names, spaced(answer['lead']), expected) for names, answer in zip(rows, answers, strict=True)
             if spaced(answer['lead']) != (expected := explained(place, conf, names))]
    tap.empty(wrong[:5], f"{what}: the {len(rows)} answers begin with the sentences of explain")
    sums = [(names, answer['ahead'], answer['lead']) for names, answer in zip(rows, answers, strict=True)
            if (found := re.search(r'at place ([\d,]+) of', answer['lead'] or '')) and names[1]
            and sum(int(re.match(r'[\d,]+', each)[0].replace(',', '')) for each in answer['ahead']) != int(found[1].replace(',', '')) - 1]
    tap.empty(sums, f'{what}: the users ahead add up to the place minus 1')
    tap.same(browser.console(), [], f'{what}: the answers leave no messages on the console')
    return rows, answers


def odd(place, **keys):
    place.ready(ODD, keys={'usage.time_zone': 'UTC', 'usage.half_life': 0, **keys})
    place.succeed('run', '--now', NOW)
    place.succeed('report', '--output', 'odd.html')


def try_sentences(place, browser, pages):
    has_answers(place, browser, pages.url + 'demo.html', 'demonstration', 'demo.conf', 'demo-results.db')
    has_answers(place, browser, pages.url + 'openpbs.html', 'OpenPBS', 'pbs.conf', 'pbs-results.db')
    for algorithm in ('classic', 'depth_oblivious'):
        odd(place, **{'fairshare.algorithm': algorithm})
        has_answers(place, browser, pages.url + 'odd.html', algorithm, 'fm.conf')
    odd(place)
    rows, answers = has_answers(place, browser, pages.url + 'odd.html', 'ties, parent and zero shares', 'fm.conf')
    leads = {names: answer['lead'] for names, answer in zip(rows, answers, strict=True)}
    for account in ('physics', 'tied', 'lent', 'zero'):
        place.succeed('report', '-A', account, '--output', 'group.html')
        browser.open(pages.url + 'group.html')
        inside = [names for names in rows if names[0] == account]
        found = browser.run_async(COLLECT, [address(*names) for names in inside])
        tap.same([answer['lead'] for answer in found], [leads[names] for names in inside],
                 f'the page of {account} has the same sentences as the whole page')


def try_addresses(_, browser, pages):
    browser.open(pages.url + 'demo.html#n/astro/anders')
    tap.like(browser.run(TITLE), '^anders user in astro', 'an address opens its answer')
    tap.same(browser.run('return [document.title, document.documentElement.classList.contains("open"), scrollY]'),
             ['anders: fair shares of demo', True, 0], 'the title names the user, and the page is at its top')
    browser.run("document.querySelector('.crumb a').click()")
    tap.like(browser.wait_for(TITLE.replace('return', 'const box =').replace("?.querySelector('h2').textContent", '') + ";"
                              "const title = box && box.querySelector('h2').textContent; return title?.startsWith('science') && title"),
             '^science group', 'a link opens the answer of a group')
    tap.same(browser.run('return document.activeElement.tagName'), 'H2', 'the focus moves to its heading')
    browser.run('history.back()')
    tap.ok(browser.wait_for(f"return (() => {{ {TITLE} }})()?.startsWith('anders')"), 'Back opens the answer before')
    browser.run("document.querySelector('button.x').click()")
    tap.same(browser.run('return [[...document.querySelectorAll("section[id$=answer]")].every(each => each.hidden), location.hash, document.activeElement.id]'),
             [True, '#overview', 'q'], 'Close closes it, and moves the focus to the search')
    browser.run('history.back()')
    tap.ok(browser.wait_for(OPEN), 'Back opens it again')
    browser.run("location.hash = 'n/nosuch'")
    tap.ok(browser.wait_for(f'return !(() => {{ {OPEN} }})()'), 'an address of no user closes the answer')
    browser.open(pages.url + 'several.html#c/two/n/faculty0')
    shown = "return [...document.querySelectorAll('.cluster')].filter(each => each.getClientRects().length).map(each => each.dataset.cluster)"
    tap.same((browser.run(shown), spaced(browser.run(TITLE))), (['two'], 'faculty0 group'), 'an address of another cluster selects it')
    browser.run("location.hash = 'n/faculty0'; location.hash = 'c/one'")
    tap.ok(browser.wait_for(f"return (() => {{ {shown} }})().join() === 'one'"), 'the address of a cluster selects it')


def try_opened(place, browser, pages):
    place.succeed('report', '-A', 'physics', '--output', 'physics.html', settings='demo.conf')
    browser.open(pages.url + 'physics.html')
    tap.like(browser.run(TITLE), '^physics group', 'the page of a group opens its answer')
    browser.run("document.querySelector('button.x').click()")
    tap.ok(not browser.run(OPEN), 'Close closes it')


def try_names(place, browser, pages):
    """Names can contain any characters."""
    place.ready(keys={'usage.time_zone': 'UTC'})
    for name in NAMES:
        place.multiply('tiny_assoc_table', "user = 'carol'", 1, user="'" + name.replace("'", "''") + "'",
                       id_assoc='(SELECT max(id_assoc) + 1 FROM tiny_assoc_table)')
    place.change("UPDATE tiny_assoc_table SET acct = 'a/b %41', id_assoc = id_assoc WHERE acct = 'chemistry'")
    place.succeed('run', '--now', NOW)
    place.succeed('report', '--output', 'strange.html')
    browser.open(pages.url + 'strange.html')
    printable = {name: name.replace('\t', '\\x09') for name in NAMES}
    links = browser.run("return [...document.querySelectorAll('table[id$=users-table] tbody th a')].map(each => [each.textContent, each.getAttribute('href').slice(1)])")
    answers = browser.run_async(COLLECT, [link for _, link in links])
    found = dict(zip((name for name, _ in links), answers, strict=True))
    tap.same({name: spaced((found.get(shown) or {}).get('title')) for name, shown in printable.items()},
             {name: spaced(f'{shown} user in a/b %41') for name, shown in printable.items()}, 'each link opens the answer of its user')
    tap.same((browser.run('return document.scripts.length'), browser.console()), (2, []), 'no name is read as HTML')
    browser.run(KEEP_FILE)
    browser.run("document.querySelector('[data-csv=users-table]').click()")
    rows = list(csv.reader(browser.run_async('window.saved.text().then(arguments[0])').splitlines()))
    names = {row[0] for row in rows[1:]}
    tap.ok("'=1+1" in names and '=1+1' not in names and 'a/b' in names, 'a name in CSV is no formula', names)


def try_search(_, browser, pages):
    browser.open(pages.url + 'demo.html')
    browser.type('#q', 'ander')
    options = "const list = document.getElementById('hits'); return list.hidden ? [] : [...list.children].map(each => each.textContent)"
    tap.ok(any(re.fullmatch(r'anders, user in astro, place \d+', each) for each in browser.run(options)),
           'a match says account and place', browser.run(options))
    tap.like(browser.run(options)[0], 'user in astro', 'of several accounts of a user, the one with most usage is first')
    state = "const q = document.getElementById('q'); return [q.getAttribute('aria-expanded'), q.getAttribute('aria-activedescendant')]"
    tap.same(browser.run(state), ['true', 'hit0'], 'the first match is active')
    browser.press('\ue015')
    tap.same((browser.run(state), browser.run("return [...document.querySelectorAll('#hits [aria-selected=true]')].map(each => each.id)")),
             (['true', 'hit1'], ['hit1']), 'the Down key moves to the second match')
    browser.press(ESCAPE)
    tap.same(browser.run(state), ['false', None], 'Escape closes the list')
    browser.type('#q', 'PHYSICS')
    browser.press(ENTER)
    tap.like(browser.wait_for(TITLE), '^physics group', 'Enter opens a match in any case of letters')
    tap.same(browser.run("return [location.hash, document.getElementById('q').value]"), ['#n/physics', ''], 'and changes the address')
    browser.type('#q', 'physics')
    browser.press(ENTER)
    tap.same(browser.wait_for("return document.activeElement.tagName === 'H2' && document.activeElement.tagName"), 'H2',
             'a search for the open answer moves the focus to it')


def try_tables(place, browser, pages):
    browser.open(pages.url + 'demo.html')
    column = '''
        const heads = [...document.querySelectorAll('#users-table thead th')], at = heads.findIndex(each => each.textContent.trim() === arguments[0]);
        return [heads[at].getAttribute('aria-sort'), [...document.querySelectorAll('#users-table tbody tr')].map(each => each.cells[at].dataset.v ?? each.cells[at].textContent)]'''
    click = "[...document.querySelectorAll('#users-table thead button')].find(each => each.textContent.trim() === arguments[0]).click()"
    visible = "return [...document.querySelectorAll('#users-table tbody tr')].filter(each => each.getClientRects().length).length"
    users = place._query('demo-results.db', "SELECT count(*) FROM fairmill_fairshare WHERE user_name <> ''")[0][0]
    tap.same(browser.run(visible), 15, 'the table of users has 15 rows')
    browser.run(click, 'Place')
    order, places = browser.run(column, 'Place')
    tap.ok(order == 'ascending' and [float(each) for each in places] == sorted(map(float, places)), 'a click sorts by place', order, places)
    browser.run(click, 'Place')
    order, places = browser.run(column, 'Place')
    tap.ok(order == 'descending' and [float(each) for each in places] == sorted(map(float, places), reverse=True), 'a second click reverses the order')
    tap.same(browser.run(visible), 15, 'the table still has 15 rows')
    browser.run("document.getElementById('users-table-more').click()")
    tap.same((browser.run(visible), browser.run("return document.getElementById('users-table-more').hidden")), (users, True),
             'the button shows all users')
    browser.run(KEEP_FILE)
    browser.run("document.querySelector('[data-csv=users-table]').click()")
    rows = list(csv.reader(browser.run_async('window.saved.text().then(arguments[0])').splitlines()))
    tap.same((len(rows), browser.run('return window.savedName')), (users + 1, 'demo-users-table.csv'), 'CSV has a line for each user')
    expected = sorted(user for user, in place._query('demo-results.db', "SELECT user_name FROM fairmill_fairshare WHERE user_name <> ''"))
    tap.same(sorted(re.sub(r' \(.*', '', row[0]) for row in rows[1:]), expected, 'CSV has the names of the users')


def try_months(_, browser, pages):
    browser.open(pages.url + 'demo.html#n/physics')
    units = browser.run("return [...document.querySelectorAll('[data-unit]')].map(each => [each.textContent, each.getAttribute('aria-pressed')])")
    tap.ok(len(units) > 1 and [pressed for _, pressed in units] == ['true'] + ['false'] * (len(units) - 1), 'the months have a choice of units', units)
    browser.run("document.querySelector('.months details').open = true")
    before = browser.run("return document.querySelector('.months tbody').textContent")
    press = "document.querySelector(`[data-unit='${arguments[0]}']`).click()"  # a scrolling page intercepts the mouse
    browser.run(press, 1)
    title, pressed, is_open, after = browser.run('''
        const months = document.querySelector('.months');
        return [months.querySelector('h3').textContent, document.activeElement.getAttribute('aria-pressed'), months.querySelector('details').open,
            months.querySelector('tbody').textContent]''')
    tap.ok(title.lower().endswith(units[1][0].lower()) and pressed == 'true' and is_open and after != before,
           'a button changes the unit, and keeps the focus and the open table', title, pressed, is_open)
    data = json.loads(browser.run("return document.getElementById('data').textContent"))[0]
    months = next(row for row in data['months'] if data['rows'][row[0]][0] == 'physics')
    browser.run(press, len(units) - 1)
    tap.same(browser.run("return document.querySelector('.months .soft').textContent"), 'physics used no GPU-hours in these months.',
             'a unit without usage has a sentence')
    tap.ok(f"{months[1][1][-1]:,.0f}" in after, 'the table has the values of the unit', after, months)


def try_age(place, browser, pages):
    """Tests the note about old values, which the browser shows."""
    odd(place)
    for time, note in ((str(NOW + 600), None), (str(NOW + 90000), '25 hours'), (None, 'days')):
        env = {name: value for name, value in os.environ.items() if name not in ('FAIRMILL_CONF', 'FAIRMILL_NOW')}
        place.succeed('report', '--output', 'age.html', env=env | ({'FAIRMILL_NOW': time} if time else {}))
        browser.open(pages.url + 'age.html')
        shown = browser.run("const note = document.querySelector('#stale'); return note.hidden ? null : note.innerText")
        tap.ok(note in shown if note else shown is None, f'with FAIRMILL_NOW={time}, the note about old values is right', shown)


def body():
    with Browser() as browser, Place() as place, Pages(place.folder) as pages:
        page_sites.make(place, page_sites.demo, page_sites.several, page_sites.openpbs)
        browser.window(1400)
        for part in (try_addresses, try_opened, try_search, try_tables, try_months, try_names, try_age, try_sentences):
            part(place, browser, pages)


tap.main(body)
