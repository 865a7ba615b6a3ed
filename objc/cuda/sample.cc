#include "sample.h"

#include <algorithm>

#include "../../msl/radial-scale.h"
#include "../gpu/sample-params.h"
#include "solve.h"

namespace covarium::cuda {

using namespace gpu;

namespace {

// Of one slice: the GPU makes one while the slice before it is copied to the host.
constexpr size_t sliceElements = size_t{1} << 22;
static_assert(std::max(narrowColumns, narrowColumnsFloat64) <= sample_narrow_most);

void makeNormals(Run& run, DevicePointer out, size_t count, NormalCounter counter, Dtype dtype) {
  const size_t threads =
      dtype == Dtype::float32 ? fill_normal_threads(counter.first, count) : groupsOf(counter.first % 2 + count, 2);
  run.launchThreads(kernelFor("fill_normal", dtype), {out}, normalParams(counter, count), threads);
}

// Rows of a slice. One slice is made while the one before it is copied to the host, so a slice is an eighth of all
// rows, in whole tiles: enough for the GPU, but few enough that copying begins soon. What stays on the GPU is cut so
// that a cancelled commit soon stops.
size_t rowsPerSlice(const Run& run, View out, size_t count, size_t n) {
  constexpr size_t leastElements = 1 << 18, leastTiles = 2 * processorsOfH100, stayingElements = 1 << 26;
  const bool stays = run.staysOnGpu(out);
  const size_t elements = stays ? stayingElements : std::min(sliceElements, std::max(count * n / 8, leastElements));
  // These need no memory for normals, and 2^28 of them take 1 to 3 ms.
  if (n <= narrowColumns) return std::max<size_t>(1, (stays ? 4 : 1) * elements / n);
  const size_t across = groupsOf(n, tile_side);
  return std::max(elements / n / tile_side, groupsOf(leastTiles, across)) * tile_side;
}

// Stretches rows `first` to `first` + `count` of all models: within one model, or whole models.
void stretchSlice(Run& run, DevicePointer rows, size_t first, size_t count, size_t n, const Stretch& stretch,
                  Dtype dtype) {
  // A group takes as many rows as it has lanes to make their scales, if that leaves enough groups for the GPU.
  constexpr size_t leastElements = 4096, enoughGroups = 8 * processorsOfH100;
  const size_t model = first / stretch.modelRows, row = first % stretch.modelRows;
  const size_t location = first / stretch.locationRows;
  const size_t modelRows = std::min(stretch.modelRows, count), locationRows = std::min(stretch.locationRows, count);
  const NormalCounter counter = after(ofModel(stretch.counter, model), row);
  const size_t perGroup = std::clamp<size_t>(std::max(leastElements / n, count / enoughGroups), 1, stretch_lanes);
  const radial_scale::Constants of = radial_scale::constantsFor(stretch.degreesOfFreedom);
  const StretchParams params = {lowWord(counter.seed),
                                highWord(counter.seed),
                                lowWord(counter.stream),
                                highWord(counter.stream),
                                lowWord(counter.first),
                                highWord(counter.first),
                                static_cast<uint>(count),
                                static_cast<uint>(n),
                                static_cast<uint>(modelRows),
                                static_cast<uint>(locationRows),
                                static_cast<uint>(perGroup),
                                of.boosted ? 1u : 0u,
                                of.nu,
                                of.shape,
                                of.d,
                                of.c};
  const size_t doubles = sizeof(double) / sizeof(float);
  run.launch(kernelFor("stretch_rows", dtype), {rows, run.address(stretch.locations, location * n * doubles)}, params,
             groupsOf(count, perGroup), stretch_lanes, sizeof(double) * perGroup);
}

}  // namespace

void fillNormal(Run& run, View out, size_t count, NormalCounter counter, Dtype dtype) {
  const size_t floats = bytesOf(dtype) / sizeof(float);
  forSlices(count, rowsPerSlice(run, out, count, 1), [&](size_t first, size_t here) {
    makeNormals(run, run.slice(out, first * floats, here * floats), here, after(counter, first), dtype);
    run.made(out, first * floats, here * floats);
  });
}

void sample(Run& run, View factor, View mean, View out, size_t count, size_t n, bool inverse, NormalCounter counter,
            Dtype dtype, const std::optional<Stretch>& stretch) {
  const uint columns = static_cast<uint>(n);
  const auto finish = [&](DevicePointer made, size_t first, size_t here) {
    if (stretch) stretchSlice(run, made, first, here, n, *stretch, dtype);
    const size_t floats = bytesOf(dtype) / sizeof(float);
    run.made(out, first * n * floats, here * n * floats);
  };
  const size_t floats = bytesOf(dtype) / sizeof(float);
  if (n <= (dtype == Dtype::float32 ? narrowColumns : narrowColumnsFloat64) && !inverse) {
    forSlices(count, rowsPerSlice(run, out, count, n), [&](size_t first, size_t here) {
      const uint perGroup = narrowRowsPerGroup(here, n);
      const SampleParams params = sampleParams(after(counter, uint64_t{first} * n), here, n, perGroup, false);
      const DevicePointer made = run.slice(out, first * n * floats, here * n * floats);
      run.launch(kernelFor("sample_narrow", dtype), {run.address(factor), run.address(mean), made}, params,
                 groupsOf(here, perGroup), sample_narrow_lanes, floats * sample_narrow_bytes(columns));
      finish(made, first, here);
    });
    return;
  }
  DevicePointer normals = 0;
  forSlices(count, rowsPerSlice(run, out, count, n), [&](size_t first, size_t here) {
    const size_t at = first * n * floats, length = here * n * floats;
    if (first == 0) normals = run.scratch(length);
    makeNormals(run, normals, here * n, after(counter, uint64_t{first} * n), dtype);
    const DevicePointer made = run.slice(out, at, length);
    if (inverse)
      solveTiles(run, {run.address(factor), run.address(mean), normals, normals, made}, here, n, solve_with_mean,
                 dtype);
    else
      multiplyTiles(run, run.address(factor), run.address(mean), normals, made, here, n, dtype);
    finish(made, first, here);
  });
}

void sampleBatch(Run& run, View factors, View means, View out, size_t count, size_t n, size_t rows,
                 NormalCounter counter, Dtype dtype, const std::optional<Stretch>& stretch) {
  const uint columns = static_cast<uint>(n);
  const size_t floats = bytesOf(dtype) / sizeof(float), floatsOfModel = rows * n * floats;
  const uint perGroup = static_cast<uint>(std::min<size_t>(rows, sample_rows_per_group(columns, 0)));
  if (rows * n > sliceElements) {  // a model is more than a slice
    for (size_t b = 0; b < count; ++b) {
      std::optional<Stretch> own = stretch;
      if (own) {
        own->locations = own->locations.from(b * n * sizeof(double) / sizeof(float));
        own->counter = ofModel(own->counter, b);
      }
      sample(run, factors.from(b * n * n * floats), means.from(b * n * floats), out.from(b * floatsOfModel), rows, n,
             false, ofModel(counter, b), dtype, own);
    }
    return;
  }
  const size_t groups = groupsOf(rows, perGroup), models = sliceElements / (rows * n);
  forSlices(count, models, [&](size_t b, size_t here) {
    const SampleBatchParams params = sampleBatchParams(ofModel(counter, b), here, rows, n, perGroup);
    const DevicePointer made = run.slice(out, b * floatsOfModel, here * floatsOfModel);
    run.launch(kernelFor("sample_batch", dtype),
               {run.address(factors, b * n * n * floats), run.address(means, b * n * floats), made}, params,
               here * groups, std::min<size_t>((perGroup + 3) / 4 * n, sample_rows_lanes(0)),
               floats * sample_rows_bytes(columns, perGroup, 0));
    if (stretch) stretchSlice(run, made, b * rows, here * rows, n, *stretch, dtype);
    run.made(out, b * floatsOfModel, here * floatsOfModel);
  });
}

void stretchRows(Run& run, View rows, size_t count, size_t n, const Stretch& stretch, Dtype dtype) {
  const size_t floats = bytesOf(dtype) / sizeof(float), most = std::max<size_t>(1, sliceElements / n);
  const size_t ofModel = stretch.modelRows;
  const bool isWhole = ofModel <= most;  // a slice is whole models; else it lies within one
  for (size_t first = 0, here = 0; first < count; first += here) {
    here = isWhole ? std::min(most / ofModel * ofModel, count - first) : std::min(most, ofModel - first % ofModel);
    stretchSlice(run, run.address(rows, first * n * floats), first, here, n, stretch, dtype);
    run.made(rows, first * n * floats, here * n * floats);
  }
}

}  // namespace covarium::cuda
