// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// Plots with d3: figures and axes. A figure is as wide as its place, and drawn again when that
// changes. Colours are classes of the style sheet, which follow the page's light or dark mode. What
// a point means is shown to pointers and, with arrow keys, to the keyboard.
'use strict';

const plots = (() => {
    // An element of SVG with its class and attributes.
    function shape(parent, tag, style, attributes = {}) {
        const result = parent.append(tag).attr('class', style);
        for (const [name, value] of Object.entries(attributes)) {
            result.attr(name, value);
        }
        return result;
    }

    const line = (parent, style, x1, y1, x2, y2) => shape(parent, 'line', style, {x1, y1, x2, y2});
    const box = (parent, style, x, y, width, height) => shape(parent, 'rect', style,
        {x, y, width, height});
    const dot = (parent, style, cx, cy, r) => shape(parent, 'circle', style, {cx, cy, r});
    const text = (parent, style, x, y, content) => shape(parent, 'text', style, {x, y})
        .text(content);

    // ---- Points
    // ----------------------------------------------------------------------------------

    // The tip: a text beside a point, which screen readers read when it changes.
    function makeTip(frame) {
        const tip = frame.append('div').attr('class', 'tip').attr('role', 'status')
            .attr('aria-live', 'polite');
        return (words, point, scale, width) => {
            const right = point !== null && point.x > width / 2;
            tip.text(words);
            if (point !== null) {
                tip.style('top', point.y * scale + 12 + 'px')
                    .style('left', right ? null : point.x * scale + 12 + 'px')
                    .style('right', right ? (width - point.x) * scale + 12 + 'px' : null);
            }
        };
    }

    const ways = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

    // The nearest point in a direction; being straight ahead counts more than being near.
    function next(points, from, [right, down]) {
        let best = from;
        let least = Infinity;
        for (const point of points) {
            const [x, y] = [point.x - from.x, point.y - from.y];
            const along = x * right + y * down;
            const away = along + 4 * (Math.abs(x * down) + Math.abs(y * right));
            if (along > 0.01 && away < least) {
                [best, least] = [point, away];
            }
        }
        return best;
    }

    function nearest(points, x, y, by) {
        let best = null;
        let least = Infinity;
        for (const point of points) {
            const away = Math.hypot(by === 'y' ? 0 : point.x - x, by === 'x' ? 0 : point.y - y);
            if (away < least) {
                [best, least] = [point, away];
            }
        }
        return best;
    }

    // The point that a key leads to; null: none; undefined: another key. Points in a row, by x or
    // y, are visited in order with any arrow.
    function pointOf(key, {points, by}, from) {
        if (key === 'Escape') {
            return null;
        }
        if (key === 'Home' || (from === null && key in ways)) {
            return points[0];
        }
        if (key === 'End') {
            return points[points.length - 1];
        }
        if (!(key in ways)) {
            return undefined;
        }
        const [right, down] = ways[key];
        return by ? points[points.indexOf(from) + right + down] || from
            : next(points, from, ways[key]);
    }

    // ---- Figures ----

    // {id, title, text, draw, least, keys}. title and text are read out in place of the plot.
    // draw(svg, width) draws it `width` wide, at least `least`, and returns {height, points, by,
    // tell, mark}. points are {x, y, of} in units of the plot; tell(of) returns a point's text,
    // mark(layer, of) highlights it. by: the points are in a row, and pointers find them by 'x' or
    // 'y' alone. keys: functions of other keys, called with the current point. Returns {svg,
    // redraw}.
    function figure(parent, {id, title, text: description, draw, least = 280, keys = {}}) {
        const frame = parent.append('figure');
        const svg = frame.append('svg').attr('id', id).attr('role', 'img')
            .attr('aria-labelledby', `${id}-title ${id}-text`);
        const tip = makeTip(frame);
        let drawn = {width: 0, points: []};
        let at = null;

        function point(to) {
            const layer = svg.select('.pointing');
            at = to;
            layer.selectAll('*').remove();
            if (to !== null) {
                drawn.mark(layer, to.of);
            }
            tip(to === null ? '' : drawn.tell(to.of), to, svg.node().getBoundingClientRect()
                .width / drawn.width, drawn.width);
        }

        function redraw() {
            const width = Math.max(Math.floor(frame.node().clientWidth), least);
            const was = at;
            svg.selectAll('*').remove();
            svg.append('title').attr('id', `${id}-title`).text(title);
            svg.append('desc').attr('id', `${id}-text`).text(description);
            drawn = {points: [], ...draw(svg, width), width};
            svg.attr('viewBox', `0 0 ${width} ${drawn.height}`)
                .attr('tabindex', drawn.points.length > 0 ? 0 : null);
            svg.append('g').attr('class', 'pointing');
            point(was && drawn.points.find(({of}) => of === was.of) || null);
        }

        svg.node().addEventListener('keydown', (event) => {
            const to = drawn.points.length > 0 ? pointOf(event.key, drawn, at) : undefined;
            if (to !== undefined) {
                point(to);
            } else if (event.key in keys) {
                keys[event.key](at && at.of);
            } else {
                return;
            }
            event.preventDefault();
        });
        svg.node().addEventListener('pointermove', ({clientX, clientY}) => {
            const {left, top, width} = svg.node().getBoundingClientRect();
            const scale = drawn.width / width;
            point(nearest(drawn.points, (clientX - left) * scale, (clientY - top) * scale,
                drawn.by));
        });
        svg.node().addEventListener('pointerleave', () => point(null));
        svg.node().addEventListener('blur', () => point(null));
        redraw();
        new ResizeObserver(() => {
            if (Math.max(Math.floor(frame.node().clientWidth), least) !== drawn.width) {
                redraw();
            }
        }).observe(frame.node());
        return {svg, redraw};
    }

    // ---- Axes ----

    // An axis is {scale, label, format, values}: values are its ticks, by default those of d3;
    // format labels them. Labels are thinned out until they are `room` apart.
    function named({scale, values}, room) {
        const [from, to] = scale.range();
        const most = Math.max(1, Math.floor(Math.abs(to - from) / room));
        if (values) {
            const every = Math.ceil((values.length - 1) / most);
            return values.filter((_, i) => i % every === 0);
        }
        return scale.ticks(most);
    }

    // Below a plot, with lines up to `top`.
    function across(svg, axis, top, bottom, room = 64) {
        const {scale, label, format, values} = axis;
        const [from, to] = scale.range();
        const names = named(axis, room);
        for (const value of values || names) {
            line(svg, 'grid', scale(value), top, scale(value), bottom);
        }
        for (const value of names) {
            // At the right edge there is no room for half of a centred label.
            const [style, x] = scale(value) > to - 8 ? ['tick end', to + 12]
                : ['tick middle', scale(value)];
            text(svg, style, x, bottom + 16, format(value));
        }
        line(svg, 'axis', from, bottom, to, bottom);
        text(svg, 'axis-title middle', (from + to) / 2, bottom + 33, label);
    }

    // At the left of a plot, with lines to `right`; the axis label is above it.
    function up(svg, axis, left, right, room = 28) {
        const {scale, label, format, values} = axis;
        const [from, to] = scale.range();
        const names = named(axis, room);
        for (const value of values || names) {
            line(svg, 'grid', left, scale(value), right, scale(value));
        }
        for (const value of names) {
            text(svg, 'tick end', left - 6, scale(value) + 4, format(value));
        }
        line(svg, 'axis', left, from, left, to);
        text(svg, 'axis-title', 0, to - 12, label);
    }

    // Whole decades around [smallest, largest], at least one and never below `least`, itself a
    // power of ten.
    function decades(smallest, largest, least) {
        const from = Number.isFinite(smallest) ? Math.max(smallest, least) : least;
        const to = Number.isFinite(largest) ? Math.min(Math.max(largest, from), 1e15) : from;
        const low = Math.floor(Math.log10(from) + 1e-9);
        return [low, Math.max(Math.ceil(Math.log10(to) - 1e-9), low + 1)];
    }

    // A logarithmic axis over whole decades; values outside are at its ends.
    function logarithmic({smallest, largest, least = 1, range, label,
        format = words.roundDuration}) {
        const [low, high] = decades(smallest, largest, least);
        return {
            scale: d3.scaleLog([10 ** low, 10 ** high], range).clamp(true),
            values: d3.range(low, high + 1).map((power) => 10 ** power), label, format,
        };
    }

    return {shape, line, box, dot, text, figure, across, up, logarithmic};
})();
