// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// The page of `etwas clocks`. Its data is that of --json. The answer precedes the measurements.
// Each section is a heading, how to read it, plots and a table of the same figures.
'use strict';

(() => {
    const {contexts, ppm, ppmInterval, interval, hz, judged, orderOf} = clocksPage;

    // ---- What to do, and why ----

    function drawHead(main, report) {
        const head = main.append('header');
        const {cpus, cpus_online: online} = report;
        head.append('h1').text('Clocks' + (report.host === null ? '' : ` of ${report.host}`));
        words.note(head, [report.cpu_model, report.system,
            `${cpus.length} of ${online} online processor${online === 1 ? '' : 's'} ` +
            'examined, for ' +
            `${words.duration(report.duration)}, until ` +
            `${report.examined}`,
        ].filter((part) => part !== null).join(' · '));
    }

    function drawAnswer(main, report) {
        const section = main.append('section').attr('class', 'marked').attr('aria-labelledby',
            'answer');
        const context = report.recommended_clock;
        section.append('p').attr('class', 'kicker').text('Recommendation');
        section.append('h2').attr('id', 'answer')
            .text(context === null ? 'No clock is recommended'
                : `Use --clock\u00a0${context}, ClientContext\u00a0${contexts[context]}`);
        words.paragraph(section, report.recommendation);
    }

    function drawReasons(parent, report, against) {
        const place = parent.append('div');
        const reasons = report.reasons.filter((reason) => reason.against === against);
        place.append('h3').text(against ? 'Against it' : 'For it');
        if (reasons.length === 0) {
            words.note(place, 'nothing');
        } else {
            place.append('ul').attr('class', against ? 'reasons against' : 'reasons')
                .selectAll('li').data(reasons)
                .enter().append('li').text(({text}) => text);
        }
    }

    function factsOf(report) {
        const {frequency_hz: found, stated_hz: stated} = report;
        const error = ppmInterval(report.frequency_error_ppb / 1e3) + words.space + 'ppm';
        const facts = [
            ['Frequency, calibrated', found > 0 ? `${hz(found)} ± ${error}`
                : 'it could not be calibrated'],
            ['Frequency, stated', stated > 0 ? `${hz(stated)}, by ${report.stated_by || ''}`
                : 'nowhere'],
        ];
        if (stated > 0 && found > 0) {
            facts.push(['Stated against calibrated', ppm((stated / found - 1) * 1e6) + words.space +
                'ppm']);
        }
        return [...facts,
            ['Kernel\u2019s clock source', report.clocksource || 'not known'],
            ['Its clock sources', report.available_clocksources || 'not known'],
            ['Hypervisor', report.hypervisor || 'none'],
        ];
    }

    function drawTrust(main, report) {
        const [mark, look] = {trusted: ['✓', 'good'], doubtful: ['!', 'doubt']}[report.verdict] ||
            ['✕', 'bad'];
        const section = main.append('section').attr('class', `marked ${look}`)
            .attr('aria-labelledby', 'trust');
        const heading = section.append('h2').attr('id', 'trust')
            .text('The cycle counter (TSC) is ');
        const badge = heading.append('span').attr('class', 'badge');
        badge.append('span').attr('aria-hidden', 'true').text(mark);
        words.mixed(badge, ` ${report.verdict}`);
        words.paragraph(section, report.verdict_text);
        const sides = section.append('div').attr('class', 'sides');
        drawReasons(sides, report, false);
        drawReasons(sides, report, true);
        words.facts(section, factsOf(report));
    }

    function drawGlance(main, report, clocks) {
        const section = words.section(main, 'glance', 'The clocks of sessions at a glance');
        words.table(section, 'The three clocks a session can have',
            ['clock', 'ClientContext', 'a reading', '99.9 % below', 'moves by', 'equal',
                'between CPUs', 'out of order',
                'steps backwards', 'drift, ppm'],
            clocks.filter(({clock}) => clock in contexts).map((clock) => {
                const context = contexts[clock.clock];
                const order = orderOf(clock);
                return [clock.name,
                    {text: `${context} `, badge: clock.clock === report.recommended_clock
                        ? 'recommended' : null},
                    words.duration(clock.back_to_back),
                    words.duration(clock.warm && clock.warm.p99_9),
                    words.duration(clock.unit), words.percent(clock.equal_pairs, clock.pairs),
                    words.duration(order.offset), judged(order.smaller),
                    judged(clock.backward_steps),
                    interval(clock.against_raw)];
            }));
    }

    words.draw((report, main) => {
        const clocks = report.clocks.filter(({available}) => available);
        const {drawCost, drawResolution, drawOrder, drawMonotony, drawDrift, drawConversion} =
            clocksPage;
        drawHead(main, report);
        drawAnswer(main, report);
        drawTrust(main, report);
        if (report.clocks.some(({clock}) => clock in contexts)) {
            drawGlance(main, report, clocks);
        }
        for (const draw of [drawCost, drawResolution, drawOrder, drawMonotony, drawDrift,
            drawConversion]) {
            draw(main, report, clocks);
        }
    });
})();
