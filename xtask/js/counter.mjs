// Counts to N with an XState actor that keeps every event and every snapshot in SQLite,
// and tells what a step took: one line of JSON.
//
// usage: node counter.mjs NPM_PREFIX FOLDER STEPS
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [prefix, folder, count] = process.argv.slice(2);
const steps = Number(count);
const require = createRequire(join(prefix, 'package.json'));
const { assign, createActor, setup } = require('xstate');
const Database = require('better-sqlite3');

const machine = setup({
  guards: { more: ({ context }) => context.count + 1 < steps },
  actions: { add: assign({ count: ({ context }) => context.count + 1 }) },
}).createMachine({
  context: { count: 0 },
  initial: 'counting',
  states: {
    counting: { on: { next: [{ guard: 'more', actions: 'add' }, { target: 'done', actions: 'add' }] } },
    done: { type: 'final' },
  },
});

const database = new Database(join(folder, 'xstate.db'));
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec(`
  CREATE TABLE event (seq INTEGER PRIMARY KEY, body TEXT NOT NULL);
  CREATE TABLE snapshot (run INTEGER PRIMARY KEY, seq INTEGER NOT NULL, body TEXT NOT NULL);
`);
const addEvent = database.prepare('INSERT INTO event VALUES (?, ?)');
const putSnapshot = database.prepare('INSERT OR REPLACE INTO snapshot VALUES (1, ?, ?)');
const keep = database.transaction((seq, event, snapshot) => {
  addEvent.run(seq, event);
  putSnapshot.run(seq, snapshot);
});

const actor = createActor(machine).start();
const started = process.hrtime.bigint();
for (let seq = 1; seq <= steps; seq += 1) {
  const event = { type: 'next' };
  actor.send(event);
  keep(seq, JSON.stringify(event), JSON.stringify(actor.getPersistedSnapshot()));
}
const took = Number(process.hrtime.bigint() - started);
database.close();

const { value, context } = actor.getSnapshot();
if (value !== 'done' || context.count !== steps) {
  console.error(`XState counted to ${context.count} in ${value}, and not to ${steps}`);
  process.exit(1);
}
const { version } = require('xstate/package.json');
console.log(JSON.stringify({ version, us_per_step: took / steps / 1e3 }));
