// SPDX-License-Identifier: MIT

// The answer about a user or a group, as HTML.

const JOBS_SHOWN = 8, MEMBERS_SHOWN = 10;

const link = row => row.inside ? `<a href="#${row.address}">${row.label}</a>` : row.label;
const cell = (title, body) => body && `<div><h3>${title}</h3>${body}</div>`;
const soft = words => `<p class="soft">${words}</p>`;

// Returns a table; a heading that begins with > is of numbers, and one that begins with - is hidden.
function smallTable(caption, headings, rows) {
    const head = headings.map(words => words.charAt(0) === '-' ? `<th scope="col" class="bar"><span class="vh">${words.slice(1)}</span></th>`
        : words.charAt(0) === '>' ? `<th scope="col" class="r">${words.slice(1)}</th>` : `<th scope="col">${words}</th>`);
    const body = rows.map(cells => `<tr>${cells.map((text, at) => !at ? `<th scope="row" class="name">${text}</th>`
        : `<td${{ '>': ' class="r"', '-': ' class="bar"' }[headings[at].charAt(0)] || ''}>${text}</td>`).join('')}</tr>`);
    return `<table class="tight"><caption class="vh">${caption}</caption><thead><tr>${head.join('')}</tr></thead>`
        + `<tbody>${body.join('')}</tbody></table>`;
}

function usedWords(row, ratio) {
    const whose = row.user ? 'their' : 'its';
    return !row.own ? 'has no share of its own' : ratio === Infinity ? 'has no shares'
        : `has used ${times(ratio)} times ${whose} share`;
}

// Returns the first two, the neighbors of a row, and the last, with their ratios.
function neighbors(members, row, ratioOf) {
    const at = members.indexOf(row), last = members.length - 1;
    let words = '', before = -1;
    members.forEach((each, i) => {
        if (last > 6 && i > 1 && Math.abs(i - at) > 1 && i < last)
            return;
        const name = `${each.label} ${!each.own ? '(no share of its own)' : isFinite(ratioOf(each)) ? times(ratioOf(each)) : '(no shares)'}`;
        words += (i > before + 1 ? ' … ' : i ? ', ' : '') + (i === at ? `<b>${name}</b>` : name);
        before = i;
    });
    return soft(words);
}

function ladder(cluster, row) {
    const list = cluster.ranks ? steps(cluster, row.own || row.user ? row : row.level) : [{
        owner: cluster.root, member: row, ratio: row.ratio, ahead: row.place - 1,
        members: cluster.rows.filter(each => each.user === row.user && each.up && (row.user || each.up === row.up))
            .sort((a, b) => (a.ratio || 0) - (b.ratio || 0)),
    }];
    const ratioOf = cluster.ranks ? each => each.levelRatio : each => each.ratio;
    return list.length ? `<ul class="ladder">${list.map(step => `<li><div><p>${step.owner.up ? `Within ${step.owner.label}` : 'In the cluster'}: `
        + `<b>${step.member.label}</b> ${usedWords(step.member, step.ratio)}</p>${strip(step.members, step.member, ratioOf)}`
        + `${neighbors(step.members, step.member, ratioOf)}</div><div class="n">` + (row.user ? `<b>${whole(step.ahead)}</b>`
            + `${step.ahead === 1 ? cluster.userWord : cluster.usersWord} ahead` : `<b>${whole(step.position
                || 1 + step.members.indexOf(row))} of ${whole(step.members.length)}</b>in order`) + '</div></li>').join('')}`
        + '<li class="ends"><div class="axis"><span>used little</span><span>exactly its share</span><span>used more</span></div></li></ul>' : '';
}

// Returns an amount of the page's period in words: `core-hours, as 104 cores day and night`.
function periodUnit(cluster, hours) {
    const unit = cluster.units[0] || '', cores = hours / cluster.periodDays / 24;
    return unit !== 'core-hours' || !cluster.periodDays ? escapeHtml(unit)
        : `core-hours, as ${cores < 0.5 ? 'less than one core' : plural(cores, 'core')} day and night`;
}

