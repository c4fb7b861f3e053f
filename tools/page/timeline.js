// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// A timeline: spans in rows, and single events in them. It can be zoomed by buttons, by the keys +
// - 0, by two fingers or the wheel with Ctrl, and moved by dragging.
'use strict';

const timeline = (() => {
    const row = {height: 20, gap: 4};
    const edges = {left: 118, narrowLeft: 8, right: 14, top: 8, bottom: 42};
    const widthOfLetter = 6.6; // in the font of span names

    // As much of a name as fits.
    function fit(name, width) {
        const letters = Math.floor((width - 8) / widthOfLetter);
        return letters >= name.length ? name : letters < 3 ? '' : name.slice(0, letters - 1) + '…';
    }

    // {id, title, text, label, from, to, format, rows, spans, events, tell}. rows are names; ""
    // continues the row above. spans are {row, from, to, name, look}, with classes of the style
    // sheet in look; events are {row, at}. format labels the ticks of the axis; tell(of) returns
    // the text of a span or an event.
    function timeline(parent, options) {
        const {rows, spans, events, from, to, label, format, tell} = options;
        const whole = [from, Math.max(to, from + 1)];
        let shown = whole;
        let scale = null;
        let figure = null;

        function show([low, high]) {
            const width = Math.min(Math.max(high - low, (whole[1] - whole[0]) / 1e6),
                whole[1] - whole[0]);
            const start = Math.min(Math.max(low, whole[0]), whole[1] - width);
            shown = [start, start + width];
            figure.redraw();
        }

        // Zooms around a moment, which keeps its position.
        function zoom(factor, at = (shown[0] + shown[1]) / 2) {
            show([at - (at - shown[0]) * factor, at + (shown[1] - at) * factor]);
        }

        const middleOf = (of) => of === null ? undefined : of.at !== undefined ? of.at
            : (of.from + of.to) / 2;

        const top = (of) => edges.top + of.row * (row.height + row.gap);
        const isShown = ({from: start, to: end}) => end >= shown[0] && start <= shown[1];

        function place(span) {
            const [left, right] = [scale(Math.max(span.from, shown[0])),
                scale(Math.min(span.to, shown[1]))];
            return [left, top(span), Math.max(right - left, 1.5), row.height];
        }

        function drawSpan(svg, span) {
            const [left, y, width, height] = place(span);
            plots.box(svg, `${span.look} span`, left, y, width, height);
            const name = fit(span.name, width);
            if (name !== '') {
                plots.text(svg, 'span-name', left + 4, y + 14, name);
            }
            return {x: left + width / 2, y: y + height / 2, of: span};
        }

        function drawEvent(svg, event) {
            const [x, y] = [scale(event.at), top(event) + row.height];
            plots.shape(svg, 'path', 'event', {d: `M${x},${y - 7}l4,7h-8z`});
            return {x, y, of: event};
        }

        function draw(svg, width) {
            const left = width < 600 || rows.every((name) => name === '') ? edges.narrowLeft
                : edges.left;
            const bottom = edges.top + rows.length * (row.height + row.gap);
            scale = d3.scaleLinear(shown, [left, width - edges.right]);
            plots.across(svg, {scale, label, format}, edges.top, bottom, 90);
            rows.forEach((name, i) => {
                if (name !== '' && left === edges.left) {
                    plots.text(svg, 'tick', 0, top({row: i}) + 14, fit(name, edges.left));
                }
            });
            const points = spans.filter(isShown).map((span) => drawSpan(svg, span));
            const moments = events.filter(({at}) => at >= shown[0] && at <= shown[1])
                .map((event) => drawEvent(svg, event));
            return {
                height: bottom + edges.bottom, points: [...points, ...moments], tell,
                mark: (layer, of) => of.at === undefined ? plots.box(layer, 'pointed', ...place(of))
                :
                    plots.line(layer, 'pointer', scale(of.at), edges.top, scale(of.at), bottom),
            };
        }

        // The moment at a pointer's position.
        function momentOf(event) {
            const box = figure.svg.node().getBoundingClientRect();
            const width = figure.svg.node().viewBox.baseVal.width;
            return scale.invert((event.clientX - box.left) / box.width * width);
        }

        function listen() {
            const node = figure.svg.node();
            let held = null;
            node.addEventListener('wheel', (event) => {
                if (event.ctrlKey) {
                    event.preventDefault();
                    zoom(Math.exp(event.deltaY / 300), momentOf(event));
                }
            }, {passive: false});
            node.addEventListener('pointerdown', (event) => {
                held = momentOf(event);
            });
            node.addEventListener('pointermove', (event) => {
                if (held !== null && event.buttons === 1) {
                    const by = held - momentOf(event);
                    show([shown[0] + by, shown[1] + by]);
                }
            });
            node.addEventListener('pointerup', () => {
                held = null;
            });
        }

        const buttons = parent.append('div').attr('class', 'buttons');
        const steps = {'+': () => zoom(0.5), '\u2212': () => zoom(2), all: () => show(whole)};
        for (const [name, step] of Object.entries(steps)) {
            buttons.append('button').attr('type', 'button').text(name)
                .attr('aria-label', {'+': 'zoom in', '\u2212': 'zoom out', all: 'show all'}[name])
                    .node()
                .addEventListener('click', step);
        }
        figure = plots.figure(parent, {
            ...options, draw, keys: {
                '+': (of) => zoom(0.5, middleOf(of)), '=': (of) => zoom(0.5, middleOf(of)),
                '-': (of) => zoom(2, middleOf(of)), 0: () => show(whole),
            },
        });
        listen();
        return figure;
    }

    return timeline;
})();
