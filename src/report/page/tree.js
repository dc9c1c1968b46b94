// SPDX-License-Identifier: MIT

// The tree of a cluster, made from the columns of data.c.

// Returns a name as page_add_address() writes it.
const addressPart = name => encodeURIComponent(name)
    .replace(/[!~*'()]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

// Returns the path from the top to a row, without the root.
const pathTo = row => row.up ? [...pathTo(row.up), row] : [];

function readRow(cluster, at, up) {
    const kind = cluster.kinds[0].charAt(at), letter = kind.toLowerCase();
    const user = letter > 'm', own = letter === 'a' || letter === 'u';
    const ratio = values => !own || !values ? NaN : values[at] < 0 ? Infinity : values[at];
    const [name, part] = [].concat(cluster.names[at]);
    const names = [user ? up.name : name, ...(user ? [name] : []), ...(part ? [part] : [])];
    const place = cluster.place[at], users = place ? 1 : 0;
    return {
        at, name, up, user, own, part, place, users, first: place, last: place, below: [], jobs: [], pending: 0,
        inside: kind === letter, share: cluster.share[at], used: cluster.used[at], spent: cluster.spent[at],
        ratio: ratio(cluster.ratio), levelRatio: ratio(cluster.level),
        title: part ? `${name} (${part})` : name, label: escapeHtml(part ? `${name} (${part})` : name),
        address: cluster.start + names.map(addressPart).join('/'),
    };
}

// Counts the users of accounts, unless C has done it because some users are not in the page.
function countUsers(cluster) {
    for (const row of cluster.rows.slice(1).reverse()) {
        const up = row.up;
        up.users += row.users;
        up.first = Math.min(up.first || row.first, row.first || up.first);
        up.last = Math.max(up.last, row.last);
    }
    for (const [at, users, first, last] of cluster.counts || [])
        Object.assign(cluster.rows[at], { users, first, last });
}

function readCluster(data, number, list) {
    const start = list.length > 1 ? `c/${addressPart(data.cluster)}/n/` : 'n/';
    const cluster = { ...data, number, start, prefix: number ? `c${number + 1}-` : '', rows: [] };
    const levels = new Map(data.levels), rows = cluster.rows;
    let parent = 0;
    data.names.forEach((_, at) => {
        parent += data.parents[at];
        const row = readRow(cluster, at, at ? rows[parent] : null);
        row.level = at ? rows[levels.has(at) ? levels.get(at) : parent] : null;
        if (at)
            row.up.below.push(row);
        rows.push(row);
    });
    countUsers(cluster);
    data.jobs.forEach(job => pathTo(rows[job[1]]).forEach(row => row.jobs.push(job)));
    data.pending.forEach(([at, pending]) => { rows[at].pending = pending; });
    cluster.byAddress = new Map(rows.filter(row => row.up && row.inside).map(row => [row.address, row]));
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
    const made = [], count = cluster.ahead ? null : countAhead(cluster, row.first);
    const order = each => each.levelRatio || 0; // a user with `parent` shares is like a user without usage
    for (let member = row; member.up; member = member.level) {
        const owner = member.level;
        const members = cluster.rows.filter(each => each.level === owner && (each.user || each.own))
            .sort((a, b) => order(a) === order(b) ? a.first - b.first : order(a) - order(b));
        const ahead = count ? count(owner) - count(member) : cluster.ahead[member.at];
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
