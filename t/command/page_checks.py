# SPDX-License-Identifier: MIT
"""Checks of a page that is open in a browser: layout, contrast, and rules of accessibility."""

import glob
import os

import tap
from commands import BUILD

WIDTHS = (320, 360, 390, 414, 600, 768, 820, 1024, 1280, 1400, 1600, 1920, 2240, 2560)

# Returns the boxes of visible texts, one for each line: [element, text, box], and the short words that
# continue on another line.
TEXTS = '''
    const texts = [], broken = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode());) {
        const element = node.parentElement;
        if (!node.data.trim() || element.closest('.vh, .skip, script, option, [hidden], details:not([open]) > :not(summary)')
                || !element.getClientRects().length)
            continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const boxes = [...range.getClientRects()].filter(each => each.width > 1);
        texts.push(...boxes.map(box => [element, node.data.trim().slice(0, 40), box]));
        if (boxes.length < 2)
            continue;
        for (const word of node.data.matchAll(/[^\\s]+/g)) {
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            // An id of a job may continue on another line of a small phone.
            const most = innerWidth >= 600 ? 12 : innerWidth < 360 && /\\d/.test(word[0]) ? 0 : 8;
            if (word[0].length <= most && !word[0].includes('-') && range.getClientRects().length > 1)
                broken.push(word[0]);
        }
    }
'''

# Returns sentences about texts that are outside the window or their table cell, cut, or covered.
LAYOUT = TEXTS + '''
    const found = broken.map(word => `'${word}' is broken`);
    const end = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > innerWidth)
        found.push(`the page has ${document.documentElement.scrollWidth} pixels`);
    const clips = new Map();
    const clip = each => {
        if (!clips.has(each)) {
            const style = getComputedStyle(each);
            clips.set(each, style.overflowX !== 'visible' || style.overflowY !== 'visible' ? each : each.parentElement && clip(each.parentElement));
        }
        return clips.get(each);
    };
    const inside = (box, other) => box.left > other.left - 1.5 && box.right < other.right + 1.5;
    for (const [element, text, box] of texts) {
        const cell = element.closest('th, td'), cut = clip(element);
        if (box.left < -1 || box.right > end + 1)
            found.push(`'${text}' is outside the window`);
        else if (cell && !inside(box, cell.getBoundingClientRect()))
            found.push(`'${text}' is outside its cell`);
        else if (cut && cut !== document.documentElement && cut !== document.body && cut.clientWidth && !inside(box, cut.getBoundingClientRect()))
            found.push(`'${text}' is cut`);
    }
    const bars = [...document.querySelectorAll('svg rect:not(.ft)')].filter(each => each.closest('svg').querySelector('text'))
        .map(each => [each, 'a bar', each.getBoundingClientRect()]).filter(each => each[2].width > 1);
    const boxes = [...texts, ...bars].sort((one, other) => one[2].top - other[2].top);
    for (const [i, [element, text, box]] of boxes.entries())
        for (let k = i + 1; k < boxes.length && boxes[k][2].top < box.bottom - box.height / 3; k++) {
            const [other, words, place] = boxes[k];
            if (text === 'a bar' && words === 'a bar' || place.height > 3 * box.height && words !== 'a bar')
                continue;
            const high = Math.min(box.bottom, place.bottom) - Math.max(box.top, place.top);
            const wide = Math.min(box.right, place.right) - Math.max(box.left, place.left);
            if (wide > 1 && high > Math.min(box.height, place.height) / 3)
                found.push(`'${text}' and '${words}' cover each other`);
        }
    return [...new Set(found)].slice(0, 5);'''

# Returns the least contrast of a text and its background by WCAG's formula, and the text.
CONTRAST = TEXTS + r'''
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
    for (const [element, text] of texts) {
        const style = getComputedStyle(element);
        const [one, other] = [light(parts(element.closest('svg') ? style.fill : style.color)), light(behind(element))].sort((a, b) => b - a);
        const ratio = (one + 0.05) / (other + 0.05);
        if (ratio < least[0])
            least = [ratio, text];
    }
    return least;'''

# Returns the least contrast of a bar and its background, and the bar.
BARS = CONTRAST.replace(TEXTS, "const texts = [...document.querySelectorAll('svg .fu, svg .fo')].filter(each => each.getBoundingClientRect().width > 1).map(each => [each, each.outerHTML]);")

# Returns buttons that are too small for a finger.
SMALL = '''
    return [...document.querySelectorAll('button, input, select')].filter(each => each.getClientRects().length)
        .filter(each => each.getBoundingClientRect().height < (each.closest('th') ? 24 : 40)).map(each => each.outerHTML.slice(0, 100));'''

OPEN = "return document.querySelector('.cluster:not([hidden]) section[id$=answer]:not([hidden]) h2')"


def open_answer(browser, table):
    """Opens the answer of the first name in a table, and its details.  Returns its address, or None if
    the page has no such table."""
    address = browser.run(f"const link = document.querySelector('.cluster:not([hidden]) table[id$={table}-table] tbody a'); return link && link.getAttribute('href');")
    if address:
        browser.run('location.hash = arguments[0]', address)
        browser.wait_for(OPEN)
        browser.run("document.querySelectorAll('details').forEach(each => { each.open = true; });")
    return address


def fits(browser, what, widths=WIDTHS):
    """At each width, no text of the page is cut or covered, with and without an open answer."""
    for table in (None, 'users', 'groups'):
        if table and not open_answer(browser, table):
            continue
        found = []
        for width in widths:
            browser.window(width)
            found += [f'{width} pixels: {problem}' for problem in browser.run(LAYOUT)]
        view = {None: 'without an answer', 'users': 'with the answer of a user', 'groups': 'with the answer of a group'}[table]
        tap.ok(not found, f'{what} fits into every width {view}', *found)
    browser.run("location.hash = ''")


def has_contrast(browser, what):
    ratio, text = browser.run(CONTRAST)
    tap.ok(ratio >= 4.5, f'{what}: the contrast of each text is at least 4.5', f'{ratio:.2f}', text)
    ratio, bar = browser.run(BARS)
    tap.ok(ratio >= 2.5, f'{what}: the contrast of each bar is at least 2.5', f'{ratio:.2f}', bar)


def axe_script():
    """Returns the text of axe-core, which check.sh installs, or None."""
    paths = [os.environ['AXE']] if os.environ.get('AXE') else glob.glob(f'{BUILD}/npm/node_modules/axe-core/axe.min.js')
    if not paths:
        return None
    with open(paths[0], encoding='utf-8') as file:
        return file.read()


AXE = '''
    const [script, done] = arguments;
    if (!window.axe)
        new Function(script).call(window);
    axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'], resultTypes: ['violations'] })
        .then(result => done(result.violations.flatMap(rule => rule.nodes.slice(0, 3).map(node => `${rule.id}: ${node.target} ${node.html.slice(0, 160)}`))),
              error => done([String(error)]));'''


def is_accessible(browser, what):
    """axe-core finds nothing.  check.sh installs it, or fails; elsewhere it may be missing."""
    script = axe_script()
    if script is None:
        tap.diag(f'not tested with axe-core, which check.sh installs: {what}')
        return
    tap.empty(browser.run_async(AXE, script), f'{what} has no violation of the rules of axe-core')
