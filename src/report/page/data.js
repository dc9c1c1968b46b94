// SPDX-License-Identifier: MIT

// The data of the page, from the JSON that report/page/page.c writes.

const data = JSON.parse(document.getElementById('data').textContent);

// No value is negative, so -1 means infinity.
function finite(number) {
    return number === -1 ? Infinity : number;
}

// Each name is written once. A number is the index of a name in the list of distinct names.
function namesOf(list) {
    const seen = [];
    return list.map(name => typeof name === 'number' ? seen[name] : (seen.push(name), name));
}

// A cluster's rows as nodes of a tree. The data has a list for each value, with parents first.
function treeOf(cluster) {
    if (cluster.nodes)
        return cluster.nodes;
    const names = namesOf(cluster.names);
    const nodes = cluster.nodes = [];
    const value = (list, number) => list ? list[number] : null;
    let above = 0;
    for (const [number, name] of names.entries()) {
        above += cluster.parents[number];
        const parent = number ? nodes[above] : null;
        const isUser = cluster.kinds[number] === 'u';
        const shares = cluster.shares[number];
        const node = {
            number, parent, isUser, partition: cluster.partitions[number] || '',
            account: isUser ? cluster.accounts[number] ?? parent.account : name, user: isUser ? name : '',
            shares: shares < 0 ? null : shares,
            levelShare: value(cluster.levelShare, number), levelUsed: value(cluster.levelUsed, number),
            wholeShare: cluster.wholeShare[number] ?? parent.wholeShare * cluster.levelShare[number],
            share: value(cluster.share, number), used: value(cluster.used, number),
            usage: cluster.usage[number] || 0, spent: cluster.spent[number] || 0,
            factor: value(cluster.factor, number), levelFs: finite(value(cluster.levelFs, number)),
            place: value(cluster.place, number) || null,
            children: [], rest: restAt(cluster, number), size: null,
        };
        node.wholeUsed = cluster.allUsage > 0 ? node.usage / cluster.allUsage : null;
        node.size = { share: 1, usage: node.usage };
        if (parent)
            parent.children.push(node);
        nodes.push(node);
    }
    shareOut(nodes);
    return nodes;
}

// Sums over the children of a row that are not in the page.
function restAt(cluster, number) {
    const [count, shares, share, usage] = cluster.rests[number] || [0, 0, 0, 0];
    return { count, shares, share, usage };
}

// Computes the height of each node by share: a part of its parent's height. A node with `parent`
// shares is drawn as if it had one share, because it would be invisible otherwise.
function shareOut(nodes) {
    for (const node of nodes) {
        const all = node.children.reduce((sum, child) => sum + (child.shares ?? 1), node.rest.shares);
        for (const child of node.children)
            child.size.share = all > 0 ? node.size.share * (child.shares ?? 1) / all : 0;
        node.rest.size = {
            share: all > 0 ? node.size.share * node.rest.shares / all : 0, usage: node.rest.usage,
        };
    }
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

// Colors show LevelFS if the algorithm is Fair Tree, otherwise the factor.
function byLevelFs(cluster) {
    return cluster.algorithm === 'fair_tree';
}

// True if the page shows the whole cluster.
function isOfAll(cluster) {
    return cluster.account === undefined;
}

// The address of an account's page, if the index has one.
function pageOf(cluster, node) {
    if (!cluster.pages) {
        cluster.pages = new Map();
        for (const list of document.querySelectorAll('#pages ul'))
            if (list.dataset.cluster === cluster.name)
                for (const link of list.querySelectorAll('a'))
                    cluster.pages.set(link.textContent, link.getAttribute('href'));
    }
    return node.isUser ? undefined : cluster.pages.get(node.account);
}