function facts(cluster, row) {
    const fact = (name, value, words, over) => `<div><dt>${name}</dt><dd${over ? ' class="over"' : ''}>${value}<small>${words}</small></dd></div>`;
    return `<dl class="facts">${fact('Share', row.own ? percent(row.share) : 'none', row.own ? 'of the cluster' : 'of its own (fairshare=parent)')}`
        + fact('Recent usage', percent(row.used), `of the cluster${isFinite(row.ratio) ? `, ${times(row.ratio)} times the share` : ''}`, row.ratio > 1.05)
        + fact(capital(escapeHtml(cluster.period)), amount(row.spent), periodUnit(cluster, row.spent))
        + `</dl>${shareBar(row.own ? row.share : 0, row.used)}${SHARE_KEY}`;
}

function nextDays(cluster, row) {
    const forecast = cluster.forecasts.find(each => each[0] === row.at);
    if (!forecast)
        return row.place ? '<p>The page has no forecast for this place; see <code>fairmill forecast</code>.</p>' : '';
    if (forecast[1].length === 2 && forecast[2].length === 2 && forecast[1][1] === forecast[2][1])
        return `<p>The place stays ${whole(forecast[1][1])}, whether usage stops today or continues as last week.</p>`;
    return soft('Place if usage stops today, and if it continues; 1 is next.') + placeLines(cluster, row, forecast)
        + `<ul class="key">${keyLine('line', 'runs nothing, the others continue')}${keyLine('dash', 'everybody continues as last week')}</ul>`;
}

function waitingJobs(cluster, row) {
    const shown = row.jobs.slice(0, JOBS_SHOWN), more = row.jobs.length + row.more - shown.length;
    if (cluster.hidesJobs && !shown.length)
        return '';
    if (!shown.length)
        return soft(`No job of ${row.label} is waiting.`);
    const user = job => cluster.rows[job[1]].user ? link(cluster.rows[job[1]]) : escapeHtml(job[7]);
    const lines = shown.map(job => [escapeHtml(job[0]), ...(row.user ? [] : [user(job)]), escapeHtml(job[2]), job[3]
        ? `${whole(job[3])} of ${whole(job[4])}` : `<span class="why">cannot start</span>${job[6] && `: ${escapeHtml(job[6])}`}`, job[5] || '–']);
    return smallTable(`Waiting jobs of ${row.label}`, ['Job', ...(row.user ? [] : [capital(cluster.userWord)]),
        capital(cluster.partitionWord), '>Place', '>Waiting'], lines)
        + (more ? `<p class="note">${plural(more, 'other job is', 'other jobs are')} waiting.</p>` : '');
}

// Returns the columns of months in one unit, buttons for the units, and a table.
function months(cluster, row) {
    const found = cluster.months.find(each => each[0] === row.at), unit = cluster.unit;
    if (!found)
        return '';
    const used = found[1][unit], due = found[2][unit], hours = escapeHtml(cluster.units[unit]);
    const buttons = cluster.units.map((name, at) => `<button type="button" data-unit="${at}" aria-pressed="${at === unit}">`
        + `${capital(escapeHtml(name))}</button>`);
    const lines = used.map((value, at) => [cluster.monthNames[at] + (at === used.length - 1 ? ' (so far)' : ''), due[at] ? amount(due[at]) : '–',
        amount(value), !due[at] ? '–' : `<span${value > 1.05 * due[at] ? ' class="over"' : ''}>${times(value / due[at])}</span>`]);
    return (buttons.length > 1 ? `<div class="tools" role="group" aria-label="Unit">${buttons.join('')}</div>` : '')
        + monthColumns(cluster.monthNames, used, due, row.label) + '<details><summary>Table of the months</summary>'
        + smallTable(`Entitlement and usage of ${row.label} by month, in ${hours}`,
            ['Month', '>Entitlement', '>Used', '>Used ÷ entitlement'], lines.reverse()) + '</details>';
}

const monthTitle = cluster => `Entitlement and usage by month, ${escapeHtml(cluster.units[cluster.unit] || '')}`;
const monthCell = (cluster, row) => {
    const body = months(cluster, row);
    return body && `<div class="months"><h3>${monthTitle(cluster)}</h3>${body}</div>`;
};

