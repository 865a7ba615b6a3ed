import { Matrix } from '../../dist/lib/index.js';

export function covarianceOf(n) {
  const entries = Float32Array.from({ length: n * n }, (_, at) => 1 / (1 + Math.abs(Math.floor(at / n) - (at % n))));
  for (let i = 0; i < n; i++) entries[i * (n + 1)] += 1;
  return Matrix.from(entries, { columns: n });
}
