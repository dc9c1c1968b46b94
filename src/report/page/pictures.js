// SPDX-License-Identifier: MIT

// Pictures of the answers.  The texts beside them have the same numbers.

const svg = (attributes, content) => `<svg ${attributes}>${content}</svg>`;
const hiddenSvg = (name, content) => svg(`class="${name}" aria-hidden="true"`, content);
const share100 = part => `${(100 * part).toFixed(2)}%`;

// Returns a bar of usage with a tick at the share; without a share all usage is within it.
function shareBar(share, used) {
    const most = Math.max(share, used) * 1.02 || 1, tick = share100(share / most);
    return hiddenSvg('sb', (share ? `<rect class="ft" width="${tick}"/>` : '')
        + `<rect class="fu" width="${share100((share ? Math.min(used, share) : used) / most)}"/>`
        + (share && used > share ? `<rect class="fo" x="${tick}" width="${share100((used - share) / most)}"/>` : '')
        + (share ? `<line class="tick" x1="${tick}" x2="${tick}" y1="1" y2="17"/>` : ''));
}

// Returns the position of a ratio on a logarithmic scale from 1/16 to 16.
const ratioX = ratio => `${(50 + Math.max(-46, Math.min(46, ratio ? Math.log2(ratio) * 11.5 : -46))).toFixed(1)}%`;

// Returns the members of a level as dots.  Of many members, those at the same position are one dot.
function strip(members, row, ratioOf) {
    const many = members.length > 40, ratio = ratioOf(row), seen = new Set();
    let dots = '';
    for (const each of members) {
        const x = ratioX(ratioOf(each));
        if (each === row || many && seen.has(x))
            continue;
        seen.add(x);
        dots += `<circle class="dot" cx="${x}" cy="14" r="${many ? 2.5 : 5}"/>`;
    }
    return svg('width="100%" height="28" aria-hidden="true"', '<line class="rule" x1="2%" x2="98%" y1="14" y2="14"/>'
        + `<line class="tick" x1="50%" x2="50%" y1="4" y2="24"/>${dots}`
        + `<circle class="${ratio > 1.05 ? 'fo' : 'fu'}" cx="${ratioX(ratio)}" cy="14" r="7"/>`);
}

// Returns a distance of horizontal lines: 1, 2 or 5 times a power of ten, for at most five lines.
function lineStep(most) {
    const power = 10 ** Math.floor(Math.log10(most / 3));
    return [1, 2, 5, 10].map(factor => factor * power).find(step => most / step <= 5);
}

const MONTH_HEIGHT = 150, MONTH_LEFT = 17.5;

function monthColumns(names, used, due, label) {
    const most = Math.max(...used, ...due, 1) * 1.05, width = (100 - MONTH_LEFT) / used.length;
    const y = value => (MONTH_HEIGHT * (1 - value / most)).toFixed(1), high = value => (MONTH_HEIGHT * value / most).toFixed(1);
    const column = (name, x, from, to) => to > from
        ? `<rect class="${name}" x="${x}%" width="${(width * 0.6).toFixed(2)}%" y="${y(to)}" height="${high(to - from)}"/>` : '';
    let content = '';
    for (let value = 0; value < most; value += lineStep(most))
        content += `<line class="rule" x1="0" x2="100%" y1="${y(value)}" y2="${y(value)}"/>`
            + `<text x="0" y="${y(value) - 4}">${amount(value)}</text>`;
    used.forEach((hours, at) => {
        const left = MONTH_LEFT + at * width, x = (left + width * 0.2).toFixed(2);
        content += column('fu', x, 0, due[at] ? Math.min(hours, due[at]) : hours) + (due[at] ? column('fo', x, due[at], hours)
            + `<line class="tick" x1="${(left + width * 0.1).toFixed(2)}%" x2="${(left + width * 0.9).toFixed(2)}%" `
            + `y1="${y(due[at])}" y2="${y(due[at])}"/>` : '')
            + `<text x="${(left + width / 2).toFixed(2)}%" y="${MONTH_HEIGHT + 16}" text-anchor="middle">${names[at].charAt(0)}</text>`;
    });
    return svg(`width="100%" height="${MONTH_HEIGHT + 22}" role="img" aria-label="Entitlement and usage of ${label} by `
        + 'month; the table below has the numbers"', content);
}

const DAYS_HEIGHT = 120;

// Returns the places on the next days as step lines: 1 is at the top.
function placeLines(cluster, row, forecast) {
    const [pausing, continuing] = forecast.slice(1).map(placesByDay), all = [...pausing, ...continuing], low = Math.max(1, Math.min(...all) - 1);
    const high = Math.min(cluster.users, Math.max(...all) + 1);
    const x = day => `${(8 + 90 * day / DAYS).toFixed(1)}%`;
    const y = place => +(10 + (place - low) / Math.max(1, high - low) * (DAYS_HEIGHT - 20)).toFixed(1);
    const line = (name, x1, x2, y1, y2) => `<line class="${name}" x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}"/>`;
    const stepLine = (name, changes) => changes.map((place, at) => at % 2 === 0 ? ''
        : line(name, x(changes[at - 1]), x(at + 1 < changes.length ? changes[at + 1] : DAYS), y(place), y(place))
            + (at > 1 ? line(name, x(changes[at - 1]), x(changes[at - 1]), y(changes[at - 2]), y(place)) : '')).join('');
    const marks = [row.place, pausing[DAYS], continuing[DAYS], Math.min(...all)].filter((place, at, list) =>
        !list.slice(0, at).some(other => Math.abs(y(other) - y(place)) < 14));
    const days = [0, DAYS / 2, DAYS].map(day => `<text x="${x(day)}" y="${DAYS_HEIGHT + 16}" text-anchor="`
        + `${!day ? 'start' : day === DAYS ? 'end' : 'middle'}">${day ? cluster.days[day].replace(/( ...).*/, '$1') : 'now'}</text>`);
    return svg(`width="100%" height="${DAYS_HEIGHT + 22}" role="img" aria-label="Place of ${row.label} in the next ${DAYS} days: `
        + `${whole(pausing[DAYS])} if they run nothing, ${whole(continuing[DAYS])} if usage continues"`,
    marks.map(place => line('rule', x(0), x(DAYS), y(place), y(place)) + `<text x="0" y="${y(place) + 4}">${whole(place)}</text>`)
        .join('') + stepLine('dash', forecast[2]) + stepLine('line', forecast[1]) + days.join(''));
}

const keyLine = (name, words) => `<li><svg width="26" height="4" aria-hidden="true"><line class="${name}" x2="26" y1="2" y2="2"/>`
    + `</svg>${words}</li>`;
const keySquare = (name, words) => `<li><svg width="14" height="10" aria-hidden="true"><rect class="${name}" width="14" height="10"/>`
    + `</svg>${words}</li>`;
const SHARE_KEY = `<ul class="key">${keySquare('fu', 'used within the share')}${keySquare('fo', 'used beyond it')}`
    + '<li><svg width="4" height="14" aria-hidden="true"><line class="tick" x1="2" x2="2" y2="14"/></svg>share</li></ul>';
