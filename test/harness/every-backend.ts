import { test } from 'uvu';
import type { Backend, Encoder } from '../../lib/backend.ts';
import type { Dtype, Real } from '../../lib/dtype.ts';
import { openReference } from '../../lib/reference/device.ts';
import { isAsked } from './asked-device.ts';
import { noCpu, noLesser, openCpuBackend, withLesser } from './cpu-backend.ts';
import { openGpuBackend, reasonAgainst } from './gpu-backend.ts';
import { sanitized } from './sanitized.ts';

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
  /** Why it is not available here; '' if it is. */
  readonly missing: string;
  open(): Backend;
}

// Three threads are more than some machines have cores, and divide nothing evenly.
const places: readonly Place[] = [
  { name: 'metal', missing: reasonAgainst('metal'), open: () => openGpuBackend('metal') },
  { name: 'cuda', missing: reasonAgainst('cuda'), open: () => openGpuBackend('cuda') },
  { name: 'cpu with 1 thread', missing: noCpu, open: () => openCpuBackend(1) },
  { name: 'cpu with 3 threads', missing: noCpu, open: () => openCpuBackend(3) },
  { name: 'cpu with AVX2', missing: noLesser('avx2'), open: () => withLesser('avx2', () => openCpuBackend(2)) },
  {
    name: 'cpu without AVX2',
    missing: noLesser('baseline'),
    open: () => withLesser('baseline', () => openCpuBackend(2)),
  },
  { name: 'reference', missing: '', open: openReference },
];

// A library gives the same products with each of the cpu's settings. A sanitizer checks neither TypeScript nor the
// kernels of lesser processors (test/metal/softmetal/build.mjs), and three threads cover what one thread does.
const { COVARIUM_BLAS: library }: NodeJS.ProcessEnv & { COVARIUM_BLAS?: string } = process.env;
const isLeftOut = (name: string) =>
  library === undefined ? sanitized && /reference|AVX2|1 thread/.test(name) : /^cpu with(?! 3)/.test(name);
const asked = places.filter(({ name }) => isAsked(name.split(' ')[0]!));
const leftOut = asked.filter(({ name }) => isLeftOut(name)).map(({ name }) => name);
if (leftOut.length > 0) console.log(`left out  ${leftOut.join(', ')}`);

// The types of a device are asked for once, because opening a GPU compiles its kernels.
const benches = asked.flatMap(({ name, missing, open }) => {
  if (isLeftOut(name)) return [];
  if (missing !== '') {
    console.log(`skipped  ${name}: ${missing}`);
    return [];
  }
  const backend = open();
  backend.close();
  return backend.dtypes.map((dtype) => ({ name: `${name}, ${dtype}`, dtype, open }));
});

/** The same test of the contract on every backend that works here, in every type that it computes with. */
export function onEveryBackend(sentence: string, check: (bench: Bench) => void | Promise<void>): void {
  for (const { name, dtype, open } of benches)
    test(`${name}: ${sentence}`, async () => {
      const backend = open();
      try {
        await check(benchOf(backend, dtype));
      } finally {
        backend.close();
      }
    });
}

function benchOf(backend: Backend, dtype: Dtype): Bench {
  const Values = dtype === 'float32' ? Float32Array : Float64Array;
  return {
    backend,
    dtype: dtype as RealDtype,
    eps: dtype === 'float32' ? 2 ** -23 : 2 ** -52,
    real: (values) => new Values(values),
    zeros: (length) => new Values(length),
    run(record) {
      const encoder = backend.encoder();
      record(encoder);
      encoder.commitSync();
    },
  };
}
