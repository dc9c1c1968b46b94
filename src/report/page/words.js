// SPDX-License-Identifier: MIT

// Formats of numbers and times.

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

function percent(part) {
    if (part === null)
        return '–';
    const hundredth = part * 100;
    return hundredth === 0 ? '0 %' : hundredth < 0.01 ? '< 0.01 %'
        : `${hundredth < 10 ? hundredth.toFixed(2) : hundredth.toFixed(1)} %`;
}

function ratio(number) {
    if (number === null)
        return '–';
    if (number === Infinity)
        return '∞';
    return number === 0 ? '0' : number >= 1000 ? compact.format(number) : number < 0.001 ? '< 0.001'
        : String(Number(number.toPrecision(3)));
}

function factor(number) {
    return number === null ? '–' : number.toFixed(4);
}

// Usage in the cluster's unit.
function used(cluster, seconds) {
    return compact.format(seconds / cluster.words.seconds);
}

function capital(word) {
    return word[0].toUpperCase() + word.slice(1);
}

// Weighted factors are in the millions at some sites, and fractions of one at others.
function points(number) {
    if (number > 0 && number < 0.001)
        return '< 0.001';
    return Math.abs(number) >= 100 || Number.isInteger(number) ? plain.format(number) : String(Number(number.toPrecision(3)));
}

function span(seconds) {
    for (const [unit, name] of [[86400, 'day'], [3600, 'hour'], [60, 'minute']])
        if (seconds >= unit)
            return `${Number((seconds / unit).toFixed(2))} ${name}${seconds === unit ? '' : 's'}`;
    return `${seconds} seconds`;
}

function count(number, one, many) {
    return `${plain.format(number)} ${number === 1 ? one : many}`;
}

// Days begin in the time zone of the runs, which the browser might not know.
function calendarOf(cluster) {
    const day = { year: 'numeric', month: '2-digit', day: '2-digit' };
    const minute = { ...day, hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' };
    const short = { month: 'short', day: 'numeric' };
    const make = options => {
        try {
            return new Intl.DateTimeFormat('en-CA', { ...options, timeZone: cluster.timeZone || undefined });
        } catch {
            return new Intl.DateTimeFormat('en-CA', options);
        }
    };
    const formats = { day: make(day), minute: make(minute), short: make(short) };
    const say = format => at => format.format(new Date(at * 1000)).replace(',', '');
    return { day: say(formats.day), minute: say(formats.minute), short: say(formats.short) };
}

// Level FS of several associations together; null if they have neither shares nor usage.
function ratioOf(share, used) {
    return share === 0 && used === 0 ? null : used === 0 ? Infinity : share / used;
}

// The color class for the distance between an association's usage and its share: over-3 to under-3.
function shade(cluster, node) {
    const value = byLevelFs(cluster) ? node.levelFs : node.factor;
    // A factor of one half means that usage equals the share.
    return shadeOf(value === null ? null : byLevelFs(cluster) ? Math.log2(value) : (value - 0.5) * 5);
}

function shadeOf(steps) {
    if (steps === null)
        return 'none';
    const far = Math.abs(steps);
    if (far < 0.2)
        return 'even';
    return `${steps < 0 ? 'over' : 'under'}-${far < 0.75 ? 1 : far < 1.5 ? 2 : 3}`;
}
