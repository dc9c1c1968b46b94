// SPDX-License-Identifier: MIT

// The search: a combobox with a list of users and groups of the selected cluster (WAI-ARIA).

const MATCHES = 8;

function findMatches(cluster, words) {
    const rank = row => {
        const name = row.name.toLowerCase(), at = name.indexOf(words);
        return at < 0 ? 3 : name === words ? 0 : at ? 2 : 1;
    };
    return cluster.rows.filter(row => row.up && row.inside && rank(row) < 3)
        .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)).slice(0, MATCHES);
}

function matchWords(cluster, row) {
    if (row.user)
        return `${cluster.userWord} in ${escapeHtml(row.up.name)}${row.place ? `, place ${whole(row.place)}` : ''}`;
    return `group${isFinite(row.ratio) ? `, ${times(row.ratio)} times its share` : ''}`;
}

function startSearch(input, list, selected) {
    let matches = [], at = -1;
    const close = () => {
        list.hidden = true;
        input.setAttribute('aria-expanded', 'false');
        input.removeAttribute('aria-activedescendant');
    };
    const mark = next => {
        at = next;
        [...list.children].forEach((item, i) => item.setAttribute('aria-selected', i === at));
        if (matches.length)
            input.setAttribute('aria-activedescendant', list.children[at].id);
    };
    const open = row => {
        close();
        input.value = '';
        if (location.hash === `#${row.address}`)
            dispatchEvent(new Event('hashchange'));
        location.hash = row.address;
    };
    const find = () => {
        const words = input.value.trim().toLowerCase();
        if (!words)
            return close();
        matches = findMatches(selected(), words);
        list.innerHTML = matches.map((row, i) => `<li role="option" id="hit${i}"><b>${row.label}</b><span class="vh">, </span>`
            + `<span>${matchWords(selected(), row)}</span></li>`).join('')
            || '<li class="none" role="option" aria-disabled="true">No user or group has this name.</li>';
        list.hidden = false;
        input.setAttribute('aria-expanded', 'true');
        return mark(0);
    };
    input.addEventListener('input', find);
    input.addEventListener('blur', close);
    input.addEventListener('keydown', event => {
        const move = { ArrowDown: 1, ArrowUp: matches.length - 1 }[event.key];
        if (event.key === 'Escape') {
            close();
        } else if (event.key === 'Enter' && !list.hidden) {
            event.preventDefault();
            if (matches[at])
                open(matches[at]);
        } else if (move !== undefined && !event.altKey) {
            event.preventDefault();
            if (list.hidden)
                find();
            else if (matches.length)
                mark((at + move) % matches.length);
        }
    });
    list.addEventListener('mousedown', event => event.preventDefault());
    list.addEventListener('click', event => {
        const item = event.target.closest('[id]'), match = item && matches[[...list.children].indexOf(item)];
        if (match)
            open(match);
    });
    document.addEventListener('keydown', event => {
        if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea'))
            return;
        event.preventDefault();
        input.focus();
    });
}
