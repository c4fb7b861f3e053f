// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// What the parts of a report's page share: the time axis, strips of many rows over it, and units.
'use strict';

const reportPage = (() => {
    const sizes = [[999.5, 1, 'B'], [999.5e3, 1e3, 'kB'], [999.5e6, 1e6, 'MB'],
        [999.5e9, 1e9, 'GB'],
        [Infinity, 1e12, 'TB']];

    // "37 B", "1.50 kB", "165 MB"
    function bytes(number) {
        const [, size, unit] = sizes.find(([limit]) => number < limit);
        return (size === 1 ? String(number) : words.threeDigits(number / size)) + words.space +
            unit;
    }

    // For the ticks of an axis: "0", "20 kB".
    function roundBytes(number) {
        const [, size, unit] = sizes.find(([limit]) => number < limit);
        return number === 0 ? '0' : String(Number((number / size).toPrecision(3))) + words.space +
            unit;
    }

    // A rate or a mean: three digits, or a whole number.
    const rate = (number) => number === null ? words.nothing : number >= 999.5 ? words.count(number)
        : words.threeDigits(number);

    // What the rates are relative to.
    const rateText = ({covered_duration: covered}) => covered > 0
        ? `Rates are over the ${words.duration(covered)} that the files cover.`
        : 'How much time the files cover is not known, and so no rate is.';

    const short = (text, most) => text.length <= most ? text
        : text.slice(0, Math.max(most - 1, 1)) + '…';

    // Names mostly differ at the end, so the beginning is cut.
    const shortName = (name, most) => name.length <= most ? name : '…' +
        name.slice(-Math.max(most - 1, 1));

    const fileName = (path) => path.slice(path.lastIndexOf('/') + 1);

    // "1 event", "2 classes"
    const plural = (count, thing) =>
        `${words.count(count)} ${thing}${count === 1 ? '' : /(s|ch)$/.test(thing) ? 'es' : 's'}`;

    // Columns are [title, (row, i) => cell].
    function table(parent, caption, columns, rows) {
        words.table(parent, caption, columns.map(([title]) => title),
            rows.map((row, i) => columns.map(([, cell]) => cell(row, i))));
    }

    // The time axis of all plots, and a row's values as points on it.
    function timeOf({axis}) {
        const {columns, column_duration: width, duration: duration} = axis;
        const to = Math.max(duration, 1);
        return {
            columns, width, duration,
            x: {label: `time since ${axis.start_time}`, format: words.roundDuration,
                tell: words.duration, from: 0, to},
            begin: (column) => Math.min(column * width, to),
            end: (column) => Math.min((column + 1) * width, to),
            // With one more point, up to which the last column's value holds.
            steps: (values) => [...values.map((value, i) => [i * width, value]),
                [to, values[columns - 1]]],
        };
    }

    // The names of the first eight, the last of which is the rest if there is one. A stacked plot
    // cannot show more distinct colours.
    function firstOf(all, values, rest, restName) {
        const first = all.slice(0, all.length > 8 || d3.sum(rest) > 0 ? 7 : 8)
            .map((one) => ({name: one.name, values: values(one)}));
        const others = all.slice(first.length);
        const sum = rest.map((value, i) => value + d3.sum(others, (one) => values(one)[i]));
        return d3.sum(sum) > 0 ? [...first, {name: restName, values: sum}] : first;
    }

    // ---- Strips ----

    const strip = {row: 20, gap: 4, top: 6, bottom: 42, levels: 8, letter: 7.4};

    // One path for all equally dark columns of a row: a path for each column would be too many
    // elements.
    function drawRow(svg, {name, values}, top, x, time, labels) {
        const most = d3.max(values) || 1;
        const paths = d3.range(strip.levels).map(() => []);
        plots.text(svg, 'row', 0, top + strip.row - 6,
            shortName(name, Math.floor(labels / strip.letter)));
        values.forEach((value, i) => {
            if (value > 0) {
                // The rarest values must still be visible.
                const level = Math.min(Math.floor(Math.sqrt(value / most) * strip.levels),
                    strip.levels - 1);
                const left = x(time.begin(i));
                const width = Math.max(x(time.end(i)) - left, 0.8).toFixed(1);
                paths[level].push(`M${left.toFixed(1)},${top}h${width}v${strip.row}h-${width}z`);
            }
        });
        plots.box(svg, 'lane', labels, top, x.range()[1] - labels, strip.row);
        paths.forEach((path, level) => {
            if (path.length > 0) {
                plots.shape(svg, 'path', 'cell', {d: path.join('')})
                    .attr('fill-opacity', 0.15 + 0.85 * (level + 1) / strip.levels);
            }
        });
    }

    // {id, title, text, rows: [{name, values}], tell}: a row's darkness is relative to its own
    // largest value.
    function strips(parent, time, {rows, tell, ...options}) {
        const points = rows.flatMap((row, i) => row.values.map((value, column) =>
            ({row, i, column, value})));
        const topOf = (i) => strip.top + i * (strip.row + strip.gap);

        function draw(svg, width) {
            const labels = Math.min(Math.max(width * 0.22, 84),
                strip.letter * d3.max(rows, ({name}) => name.length) + 8);
            const x = d3.scaleLinear([0, time.x.to], [labels, width - 14]);
            const bottom = topOf(rows.length);
            const [left, right] = [({column}) => x(time.begin(column)), ({column}) =>
                x(time.end(column))];
            plots.across(svg, {...time.x, scale: x}, strip.top, bottom);
            rows.forEach((row, i) => drawRow(svg, row, topOf(i), x, time, labels));
            return {
                height: bottom + strip.bottom,
                points: points.map((of) =>
                    ({x: (left(of) + right(of)) / 2, y: topOf(of.i) + strip.row / 2, of})),
                tell: ({row, column, value}) =>
                `${row.name}\n${words.duration(time.begin(column))}: ${tell(value)}`,
                mark: (layer, of) => plots.box(layer, 'pointed', left(of), topOf(of.i),
                    Math.max(right(of) - left(of), 1), strip.row),
            };
        }

        return plots.figure(parent, {...options, draw});
    }

    return {bytes, roundBytes, rate, rateText, short, fileName, plural, table, timeOf, firstOf,
        strips};
})();
