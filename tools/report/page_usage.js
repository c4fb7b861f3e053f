// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// Which threads ran on the processors, and which waited for one.
'use strict';

Object.assign(reportPage, (() => {
    const {fileName, plural, table, firstOf, strips} = reportPage;

    const processName = ({pid, process = 'process'}) =>
        `${process} ${pid === null ? '?' : pid}`;
    const processors = (number) => words.threeDigits(number) + (number === 1 ? ' processor'
        : ' processors');

    // Converts nanoseconds in each column to a mean number of threads.
    const meanOf = (values, time) =>
        values.map((ns, i) => ns / Math.max(time.end(i) - time.begin(i), 1));

    function drawRunning(section, usage, number, time) {
        const all = usage.processes.map((process) => ({...process, name: processName(process)}));
        const axis = {label: 'processors', format: String, tell: processors};
        charts.lines(section, {
            id: `running-${number}`, title: 'Processors in use, by process',
            text: 'How many processors each process had, on average.',
            x: time.x, y: axis, height: 220, stacked: true, steps: true,
            series: firstOf(all, (process) => process.running_over_time,
                usage.other_processes_over_time, 'all others')
                .map(({name, values}) => ({name, points: time.steps(meanOf(values, time))})),
        });
        section.append('h3').text('Threads that could have run and had no processor');
        charts.lines(section, {
            id: `ready-${number}`, title: 'Threads that waited for a processor',
            text: 'How many threads were ready, on average.',
            x: time.x, y: {label: 'threads', format: String, tell: words.threeDigits}, height: 110,
            steps: true,
            series: [{name: 'ready', points: time.steps(meanOf(usage.ready_over_time, time))}],
        });
    }

    function drawTables(section, usage) {
        table(section, 'Processors', [
            ['processor', ({cpu}) => `processor ${cpu}`],
            ['busy', (one) => words.duration(one.busy_time)],
            ['idle', (one) => words.duration(one.idle_time)],
            ['not known', (one) => words.duration(one.unknown_time)],
            ['busy of known', (one) => words.percent(one.busy_time, one.busy_time + one.idle_time)],
            ['switches', ({switches}) => words.count(switches)],
            ['missing switches', ({gaps}) => ({text: words.count(gaps), bad: gaps > 0})],
        ], usage.cpus);
        table(section, 'Processes that ran most', [
            ['process', processName],
            ['ran', (one) => words.duration(one.running_time)],
            ['ready', (one) => words.duration(one.ready_time)],
            ['waited', (one) => words.duration(one.waiting_time)],
            ['not known', (one) => words.duration(one.unknown_time)],
            ['times on a processor', (one) => words.count(one.switches_in)],
            ['preempted', (one) => words.count(one.preemptions)],
        ], usage.processes);
        if (usage.process_count > usage.processes.length) {
            const rest = usage.process_count - usage.processes.length;
            words.note(section, `${plural(rest, 'process')} that ran less are left out.`);
        }
    }

    // Unknown time is not idle time, so it has a row of its own.
    function rowsOf({cpu, busy_over_time: busy, unknown_over_time: unknown, unknown_time: ns}) {
        const row = {name: `processor ${cpu}, busy`, values: busy};
        return ns > 0 ? [row, {name: `processor ${cpu}, not known`, values: unknown}] : [row];
    }

    function drawUsage(main, report, time) {
        report.cpu.forEach((usage, i) => {
            const section = words.section(main, i === 0 ? 'processors-used'
                : `processors-used-${i}`,
                'Processors' + (report.cpu.length > 1 ? ` of ${fileName(usage.file)}` : ''));
            words.paragraph(section, `By ${plural(usage.switches, 'context switch')}` +
                (usage.ready_known ? '.'
                    : '; who was woken counts as waiting, since the trace does not tell when.'));
            drawRunning(section, usage, i, time);
            section.append('h3').text('Each processor');
            strips(section, time, {
                id: `busy-${i}`, title: 'Each processor over time',
                text: 'How long each processor was busy in each column of time, and of how much ' +
                'of it that is not known.',
                rows: usage.cpus.flatMap(rowsOf),
                tell: (ns) => `${words.duration(ns)} of ${words.duration(time.width)}`,
            });
            drawTables(section, usage);
        });
    }

    return {drawUsage};
})());
