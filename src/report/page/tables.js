// SPDX-License-Identifier: MIT

// Tables that can be searched and sorted. Long tables show only the first rows; a button shows
// more.

const FIRST_ROWS = 25;
const MORE_ROWS = 200;

// columns: { name, value(row), cell(row), number, wide, saved, csv(row) }.  CSV files have csv(row) or,
// without it, value(row), under the heading `saved` or, without it, `name`.  Returns functions that
// draw the table, search it and convert it to CSV.
function makeTable(place, rows, columns, options) {
    const state = { column: options.column, falling: options.falling, room: FIRST_ROWS, words: [] };
    // Screen readers announce a change of this element's text, so the element must stay.
    const status = element('span', { class: 'note', role: 'status' });
    const drawn = element('div'), onward = element('span');
    place.replaceChildren(drawn, element('div', { class: 'more' }, status, onward));

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
        }, button({ click: sort, title: column.title ?? null }, column.name, element('span', { 'aria-hidden': 'true' },
            sorted ? (state.falling ? ' ▾' : ' ▴') : '')));
    }

    // Restores the key focus: to the button of the same row, or to the first new row.
    function focusAgain(row, isOnward, first) {
        const rows = drawn.querySelectorAll('tbody tr');
        const again = isOnward ? rows[first] && rows[first].querySelector('button') || onward.querySelector('button')
            : row && drawn.querySelector(`tbody tr[data-row="${row}"] button`);
        if (again)
            again.focus({ preventScroll: !isOnward });
    }

    function show() {
        const active = document.activeElement, isOnward = onward.contains(active);
        const row = drawn.contains(active) && active.closest('tr') ? active.closest('tr').dataset.row : null;
        const before = drawn.querySelectorAll('tbody tr').length;
        const found = matching();
        const body = found.slice(0, state.room).map(row => element('tr', {
            'data-row': row.number ?? null, 'aria-selected': options.isChosen && options.isChosen(row) ? 'true' : null,
        }, ...columns.map(column => element('td', { class: classOf(column) }, ...[column.cell(row)].flat()))));
        if (!found.length) {
            drawn.replaceChildren();
            onward.replaceChildren();
            status.className = 'empty';
            status.textContent = state.words.length ? 'No row matches.' : options.nothing;
            return;
        }
        const left = found.length - body.length;
        drawn.replaceChildren(element('table', {},
            element('caption', { class: 'hidden' }, options.caption),
            element('thead', {}, element('tr', {}, ...columns.map(heading))),
            element('tbody', {}, ...body)));
        status.className = 'note';
        status.textContent = options.say(body.length, found.length) + (options.note || '');
        onward.replaceChildren(...left ? [button({ click: () => { state.room += MORE_ROWS; show(); } },
            `Show ${plain.format(Math.min(left, MORE_ROWS))} more`)] : []);
        focusAgain(row, isOnward, before);
    }

    function csv() {
        const lines = [columns.map(column => column.saved || column.name), ...matching().map(row => columns.map(column => (column.csv || column.value)(row)))];
        return lines.map(line => line.map(csvField).join(',') + '\r\n').join('');
    }

    // Print all rows, because paper has no button for more.
    function showAll(all) {
        const { room } = state;
        state.room = all ? Infinity : room;
        show();
        state.room = room;
    }

    show();
    return {
        show, showAll, csv,
        search: text => {
            state.words = text.toLowerCase().split(/\s+/).filter(word => word);
            state.room = FIRST_ROWS;
            show();
        },
    };
}

