#pragma once

#include "part.h"

namespace covarium::cuda {

// The log densities of `each` rows of each of `count` models, or of the same rows for all models if `shared`, with up
// to batchColumns (sample.h) columns: logDensity and logDensityBatch of lib/backend.ts.
struct Densities {
  size_t count, n, each;
  bool shared, inverse;
};
void densities(Run& run, View factors, View means, View rows, View out, const Densities& shape,
               const std::vector<double>& constants, Dtype dtype);

// The same for one normal with any number of columns: the rows are whitened by tiles.
void wideDensities(Run& run, View factor, View mean, View rows, View out, size_t count, size_t n, bool inverse,
                   double constant, Dtype dtype);

// Checks that all numbers are finite. The result is known when all commands have run: `refuse` is then called if they
// are not.
void requireFinite(Run& run, View a, size_t count, Dtype dtype, std::function<void()> refuse);

}  // namespace covarium::cuda
