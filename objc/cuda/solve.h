// Solves and products of rows by tiles of a lower factor. Products and forward solves have the bits of the CPU.
#pragma once

#include "part.h"

namespace covarium::cuda {

// Encoder.triangularSolve and choleskySolve of lib/backend.ts, for `count` rows of n.
enum class Solve { forwards, transposed, both };
void solve(Run& run, View factor, View rows, size_t count, size_t n, Solve which, Dtype dtype);

// What solve_tiles of msl/ does with a mean, for rows on the GPU; `work` may be `rows`.
struct SolvedRows {
  DevicePointer factor, mean, rows, work, out;
};
void solveTiles(Run& run, const SolvedRows& at, size_t count, size_t n, unsigned mean, Dtype dtype);

// out = mean + factor x for each row x.
void multiplyTiles(Run& run, DevicePointer factor, DevicePointer mean, DevicePointer rows, DevicePointer out,
                   size_t count, size_t n, Dtype dtype);

// How many rows of n are worked on at once, in whole tiles: enough to keep the GPU busy, but no more than the memory
// set aside for them.
size_t tiledRows(size_t count, size_t n);

}  // namespace covarium::cuda