// Characters with which a spreadsheet may begin a formula, also full-width, and the apostrophe that
// escapes them.
const FORMULA = /^[=+\-@\t\r\n'\uff1d\uff0b\uff0d\uff20]/;

// Formats a field by RFC 4180, like `fairmill show --csv`.
function csvField(value) {
    let text = value === null || value === undefined ? '' : value === Infinity ? 'inf' : String(value);
    if (typeof value === 'string' && FORMULA.test(text))
        text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Makes the browser save a text as a file.
function save(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    const link = element('a', { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function classOf(column) {
    return [column.number ? 'number' : '', column.wide ? 'wide' : ''].join(' ').trim() || null;
}

// Unknown values come last in both directions.
function compare(one, other, sign) {
    if (one === null || other === null)
        return one === other ? 0 : (one === null ? 1 : -1) * sign;
    return typeof one === 'string' ? one.localeCompare(other) : one - other;
}

// The columns of users and accounts. A key is the key of a term.
function peopleColumns(cluster, choose) {
    const { account, unit } = cluster.words;
    const { terms } = cluster;
    const number = (key, name, cell, wide) => ({ key, name, number: true, wide, value: node => node[key], cell: node => cell(node[key]) });
    const amount = (key, name) => ({
        ...number(key, name, null, true), title: unit, cell: node => used(cluster, node[key]),
        csv: node => Number((node[key] / cluster.words.seconds).toPrecision(4)),
    });
    const part = (key, name, wide) => ({ ...number(key, name, percent, wide), csv: node => node[key] === null ? null : Number(node[key].toPrecision(4)) });
    const mine = byLevelFs(cluster) ? ['levelShare', 'levelUsed'] : [terms.share ? 'share' : 'wholeShare', 'used'];
    return [
        {
            name: 'Name', value: nameOf,
            cell: node => [
                button({ click: () => choose(node) }, nameOf(node)),
                node.isUser || data.accountsOnly ? null : element('span', { class: 'kind' }, account),
                element('small', {}, node.isUser ? node.account : ''),
            ],
        },
        { name: capital(account), wide: true, value: node => node.account, cell: node => node.isUser ? node.account : (node.parent ? node.parent.account : '') },
        part(mine[0], 'Share'), part(mine[1], 'Usage'),
        byLevelFs(cluster) ? { ...part('wholeShare', 'Share of all', true), title: terms.wholeShare?.[0], saved: terms.wholeShare?.[0] } : null,
        { ...part('wholeUsed', 'Usage of all', true), title: terms.wholeUsed[0], saved: terms.wholeUsed[0] },
        { ...amount('usage', 'Decayed'), saved: 'Decayed usage' }, { ...amount('spent', 'In period'), saved: 'Usage in this period' },
        terms.levelFs ? number('levelFs', 'Level FS', ratio, !data.accountsOnly) : null,
        terms.factor ? number('factor', 'Factor', factor, false) : null,
        terms.place ? number('place', 'Place', place => place === null ? '–' : plain.format(place), true) : null,
    ].filter(column => column);
}

function peopleTable(cluster, chosen, choose) {
    const { user, users, account, accounts } = cluster.words;
    const columns = peopleColumns(cluster, choose);
    const all = treeOf(cluster);
    const rows = isOfAll(cluster) ? all.slice(1) : all;
    const unseen = cluster.below - all.length;
    const elsewhere = unseen ? `; ${plain.format(unseen)} with the least usage are not in this page` : '';
    return makeTable(byId('people-table'), rows, columns, {
        column: columns.findIndex(column => column.name === (data.accountsOnly ? 'Share' : 'Factor')), falling: true, caption: capital(`${users} and ${accounts}`), nothing: `There are no ${users} and no ${accounts}.`,
        text: node => node.text ??= `${node.user} ${node.account} ${node.partition}`.toLowerCase(),
        isChosen: node => node === chosen(),
        note: `; usage is in ${cluster.words.unit}`,
        say: (shown, found) => (data.accountsOnly ? count(found, account, accounts)
            : shown === found ? count(found, `${user} or ${account}`, `${users} and ${accounts}`)
                : `${plain.format(shown)} of ${plain.format(found)} ${users} and ${accounts}`) + elsewhere,
    });
}

const PARTS = ['age', 'assoc', 'fairshare', 'size', 'partitionPart', 'qosPart', 'tres'];
const PART_NAMES = ['Age', 'Association', 'Fairshare', 'Job size', 'Partition', 'QOS', 'TRES'];

function jobsOf(cluster) {
    const keys = ['id', 'user', 'account', 'partition', 'qos', 'priority', ...PARTS, 'site', 'nice',
        'place', 'pool', 'reason', 'detail', 'jobId', 'why', 'terms', 'value', 'runs'];
    return cluster.jobs.map((row, order) => Object.fromEntries([...row.map((value, i) => [keys[i], value]), ['order', order]]));
}

// A list with a bar for each name. The first name must have the longest bar.
function barList(title, what, rows, show) {
    return rows && rows.length > 0 && element('figure', {}, element('figcaption', {}, `By ${title} `, element('span', {}, what)),
        element('table', {}, element('tbody', {}, ...rows.map(([name, number]) => {
            const bar = element('i', { class: 'bar' });
            bar.style.width = `${number / rows[0][1] * 100}%`;
            return element('tr', {}, element('th', { scope: 'row' }, name), element('td', { class: 'number' }, show(number)), element('td', { class: 'bars' }, bar));
        }))));
}

// The numbers of pending jobs by partition and by QOS.
function drawQueues(cluster) {
    const lists = [
        barList(cluster.words.partition, 'pending jobs', cluster.waitingByPartition, number => plain.format(number)),
        barList('QOS', 'pending jobs', cluster.waitingByQos, number => plain.format(number)),
    ];
    byId('queues').replaceChildren(...lists.filter(each => each));
}

// The usage by partition and by QOS, if the report has it.
function drawClasses(cluster) {
    const lists = [
        barList(cluster.words.partition, `decayed, ${cluster.words.unit}`, cluster.useByPartition, seconds => used(cluster, seconds)),
        barList('QOS', `decayed, ${cluster.words.unit}`, cluster.useByQos, seconds => used(cluster, seconds)),
    ].filter(each => each);
    byId('classes').replaceChildren(...lists);
    byId('classes-section').hidden = !lists.length;
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
        'aria-label': `The parts of the priorities of the first ${first.length} jobs; the table below has them`,
    });
    const box = element('div', { class: 'canvas' }, canvas);
    box.style.height = `${first.length * 26 + 50}px`;
    place.append(element('figure', {},
        element('figcaption', {}, 'Parts of the priorities ', element('span', {},
            cluster.waiting > first.length ? `the first ${first.length} jobs` : '')),
        element('ul', { class: 'parts' }, ...parts.map(part => {
            const swatch = element('i', { class: 'swatch' });
            swatch.style.background = `var(--part-${part.color})`;
            return element('li', {}, swatch, part.name);
        })), box));
    drawQueue(canvas, first, parts);
}

function termsOf(job) {
    return job.why ? `${job.terms} (${job.why})` : job.terms;
}

// The value of the formula for a job that may run, or the reason why it cannot.
function formulaColumns() {
    return [
        {
            name: 'Value', number: true, value: job => job.runs ? job.value : null,
            cell: job => job.runs ? String(Number(job.value.toPrecision(6))) : '–',
        },
        { name: 'Names of the formula', wide: true, value: job => job.terms, cell: termsOf, csv: termsOf },
    ];
}

// The place of a job in its pool, or the reason why it cannot start. The jobs are in this order.
function placeColumns(cluster, jobs) {
    const place = {
        name: 'Place', value: job => job.order, csv: job => job.place || job.reason,
        cell: job => job.place ? element('span', { class: 'number' }, plain.format(job.place))
            : [job.reason || '–', job.detail && !cluster.ofPbs ? element('small', { class: 'detail' }, job.detail) : ''],
    };
    const pools = new Set(jobs.filter(job => job.place).map(job => job.pool));
    return pools.size > 1 ? [place, { name: 'Pool', wide: true, value: job => job.pool, cell: job => job.pool }] : [place];
}

function queueTable(cluster, jobs) {
    const known = PARTS.map((key, i) => ({ key, name: PART_NAMES[i] }))
        .concat({ key: 'site', name: 'Site' }, { key: 'nice', name: 'Nice' }).filter(part => jobs.some(job => job[part.key]));
    const text = key => job => job[key];
    const { user, account, partition } = cluster.words;
    const columns = [
        { name: 'Job', number: false, value: job => job.id, csv: job => job.jobId || job.id, cell: job => element('span', { class: 'number' }, job.jobId || String(job.id)) },
        { name: capital(user), value: text('user'), cell: job => [job.user, element('small', {}, job.account)] },
        { name: capital(account), wide: true, value: text('account'), cell: text('account') },
        { name: capital(partition), value: text('partition'), cell: text('partition') },
        ...placeColumns(cluster, jobs),
        ...cluster.ofPbs ? formulaColumns() : [
            { name: 'QOS', wide: true, value: text('qos'), cell: text('qos') },
            { name: 'Priority', number: true, value: job => job.priority, cell: job => plain.format(job.priority) },
        ],
        ...known.map(part => ({
            name: part.name, number: true, wide: true, value: job => job[part.key], cell: job => points(job[part.key]),
        })),
    ];
    return makeTable(byId('queue-table'), jobs, columns, {
        column: columns.findIndex(column => column.name === 'Place'), falling: false, caption: 'Pending jobs', nothing: cluster.waiting && data.accountsOnly
            ? `${count(cluster.waiting, 'job is', 'jobs are')} pending. Data about users is private on this site.` : 'No job is pending.',
        text: job => job.text ??= `${job.jobId || job.id} ${job.user} ${job.account} ${job.partition} ${job.qos} ${job.pool} ${job.reason}`.toLowerCase(),
        say: (shown, all) => `${shown === all ? count(all, 'job', 'jobs') : `${plain.format(shown)} of ${plain.format(all)} jobs`}`
            + (cluster.waiting > jobs.length ? `; ${plain.format(cluster.waiting)} are pending, and this page has the first ${plain.format(jobs.length)}` : ''),
    });
}
