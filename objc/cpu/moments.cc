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
    double* sum = sums.data() + chunk * n;
    for (size_t r = first; r < first + here; ++r) {
      const double weight = weights == nullptr ? 1 : weights[r];
      for (size_t j = from; j < to; ++j) sum[j] += weight * (static_cast<double>(rows[r * n + j]) - origin[j]);
    }
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
    // An even number of bands: with those on the diagonal at half the price, each thread then gets as much. The sums of
    // our own products do not depend on the tile. Those of a library may, so that its tiles have one size.
    const bool isOwn = execution.blas.isBuiltIn;
    const auto sideFor = [&](double threads) {
      const auto bands = 2 * static_cast<size_t>(std::ceil(std::sqrt(threads)));
      return ((n_ + bands - 1) / bands + 7) / 8 * 8;
    };
    const unsigned threads = execution.pool.threads();
    const size_t whole = sideFor(threads);
    areChunksApart_ = !isOwn || whole < leastSide;
    const size_t wanted = !isOwn ? mostSide : areChunksApart_ ? sideFor(double(threads) / double(chunks_)) : whole;
    side_ = std::clamp(wanted, leastSide, mostSide);
    tiles_ = tilesOf(n_, side_);
  }

  // Calls finish(tile, its sums, row by row) for each tile, on all threads. On the diagonal, sums above it are not
  // made.
  template <typename Finish>
  void run(const Finish& finish) const {
    if (areChunksApart_) return runChunksApart(finish);
    const size_t atOnce = mostSums / (side_ * side_);
    for (size_t tile = 0; tile < tiles_.size(); tile += atOnce)
      runPacked(tile, std::min(atOnce, tiles_.size() - tile), finish);
  }

 private:
  // Smaller tiles would spend their time on reading their columns, larger ones leave the second cache.
  static constexpr size_t leastSide = 64, mostSide = 512;
  static constexpr size_t packedBytes = 8 << 20;  // of panels that are made before tiles read them
  static constexpr size_t mostSums = 1 << 24;     // that are held at once, or the memory would grow with n^2

  static void add(const double* from, double* to, size_t size) {
    for (size_t i = 0; i < size; ++i) to[i] += from[i];
  }

  // The calling thread's memory for `sums` numbers, and behind them for the centred columns of the tile.
  static double* scratchOf(const Tile& tile, size_t sums) {
    const size_t columns = tile.rows.count + tile.columns.count;
    return static_cast<double*>(productScratch(1, (sums + blockRows * columns) * sizeof(double)));
  }

  // Few tiles: a task is a chunk of one, and the sums are added up at the end.
  template <typename Finish>
  void runChunksApart(const Finish& finish) const {
    std::vector<size_t> offsets;
    size_t total = 0;
    for (const Tile& tile : tiles_) {
      offsets.push_back(total);
      total += chunks_ * tile.size();
    }
    const std::unique_ptr<double[]> sums(new double[total]);  // whose pages the tasks touch first
    execution_.pool.run(tiles_.size() * chunks_, [&](size_t task, unsigned) {
      const size_t i = task / chunks_, chunk = task % chunks_;
      const Tile& tile = tiles_[i];
      sumChunk(tile, chunk, sums.get() + offsets[i] + chunk * tile.size(), scratchOf(tile, 0));
    });
    execution_.pool.run(tiles_.size(), [&](size_t i, unsigned) {
      const size_t size = tiles_[i].size();
      double* first = sums.get() + offsets[i];
      for (size_t chunk = 1; chunk < chunks_; ++chunk) add(first + chunk * size, first, size);
      finish(tiles_[i], first);
    });
  }

  // Many tiles, of which `tileCount` are made here: all threads bring some rows into panels, once, and then each tile
  // adds their products.
  template <typename Finish>
  void runPacked(size_t firstTile, size_t tileCount, const Finish& finish) const {
    const auto& kernels = execution_.kernels.float64;
    const size_t bands = (n_ + side_ - 1) / side_;
    // Of one block: each band's panels as the left and as the right side of products.
    const size_t leftLength = blockRows * kernels.leftLength(side_), bandLength = leftLength + blockRows * side_;
    const size_t blocksAtOnce = std::max<size_t>(1, packedBytes / (bands * bandLength * sizeof(double)));
    const std::unique_ptr<double[]> panels(new double[blocksAtOnce * bands * bandLength]);
    std::vector<size_t> offsets;
    size_t length = 0;
    for (size_t i = 0; i < tileCount; ++i) {
      offsets.push_back(length);
      length += tiles_[firstTile + i].size();
    }
    const std::unique_ptr<double[]> sums(new double[2 * length]);  // of the chunks before, and of this one
    for (size_t chunk = 0; chunk < chunks_; ++chunk) {
      const Range here = chunkOf(chunk, count_);
      const size_t atOnce = blocksAtOnce * blockRows;
      for (size_t done = 0; done < here.count; done += atOnce) {
        const size_t rows = std::min(atOnce, here.count - done), blocks = (rows + blockRows - 1) / blockRows;
        const auto rowsOf = [&](size_t block) { return std::min(blockRows, rows - block * blockRows); };
        execution_.pool.run(blocks * bands, [&](size_t task, unsigned) {
          execution_.stopIfCancelled();
          const size_t block = task / bands, band = task % bands;
          const Range columns = {band * side_, std::min(side_, n_ - band * side_)};
          auto* centred = static_cast<double*>(productScratch(1, blockRows * side_ * sizeof(double)));
          centre(columns, here.first + done + block * blockRows, rowsOf(block), centred);
          double* left = panels.get() + task * bandLength;
          kernels.packTwice(centred, rowsOf(block), columns.count, left, left + leftLength);
        });
        execution_.pool.run(tileCount, [&](size_t i, unsigned) {
          execution_.stopIfCancelled();
          const Tile& tile = tiles_[firstTile + i];
          const size_t size = tile.size(), down = tile.rows.first / side_, across = tile.columns.first / side_;
          double *total = sums.get() + offsets[i], *sum = chunk == 0 ? total : total + length;
          if (done == 0) std::fill(sum, sum + size, 0.0);
          for (size_t block = 0; block < blocks; ++block) {
            const double* packed = panels.get() + block * bands * bandLength;
            kernels.addProducts(packed + across * bandLength, packed + down * bandLength + leftLength, rowsOf(block),
                                tile.columns.count, tile.rows.count, tile.onDiagonal(), sum);
          }
          if (done + rows < here.count) return;
          if (chunk != 0) add(sum, total, size);
          if (here.first + here.count == count_) finish(tile, total);
        });
      }
    }
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
  size_t side_;
  bool areChunksApart_;
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
      for (size_t j = 0; j < (tile.onDiagonal() ? i + 1 : across.count); ++j)
        covariance[(down.first + i) * n + across.first + j] = static_cast<T>(sums[i * across.count + j]);
    for (size_t j = 0; j < across.count; ++j)
      for (size_t i = tile.onDiagonal() ? j : 0; i < down.count; ++i)
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
      for (size_t j = 0; j < (tile.onDiagonal() ? i + 1 : across.count); ++j)
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
