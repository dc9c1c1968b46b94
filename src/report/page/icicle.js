// SPDX-License-Identifier: MIT

// The tree as an icicle, laid out by d3-hierarchy. Each node is to the right of its parent.
// Blocks are buttons, so that they can be reached by keyboard and read aloud.

// In pixels: the minimum height of a block with a name, the minimum height of a block with a small
// name, and the gap between two blocks. Lower blocks are merged into one.
const LOWEST = 19;
const SMALL = 12;
const GAP = 2;

// The part of a node that is drawn. Children that would be too low become one block with a link to
// them.
function pruned(node, measure, height, levels) {
    const made = { node, size: node.size[measure], children: [] };
    if (!levels || !hasBelow(node) || !made.size || height < LOWEST)
        return made;
    const sum = node.children.reduce((all, child) => all + child.size[measure], node.rest.size[measure]);
    const children = node.children.filter(child => child.size[measure] > 0);
    children.sort((one, other) => other.size[measure] - one.size[measure]);
    // An account may have more usage than its children that still exist.
    const per = height / Math.max(sum, made.size);
    const shown = children.filter(child => child.size[measure] * per >= SMALL);
    const hidden = children.slice(shown.length);
    // Merging a single child would hide its name and save no space.
    if (hidden.length === 1 && !node.rest.count)
        shown.push(hidden.pop());
    made.children = shown.map(child => pruned(child, measure, child.size[measure] * per, levels - 1));
    const rest = restOf(node, hidden, measure);
    if (rest.count && rest.size)
        made.children.push(rest);
    return made;
}

function hasBelow(node) {
    return node.children.length + node.rest.count > 0;
}

// Children that are not drawn, and those that are not in the page, as one block.
function restOf(node, hidden, measure) {
    const sum = value => hidden.reduce((all, child) => all + value(child), 0);
    return {
        node: null, above: node, children: [], count: hidden.length + node.rest.count,
        size: sum(child => child.size[measure]) + node.rest.size[measure],
        share: sum(child => child.wholeShare || 0) + node.rest.share,
        usage: sum(child => child.usage) + node.rest.usage,
    };
}

function layOut(top, measure, height, levels) {
    const root = d3.hierarchy(pruned(top, measure, height, levels));
    root.each(each => { each.value = each.data.size; });
    d3.partition().size([height, 1])(root);
    return root;
}

function describe(node) {
    return `share of level ${percent(node.levelShare)}, share of level usage ${percent(node.levelUsed)}`;
}

// Draws the tree below `open`. A click on a block calls choose(node), which may open an account.
function drawIcicle(cluster, open, chosen, measure, choose) {
    const place = byId('icicle');
    const { user, account } = cluster.words;
    const narrow = place.clientWidth < 640;
    const levels = Math.min(narrow ? 2 : 3, depthBelow(open));
    const total = open.size[measure];
    if (!levels || !total) {
        place.classList.add('bare');
        place.style.height = 'auto';
        place.replaceChildren(empty(!levels ? (data.accountsOnly ? `There is no ${account} below this one.` : `There is no ${user} or ${account} below this ${account}.`) : measure === 'usage'
            ? `There is no usage below this ${account} yet.` : `There are no shares below this ${account}.`));
        return;
    }
    const height = heightOf(open, measure, levels);
    place.style.height = `${height}px`;
    const root = layOut(open, measure, height, levels);
    const width = 100 / root.height;
    place.replaceChildren(...root.descendants().slice(1).map(each => {
        const block = each.data.node ? blockOf(cluster, each.data.node, chosen, choose)
            : restBlock(cluster, each.data, open, choose);
        const high = each.x1 - each.x0;
        const gap = high < SMALL ? 1 : GAP;
        block.style.left = `${(each.depth - 1) * width}%`;
        block.style.width = `calc(${width}% - ${GAP}px)`;
        block.style.top = `${each.x0}px`;
        block.style.height = `${Math.max(high - gap, 1)}px`;
        // Blocks that are too low for a name cannot get keyboard focus. Their nodes are also in the
        // table.
        if (high < SMALL - 1) {
            block.classList.add('sliver');
            block.tabIndex = -1;
        }
        if (high < LOWEST)
            block.classList.add('small');
        if (high < (narrow ? 60 : 44)) {
            block.classList.add('low');
            block.style.lineHeight = `${high - GAP}px`;
        }
        return block;
    }));
}

