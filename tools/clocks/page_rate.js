// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// Rates: how fast the clocks run against two others, and how the error of converted stamps grows.
'use strict';

Object.assign(clocksPage, (() => {
    const {ppm, ppmInterval, interval, hz, labelOf} = clocksPage;

    // ---- Drift ----

    const drift = {row: 36, narrowRow: 58, top: 30, bottom: 42, figures: 138, labels: 196};

    // Values that are almost unknown, such as the drift of a coarse clock, would hide the others,
    // so they extend beyond the edges. The logarithmic part has at most three decades, since
    // smaller values hardly matter.
    function driftScale(drifts, range) {
        const narrowest = d3.min(drifts, (one) => one.interval_ppm > 0 ? one.interval_ppm : null);
        const vague = (one) => one.interval_ppm > Math.abs(one.ppm) &&
            one.interval_ppm > 100 * narrowest;
        const known = drifts.filter((one) => one.ppm !== null && one.interval_ppm !== null &&
            !vague(one));
        const reach = d3.max([1e-3, ...known.map((one) => Math.abs(one.ppm) + one.interval_ppm)]);
        const power = Math.ceil(Math.log10(Math.min(reach, 1e12)) - 1e-9);
        const marks = d3.range(power - 3, power + 1).map((each) => 10 ** each);
        return {
            scale: d3.scaleSymlog([-(10 ** power), 10 ** power], range).constant(marks[0])
            .clamp(true),
            // The innermost ticks are too close to 0 for labels.
            lines: [...marks.map((mark) => -mark), ...marks],
            names: [...marks.slice(1).map((mark) => -mark), 0, ...marks.slice(1)],
        };
    }

    function drawOneDrift(svg, scale, one, series, y) {
        if (one === null || one.ppm === null) {
            return;
        }
        const reach = one.interval_ppm === null ? Infinity : one.interval_ppm;
        const [low, high] = [scale(one.ppm - reach), scale(one.ppm + reach)];
        const look = `s${series} mark thin`;
        plots.line(svg, look, low, y, high, y);
        plots.line(svg, look, low, y - 4, low, y + 4);
        plots.line(svg, look, high, y - 4, high, y + 4);
        plots.dot(svg, `s${series} dot`, scale(one.ppm), y, 3.6);
    }

    function drawDriftPlot(clocks, svg, width) {
        const narrow = width < 600;
        const row = narrow ? drift.narrowRow : drift.row;
        const bottom = drift.top + clocks.length * row;
        const range = narrow ? [26, width - 26] : [drift.labels, width - drift.figures];
        const drifts = clocks.flatMap((clock) => [clock.against_raw, clock.against_realtime])
            .filter(Boolean);
        const {scale, lines, names} = driftScale(drifts, range);
        const zero = scale(0);
        lines.forEach((value) => plots.line(svg, 'grid', scale(value), drift.top, scale(value),
            bottom));
        names.forEach((value) => plots.text(svg, 'tick middle', scale(value), bottom + 16,
            words.signed(value === 0 ? '0' : d3.format(Math.abs(value) < 1e5 ? '+'
                : '+.0e')(value))));
        plots.line(svg, 'axis', zero, drift.top, zero, bottom);
        plots.line(svg, 'axis', range[0], bottom, range[1], bottom);
        plots.text(svg, 'axis-title middle', zero, bottom + 33,
            'ppm; right of 0 the clock is fast');
        plots.text(svg, 'tick end', width, drift.top - 10, 'ppm');
        const points = clocks.map((clock, i) => {
            const middle = drift.top + (i + 1) * row - 18;
            const {name, against_raw: raw, against_realtime: real} = clock;
            plots.text(svg, labelOf(clock), 0, narrow ? middle - 18 : middle + 4, name);
            [raw, real].forEach((one, k) => {
                const y = middle + (k === 0 ? -7 : 7);
                drawOneDrift(svg, scale, one, k, y);
                if (one !== null && !narrow) {
                    plots.text(svg, `s${k} named end`, width, y + 4, interval(one));
                }
            });
            return {x: scale((raw || real).ppm), y: middle, of: clock};
        });
        return {
            height: bottom + drift.bottom, by: 'y', points,
            tell: ({name, against_raw: raw, against_realtime: real}) => `${name}, ppm\n` +
                `against CLOCK_MONOTONIC_RAW: ${interval(raw)}\nagainst CLOCK_REALTIME: ` +
            `${interval(real)}`,
            mark: (layer, clock) =>
                plots.box(layer, 'pointed', -4, drift.top + clocks.indexOf(clock) * row, width + 8,
                    row),
        };
    }

    function drawDrift(main, report, clocks) {
        const section = words.section(main, 'drift', 'Drift');
        const known = clocks.filter((clock) => clock.against_raw !== null ||
            clock.against_realtime !== null);
        if (known.length === 0) {
            words.paragraph(section, 'It could not be measured.');
            return;
        }
        words.paragraph(section, 'How fast each clock runs against ',
            ['b', 's0 named', 'CLOCK_MONOTONIC_RAW'],
            ' and against ', ['b', 's1 named', 'CLOCK_REALTIME'],
            ', which the kernel steers to true time where it is synchronized. The lines are ' +
            'intervals of 95\u00a0%; a longer examination narrows them; one that reaches the ' +
            'edges goes on beyond. 1\u00a0ppm is a microsecond in each second.');
        plots.figure(section, {
            id: 'drift-plot', title: 'Drift of each clock in ppm',
            text: 'For each clock its rate against CLOCK_MONOTONIC_RAW and CLOCK_REALTIME in ' +
            'ppm, with the interval of 95 %. The table below has the same figures.',
            draw: (svg, width) => drawDriftPlot(known, svg, width),
        });
        words.table(section, 'Drift, ppm',
            ['clock', 'against CLOCK_MONOTONIC_RAW', 'against CLOCK_REALTIME', 'readings', 'over'],
            known.map(({name, against_raw: raw, against_realtime: real}) => [name, interval(raw),
                interval(real),
                words.count((raw || real).points), words.duration((raw || real).duration)]));
    }

    // ---- Conversion ----

    const spans = [[1, '1 s', 'after_second'], [60, '1 min', 'after_minute'],
        [3600, '1 h', 'after_hour'],
        [90000, '25 h', 'after_day']];
    const nameOf = new Map(spans.map(([seconds, name]) => [seconds, name]));

    // The error of a converted stamp after each time, and its range from the rate's interval.
    function growthOf(conversion) {
        return spans.map(([seconds, , key]) => {
            const error = conversion[key] === null ? null : Math.abs(conversion[key]);
            const reach = Math.abs(conversion.interval_ppm) * seconds * 1e3;
            return [seconds, error, error - reach, error + reach];
        });
    }

    function drawConversion(main, report) {
        const section = words.section(main, 'conversion',
            'Conversion of the cycle counter\u2019s stamps');
        const {conversions} = report;
        if (conversions.length === 0) {
            words.paragraph(section, 'There is no rate of the cycle counter to convert with.');
            return;
        }
        words.paragraph(section,
            'How far a stamp is off after a time if it is converted by one rate all along: by ' +
            'the exact frequency (the one stated, or measured where none is), by the whole ' +
            'number of MHz that a trace\u2019s header has, or by the calibration that etwas ' +
            'records beside it. The bands are the interval of 95\u00a0% of the rate measured ' +
            'here. A trace\u2019s own readings of the clock, one each second, keep its stamps ' +
            'closer than any of these.');
        charts.lines(section, {
            id: 'conversion-plot', title: 'Growth of the conversion error',
            text: 'How far a converted stamp of the cycle counter is off after a time, for each ' +
            'rate, both axes logarithmic. The table below has the same figures.',
            height: 280, dots: true,
            x: {label: 'time since the trace began', log: true,
                values: spans.map(([seconds]) => seconds),
                format: (seconds) => nameOf.get(seconds), tell: (seconds) =>
                `after ${nameOf.get(seconds)}`},
            y: {label: 'error', log: true, least: 0.1, format: words.roundDuration,
                tell: words.duration},
            series: conversions.map((conversion) =>
                ({name: conversion.name, points: growthOf(conversion)})),
        });
        words.table(section, 'Error of converted stamps',
            ['rate', 'frequency', 'off by, ppm', ...spans.map(([, name]) => `after ${name}`)],
            conversions.map((conversion) => [conversion.name, hz(conversion.hz),
                `${ppm(conversion.error_ppm)} ± ${ppmInterval(conversion.interval_ppm)}`,
                ...spans.map(([, , key]) => words.duration(conversion[key]))]));
    }

    return {drawDrift, drawConversion};
})());
