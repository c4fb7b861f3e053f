// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// Health: what is missing, why and when; from when on the trace has everything; how well its times are known.
'use strict';

Object.assign(reportPage, (() => {
    const {bytes, rate, fileName, plural, firstOf, strips} = reportPage;

    const sumOf = (report, key) => d3.sum(report.files, (file) => file[key]);

    // By the accounts at the end of a session, which a file that has none of them lacks; else by what its rings told.
    const kernelLost = (report) => Math.max(d3.sum(report.sessions, (session) => session.lost_in_kernel || 0),
        d3.sum(report.losses, (loss) => loss.processor === undefined ? 0 : loss.count));

    // What is not there, the worst first.
    function complaints(report) {
        const damages = sumOf(report, 'damage_count');
        const lost = sumOf(report, 'events_lost');
        const unfinished = report.files.filter((file) => file.unfinished).length;
        return [
            ['bad', damages, `${plural(damages, 'place')} of the files ${damages === 1 ? 'is' : 'are'} damaged`],
            ['bad', lost, `${plural(lost, 'event')} ${lost === 1 ? 'was' : 'were'} lost`],
            ['bad', kernelLost(report), `the kernel lost ${plural(kernelLost(report), 'event')}`],
            ['doubt', sumOf(report, 'overwritten_events'), `${plural(sumOf(report, 'overwritten_events'), 'older event')} ` +
                'gave way to newer ones'],
            ['doubt', unfinished, `${plural(unfinished, 'session')} wrote no end`],
        ].filter(([, count]) => count > 0);
    }

    function drawVerdict(main, report) {
        const found = complaints(report);
        const proved = report.sessions.every((session) => session.proved);
        const look = found.length > 0 ? found[0][0] : proved ? 'good' : 'doubt';
        const section = main.append('section').attr('class', `marked ${look}`).attr('aria-labelledby', 'health');
        const text = found.map(([, , complaint]) => complaint).join('; ') || (proved ? 'nothing is missing' : 'nothing is known to be missing');
        section.append('p').attr('class', 'kicker').text('Health');
        section.append('h2').attr('id', 'health').text(text[0].toUpperCase() + text.slice(1));
        for (const session of report.sessions.filter((one) => one.proved)) {
            words.paragraph(section, `Each of the ${plural(session.attempted, 'event')} that the session ${session.session} ` +
                'was asked to record is in the files, or counted as overwritten or lost.');
        }
        const reasons = report.sessions.filter((one) => !one.proved)
            .flatMap(({session, reasons}) => reasons.map((reason) => `${session}: ${reason}`));
        if (reasons.length > 0) {
            words.paragraph(section, 'That all is there is not proved:');
            section.append('ul').attr('class', 'reasons against').selectAll('li').data(reasons).enter().append('li')
                .text((reason) => reason);
        }
        return section;
    }

    // The largest error that is known of all; null: one is not.
    function errorOf(report, key) {
        const errors = report.files.map(({clocks}) => clocks[key]);
        return errors.includes(null) ? null : d3.max(errors);
    }

    function drawFacts(section, report, time) {
        const whole = d3.max(report.processors, ({first_ns: first}) => first);
        const attempted = d3.sum(report.sessions, (session) => session.attempted);
        words.facts(section, [
            ['Events attempted', attempted > 0 ? words.count(attempted) : 'not known'],
            ['Events in the files', words.count(sumOf(report, 'events'))],
            ['Lost', words.count(sumOf(report, 'events_lost'))],
            ['Overwritten', words.count(sumOf(report, 'overwritten_events'))],
            ['The trace covers', words.duration(time.duration)],
            ['All processors have events', whole === undefined ? words.nothing : `after ${words.duration(whole)}`],
            ['Times are within', errorOf(report, 'qpc_error_ns') === null ? 'not known' : words.duration(errorOf(report, 'qpc_error_ns'))],
            ['The wall clock within', errorOf(report, 'system_error_ns') === null ? 'not known'
                : words.duration(errorOf(report, 'system_error_ns'))],
        ]);
    }

    // ---- Losses ----

    const lossName = ({cause, processor}) => processor === undefined ? cause : `${cause}, processor ${processor}`;

    function drawLosses(section, report, time) {
        const losses = report.losses.map((loss) => ({...loss, name: lossName(loss)}));
        const untold = sumOf(report, 'events_lost') > 0;
        if (losses.length > 0) {
            const most = [...losses].sort((left, right) => right.count - left.count);
            const nothing = new Array(time.columns).fill(0);
            charts.lines(section, {
                id: 'losses', title: 'Losses over time', text: 'How many events were lost, and places damaged, by cause and processor.',
                x: time.x, y: {label: `lost in ${words.duration(time.width)}`, format: words.roundCount, tell: words.count},
                height: 140, stacked: true, steps: true,
                series: firstOf(most, (loss) => loss.over_time, nothing, 'others')
                    .map(({name, values}) => ({name, points: time.steps(values)})),
            });
            words.table(section, 'Losses by cause and processor', ['cause', '<file', 'lost or damaged', 'bytes skipped'],
                most.map((loss) => [loss.name, fileName(report.files[loss.file].file), words.count(loss.count),
                    loss.bytes_skipped === undefined ? words.nothing : words.count(loss.bytes_skipped)]));
        }
        if (untold) {
            words.note(section, 'Sessions count what they lose because no buffer was free, and do not say when.');
        }
        const sources = report.sessions.flatMap((session) => session.sources);
        if (sources.length > 0) {
            words.table(section, 'Sources of the kernel that lost events',
                ['source', 'processor', 'attempted', 'no room in the ring', 'not read', 'not handed over'],
                sources.map((source) => [source.source, String(source.processor), words.count(source.attempted),
                    words.count(source.lost_no_room), words.count(source.lost_unread), words.count(source.lost_not_handed)]));
        }
    }

    // ---- Files and clocks ----

    function drawFiles(section, report) {
        words.table(section, 'Files', ['file', '<session', 'events', 'events/s', 'payload', 'size', 'lost', 'overwritten', 'damaged', '<ended'],
            report.files.map((file) => [fileName(file.file), file.session, words.count(file.events), rate(file.events_per_second),
                bytes(file.payload_bytes), bytes(file.file_bytes), {text: words.count(file.events_lost), bad: file.events_lost > 0},
                words.count(file.overwritten_events), {text: words.count(file.damage_count), bad: file.damage_count > 0},
                file.ended || 'no']));
        words.table(section, 'Clocks', ['file', '<clock', '<cycle counter', 'readings', 'times within', 'wall clock within', 'wall clock set', 'suspended'],
            report.files.map(({file, clock, clocks}) => [fileName(file), clock, clocks.counter && clocks.counter.verdict || 'not noted',
                words.count(clocks.knots), words.duration(clocks.qpc_error_ns), words.duration(clocks.system_error_ns),
                clocks.steps > 0 ? `${plural(clocks.steps, 'time')}, ${words.duration(clocks.steps_ns)}` : 'no',
                clocks.suspends > 0 ? words.duration(clocks.suspended_ns) : 'no']));
    }

    // ---- What is retained ----

    function streamName(report, {processor, file}) {
        const name = processor === null ? 'no processor' : `processor ${processor}`;
        return report.files.length > 1 ? `${fileName(report.files[file].file)}, ${name}` : name;
    }

    function drawRetention(main, report, time) {
        const section = words.section(main, 'retention', 'What is retained of each processor');
        words.paragraph(section, 'A row begins where a processor’s events begin: what was before was not recorded, or gave way to ' +
            'newer events. It is as dark as the processor had events then, against its own most.');
        const rows = report.processors.map((stream) => ({name: streamName(report, stream), values: stream.over_time}));
        if (report.other_processors > 0) {
            rows.push({name: `${report.other_processors} more`, values: report.other_processors_over_time});
        }
        strips(section, time, {
            id: 'processors', title: 'Events of each processor over time', rows, tell: (events) => plural(events, 'event'),
            text: 'For each processor, how many of its events each column of time has.',
        });
        words.table(section, 'Processors', ['processor', 'events', 'payload', 'first event after', 'last event after'],
            report.processors.map((stream) => [streamName(report, stream), words.count(stream.events), bytes(stream.payload_bytes),
                words.duration(stream.first_ns), words.duration(stream.last_ns)]));
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
