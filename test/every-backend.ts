import { test } from 'uvu';
import type { Backend, Encoder } from '../lib/backend.ts';
import type { Dtype, Real } from '../lib/dtype.ts';
import { openReference } from '../lib/reference/device.ts';
import { cpuKernels, noCpu, openCpuBackend } from './cpu-backend.ts';

type RealDtype = 'float32' | 'float64';

/** A backend, the type to compute with, and that type's spacing of numbers at 1. */
export interface Bench {
  readonly backend: Backend;
  readonly dtype: RealDtype;
  readonly eps: number;
  /** `values` rounded to the type. */
  real(values: ArrayLike<number>): Real;
  zeros(length: number): Real;
  /** Records commands and runs them. */
  run(record: (encoder: Encoder) => void): void;
}

interface Place {
  readonly name: string;
  open(): Backend;
}

/** The cpu device with the kernels of a lesser instruction set: the environment is read as a device is opened. */
function openAvx2(threads: number): Backend {
  const env: NodeJS.ProcessEnv & { COVARIUM_INSTRUCTION_SET?: string } = process.env;
  env.COVARIUM_INSTRUCTION_SET = 'avx2';
  try {
    return openCpuBackend(threads);
  } finally {
    delete env.COVARIUM_INSTRUCTION_SET;
  }
}

// Three threads are more than some machines have cores, and divide nothing evenly.
const places: readonly Place[] = [
  { name: 'cpu with 1 thread', open: () => openCpuBackend(1) },
  { name: 'cpu with 3 threads', open: () => openCpuBackend(3) },
  { name: 'cpu with AVX2', open: () => openAvx2(2) },
  { name: 'reference', open: openReference },
].filter(
  ({ name }) => (noCpu === '' || name === 'reference') && (cpuKernels === 'AVX-512' || name !== 'cpu with AVX2'),
);
if (noCpu !== '') console.log(`skipped  cpu: ${noCpu}`);

/** The same test of the contract on every backend that works here, in every type that it computes with. */
export function onEveryBackend(sentence: string, check: (bench: Bench) => void | Promise<void>): void {
  for (const { name, open } of places) {
    const backend = open();
    for (const dtype of backend.dtypes) {
      test(`${name}, ${dtype}: ${sentence}`, async () => {
        const fresh = open();
        try {
          await check(benchOf(fresh, dtype));
        } finally {
          fresh.close();
        }
      });
    }
    backend.close();
  }
}

function benchOf(backend: Backend, dtype: Dtype): Bench {
  const Values = dtype === 'float32' ? Float32Array : Float64Array;
  return {
    backend,
    dtype: dtype as RealDtype,
    eps: dtype === 'float32' ? 2 ** -23 : 2 ** -52,
    real: (values) => Values.from(values),
    zeros: (length) => new Values(length),
    run(record) {
      const encoder = backend.encoder();
      record(encoder);
      encoder.commitSync();
    },
  };
}
