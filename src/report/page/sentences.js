// SPDX-License-Identifier: MIT

// The sentences that begin an answer.  `fairmill explain` has the same ones (report/standing.c).

const DAYS = 14;

function reasonSentence(cluster, row) {
    const before = row.place - 1;
    if (!before)
        return `No ${cluster.userWord} is ahead.`;
    const step = steps(cluster, row).reduce((most, each) =>
        each.ahead > most.ahead || each.ahead === most.ahead && each.ratio > most.ratio ? each : most);
    const name = `<b>${step.member.label}</b>`, owner = step.owner.up ? step.owner.label : 'the cluster';
    const who = before === 1 ? `The ${cluster.userWord} ahead comes first because`
        : `${step.ahead === before ? 'All' : `${whole(step.ahead)} of the`} ${whole(before)} ${cluster.usersWord} `
            + 'ahead come first because';
    if (step.ratio === Infinity)
        return `${who} ${name} has no shares of ${owner}.`;
    if (step.ratio > 1)
        return `${who} ${name} has used ${times(step.ratio)} times ${whose(step.member)} share of ${owner}.`;
    return `${who} they or their groups have used even less of their shares than ${name}`
        + `${isNaN(step.ratio) ? '' : ` (${times(step.ratio)} times)`}.`;
}

const whose = row => row.user ? 'their' : 'its';
const usedWords = (row, ratio) => !row.own ? 'has no share of its own' : ratio === Infinity ? 'has no shares'
    : `has used ${times(ratio)} times ${whose(row)} share`;
const forecastOf = (cluster, row) => cluster.forecasts.find(forecast => forecast[0] === row.at);

function outlookSentence(cluster, row) {
    const forecast = forecastOf(cluster, row);
    if (!forecast || row.place === 1)
        return '';
    const places = forecast[1], best = Math.min(...places), now = whole(row.place);
    const worst = Math.max(...places), noHelp = ` Pausing does not help within ${DAYS} days: the place`;
    if (best >= row.place && worst > row.place)
        return `${noHelp} falls to ${whole(worst)} by ${cluster.days[places.indexOf(worst)]}.`;
    if (best >= row.place)
        return `${noHelp} stays ${now}, as the groups above decide it.`;
    const first = places.findIndex(place => place < row.place), last = places.indexOf(best);
    const better = first === last ? '' : `${whole(places[first])} on ${cluster.days[first]} and to `;
    return ` If ${escapeHtml(row.name)} runs nothing and the others continue, the place improves from ${now} to `
        + `${better}<b>${whole(best)}</b> ${better ? 'by' : 'on'} ${cluster.days[last]}.`;
}

function userLead(cluster, row) {
    if (!row.place)
        return `${row.label} has no place.`;
    const place = `${row.label} is at place <b>${whole(row.place)} of ${whole(cluster.users)}</b>`;
    const used = `${row.label} ${usedWords(row, row.ratio)}`;
    return place + (cluster.ranks ? `. ${reasonSentence(cluster, row)}`
        : `: ${used}; factor ${row.factor.toFixed(4)}.`) + outlookSentence(cluster, row);
}

function budgetSentence(cluster, row) {
    const budgets = cluster.budgets.filter(budget => budget[0] === row.at);
    const first = budgets.filter(budget => budget[6]).sort((a, b) => a[6] - b[6])[0];
    return budgets.some(budget => budget[5] <= 0) ? ' Its budget is used up.'
        : first ? ` Its budget ends on <b>${first[7]}</b> at last week's rate.` : '';
}

function usageSentence(cluster, row) {
    const used = `${percent(row.used)} of the cluster's recent usage`;
    if (!row.own)
        return `${row.label} has no share of its own: its ${cluster.usersWord} count as members of the level above.`;
    if (!cluster.anyUsage)
        return 'No usage counts yet. Places follow the shares alone.';
    if (row.ratio === Infinity)
        return `${row.label} has no shares, and ${used}.`;
    return `${row.label} has used <b>${times(row.ratio)} times</b> its share: ${used} for a share of `
        + `${percent(row.share)}.`;
}

function groupLead(cluster, row) {
    const first = whole(row.first), places = row.first === row.last ? `place ${first}`
        : `places ${first} to ${whole(row.last)}`;
    const users = row.users === 1 ? `${cluster.userWord} is` : `${whole(row.users)} ${cluster.usersWord} are`;
    return usageSentence(cluster, row) + budgetSentence(cluster, row)
        + (row.users ? ` Its ${users} at ${places} of ${whole(cluster.users)}.` : '');
}
