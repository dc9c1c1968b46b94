// SPDX-License-Identifier: MIT

// Tables that can be searched and sorted.  Of many rows the first are there, the others on demand.

const FIRST_ROWS = 25;
const MORE_ROWS = 200;

// columns: { name, value(row), cell(row), number, wide, descending }.  Returns a function that
// draws it with another search.
function makeTable(place, rows, columns, options) {
    const state = { column: options.column, falling: options.falling, room: FIRST_ROWS, words: [] };

    function matching() {
        const found = state.words.length
            ? rows.filter(row => state.words.every(word => options.text(row).includes(word))) : rows.slice();
        const { value } = columns[state.column];
        const sign = state.falling ? -1 : 1;
        return found.sort((one, other) => sign * compare(value(one), value(other), sign));
    }

    function heading(column, i) {
        const sorted = i === state.column;
        const sort = () => {
            state.falling = sorted ? !state.falling : Boolean(column.number);
            state.column = i;
            show();
            place.querySelectorAll('th button')[i].focus();
        };
        return element('th', {
            scope: 'col', class: classOf(column),
            'aria-sort': sorted ? (state.falling ? 'descending' : 'ascending') : null,
        }, button({ click: sort }, column.name, element('span', { 'aria-hidden': 'true' },
            sorted ? (state.falling ? ' ▾' : ' ▴') : '')));
    }

    function show() {
        const found = matching();
        const body = found.slice(0, state.room).map(row => element('tr', {
            'data-row': row.number ?? null, 'aria-selected': options.isChosen && options.isChosen(row) ? 'true' : null,
        }, ...columns.map(column => element('td', { class: classOf(column) }, ...[column.cell(row)].flat()))));
        if (!found.length) {
            place.replaceChildren(empty(state.words.length ? 'Nothing of that name.' : options.nothing));
            return;
        }
        const left = found.length - body.length;
        place.replaceChildren(
            element('table', {},
                element('caption', { class: 'hidden' }, options.caption),
                element('thead', {}, element('tr', {}, ...columns.map(heading))),
                element('tbody', {}, ...body)),
            element('div', { class: 'more' },
                element('span', { class: 'note', role: 'status' }, options.say(body.length, found.length)),
                left ? button({ click: () => { state.room += MORE_ROWS; show(); } },
                    `Show ${plain.format(Math.min(left, MORE_ROWS))} more`) : null));
    }

    show();
    return {
        show,
        search: text => {
            state.words = text.toLowerCase().split(/\s+/).filter(word => word);
            state.room = FIRST_ROWS;
            show();
        },
    };
}

function classOf(column) {
    return [column.number ? 'number' : '', column.wide ? 'wide' : ''].join(' ').trim() || null;
}

// What is not known comes last, whichever way it is sorted.
function compare(one, other, sign) {
    if (one === null || other === null)
        return one === other ? 0 : (one === null ? 1 : -1) * sign;
    return typeof one === 'string' ? one.localeCompare(other) : one - other;
}

function peopleTable(cluster, chosen, choose) {
    const { user, users, account, accounts, unit } = cluster.words;
    const columns = [
        {
            name: 'Name', value: nameOf,
            cell: node => [
                button({ click: () => choose(node) }, nameOf(node)),
                node.isUser || data.accountsOnly ? null : element('span', { class: 'kind' }, account),
                element('small', {}, node.isUser ? node.account : ''),
            ],
        },
        { name: capital(account), wide: true, value: node => node.account, cell: node => node.isUser ? node.account : (node.parent ? node.parent.account : '') },
        { name: 'Share', number: true, value: node => node.share, cell: node => percent(node.share) },
        { name: 'Used', number: true, value: node => node.used, cell: node => percent(node.used) },
        { name: `Use, ${unit}`, number: true, wide: true, value: node => node.usage, cell: node => used(cluster, node.usage) },
        { name: 'Factor', number: true, value: node => node.factor, cell: node => factor(node.factor) },
        { name: 'Place', number: true, wide: true, value: node => node.place, cell: node => node.place === null ? '–' : plain.format(node.place) },
    ];
    // Under Fair Tree accounts have no factor.
    if (byLevelFs(cluster))
        columns.splice(5, data.accountsOnly ? 1 : 0, { name: 'Level FS', number: true, wide: !data.accountsOnly, value: node => node.levelFs, cell: node => ratio(node.levelFs) });
    if (data.accountsOnly)
        columns.splice(columns.findIndex(column => column.name === 'Place'), 1);
    const rows = treeOf(cluster).slice(1);
    return makeTable(byId('people-table'), rows, columns, {
        column: columns.findIndex(column => column.name === (data.accountsOnly ? 'Share' : 'Factor')), falling: true, caption: capital(`${users} and ${accounts}`), nothing: `There are no ${users} and no ${accounts}.`,
        text: node => node.text ??= `${node.user} ${node.account} ${node.partition}`.toLowerCase(),
        isChosen: node => node === chosen(),
        say: (shown, all) => data.accountsOnly ? count(all, account, accounts)
            : shown === all ? count(all, `${user} or ${account}`, `${users} and ${accounts}`)
                : `${plain.format(shown)} of ${plain.format(all)} ${users} and ${accounts}`,
    });
}

