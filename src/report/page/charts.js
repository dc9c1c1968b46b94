// SPDX-License-Identifier: MIT

// Charts, drawn by Chart.js into canvases. Styles do not apply to canvases, so the colors are read
// from the page for each drawing. Each canvas has a label for readers who cannot see it.

const drawn = new Map();

function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Releases the charts in a part of the page that will be drawn again.
function forgetCharts(part) {
    for (const [canvas, chart] of drawn)
        if (part.contains(canvas)) {
            chart.destroy();
            drawn.delete(canvas);
        }
}

function axis(more) {
    return {
        offset: false,
        ...more,
        grid: { color: color('line'), borderColor: color('soft'), offset: false, ...(more && more.grid) },
        ticks: { color: color('soft'), font: { size: 12 }, maxRotation: 0, ...(more && more.ticks) },
    };
}

// The canvas must be in the page, because it takes its width from there.
function draw(canvas, config) {
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    config.options = {
        animation: false,
        maintainAspectRatio: false,
        ...config.options,
        plugins: { legend: { display: false }, ...config.options.plugins },
    };
    drawn.set(canvas, new Chart(canvas, config));
}

// A horizontal axis of days, with as many labels as fit.
function timeAxis(calendar, from, to) {
    return axis({
        type: 'linear', min: from, max: to,
        ticks: { maxTicksLimit: 6, autoSkip: false, callback: at => calendar.short(at) },
        afterBuildTicks: scale => {
            const days = Math.max(1, Math.ceil((to - from) / 86400 / Math.max(2, Math.floor(scale.width / 75))));
            scale.ticks = [];
            for (let at = to - 43200; at >= from; at -= days * 86400)
                scale.ticks.unshift({ value: at });
        },
    });
}

function tooltip(title, label) {
    return { tooltip: { displayColors: false, callbacks: { title: items => items.length ? title(items[0].parsed.x) : '', label }, filter: item => item.datasetIndex === 0 } };
}

// A dashed line at the height at which usage equals the share.
function evenLine(from, to) {
    return {
        data: [{ x: from, y: 1 }, { x: to, y: 1 }], borderColor: color('soft'), borderWidth: 1, borderDash: [5, 4],
        pointRadius: 0, pointHitRadius: 0,
    };
}

function logarithmic(points) {
    const values = points.map(point => point.y).filter(y => y).concat(1);
    return { type: 'logarithmic', min: Math.min(...values) / 1.5, max: Math.max(...values) * 1.5 };
}

// Dashed lines at changes of settings (`marks`: [time, words]) and at the height of `limit`.
function linesPlugin(marks, limit) {
    return {
        id: 'lines',
        afterDatasetsDraw: chart => {
            const { ctx, chartArea: { left, right, top, bottom }, scales: { x, y } } = chart;
            const line = (fromX, fromY, toX, toY, name) => {
                ctx.strokeStyle = color(name);
                ctx.beginPath();
                ctx.moveTo(fromX, fromY);
                ctx.lineTo(toX, toY);
                ctx.stroke();
            };
            ctx.save();
            ctx.setLineDash([4, 3]);
            ctx.lineWidth = 1.5;
            for (const [at] of marks) {
                const place = x.getPixelForValue(at);
                if (place >= left && place <= right)
                    line(place, top, place, bottom, 'part-1');
            }
            if (limit)
                line(left, y.getPixelForValue(limit), right, y.getPixelForValue(limit), 'soft');
            ctx.restore();
        },
    };
}

// The name of a bar, which is at the middle of its days.
function barName(calendar, days, middle) {
    return days === 1 ? calendar.day(middle) : `week of ${calendar.day(middle - 43200 * days)}`;
}

// points: [{x: time, y: number or null}].  options: say (formats a number), calendar, from, to,
// bars (the number of days in each), most (the highest possible value), log, marks, limit.
function drawSeries(canvas, points, options) {
    const { say, calendar, from, to, bars, log, marks, limit } = options;
    const title = bars ? at => barName(calendar, bars, at) : calendar.minute;
    const dataset = bars
        ? { data: points, backgroundColor: color('bar'), barThickness: 'flex', maxBarThickness: 14 }
        : {
            data: points, borderColor: color('bar'), backgroundColor: color('bar'), borderWidth: 2,
            pointRadius: points.length > 20 ? 0 : 2.5, pointHitRadius: 12, tension: 0,
        };
    draw(canvas, {
        type: bars ? 'bar' : 'line',
        data: { datasets: log ? [dataset, evenLine(from, to)] : [dataset] },
        plugins: [linesPlugin(marks || [], limit)],
        options: {
            interaction: { mode: 'nearest', axis: 'x', intersect: false },
            scales: {
                x: timeAxis(calendar, from, to),
                y: axis({
                    ...(log ? logarithmic(points) : { type: 'linear', beginAtZero: true, max: options.most, suggestedMax: limit || undefined }),
                    ticks: { maxTicksLimit: 6, callback: say },
                }),
            },
            plugins: tooltip(title, item => say(item.parsed.y)),
        },
    });
}

// One bar for each job, stacked from the parts of its priority.
function drawQueue(canvas, jobs, parts) {
    draw(canvas, {
        type: 'bar',
        data: {
            labels: jobs.map(job => `${job.id}  ${shortened(job.user, 14)}`),
            datasets: parts.map(part => ({
                label: part.name, data: jobs.map(job => job[part.key]),
                backgroundColor: color(`part-${part.color}`), barPercentage: 0.85,
            })),
        },
        options: {
            indexAxis: 'y',
            interaction: { mode: 'index', axis: 'y', intersect: false },
            scales: {
                x: axis({ stacked: true, ticks: { maxTicksLimit: 6, callback: number => compact.format(number) } }),
                y: axis({ stacked: true, offset: true, grid: { display: false }, ticks: { autoSkip: false } }),
            },
            plugins: {
                tooltip: { callbacks: { label: item => `${item.dataset.label}: ${points(item.parsed.x)}` } },
            },
        },
    });
}

function shortened(name, most) {
    const letters = [...name];
    return letters.length > most ? letters.slice(0, most - 1).join('') + '…' : name;
}
