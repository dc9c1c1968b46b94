// SPDX-License-Identifier: MIT

// The values and the history of the selected association.

// Returns [key of a term, value] for each value.
function valuesOf(cluster, node) {
    const { users } = cluster;
    const shown = {
        shares: node.shares === null ? 'parent' : plain.format(node.shares),
        levelShare: percent(node.levelShare), levelUsed: percent(node.levelUsed),
        wholeShare: percent(node.wholeShare), wholeUsed: percent(node.wholeUsed),
        share: percent(node.share), used: percent(node.used),
        usage: used(cluster, node.usage), spent: used(cluster, node.spent),
        levelFs: ratio(node.levelFs),
        factor: node.factor === null ? null : factor(node.factor),
        place: node.place === null ? null : `${plain.format(node.place)} of ${plain.format(users)}`,
    };
    const ofRoot = ['usage', 'spent'];
    return Object.entries(shown).filter(([key, value]) => value !== null && cluster.terms[key]
        && (!isRoot(cluster, node) || ofRoot.includes(key)));
}

function isRoot(cluster, node) {
    return !node.parent && isOfAll(cluster);
}

// The node's usage as a fraction of the cluster's capacity in the days with known usage.
function ofCapacity(cluster, node) {
    if (cluster.capacity === null || !cluster.use.at.length)
        return null;
    const days = (Math.min(cluster.to, cluster.asOf) - Math.max(cluster.from, cluster.use.since)) / 86400;
    return days > 0 ? node.spent / (cluster.capacity * days) : null;
}

// The fairness of usage at the last point with this value.
function fairnessOf(cluster) {
    const { fairness, words } = cluster;
    const last = fairness.at.length - 1;
    if (last < 0 || fairness.accounts[last] === null)
        return [];
    return [
        ['Fairness of usage', String(Number(fairness.accounts[last].toPrecision(3))),
            `Jain's index of usage divided by share: 1 if all ${words.accounts} directly below the top have used the same part of their entitlement.`
                + (fairness.users[last] === null ? '' : ` For ${words.users} it is ${Number(fairness.users[last].toPrecision(3))}.`)],
        ['Usage above entitlement', percent(fairness.tooMuch[last]), `The part of all usage by which ${words.accounts} exceeded their share.`],
    ];
}

// Returns [name, value, sentence] for each value.
function facts(cluster, node) {
    const { words, terms } = cluster;
    const found = valuesOf(cluster, node).map(([key, value]) => {
        const [name, sentence] = terms[key];
        const inUnit = key === 'usage' || key === 'spent';
        return [inUnit ? `${name}, ${words.unit}` : name, value, sentence];
    });
    const part = ofCapacity(cluster, node);
    if (part !== null)
        found.push(['Share of capacity', percent(part),
            `Its usage divided by the cluster's present capacity, ${used(cluster, cluster.capacity)} ${words.unit} per day.`]);
    if (isRoot(cluster, node)) {
        found.push(...fairnessOf(cluster));
        found.unshift([capital(words.accounts), plain.format(cluster.nodes.filter(each => !each.isUser).length), null]);
        if (!data.accountsOnly)
            found.unshift([capital(words.users), plain.format(cluster.users), null]);
    } else if (!node.isUser && !data.accountsOnly)
        found.push(['Directly below', plain.format(node.children.length + node.rest.count), `${capital(words.users)} and ${words.accounts}.`]);
    return found;
}

const inUnits = number => compact.format(number);

function pointsOf(times, values, used) {
    return times.map((at, i) => ({ x: at, y: values[i] === null ? null : used(values[i]) }));
}

// The daily usage of a node as billed or, for an account, of the chosen TRES.
function useOf(cluster, node) {
    const { use, words } = cluster;
    const tres = node.isUser ? null : cluster.tres.find(each => each.name === cluster.chosenTres);
    const limit = isRoot(cluster, node) && cluster.capacity !== null ? cluster.capacity * use.days / words.seconds : null;
    if (!tres)
        return { unit: words.unit, rows: use.rows, seconds: words.seconds, limit };
    const rows = Object.fromEntries(Object.entries(tres.rows).map(([number, hours]) => [number, hours || use.at.map(() => 0)]));
    return { unit: tres.unit, rows, seconds: 1, limit: null };
}

// A list of the units in which the page has the daily usage of accounts, or null if there is only one.
function unitsOf(cluster, node) {
    if (node.isUser || !cluster.tres.length)
        return null;
    const { unit: charged, seconds } = cluster.words;
    const units = [[seconds === 1 ? charged : `${charged}, billed`, ''], ...cluster.tres.map(({ unit, name }) => [unit, name])];
    const change = event => {
        cluster.chosenTres = event.target.value;
        drawDetails(cluster, node);
        byId('units').focus();
    };
    return element('select', { id: 'units', 'aria-label': 'Unit of usage', change },
        ...units.map(([unit, name]) => element('option', { value: name, selected: name === (cluster.chosenTres || '') }, unit)));
}

