// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// How long spans took, over time.
'use strict';

Object.assign(reportPage, (() => {
    const {rate, plural, table} = reportPage;
    const quantiles = [
        ['max', 'the longest'], ['p50', 'half are not longer'], ['p90', '90 % are not'],
        ['p99', '99 % are not'],
    ];
    // The lines are drawn over the heat map, whose cells use the first colour, and below it.
    const lines = ['p50', 'p90', 'p99'];

    function drawTable(section, {classes, class_count: count}) {
        const ended = (its, ns) => its.count > 0 ? words.duration(ns) : words.nothing;
        table(section, 'Classes of spans, those that took most together first', [
            ['class', (its) => its.event_class],
            ['ended', (its) => words.count(its.count)],
            ['a second', (its) => rate(its.rate)],
            ['at once', (its) => rate(its.at_once)],
            ['p50', (its) => ended(its, its.duration.p50.value)],
            ['p90', (its) => ended(its, its.duration.p90.value)],
            ['p99', (its) => ended(its, its.duration.p99.value)],
            ['p99.9', (its) => ended(its, its.duration.p99_9.value)],
            ['max', (its) => ended(its, its.duration.max.value)],
            ['itself, p50', (its) => ended(its, its.self_duration.p50.value)],
            ['within', (its) => ended(its, its.duration.max.duration_error)],
            ['unfinished', (its) => words.count(its.unfinished)],
        ], classes);
        if (count > classes.length) {
            words.note(section,
                `${plural(count - classes.length, 'class')} that took less are left out.`);
        }
    }

    // The first cell begins at 0, which a logarithmic axis does not have: it extends to the lower
    // end.
    function cellsOf(columns, edges, time) {
        return columns.flatMap(([first, ...counts], column) => counts.map((count, i) => ({
            x0: time.begin(column), x1: time.end(column), y0: edges[first + i],
            y1: edges[first + i + 1], count,
        })).filter(({count}) => count > 0));
    }

    // A column in which no span ended is a gap.
    const pointsOf = (values, count, time) => values.map((value, i) =>
        [(time.begin(i) + time.end(i)) / 2, count[i] > 0 ? Math.max(value, 1) : null]);

    function drawMap(section, report, its, number, time) {
        const {over_time: over} = its;
        const y = {label: 'duration', log: true, least: 1, format: words.roundDuration,
            tell: words.duration};
        section.append('h3').text(its.event_class);
        charts.heat(section, {
            id: `heat-${number}`, title: `Durations of ${its.event_class} over time`, x: time.x, y,
            text: 'How many spans took how long, by when they ended: the darker, the more.',
            cells: cellsOf(over.cells, report.spans.cell_edges, time),
            lines: lines.map((name) => ({name, points: pointsOf(over[name], over.count, time)})),
        });
        charts.lines(section, {
            id: `quantiles-${number}`, title: `Quantiles of ${its.event_class} over time`,
            x: time.x, y, height: 160,
            text: 'Of the spans that ended in each column of time: ' +
                quantiles.map(([name, means]) => `${name}, ${means}`).join('; '),
            series: quantiles.map(([name]) =>
                ({name, points: pointsOf(over[name], over.count, time)})),
        });
    }

    function drawSpans(main, report, time) {
        const {spans} = report;
        if (spans.classes.length === 0) {
            return;
        }
        const section = words.section(main, 'spans', 'How long spans took');
        words.paragraph(section,
            `${plural(spans.started, 'span')} began, ${words.count(spans.ended)} ended. A span ` +
            'is what an instance or activity is from its START to its END; itself is without ' +
            'what its children cover.');
        if (spans.left_out > 0 || spans.replaced > 0 || spans.unmatched > 0) {
            words.note(section,
                `${words.count(spans.left_out)} were left out because too many were open, ` +
                `${words.count(spans.replaced)} replaced by a second START, ` +
                `${words.count(spans.unmatched)} ENDs had no START.`);
        }
        drawTable(section, spans);
        spans.classes.filter((its) => its.over_time)
            .forEach((its, i) => drawMap(section, report, its, i, time));
    }

    return {drawSpans};
})());
