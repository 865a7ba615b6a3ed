#include "moments.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "triangular.h"

namespace covarium::cpu {

namespace {

constexpr size_t blockRows = 256;  // centred in float64 at a time

// Rows are summed by chunks, which are added up in their order: as many for any number of threads, and one of few rows,
// where more would take longer than the sums.
size_t chunksOf(size_t count) { return count <= blockRows ? 1 : 8; }

struct Range {
  size_t first, count;
};

Range chunkOf(size_t chunk, size_t count) {
  const size_t chunks = chunksOf(count), rows = (count + chunks - 1) / chunks, first = std::min(count, chunk * rows);
  return {first, std::min(count, first + rows) - first};
}

// The sums of the differences from the origin, which is near the rows, so that a large common offset costs no digits.
// Without weights all are 1.
template <typename T>
std::vector<double> sumOfDifferences(const Execution& execution, const T* rows, const double* weights,
                                     const std::vector<double>& origin, size_t count) {
  constexpr size_t sliceColumns = 256;
  const size_t n = origin.size(), slices = (n + sliceColumns - 1) / sliceColumns, chunks = chunksOf(count);
  std::vector<double> sums(chunks * n);
  execution.pool.run(chunks * slices, [&](size_t task, unsigned) {
    const size_t chunk = task / slices, from = task % slices * sliceColumns, to = std::min(n, from + sliceColumns);
    const auto [first, here] = chunkOf(chunk, count);
    execution.kernels.of<T>().addDifferences(rows + first * n + from, n, weights == nullptr ? nullptr : weights + first,
                                             origin.data() + from, sums.data() + chunk * n + from, here, to - from);
  });
  for (size_t chunk = 1; chunk < chunks; ++chunk)
    for (size_t j = 0; j < n; ++j) sums[j] += sums[chunk * n + j];
  sums.resize(n);
  return sums;
}

// A tile of the covariance, on the diagonal or below it, of rows and columns that lie together.
struct Tile {
  Range rows, columns;
  bool onDiagonal() const { return rows.first == columns.first; }
  // Of row i, those that are not above the diagonal.
  size_t columnsOf(size_t i) const { return std::min(columns.count, rows.first + i + 1 - columns.first); }
  size_t size() const { return rows.count * columns.count; }
};

// Those on the diagonal, which cost half, come last, so that threads end at about the same time.
std::vector<Tile> tilesOf(size_t n, size_t side) {
  std::vector<Tile> tiles;
  const auto range = [&](size_t first) { return Range{first, std::min(side, n - first)}; };
  for (size_t row = side; row < n; row += side)
    for (size_t column = 0; column < row; column += side) tiles.push_back({range(row), range(column)});
  for (size_t row = 0; row < n; row += side) tiles.push_back({range(row), range(row)});
  return tiles;
}

// The products of the centred columns, by tiles.
template <typename T>
class Products {
 public:
  Products(const Execution& execution, const T* rows, const double* weights, size_t count,
           const std::vector<double>& origin, const std::vector<double>& centre)
      : execution_(execution),
        rows_(rows),
        weights_(weights),
        count_(count),
        chunks_(chunksOf(count)),
        n_(origin.size()),
        origin_(origin),
        centre_(centre) {
    const size_t least = (n_ + mostSide - 1) / mostSide, threads = execution.pool.threads();
    if (!execution.blas.isBuiltIn) {
      tiles_ = tilesOf(n_, mostSide);  // for any number of threads, because a library's sums may depend on the tile
    } else if (threads == 1) {
      areChunksApart_ = false;
      tiles_ = tilesFor(least);
    } else {
      // Tiles on the diagonal cost half: an even number of bands makes bands^2 / 2 equal shares.
      const size_t even = least + least % 2;
      const auto bandsFor = [](double shares) { return 2 * static_cast<size_t>(std::ceil(std::sqrt(shares / 2))); };
      const bool areEnough = even * even / 2 >= threads && n_ >= 4 * leastSide,
                 isLarge = chunks_ * n_ * n_ / 2 > mostSums;
      areChunksApart_ = !areEnough && !isLarge;
      const double shares = areEnough ? 1 : isLarge ? 2.0 * threads : std::ceil(double(threads) / chunks_);
      tiles_ = tilesFor(std::max(even, bandsFor(shares)));
    }
  }

