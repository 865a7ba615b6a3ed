// Estimates of seconds on a slow GPU, 1 TFLOP/s and 50 GB/s. The estimate of a command, when it is recorded, decides
// whether its part is sliced; those of its pieces, as they are encoded (Encoding::worked), decide where.
#pragma once

namespace covarium::gpu {

inline double secondsFor(double flops, double bytes) { return flops * 1e-12 + bytes * 2e-11; }
// `passes` times over the elements.
inline double passSeconds(double passes, double elements) { return secondsFor(0, 4 * passes * elements); }
inline double normalSeconds(double elements) { return secondsFor(60 * elements, 4 * elements); }
inline double factorSeconds(double n) { return secondsFor(2 * n * n * n, 16 * n * n); }
// `count` factors of n x n, in a batch.
inline double batchFactorSeconds(double count, double n) { return secondsFor(count * n * n * n, 8 * count * n * n); }
// A solve costs what a product does, except for the blocks on its diagonal, whose columns come one after another.
inline double solveSeconds(double count, double n) { return secondsFor(4 * count * n * n, 8 * count * n); }

}  // namespace covarium::gpu