// The charts of a node. Each has a title, and points or words that replace the chart.
function chartsOf(cluster, node) {
    const { use, history, words } = cluster;
    const daily = useOf(cluster, node);
    const days = daily.rows[node.number];
    const [usage, factors, levels] = history.rows[node.number] || [];
    const unseen = (times, rows) => times.length && !rows[node.number];
    const elsewhere = [
        `This page has the history of the ${plain.format(Object.keys(history.at.length ? history.rows : use.rows).length)} `
        + 'with the most usage. For others use ', element('code', {}, 'fairmill history'), '.',
    ];
    const few = ['No history yet: each run that stores a point adds to it.'];
    const ofRoot = isRoot(cluster, node);
    const byFactor = node.factor !== null || !byLevelFs(cluster);
    const value = byFactor ? factors : levels;
    const made = [{
        title: use.days === 1 ? 'Usage by day' : 'Usage by week', unit: daily.unit, units: unitsOf(cluster, node), bars: use.days, say: inUnits,
        limit: daily.limit,
        points: days && pointsOf(use.at.map(at => at + 43200 * use.days), days, used => used / daily.seconds),
        words: unseen(use.at, daily.rows) ? elsewhere : !use.at.length ? ['No usage by day is known yet.'] : null,
    }, {
        title: 'Decayed usage', unit: words.unit, say: inUnits,
        points: usage && pointsOf(history.at, usage, seconds => seconds / words.seconds),
        words: unseen(history.at, history.rows) ? elsewhere : history.at.length < 2 ? few : null,
    }];
    if (ofRoot && cluster.fairness.at.length)
        made.push({
            title: 'Fairness of usage', unit: `Jain's index of ${words.accounts}, 1 is fair`, say: number => Number(number.toPrecision(3)), most: 1,
            points: cluster.fairness.at.map((at, i) => ({ x: at, y: cluster.fairness.accounts[i] })),
            words: cluster.fairness.at.length < 2 ? few : null,
        });
    if (!ofRoot)
        made.push({
            title: byFactor ? 'Fairshare factor' : 'Level FS', unit: byFactor ? '1 is best' : '1: usage equals the share',
            say: byFactor ? number => Number(number.toPrecision(4)) : ratio, most: byFactor ? 1 : undefined, log: !byFactor,
            points: value && pointsOf(history.at, value, number => finite(number) === Infinity || (!byFactor && !number) ? null : number),
            words: unseen(history.at, history.rows) ? elsewhere : history.at.length < 2 ? few : null,
        });
    for (const chart of made) {
        const seen = (chart.points || []).filter(point => point.y !== null);
        if (!chart.words && !seen.length)
            chart.words = ['No data for this period.'];
        else if (!chart.words && chart.bars && !seen.some(point => point.y > 0))
            chart.words = ['No usage in this period.'];
    }
    return made;
}

// Describes a chart for readers who cannot see it.
function inWords(chart, calendar) {
    const seen = chart.points.filter(point => point.y !== null);
    const most = seen.reduce((one, other) => other.y > one.y ? other : one);
    const last = seen[seen.length - 1];
    const when = at => chart.bars ? barName(calendar, chart.bars, at) : calendar.day(at);
    return `${chart.title}, ${chart.unit}: highest ${chart.say(most.y)}, ${when(most.x)}; `
        + `last ${chart.say(last.y)}, ${when(last.x)}`;
}

// Lists the changes that the marks in the charts represent.
function drawChanges(cluster, calendar) {
    byId('changes').replaceChildren(...cluster.changes.length ? [
        element('h3', {}, 'Changes of settings', element('span', {}, ' dashed lines in the charts')),
        element('ul', {}, ...cluster.changes.map(([at, words]) => element('li', {}, `${calendar.minute(at)}  ${words}`))),
    ] : []);
}

function drawDetails(cluster, node) {
    const calendar = calendarOf(cluster);
    const kind = node.isUser ? cluster.words.user : cluster.words.account;
    const page = pageOf(cluster, node);
    byId('chosen-title').replaceChildren(isRoot(cluster, node) ? 'Whole cluster' : nameOf(node),
        element('span', { class: 'kind' }, isRoot(cluster, node) ? '' : kind));
    byId('chosen-place').replaceChildren([...cluster.above, ...(node.parent ? pathOf(node.parent).map(nameOf) : [])].join(' › '),
        page ? element('a', { href: page, class: 'page' }, `Page of this ${cluster.words.account}`) : '');
    byId('facts').replaceChildren(...facts(cluster, node).map(([name, value, sentence]) =>
        element('div', {}, element('dt', {}, name), element('dd', {}, value), sentence ? element('dd', { class: 'sentence' }, sentence) : null)));

    const part = byId('charts');
    forgetCharts(part);
    part.replaceChildren();
    const to = cluster.to + 43200;
    const from = Math.max(cluster.from, Math.min(cluster.to - 2 * 86400, ...cluster.use.at, ...cluster.history.at)) - 43200;
    for (const chart of chartsOf(cluster, node)) {
        const caption = element('figcaption', {}, `${chart.title} `, chart.units || element('span', {}, chart.unit));
        if (chart.words) {
            part.append(element('figure', {}, caption, empty(...chart.words.map(word => typeof word === 'string' ? word : word.cloneNode(true)))));
            continue;
        }
        const canvas = element('canvas', { role: 'img', 'aria-label': inWords(chart, calendar) });
        part.append(element('figure', {}, caption, element('div', { class: 'canvas' }, canvas)));
        drawSeries(canvas, chart.points, { ...chart, calendar, from, to, marks: cluster.changes });
    }
    drawChanges(cluster, calendar);
}
