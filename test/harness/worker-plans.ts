// What workers do on the devices of test/native/workers and test/metal/workers.

/** Rounds of workers side by side, each with a plan of test/harness/native-worker.mjs. */
interface WorkerRounds {
  readonly sentence: string;
  readonly rounds: number;
  readonly plans: readonly string[];
}

export const workerRounds: readonly WorkerRounds[] = [
  {
    sentence: 'Four workers at once use and close devices, round after round, while the main thread has none.',
    rounds: 6,
    plans: ['use', 'use', 'use', 'use'],
  },
  {
    sentence: 'Devices that a worker never closes are closed when it ends.',
    rounds: 6,
    plans: ['forget', 'forget', 'use', 'forget'],
  },
  {
    sentence: 'Workers are terminated while commits are in flight.',
    rounds: 8,
    plans: ['pend+', 'pend+', 'pend+', 'use'],
  },
  {
    sentence: 'Workers are terminated while commits settle and are refused.',
    rounds: 12,
    plans: ['settle+', 'settle+', 'reject+', 'reject+'],
  },
  {
    sentence: 'Workers are terminated in synchronous work.',
    rounds: 8,
    plans: ['sync+', 'sync+', 'churn+', 'churn+'],
  },
  { sentence: 'Workers end themselves with work in flight.', rounds: 6, plans: ['exit', 'exit', 'use', 'pend+'] },
];