function membersTable(cluster, row) {
    const list = row.below.filter(each => each.inside).sort((a, b) => b.spent - a.spent), first = list.slice(0, MEMBERS_SHOWN);
    const most = Math.max(...list.map(each => each.spent), 1), others = list.slice(MEMBERS_SHOWN);
    const sum = rows => rows.reduce((total, each) => total + each.spent, 0);
    const part = hours => row.spent ? percent(+(100 * hours / row.spent).toPrecision(3)) : '–';
    if (!list.length)
        return soft(cluster.hidesUsers ? `This site hides ${cluster.usersWord} from each other.` : 'This group has no members.');
    const lines = first.map(each => [link(each) + (each.user ? '' : ' <span class="soft">group</span>'),
        hiddenSvg('mb', `<rect class="fu" width="${share100(each.spent / most)}"/>`), amount(each.spent), part(each.spent)]);
    if (others.length)
        lines.push([plural(others.length, 'other'), '', amount(sum(others)), part(sum(others))]);
    const rest = row.spent - sum(list);
    if (cluster.hidesUsers && rest > 0.001 * row.spent)
        lines.push([`its own ${cluster.usersWord}`, '', amount(rest), part(rest)]);
    return smallTable(`Usage by member of ${row.label}`, ['Member', '-Bar', `>${capital(escapeHtml(cluster.units[0] || 'usage'))}`,
        `>of ${row.label}`], lines);
}

function budgetCell(cluster, row) {
    const budgets = cluster.budgets.filter(budget => budget[0] === row.at);
    const made = budgets.map(([, hours, limit, used, running, left, over, ends]) => {
        const most = Math.max(limit, used + running) || 1, x = value => share100(value / most);
        return `<p>${over ? `The budget of ${amount(limit)} ${escapeHtml(hours)} is used up.` : `${amount(left)} of ${amount(limit)} ${escapeHtml(hours)} `
            + `are left. At last week's rate the budget ${ends ? `ends on <b>${ends}</b>` : 'does not end'}.`}</p>`
            + hiddenSvg('sb', `<rect class="ft" width="${x(limit)}"/><rect class="fu" width="${x(Math.min(used, limit))}"/>`
                + (used > limit ? `<rect class="fo" x="${x(limit)}" width="${x(used - limit)}"/>` : '')
                + `<rect class="f2" x="${x(used)}" width="${x(running)}"/><line class="tick" x1="${x(limit)}" x2="${x(limit)}" y1="1" y2="17"/>`)
            + soft(`${amount(used)} used, ${amount(running)} held for running jobs.`);
    });
    return made.join('') || (row.user ? '' : `<p>No budget (GrpTRESMins) is set for ${row.label}.</p>`);
}

function answerCells(cluster, row) {
    const own = cell('Share and usage', facts(cluster, row)), waiting = cell('Waiting jobs', waitingJobs(cluster, row));
    const budget = cell('Budget', budgetCell(cluster, row));
    if (row.user)
        return (row.place ? cell('Reason for this place', ladder(cluster, row)) : '') + own
            + cell(`Next ${DAYS} days`, nextDays(cluster, row)) + waiting + budget + monthCell(cluster, row);
    return monthCell(cluster, row) + cell(`Usage by member, ${escapeHtml(cluster.period)}`, membersTable(cluster, row)) + own + budget
        + cell('Order among groups', ladder(cluster, row)) + waiting;
}

function answerHtml(cluster, row) {
    const path = parents(row.up).map(link).join(' › ');
    const twins = cluster.rows.filter(each => row.user && each.user && each !== row && each.name === row.name && each.inside);
    const twinLink = twin => `<a href="#${twin.address}">${escapeHtml(twin.up.name + (twin.part ? ` (${twin.part})` : ''))}</a>`;
    return `<div class="head"><div><p class="crumb">${path || 'Group right below the top'}</p>`
        + `<h2 tabindex="-1" id="${cluster.prefix}answer-title">${row.label} <span class="kind">${row.user
            ? `${cluster.userWord} in ${escapeHtml(row.up.name)}` : 'group'}</span></h2>`
        + (twins.length ? `<p class="chips">${escapeHtml(row.name)} also has a place in ${twins.map(twinLink).join(', ')}.</p>` : '')
        + '</div><button type="button" class="x">Close</button></div>'
        + `<p class="lead">${(row.user ? userLead : groupLead)(cluster, row)}</p><div class="cols">${answerCells(cluster, row)}</div>`;
}
