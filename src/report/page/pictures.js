// SPDX-License-Identifier: MIT

// Pictures of the answers.  The texts beside them have the same numbers.

const MONTHS_HIGH = 150, MONTHS_LEFT = 17.5, DAYS_HIGH = 120;

const cssPercent = number => `${+number.toFixed(2)}%`;
const svgLine = (name, x1, x2, y1, y2) => `<line class="${name}" x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}"/>`;
const svgText = (x, y, words, anchor) => `<text x="${x}" y="${y}" text-anchor="${anchor || 'start'}">${words}</text>`;
const svg = (width, height, more, content) => `<svg width="${width}" height="${height}" ${more}>${content}</svg>`;
const chart = (height, title, content) => svg('100%', height + 22, `role="img" aria-label="${title}"`, content);
const keyItem = (width, height, content, words) =>
    `<li>${svg(width, height, 'aria-hidden="true"', content)}${words}</li>`;
const keySquare = (name, words) => keyItem(14, 10, `<rect class="${name}" width="14" height="10"/>`, words);
const keyLine = (name, words) => keyItem(26, 4, svgLine(name, 0, 26, 2, 2), words);

// Returns a bar that consists of parts [class, from, to], and a tick unless it is 0.
function bar(name, most, parts, tick) {
    const at = value => cssPercent(100 * value / (most || 1));
    const rects = parts.filter(([, from, to]) => to > from)
        .map(([part, from, to]) => `<rect class="${part}" x="${at(from)}" width="${at(to - from)}"/>`);
    return `<svg class="${name}" aria-hidden="true">${rects.join('')}`
        + `${tick ? svgLine('tick', at(tick), at(tick), 1, 17) : ''}</svg>`;
}

function shareBar(share, used) {
    const within = share ? Math.min(share, used) : used;
    return bar('sb', 1.02 * Math.max(share, used), [['ft', 0, share], ['fu', 0, within], ['fo', within, used]], share)
        + `<ul class="key">${keySquare('fu', 'used within the share')}${keySquare('fo', 'used beyond it')}`
        + `${keyItem(4, 14, svgLine('tick', 2, 2, 0, 14), 'share')}</ul>`;
}

// Returns the members of a level as dots on a logarithmic scale from 1/16 to 16.  Of many members, those at the same
// position are one dot.
function strip(members, row, ratioOf) {
    const x = each => cssPercent(50 + Math.max(-46, Math.min(46, 11.5 * Math.log2(ratioOf(each) || 0))));
    const many = members.length > 40, places = members.filter(each => each !== row).map(x);
    const circle = (name, cx, r) => `<circle class="${name}" cx="${cx}" cy="14" r="${r}"/>`;
    const dots = (many ? [...new Set(places)] : places).map(cx => circle('dot', cx, many ? 2.5 : 5));
    return svg('100%', 28, 'aria-hidden="true"', svgLine('rule', '2%', '98%', 14, 14)
        + svgLine('tick', '50%', '50%', 4, 24) + dots.join('') + circle(ratioOf(row) > 1.05 ? 'fo' : 'fu', x(row), 7));
}

function monthColumns(names, used, due, label) {
    const most = 1.05 * Math.max(...used, ...due, 1), wide = (100 - MONTHS_LEFT) / Math.max(6, used.length);
    const power = 10 ** Math.floor(Math.log10(most / 3)), factor = [1, 2, 5, 10].find(each => most / each / power <= 5);
    const y = value => +(MONTHS_HIGH * (1 - value / most)).toFixed(1);
    const x = (at, part) => cssPercent(MONTHS_LEFT + wide * (at + part));
    const column = (name, at, from, to) => to > from ? `<rect class="${name}" x="${x(at, 0.2)}" y="${y(to)}" `
        + `width="${cssPercent(0.6 * wide)}" height="${(y(from) - y(to)).toFixed(1)}"/>` : '';
    let content = '';
    for (let value = 0; value < most; value += factor * power)
        content += svgLine('rule', 0, '100%', y(value), y(value)) + svgText(0, y(value) - 4, amount(value));
    used.forEach((hours, at) => {
        const within = due[at] ? Math.min(hours, due[at]) : hours;
        content += column('fu', at, 0, within) + column('fo', at, within, hours)
            + (due[at] ? svgLine('tick', x(at, 0.1), x(at, 0.9), y(due[at]), y(due[at])) : '')
            + svgText(x(at, 0.5), MONTHS_HIGH + 16, names[at].charAt(0), 'middle');
    });
    return chart(MONTHS_HIGH, `Entitlement and usage of ${label} by month; the table below has the numbers`, content);
}

// Returns the places on the next days as two step lines; place 1 is at the top.
function placeLines(cluster, row, forecast) {
    const [, pausing, continuing] = forecast, all = [...pausing, ...continuing];
    const low = Math.max(1, Math.min(...all) - 1), high = Math.min(cluster.users, Math.max(...all) + 1);
    const x = day => cssPercent(10 + 88 * day / DAYS);
    const y = place => +(10 + (DAYS_HIGH - 20) * (place - low) / Math.max(1, high - low)).toFixed(1);
    const lines = (name, places) => places.map((place, day) => {
        const changes = day && place !== places[day - 1];
        const end = places.findIndex((other, at) => at > day && other !== place);
        return (!day || changes ? svgLine(name, x(day), x(end < 0 ? DAYS : end), y(place), y(place)) : '')
            + (changes ? svgLine(name, x(day), x(day), y(places[day - 1]), y(place)) : '');
    }).join('');
    const marks = [row.place, pausing[DAYS], continuing[DAYS], Math.min(...all)].filter((place, at, list) =>
        !list.slice(0, at).some(other => Math.abs(y(other) - y(place)) < 14));
    const rules = marks.map(place =>
        svgLine('rule', x(0), x(DAYS), y(place), y(place)) + svgText(0, y(place) + 4, whole(place)));
    const days = [['start', 0], ['middle', DAYS / 2], ['end', DAYS]].map(([anchor, day]) =>
        svgText(x(day), DAYS_HIGH + 16, day ? cluster.days[day].replace(/( ...).*/, '$1') : 'now', anchor));
    const title = `Place of ${row.label} in ${DAYS} days: ${whole(pausing[DAYS])} if they run nothing, `
        + `${whole(continuing[DAYS])} if usage continues`;
    return chart(DAYS_HIGH, title,
        rules.join('') + lines('dash', continuing) + lines('line', pausing) + days.join(''));
}
