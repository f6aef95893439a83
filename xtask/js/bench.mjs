// Goes the ways that the kernel has gone, with XState's pure `transition`, and tells
// how long that took. One line in, the number of a chart; one line out, nanoseconds.
//
// usage: node bench.mjs NPM_PREFIX WORK
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [prefix, workFile] = process.argv.slice(2);
const require = createRequire(join(prefix, 'package.json'));
const { createMachine, initialTransition, transition } = require('xstate');

const charts = JSON.parse(readFileSync(workFile, 'utf8')).map(({ chart, config, sequences }) => ({
  chart,
  machine: createMachine(config),
  sequences: sequences.map(({ events, end }) => ({
    events: events.map((type) => ({ type })),
    end,
  })),
}));

function go(machine, events) {
  let [snapshot] = initialTransition(machine);
  for (const event of events) [snapshot] = transition(machine, snapshot, event);
  return snapshot;
}

// A way that ends elsewhere would measure something else.
for (const { chart, machine, sequences } of charts) {
  for (const { events, end } of sequences) {
    const { value } = go(machine, events);
    if (value === end) continue;
    console.error(`${chart}: the kernel ends in ${end}, XState in ${JSON.stringify(value)}`);
    process.exit(1);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { machine, sequences } = charts[Number(line)];
  const started = process.hrtime.bigint();
  for (const { events } of sequences) go(machine, events);
  console.log(String(process.hrtime.bigint() - started));
}
