// A row of a Student-t has the same bits everywhere: the cpu device's vector code scales it as plain TypeScript does.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend } from '../../lib/backend.ts';
import type { Real } from '../../lib/dtype.ts';
import { openReference } from '../../lib/reference/device.ts';
import { normalCounter } from '../../lib/stream/counter.ts';
import { cpuKernels, noCpu, noLesser, openCpuBackend, withLesser } from '../harness/cpu-backend.ts';
import { sanitized } from '../harness/sanitized.ts';

const degrees = [1e-300, 1e-3, 0.3, 1, 1.999, 2, 4.2, 30, 1e9, 1e300];
const reference = openReference();

if (noCpu !== '') console.log(`skipped  the cpu device's part: ${noCpu}`);

function stretched(backend: Backend, rows: Real, location: Float64Array, n: number, nu: number, first: bigint): Real {
  const out = rows.slice();
  const encoder = backend.encoder();
  encoder.stretchRows(out, location, n, nu, normalCounter(42, 7, first));
  encoder.commitSync();
  return out;
}

function sameBits(actual: Real, expected: Real, where: string): void {
  const bytes = ({ buffer, byteLength }: Real) => Buffer.from(buffer, 0, byteLength);
  if (bytes(actual).equals(bytes(expected))) return;
  const at = actual.findIndex((value, i) => !Object.is(value, expected[i]));
  assert.unreachable(`${where}: element (${at}) is (${actual[at]}), not (${expected[at]}).`);
}

const baseline = sanitized ? 'no sanitizer checks it' : noLesser('baseline');
if (baseline !== '') console.log(`skipped  cpu, baseline: ${baseline}`);
const places: readonly [name: string, missing: string, open: () => Backend][] = [
  [`${cpuKernels}, 1 thread`, noCpu, () => openCpuBackend(1)],
  [`${cpuKernels}, 2 threads`, noCpu, () => openCpuBackend(2)],
  ['baseline, 2 threads', baseline, () => withLesser('baseline', () => openCpuBackend(2))],
];

for (const [place, missing, open] of places) {
  const onCpu = (sentence: string, check: (cpu: Backend) => void) => {
    const name = `cpu, ${place}: ${sentence}`;
    if (missing !== '') return test.skip(name);
    test(name, () => {
      const cpu = open();
      try {
        check(cpu);
      } finally {
        cpu.close();
      }
    });
  };

  onCpu('Few rows of any shape are stretched as in plain TypeScript.', (cpu) => {
    for (const type of [Float32Array, Float64Array])
      for (const nu of degrees)
        for (const n of [1, 2, 3, 16, 21])
          for (const count of [0, 1, 2, 7, 11, 12, 13, 31, 32, 33])
            for (const own of [false, true]) {
              const rows = new type(count * n).map((_, i) => (i % 5 === 0 ? 0 : Math.sin(i) * 10 ** (i % 7)));
              const location = new Float64Array(own ? count * n : n).map((_, i) => Math.cos(i) * 1e3);
              const first = 2n ** 32n - 5n;
              const where = `${type.name}, nu ${nu}, n ${n}, count ${count}, own location ${own}`;
              sameBits(
                stretched(cpu, rows, location, n, nu, first),
                stretched(reference, rows, location, n, nu, first),
                where,
              );
            }
  });

  onCpu('Many rows are, too, in blocks that threads share, up to the last row that a run may have.', (cpu) => {
    const count = 150_000;
    const rows = new Float64Array(count).fill(1);
    const location = new Float64Array(1);
    for (const nu of degrees)
      for (const first of [0n, 2n ** 56n - BigInt(count)])
        sameBits(
          stretched(cpu, rows, location, 1, nu, first),
          stretched(reference, rows, location, 1, nu, first),
          `nu ${nu}, first row ${first}`,
        );
  });
}

test.run();
