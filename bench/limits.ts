import type { RealDtype } from '../lib/dtype.ts';
import type { CommandBuffer, Device } from '../lib/index.ts';
import type { Limit } from './results.ts';

/**
 * Bytes that the copy moves from which the memory's rate is measured: it reads 64 MiB, more than most caches hold,
 * and writes as many.
 */
export const copiedBytes: number = 2 << 26;

/**
 * A device's best rates in `dtype`, measured now: of a matrix product, of copying large matrices, and of normals into
 * memory near the processor. Each takes `milliseconds` or a little longer.
 */
export function measureLimit(device: Device, dtype: RealDtype, milliseconds: number): Omit<Limit, 'contender'> {
  return {
    dtype,
    flopsPerSecond: productRate(device, dtype, milliseconds),
    bytesPerSecond: copyRate(device, milliseconds),
    normalsPerSecond: normalRate(device, dtype, milliseconds),
  };
}

function productRate(device: Device, dtype: RealDtype, milliseconds: number): number {
  let best = 0;
  for (const n of [250, 500, 1000, 2000]) {
    // A slow device shows its rate at a small size; the next size would only take longer.
    if (best > 0 && (2 * n ** 3) / best > (2 * milliseconds) / 1000) break;
    using a = device.matrix(n, n, { dtype });
    using b = device.matrix(n, n, { dtype });
    using c = device.matrix(n, n, { dtype });
    device.commandBuffer().fillNormal(a, { seed: 1 }).fillNormal(b, { seed: 2 }).commitSync();
    best = Math.max(
      best,
      bestRate(device, 2 * n ** 3, milliseconds, (commands) => commands.product(a, b, c)),
    );
  }
  return best;
}

function copyRate(device: Device, milliseconds: number): number {
  using from = device.vector(copiedBytes / 8);
  using to = device.vector(copiedBytes / 8);
  return bestRate(device, copiedBytes, milliseconds, (commands) => commands.copy(from, to));
}

function normalRate(device: Device, dtype: RealDtype, milliseconds: number): number {
  // A CPU is fastest where its caches hold the numbers, a GPU where there are many.
  const rates = [1 << 16, 1 << 19, 1 << 22].map((length) => {
    using out = device.vector(length, { dtype });
    return bestRate(device, length, milliseconds / 2, (commands) => commands.fillNormal(out, { seed: 1 }));
  });
  return Math.max(...rates);
}

/** The best rate of the runs that fit in the time, at least three: disturbances only make a run slower. */
function bestRate(device: Device, amount: number, milliseconds: number, record: (to: CommandBuffer) => void): number {
  let best = Number.POSITIVE_INFINITY;
  const end = performance.now() + milliseconds;
  for (let runs = 0; runs < 3 || performance.now() < end; ++runs) {
    const commands = device.commandBuffer();
    const start = performance.now();
    record(commands);
    commands.commitSync();
    best = Math.min(best, performance.now() - start);
  }
  return (amount / best) * 1000;
}
