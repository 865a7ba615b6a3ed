#pragma once

#include "part.h"

namespace covarium::cuda {

// Up to batchColumns (sample.h) columns, of one model and of a batch: lib/backend.ts says what they do. `each` rows of
// each model; the same for all where they are shared.
void logDensity(Run& run, View factor, View mean, View rows, View out, size_t count, size_t n, bool inverse,
                double constant, Dtype dtype);
void logDensityBatch(Run& run, View factors, View means, View rows, View out, size_t count, size_t n, size_t each,
                     bool shared, const std::vector<double>& constants, Dtype dtype);

// Whether all numbers are finite is known when everything has run: then `refuse` is called if they are not.
void requireFinite(Run& run, View a, size_t count, Dtype dtype, std::function<void()> refuse);

}  // namespace covarium::cuda
