// The kernels of msl/ that the CUDA device runs, each with its threads' places. embed.mjs makes PTX of this text.
#include <metal_stdlib>

#include "dialect.h"
#include "normal.h"

namespace msl {
#include "batch.metal"
#include "normal.metal"
#include "sample-tiles.metal"
#include "sample.metal"
}  // namespace msl

#undef inline
#undef kernel
#undef device
#undef constant
#undef thread
#undef threadgroup

extern __attribute__((__shared__, aligned(16))) float groupMemory[];

#define LANE static_cast<uint>(__nvvm_read_ptx_sreg_tid_x())
#define LANES static_cast<uint>(__nvvm_read_ptx_sreg_ntid_x())
#define GROUP static_cast<uint>(__nvvm_read_ptx_sreg_ctaid_x())

#define KERNEL(name, parameters, ...) \
  extern "C" __attribute__((__global__)) void name parameters { msl::name(__VA_ARGS__); }

KERNEL(fill_normal, (float* out, msl::NormalParams params), out, params, GROUP* LANES + LANE)
KERNEL(sample_rows, (const float* factor, const float* mean, float* out, msl::SampleParams params), factor, mean, out,
       params, groupMemory, GROUP, LANE, LANES)
KERNEL(sample_tiles, (const float* factor, const float* mean, const float* z, float* out, msl::MatrixParams params),
       factor, mean, z, out, params, groupMemory, GROUP, LANE, LANES)
KERNEL(sample_batch, (const float* factors, const float* means, float* out, msl::SampleBatchParams params), factors,
       means, out, params, groupMemory, GROUP, LANE, LANES)
