// What the measurements on this machine's GPU and CPU share; each runs after `npm run build`.
import { openDevice } from '../../dist/lib/index.js';

/** Milliseconds, the best of several rounds. */
export async function best(work) {
  let least = Number.POSITIVE_INFINITY;
  const end = performance.now() + 400;
  for (let round = 0; round < 4 || performance.now() < end; round++) {
    const start = performance.now();
    await work();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

export { covarianceOf } from './covariance.mjs';

/** The GPU, and the CPU beside it. */
export const devices = [openDevice('cuda'), openDevice('cpu')];
console.log(devices.map(({ name, threads }) => `${name}, ${threads} threads`).join('; '));
