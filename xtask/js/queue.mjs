// Has graphile-worker work through N jobs that do nothing, as it comes, and prints its version and
// the jobs per second: one line of JSON.
//
// usage: node queue.mjs NPM_PREFIX URL JOBS CONCURRENCY
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [prefix, url, count, together] = process.argv.slice(2);
const jobs = Number(count);
const require = createRequire(join(prefix, 'package.json'));
const { Logger, makeWorkerUtils, run } = require('graphile-worker');
const { version } = require('graphile-worker/package.json');
const logger = new Logger(() => () => {});

const utils = await makeWorkerUtils({ connectionString: url, logger });
await utils.migrate();
await utils.withPgClient((client) =>
  client.query("SELECT graphile_worker.add_job('count') FROM generate_series(1, $1::integer)", [jobs]),
);
await utils.release();

let done = 0;
let finished;
const all = new Promise((resolve) => { finished = resolve; });
const concurrency = Number(together);
const settings = { connectionString: url, logger, concurrency, maxPoolSize: concurrency + 1 };
const started = process.hrtime.bigint();
const runner = await run({
  ...settings,
  taskList: { count: async () => { done += 1; if (done === jobs) finished(); } },
});
await all;
const seconds = Number(process.hrtime.bigint() - started) / 1e9;
await runner.stop();
console.log(JSON.stringify({ version, claims_per_s: jobs / seconds }));
