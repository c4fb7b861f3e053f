// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// The slowest spans as timelines: the spans inside them, and their events. Each can be zoomed.
'use strict';

Object.assign(reportPage, (() => {
    const {plural} = reportPage;

    const named = (span) => `${span.event_class} ${span.activity || span.instance}`;
    const lastName = (text) => text.slice(text.lastIndexOf('/') + 1);

    // The row of each span: below its parent's row, the first that is free at that time.
    function placesOf(spans, total) {
        const taken = [];
        const above = [];
        const classes = [...new Set(spans.map((span) => span.event_class))];
        return spans.map((span) => {
            const [from, to] = [span.since_start, span.duration === null ? total
                : span.since_start + span.duration];
            let row = span.depth > 0 ? above[span.depth - 1] + 1 : 0;
            while ((taken[row] || []).some(([begin, end]) => begin < to && from < end)) {
                row++;
            }
            (taken[row] = taken[row] || []).push([from, to]);
            above[span.depth] = row;
            const took = span.duration === null ? '' : ` ${words.duration(span.duration)}`;
            return {span, row, from, to, name: lastName(span.event_class) + took,
                look: `s${classes.indexOf(span.event_class) % 8}`};
        });
    }

    function tellSpan(span) {
        const took = span.duration === null ? 'it did not end'
            : `took ${words.duration(span.duration)}, itself ${words.duration(span.self_duration)}`;
        const at = `at ${words.duration(span.since_start)}, ${took}`;
        const who = `process ${span.pid}, thread ${span.tid}`;
        return [named(span), at, `${who}, ${plural(span.events, 'event')}`].join('\n');
    }

    function tellEvent({event: name, since_start: ns, tid, fields}) {
        return [name, `at ${words.duration(ns)}, thread ${tid}`, fields].filter(Boolean)
            .join('\n');
    }

    function drawTree(parent, one, number) {
        const [root] = one.spans;
        // A span that began inside may outlive its parent.
        const total = d3.max(one.spans, (span) => span.since_start + (span.duration || 0));
        const spans = placesOf(one.spans, total);
        timeline(parent, {
            id: `tree-${number}`, title: named(root), label: `time since ${one.start_time}`,
            format: words.roundDuration,
            text: 'Spans over time, children below their parents; marks at their lower edges are ' +
            'events.',
            from: 0, to: total, rows: new Array(d3.max(spans, ({row}) => row) + 1).fill(''), spans,
            events: one.tree_events.map((event) =>
                ({event, row: spans[event.span].row, at: event.since_start})),
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
            words.mixed(summary, ['b', '', words.duration(root.duration)], ` ${named(root)} `,
                ['span', 'note',
                    `${one.start_time}, process ${root.pid}, ${plural(one.spans.length, 'span')}`]);
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
