// Rows solved by tiles of a lower factor, with the bits of the CPU where it is solved forwards.
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

// Rows of n that are worked on at once, whole tiles: as many as keep the GPU busy, or as memory is given to.
size_t tiledRows(size_t count, size_t n);

}  // namespace covarium::cuda
