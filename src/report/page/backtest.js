// SPDX-License-Identifier: MIT

// Results of a backtest, if the report has any.

function trialsOf(cluster) {
    const nodes = treeOf(cluster);
    const { backtest } = cluster;
    return backtest.rows.map(([number, due, ...values]) => ({
        number, due, node: nodes[number],
        tried: backtest.settings.map((_, i) => ({ use: values[4 * i], place: values[4 * i + 1], turned: values[4 * i + 2], most: values[4 * i + 3] })),
    }));
}

// The columns that compare settings number `beside` with the current ones.
function trialColumns(cluster, beside) {
    const { account } = cluster.words;
    const { settings } = cluster.backtest;
    const digits = value => value === null ? null : Number(value.toPrecision(4));
    const part = (name, value, more) => ({ name, number: true, value, ...more, cell: row => percent(value(row)), csv: row => digits(value(row)) });
    const one = value => value === null ? '–' : value.toFixed(1);
    const mean = (name, value, more) => ({ name, number: true, value, ...more, cell: row => one(value(row)) });
    const [now] = settings[0];
    const [other] = settings[beside];
    const mine = row => row.tried[beside];
    return [
        {
            name: 'Name', value: row => nameOf(row.node),
            cell: row => [
                button({ click: () => choose(row.node) }, nameOf(row.node)),
                row.node.isUser || data.accountsOnly ? null : element('span', { class: 'kind' }, account),
                element('small', {}, row.node.isUser ? row.node.account : ''),
            ],
        },
        { name: capital(account), wide: true, value: row => row.node.account, cell: row => row.node.isUser ? row.node.account : '' },
        part('Entitlement', row => row.due, { wide: true }),
        part('Usage now', row => row.tried[0].use, { saved: `Usage, ${now}` }),
        beside ? part('Usage other', row => mine(row).use, { title: other, saved: `Usage, ${other}` }) : null,
        data.accountsOnly ? null : mean('Place now', row => row.tried[0].place, { wide: true, saved: `Place, ${now}` }),
        beside && !data.accountsOnly
            ? mean('Place other', row => mine(row).place, { wide: true, title: other, saved: `Place, ${other}` }) : null,
        beside && !data.accountsOnly ? mean('Discordant', row => mine(row).turned) : null,
        beside && !data.accountsOnly ? {
            name: 'Most often with', wide: true, value: row => mine(row).most && mine(row).most[0],
            cell: row => mine(row).most ? `${mine(row).most[0]} (${mine(row).most[1]})` : '–',
            csv: row => mine(row).most && mine(row).most.join(' '),
        } : null,
    ].filter(column => column);
}

// The summary of the settings, and an explanation of the columns.
function backtestWords(cluster, beside) {
    const { backtest } = cluster;
    if (!backtest.since)
        return 'The backtest has no points.';
    const { user, users } = cluster.words;
    const { day } = calendarOf(cluster);
    const said = ([name, , distance, turned]) => `${name}: ${percent(distance)} of usage would have to change hands to match the shares`
        + (turned === null ? '' : `, ${percent(turned)} of pairs are discordant`);
    return `${count(backtest.settings[0][1], 'point', 'points')} from ${day(backtest.since)} to ${day(backtest.until)}. `
        + [backtest.settings[0], ...beside ? [backtest.settings[beside]] : []].map(said).join('; ')
        + `. Entitlement, usage and place are means over all points; usage decays with the half-life of the settings.`
        + ` Discordant is the mean number of ${users} whose order relative to the ${user} is reversed.`
        + ` Jobs are not scheduled again: they are the same under all settings.`;
}

function drawBacktest(cluster, beside) {
    const { backtest } = cluster;
    byId('backtest-section').hidden = !backtest;
    shown.trials = null;
    if (!backtest)
        return;
    const others = backtest.settings.slice(1);
    const chosen = beside || (others.length ? 1 : 0);
    byId('variant').replaceChildren(...others.map(([name], i) => element('option', { value: i + 1, selected: i + 1 === chosen }, name)));
    byId('variant').closest('label').hidden = !others.length;
    byId('backtest-words').textContent = backtestWords(cluster, chosen);
    const { user, users, account, accounts } = cluster.words;
    const columns = trialColumns(cluster, chosen);
    const turned = columns.findIndex(column => column.name === 'Discordant');
    const left = backtest.total - backtest.rows.length;
    shown.trials = makeTable(byId('backtest-table'), trialsOf(cluster), columns, {
        column: turned < 0 ? columns.findIndex(column => column.name === 'Entitlement') : turned, falling: true,
        caption: 'Other settings', nothing: `The backtest has none of these ${users} and ${accounts}.`, text: () => '',
        isChosen: row => row.node === shown.chosen,
        say: (seen, found) => (seen === found ? count(found, `${user} or ${account}`, `${users} and ${accounts}`)
            : `${plain.format(seen)} of ${plain.format(found)} ${users} and ${accounts}`)
            + (left ? `; ${plain.format(left)} with the fewest discordant pairs are not in this page` : ''),
    });
}
