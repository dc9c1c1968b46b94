// SPDX-License-Identifier: MIT

// The answer about a user or a group, as HTML.

const JOBS_SHOWN = 8, MEMBERS_SHOWN = 10;

const tag = (name, type, content) => `<${name}${type && ` class="${type}"`}>${content}</${name}>`;
const link = row => row.inside ? `<a href="#${row.address}">${row.label}</a>` : row.label;
const cell = (title, body, name) => body && tag('div', name || '', `<h3>${title}</h3>${body}`);
const soft = words => tag('p', 'soft', words);
const items = (list, make) => list.map(make).join('');

// Returns a table.  Columns are [heading, class]; the class `bar` hides the heading.
function smallTable(caption, columns, lines) {
    const head = ([words, type]) =>
        `<th scope="col" class="${type}">${type === 'bar' ? tag('span', 'vh', words) : words}</th>`;
    const body = (text, at) => at ? tag('td', columns[at][1], text) : `<th scope="row" class="name">${text}</th>`;
    return tag('table', 'tight', `${tag('caption', 'vh', caption)}<thead><tr>${items(columns, head)}</tr></thead>`
        + `<tbody>${items(lines, line => tag('tr', '', items(line, body)))}</tbody>`);
}

// Returns the first two members of a level, the neighbors of a row, and the last, with their ratios.
function neighbors(members, row, ratioOf) {
    const at = members.indexOf(row), last = members.length - 1;
    const isShown = i => last < 7 || i < 2 || Math.abs(i - at) < 2 || i === last;
    return soft(items(members, (each, i) => {
        const value = ratioOf(each), name = `${each.label} ${
            !each.own ? '(no share of its own)' : isFinite(value) ? times(value) : '(no shares)'}`;
        return isShown(i) ? (i ? isShown(i - 1) ? ', ' : ' … ' : '') + (each === row ? tag('b', '', name) : name) : '';
    }));
}

// Returns the only step if there are no levels: the users, or the groups below the same group, in the order of ratios.
function flatStep(cluster, row) {
    const members = cluster.rows.filter(each => each.up && each.user === row.user && (row.user || each.up === row.up))
        .sort((a, b) => (a.ratio || 0) - (b.ratio || 0));
    return { owner: row.user ? cluster.rows[0] : row.up, member: row, members, ahead: row.place - 1,
        position: 1 + members.filter(each => each.ratio < row.ratio).length };
}

function ladder(cluster, row) {
    const list = cluster.ranks ? steps(cluster, row.user || row.own ? row : row.level) : [flatStep(cluster, row)];
    const ratioOf = each => cluster.ranks ? each.levelRatio : each.ratio;
    const note = cluster.ranks ? soft('Each level compares usage with the shares within the group above.') : '';
    return list.length && `${note}<ul class="ladder">${items(list, ({ owner, member, members, ahead, position }) => {
        const number = row.user ? `<b>${whole(ahead)}</b>${ahead === 1 ? cluster.userWord : cluster.usersWord} ahead`
            : `<b>${whole(position)} of ${whole(members.length)}</b>in order`;
        const scope = cluster.ranks && member.own ? ` of ${owner.up ? owner.label : 'the cluster'}` : '';
        return `<li><div><p><b>${member.label}</b> ${usedWords(member, ratioOf(member))}${scope}</p>`
            + `${strip(members, member, ratioOf)}${neighbors(members, member, ratioOf)}</div>`
            + `${tag('div', 'n', number)}</li>`;
    })}<li class="ends"><div class="axis"><span>used little</span><span>exactly its share</span><span>used more</span>`
        + '</div></li></ul>';
}

function facts(cluster, row) {
    const fact = (name, value, words, over) =>
        `<div><dt>${name}</dt><dd class="${over ? 'over' : ''}">${value}<small>${words}</small></dd></div>`;
    const count = Math.round(row.spent / cluster.periodDays / 24), unit = escapeHtml(cluster.units[0]);
    const cores = count < 1 ? 'less than one core' : plural(count, 'core');
    const ratio = isFinite(row.ratio) ? `, ${times(row.ratio)} times the share` : '';
    return `<dl class="facts">${fact('Share', row.own ? percent(row.share) : 'none',
        row.own ? 'of the cluster' : 'of its own (fairshare=parent)')}`
        + fact('Recent usage', percent(row.used), `of the cluster${ratio}`, row.ratio > 1.05)
        + fact(capital(escapeHtml(cluster.period)), amount(row.spent),
            unit + (unit === 'core-hours' && cluster.periodDays && row.spent ? `, as ${cores} day and night` : ''))
        + `</dl>${shareBar(row.own ? row.share : 0, row.used)}`;
}

