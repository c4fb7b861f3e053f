// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// Events over time, by name.
'use strict';

Object.assign(reportPage, (() => {
    const {rate, rateText, plural, firstOf, strips} = reportPage;

    function drawStack(section, report, time) {
        charts.lines(section, {
            id: 'rates', title: 'Events over time, by name',
            text: 'How many events of each name each column of time has, one over the other.',
            x: time.x, height: 260, stacked: true, steps: true,
            y: {label: `events in ${words.duration(time.width)}`, format: words.roundCount,
                tell: words.count},
            series: firstOf(report.by_event.map((row) => ({...row, name: row.event})),
                (row) => row.over_time, report.other_over_time,
                'all others')
                .map(({name, values}) => ({name, points: time.steps(values)})),
        });
    }

    function drawTable(section, report) {
        const all = d3.sum(report.by_event, ({events}) => events) + report.other_events;
        const row = (name, events, perSecond) => [name, words.count(events),
            words.percent(events, all),
            rate(perSecond)];
        const rows = report.by_event.map(({event, events, rate: perSecond}) =>
            row(event, events, perSecond));
        if (report.other_events > 0) {
            rows.push(row(`${plural(report.other_kinds, 'more name')}`, report.other_events,
                report.other_rate));
        }
        words.paragraph(section, rateText(report));
        words.table(section, 'Events by name', ['name', 'events', 'of all', 'a second'], rows);
    }

    function drawRates(main, report, time) {
        const section = words.section(main, 'events', 'Events over time');
        drawStack(section, report, time);
        if (report.by_event.length > 1) {
            words.paragraph(section,
                'Each row is one name, as dark as it was frequent against its own most: so what ' +
                'is rare is seen too.');
            strips(section, time, {
                id: 'names', title: 'Each name over time',
                text: 'For each name, how many events each column of time has.',
                rows: report.by_event.map(({event: name, over_time: values}) => ({name, values})),
                tell: (events) => plural(events, 'event'),
            });
        }
        drawTable(section, report);
    }

    return {drawRates};
})());
