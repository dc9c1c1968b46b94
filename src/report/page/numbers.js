// SPDX-License-Identifier: MIT

// Numbers and names as HTML.  C has rounded the numbers; the formats are those of report/amounts.c.

const byId = id => document.getElementById(id);
const escapeHtml = text => String(text).replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);
const whole = number => Math.round(number).toLocaleString('en-US');
const plural = (number, one, many) => `${whole(number)} ${number === 1 ? one : many || `${one}s`}`;
const capital = words => words.charAt(0).toUpperCase() + words.slice(1);

function amount(number) {
    if (number === null)
        return '–';
    if (number >= 999500)
        return `${(number / 1e6).toFixed(number < 9.995e6 ? 2 : number < 99.95e6 ? 1 : 0)} million`;
    return number > 0 && number < 1 ? '&lt;&nbsp;1' : whole(number);
}

function percent(number) {
    if (number > 0 && number < 0.01)
        return '&lt;&nbsp;0.01&nbsp;%';
    return `${number ? number.toFixed(number < 0.995 ? 2 : 1) : 0}&nbsp;%`;
}

function times(ratio) {
    if (ratio > 0 && ratio < 0.01)
        return '&lt;&nbsp;0.01';
    return isNaN(ratio) ? '–' : ratio > 100 ? '&gt;&nbsp;100' : ratio ? ratio.toFixed(ratio < 9.995 ? 2 : 0) : '0';
}
