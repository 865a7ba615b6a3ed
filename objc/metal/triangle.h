// Products and solves with a lower triangular factor, n x n.
#pragma once

#include "../gpu/params.h"
#include "encoding.h"

namespace covarium::metal {

// For so few rows a product costs what it costs to read the factor once for every four of them: multiply_lower does it,
// whose groups are many where the tiles of sample_tiles would be few and nearly empty.
constexpr size_t fewRows = 8;

// Rows x become factor x in out, or mean + factor x; a mean of no buffer is none. out is not rows; count is at most
// fewRows.
void multiplyFewRows(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n);
// The same of any count, by sample_tiles, which needs a mean: with zeroMean the bits are those of the CPU's product.
void multiplyRows(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n);
View zeroMean(Encoding& encoding, size_t n);
// What a solve does with a mean, as msl/params.h numbers it.
enum class Mean : uint { none = solve_without_mean, isTaken = solve_less_mean, isAdded = solve_with_mean };
// Each row x of rows becomes, in out, the solution y of factor y = x, or of factor y = x - mean, or y + mean. out may
// be rows, unless the mean is added: then y takes the place of x in rows.
void solveRows(Encoding& encoding, View factor, View mean, Mean use, View rows, View out, size_t count, size_t n);
// In place, by blocks of rows, from a factor whatever is above its diagonal.
void triangularProduct(Encoding& encoding, View factor, View rows, size_t count, size_t n, bool transposed);
void triangularSolve(Encoding& encoding, View factor, View rows, size_t count, size_t n, bool transposed);
// Each row x becomes the solution y of factor factor' y = x.
void choleskySolve(Encoding& encoding, View factor, View rows, size_t count, size_t n);

}  // namespace covarium::metal