const PARTS = ['age', 'assoc', 'fairshare', 'size', 'partitionPart', 'qosPart', 'tres'];
const PART_NAMES = ['Age', 'Association', 'Fairshare', 'Job size', 'Partition', 'QOS', 'TRES'];

function jobsOf(cluster) {
    const keys = ['id', 'user', 'account', 'partition', 'qos', 'priority', ...PARTS, 'site', 'nice', 'jobId', 'why', 'terms', 'value', 'runs'];
    return cluster.jobs.map(row => Object.fromEntries(row.map((value, i) => [keys[i], value])));
}

function drawQueueChart(cluster, jobs) {
    const place = byId('queue-chart');
    forgetCharts(place);
    place.replaceChildren();
    const first = jobs.slice(0, 12);
    const parts = PARTS.map((key, i) => ({ key, name: PART_NAMES[i], color: i })).filter(part => first.some(job => job[part.key] > 0));
    if (!first.length || !parts.length)
        return;
    const canvas = element('canvas', {
        role: 'img',
        'aria-label': `What the priorities of the first ${first.length} jobs are sums of; the table below has them`,
    });
    const box = element('div', { class: 'canvas' }, canvas);
    box.style.height = `${first.length * 26 + 50}px`;
    place.append(element('figure', {},
        element('figcaption', {}, 'What their priorities are sums of ', element('span', {},
            cluster.waiting > first.length ? `the first ${first.length} jobs` : '')),
        element('ul', { class: 'parts' }, ...parts.map(part => {
            const swatch = element('i', { class: 'swatch' });
            swatch.style.background = `var(--part-${part.color})`;
            return element('li', {}, swatch, part.name);
        })), box));
    drawQueue(canvas, first, parts);
}

// What a formula makes of a job that may run, or why it does not.
function formulaColumns() {
    return [
        {
            name: 'Value', number: true, value: job => job.runs ? job.value : null,
            cell: job => job.runs ? String(Number(job.value.toPrecision(6))) : '–',
        },
        { name: 'Names of the formula', wide: true, value: job => job.terms, cell: job => job.why ? `${job.terms} (${job.why})` : job.terms },
    ];
}

function queueTable(cluster, jobs) {
    const known = PARTS.map((key, i) => ({ key, name: PART_NAMES[i] }))
        .concat({ key: 'site', name: 'Site' }, { key: 'nice', name: 'Nice' }).filter(part => jobs.some(job => job[part.key]));
    const text = key => job => job[key];
    const { user, account, partition } = cluster.words;
    const columns = [
        { name: 'Job', number: false, value: job => job.id, cell: job => element('span', { class: 'number' }, job.jobId || String(job.id)) },
        { name: capital(user), value: text('user'), cell: job => [job.user, element('small', {}, job.account)] },
        { name: capital(account), wide: true, value: text('account'), cell: text('account') },
        { name: capital(partition), value: text('partition'), cell: text('partition') },
        ...cluster.ofPbs ? formulaColumns() : [
            { name: 'QOS', wide: true, value: text('qos'), cell: text('qos') },
            { name: 'Priority', number: true, value: job => job.priority, cell: job => plain.format(job.priority) },
        ],
        ...known.map(part => ({
            name: part.name, number: true, wide: true, value: job => job[part.key], cell: job => points(job[part.key]),
        })),
    ];
    return makeTable(byId('queue-table'), jobs, columns, {
        column: columns.findIndex(column => column.name === (cluster.ofPbs ? 'Value' : 'Priority')), falling: true, caption: 'Waiting jobs', nothing: cluster.waiting && data.accountsOnly
            ? `${count(cluster.waiting, 'job is', 'jobs are')} waiting. What users have is private here.` : 'No job is waiting.',
        text: job => job.text ??= `${job.jobId || job.id} ${job.user} ${job.account} ${job.partition} ${job.qos}`.toLowerCase(),
        say: (shown, all) => `${shown === all ? count(all, 'job', 'jobs') : `${plain.format(shown)} of ${plain.format(all)} jobs`}`
            + (cluster.waiting > jobs.length ? `; ${plain.format(cluster.waiting)} are waiting, the first ${plain.format(jobs.length)} are here` : ''),
    });
}