  // Calls finish(part of a tile, its sums, row by row) for all parts, on all threads. Sums above the diagonal are not
  // made.
  template <typename Finish>
  void run(const Finish& finish) const {
    if (areChunksApart_) return runChunksApart(finish);
    execution_.pool.run(tiles_.size(), [&](size_t i, unsigned) {
      const Tile& tile = tiles_[i];
      const size_t size = tile.size();
      double* sums = scratchOf(tile, 2 * size);
      for (size_t chunk = 0; chunk < chunks_; ++chunk) {
        sumChunk(tile, chunk, sums + (chunk == 0 ? 0 : size), sums + 2 * size);
        if (chunk != 0) add(sums + size, sums, size);
      }
      finish(tile, sums);
    });
  }

 private:
  // Smaller tiles would spend their time on reading rows, larger ones leave the second cache.
  static constexpr size_t leastSide = 64, mostSide = 512;
  static constexpr size_t mostSums = 1 << 21;  // of all chunks: to touch more memory costs more than smaller tiles do

  std::vector<Tile> tilesFor(size_t bands) const {
    const size_t side = ((n_ + bands - 1) / bands + 7) / 8 * 8;
    return tilesOf(n_, std::clamp(side, leastSide, mostSide));
  }

  static void add(const double* from, double* to, size_t size) {
    for (size_t i = 0; i < size; ++i) to[i] += from[i];
  }

  // The calling thread's memory for `sums` numbers, and behind them for the centred columns of the tile.
  static double* scratchOf(const Tile& tile, size_t sums) {
    const size_t columns = tile.rows.count + tile.columns.count;
    return static_cast<double*>(productScratch(1, (sums + blockRows * columns) * sizeof(double)));
  }

  // The sums of the chunks are added up at the end.
  template <typename Finish>
  void runChunksApart(const Finish& finish) const {
    std::vector<size_t> offsets;
    size_t total = 0, tallest = 0;
    for (const Tile& tile : tiles_) {
      tallest = std::max(tallest, tile.rows.count);
      offsets.push_back(total);
      total += chunks_ * tile.size();
    }
    const std::unique_ptr<double[]> sums(new double[total]);  // whose pages the tasks touch first
    execution_.pool.run(tiles_.size() * chunks_, [&](size_t task, unsigned) {
      const size_t i = task / chunks_, chunk = task % chunks_;
      const Tile& tile = tiles_[i];
      sumChunk(tile, chunk, sums.get() + offsets[i] + chunk * tile.size(), scratchOf(tile, 0));
    });
    // A few rows of a tile at a time, so that all threads have some.
    constexpr size_t sliceRows = 64;
    const size_t slices = (tallest + sliceRows - 1) / sliceRows;
    execution_.pool.run(tiles_.size() * slices, [&](size_t task, unsigned) {
      const auto& [rows, columns] = tiles_[task / slices];
      const size_t row = task % slices * sliceRows, size = rows.count * columns.count;
      if (row >= rows.count) return;
      const Tile slice = {{rows.first + row, std::min(sliceRows, rows.count - row)}, columns};
      double* first = sums.get() + offsets[task / slices] + row * columns.count;
      for (size_t chunk = 1; chunk < chunks_; ++chunk) add(first + chunk * size, first, slice.size());
      finish(slice, first);
    });
  }

  // sum = the products of the rows of one chunk.
  void sumChunk(const Tile& tile, size_t chunk, double* sum, double* centred) const {
    const auto& blas = execution_.blas.float64;
    const int rows = blasInt(tile.rows.count), columns = blasInt(tile.columns.count);
    const double one = 1;
    std::fill(sum, sum + tile.size(), 0.0);
    const auto [first, count] = chunkOf(chunk, count_);
    for (size_t r = first; r < first + count; r += blockRows) {
      execution_.stopIfCancelled();
      const size_t block = std::min(blockRows, first + count - r);
      const int depth = static_cast<int>(block);
      centre(tile.rows, r, block, centred);
      if (tile.onDiagonal()) {
        blas.syrk("U", "N", &rows, &depth, &one, centred, &rows, &one, sum, &rows);
      } else {
        double* right = centred + blockRows * tile.rows.count;
        centre(tile.columns, r, block, right);
        blas.gemm("N", "T", &columns, &rows, &depth, &one, right, &columns, centred, &rows, &one, sum, &columns);
      }
    }
  }

  void centre(Range columns, size_t row, size_t block, double* to) const {
    const size_t first = columns.first;
    execution_.kernels.of<T>().centreRows(rows_ + row * n_ + first, n_, origin_.data() + first, centre_.data() + first,
                                          to, block, columns.count);
    if (weights_ == nullptr) return;
    for (size_t r = 0; r < block; ++r, to += columns.count) {
      const double scale = std::sqrt(weights_[row + r]);
      for (size_t j = 0; j < columns.count; ++j) to[j] *= scale;
    }
  }

