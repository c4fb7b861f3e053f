// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// Charts of the usual kinds: lines and stacked areas over one axis, and heat maps.
//
// An axis of a chart is {label, format, tell, log, least, from, to, values}. format labels its
// ticks, tell (or format) the values of points. By default it begins at 0 and ends with the data;
// from and to override that. With log it has whole decades, none below `least`. values are explicit
// ticks, from the first to the last.
'use strict';

const charts = (() => {
    const edges = {left: 62, right: 14, top: 28, bottom: 42};

    function axisOf({label, format, log, least, from, to, values}, data, range) {
        const largest = to !== undefined ? to : d3.max(data) || 1;
        const smallest = from !== undefined ? from : Math.min(0, d3.min(data) || 0);
        if (values) {
            const scale = log ? d3.scaleLog() : d3.scaleLinear();
            return {scale: scale.domain(d3.extent(values)).range(range).clamp(true), values, label,
                format};
        }
        if (log) {
            const positive = data.filter((value) => value > 0);
            return plots.logarithmic({smallest: d3.min(positive), largest, least, range, label,
                format});
        }
        return {scale: d3.scaleLinear([smallest, largest], range), label, format};
    }

    // Both axes of a chart that is `width` wide, which map values to positions.
    function axesOf(chart, svg, width, xs, ys) {
        const bottom = edges.top + chart.height;
        const x = axisOf({from: d3.min(xs), ...chart.x}, xs, [edges.left, width - edges.right]);
        const y = axisOf(chart.y, ys, [bottom, edges.top]);
        if (!chart.y.log && !chart.y.values) {
            y.scale.nice(6);
        }
        plots.across(svg, x, edges.top, bottom);
        plots.up(svg, y, edges.left, width - edges.right);
        return {x: x.scale, y: y.scale, bottom, height: bottom + edges.bottom};
    }

    const tellOf = (axis) => axis.tell || axis.format;

    // Colours repeat after eight, dashes after three.
    const lookOf = (kind, i) => kind === 'line' ? `s${i % 8} line d${i % 3}` : `s${i % 8} ${kind}`;

    // Entries are {name, look}; look is classes of the style sheet.
    function legend(parent, entries) {
        const item = parent.append('ul').attr('class', 'legend').selectAll('li').data(entries)
            .enter().append('li');
        item.append('svg').attr('viewBox', '0 0 18 10').attr('aria-hidden', 'true').append('path')
            .attr('class', ({look}) => look)
            .attr('d', ({look}) => look.includes('line') ? 'M0,5H18' : 'M0,0H18V10H0Z');
        item.append('span').text(({name}) => name);
    }

    // ---- Lines and areas ----

    // Each series' {x, from, to, low, high}: from 0, or from the top of the series before if they
    // are stacked.
    function layersOf(series, stacked) {
        const sums = new Map();
        return series.map(({points}) => points.map(([x, y, low = y, high = y]) => {
            const from = stacked ? sums.get(x) || 0 : 0;
            const to = stacked ? from + (y || 0) : y;
            sums.set(x, to);
            return {x, from, to, low, high};
        }));
    }

    // A gap interrupts a line; a point between two gaps is drawn as a dot. Points are [x, y].
    function drawLine(svg, points, axes, look, {curve = d3.curveLinear, dots = false} = {}) {
        const there = (point) => point !== undefined && point[1] !== null;
        const path = d3.line().x(([x]) => axes.x(x)).y(([, y]) => axes.y(y)).defined(there)
            .curve(curve);
        plots.shape(svg, 'path', look, {d: path(points)});
        points.forEach(([x, y], i) => {
            const alone = !there(points[i - 1]) && !there(points[i + 1]);
            if (y !== null && (dots || alone)) {
                plots.dot(svg, look.replace(/line.*/, 'dot'), axes.x(x), axes.y(y), dots ? 3.2 : 2);
            }
        });
        return path(points);
    }

    // All places where a series has a point, with their values, in order: [x, [[name, value], …]].
    function placesOf(series) {
        const places = new Map();
        for (const {name, points} of series) {
            for (const [x, value] of points) {
                places.set(x, [...places.get(x) || [], [name, value]]);
            }
        }
        return [...places].filter(([, values]) => values.some(([, value]) => value !== null))
            .sort(([a], [b]) => a - b);
    }

    // If there are many series, lists only those that are not 0, the largest first.
    function tellPlace({series, x, y}, [at, values]) {
        const many = series.length > 8;
        const told = many ? values.filter(([, value]) => value > 0).sort(([, a], [, b]) => b - a)
            : values;
        const lines = told.slice(0, 12).map(([name, value]) => {
            const text = value === null ? words.nothing : tellOf(y)(value);
            return series.length > 1 ? `${name}: ${text}` : text;
        });
        return [tellOf(x)(at), ...lines, ...told.length > 12 ? [`and ${told.length - 12} more`]
            : []].join('\n');
    }

    // {id, title, text, x, y, height, stacked, steps, dots, series: [{name, points: [[x, y, low,
    // high], …]}]}. A y of null is a gap; optional low and high are the edges of a band. Stacked
    // series have points at the same places. With steps a value holds until the next one; with dots
    // each point is marked.
    function lines(parent, options) {
        const chart = {height: 220, ...options};
        const {series, stacked = false, steps = false, dots = false} = chart;
        const layers = layersOf(series, stacked);
        const all = layers.flat();
        const kind = stacked ? 'area' : 'line';
        const curve = steps ? d3.curveStepAfter : d3.curveLinear;
        const there = ({to}) => to !== null;
        const places = placesOf(series);

        function drawLayer(svg, axes, layer, i) {
            const area = (from, to) => d3.area().x(({x}) => axes.x(x))
                .y0((point) => axes.y(point[from]))
                .y1((point) => axes.y(point[to])).defined(there).curve(curve)(layer);
            if (stacked) {
                plots.shape(svg, 'path', lookOf(kind, i), {d: area('from', 'to')});
                return;
            }
            if (layer.some(({low, high}) => low !== high)) {
                plots.shape(svg, 'path', lookOf('band', i), {d: area('low', 'high')});
            }
            drawLine(svg, layer.map(({x, to}) => [x, to]), axes, lookOf(kind, i), {curve, dots});
        }

        function draw(svg, width) {
            const axes = axesOf(chart, svg, width, all.map(({x}) => x),
                all.flatMap(({to, high}) => [to, high]));
            layers.forEach((layer, i) => drawLayer(svg, axes, layer, i));
            return {
                height: axes.height, by: 'x',
                points: places.map((place) => ({x: axes.x(place[0]), y: edges.top, of: place})),
                tell: (place) => tellPlace(chart, place),
                mark: (layer, [x]) => plots.line(layer, 'pointer', axes.x(x), edges.top, axes.x(x),
                    axes.bottom),
            };
        }

        if (series.length > 1) {
            legend(parent, series.map(({name}, i) => ({name, look: lookOf(kind, i)})));
        }
        return plots.figure(parent, {...chart, draw});
    }

    // ---- Heat maps ----

    // {id, title, text, x, y, height, cells: [{x0, x1, y0, y1, count}], lines: [{name, points: [[x,
    // y], …]}]}; lines are drawn over the cells.
    function heat(parent, options) {
        const chart = {height: 260, lines: [], ...options};
        const {cells} = chart;
        const most = d3.max(cells, ({count}) => count) || 1;

        const shades = 12;

        // The cells of each shade. The rarest must still be visible: a mean hides outliers.
        function shadesOf(all) {
            const result = new Map(d3.range(1, shades + 1).map((shade) => [shade, []]));
            all.forEach((cell) =>
                result.get(Math.max(1, Math.ceil(shades * Math.sqrt(cell.count / most))))
                .push(cell));
            return result;
        }

        function place({x0, x1, y0, y1}, axes) {
            const [left, right, top, bottom] = [axes.x(x0), axes.x(x1), axes.y(y1), axes.y(y0)];
            return [left, top, Math.max(right - left, 0.8), Math.max(bottom - top, 0.8)];
        }

        // One path for each shade: there may be tens of thousands of cells.
        function drawCells(svg, axes) {
            for (const [shade, those] of shadesOf(cells)) {
                const path = those.map((cell) => {
                    const [left, top, width, height] = place(cell, axes)
                        .map((each) => each.toFixed(1));
                    return `M${left},${top}h${width}v${height}h-${width}z`;
                });
                plots.shape(svg, 'path', 'cell',
                    {d: path.join(''), 'fill-opacity': 0.1 + 0.9 * shade / shades});
            }
        }

        function tell({x0, x1, y0, y1, count}) {
            const [tellX, tellY] = [tellOf(chart.x), tellOf(chart.y)];
            return `${tellX(x0)} to ${tellX(x1)}\n` +
                `${tellY(y0)} to ${tellY(y1)}: ${words.count(count)}`;
        }

        function pointOf(cell, axes) {
            const [left, top, width, height] = place(cell, axes);
            return {x: left + width / 2, y: top + height / 2, of: cell};
        }

        function draw(svg, width) {
            const overlaid = chart.lines.flatMap(({points}) => points.map(([, y]) => y));
            const axes = axesOf(chart, svg, width, cells.flatMap(({x0, x1}) => [x0, x1]),
                [...cells.flatMap(({y0, y1}) => [y0, y1]), ...overlaid]);
            drawCells(svg, axes);
            chart.lines.forEach(({points}, i) => {
                const halo = plots.shape(svg, 'path', 'halo');
                halo.attr('d', drawLine(svg, points, axes, lookOf('line', i + 1)));
            });
            return {
                height: axes.height, points: cells.map((cell) => pointOf(cell, axes)), tell,
                mark: (layer, cell) => plots.box(layer, 'pointed', ...place(cell, axes)),
            };
        }

        if (chart.lines.length > 0) {
            legend(parent, chart.lines.map(({name}, i) => ({name, look: lookOf('line', i + 1)})));
        }
        return plots.figure(parent, {...chart, draw});
    }

    return {legend, lines, heat};
})();
