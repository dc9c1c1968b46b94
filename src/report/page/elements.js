// SPDX-License-Identifier: MIT

// Creates elements of the page.  Texts become text nodes, so that no name is ever read as HTML.

function byId(id) {
    return document.getElementById(id);
}

// element('td', { class: 'number' }, 'text', otherElement)
function element(name, attributes, ...content) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
        if (typeof value === 'function')
            made.addEventListener(key, value);
        else if (value !== null && value !== false)
            made.setAttribute(key, value === true ? '' : value);
    }
    made.append(...content.filter(each => each !== null && each !== undefined));
    return made;
}

function button(attributes, ...content) {
    return element('button', { type: 'button', ...attributes }, ...content);
}

function empty(...content) {
    return element('p', { class: 'empty' }, ...content);
}

// Returns a function that calls `action` after `pause` milliseconds without another call.
function later(action, pause) {
    let timer = 0;
    return () => {
        clearTimeout(timer);
        timer = setTimeout(action, pause);
    };
}
