// SPDX-License-Identifier: MIT

// The tree of a cluster, made from the columns of data.c.

// Returns the part of an address that stands for a name, as page_add_address() writes it.
const addressPart = name => encodeURIComponent(name)
    .replace(/[!~*'()]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

// Returns an address in that form, whoever wrote it: a browser may decode some bytes.
function normalAddress(hash) {
    return hash.split('/').map(part => {
        try {
            return addressPart(decodeURIComponent(part.replace(/^#/, '')));
        } catch (error) {
            return part;
        }
    }).join('/');
}

const parents = row => row.up ? [...parents(row.up), row] : [];

function readCluster(data, number, several) {
    const rows = data.names.map((name, at) => ({ at, name, below: [], users: 0, first: 0, last: 0, jobs: [], more: 0 }));
    const cluster = { ...data, number, rows, root: rows[0], prefix: number ? `c${number + 1}-` : '', byAddress: new Map() };
    const start = several ? `c/${addressPart(data.cluster)}/n/` : 'n/';
    const ratio = value => value < 0 ? Infinity : value;
    const partitions = new Map(data.partitions), levels = new Map(data.levels), counts = new Map((data.counts || [])
        .map(count => [count[0], count.slice(1)]));
    let parent = 0;
    rows.forEach((row, at) => {
        const kind = data.kinds.charAt(at), letter = kind.toLowerCase();
        parent += data.parents[at];
        row.up = at ? rows[parent] : null;
        row.user = letter > 'm';
        row.own = letter === 'a' || letter === 'u';
        row.inside = kind === letter;
        row.part = partitions.get(at) || '';
        row.label = escapeHtml(row.part ? `${row.name} (${row.part})` : row.name);
        row.share = data.share[at];
        row.used = data.used[at];
        row.spent = data.spent[at];
        row.place = data.place[at];
        row.ratio = row.own ? ratio(data.ratio[at]) : NaN;
        row.levelRatio = data.ranks && row.own ? ratio(data.level[at]) : NaN;
        row.level = at ? rows[levels.has(at) ? levels.get(at) : parent] : null;
        row.address = start + [row.user ? row.up.name : row.name, ...(row.user ? [row.name] : []),
            ...(row.part ? [row.part] : [])].map(addressPart).join('/');
        cluster.byAddress.set(row.address, row);
        if (at)
            row.up.below.push(row);
    });
    for (const row of rows.slice().reverse()) {
        if (counts.has(row.at))
            [row.users, row.first, row.last] = counts.get(row.at);
        else if (row.place)
            [row.users, row.first, row.last] = [1, row.place, row.place];
        if (row.up && row.users) {
            row.up.users += row.users;
            row.up.first = Math.min(row.first, row.up.first || row.first);
            row.up.last = Math.max(row.last, row.up.last);
        }
    }
    data.jobs.forEach(job => parents(rows[job[1]]).forEach(row => row.jobs.push(job)));
    data.moreJobs.forEach(([at, more]) => parents(rows[at]).forEach(row => { row.more += more; }));
    return cluster;
}

// Returns how many users with a place before `place` are at and below each row.
function countAhead(cluster, place) {
    const counts = new Map();
    for (const user of cluster.rows)
        for (let row = user.place && user.place < place ? user : null; row; row = row.up)
            counts.set(row, (counts.get(row) || 0) + 1);
    return row => counts.get(row) || 0;
}

// Fair Tree treats a user with `parent` shares like a user without usage.
const sortRatio = row => row.levelRatio || 0;

// Returns the levels of the path to a row, from the top: the account of each level, its member on the path, the
// members in their order, and the number of users of other members who are ahead.
function steps(cluster, row) {
    const made = [], count = cluster.ahead ? null : countAhead(cluster, row.first);
    for (let at = row; at.up; at = at.level) {
        const owner = at.level;
        const members = cluster.rows.filter(each => each.level === owner && (each.user || each.own))
            .sort((a, b) => sortRatio(a) - sortRatio(b) || a.first - b.first);
        made.unshift({
            owner, members, member: at, ratio: at.levelRatio,
            ahead: count ? count(owner) - count(at) : cluster.ahead[at.at],
            position: 1 + members.filter(each => sortRatio(each) < sortRatio(at)).length,
        });
    }
    return made;
}
