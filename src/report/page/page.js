// SPDX-License-Identifier: MIT

// The state of the page: its address selects the cluster and the answer.

const root = document.documentElement;
const loaded = JSON.parse(byId('data').textContent);
const clusters = loaded.map((data, number) => readCluster(data, number, loaded.length > 1));
const boxes = [...document.querySelectorAll('.cluster')];
let selected = clusters[0], answered = null;

const box = () => byId(`${selected.prefix}answer`);

function showStale() {
    const age = Date.now() / 1000 - selected.asOf, stale = byId('stale');
    const [unit, seconds] = age > 172800 ? ['day', 86400] : age > 7200 ? ['hour', 3600] : ['minute', 60];
    stale.hidden = !selected.staleAfter || age <= selected.staleAfter;
    stale.querySelector('b span').textContent = plural(Math.round(age / seconds), unit);
}

function selectCluster(cluster) {
    selected = cluster;
    boxes.forEach((each, at) => { each.hidden = at !== cluster.number; });
    const select = byId('cluster');
    if (select)
        select.selectedIndex = cluster.number;
    showStale();
}

function closeAnswer() {
    clusters.forEach(cluster => {
        const each = byId(`${cluster.prefix}answer`);
        each.hidden = true;
        each.replaceChildren();
    });
    document.querySelectorAll('tr.on').forEach(row => row.classList.remove('on'));
    root.classList.remove('open');
    document.title = `Fair shares of ${selected.cluster}`;
    answered = null;
}

function openAnswer(row, focus) {
    answered = row;
    box().innerHTML = answerHtml(selected, row);
    box().hidden = false;
    root.classList.add('open');
    document.title = `${row.part ? `${row.name} (${row.part})` : row.name}: fair shares of ${selected.cluster}`;
    const line = byId(row.address);
    if (line)
        line.classList.add('on');
    if (focus) {
        box().scrollIntoView();
        byId(`${selected.prefix}answer-title`).focus({ preventScroll: true });
    }
}

// Shows what the address says: an answer, a cluster, or a section.
function route(focus) {
    const address = normalAddress(location.hash.slice(1)), target = location.hash && byId(location.hash.slice(1));
    const found = clusters.find(cluster => cluster.byAddress.has(address));
    const named = clusters.find(cluster => address === `c/${addressPart(cluster.cluster)}`);
    const part = target && boxes.findIndex(each => each.contains(target));
    selectCluster(found || named || (part >= 0 && clusters[part]) || selected);
    closeAnswer();
    const row = found ? found.byAddress.get(address) : location.hash ? null : selected.rows[selected.opened];
    if (row && row.up && row.inside)
        openAnswer(row, focus);
    else if (target && focus)
        target.scrollIntoView();
}

function setTheme(dark) {
    const button = byId('theme');
    button.textContent = dark ? 'Light' : 'Dark';
    button.setAttribute('aria-label', `${dark ? 'Light' : 'Dark'} colors`);
}

function startTheme() {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
    byId('theme').addEventListener('click', () => {
        root.dataset.theme = isDark() ? 'light' : 'dark';
        setTheme(isDark());
    });
    system.addEventListener('change', () => setTheme(isDark()));
    setTheme(isDark());
}

function answerClick(event) {
    const unit = event.target.closest('[data-unit]');
    if (unit) {
        const months = unit.closest('.months'), open = months.querySelector('details').open;
        selected.unit = +unit.dataset.unit;
        months.outerHTML = monthCell(selected, answered);
        box().querySelector('.months details').open = open;
        box().querySelector(`[data-unit="${selected.unit}"]`).focus();
    } else if (event.target.closest('.x')) {
        history.pushState(null, '', `#${selected.prefix}overview`);
        route(false);
        byId('q').focus();
    }
}

root.classList.add('scripted');
document.querySelectorAll('table[data-table]').forEach(startTable);
boxes.forEach((each, at) => {
    each.querySelectorAll('[data-csv]').forEach(button => button.addEventListener('click', () =>
        saveCsv(byId(button.dataset.csv), `${clusters[at].cluster}-${button.dataset.csv.replace(/^c\d+-/, '')}`)));
    byId(`${clusters[at].prefix}answer`).addEventListener('click', answerClick);
});
startSearch(byId('q'), byId('hits'), () => selected);
startTheme();
if (byId('cluster'))
    byId('cluster').addEventListener('change', event => {
        location.hash = `c/${addressPart(clusters[event.target.selectedIndex].cluster)}`;
    });
addEventListener('hashchange', () => route(true));
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(each => { each.open = true; }));
setInterval(showStale, 60000);
route(false);
if (answered)
    addEventListener('load', () => setTimeout(() => scrollTo(0, 0), 0));