function nextDays(cluster, row) {
    const forecast = forecastOf(cluster, row), now = whole(row.place);
    if (!forecast)
        return row.place && '<p>The page has no forecast for this place; see <code>fairmill forecast</code>.</p>';
    if (new Set(forecast.slice(1).flat()).size === 1)
        return `<p>The place stays ${now}, whether usage stops today or continues as last week.</p>`;
    return soft('Place if usage stops today, and if it continues; 1 is next.') + placeLines(cluster, row, forecast)
        + `<ul class="key">${keyLine('line', 'runs nothing, the others continue')}`
        + `${keyLine('dash', 'everybody continues as last week')}</ul>`;
}

function waitingJobs(cluster, row) {
    const shown = row.jobs.slice(0, JOBS_SHOWN), different = jobs => new Set(jobs.map(job => job[0])).size;
    const more = Math.max(row.pending, different(row.jobs)) - different(shown); // a job can wait in several partitions
    if (!shown.length)
        return !cluster.hidesJobs && soft(`No job of ${row.label} is waiting.`);
    const columns = [['Job', ''], [capital(cluster.partitionWord), 'word'], ['Place', 'r'], ['Waiting', 'r']];
    const lines = [], stuck = [];
    for (const [id, at, partition, pool, place, length, waiting, reason, user] of shown) {
        const owner = cluster.rows[at].user ? link(cluster.rows[at]) : escapeHtml(user);
        const name = row.user ? escapeHtml(id) : `${escapeHtml(id)} ${owner}`;
        if (reason && !place)
            stuck.push(`<p>${name} ${tag('span', 'why', 'cannot start')}: ${escapeHtml(reason)}.</p>`);
        else
            lines.push([name, escapeHtml(partition), place ? `${whole(place)} of ${whole(length)}`
                + (pool && ` in ${escapeHtml(pool)}`) : '–', waiting || '–']);
    }
    return (lines.length ? smallTable(`Waiting jobs of ${row.label}`, columns, lines) : '') + stuck.join('')
        + (more ? `<p class="note">${plural(more, 'other job is', 'other jobs are')} in the `
            + `<a href="#${cluster.prefix}queue">table of waiting jobs</a>.</p>` : '');
}

// Returns the months in the selected unit, with buttons for the other units.
function months(cluster, row) {
    const found = cluster.months.find(each => each[0] === row.at), unit = cluster.unit;
    if (!found)
        return '';
    const used = found[1][unit], due = found[2][unit], hours = escapeHtml(cluster.units[unit]);
    const buttons = items(cluster.units, (name, at) =>
        `<button type="button" data-unit="${at}" aria-pressed="${at === unit}">${capital(escapeHtml(name))}</button>`);
    const sum = list => list.reduce((total, value) => total + value, 0);
    const line = (name, value, part) => [name, part ? amount(part) : '–', amount(value),
        part ? tag('span', value > 1.05 * part ? 'over' : '', times(value / part)) : '–'];
    const lines = used.map((value, at) =>
        line(cluster.monthNames[at] + (at === used.length - 1 ? ' (so far)' : ''), value, due[at])).reverse();
    lines.push(line(plural(used.length, 'month'), sum(used), sum(due)));
    const table = smallTable(`Entitlement and usage of ${row.label} by month, ${hours}`,
        [['Month', ''], ['Entitlement', 'r'], ['Used', 'r'], ['Ratio', 'r']], lines);
    return cell(`Entitlement and usage by month, ${hours}`,
        (cluster.units.length > 1 ? `<div class="tools" role="group" aria-label="Unit">${buttons}</div>` : '')
        + (sum(used) ? monthColumns(cluster.monthNames, used, due, row.label)
            + `<details><summary>Table of the months</summary>${table}</details>`
            : soft(`${row.label} used no ${hours} in these months.`)), 'months');
}

