// Products and solves with a lower triangular factor, n x n.
#pragma once

#include "../gpu/params.h"
#include "encoding.h"

namespace covarium::metal {

// For at most this many rows a product takes as long as reading the factor once for every four of them.
// multiply_lower makes such products: it has many groups, where sample_tiles would have few tiles, nearly empty.
constexpr size_t fewRows = 8;

// Each row x becomes factor x in out, or mean + factor x if mean has a buffer. out is not rows; count is at most
// fewRows.
void multiplyFewRows(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n);
// The same for any count, by sample_tiles, which needs a mean. With zeroMean the bits are those of the CPU's product.
void multiplyRows(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n);
View zeroMean(Encoding& encoding, size_t n);
// What a solve does with a mean, as msl/params.h numbers it.
enum class Mean : uint { none = solve_without_mean, isTaken = solve_less_mean, isAdded = solve_with_mean };
// Solves factor y = x, or factor y = x - mean, for each row x of rows; y, or y + mean, is written to out. out may be
// rows, unless the mean is added: then y also replaces x in rows.
void solveRows(Encoding& encoding, View factor, View mean, Mean use, View rows, View out, size_t count, size_t n);
// Both work in place and by blocks of rows, and ignore what is above the factor's diagonal.
void triangularProduct(Encoding& encoding, View factor, View rows, size_t count, size_t n, bool transposed);
void triangularSolve(Encoding& encoding, View factor, View rows, size_t count, size_t n, bool transposed);
// Each row x becomes the solution y of factor factor' y = x.
void choleskySolve(Encoding& encoding, View factor, View rows, size_t count, size_t n);

}  // namespace covarium::metal
