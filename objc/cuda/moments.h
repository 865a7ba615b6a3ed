#pragma once

#include "part.h"

namespace covarium::cuda {

// With more columns the sums of each tile and segment take too much memory.
constexpr size_t mostMomentColumns = 8192;

// addMoments of lib/backend.ts, for `count` rows of n; `products` is not touched unless `hasProducts`.
void addMoments(Run& run, View rows, View centre, View sums, View products, size_t count, size_t n, bool hasProducts,
                Dtype dtype);

// countBetween of lib/backend.ts.
struct BracketShape {
  size_t count, n, capacity;
};
void countBetween(Run& run, View rows, View limits, View kept, View counts, size_t rowCount, const BracketShape& shape,
                  Dtype dtype);

// selectRanks of lib/backend.ts, for slots of `capacity` numbers, which is below 2^31.
void selectRanks(Run& run, View kept, View lengths, View ranks, View out, size_t slots, size_t capacity, Dtype dtype);

}  // namespace covarium::cuda
