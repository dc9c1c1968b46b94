// SPDX-License-Identifier: MIT

// The sentences that begin an answer.  `fairmill explain` has the same ones (report/standing.c).

// Returns the step with most users ahead; of several, the one with the largest ratio.
const decisiveStep = list => list.reduce((most, step) =>
    step.ahead > most.ahead || step.ahead === most.ahead && step.ratio > most.ratio ? step : most);

function reasonSentence(cluster, row) {
    const before = row.place - 1;
    if (!before)
        return `No ${cluster.userWord} is ahead.`;
    const step = decisiveStep(steps(cluster, row)), member = step.member;
    const owner = step.owner.up ? step.owner.label : 'the cluster', whose = member.user ? 'their' : 'its';
    const who = before === 1 ? `The ${cluster.userWord} ahead comes`
        : step.ahead === before ? `All ${whole(before)} ${cluster.usersWord} ahead come`
            : `${whole(step.ahead)} of the ${whole(before)} ${cluster.usersWord} ahead come`;
    if (step.ratio === Infinity)
        return `${who} first because <b>${member.label}</b> has no shares of ${owner}.`;
    return step.ratio > 1
        ? `${who} first because <b>${member.label}</b> has used ${times(step.ratio)} times ${whose} share of ${owner}.`
        : `${who} first because they or their groups have used even less of their shares than `
            + `<b>${member.label}</b> (${times(step.ratio)} times).`;
}

const DAYS = 14;

// Returns the place on each day, from the days on which it changes.
function placesByDay(changes) {
    const places = [];
    for (let day = 0, at = 0; day <= DAYS; day++) {
        while (changes[at + 2] <= day)
            at += 2;
        places.push(changes[at + 1]);
    }
    return places;
}

function outlookSentence(cluster, row) {
    const forecast = cluster.forecasts.find(each => each[0] === row.at);
    if (!forecast || row.place === 1)
        return '';
    const places = placesByDay(forecast[1]), best = Math.min(...places);
    if (best >= row.place)
        return ` Pausing does not help within ${DAYS} days: the place stays ${whole(row.place)}, as the groups above decide it.`;
    const first = places.findIndex(place => place < row.place), last = places.indexOf(best);
    const better = first === last ? '' : `${whole(places[first])} on ${cluster.days[first]} and to `;
    return ` If ${escapeHtml(row.name)} runs nothing and the others continue, the place improves from `
        + `${whole(row.place)} to ${better}<b>${whole(best)}</b> ${better ? 'by' : 'on'} ${cluster.days[last]}.`;
}

function userLead(cluster, row) {
    if (!row.place)
        return `${row.label} has no place.`;
    const place = `${row.label} is at place <b>${whole(row.place)} of ${whole(cluster.users)}</b>`;
    if (cluster.ranks)
        return `${place}. ${reasonSentence(cluster, row)}${outlookSentence(cluster, row)}`;
    return `${place}: ${row.label} has used ${times(row.ratio)} times their share; factor ${cluster.factor[row.at].toFixed(4)}.`
        + outlookSentence(cluster, row);
}

function budgetSentence(cluster, row) {
    const budgets = cluster.budgets.filter(budget => budget[0] === row.at);
    if (budgets.some(budget => budget[6]))
        return ' Its budget is used up.';
    const first = budgets.filter(budget => budget[7])[0];
    return first ? ` Its budget ends on <b>${first[7]}</b> at last week's rate.` : '';
}

function groupLead(cluster, row) {
    const used = `${percent(row.used)} of the cluster's recent usage`;
    let lead = `${row.label} has used <b>${times(row.ratio)} times</b> its share: ${used} for a share of ${percent(row.share)}.`;
    if (!row.own)
        lead = `${row.label} has no share of its own: its ${cluster.usersWord} count as members of the level above.`;
    else if (row.ratio === Infinity)
        lead = `${row.label} has no shares, and ${used}.`;
    else if (!cluster.anyUsage)
        lead = 'No usage counts yet. Places follow the shares alone.';
    lead += budgetSentence(cluster, row);
    if (row.users === 1)
        lead += ` Its ${cluster.userWord} is at place ${whole(row.first)} of ${whole(cluster.users)}.`;
    else if (row.users)
        lead += ` Its ${whole(row.users)} ${cluster.usersWord} are at places ${whole(row.first)} to ${whole(row.last)}`
            + ` of ${whole(cluster.users)}.`;
    return lead;
}
