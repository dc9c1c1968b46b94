// SPDX-License-Identifier: MIT

// Tables: sorting by a column, folding of the rows beyond data-room, and CSV.

// Returns the raw value of a cell, or its text without the parts that repeat other columns.
function cellValue(cell) {
    if (!cell || cell.dataset.v !== undefined)
        return cell ? cell.dataset.v : '';
    const copy = cell.cloneNode(true);
    copy.querySelectorAll('.sub, svg').forEach(part => part.remove());
    return copy.textContent.replace(/\s+/g, ' ').trim();
}

// Sorts rows: `a` compares texts, `n` and `p` numbers.  Rows without a value are last.
function sortRows(body, column, kind, ascending) {
    const compare = kind === 'a' ? (a, b) => a.localeCompare(b, undefined, { numeric: true })
        : (a, b) => (+a > +b) - (+a < +b);
    const order = (a, b) => a === '' || b === '' ? (a === '') - (b === '') : ascending ? compare(a, b) : compare(b, a);
    body.append(...[...body.rows].map(row => [cellValue(row.cells[column]), row]).sort((a, b) => order(a[0], b[0]))
        .map(pair => pair[1]));
}

function startTable(table) {
    const heads = [...table.tHead.querySelectorAll('[data-sort]')];
    const body = table.tBodies[0], more = byId(`${table.id}-more`);
    let room = +table.dataset.room || Infinity;
    const fold = () => {
        [...body.rows].forEach((row, at) => row.classList.toggle('fold', at >= room));
        if (more)
            more.hidden = body.rows.length <= room;
    };
    heads.forEach(head => {
        const button = document.createElement('button'), kind = head.dataset.sort;
        button.type = 'button';
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener('click', () => {
            const before = head.getAttribute('aria-sort'), ascending = before ? before === 'descending' : kind !== 'n';
            heads.forEach(each => each.removeAttribute('aria-sort'));
            head.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
            sortRows(body, head.cellIndex, kind, ascending);
            fold();
        });
    });
    if (more)
        more.addEventListener('click', () => {
            const next = body.rows[room] && body.rows[room].querySelector('a');
            room = Infinity;
            fold();
            if (next)
                next.focus();
        });
    fold();
}

// Returns a field of CSV.  A spreadsheet would run a text that begins like a formula.
function csvField(value) {
    const safe = /^[=+\-@\t\r]/.test(value) && isNaN(value) ? `'${value}` : value;
    return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

function saveCsv(table, name) {
    const lines = [...table.rows].map(row => [...row.cells].filter(cell => !cell.classList.contains('bar'))
        .map(cell => csvField(cellValue(cell))).join(','));
    const anchor = document.createElement('a');
    anchor.href = URL.createObjectURL(new Blob(lines.map(line => `${line}\r\n`), { type: 'text/csv' }));
    anchor.download = `${name}.csv`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 60000);
}
