// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// What the scripts of the page of `etwas clocks` share: numbers and clocks.
'use strict';

const clocksPage = (() => {
    // ---- Numbers ----

    // Nanoseconds without the unit, for a table's column; from 100,000 on in another unit.
    function nanoseconds(ns) {
        const size = Math.abs(ns);
        if (!words.known(ns) || size >= 99999.5) {
            return words.duration(ns);
        }
        return size >= 999.5 ? words.count(ns) : words.signed(words.threeDigits(ns));
    }

    const decimals = (size) => size < 9.9995 ? 3 : size < 999.95 ? 1 : 0;

    function ppm(value) {
        const size = Math.abs(value);
        if (!words.known(value)) {
            return words.nothing;
        }
        if (size < 0.0005) {
            return '0.000';
        }
        return words.signed(d3.format(size >= 1e6 ? '+.1e' : `+.${decimals(size)}f`)(value));
    }

    // Half the width of an interval: without a sign, and as 0 only if it is 0.
    function ppmInterval(value) {
        if (!words.known(value)) {
            return words.nothing;
        }
        if (value > 0 && value < 0.001) {
            return '<0.001';
        }
        return value >= 1e6 ? d3.format('.1e')(value) : value.toFixed(decimals(value));
    }

    const interval = (drift) =>
        drift === null ? words.nothing : `${ppm(drift.ppm)} ± ${ppmInterval(drift.interval_ppm)}`;
    const hz = (value) => words.count(value) + words.space + 'Hz';
    const judged = (number) => ({text: words.count(number), bad: number > 0});
    const where = (condition, ns) => words.duration(condition ? ns : null);

    // ---- Clocks ----

    // The clocks of sessions, with their ClientContext.
    const contexts = {qpc: 1, system: 2, tsc: 3};
    const labelOf = (clock) => clock.clock in contexts ? 'label strong' : 'label';
    const sum = (bins) => d3.sum(bins, ({count}) => count);

    // Whether the other clock of a pair is certainly ahead or behind.
    const apart = ({difference: offset, bound: bound}) => words.known(bound) &&
        Math.abs(offset) > bound;

    // A summary of a clock's pairs.
    function orderOf({differences: offsets}) {
        return {
            offset: d3.max(offsets, (pair) => pair.difference === null ? null
                : Math.abs(pair.difference)),
            bound: d3.max(offsets, (pair) => pair.bound),
            worst: d3.max(offsets, (pair) => pair.worst),
            apart: offsets.filter(apart).length,
            handovers: d3.sum(offsets, (pair) => pair.handovers),
            smaller: d3.sum(offsets, (pair) => pair.smaller),
        };
    }

    return {
        contexts, nanoseconds, ppm, ppmInterval, interval, hz, judged, where, labelOf,
        sum, apart, orderOf,
    };
})();
