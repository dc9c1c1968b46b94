// SPDX-License-Identifier: MIT

// What is known of the association that was chosen: its values, and how they came to be.

function facts(cluster, node) {
    const found = [
        ['Share of its level', percent(node.share)],
        ['Used of its level', percent(node.used)],
        ['Shares', node.shares === null ? 'parent' : plain.format(node.shares)],
        [`Decayed use, ${cluster.words.unit}`, used(cluster, node.usage)],
    ];
    if (!byLevelFs(cluster)) {
        found[0][0] = cluster.ofPbs ? 'Percentage' : 'Share';
        found[1][0] = cluster.ofPbs ? 'Tree usage' : 'Effective use';
    }
    if (!node.parent) {
        found.splice(0, 3, [capital(cluster.words.accounts), plain.format(cluster.nodes.filter(each => !each.isUser).length)]);
        if (!data.accountsOnly)
            found.unshift([capital(cluster.words.users), plain.format(cluster.users)]);
        return found;
    }
    if (byLevelFs(cluster))
        found.push(['Level FS', ratio(node.levelFs)]);
    if (node.factor !== null)
        found.push(['Fairshare factor', factor(node.factor)]);
    if (node.place !== null)
        found.push(['Place', `${plain.format(node.place)} of ${plain.format(cluster.users)}`]);
    if (!node.isUser && !data.accountsOnly)
        found.push(['Right below it', plain.format(node.children.length)]);
    return found;
}

const inUnits = number => compact.format(number);

function pointsOf(times, values, used) {
    return times.map((at, i) => ({ x: at, y: values[i] === null ? null : used(values[i]) }));
}

// Charts to draw: each with a title, points, or words in the place of points.
function chartsOf(cluster, node) {
    const { use, history, words } = cluster;
    const days = use.rows[node.number];
    const [usage, factors, levels] = history.rows[node.number] || [];
    const unseen = (times, rows) => times.length && !rows[node.number];
    const elsewhere = [
        `This page has the past of the ${plain.format(Object.keys(history.at.length ? history.rows : use.rows).length)} `
        + 'who used most. ', element('code', {}, 'fairmill history'), ' tells of the others.',
    ];
    const few = ['No history yet: each run that keeps a point adds to it.'];
    const isRoot = !node.parent;
    const byFactor = node.factor !== null || !byLevelFs(cluster);
    const value = byFactor ? factors : levels;
    const made = [{
        title: 'Use by day', unit: words.unit, bars: true, say: inUnits,
        points: days && pointsOf(use.at.map(at => at + 43200), days, seconds => seconds / words.seconds),
        words: unseen(use.at, use.rows) ? elsewhere : !use.at.length ? ['No use by day is known yet.'] : null,
    }, {
        title: 'Decayed use', unit: words.unit, say: inUnits,
        points: usage && pointsOf(history.at, usage, seconds => seconds / words.seconds),
        words: unseen(history.at, history.rows) ? elsewhere : history.at.length < 2 ? few : null,
    }];
    if (!isRoot)
        made.push({
            title: byFactor ? 'Fairshare factor' : 'Level FS', unit: byFactor ? '1 is best' : '1 is just its share',
            say: byFactor ? number => Number(number.toPrecision(4)) : ratio, most: byFactor ? 1 : undefined, log: !byFactor,
            points: value && pointsOf(history.at, value, number => finite(number) === Infinity || (!byFactor && !number) ? null : number),
            words: unseen(history.at, history.rows) ? elsewhere : history.at.length < 2 ? few : null,
        });
    for (const chart of made) {
        const seen = (chart.points || []).filter(point => point.y !== null);
        if (!chart.words && !seen.length)
            chart.words = ['Nothing is known of this in these days.'];
        else if (!chart.words && chart.bars && !seen.some(point => point.y > 0))
            chart.words = [`Nothing was used in ${count(data.days, 'day', 'days')}.`];
    }
    return made;
}

// What a picture shows, for those who do not see it.
function inWords(chart, calendar) {
    const seen = chart.points.filter(point => point.y !== null);
    const most = seen.reduce((one, other) => other.y > one.y ? other : one);
    const last = seen[seen.length - 1];
    return `${chart.title}, ${chart.unit}: highest ${chart.say(most.y)} on ${calendar.day(most.x)}, `
        + `last ${chart.say(last.y)} on ${calendar.day(last.x)}`;
}

function drawDetails(cluster, node) {
    const calendar = calendarOf(cluster);
    const kind = node.isUser ? cluster.words.user : cluster.words.account;
    byId('chosen-title').replaceChildren(node.parent ? `${nameOf(node)}` : 'Everybody',
        element('span', { class: 'kind' }, node.parent ? kind : ''));
    byId('chosen-place').textContent = node.parent ? pathOf(node.parent).map(nameOf).join(' › ') : '';
    byId('facts').replaceChildren(...facts(cluster, node).map(([name, value]) =>
        element('div', {}, element('dt', {}, name), element('dd', {}, value))));

    const part = byId('charts');
    forgetCharts(part);
    part.replaceChildren();
    const to = cluster.asOf + 43200;
    const from = Math.min(cluster.asOf - 2 * 86400, ...cluster.use.at, ...cluster.history.at) - 43200;
    for (const chart of chartsOf(cluster, node)) {
        const caption = element('figcaption', {}, `${chart.title} `, element('span', {}, chart.unit));
        if (chart.words) {
            part.append(element('figure', {}, caption, empty(...chart.words.map(word => typeof word === 'string' ? word : word.cloneNode(true)))));
            continue;
        }
        const canvas = element('canvas', { role: 'img', 'aria-label': inWords(chart, calendar) });
        part.append(element('figure', {}, caption, element('div', { class: 'canvas' }, canvas)));
        drawSeries(canvas, chart.points, { ...chart, calendar, from, to });
    }
}
