// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// The page of `etwas report`. Its data is that of --json. Health comes first: what is missing
// decides how far the rest can be trusted.
'use strict';

(() => {
    const {fileName, plural, timeOf, drawHealth, drawRates, drawSpans, drawTrees, drawUsage,
        drawHeap} = reportPage;

    // The selection of the command's options, in words.
    const askedFor = ({selection: {start_time: from, end_time: until, condition}}) =>
        [['from', from], ['until', until], ['where', condition]]
            .filter(([, value]) => value !== null)
            .flat().join(' ');

    function drawHead(main, report, time) {
        const head = main.append('header');
        const sessions = [...new Set(report.files.map(({session}) => session).filter(Boolean))];
        head.append('h1').text(sessions.length > 0 ? sessions.join(', ')
            : fileName(report.files[0].file));
        words.note(head, [
            report.files.length === 1 ? fileName(report.files[0].file) : plural(report.files.length,
                'file'),
            plural(report.selection.events, 'event'),
            ...time.columns > 0
                ? [`${words.duration(time.duration)} from ${report.axis.start_time} on`] : [],
        ].join(' · '));
        if (askedFor(report) !== '') {
            words.note(head,
                `Only events ${askedFor(report)}. What is missing, the files and their clocks ` +
                'are of the whole trace.');
        }
        return head.append('nav').attr('aria-label', 'Sections').append('ul');
    }

    words.draw((report, main) => {
        const time = timeOf(report);
        const list = drawHead(main, report, time);
        drawHealth(main, report, time);
        for (const draw of time.columns > 0 ? [drawRates, drawSpans, drawTrees, drawUsage, drawHeap]
            : []) {
            draw(main, report, time);
        }
        main.selectAll('h2').each(function () {
            list.append('li').append('a').attr('href', `#${this.id}`)
                .text(this.id === 'health' ? 'Health' : this.textContent);
        });
    });
})();
