// Normals and draws of the GPU, by kernels of msl/. The bits are the CPU's.
#pragma once

#include <optional>

#include "part.h"

namespace covarium::cuda {

// Up to this many columns one kernel makes both normals and rows: of one model, in float32 and in float64, and of a
// batch. On an H200, 64 columns in float64 take 0.71 of the time of two kernels, and 80 the same.
constexpr size_t narrowColumns = 96, narrowColumnsFloat64 = 64, batchColumns = 64;
// With more columns the factor's elements can't be counted in 32 bits.
constexpr size_t largestOrder = 65535;

// How rows of a normal become those of a Student-t: stretchRows and stretchBatch of lib/backend.ts.
struct Stretch {
  View locations;
  size_t modelRows, locationRows;  // rows of one model, and rows that share one location
  double degreesOfFreedom;
  NormalCounter counter;  // with the first row of each model in place of the first element
};

// Draws that a command makes, and how they are stretched while they are made.
struct Draws {
  Operand out;
  size_t n;
  std::optional<Stretch> stretch;
};

void fillNormal(Run& run, View out, size_t count, NormalCounter counter, Dtype dtype);
void sample(Run& run, View factor, View mean, View out, size_t count, size_t n, bool inverse, NormalCounter counter,
            Dtype dtype, const std::optional<Stretch>& stretch);
// `count` models of `rows` rows.
void sampleBatch(Run& run, View factors, View means, View out, size_t count, size_t n, size_t rows,
                 NormalCounter counter, Dtype dtype, const std::optional<Stretch>& stretch);
// For `count` rows that are there already.
void stretchRows(Run& run, View rows, size_t count, size_t n, const Stretch& stretch, Dtype dtype);

}  // namespace covarium::cuda
