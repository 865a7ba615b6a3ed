#pragma once

#include "../device.h"
#include "../gpu/sample-params.h"
#include "encoding.h"

namespace covarium::metal {

// CommandBuffer::sample of device.h. One kernel makes short rows. Longer rows are made by blocks: first the normals,
// then a triangular product that begins with the means, or a solve.
void sample(Encoding& encoding, View factor, View mean, View out, size_t count, size_t n, bool inverse,
            NormalCounter counter);
// CommandBuffer::logDensity.
void logDensity(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n, bool inverse,
                double constant);

// CommandBuffer::logDensityBatch, with the bits of logDensity() for each model; n is at most densities_most.
void densities(Encoding& encoding, View factors, View means, View rows, View out, const Densities& shape,
               const double* constants);

// Whether sample_narrow makes rows of n columns, and whether the kernel of densities makes theirs.
bool drawsNarrow(const Gpu& gpu, size_t n, bool inverse);
bool makesDensities(const Gpu& gpu, size_t n);
// Whether sample() and logDensity() have the kernels that they need.
bool canSample(const Gpu& gpu, size_t count, size_t n, bool inverse);
bool canLogDensity(const Gpu& gpu, size_t count, size_t n, bool inverse);

constexpr size_t fusedColumns = 64;  // of sample_rows and batches

}  // namespace covarium::metal
