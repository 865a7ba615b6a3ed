// A main thread that never loads the addon: rounds of workers, some terminated after a while. Arguments: rounds, then
// for each worker its plan (test/harness/native-worker.mjs), with + if it is terminated. Ends with 0 only if every
// worker did as planned.
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

const [rounds, ...plans] = process.argv.slice(2);
const url = new URL('native-worker.mjs', import.meta.url);

async function runWorker(name, round, place) {
  const plan = name.replace('+', '');
  const terminated = name.endsWith('+');
  const worker = new Worker(url, { workerData: { plan }, execArgv: [] });
  const messages = [];
  let failure;
  worker.on('message', (message) => messages.push(message));
  worker.on('error', (error) => {
    failure = error;
  });
  const ended = new Promise((resolve) => worker.on('exit', resolve));
  if (terminated) {
    await new Promise((resolve) => worker.once('message', resolve).once('exit', resolve));
    await setTimeout((7 * round + 3 * place) % 23); // another moment of its work in each round
    await worker.terminate();
  }
  const code = await ended;
  const expected = terminated ? 1 : plan === 'exit' ? 3 : 0;
  if (failure || code !== expected || messages.length !== 1 || Number.isNaN(messages[0]))
    throw new Error(`Worker (${name}) of round (${round}) ends with (${code}), messages (${messages}).`, {
      cause: failure,
    });
}

for (let round = 0; round < Number(rounds); round++)
  await Promise.all(plans.map((name, place) => runWorker(name, round, place)));
console.log(`${plans.length} workers in each of ${rounds} rounds`);
