// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 the etwas authors
//
// Answers SQL on one Perfetto trace after another. trace-sql compiles the trace processor for each trace, which takes 3 s
// of a processor; here it is compiled once, and a trace takes 0.2 s.
//
// usage: node --expose-gc trace_processor.mjs PATH_OF_trace-sql.mjs FOLDER_OF_THE_ENGINE
//
// A line of standard input is a JSON list: the path of a trace, then statements. A line of standard output is one of JSON
// texts, the rows of each statement, one a line; or an object with the member `error`.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

const [script, engine] = process.argv.slice(2);

// trace-sql is a program. Its classes are had without its last line, which runs it.
async function importTraceSql() {
  const text = fs.readFileSync(script, 'utf8');
  const end = text.lastIndexOf('\ntry { process.exitCode = main(');
  if (end < 0) throw new Error(`${script} does not end as expected`);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'trace-sql-'));
  try {
    const copy = path.join(folder, 'trace-sql.mjs');
    fs.writeFileSync(copy, `${text.slice(0, end)}\nexport { TraceProcessor, line, ASSET };\n`);
    return await import(pathToFileURL(copy));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

const { TraceProcessor, line, ASSET } = await importTraceSql();
const compiled = new WebAssembly.Module(fs.readFileSync(path.join(engine, ASSET)));

function answer(trace, statements) {
  const processor = new TraceProcessor(compiled);
  processor.load(trace);
  return statements.map(statement => [...processor.rows(statement)].map(line).join(''));
}

for await (const request of readline.createInterface({ input: process.stdin })) {
  let answers;
  try {
    const [trace, ...statements] = JSON.parse(request);
    answers = answer(trace, statements);
  } catch (error) {
    answers = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(answers)}\n`);
  globalThis.gc?.(); // an instance has gigabytes of addresses
}
