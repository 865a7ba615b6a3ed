#pragma once

#include "../gpu/sample-params.h"
#include "part.h"

namespace covarium::cuda {

// logDensity and logDensityBatch of lib/backend.ts, with up to batchColumns (sample.h) columns.
void densities(Run& run, View factors, View means, View rows, View out, const gpu::Densities& shape,
               const std::vector<double>& constants, Dtype dtype);

// The same for one normal with any number of columns: the rows are whitened by tiles.
void wideDensities(Run& run, View factor, View mean, View rows, View out, size_t count, size_t n, bool inverse,
                   double constant, Dtype dtype);

// Checks that all numbers are finite. The result is known when all commands have run: `refuse` is then called if they
// are not.
void requireFinite(Run& run, View a, size_t count, Dtype dtype, std::function<void()> refuse);

}  // namespace covarium::cuda
