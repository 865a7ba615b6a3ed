// Params of the kernels that draw, the same on every GPU. Which kernels a command runs, and over how many rows at a
// time, is left to each device, because little of it is the same: Metal ends a slice when its work is estimated to be
// long (Encoding::worked), and has kernels for few rows and MPS; CUDA ends a slice when enough is made to be copied to
// the host, and has two types, NVIDIA's libraries, and the scales of a Student-t in the same pass.
#pragma once

#include <algorithm>

#include "params.h"
#include "slices.h"

namespace covarium::gpu {

inline NormalParams normalParams(NormalCounter counter, size_t count) {
  return {lowWord(counter.seed),  highWord(counter.seed),  lowWord(counter.stream), highWord(counter.stream),
          lowWord(counter.first), highWord(counter.first), static_cast<uint>(count)};
}

inline SampleParams sampleParams(NormalCounter counter, size_t count, size_t columns, uint rowsPerGroup, bool inverse) {
  return {lowWord(counter.seed),  highWord(counter.seed),  lowWord(counter.stream),  highWord(counter.stream),
          lowWord(counter.first), highWord(counter.first), static_cast<uint>(count), static_cast<uint>(columns),
          rowsPerGroup,           inverse ? 1u : 0u};
}

// For rows that begin at the address `at`, on a GPU with this many processors (0: not known).
inline SampleTileParams sampleTileParams(size_t count, size_t columns, uint64_t at, uint processors) {
  return {static_cast<uint>(count), static_cast<uint>(columns), columns % 4 == 0 && at % 16 == 0 ? 1u : 0u, processors};
}

// For `models` models. The counter is that of the first one's normals.
inline SampleBatchParams sampleBatchParams(NormalCounter counter, size_t models, size_t rows, size_t columns,
                                           uint rowsPerGroup) {
  return {lowWord(counter.seed),      highWord(counter.seed),
          lowWord(counter.stream),    highWord(counter.stream),
          lowWord(counter.first),     highWord(counter.first),
          static_cast<uint>(models),  static_cast<uint>(rows),
          static_cast<uint>(columns), rowsPerGroup};
}

inline NormalCounter ofModel(NormalCounter counter, size_t model) {
  counter.stream += model;
  return counter;
}

inline NormalCounter after(NormalCounter counter, uint64_t elements) {
  counter.first += elements;
  return counter;
}

// Rows of a group of sample_narrow: a multiple of what a group makes at once, but few enough that the GPU has enough
// groups.
inline uint narrowRowsPerGroup(size_t count, size_t columns) {
  constexpr size_t enoughGroups = 8 * processorsOfH100, mostTimes = 8;
  const size_t atOnce = sample_narrow_rows(static_cast<uint>(columns));
  return static_cast<uint>(std::clamp<size_t>(count / (atOnce * enoughGroups), 1, mostTimes) * atOnce);
}

// The log densities of `each` rows of each of `count` models of n columns, or of the same rows for all models if
// `shared`. `inverse` is that of DensitiesParams.
struct Densities {
  size_t count, n, each;
  bool shared, inverse;
};

// Rows of a group of densities, of `rows` rows of each model: a multiple of its lanes, but few enough that the GPU has
// enough groups. The lengths that were fastest on an H200.
inline uint densitiesRowsPerGroup(size_t models, size_t rows, size_t columns) {
  constexpr size_t enoughGroups = 4 * processorsOfH100;
  const size_t mostTimes = columns >= densities_by_columns_from && columns <= 32 ? 4 : 8;
  const size_t times = std::clamp<size_t>(models * rows / (densities_lanes * enoughGroups), 1, mostTimes);
  return static_cast<uint>(times * densities_lanes);
}

inline const char* densitiesKernel(size_t columns) {
  return columns < densities_by_columns_from ? "densities" : "densities_by_columns";
}

}  // namespace covarium::gpu
