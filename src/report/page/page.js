// SPDX-License-Identifier: MIT

// The state of the page: the cluster, the open account and the selected association.

const shown = { cluster: null, open: null, chosen: null, measure: 'share', people: null, queue: null, trials: null, jobs: [] };

function isDark() {
    return document.documentElement.dataset.theme === 'dark';
}

function drawTree() {
    drawPath(shown.cluster, shown.open, chooseByPath);
    drawIcicle(shown.cluster, shown.open, shown.chosen, shown.measure, choose);
}

function drawCharts() {
    drawDetails(shown.cluster, shown.chosen);
    drawQueueChart(shown.cluster, shown.jobs);
}

// Selects a node. An account is opened; a user is shown among its siblings.
function choose(node) {
    const within = node.isUser || !node.children.length ? node.parent || node : node;
    const visible = node.isUser && byId('icicle').querySelector(`[data-row="${node.number}"]`);
    const focused = document.activeElement && byId('icicle').contains(document.activeElement);
    if (!visible)
        shown.open = within;
    shown.chosen = node;
    drawTree();
    drawDetails(shown.cluster, node);
    shown.people.show();
    // The block was drawn again, so move the focus from the old block to the new one.
    if (focused) {
        const again = byId('icicle').querySelector(`[data-row="${node.number}"]`) || byId('path').querySelector('[aria-current]');
        again.focus({ preventScroll: true });
    } else {
        byId('chosen-title').closest('section').scrollIntoView({ block: 'nearest' });
    }
}

function chooseByPath(node) {
    choose(node);
    byId('path').querySelector('[aria-current]').focus({ preventScroll: true });
}

function viewName(cluster) {
    return isOfAll(cluster) ? cluster.name : `${cluster.account} on ${cluster.name}`;
}

// Saves a file such as physics-users.csv. Characters that a file system might reject become
// dashes.
function saveTable(table, what) {
    save(`${viewName(shown.cluster).replace(/[^\w.-]+/g, '-')}-${what}.csv`, shown[table].csv());
}

function summaryOf(cluster) {
    return [
        `as of ${calendarOf(cluster).minute(cluster.asOf)}`,
        cluster.problems,
        cluster.algorithmName,
        cluster.halfLife ? `half-life ${span(cluster.halfLife)}` : 'no decay',
        data.accountsOnly ? null : count(cluster.users, cluster.words.user, cluster.words.users),
        count(cluster.waiting, 'pending job', 'pending jobs'),
    ].filter(part => part).join(' · ');
}

function showCluster(cluster) {
    const [root] = treeOf(cluster);
    Object.assign(shown, { cluster, open: root, chosen: root, jobs: jobsOf(cluster) });
    byId('title').textContent = `Fair shares of ${viewName(cluster)}`;
    byId('summary').textContent = summaryOf(cluster);
    const { user, users, account, accounts, partition } = cluster.words;
    byId('people-title').textContent = capital(data.accountsOnly ? accounts : `${users} and ${accounts}`);
    byId('people').placeholder = data.accountsOnly ? account : `${user} or ${account}`;
    byId('jobs').placeholder = `job, ${user}, ${partition}`;
    byId('path').setAttribute('aria-label', `Path to the open ${account}`);
    document.title = `${viewName(cluster)} · fairmill`;
    byId('people').value = byId('jobs').value = '';
    byId('jobs').closest('.tools').hidden = !shown.jobs.length;
    drawClasses(cluster);
    drawWaits(cluster);
    drawQueues(cluster);
    drawLegend(cluster);
    drawTree();
    shown.people = peopleTable(cluster, () => shown.chosen, choose);
    shown.queue = queueTable(cluster, shown.jobs);
    drawBacktest(cluster, 0);
    drawCharts();
}

function setTheme(dark) {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    byId('theme').setAttribute('aria-pressed', String(dark));
    if (shown.cluster)
        drawCharts();
}

// Charts are canvases, which keep their colors, so they are drawn again for paper.
function printWhole() {
    let wasDark = false;
    const each = all => [shown.people, shown.queue, shown.trials].forEach(table => table && table.showAll(all));
    window.addEventListener('beforeprint', () => {
        wasDark = isDark();
        setTheme(false);
        each(true);
    });
    window.addEventListener('afterprint', () => {
        setTheme(wasDark);
        each(false);
    });
}

function start() {
    // Replace the tables for readers without scripts.
    byId('plain').replaceWith(byId('app').content);
    byId('home-line').hidden = !data.home;
    byId('home').setAttribute('href', data.home || '#');
    byId('version').textContent = ` ${data.version}`;
    const asked = matchMedia('(prefers-color-scheme: dark)');
    setTheme(asked.matches);
    asked.addEventListener('change', () => setTheme(asked.matches));
    byId('theme').addEventListener('click', () => setTheme(!isDark()));

    const clusters = byId('cluster');
    clusters.append(...data.clusters.map((cluster, i) => element('option', { value: i }, viewName(cluster))));
    byId('cluster-label').hidden = data.clusters.length < 2;
    clusters.addEventListener('change', () => showCluster(data.clusters[clusters.value]));

    for (const input of document.querySelectorAll('[name="measure"]'))
        input.addEventListener('change', () => {
            shown.measure = input.value;
            drawTree();
        });
    const search = (id, table) => byId(id).addEventListener('input', later(() => shown[table].search(byId(id).value), 80));
    search('people', 'people');
    search('jobs', 'queue');
    byId('people-csv').addEventListener('click', () => saveTable('people', 'shares'));
    byId('jobs-csv').addEventListener('click', () => saveTable('queue', 'jobs'));
    byId('backtest-csv').addEventListener('click', () => saveTable('trials', 'other-settings'));
    byId('variant').addEventListener('change', () => drawBacktest(shown.cluster, Number(byId('variant').value)));
    let width = window.innerWidth;
    window.addEventListener('resize', later(() => {
        // Ignore changes of the height: the bars of a phone's browser cause them.
        if (width !== window.innerWidth)
            drawTree();
        width = window.innerWidth;
    }, 150));
    showCluster(data.clusters[0]);
    printWhole();
}

start();
