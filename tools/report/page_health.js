// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// Health: what is missing, why and when; from when on the trace is complete; how exact its times
// are.
'use strict';

Object.assign(reportPage, (() => {
    const {bytes, rate, fileName, plural, table, firstOf, strips} = reportPage;

    const sumOf = (report, key) => d3.sum(report.files, (file) => file[key]);

    // Counts that several files of one session report are added once.
    const toldOnce = (report, key) => sumOf(report, key) - sumOf(report, `repeated_${key}`);

    const lossesBy = (report, whom) => d3.sum(report.losses,
        ({source, count}) => source === whom ? count : 0);

    // From the accounts at the end of a session. A file without its end has none; then the losses
    // that its rings reported count.
    const kernelLost = (report) =>
        Math.max(d3.sum(report.sessions, (session) => session.lost_in_kernel || 0),
            lossesBy(report, 'kernel'));

    // Processes that could not log; at least one if a session states a reason without a number.
    const unattachedOf = (report) => d3.sum(report.sessions, (session) =>
        session.unattached_reason === undefined ? 0 : Math.max(1, session.unattached_total));

    // What is missing, the worst first.
    function complaints(report) {
        const damages = sumOf(report, 'damage_count');
        const lost = toldOnce(report, 'lost');
        const missing = sumOf(report, 'missing');
        const older = toldOnce(report, 'overwritten');
        const unfinished = report.files.filter((file) => file.unfinished).length;
        const unattached = unattachedOf(report);
        return [
            ['bad', damages,
                `${plural(damages, 'place')} of the files ${damages === 1 ? 'is' : 'are'} damaged`],
            ['bad', lost, `${plural(lost, 'event')} ${lost === 1 ? 'was' : 'were'} lost`],
            ['bad', missing,
                `${plural(missing, 'recorded event')} ${missing === 1 ? 'is' : 'are'} not in the ` +
                'files'],
            ['bad', unattached, `${plural(unattached, 'process')} could not log`],
            ['bad', kernelLost(report), `the kernel lost ${plural(kernelLost(report), 'event')}`],
            ['doubt', older, `${plural(older, 'older event')} gave way to newer ones`],
            ['doubt', unfinished, `${plural(unfinished, 'session')} wrote no end`],
        ].filter(([, count]) => count > 0);
    }

    function drawVerdict(main, report) {
        const found = complaints(report);
        const proved = report.sessions.every((session) => session.proved);
        const look = found.length > 0 ? found[0][0] : proved ? 'good' : 'doubt';
        const section = main.append('section').attr('class', `marked ${look}`)
            .attr('aria-labelledby', 'health');
        const text = found.length > 0 ? found.map(([, , complaint]) => complaint).join('; ')
            : proved ? 'nothing is missing' : 'nothing is known to be missing';
        section.append('p').attr('class', 'kicker').text('Health');
        section.append('h2').attr('id', 'health').text(text[0].toUpperCase() + text.slice(1));
        for (const session of report.sessions.filter((one) => one.proved)) {
            words.paragraph(section,
                `Each of the ${plural(session.attempted, 'event')} that the session ` +
                `${session.session} was asked to record is in the files, or counted as ` +
                'overwritten or lost.');
        }
        const reasons = report.sessions.filter((one) => !one.proved)
            .flatMap(({session, reasons}) => reasons.map((reason) => `${session}: ${reason}`));
        if (reasons.length > 0) {
            words.paragraph(section, 'That all is there is not proved:');
            section.append('ul').attr('class', 'reasons against').selectAll('li').data(reasons)
                .enter().append('li')
                .text((reason) => reason);
        }
        return section;
    }

    // The largest error, if all are known.
    function errorOf(report, key) {
        const errors = report.files.map(({clocks}) => clocks[key]);
        return errors.includes(null) ? 'not known' : words.duration(d3.max(errors));
    }

    // Whether newer events replaced older ones.
    const isCut = (report) => report.files.some((file) => file.overwritten > 0 ||
        file.buffers_overwritten > 0 || file.modes.includes('buffering'));

    function drawFacts(section, report, time) {
        const whole = d3.max(report.by_cpu, ({first_since_start: first}) => first);
        const part = report.selection.start_time !== null || report.selection.end_time !== null;
        const attempted = d3.sum(report.sessions, (session) => session.attempted);
        words.facts(section, [
            ['Events attempted', attempted > 0 ? words.count(attempted) : 'not known'],
            ['Events in the files', words.count(sumOf(report, 'events'))],
            ['Lost', words.count(toldOnce(report, 'lost'))],
            ['Recorded, and not there', report.files.some((file) => file.missing === null)
                ? 'not known'
                : words.count(sumOf(report, 'missing'))],
            ...(unattachedOf(report) > 0
                ? [['Processes that could not log', words.count(unattachedOf(report))]] : []),
            ['Overwritten', words.count(toldOnce(report, 'overwritten'))],
            [part ? 'The files cover of the window' : 'The files cover',
                report.covered_duration > 0 ? words.duration(report.covered_duration)
                    : 'not known'],
            ...(isCut(report) && whole !== undefined
                ? [['All processors have events', `after ${words.duration(whole)}`]] : []),
            ['Times are within', errorOf(report, 'qpc_error')],
            ['The wall clock within', errorOf(report, 'system_error')],
        ]);
    }

    // ---- Losses ----

    const causeName = (cause) => cause.replaceAll('_', ' ');
    const lossName = ({cause, cpu}) => cpu === undefined ? causeName(cause)
        : `${causeName(cause)}, processor ${cpu}`;

    function drawLosses(section, report, time) {
        const losses = report.losses.map((loss) => ({...loss, name: lossName(loss)}));
        const untold = sumOf(report, 'lost_unexplained');
        if (losses.length > 0) {
            const most = [...losses].sort((left, right) => right.count - left.count);
            const nothing = new Array(time.columns).fill(0);
            charts.lines(section, {
                id: 'losses', title: 'Losses over time', height: 140, stacked: true, steps: true,
                x: time.x,
                text: 'How many events were lost, and places damaged, by cause and processor.',
                y: {label: `lost in ${words.duration(time.width)}`, format: words.roundCount,
                    tell: words.count},
                series: firstOf(most, (loss) => loss.over_time, nothing, 'others')
                    .map(({name, values}) => ({name, points: time.steps(values)})),
            });
            table(section, 'Losses by cause and processor', [
                ['cause', (loss) => loss.name],
                ['<file', (loss) => fileName(report.files[loss.file_number].file)],
                ['lost or damaged', (loss) => words.count(loss.count)],
                ['bytes skipped', (loss) => words.count(loss.bytes_skipped)],
            ], most);
        }
        if (untold > 0) {
            words.note(section,
                `When ${plural(untold, 'event')} ${untold === 1 ? 'was' : 'were'} lost the files ` +
                'do not say.');
        }
        const sources = report.sessions.flatMap((session) => session.sources);
        if (sources.length > 0) {
            table(section, 'Sources of the kernel that lost events', [
                ['source', ({source}) => source],
                ['processor', ({cpu}) => String(cpu)],
                ['attempted', ({attempted}) => words.count(attempted)],
                ['no room in the ring', (source) => words.count(source.lost_no_room)],
                ['not read', (source) => words.count(source.lost_unread)],
                ['not handed over', (source) => words.count(source.lost_not_handed)],
            ], sources);
        }
    }

    // ---- Files and clocks ----

    const warned = (count) => ({text: words.count(count), bad: count > 0});

    const setBy = ({steps, step_total: ns}) => steps > 0
        ? `${plural(steps, 'time')}, ${words.duration(ns)}` : 'no';

    function drawFiles(section, {files}) {
        table(section, 'Files', [
            ['file', ({file}) => fileName(file)],
            ['<session', ({session}) => session],
            ['events', ({events}) => words.count(events)],
            ['covers', (file) => file.duration === null ? words.nothing
                : words.duration(file.duration)],
            ['events/s', (file) => rate(file.rate)],
            ['payload', (file) => bytes(file.payload_bytes)],
            ['size', (file) => bytes(file.file_bytes)],
            ['lost', (file) => warned(file.lost)],
            ['overwritten', (file) => words.count(file.overwritten)],
            ['damaged', (file) => warned(file.damage_count)],
            ['<ended', (file) => file.end_time || 'no'],
        ], files);
        table(section, 'Clocks', [
            ['file', ({file}) => fileName(file)],
            ['<clock', ({clock}) => clock],
            ['<cycle counter', ({clocks: {counter}}) => counter && counter.verdict || 'not noted'],
            ['readings', ({clocks}) => words.count(clocks.clock_snapshots)],
            ['times within', ({clocks}) => words.duration(clocks.qpc_error)],
            ['wall clock within', ({clocks}) => words.duration(clocks.system_error)],
            ['wall clock set', ({clocks}) => setBy(clocks)],
            ['suspended', ({clocks}) => clocks.suspends > 0 ? words.duration(clocks.suspended_time)
                : 'no'],
        ], files);
    }

    // ---- Retained events
    // -------------------------------------------------------------------------

    function streamName(report, {cpu, file_number: number}) {
        const name = cpu === null ? 'no processor' : `processor ${cpu}`;
        return report.files.length > 1 ? `${fileName(report.files[number].file)}, ${name}`
            : name;
    }

    function drawRetention(main, report, time) {
        const section = words.section(main, 'retention', 'What is retained of each processor');
        words.paragraph(section,
            'A row begins where a processor’s events begin: what was before was not recorded, ' +
            'or gave way to newer events. It is as dark as the processor had events then, ' +
            'against its own most.');
        const rows = report.by_cpu.map((stream) =>
            ({name: streamName(report, stream), values: stream.over_time}));
        if (report.other_cpus > 0) {
            rows.push({name: `${report.other_cpus} more`,
                values: report.other_cpus_over_time});
        }
        strips(section, time, {
            id: 'processors', title: 'Events of each processor over time', rows,
            tell: (events) => plural(events, 'event'),
            text: 'For each processor, how many of its events each column of time has.',
        });
        const many = report.by_cpu.length > 16;
        const place = many ? section.append('details') : section;
        if (many) {
            place.append('summary').text('Each in numbers');
        }
        table(place, 'Processors', [
            ['processor', (stream) => streamName(report, stream)],
            ['events', ({events}) => words.count(events)],
            ['payload', (stream) => bytes(stream.payload_bytes)],
            ['first event after', (stream) => words.duration(stream.first_since_start)],
            ['last event after', (stream) => words.duration(stream.last_since_start)],
        ], report.by_cpu);
    }

    function drawHealth(main, report, time) {
        const section = drawVerdict(main, report);
        drawFacts(section, report, time);
        if (time.columns > 0) {
            drawLosses(section, report, time);
        }
        drawFiles(section, report);
        if (time.columns > 0) {
            drawRetention(main, report, time);
        }
    }

    return {drawHealth};
})());
