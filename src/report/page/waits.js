// SPDX-License-Identifier: MIT

// The waiting times of jobs by partition, account and week, and a sentence about fairshare.

function waitTable([heading, ...rows]) {
    return element('table', {},
        element('caption', { class: 'hidden' }, `Waiting times by ${heading}`),
        element('thead', {}, element('tr', {}, ...[capital(heading), 'Jobs', 'Median', '9 of 10 within'].map((name, i) =>
            element('th', { scope: 'col', class: i ? 'number' : null }, name)))),
        element('tbody', {}, ...rows.map(([name, jobs, ...times]) => element('tr', {},
            element('th', { scope: 'row' }, name), element('td', { class: 'number' }, plain.format(jobs)),
            ...times.map(time => element('td', { class: 'number' }, time))))));
}

function drawWaits({ waits }) {
    byId('waits-section').hidden = !waits;
    byId('waits-words').textContent = waits ? waits.words : '';
    byId('waits').replaceChildren(...waits ? waits.tables.map(waitTable) : []);
}
