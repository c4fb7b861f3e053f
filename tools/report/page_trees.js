// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// The slowest spans as time lines: what was inside of them, and their events. Each can be looked at
// closer.
'use strict';

Object.assign(reportPage, (() => {
    const {plural} = reportPage;

    const named = (span) => `${span.class} ${span.activity || span.instance}`;
    const lastName = (text) => text.slice(text.lastIndexOf('/') + 1);

    // The row of each span: below its parent's, and where nothing else is at its time.
    function placesOf(spans, total) {
        const taken = [];
        const above = [];
        const classes = [...new Set(spans.map((span) => span.class))];
        return spans.map((span) => {
            const [from, to] = [span.at_ns, span.duration_ns === null ? total
                : span.at_ns + span.duration_ns];
            let row = span.depth > 0 ? above[span.depth - 1] + 1 : 0;
            while ((taken[row] || []).some(([begin, end]) => begin < to && from < end)) {
                row++;
            }
            (taken[row] = taken[row] || []).push([from, to]);
            above[span.depth] = row;
            const took = span.duration_ns === null ? '' : ` ${words.duration(span.duration_ns)}`;
            return {span, row, from, to, name: lastName(span.class) + took,
                look: `s${classes.indexOf(span.class) % 8}`};
        });
    }

    function tellSpan(span) {
        const took = span.duration_ns === null ? 'it did not end'
            : `took ${words.duration(span.duration_ns)}, itself ${words.duration(span.self_ns)}`;
        const at = `at ${words.duration(span.at_ns)}, ${took}`;
        const who = `process ${span.process}, thread ${span.thread}`;
        return [named(span), at, `${who}, ${plural(span.events, 'event')}`].join('\n');
    }

    function tellEvent({name, at_ns: ns, thread, fields}) {
        return [name, `at ${words.duration(ns)}, thread ${thread}`, fields].filter(Boolean)
            .join('\n');
    }

    function drawTree(parent, one, number) {
        const [root] = one.spans;
        // What began inside may outlive it.
        const total = d3.max(one.spans, (span) => span.at_ns + (span.duration_ns || 0));
        const spans = placesOf(one.spans, total);
        timeline(parent, {
            id: `tree-${number}`, title: named(root), label: `time since ${one.start}`,
            format: words.roundDuration,
            text: 'Spans over time, children below their parents; marks at their lower edges are ' +
            'events.',
            from: 0, to: total, rows: new Array(d3.max(spans, ({row}) => row) + 1).fill(''), spans,
            events: one.tree_events.map((event) =>
                ({event, row: spans[event.span].row, at: event.at_ns})),
            tell: ({span, event}) => span ? tellSpan(span) : tellEvent(event),
        });
        const left = one.left_out > 0 ? `${plural(one.left_out, 'span')} inside of it` : '';
        const events = one.tree_events_left_out > 0 ? plural(one.tree_events_left_out, 'event')
            : '';
        if (left || events) {
            words.note(parent, `Not shown: ${[left, events].filter(Boolean).join(', ')}.`);
        }
    }

    function drawTrees(main, report) {
        if (report.slowest.length === 0) {
            return;
        }
        const section = words.section(main, 'slowest', 'The slowest spans');
        words.paragraph(section,
            'Each opens as a time line. Marks at the lower edges are events; the arrow keys go ' +
            'from one thing to the next, + and − closer and farther, 0 shows all; so do the ' +
            'buttons, the wheel with Ctrl, and dragging.');
        report.slowest.forEach((one, i) => {
            const [root] = one.spans;
            const details = section.append('details').attr('class', 'tree')
                .property('open', i === 0);
            const summary = details.append('summary');
            words.mixed(summary, ['b', '', words.duration(root.duration_ns)], ` ${named(root)} `,
                ['span', 'note',
                    `${one.start}, process ${root.process}, ${plural(one.spans.length, 'span')}`]);
            let drawn = false;
            const draw = () => {
                if (!drawn && details.property('open')) {
                    drawn = true;
                    drawTree(details, one, i);
                }
            };
            details.on('toggle', draw);
            draw();
        });
    }

    return {drawTrees};
})());
