// Batches of models of few columns, by the kernels of msl/batch.metal.
#pragma once

#include "../device.h"
#include "encoding.h"

namespace covarium::metal {

// CommandBuffer::choleskyBatch of device.h. The commit fails with what the CPU finds in the first matrix that the GPU
// refuses.
void choleskyBatch(Encoding& encoding, View a, size_t count, size_t n, double tolerance);
// CommandBuffer::sampleBatch, `rows` draws from each of `count` models, with the bits of sample() for each.
void sampleBatch(Encoding& encoding, View factors, View means, View out, size_t count, size_t n, size_t rows,
                 NormalCounter counter);

// The CPU factors up to 32 columns by its own kernel, which sums in the same order as cholesky_batch; it factors more
// columns by a library, which sums in another order.
constexpr size_t batchFactorColumns = 32;
constexpr size_t mostBatchModels = size_t{1} << 28;  // a kernel counts them with 32 bits

}  // namespace covarium::metal