  const Execution& execution_;
  const T* rows_;
  const double* weights_;  // of each row; null if all are 1
  size_t count_, chunks_, n_;
  const std::vector<double>&origin_, &centre_;
  std::vector<Tile> tiles_;
  bool areChunksApart_ = true;  // few tiles: a task is a chunk of one
};

}  // namespace

template <typename T>
void meanAndCovariance(const Execution& execution, const T* rows, T* mean, T* covariance, size_t count, size_t n,
                       double ddof) {
  const std::vector<double> origin(rows, rows + n);
  std::vector<double> centre = sumOfDifferences(execution, rows, nullptr, origin, count);
  for (size_t j = 0; j < n; ++j) {
    centre[j] /= static_cast<double>(count);
    mean[j] = static_cast<T>(origin[j] + centre[j]);
  }
  Products<T>(execution, rows, nullptr, count, origin, centre).run([&](const Tile& tile, double* sums) {
    const auto& [down, across] = tile;
    for (size_t i = 0; i < tile.size(); ++i) sums[i] /= static_cast<double>(count) - ddof;
    for (size_t i = 0; i < down.count; ++i)
      for (size_t j = 0; j < tile.columnsOf(i); ++j)
        covariance[(down.first + i) * n + across.first + j] = static_cast<T>(sums[i * across.count + j]);
    for (size_t j = 0; j < across.count; ++j)
      for (size_t i = across.first + j - std::min(across.first + j, down.first); i < down.count; ++i)
        covariance[(across.first + j) * n + down.first + i] = static_cast<T>(sums[i * across.count + j]);
  });
}

template <typename T>
void addMoments(const Execution& execution, const T* rows, const double* weights, const double* centre, double* sums,
                double* products, size_t count, size_t n) {
  const std::vector<double> origin(centre, centre + n), none(n);
  const std::vector<double> differences = sumOfDifferences(execution, rows, weights, origin, count);
  for (size_t j = 0; j < n; ++j) sums[j] += differences[j];
  if (products == nullptr) return;
  Products<T>(execution, rows, weights, count, origin, none).run([&](const Tile& tile, double* made) {
    const auto& [down, across] = tile;
    for (size_t i = 0; i < down.count; ++i)
      for (size_t j = 0; j < tile.columnsOf(i); ++j)
        products[(down.first + i) * n + across.first + j] += made[i * across.count + j];
  });
}

template <typename T>
void addPowers(const Execution& execution, const T* rows, const double* weights, const double* centre, double* sums,
               size_t count, size_t n) {
  constexpr size_t rowsAtOnce = 32;  // that stay in the cache
  const size_t chunks = chunksOf(count), powers = n + 1;
  const std::vector<double> none(n);
  std::vector<double> made(chunks * powers);
  execution.pool.run(chunks, [&](size_t chunk, unsigned) {
    const auto [first, here] = chunkOf(chunk, count);
    double* third = made.data() + chunk * powers;
    auto* centred = static_cast<double*>(productScratch(1, rowsAtOnce * n * sizeof(double)));
    double squares[rowsAtOnce];
    for (size_t r = first; r < first + here; r += rowsAtOnce) {
      execution.stopIfCancelled();
      const size_t block = std::min(rowsAtOnce, first + here - r);
      execution.kernels.of<T>().centreRows(rows + r * n, n, centre, none.data(), centred, block, n);
      execution.kernels.of<double>().squaredNorms(centred, squares, block, n);
      for (size_t i = 0; i < block; ++i) {
        const double weight = weights == nullptr ? 1 : weights[r + i];
        if (weight == 0) continue;  // a square may be infinite
        const double cubic = weight * squares[i];
        const double* row = centred + i * n;
        for (size_t j = 0; j < n; ++j) third[j] += cubic * row[j];
        third[n] += cubic * squares[i];
      }
    }
  });
  for (size_t at = 0; at < made.size(); ++at) sums[at % powers] += made[at];
}

template void addPowers(const Execution&, const float*, const double*, const double*, double*, size_t, size_t);
template void addPowers(const Execution&, const double*, const double*, const double*, double*, size_t, size_t);
template void addMoments(const Execution&, const float*, const double*, const double*, double*, double*, size_t,
                         size_t);
template void addMoments(const Execution&, const double*, const double*, const double*, double*, double*, size_t,
                         size_t);
template void meanAndCovariance(const Execution&, const float*, float*, float*, size_t, size_t, double);
template void meanAndCovariance(const Execution&, const double*, double*, double*, size_t, size_t, double);

}  // namespace covarium::cpu
