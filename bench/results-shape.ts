// The schema of results.json as shapes, field by field as in bench/results.ts: tsc refuses one that is forgotten or of
// another type.
import {
  amount,
  date,
  listOf,
  name,
  object,
  oneOf,
  orAbsent,
  orNull,
  positiveWhole,
  recordOf,
  type Shape,
  text,
  truth,
} from './json-shape.ts';
import {
  type Check,
  type ContenderFacts,
  type Limit,
  type Machine,
  type Measurement,
  type Results,
  type RunOptions,
  resultsVersion,
  type Split,
  type Time,
  type Use,
} from './results.ts';

const dtype = oneOf('float32', 'float64');

const options = object<RunOptions>({
  suites: listOf(name),
  dimensions: listOf(positiveWhole),
  counts: listOf(positiveWhole),
  dtypes: listOf(dtype),
  quick: truth,
  millisecondsPerCase: amount,
  rounds: positiveWhole,
});

const machine = object<Machine>({
  processor: text,
  processors: positiveWhole,
  memoryGiB: amount,
  system: text,
  node: text,
  covarium: text,
  commit: text,
  load: orNull(amount),
  power: oneOf('mains', 'battery', ''),
  environment: recordOf(text),
});

const contender = object<ContenderFacts>({
  name,
  kind: oneOf('device', 'peer'),
  available: truth,
  about: text,
  reason: text,
  threads: orNull(positiveWhole),
  facts: recordOf(text),
  measuresSpeed: truth,
});

const limit = object<Limit>({
  contender: name,
  dtype,
  flopsPerSecond: amount,
  bytesPerSecond: amount,
  normalsPerSecond: amount,
});

const check = object<Check>({ against: name, error: amount, tolerance: amount });

const time = object<Time>({
  runs: positiveWhole,
  median: amount,
  p25: amount,
  p75: amount,
  relativeMargin: amount,
  rounds: listOf(amount),
});

const split = object<Split>({ encode: amount, device: amount, readBack: amount, rest: amount });

const use = object<Use>({ peakMemory: orNull(amount), longestHold: orNull(amount) });

const measurement = object<Measurement>({
  suite: name,
  case: name,
  dtype: orNull(dtype),
  dimension: orNull(positiveWhole),
  count: orNull(positiveWhole),
  contender: name,
  state: oneOf('timed', 'wrong', 'failed', 'left out'),
  reason: text,
  check: orNull(check),
  time: orNull(time),
  split: orNull(split),
  use: orAbsent(use),
  shareOfLimit: orNull(amount),
});

/** The whole of results.json. */
export const results: Shape<Results> = object<Results>({
  schema: oneOf('covarium-benchmark'),
  version: oneOf(resultsVersion),
  started: date,
  seconds: amount,
  partial: truth,
  options,
  machine,
  contenders: listOf(contender),
  limits: listOf(limit),
  measurements: listOf(measurement),
});
