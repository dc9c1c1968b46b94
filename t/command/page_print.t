#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite browser
"""Tests the printed page of `fairmill report`: it has all rows, and keeps its colors on A4 and Letter.

With PICTURES=DIRECTORY in the environment it saves the PDF files there for visual checks."""

import base64
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import page_sites
import tap
from browser import Browser, Pages
from page_checks import OPEN, open_answer
from place import Place

PAPERS = {'A4': (8.27, 11.69), 'Letter': (8.5, 11)}  # inches
USED, OVER = bytes.fromhex('4f94d4'), bytes.fromhex('ab3d05')
MARGIN = 15  # points, in which nothing is printed


class Sheets:
    """A PDF file of the open page, without graphics in the background."""

    def __init__(self, place, browser, name, paper='A4'):
        width, height = PAPERS[paper]
        self.path = place.path(f'{name}.pdf')
        with open(self.path, 'wb') as file:
            file.write(base64.b64decode(browser.devtools('Page.printToPDF', paperWidth=width, paperHeight=height)['data']))
        if os.environ.get('PICTURES'):
            shutil.copy(self.path, os.environ['PICTURES'])
        boxes = subprocess.run(['pdftotext', '-bbox', self.path, '-'], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.width = float(re.search(r'<page width="([\d.]+)"', boxes)[1])
        # The words of each sheet: (left, top, right, bottom, text).
        self.sheets = [[(*map(float, found.groups()[:4]), found[5]) for found in re.finditer(
            r'xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*?)</word>', sheet)]
            for sheet in boxes.split('<page ')[1:]]

    def text(self, number=None):
        sheets = self.sheets if number is None else [self.sheets[number]]
        return ' '.join(word[4] for sheet in sheets for word in sheet)

    def pixels(self):
        """Returns the numbers of pixels of all sheets: used, over, white, all."""
        subprocess.run(['pdftoppm', '-r', '60', self.path, self.path], check=True)
        folder = os.path.dirname(self.path)
        counts = [0, 0, 0, 0]
        for name in sorted(os.listdir(folder)):
            if name.startswith(os.path.basename(self.path) + '-'):
                with open(os.path.join(folder, name), 'rb') as file:
                    data = file.read().split(b'\n', 3)[3]
                triples = [data[i:i + 3] for i in range(0, len(data), 3)]
                for i, color in enumerate((USED, OVER, b'\xff\xff\xff')):
                    counts[i] += triples.count(color)
                counts[3] += len(triples)
                os.unlink(os.path.join(folder, name))
        return counts

    def overlaps(self):
        found = []
        for words in self.sheets:
            words.sort(key=lambda word: word[1])
            for i, one in enumerate(words):
                for other in words[i + 1:]:
                    if other[1] > one[3]:
                        break
                    high = min(one[3], other[3]) - max(one[1], other[1])
                    if min(one[2], other[2]) - max(one[0], other[0]) > 1 and high > min(one[3] - one[1], other[3] - other[1]) / 2:
                        found.append(f'{one[4]} and {other[4]}')
        return found


def names(browser, table):
    """Returns the names in the rows of a table of the page."""
    return browser.run("return [...document.querySelectorAll(`.cluster table[id$=${arguments[0]}-table] tbody tr a`)].map(each => each.textContent)", table)


def try_paper(place, browser, pages, paper):
    browser.open(pages.url + 'demo.html')
    sheets = Sheets(place, browser, f'demo-{paper}', paper)
    text = sheets.text()
    for table in ('groups', 'users'):
        listed = {word for name in names(browser, table) for word in name.split()}
        tap.empty(sorted(listed - set(text.split())), f'{paper} has all {table}')
    jobs = browser.run(r'''
        const table = document.querySelector('table[id$=jobs-table]');
        const column = [...table.querySelectorAll('thead th')].findIndex(each => /^Job\b/.test(each.textContent.trim()));
        return [...table.querySelectorAll('tbody tr')].map(each => [...each.cells[column].childNodes].filter(part => part.nodeType === Node.TEXT_NODE)
            .map(part => part.data).join('').trim()).filter(each => /^[0-9_]+$/.test(each));''')
    tap.ok(jobs and not set(jobs) - set(text.split()), f'{paper} has all waiting jobs', sorted(set(jobs) - set(text.split())))
    first = sheets.text(0)
    tap.ok(len(first.split()) > 150 and 'Groups: share' in first, f'the first sheet of {paper} has the overview and begins with the groups', first)
    tap.empty((word for sheet in sheets.sheets for word in sheet if word[0] < MARGIN or word[2] > sheets.width - MARGIN),
              f'nothing is wider than {paper}')
    tap.empty(sheets.overlaps(), f'no word covers another on {paper}')
    tap.ok(len(sheets.sheets) <= 6, f'{paper} has at most six sheets', len(sheets.sheets))
    tap.ok(all(len(sheet) > 30 for sheet in sheets.sheets[:-1]), f'only the last sheet of {paper} may be almost empty', [len(sheet) for sheet in sheets.sheets])
    tap.ok('Save as CSV' not in text and 'Find yourself' not in text and 'Show all' not in text, f'{paper} has no buttons and no search')


def try_colors(place, browser, pages):
    counts = []
    for scheme in ('light', 'dark'):
        browser.prefers(scheme)
        browser.open(pages.url + 'demo.html')
        sheets = Sheets(place, browser, f'demo-{scheme}')
        counts.append(sheets.pixels())
        used, over, white, every = counts[-1]
        tap.ok(used > 2000 and over > 500, f'printed in {scheme}, bars keep their colors without background graphics', counts[-1])
        tap.ok(white > every * 0.8, f'printed in {scheme}, the paper is white', white / every)
    tap.same(*counts, 'the dark theme is printed as the light one')
    browser.prefers('light')
    browser.run("document.getElementById('theme').click()")
    tap.same(Sheets(place, browser, 'demo-chosen').pixels(), counts[0], 'nor does the button change the print')


def try_answers(place, browser, pages):
    """An open answer is printed alone, with the terms."""
    for table in ('users', 'groups'):
        browser.open(pages.url + 'demo.html')
        open_answer(browser, table)
        browser.run("document.querySelectorAll('details').forEach(each => { each.open = false; })")
        lead = browser.run(OPEN.replace(' h2', ' .lead') + '.textContent').replace('\u00a0', ' ')
        sheets = Sheets(place, browser, f'answer-{table}')
        text = sheets.text()
        tap.ok(' '.join(lead.split()[:8]) in text and 'Terms' in text and 'Groups: share' not in text and 'Save as' not in text,
               f'the answer of {table} is printed alone, with the terms', lead, text)
        tap.ok(all(words in text for words in ('Entitlement', 'May 2025', 'July 2024')), f'the printed answer of {table} has the table of months', text)
        tap.ok(len(sheets.sheets) <= 3 and not sheets.overlaps(), f'the answer of {table} has at most three sheets, and no word covers another',
               len(sheets.sheets), sheets.overlaps())
        tap.empty((word for sheet in sheets.sheets for word in sheet if word[0] < MARGIN or word[2] > sheets.width - MARGIN),
                  f'the answer of {table} is not wider than the paper')
        browser.prefers('light', media='print')
        tap.same(browser.run("return [...document.querySelectorAll('button, input, select')].filter(each => each.getBoundingClientRect().width > 1 && !each.closest('th')).map(each => each.textContent)"),
                 [], f'the printed answer of {table} has no buttons')
        browser.prefers('light')
        used, over, white, every = sheets.pixels()
        tap.ok(used > 300 and white > every * 0.8, f'the printed answer of {table} has bars', used, over)


def try_huge(place, browser, pages):
    browser.open(pages.url + 'huge.html')
    sheets = Sheets(place, browser, 'huge')
    listed = names(browser, 'users')
    tap.ok(len(listed) == 200 and not set(listed) - set(sheets.text().split()), 'a huge page prints the 200 listed users', len(listed))
    of_users = [number for number, sheet in enumerate(sheets.sheets) if sum(bool(re.match(r'user\d+_', word[4])) for word in sheet) > 10]
    tap.ok(len(of_users) > 2, 'the users have several sheets', of_users)
    tap.empty((number + 1 for number in of_users if 'Place' not in sheets.text(number).split()), 'headings of tables are repeated on each sheet')
    tap.ok(len(sheets.sheets) <= 20, 'a huge page has at most 20 sheets', len(sheets.sheets))


def body():
    with Browser() as browser, Place() as place, Pages(place.folder) as pages:
        page_sites.make(place, page_sites.demo, page_sites.huge)
        browser.window(1400)
        for paper in PAPERS:
            try_paper(place, browser, pages, paper)
        for part in (try_colors, try_answers, try_huge):
            part(place, browser, pages)


tap.needs('pdftotext', 'pdftoppm')
tap.main(body)
