// SPDX-License-Identifier: MIT

// The search: a combobox with a list of the users and groups of the selected cluster.

const MATCHES_SHOWN = 8;

function findMatches(cluster, words) {
    const rank = row => {
        const name = row.name.toLowerCase(), at = name.indexOf(words);
        return at < 0 ? 3 : name === words ? 0 : at ? 2 : 1;
    };
    return [...cluster.byAddress.values()].map(row => ({ row, rank: rank(row) })).filter(match => match.rank < 3)
        .sort((a, b) => a.rank - b.rank || a.row.name.localeCompare(b.row.name) || b.row.used - a.row.used)
        .slice(0, MATCHES_SHOWN).map(match => match.row);
}

function matchHtml(cluster, row, at) {
    const place = row.place ? `, place ${whole(row.place)}` : '';
    const words = row.user ? `${cluster.userWord} in ${escapeHtml(row.up.name)}${place}`
        : `group${isFinite(row.ratio) ? `, ${times(row.ratio)} times its share` : ''}`;
    return `<li role="option" id="hit${at}"><b>${row.label}</b><span class="vh">, </span><span>${words}</span></li>`;
}

function startSearch(input, list, selected, open) {
    let matches = [], at = -1;
    const close = () => {
        list.hidden = true;
        input.setAttribute('aria-expanded', 'false');
        input.removeAttribute('aria-activedescendant');
    };
    const mark = next => {
        at = next;
        [...list.children].forEach((item, i) => item.setAttribute('aria-selected', i === at));
        input.setAttribute('aria-activedescendant', matches.length ? `hit${at}` : '');
    };
    const find = () => {
        const words = input.value.trim().toLowerCase();
        matches = words ? findMatches(selected(), words) : [];
        list.innerHTML = matches.map((row, i) => matchHtml(selected(), row, i)).join('')
            || `<li class="none" role="option">No ${selected().userWord} or group has this name.</li>`;
        list.hidden = !words;
        input.setAttribute('aria-expanded', !list.hidden);
        mark(0);
    };
    const choose = row => {
        close();
        input.value = '';
        open(row);
    };
    input.addEventListener('input', find);
    input.addEventListener('blur', close);
    input.addEventListener('keydown', event => {
        const move = { ArrowDown: 1, ArrowUp: matches.length - 1 }[event.key];
        if (event.key === 'Escape')
            close();
        else if (event.key === 'Enter' && !list.hidden && matches.length)
            choose(matches[at]);
        else if (move !== undefined && list.hidden)
            find();
        else if (move !== undefined && matches.length)
            mark((at + move) % matches.length);
        if (move !== undefined || event.key === 'Enter')
            event.preventDefault();
    });
    list.addEventListener('mousedown', event => event.preventDefault());
    list.addEventListener('click', event => {
        const match = matches[[...list.children].indexOf(event.target.closest('li'))];
        if (match)
            choose(match);
    });
    document.addEventListener('keydown', event => {
        const isCommand = event.ctrlKey || event.metaKey || event.altKey;
        if (event.key === '/' && !isCommand && !event.target.closest('input, select, textarea')) {
            event.preventDefault();
            input.focus();
        }
    });
}
