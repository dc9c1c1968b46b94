// SPDX-License-Identifier: MIT

// What the page shows, from the JSON that report/page.c writes.

const data = JSON.parse(document.getElementById('data').textContent);

// No value is below 0, so -1 is infinity.
function finite(number) {
    return number === -1 ? Infinity : number;
}

// A cluster's rows as nodes of a tree; rows come parents first.
function treeOf(cluster) {
    if (cluster.nodes)
        return cluster.nodes;
    const names = cluster.names;
    cluster.nodes = cluster.rows.map((row, number) => {
        const [parent, account, user, partition, shares, share, usage, used, factor, levelFs,
            order] = row;
        return {
            number, account: names[account], user: names[user], partition: names[partition],
            isUser: user !== 0, shares: shares < 0 ? null : shares, share, usage: usage || 0, used,
            factor, levelFs: finite(levelFs), parent: parent === number ? null : parent,
            order, children: [], size: { share: 1, usage: usage || 0 }, place: null,
        };
    });
    for (const node of cluster.nodes) {
        node.parent = node.parent === null ? null : cluster.nodes[node.parent];
        if (node.parent)
            node.parent.children.push(node);
    }
    shareOut(cluster.nodes);
    cluster.users = givePlaces(cluster.nodes);
    return cluster.nodes;
}

// How high a node is drawn by share: its part of its parent's.  Who has the parent's shares is
// drawn as if there were one share, or they would not be seen.
function shareOut(nodes) {
    for (const node of nodes) {
        const all = node.children.reduce((sum, child) => sum + (child.shares ?? 1), 0);
        for (const child of node.children)
            child.size.share = all > 0 ? node.size.share * (child.shares ?? 1) / all : 0;
    }
}

// The first place is the best; who is equal shares one.
function givePlaces(nodes) {
    const users = nodes.filter(node => node.isUser && node.factor !== null);
    users.sort((one, other) => one.order - other.order);
    users.forEach((node, i) => {
        const before = users[i - 1];
        node.place = before && before.order === node.order ? before.place : i + 1;
    });
    return users.length;
}

function nameOf(node) {
    const name = node.isUser ? node.user : node.account;
    return node.partition ? `${name} @ ${node.partition}` : name;
}

function pathOf(node) {
    const path = [];
    for (let at = node; at; at = at.parent)
        path.unshift(at);
    return path;
}

// What is drawn in colour: level_fs where the algorithm is Fair Tree, else the factor.
function byLevelFs(cluster) {
    return cluster.algorithm === 'fair_tree';
}
