#pragma once

#include "../device.h"
#include "encoding.h"

namespace covarium::metal {

// CommandBuffer::sample of device.h. One kernel makes short rows. Longer rows are made by blocks: first the normals,
// then a triangular product that begins with the means, or a solve.
void sample(Encoding& encoding, View factor, View mean, View out, size_t count, size_t n, bool inverse,
            NormalCounter counter);
// CommandBuffer::logDensity.
void logDensity(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n, bool inverse,
                double constant);

// Whether sample_narrow makes rows of n columns.
bool drawsNarrow(const Gpu& gpu, size_t n, bool inverse);

constexpr size_t fusedColumns = 64;  // of sample_rows, log_density_rows and batches

}  // namespace covarium::metal
