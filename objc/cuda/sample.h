// The GPU's commands, by kernels of msl/: the bits are the CPU's.
#pragma once

#include "part.h"

namespace covarium::cuda {

// Up to so many columns one kernel makes normals and rows: of one model, and of a batch.
constexpr size_t narrowColumns = 112, batchColumns = 64;
// Beyond, the factor's elements can't be counted in 32 bits.
constexpr size_t largestOrder = 65535;

void fillNormal(Run& run, View out, size_t count, NormalCounter counter, Dtype dtype);
void sample(Run& run, View factor, View mean, View out, size_t count, size_t n, bool inverse, NormalCounter counter,
            Dtype dtype);
// `count` models of `rows` rows, in float32.
void sampleBatch(Run& run, View factors, View means, View out, size_t count, size_t n, size_t rows,
                 NormalCounter counter);

}  // namespace covarium::cuda
