// Everything that is built once for each instruction set (kernels.cc): the kernels of msl/ and the vector code of the
// sampler. Each build has one table of functions; processor.cc chooses one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../device.h"
#include "../blas.h"

namespace covarium::cpu {

// One kernel of msl/, called through slots: its buffers, its params, its threadgroup memory, in the order of its
// arguments.
struct Kernel {
  const char* name;
  unsigned buffers;  // at Metal's indices 0 ..., and the params at index `buffers`
  uint32_t written;  // bit b: the kernel writes to buffer b
  size_t paramsBytes;
  bool reduction;          // row, lane, lanes instead of a position
  bool threadgroupMemory;  // has threadgroup memory, at Metal's index 0
  // Its size in bytes, for these params, lanes and simdgroups; null if there is none.
  size_t (*memoryBytes)(const void* params, uint32_t lanes, uint32_t simdWidth);
  // Threads [begin, end) of row y of the grid, in a plain loop (a map).
  void (*runMap)(void* const* slots, uint32_t begin, uint32_t end, uint32_t y);
  // One thread of a threadgroup (a reduction).
  void (*runThread)(void* const* slots, uint32_t row, uint32_t lane, uint32_t lanes, uint32_t simdWidth);
};

// A multiple of every vector's length.
constexpr size_t rowBytes = 64;

// Counts are as wide as the numbers, so that both fill vectors of the same length.
template <typename T>
using CountOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <typename T>
struct RealKernels {
  // Elements counter.first ... of the normal stream.
  void (*fillNormal)(T* out, size_t count, NormalCounter counter);
  // rows x n: row <- scale * vector + row.
  void (*addRow)(T* rows, const T* row, T scale, size_t count, size_t n);
  // sums[j] += weight (row[j] - origin[j]), row by row, whose weight is 1 if there are no weights.
  void (*addDifferences)(const T* rows, size_t stride, const double* weights, const double* origin, double* sums,
                         size_t count, size_t n);
  // Rows of n, `stride` apart: to = row - origin - centre in float64, row after row.
  void (*centreRows)(const T* rows, size_t stride, const double* origin, const double* centre, double* to, size_t count,
                     size_t n);
  // rows x n: row <- vector * row, element by element.
  void (*scaleColumns)(T* rows, const T* row, size_t count, size_t n);
  // out[r] = |row r|^2.
  void (*squaredNorms)(const T* rows, T* out, size_t count, size_t n);
  // Each of `values`, -d^2 / 2, becomes d.
  void (*distances)(T* values, size_t count);
  // One sweep that turns each two of m rows of n numbers, a multiple of rowBytes, to be orthogonal. Returns how many
  // pairs were not, up to the tolerance.
  size_t (*orthogonalizeRows)(T* rows, size_t m, size_t n, T tolerance);
  // m rows of n >= m numbers, a multiple of rowBytes, become the lower L of L Q, whose diagonal is positive. `v` has
  // room for a row. False, with rows lost, where the rest of a row is 0 or its squares overflow or vanish.
  bool (*factorRows)(T* rows, size_t m, size_t n, T* v);
  void (*antitranspose)(T* a, size_t n);
  // to = from', for rows [first, last) of `from` (rows x columns).
  void (*transposeRows)(const T* from, T* to, size_t rows, size_t columns, size_t first, size_t last);
  // Entries [first, last) of mean + factor z for `count` rows z of n, into rows `out` that are apart from z. An entry
  // begins as its mean and takes the products in the order of the columns, each in a multiplyAdd, so that its bits
  // depend on nothing else.
  void (*multiplyOnto)(const T* factor, const T* mean, const T* z, T* out, size_t count, size_t n, size_t first,
                       size_t last);
  // The same for few rows and a factor that is stored in columns (lib/factor/columns.ts): blocks with `columnBytes`
  // of entries for each column. A block begins at `first`. Without a mean an entry begins as 0.
  void (*multiplyColumns)(const T* columns, const T* mean, const T* z, T* out, size_t count, size_t n, size_t first,
                          size_t last);
  // The same for all entries and many rows, and a factor that is stored in panels of panelRows rows, packedLength(n)
  // entries in all. packLower makes one panel, so that threads can share the work.
  size_t panelRows;
  size_t (*packedLength)(size_t n);
  void (*packLower)(const T* factor, size_t n, size_t panel, T* packed);
  void (*multiplyPacked)(const T* packed, const T* mean, const T* z, T* out, size_t count, size_t n);
  // y <- alpha matrix x + beta y, `count` rows of k; from the last rows to the first with `backward`. A beta of 0 does
  // not read y.
  void (*matrixVector)(const T* matrix, const T* x, T* y, size_t count, size_t k, T alpha, T beta, bool backward);
  // Rows of at most narrowLimit columns, by a table made of factor and mean.
  size_t streamLimit, narrowLimit;
  size_t (*narrowTableLength)(size_t n);
  void (*narrowTable)(const T* factor, const T* mean, size_t n, T* table);
  // n <= streamLimit: out = mean + factor z by row; z needs 8 readable elements in front of it and a vector of them
  // behind it.
  void (*streamedProduct)(const T* table, const T* z, T* out, size_t count, size_t n);
  // For n beyond streamLimit: in place.
  void (*narrowProduct)(const T* table, T* rows, size_t count, size_t n);
  // Rows x <- y with factor y = x, n <= solveLimit; strides count elements.
  size_t solveLimit;
  void (*solveRows)(const T* factor, size_t factorStride, T* rows, size_t stride, size_t count, size_t n);
  // out[r] = atMean - |w|^2 / 2 with factor w = row r - mean, n <= solveLimit: by addRow, solveRows and squaredNorms,
  // bit for bit.
  void (*logDensities)(const T* factor, const T* mean, const T* rows, T* out, size_t count, size_t n, T atMean);
  // solveRows for at most fewRows rows and any n.
  size_t fewRows;
  void (*solveFewRows)(const T* factor, size_t factorStride, T* rows, size_t stride, size_t count, size_t n);
  // True only if every entry of rows [first, last) is finite and within `tolerance` of its mirror, relative to the
  // larger.
  bool (*surelySymmetric)(const T* a, size_t n, T tolerance, size_t first, size_t last);
  // Whether all are between the limits, exclusive: with infinite ones, whether all are finite.
  bool (*areBetween)(const T* a, size_t count, T least, T most);
  // Models of a batch side by side: abreastModels of them, with at most abreastLimit dimensions. A vector holds one
  // entry of each model. The results have the bits of the functions for one model. Scratch has abreastScratch(n,
  // rows) elements.
  size_t abreastLimit, abreastModels;
  size_t (*abreastScratch)(size_t n, size_t rows);
  // n x n <- its lower Cholesky factor, upper triangle 0; n at most abreastLimit. Returns n, or the first pivot that is
  // not positive and finite, and leaves such a matrix as it was.
  size_t (*factorOne)(T* a, size_t stride, size_t n);
  // The factors of `count` matrices of n x n, in place. False, with all left as they were, if one of them may not be
  // symmetric within `tolerance`, finite and positive definite.
  bool (*factorAbreast)(T* a, size_t count, size_t n, T tolerance, T* scratch);
  // `rows` draws of each of `count` models: model b from stream counter.stream + b.
  void (*sampleAbreast)(const T* factors, const T* means, T* out, size_t count, size_t n, size_t rows,
                        NormalCounter counter, T* scratch);
  // out[b rows + r] = |w|^2 with factor w = row r - mean for each of `count` models, whose rows are `rowsStride`
  // elements apart: 0 if all have the same rows.
  void (*squaredDistancesAbreast)(const T* factors, const T* means, const T* x, size_t rowsStride, T* out, size_t count,
                                  size_t n, size_t rows, T* scratch);
  // rows x n: row <- location + scale * row by the radial scales of a Student-t, rows counter.first ...; the location
  // of the next row is `locationStride` numbers on.
  void (*stretchRows)(T* rows, const double* location, size_t locationStride, size_t count, size_t n, double nu,
                      NormalCounter counter);
  // For `count` rows of n: below[j] += how many numbers of column j are below lower[j]. `hits`, with room for all
  // rows, gets the rows that have a number from lower[j] to upper[j]; returns how many there are.
  size_t (*countBetween)(const T* rows, size_t count, size_t n, const T* lower, const T* upper, CountOf<T>* below,
                         uint32_t* hits);
  // `count` rows of n <- their part of the LU decomposition of an n x n matrix in which they are the first, as in
  // Encoder.lu (lib/backend.ts); swaps[k] is the column that was swapped with column k.
  void (*factorLu)(T* rows, size_t stride, size_t count, size_t n, int* swaps);
  // Our own products with the signatures of BLAS, for the arguments that the device uses (product.inc); potrf is
  // missing.
  BlasRoutines<T> products;
};

struct KernelTable {
  const char* instructionSet;
  const Kernel* kernels;
  size_t kernelCount;
  RealKernels<float> float32;
  RealKernels<double> float64;
  // Probabilities between 0 and 1 become quantiles of the standard normal.
  void (*normalQuantiles)(double* values, size_t count);
  template <typename T>
  const RealKernels<T>& of() const;
};

template <>
inline const RealKernels<float>& KernelTable::of<float>() const {
  return float32;
}
template <>
inline const RealKernels<double>& KernelTable::of<double>() const {
  return float64;
}

#if defined(__x86_64__)
const KernelTable& kernelsAvx512();
const KernelTable& kernelsAvx2();
#endif
// For every processor of the architecture: NEON on arm64; on x86-64 it also serves processors that have neither AVX2
// nor FMA (Rosetta before macOS 15, Ivy Bridge, some Atoms).
const KernelTable& kernelsBaseline();

}  // namespace covarium::cpu
