// SPDX-License-Identifier: MIT

// The tree of a cluster, made from the rows that data.c writes.

// Returns the path from the top to a row, without the root.
const pathTo = row => row.up ? [...pathTo(row.up), row] : [];

const ratioOf = number => number < 0 ? Infinity : number;

// Makes a row from its values (data_add_row() in data.c), and adds it to the rows.
function readRow(cluster, values, at) {
    const [name, kind, parent, share, used, ratio, spent, place, value, ...more] = values;
    const [part, level, pending = 0, users = place ? 1 : 0, first = place, last = place, ahead = 0] = more;
    const rows = cluster.rows, before = at > 1 ? rows[at - 1].up.at : 0, up = at ? rows[before + parent] : null;
    const user = (kind & 1) > 0, own = (kind & 2) > 0, title = part ? `${name} (${part})` : name;
    const names = [user ? up.name : name, ...(user ? [name] : []), ...(part ? [part] : [])];
    const row = {
        at, name, up, user, own, part, share, used, spent, place, title, inside: !(kind & 4), label: escapeHtml(title),
        ratio: own ? ratioOf(ratio) : NaN, levelRatio: own && cluster.ranks ? ratioOf(value) : NaN, factor: value,
        level: level === undefined ? up : rows[level], pending, users, first, last, ahead,
        jobs: [], below: [], address: cluster.start + names.map(encodeURIComponent).join('/'),
    };
    if (up)
        up.below.push(row);
    rows.push(row);
}

function readCluster(data, number, list) {
    const start = list.length > 1 ? `c/${encodeURIComponent(data.cluster)}/n/` : 'n/';
    const cluster = { ...data, number, start, prefix: number ? `c${number + 1}-` : '', rows: [] };
    data.rows.forEach((values, at) => readRow(cluster, values, at));
    data.jobs.forEach(job => pathTo(cluster.rows[job[1]]).forEach(row => row.jobs.push(job)));
    cluster.byAddress = new Map(cluster.rows.filter(row => row.up && row.inside).map(row => [row.address, row]));
    return cluster;
}

// Returns a function for the number of users at and below a row who have a place before `place`.
function countAhead(cluster, place) {
    const counts = cluster.rows.map(() => 0);
    for (const user of cluster.rows)
        for (let row = user.user && user.place && user.place < place ? user : null; row; row = row.up)
            counts[row.at]++;
    return row => counts[row.at];
}

// Returns the levels of the path to a row, from the top: the account of each level, its member on the path, the
// members in their order, and the number of users of other members who are ahead.
function steps(cluster, row) {
    const made = [], count = cluster.complete ? countAhead(cluster, row.first) : null;
    const order = each => each.levelRatio || 0; // a user with `parent` shares is like a user without usage
    for (let member = row; member.up; member = member.level) {
        const owner = member.level;
        const members = cluster.rows.filter(each => each.level === owner && (each.user || each.own))
            .sort((a, b) => order(a) === order(b) ? a.first - b.first : order(a) - order(b));
        const ahead = count ? count(owner) - count(member) : member.ahead;
        const position = 1 + members.filter(each => order(each) < order(member)).length;
        const tied = members.some(each => each !== member && order(each) === order(member));
        made.unshift({ owner, member, members, ahead, position, tied, ratio: member.levelRatio });
    }
    // C has counted for the first user of an account.  Its other users may be behind more users of tied accounts.
    const tie = !count && row.place && made.find(step => step.tied && !step.member.user);
    if (tie)
        tie.ahead += row.place - 1 - made.reduce((sum, step) => sum + step.ahead, 0);
    return made;
}