function membersTable(cluster, row) {
    const list = row.below.filter(each => each.inside).sort((a, b) => b.spent - a.spent);
    if (!list.length)
        return soft(cluster.hidesUsers ? `This site hides ${cluster.usersWord} from each other.`
            : 'This group has no members.');
    const first = list.slice(0, MEMBERS_SHOWN), others = list.slice(MEMBERS_SHOWN);
    const line = (name, hours, picture) =>
        [name, picture, amount(hours), row.spent ? percent(100 * hours / row.spent) : '–'];
    const lines = first.map(each => line(link(each) + (each.user ? '' : ' <span class="soft">group</span>'), each.spent,
        bar('mb', list[0].spent, [['fu', 0, each.spent]])));
    if (others.length)
        lines.push(line(plural(others.length, 'other'),
            row.spent === null ? null : others.reduce((sum, each) => sum + each.spent, 0), ''));
    return smallTable(`Usage by member of ${row.label}`,
        [['Member', ''], ['Bar', 'bar'], [capital(escapeHtml(cluster.units[0])), 'r'], ['of the group', 'r']], lines);
}

function budgetCell(cluster, row) {
    const budgets = cluster.budgets.filter(budget => budget[0] === row.at);
    if (!budgets.length)
        return !row.user && cluster.hasBudgets && `<p>No budget (GrpTRESMins) is set for ${row.label}.</p>`;
    return items(budgets, ([, hours, limit, used, running, left, , ends]) => {
        const rate = `At last week's rate the budget ${ends ? `ends on <b>${ends}</b>` : 'does not end'}.`;
        const parts = [['ft', 0, limit], ['fu', 0, Math.min(used, limit)], ['fo', limit, used],
            ['f2', used, used + running]];
        return `<p>${left <= 0 ? `The budget of ${amount(limit)} ${escapeHtml(hours)} is used up.`
            : `${amount(left)} of ${amount(limit)} ${escapeHtml(hours)} are left. ${rate}`}</p>`
            + bar('sb', Math.max(limit, used + running), parts, limit)
            + soft(`${amount(used)} used, ${amount(running)} held for running jobs.${
                cluster.fades ? ' Old usage fades, so that the budget fills again.' : ''}`);
    });
}

function answerCells(cluster, row) {
    const share = cell('Share and usage', facts(cluster, row)), budget = cell('Budget', budgetCell(cluster, row));
    const waiting = cell('Waiting jobs', waitingJobs(cluster, row)), period = escapeHtml(cluster.period);
    return row.user ? [row.place && cell('Reason for this place', ladder(cluster, row)), share,
        cell(`Next ${DAYS} days`, nextDays(cluster, row)), waiting, budget, months(cluster, row)]
        : [months(cluster, row), cell(`Usage by member, ${period}`, membersTable(cluster, row)), share, budget,
            cell('Order among groups', ladder(cluster, row)), waiting];
}

function answerHtml(cluster, row) {
    const path = pathTo(row.up).map(link).join(' › ') || 'Group right below the top';
    const kind = row.user ? `${cluster.userWord} in ${escapeHtml(row.up.name)}` : 'group';
    const twins = cluster.rows.filter(each =>
        row.user && each.user && each.inside && each !== row && each.name === row.name);
    const places = twins.map(({ address, up, part }) =>
        `<a href="#${address}">${escapeHtml(part ? `${up.name} (${part})` : up.name)}</a>`);
    return `<div class="head"><div>${tag('p', 'crumb', path)}`
        + `<h2 tabindex="-1" id="${cluster.prefix}answer-title">${row.label} ${tag('span', 'kind', kind)}</h2>`
        + (twins.length ? tag('p', 'chips', `${escapeHtml(row.name)} also has a place in ${places.join(', ')}.`) : '')
        + '</div><button type="button" class="x">Close</button></div>'
        + tag('p', 'lead', (row.user ? userLead : groupLead)(cluster, row))
        + tag('div', 'cols', answerCells(cluster, row).filter(Boolean).join(''));
}
