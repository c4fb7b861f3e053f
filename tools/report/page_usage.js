// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// Who had the processors, and who waited for one.
'use strict';

Object.assign(reportPage, (() => {
    const {fileName, plural, firstOf, strips} = reportPage;

    const processName = ({process, name}) => `${name === undefined ? 'process' : name} ${process === null ? '?' : process}`;
    const processors = (number) => words.threeDigits(number) + (number === 1 ? ' processor' : ' processors');

    // Nanoseconds in each column as a mean number of threads.
    const meanOf = (values, time) => values.map((ns, i) => ns / Math.max(time.end(i) - time.begin(i), 1));

    function drawRunning(section, usage, number, time) {
        const all = usage.processes.map((process) => ({...process, name: processName(process)}));
        const axis = {format: (value) => String(value), tell: processors};
        charts.lines(section, {
            id: `running-${number}`, title: 'Processors in use, by process', text: 'How many processors each process had, on average.',
            x: time.x, y: {...axis, label: 'processors'}, height: 220, stacked: true, steps: true,
            series: firstOf(all, (process) => process.running_over_time, usage.other_processes_over_time, 'all others')
                .map(({name, values}) => ({name, points: time.steps(meanOf(values, time))})),
        });
        section.append('h3').text('Threads that could have run and had no processor');
        charts.lines(section, {
            id: `ready-${number}`, title: 'Threads that waited for a processor', text: 'How many threads were ready, on average.',
            x: time.x, y: {format: (value) => String(value), tell: (value) => words.threeDigits(value), label: 'threads'}, height: 110, steps: true,
            series: [{name: 'ready', points: time.steps(meanOf(usage.ready_over_time, time))}],
        });
    }

    function drawTables(section, usage) {
        words.table(section, 'Processors', ['processor', 'busy', 'idle', 'not known', 'busy of known', 'switches', 'missing switches'],
            usage.processors.map((one) => [`processor ${one.processor}`, words.duration(one.busy_ns), words.duration(one.idle_ns),
                words.duration(one.unknown_ns), words.percent(one.busy_ns, one.busy_ns + one.idle_ns), words.count(one.switches),
                {text: words.count(one.gaps), bad: one.gaps > 0}]));
        words.table(section, 'Processes that ran most', ['process', 'ran', 'ready', 'waited', 'not known', 'times on a processor', 'preempted'],
            usage.processes.map((one) => [processName(one), words.duration(one.running_ns), words.duration(one.ready_ns),
                words.duration(one.waiting_ns), words.duration(one.unknown_ns), words.count(one.switches_in), words.count(one.preemptions)]));
        if (usage.process_count > usage.processes.length) {
            words.note(section, `${plural(usage.process_count - usage.processes.length, 'process')} that ran less are left out.`);
        }
    }

    function drawUsage(main, report, time) {
        report.cpu.forEach((usage, i) => {
            const section = words.section(main, i === 0 ? 'processors-used' : `processors-used-${i}`,
                'Processors' + (report.cpu.length > 1 ? ` of ${fileName(usage.file)}` : ''));
            words.paragraph(section, `By ${plural(usage.switches, 'context switch')
                .replace('switchs', 'switches')}` + (usage.ready_known ? '.' : '; who was woken counts as waiting, since the trace does not tell when.'));
            drawRunning(section, usage, i, time);
            section.append('h3').text('Each processor');
            strips(section, time, {
                id: `busy-${i}`, title: 'Each processor over time', text: 'How long each processor was busy in each column of time.',
                rows: usage.processors.map((one) => ({name: `processor ${one.processor}`, values: one.busy_over_time})),
                tell: (ns) => `busy for ${words.duration(ns)} of ${words.duration(time.width)}`,
            });
            drawTables(section, usage);
        });
    }

    return {drawUsage};
})());
