// SPDX-License-Identifier: MIT

// Tables: sorting by a column, folding of the rows beyond data-room, and CSV.

const ARROWS = { ascending: ' ▲', descending: ' ▼' };

// Returns the raw value of a cell, or its text without the parts that repeat other columns.
function cellValue(cell) {
    if (cell.dataset.v !== undefined)
        return cell.dataset.v;
    const copy = cell.cloneNode(true);
    copy.querySelectorAll('.sub, svg, [aria-hidden]').forEach(part => part.remove());
    return copy.textContent.replace(/\s+/g, ' ').trim();
}

// Sorts rows: "a" compares texts, "n" and "p" numbers.  Rows without a value are last.
function sortRows(body, column, kind, ascending) {
    const keys = new Map([...body.rows].map(row => {
        const value = row.cells[column] ? cellValue(row.cells[column]) : '';
        return [row, kind === 'a' || value === '' ? value : +value];
    }));
    const compare = kind === 'a' ? (a, b) => a.localeCompare(b) : (a, b) => a - b;
    const order = (a, b) => a === '' || b === '' ? (a === '') - (b === '') : ascending ? compare(a, b) : compare(b, a);
    body.append(...[...keys.keys()].sort((a, b) => order(keys.get(a), keys.get(b))));
}

function startTable(table) {
    const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells], room = +table.dataset.room || Infinity;
    const more = byId(`${table.id}-more`);
    let all = body.rows.length <= room;
    const fold = () => {
        [...body.rows].forEach((row, at) => row.classList.toggle('fold', !all && at >= room));
        if (more)
            more.hidden = all;
    };
    const show = head => {
        head.querySelector('[aria-hidden]').textContent = ARROWS[head.getAttribute('aria-sort')] || '';
    };
    const sorted = heads.filter(head => head.dataset.sort);
    sorted.forEach(head => {
        const button = document.createElement('button'), arrow = document.createElement('span'), kind = head.dataset.sort;
        button.type = 'button';
        arrow.setAttribute('aria-hidden', 'true');
        button.append(...head.childNodes, arrow);
        head.append(button);
        show(head);
        button.addEventListener('click', () => {
            const before = head.getAttribute('aria-sort'), ascending = before ? before === 'descending' : kind !== 'n';
            sorted.forEach(each => each.removeAttribute('aria-sort'));
            head.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
            sorted.forEach(show);
            sortRows(body, head.cellIndex, kind, ascending);
            fold();
        });
    });
    if (more)
        more.addEventListener('click', () => {
            all = true;
            fold();
            const next = body.rows[room] && body.rows[room].querySelector('a');
            if (next)
                next.focus();
        });
    fold();
}

// Returns a field of CSV.  A spreadsheet would run a text that begins like a formula.
function csvField(value) {
    const safe = /^[=+\-@\t\r]/.test(value) && !/^-?[\d.]+$/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

function csvText(table) {
    return [...table.rows].map(row => `${[...row.cells].filter(cell => !cell.classList.contains('bar'))
        .map(cell => csvField(cellValue(cell))).join(',')}\r\n`).join('');
}

function saveCsv(table, name) {
    const anchor = document.createElement('a'), address = URL.createObjectURL(new Blob([csvText(table)], { type: 'text/csv' }));
    anchor.href = address;
    anchor.download = `${name}.csv`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
}
