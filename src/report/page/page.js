// SPDX-License-Identifier: MIT

// The state of the page: its address selects the cluster and the answer.

const root = document.documentElement, boxes = [...document.querySelectorAll('.cluster')];
const clusters = JSON.parse(byId('data').textContent).map(readCluster);
let selected = clusters[0], answered = null;

const answerBox = cluster => byId(`${cluster.prefix}answer`);

function showStale() {
    const now = selected.stoppedAt || Date.now() / 1000, age = now - selected.asOf, stale = byId('stale');
    const [unit, seconds] = age > 172800 ? ['day', 86400] : age > 7200 ? ['hour', 3600] : ['minute', 60];
    stale.hidden = !selected.staleAfter || age <= selected.staleAfter;
    stale.querySelector('span').textContent = `${plural(age / seconds, unit)} old`;
}

function selectCluster(cluster) {
    selected = cluster;
    boxes.forEach((box, at) => { box.hidden = at !== cluster.number; });
    if (byId('cluster'))
        byId('cluster').selectedIndex = cluster.number;
    showStale();
}

function showAnswer(row) {
    answered = row;
    clusters.forEach(cluster => { answerBox(cluster).hidden = true; });
    document.querySelectorAll('tr.on').forEach(line => line.classList.remove('on'));
    root.classList.toggle('open', Boolean(row));
    document.title = row ? `${row.title}: fair shares of ${selected.cluster}` : `Fair shares of ${selected.cluster}`;
    answerBox(selected).innerHTML = row ? answerHtml(selected, row) : '';
    answerBox(selected).hidden = !row;
    if (row && byId(row.address))
        byId(row.address).classList.add('on');
}

// Shows what the address names: an answer, a cluster or a section.
// `moved` is false when the page has just been loaded.
function route(moved) {
    const hash = location.hash.slice(1), target = hash && byId(hash);
    const cluster = clusters.find(each => each.byAddress.has(hash) || hash === `c/${encodeURIComponent(each.cluster)}`
        || target && boxes[each.number].contains(target)) || selected;
    selectCluster(cluster);
    showAnswer(cluster.byAddress.get(hash) || (!hash && cluster.opened && cluster.rows[cluster.opened]) || null);
    if (moved && answered) {
        answerBox(selected).scrollIntoView();
        byId(`${selected.prefix}answer-title`).focus({ preventScroll: true });
    } else if (moved && target) {
        target.scrollIntoView();
    }
}

function clickAnswer(event) {
    const unit = event.target.closest('[data-unit]'), open = answerBox(selected).querySelector('.months details[open]');
    if (unit) {
        selected.unit = +unit.dataset.unit;
        unit.closest('.months').outerHTML = months(selected, answered);
        answerBox(selected).querySelectorAll('.months details').forEach(each => { each.open = Boolean(open); });
        answerBox(selected).querySelector(`[data-unit="${selected.unit}"]`).focus();
    } else if (event.target.closest('.x')) {
        history.pushState(null, '', `#${selected.prefix}overview`);
        route(false);
        byId('q').focus();
    }
}

function startTheme(button) {
    let dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const show = () => { button.textContent = dark ? 'Light' : 'Dark'; };
    button.addEventListener('click', () => {
        dark = !dark;
        root.dataset.theme = dark ? 'dark' : 'light';
        show();
    });
    show();
}

root.classList.add('scripted');
document.querySelectorAll('table[data-table]').forEach(startTable);
clusters.forEach((cluster, at) => {
    answerBox(cluster).addEventListener('click', clickAnswer);
    boxes[at].querySelectorAll('[data-csv]').forEach(button => button.addEventListener('click', () =>
        saveCsv(byId(button.dataset.csv), `${cluster.cluster}-${button.dataset.csv.slice(cluster.prefix.length)}`)));
});
startSearch(byId('q'), byId('hits'), () => selected, row => {
    if (location.hash === `#${row.address}`)
        route(true);
    location.hash = row.address;
});
startTheme(byId('theme'));
if (byId('cluster'))
    byId('cluster').addEventListener('change', event => {
        location.hash = `c/${encodeURIComponent(clusters[event.target.selectedIndex].cluster)}`;
    });
addEventListener('hashchange', () => route(true));
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(each => { each.open = true; }));
setInterval(showStale, 60000);
route(false);
if (answered)
    addEventListener('load', () => setTimeout(() => scrollTo({ top: 0, behavior: 'instant' }), 0));
