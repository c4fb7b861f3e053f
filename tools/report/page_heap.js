// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors

// The live heap over time, and by what allocated it.
'use strict';

Object.assign(reportPage, (() => {
    const {bytes, roundBytes, short, fileName, plural, table, firstOf} = reportPage;
    const icicle = {row: 20, gap: 1};

    const frameName = ({function: name, image, address, image_offset: offset}) => name ||
        (image ? `${fileName(image)}+0x${offset.toString(16)}` : address);
    const placeOf = ({image, source_file: file, source_line: line}) => [
        image && fileName(image), file && `${fileName(file)}:${line}`]
        .filter(Boolean).join(', ');
    const stackName = ({frames}) => frames.length === 0 ? 'without a stack' : frameName(frames[0]);

    function drawLive(section, heap, number, time) {
        const all = heap.stacks.filter((stack) => stack.live_over_time)
            .map((stack, i) =>
                ({name: `${i + 1}. ${stackName(stack)}`, values: stack.live_over_time}));
        const rest = heap.live_over_time.map((live, i) =>
            Math.max(live - d3.sum(all, ({values}) => values[i]), 0));
        charts.lines(section, {
            id: `live-${number}`, title: 'What lives on the heap, over time',
            text: 'Bytes allocated and not freed, at the end of each column of time.',
            x: time.x, y: {label: 'live', format: roundBytes, tell: bytes}, height: 240,
            stacked: true, steps: true,
            series: firstOf(all, ({values}) => values, rest, 'all other stacks')
                .map(({name, values}) => ({name, points: time.steps(values)})),
        });
    }

    // ---- By frames ----

    // Callers are above what they call. The width is the amount allocated there and below; the
    // colour is the image.
    function treeOf(stacks, weight) {
        const root = {name: 'all', children: new Map(), own: 0};
        for (const stack of stacks) {
            let at = root;
            for (const frame of [...stack.frames].reverse()) {
                const name = frameName(frame);
                if (!at.children.has(name)) {
                    const place = placeOf(frame);
                    at.children.set(name, {name, image: frame.image, place, children: new Map(),
                        own: 0});
                }
                at = at.children.get(name);
            }
            at.own += weight(stack);
        }
        return d3.hierarchy(root, ({children}) => [...children.values()]).sum(({own}) => own)
            .sort((left, right) => right.value - left.value);
    }

    function drawFrames(section, root, number, what) {
        const images = [...new Set(root.descendants().map(({data}) => data.image))];

        function draw(svg, width) {
            d3.partition().size([width, (root.height + 1) * (icicle.row + icicle.gap)])(root);
            const seen = root.descendants().filter(({x0, x1}) => x1 - x0 >= 0.7);
            const place = ({x0, x1, y0}) => [x0, y0, Math.max(x1 - x0 - 1, 0.7), icicle.row];
            for (const node of seen) {
                const most = Math.floor((node.x1 - node.x0 - 8) / 6.6);
                plots.box(svg, `s${images.indexOf(node.data.image) % 8} frame`, ...place(node));
                if (most >= 3) {
                    plots.text(svg, 'span-name', node.x0 + 5, node.y0 + 14,
                        short(node.data.name, most));
                }
            }
            return {
                height: (root.height + 1) * (icicle.row + icicle.gap),
                points: seen.map((of) => ({x: (of.x0 + of.x1) / 2, y: of.y0 + icicle.row / 2, of})),
                tell: ({data, value}) => [data.name, data.place,
                    `${bytes(value)} ${what}`].filter(Boolean).join('\n'),
                mark: (layer, of) => plots.box(layer, 'pointed', ...place(of)),
            };
        }

        plots.figure(section, {
            id: `frames-${number}`, title: `Who allocated: bytes ${what}`, draw,
            text: 'Callers above what they called; each is as wide as what was allocated there ' +
            'and below.',
        });
    }

    function drawStacks(section, heap) {
        table(section, 'Stacks that hold most', [
            ['innermost function', (stack, i) => `${i + 1}. ${short(stackName(stack), 60)}`],
            ['never freed', (stack) => bytes(stack.live_bytes)],
            ['in blocks', (stack) => words.count(stack.live_blocks)],
            ['allocated', (stack) => bytes(stack.allocated_bytes)],
            ['in calls', (stack) => words.count(stack.allocations)],
            ['<called by', ({frames}) => short(frames.slice(1, 4).map(frameName).join(' < '), 90)],
        ], heap.stacks.slice(0, 20));
        if (heap.stack_count > 20) {
            words.note(section,
                `${plural(heap.stack_count - 20, 'stack')} that hold less are left out.`);
        }
    }

    function drawHeap(main, report, time) {
        report.heap.forEach((heap, i) => {
            const section = words.section(main, i === 0 ? 'heap' : `heap-${i}`,
                'The heap' + (report.heap.length > 1 ? ` of ${fileName(heap.file)}` : ''));
            const what = heap.live_bytes > 0 ? 'never freed' : 'allocated';
            const root = treeOf(heap.stacks, (stack) => heap.live_bytes > 0 ? stack.live_bytes
                : stack.allocated_bytes);
            words.paragraph(section,
                `${plural(heap.allocations, 'allocation')} of ${bytes(heap.allocated_bytes)} ` +
                `together; ${bytes(heap.live_bytes)} in ${plural(heap.live_blocks, 'block')} ` +
                'were never freed.');
            drawLive(section, heap, i, time);
            if (root.value > 0 && root.height > 0) {
                section.append('h3').text(`Who allocated what was ${what}`);
                drawFrames(section, root, i, what);
            }
            drawStacks(section, heap);
        });
    }

    return {drawHeap};
})());
