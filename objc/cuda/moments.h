#pragma once

#include "part.h"

namespace covarium::cuda {

// Beyond, sums of a tile for each segment take too much memory.
constexpr size_t mostMomentColumns = 8192;

// addMoments of lib/backend.ts, for `count` rows of n; products are not touched where there are none.
void addMoments(Run& run, View rows, View centre, View sums, View products, size_t count, size_t n, bool hasProducts,
                Dtype dtype);

// countBetween of lib/backend.ts.
struct BracketShape {
  size_t count, n, capacity;
};
void countBetween(Run& run, View rows, View limits, View kept, View counts, size_t rowCount, const BracketShape& shape,
                  Dtype dtype);

// selectRanks of lib/backend.ts, for so many slots of `capacity` numbers, below 2^31.
void selectRanks(Run& run, View kept, View lengths, View ranks, View out, size_t slots, size_t capacity, Dtype dtype);

}  // namespace covarium::cuda
