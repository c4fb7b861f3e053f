// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// What a reading costs, and the steps between readings.
'use strict';

Object.assign(clocksPage, (() => {
    const {nanoseconds, labelOf, sum} = clocksPage;

    // ---- The cost of a reading ----

    const cost = {row: 42, narrowRow: 58, hill: 20, top: 30, bottom: 42, column: 76, labels: 196};

    function drawHill(svg, scale, bins, base) {
        const most = d3.max(bins, ({count}) => count);
        for (const {least: from, most: to, count} of bins.filter((bin) => bin.count > 0)) {
            // The rarest values must still be visible: a mean hides outliers.
            const height = Math.max(cost.hill * Math.sqrt(count / most), 1.2);
            plots.box(svg, 's0 hill', scale(from), base - height, Math.max(scale(to) - scale(from),
                0.8), height);
        }
    }

    function drawCostRow(svg, scale, {warm, cold, warm_histogram: bins}, base) {
        if (warm !== null) {
            const [low, middle] = [scale(warm.min), scale(warm.p50)];
            drawHill(svg, scale, bins, base);
            plots.line(svg, 's0 mark thin', low, base, scale(warm.max), base);
            plots.line(svg, 's0 mark thick', low, base, scale(warm.p99), base);
            plots.line(svg, 's0 mark thick', middle, base - 5, middle, base + 5);
        }
        if (cold !== null) {
            plots.line(svg, 's1 mark thin', scale(cold.min), base + 9, scale(cold.p99),
                base + 9);
            plots.dot(svg, 's1 dot', scale(cold.p50), base + 9, 3.6);
        }
    }

    function tellCost({name, warm, cold}) {
        const parts = [['p50', 'median'], ['mean', 'mean'], ['p99', '99 % below'],
            ['max', 'at most']];
        const told = (values) => parts.map(([key, word]) =>
            `${word} ${words.duration(values[key])}`).join(', ');
        return [name, warm && `warm: ${told(warm)}`, cold && `cold: ${told(cold)}`].filter(Boolean)
            .join('\n');
    }

    function drawCostPlot(clocks, svg, width) {
        const narrow = width < 600;
        const row = narrow ? cost.narrowRow : cost.row;
        const bottom = cost.top + clocks.length * row;
        const right = narrow ? width - 18 : width - 2 * cost.column - 14;
        const axis = plots.logarithmic({
            smallest: d3.min(clocks, ({warm, cold}) =>
                d3.min([warm && warm.min, cold && cold.min])),
            largest: d3.max(clocks, ({warm, cold}) =>
                d3.max([warm && warm.max, cold && cold.p99])),
            range: [narrow ? 18 : cost.labels, right], label: 'cost of one reading',
        });
        plots.across(svg, axis, cost.top, bottom);
        plots.text(svg, 's0 named tick end', width - cost.column, cost.top - 10, 'warm mean');
        plots.text(svg, 's1 named tick end', width, cost.top - 10, 'cold median');
        const points = clocks.map((clock, i) => {
            const base = cost.top + (i + 1) * row - 14;
            const line = narrow ? base - 26 : base;
            plots.text(svg, labelOf(clock), 0, line, clock.name);
            if (clock.warm !== null) {
                plots.text(svg, 's0 named end', width - cost.column, line,
                    words.duration(clock.warm.mean));
            }
            if (clock.cold !== null) {
                plots.text(svg, 's1 named end', width, line, words.duration(clock.cold.p50));
            }
            drawCostRow(svg, axis.scale, clock, base);
            return {x: clock.warm ? axis.scale(clock.warm.p50) : right, y: base, of: clock};
        });
        return {
            height: bottom + cost.bottom, by: 'y', points, tell: tellCost,
            mark: (layer, clock) =>
                plots.box(layer, 'pointed', -4, cost.top + clocks.indexOf(clock) * row + 1,
                    width + 8, row),
        };
    }

    function drawCost(main, report, clocks) {
        const section = words.section(main, 'cost', 'What a reading costs');
        const step = d3.max(clocks, (clock) => clock.timer_step);
        const missing = report.clocks.filter(({available}) => !available).map(({name}) => name);
        words.paragraph(section,
            'The hill is the distribution of single readings, warm; its height is the square ' +
            'root of the share, for rare readings to be seen. The line below it runs from the ' +
            'fastest to the slowest, its ',
        ['b', 's0 named', 'thick part'],
            ' holds 99\u00a0% of them, and the mark is the median. The ',
        ['b', 's1 named', 'dot'],
            ' is the median of readings whose code and data were put out of the caches before, ' +
            'its line runs from the fastest to the 99th percentile. The loop\u2019s own cost is ' +
            'subtracted. ',
        ['i', null, 'In a row'], ' is the mean of many readings without timing each.');
        if (step > 0) {
            words.note(section,
                `Single readings are timed in steps of ${words.duration(step)}: of cheap ones, `,
                ['i', null, 'in a row'],
                ' and the mean say more than the median and the other quantiles.');
        }
        plots.figure(section, {
            id: 'cost-plot', title: 'Cost of one reading of each clock',
            text: 'For each clock the distribution of the cost of one reading in nanoseconds, on ' +
            'a logarithmic axis. The table below has the same figures.',
            draw: (svg, width) => drawCostPlot(clocks, svg, width),
        });
        const quantiles = ['mean', 'min', 'p50', 'p90', 'p99', 'p99_9', 'max'];
        words.table(section, 'Cost of one reading, ns',
            ['clock', 'in a row', 'mean', 'minimum', 'median', 'p90', 'p99', 'p99.9', 'maximum',
                'cold median',
                'cold p99'],
            clocks.map(({name, back_to_back: inRow, warm, cold}) => [name, nanoseconds(inRow),
                ...quantiles.map((key) => nanoseconds(warm && warm[key])),
                ...['p50', 'p99'].map((key) => nanoseconds(cold && cold[key]))]));
        if (missing.length > 0) {
            words.note(section, `Not available here: ${missing.join(', ')}.`);
        }
    }

    // ---- Steps between readings ----

    const small = {left: 44, zero: 36, bar: 10, top: 12, base: 124, height: 162};

    // The axes of all small plots, the same so that they can be compared.
    function stepAxes(clocks) {
        const bins = clocks.flatMap(({steps}) => {
            const all = sum(steps);
            return steps.filter(({least, count}) => count > 0 && least > 0)
                .map((bin) => ({...bin, share: bin.count / all}));
        });
        const rarest = d3.min([0.01, ...bins.map(({share}) => share)]);
        return {
            smallest: d3.min(bins, ({least}) => least), largest: d3.max(bins, ({most}) => most),
            decades: Math.min(2 * Math.ceil(-Math.log10(rarest) / 2), 8),
        };
    }

    function drawSteps({steps, name}, axes, svg, width) {
        const {left, top, base, bar} = small;
        const all = sum(steps);
        const axis = plots.logarithmic({...axes, least: 0.1, range: [left + small.zero, width - 22],
            label: 'step'});
        const height = (share) =>
            (base - top) * Math.min(Math.max(1 + Math.log10(share) / axes.decades, 0.012), 1);
        for (let power = 0; power <= axes.decades; power += 2) {
            const y = top + (base - top) * power / axes.decades;
            plots.line(svg, 'grid', left, y, width - 8, y);
            plots.text(svg, 'tick end', left - 5, y + 4, ['100 %', '1 %', '10⁻⁴', '10⁻⁶',
                '10⁻⁸'][power / 2]);
        }
        plots.across(svg, axis, top, base, 50);
        plots.line(svg, 'axis', left, base, left + bar + 8, base);
        plots.text(svg, 'tick middle', left + 4 + bar / 2, base + 16, '0');
        const place = ({least: from, most: to, count}) => {
            // A logarithmic axis has no 0.
            const [x, end] = from > 0 ? [axis.scale(from), axis.scale(to)]
                : [left + 4, left + 4 + bar];
            return [x, base - height(count / all), Math.max(end - x - 0.5, 1.2),
                height(count / all)];
        };
        const points = steps.filter(({count}) => count > 0).map((bin) => {
            const [x, y, across] = place(bin);
            plots.box(svg, 's0 bar', ...place(bin));
            return {x: x + across / 2, y, of: bin};
        });
        return {
            height: small.height, by: 'x', points, mark: (layer, bin) => plots.box(layer, 'pointed',
                ...place(bin)),
            tell: ({least: from, most: to, count}) => {
                const range = from > 0 ? `${words.duration(from)} to ${words.duration(to)}`
                    : 'equal';
                return `${name}\n${range}: ${words.count(count)} (${words.percent(count, all)})`;
            },
        };
    }

    function drawResolution(main, report, clocks) {
        const section = words.section(main, 'steps', 'Resolution');
        const axes = stepAxes(clocks);
        words.paragraph(section,
            'Steps between readings one after the other, as a share of all; equal readings are ' +
            'at 0. Both axes are logarithmic and the same for all clocks. Two events of one ' +
            'thread can be told apart by their stamps if they are further from each other than ' +
            'what the clock moves by; a counter may add a tick to a second reading before it has ' +
            'moved, which is then its smallest step and says nothing. Large steps are interrupts ' +
            'and other guests, not the clock.');
        const smalls = section.append('div').attr('class', 'smalls');
        for (const clock of clocks.filter(({steps}) => sum(steps) > 0)) {
            const place = smalls.append('div');
            const facts = `smallest ${words.duration(clock.resolution)}, moves by ` +
                `${words.duration(clock.unit)}, equal ` +
                    `${words.percent(clock.equal_pairs, clock.pairs)}`;
            place.append('h3').text(clock.name);
            words.note(place, facts);
            plots.figure(place, {
                id: `steps-${clock.clock.replace(/\W/g, '-')}`, title: 'Steps between readings',
                text: `${clock.name}: ${facts}`, least: 220, draw: (svg, width) =>
                drawSteps(clock, axes, svg, width),
            });
        }
        words.table(section, 'Steps between readings one after the other',
            ['clock', 'one tick', 'smallest step', 'moves by', 'pairs of readings', 'equal'],
            clocks.map((clock) => [clock.name, words.duration(clock.tick),
                words.duration(clock.resolution),
                words.duration(clock.unit), words.count(clock.pairs),
                words.percent(clock.equal_pairs, clock.pairs)]));
    }

    return {drawCost, drawResolution};
})());
