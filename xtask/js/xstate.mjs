// Drives exported charts through the real XState and compares every snapshot with
// what the kernel's `simulate` says.
//
// usage: node xstate.mjs NPM_PREFIX WORK RESULT
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const [prefix, workFile, resultFile] = process.argv.slice(2);
const require = createRequire(join(prefix, 'package.json'));
const { createMachine, initialTransition, transition } = require('xstate');

let transitions = 0;
let refusals = 0;
let differences = 0;

function differs(where, state, done, { value, status }) {
  differences += 1;
  const ours = `${JSON.stringify(state)} (${done ? 'done' : 'active'})`;
  console.error(`${where}: simulate is in ${ours}, XState in ${JSON.stringify(value)} (${status})`);
}

function compare(chart, machine, anywhere, { events, endedAt }, number) {
  let [snapshot] = initialTransition(machine);
  let state = machine.config.initial;
  for (const [index, [name, to]] of events.entries()) {
    // An actor takes nothing after its end; the pure function still takes what the
    // root offers, so those names are not asked.
    const ended = endedAt !== null && index > endedAt;
    if (ended && anywhere.has(name)) continue;
    [snapshot] = transition(machine, snapshot, { type: name });
    if (to === null) {
      refusals += 1;
    } else {
      transitions += 1;
      state = to;
    }
    const done = endedAt !== null && index >= endedAt;
    if (snapshot.value !== state || (snapshot.status === 'done') !== done) {
      const told = events.slice(0, index + 1).map(([told]) => told).join(' ');
      differs(`${chart}, sequence ${number}, index ${index} (${told})`, state, done, snapshot);
      return;
    }
  }
}

for (const { chart, config, sequences } of JSON.parse(readFileSync(workFile, 'utf8'))) {
  const before = [transitions, refusals];
  const machine = createMachine(JSON.parse(readFileSync(join(dirname(workFile), config), 'utf8')));
  const anywhere = new Set(Object.keys(machine.config.on ?? {}));
  sequences.forEach((sequence, number) => compare(chart, machine, anywhere, sequence, number));
  const counts = `${transitions - before[0]} transitions, ${refusals - before[1]} refusals`;
  console.log(`${chart}: ${sequences.length} sequences, ${counts}`);
}

writeFileSync(resultFile, JSON.stringify({ transitions, refusals, differences }));
process.exit(differences === 0 ? 0 : 1);
