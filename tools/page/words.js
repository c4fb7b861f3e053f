// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// Words, numbers and tables of a page. Everything that comes from a file is inserted as text only.
'use strict';

const words = (() => {
    // Control characters and marks that change the text direction are shown instead of applied.
    const steering = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

    function plain(text) {
        return text.replace(steering, (mark) => {
            const point = mark.charCodeAt(0);
            return point < 0x80 ? '\\x' + point.toString(16).padStart(2, '0') : '\\u{' +
                point.toString(16) + '}';
        });
    }

    // Numbers beyond 2^53 are texts. Names are never numbers, even if they consist of digits.
    const isLarge = (key, value) => /^-?[0-9]{16,20}$/.test(value) &&
        !['session', 'event', 'event_class', 'process', 'fields', 'host'].includes(key);

    function read(text) {
        try {
            return JSON.parse(text, (key, value) => typeof value !== 'string' ? value
                : isLarge(key, value) ? Number(value) : plain(value));
        } catch {
            return null;
        }
    }

    // Calls draw with the page's data and the element to draw in.
    function draw(draw) {
        document.addEventListener('DOMContentLoaded', () => {
            const data = read(document.getElementById('data').textContent);
            const main = d3.select('main');
            if (data === null) {
                main.append('p')
                    .text('The data of this page is damaged: there is nothing to show.');
            } else {
                draw(data, main);
            }
        });
    }

    // ---- Numbers ----

    // A dash stands for a number that is not known. JSON has null for one that is not finite.
    const nothing = '\u2013';
    const space = '\u00a0'; // a no-break space between a number and its unit
    const known = (number) => typeof number === 'number' && Number.isFinite(number);
    const signed = (text) => text.replace(/^-/, '\u2212');

    // Three digits; only 0 is '0', however small a number is.
    function threeDigits(value) {
        const size = Math.abs(value);
        return size === 0 ? '0' : value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
    }

    const units = [[999.5, 1, 'ns'], [999.5e3, 1e3, '\u00b5s'], [999.5e6, 1e6, 'ms'],
        [Infinity, 1e9, 's']];
    const unitOf = (ns) => units.find(([limit]) => Math.abs(ns) < limit);

    // "18.2 ns", "1.20 µs", "4.00 ms"
    function duration(ns) {
        if (!known(ns)) {
            return nothing;
        }
        if (Math.abs(ns) >= 1e17) {
            return (ns < 0 ? '<\u22123' : '>3') + space + 'y';
        }
        const [, size, unit] = unitOf(ns);
        return signed(threeDigits(ns / size)) + space + unit;
    }

    // For the ticks of an axis: "0.1 ns", "100 ns", "1 µs".
    function roundDuration(ns) {
        const [, size, unit] = unitOf(ns);
        return ns === 0 ? '0' : signed(String(Number((ns / size).toPrecision(3)))) + space + unit;
    }

    // "1,234,567"
    function count(number) {
        return known(number) ? signed(d3.format(',.0f')(number)) : nothing;
    }

    const thousands = [[1e9, 1e9, space + 'G'], [1e6, 1e6, space + 'M'], [1e3, 1e3, space + 'k'],
        [0, 1, '']];

    // For the ticks of an axis: "0", "500", "20 k", "1.5 M".
    function roundCount(number) {
        const [, size, unit] = thousands.find(([least]) => Math.abs(number) >= least);
        return signed(String(Number((number / size).toPrecision(3)))) + unit;
    }

    // "0 %" only if `part` is 0, "100 %" only if it is `whole`.
    function percent(part, whole) {
        const share = 100 * part / whole;
        if (!(whole > 0)) {
            return nothing;
        }
        if (part === 0 || part >= whole) {
            return (part === 0 ? '0' : '100') + space + '%';
        }
        return (share < 0.01 ? '<0.01' : share > 99.99 ? '>99.99' : share.toFixed(share < 9.995 ? 2
            : 1)) + space + '%';
    }

    // ---- Elements ----

    // Parts are texts, or [element, class, text].
    function mixed(parent, ...parts) {
        for (const part of parts) {
            if (typeof part === 'string') {
                parent.node().append(part);
            } else {
                parent.append(part[0]).attr('class', part[1]).text(part[2]);
            }
        }
        return parent;
    }

    const paragraph = (parent, ...parts) => mixed(parent.append('p'), ...parts);
    const note = (parent, ...parts) => paragraph(parent, ...parts).attr('class', 'note');

    function section(parent, id, heading) {
        const result = parent.append('section').attr('aria-labelledby', id);
        result.append('h2').attr('id', id).text(heading);
        return result;
    }

    // A list of names and their values.
    function facts(parent, pairs) {
        const list = parent.append('dl');
        for (const [name, text] of pairs) {
            const pair = list.append('div');
            pair.append('dt').text(name);
            pair.append('dd').text(text);
        }
    }

    function fill(cell, content) {
        if (typeof content === 'object') {
            cell.classed('bad', content.bad === true)
                .text((content.bad ? '! ' : '') + content.text);
            if (content.badge) {
                cell.append('span').attr('class', 'badge').text(content.badge);
            }
        } else {
            cell.text(content);
        }
    }

    // Titles that begin with < are of text columns. A cell is a text, or {text, bad, badge}; the
    // first in a row is its name.
    function table(parent, caption, titles, rows) {
        // A scrolling element needs a name, and access by keyboard.
        const place = parent.append('div').attr('class', 'scroll').attr('tabindex', 0)
            .attr('role', 'region')
            .attr('aria-label', caption);
        const body = place.append('table');
        const column = titles.map((title) => title.startsWith('<') ? 'text' : null);
        body.append('caption').text(caption);
        body.append('thead').append('tr').selectAll('th').data(titles).enter().append('th')
            .attr('scope', 'col')
            .attr('class', (_, i) => column[i]).text((title) => title.replace(/^</, ''));
        body.append('tbody').selectAll('tr').data(rows).enter().append('tr').each(function (row) {
            row.forEach((content, i) => {
                const cell = d3.select(this).append(i === 0 ? 'th' : 'td')
                    .attr('scope', i === 0 ? 'row' : null);
                fill(cell.attr('class', column[i]), content);
            });
        });
        return place;
    }

    return {
        draw, nothing, space, known, signed, duration, roundDuration, threeDigits, count,
        roundCount, percent, mixed, paragraph, note, section, facts, table,
    };
})();
