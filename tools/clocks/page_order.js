// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// The order of stamps: for each session clock a heat map of processor pairs, and what happened on
// one timeline.
'use strict';

Object.assign(clocksPage, (() => {
    const {contexts, nanoseconds, judged, where, apart, orderOf} = clocksPage;

    // ---- Order across processors ----

    const allClocks = 13; // number of clocks of --clocks
    const map = {margin: 46, head: 26, legend: 54, widest: 66, highest: 40, written: 44, worst: 6};
    // Opacity of the full colour, at which text stays readable in light and dark.
    const full = 0.6;

    // One of the two cells of a pair: how far the column's processor is ahead of the row's.
    function cellOf(pair, row, column) {
        const offset = pair.cpu === row || pair.difference === null ? pair.difference
            : -pair.difference;
        return {pair, row, column, offset};
    }

    function tellCell({pair, row, column, offset}) {
        return `CPU ${column} against CPU ${row}: ` +
            `${words.duration(offset)} ± ${words.duration(pair.bound)}\n` +
            `${words.count(pair.smaller)} of ${words.count(pair.handovers)} stamps smaller`;
    }

    const inside = ([x, y, width, height]) => [x + 1, y + 1, Math.max(width - 2, 1),
        Math.max(height - 2, 1)];

    function drawCell(svg, {pair, offset}, place, fullNs) {
        const [x, y, width, height] = place;
        const look = (offset < 0 ? 'behind' : 'ahead') + (apart(pair) || pair.smaller > 0 ? ' apart'
            : '');
        plots.box(svg, look, ...inside(place)).attr('fill-opacity',
            Math.min(Math.abs(offset) / fullNs, 1) * full);
        if (width >= map.written) {
            plots.text(svg, 'cell-offset middle', x + width / 2, y + height / 2 - 1,
                nanoseconds(offset));
            plots.text(svg, 'cell-bound middle', x + width / 2, y + height / 2 + 12,
                `±${nanoseconds(pair.bound)}`);
        }
    }

    function drawMapLegend(svg, width, top, fullNs) {
        const steps = d3.range(-10, 11);
        const step = Math.min(11, (width - 60) / steps.length);
        const left = Math.max((width - steps.length * step) / 2, 30);
        steps.forEach((part, i) => plots.box(svg, part < 0 ? 'behind' : 'ahead', left + i * step,
            top, step, 10)
            .attr('fill-opacity', Math.abs(part) / 10 * full));
        [-fullNs, 0, fullNs].forEach((ns, i) => plots.text(svg, 'tick middle',
            left + i / 2 * steps.length * step,
            top + 25, ns === 0 ? '0' : words.duration(ns)));
        plots.text(svg, 'axis-title middle', left + steps.length * step / 2, top + 42,
            'ns by which the column\u2019s processor is behind or ahead');
    }

    // A map of all processors that are in a pair.
    function drawMap(clock, cells, numbers, svg, width) {
        const order = orderOf(clock);
        // Offsets that may be 0 are pale: full colour is at least the largest bound.
        const fullNs = Math.max(order.offset || 0, order.bound || 0, 1e-3);
        const cellWidth = Math.min(map.widest, (width - map.margin - 4) / numbers.length);
        const cellHeight = Math.min(map.highest, cellWidth);
        const every = Math.ceil(24 / cellWidth);
        const places = new Map(numbers.map((number, i) => [number, i]));
        const placeOf = (row, column) =>
            [map.margin + column * cellWidth, map.head + row * cellHeight, cellWidth, cellHeight];
        plots.text(svg, 'tick', 0, map.head - 8, 'CPU');
        numbers.forEach((number, i) => {
            if (i % every === 0) {
                plots.text(svg, 'tick middle', map.margin + (i + 0.5) * cellWidth, map.head - 8,
                    number);
                plots.text(svg, 'tick end', map.margin - 8, map.head + (i + 0.5) * cellHeight + 4,
                    number);
            }
            plots.box(svg, 'same', ...placeOf(i, i));
        });
        const placeOfCell = ({row, column}) => placeOf(places.get(row), places.get(column));
        const points = cells.map((cell) => {
            const [x, y, across, down] = placeOfCell(cell);
            drawCell(svg, cell, [x, y, across, down], fullNs);
            return {x: x + across / 2, y: y + down / 2, of: cell};
        });
        const bottom = map.head + numbers.length * cellHeight + 12;
        drawMapLegend(svg, Math.min(width, Math.max(map.margin + numbers.length * cellWidth, 330)),
            bottom, fullNs);
        return {
            height: bottom + map.legend, points: points.sort((a, b) => a.y - b.y || a.x - b.x),
            tell: tellCell,
            mark: (layer, cell) => plots.box(layer, 'pointed', ...inside(placeOfCell(cell))),
        };
    }

    // Worst first: by the share of stamps that were smaller, then by how far the offset is outside
    // its bound.
    function worstOf({differences: offsets}) {
        const share = ({smaller, handovers}) => handovers > 0 ? smaller / handovers : 0;
        const outside = (pair) => Math.abs(pair.difference) - pair.bound;
        return [...offsets].sort((a, b) => share(b) - share(a) || outside(b) - outside(a))
            .slice(0, map.worst);
    }

    function drawPairs(section, report, clock) {
        const {name, differences: offsets} = clock;
        const order = orderOf(clock);
        const paired = new Set(offsets.flatMap(({cpu, other_cpu: other}) => [cpu, other]));
        const numbers = report.cpus.filter((number) => paired.has(number));
        const cells = offsets.flatMap((pair) =>
            [cellOf(pair, pair.cpu, pair.other_cpu), cellOf(pair, pair.other_cpu, pair.cpu)]);
        const worst = worstOf(clock);
        const pairs = `${words.count(offsets.length)} pairs`;
        section.append('h3').text(name);
        plots.figure(section, {
            id: `order-${clock.clock.replace(/\W/g, '-')}`, title: 'Offsets between processors',
            text: `${name}: the largest offset between two processors is ` +
            `${words.duration(order.offset)}, the largest bound ${words.duration(order.bound)}, ` +
            `and ${order.apart} of ${pairs} are apart.`,
            draw: (svg, width) => drawMap(clock, cells, numbers, svg, width),
        });
        const which = worst.length < offsets.length ? `the worst of ${pairs}`
            : 'all pairs, worst first';
        words.table(section, `${name}: ${which}`,
            ['CPUs', 'offset', 'bound', 'rounds', 'handovers', 'smaller', 'by at most'],
            worst.map((pair) => [`${pair.cpu} → ${pair.other_cpu}`,
                {text: words.duration(pair.difference), bad: apart(pair)},
                words.duration(pair.bound),
                words.count(pair.rounds), words.count(pair.handovers), judged(pair.smaller),
                where(pair.smaller > 0, pair.worst)]));
    }

    function drawOrder(main, report, clocks) {
        const section = words.section(main, 'order', 'Order across processors');
        const compared = clocks.filter(({differences: offsets}) => offsets.length > 0);
        const all = report.clocks.length === allClocks;
        if (report.cpus.length < 2) {
            words.paragraph(section, 'One processor: there is nothing to compare.');
            return;
        }
        words.paragraph(section,
            'Two processors handed a word to and fro through memory and read the clock each ' +
            'time. The true offset of their clocks surely lies within the one found ± its bound, ' +
            'which comes from the fastest round trip and the steps of the clock: an offset ' +
            'smaller than its bound may be none. ',
        ['i', null, 'Smaller'],
            ' counts stamps that were smaller than one taken before them on the other processor: ' +
            'events that a trace would show in the wrong order. A counter read by a bare ' +
            'instruction may be read ahead of what stands before it in the program; lfence+rdtsc ' +
            'shows the counter without that.');
        if (!report.all_pairs) {
            words.note(section,
                'There are too many processors to examine all pairs; those left out are not ' +
                'shown.');
        }
        // The map is empty there, which does not mean that they are in order.
        const cut = clocks.filter((clock) => clock.differences_left_out > 0);
        for (const {name, differences: offsets, differences_left_out: left} of cut) {
            words.note(section,
                `${name}: ${left} of ${offsets.length + left} pairs could not be compared, ` +
                'nothing ' +
                'is known of them.');
        }
        words.table(section, 'Order across processors',
            ['clock', 'pairs', 'largest offset', 'largest bound', 'pairs apart', 'handovers',
                'smaller', 'by at most'],
            compared.map((clock) => {
                const order = orderOf(clock);
                return [clock.name, words.count(clock.differences.length),
                    words.duration(order.offset), words.duration(order.bound),
                    judged(order.apart), words.count(order.handovers), judged(order.smaller),
                    where(order.smaller > 0, order.worst)];
            }));
        // A clock that was requested by name is shown in full.
        for (const clock of compared.filter(({clock}) => clock in contexts || !all)) {
            drawPairs(section, report, clock);
        }
    }

    // ---- Monotony ----

    function drawMonotony(main, report, clocks) {
        const section = words.section(main, 'monotony', 'Monotony');
        words.paragraph(section,
            'Whether the clock ever ran backwards or stood still while the kernel moved its ' +
            'readers between processors as it liked; each reading was taken when the one before ' +
            'was done. A stall is a time in which the clock did not change for more than ten of ' +
            'its steps while another one went on.');
        words.table(section, 'Monotony over the examination',
            ['clock', 'readings', 'steps backwards', 'largest of them', 'stalls',
                'longest of them'],
            clocks.map((clock) => [clock.name, words.count(clock.readings),
                judged(clock.backward_steps),
                where(clock.backward_steps > 0, clock.largest_backward), judged(clock.stalls),
                where(clock.stalls > 0, clock.longest_stall)]));
    }

    return {drawOrder, drawMonotony};
})());