function depthBelow(node) {
    let deepest = 0;
    let level = [node];
    while (deepest < 3 && level.some(hasBelow)) {
        deepest++;
        level = level.flatMap(child => child.children);
    }
    return deepest;
}

// The height of the picture. Within limits, it has room for the names of all nodes directly below
// `open`, and for the names of deeper nodes if that needs little more height. A site with a few
// users gets a low picture.
function heightOf(open, measure, levels) {
    let level = open.children;
    for (let i = 1; i < levels; i++)
        level = level.flatMap(child => child.children.length ? child.children : [child]);
    const least = nodes => nodes.map(child => child.size[measure]).filter(size => size > 0)
        .reduce((one, other) => Math.min(one, other), open.size[measure]);
    const wanted = Math.min(LOWEST * 1.1 * open.size[measure] / least(level), level.length * 60);
    const named = Math.min(SMALL * 1.02 * open.size[measure] / least(open.children), 1300);
    return Math.round(Math.max(Math.min(Math.max(wanted, level.length * 30, 180), 680),
        open.children.length * SMALL < 1300 ? named : 0));
}

function blockOf(cluster, node, chosen, choose) {
    const kind = node.isUser ? 'user' : 'account';
    return button({
        class: `block ${shade(cluster, node)} ${kind}`,
        'aria-pressed': node === chosen ? 'true' : 'false',
        'aria-label': `${kind} ${nameOf(node)}, ${describe(node)}`,
        title: `${nameOf(node)}\n${describe(node)}`,
        'data-row': node.number,
        click: () => choose(node),
    }, element('b', {}, nameOf(node)),
    element('small', {}, element('span', {}, `share ${percent(node.levelShare)}`), element('span', {}, `usage ${percent(node.levelUsed)}`)));
}

function restBlock(cluster, rest, open, choose) {
    const here = rest.above === open;
    const ratio = cluster.allUsage > 0 ? ratioOf(rest.share, rest.usage / cluster.allUsage) : null;
    const steps = ratio === null ? null : Math.log2(ratio);
    const unseen = rest.above.rest.count;
    const where = here ? 'in the table below' : `below ${nameOf(rest.above)}`;
    return button({
        class: `block rest ${shadeOf(steps)}`, title: `${where}${unseen ? `; ${plain.format(unseen)} of them are not in this page` : ''}`,
        click: () => here ? byId('people').focus() : choose(rest.above),
    }, element('b', {}, `${plain.format(rest.count)} more`), here && unseen < rest.count ? element('small', {}, where) : null);
}

function drawPath(cluster, open, choose) {
    const steps = pathOf(open).flatMap((node, i) => [
        i ? element('span', { class: 'step', 'aria-hidden': 'true' }, '›') : null,
        button({ 'aria-current': node === open ? 'true' : null, click: () => choose(node) }, nameOf(node)),
    ]);
    const above = cluster.above.flatMap(name => [element('span', {}, name), element('span', { class: 'step', 'aria-hidden': 'true' }, '›')]);
    byId('path').replaceChildren(...above, ...steps.filter(step => step));
}

function drawLegend(cluster) {
    const shades = ['over-3', 'over-2', 'over-1', 'even', 'under-1', 'under-2', 'under-3'];
    byId('legend').replaceChildren(
        element('span', {}, 'usage above share'),
        element('span', { class: 'scale', 'aria-hidden': 'true' }, ...shades.map(name => element('i', { class: name }))),
        element('span', {}, 'below'),
        element('span', {}, byLevelFs(cluster) ? '(color: level FS)' : '(color: factor)'));
}
