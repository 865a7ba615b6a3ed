#pragma once

#include "../buffer.h"
#include "../device.h"
#include "execution.h"

namespace covarium::cpu {

// Encoder.choleskyBatch, sampleBatch and logDensityBatch of lib/backend.ts: `count` models of n dimensions, each with
// the bits of the command for one model.
template <typename T>
void choleskyBatch(const Execution& execution, T* a, size_t count, size_t n, T tolerance);
template <typename T>
void sampleBatch(const Execution& execution, const T* factors, const T* means, T* out, size_t count, size_t n,
                 size_t rows, NormalCounter counter);
// The rows of model b + 1 are `rowsStride` elements after those of model b: 0 if all have the same rows.
template <typename T>
void logDensityBatch(const Execution& execution, const T* factors, const T* means, const T* x, size_t rowsStride,
                     T* out, size_t count, size_t n, size_t rows, const double* constants);

extern template void choleskyBatch(const Execution&, float*, size_t, size_t, float);
extern template void choleskyBatch(const Execution&, double*, size_t, size_t, double);
extern template void sampleBatch(const Execution&, const float*, const float*, float*, size_t, size_t, size_t,
                                 NormalCounter);
extern template void sampleBatch(const Execution&, const double*, const double*, double*, size_t, size_t, size_t,
                                 NormalCounter);
extern template void logDensityBatch(const Execution&, const float*, const float*, const float*, size_t, float*, size_t,
                                     size_t, size_t, const double*);
extern template void logDensityBatch(const Execution&, const double*, const double*, const double*, size_t, double*,
                                     size_t, size_t, size_t, const double*);

}  // namespace covarium::cpu
