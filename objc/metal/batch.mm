#include "batch.h"

#include <algorithm>

#include "../gpu/cost.h"
#include "../gpu/slices.h"
#include "gpu.h"
#include "../gpu/sample-params.h"
#include "../gpu/refused-model.h"
#include "sample.h"

namespace covarium::metal {

namespace {

constexpr size_t mostGroups = size_t{1} << 18;  // of one dispatch

}  // namespace

// The GPU keeps a copy of the first matrix that it refuses, because a later command may write to a.
void choleskyBatch(Encoding& encoding, View a, size_t count, size_t n, double tolerance) {
  Gpu& gpu = encoding.gpu();
  const uint columns = static_cast<uint>(n), abreast = cholesky_batch_models_per_group(columns);
  const View failed = encoding.scratch(count), first = encoding.readable(1), kept = encoding.readable(n * n);
  auto* firstFailed = static_cast<uint32_t*>(first.buffer->contents());
  *firstFailed = ~uint32_t{0};  // until the GPU overwrites it
  CholeskyBatchParams params = {static_cast<uint>(count), columns, abreast, static_cast<float>(tolerance)};
  forSlices(count, abreast * mostGroups, [&](size_t begin, size_t here) {
    params.models = static_cast<uint>(here);
    encoding.dispatchGroups("cholesky_batch", {a.from(begin * n * n), failed.from(begin)}, params,
                            groupsOf(here, abreast), abreast * n,
                            [&](uint, uint) { return cholesky_batch_bytes(columns, abreast); });
    encoding.worked(batchFactorSeconds(here, n));
  });
  params.models = static_cast<uint>(count);
  constexpr size_t lanes = 256;
  encoding.dispatchGroups("keep_first_failed", {a, failed, first, kept}, params, 1, lanes, simdgroup_values_bytes);
  encoding.worked(passSeconds(1, count));
  encoding.afterwards([&gpu, first, firstFailed, kept, count, n, tolerance] {
    if (*firstFailed != count)
      throwForModel(gpu.cpu(), static_cast<float*>(kept.buffer->contents()), *firstFailed, n, tolerance);
  });
}

void sampleBatch(Encoding& encoding, View factors, View means, View out, size_t count, size_t n, size_t rows,
                 NormalCounter counter) {
  const uint columns = static_cast<uint>(n), most = sample_rows_per_group(columns, 0);
  if (rows > most * mostGroups) {
    for (size_t b = 0; b < count; ++b)
      sample(encoding, factors.from(b * n * n), means.from(b * n), out.from(b * rows * n), rows, n, false,
             ofModel(counter, b));
    return;
  }
  const uint perGroup = static_cast<uint>(std::min<size_t>(rows, most));
  const size_t groups = groupsOf(rows, perGroup), models = std::max<size_t>(1, mostGroups / groups);
  forSlices(count, models, [&](size_t b, size_t here) {
    const SampleBatchParams params = sampleBatchParams(ofModel(counter, b), here, rows, n, perGroup);
    // A lane makes one column of four rows.
    const size_t shares = std::min<size_t>((perGroup + 3) / 4 * n, sample_rows_lanes(0));
    encoding.dispatchGroups("sample_batch", {factors.from(b * n * n), means.from(b * n), out.from(b * rows * n)},
                            params, here * groups, shares,
                            [&](uint, uint) { return sample_rows_bytes(columns, perGroup, 0); });
    encoding.worked(secondsFor(here * rows * n * (60.0 + n), 4.0 * here * n * (rows + n)));
  });
}

}  // namespace covarium::metal
