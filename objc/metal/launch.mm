// MetalCommandBuffer::launch for a kernel by name; operands and params are passed on unchanged.
#include "../launch.h"

#include <cstring>

#include "command-buffer.h"
#include "../gpu/params.h"

namespace covarium::metal {

namespace {

template <typename Params>
Params read(const void* bytes) {
  Params params;
  memcpy(&params, bytes, sizeof params);
  return params;
}

// The threadgroup memory of these kernels depends on their params. If they needed more than there is, they would
// write beyond their own memory.
void checkMemory(const Pipeline& kernel, const void* params, size_t lanes, size_t mostBytes) {
  size_t sizeBytes = 0;
  if (kernel.name == "sample_rows") {
    const auto sample = read<SampleParams>(params);
    sizeBytes = sample_rows_bytes(sample.columns, sample.rowsPerGroup, sample.inverse);
  } else if (kernel.name == "sample_narrow") {
    sizeBytes = sample_narrow_bytes(read<SampleParams>(params).columns);
  } else if (kernel.name == "sample_batch") {
    const auto sample = read<SampleBatchParams>(params);
    sizeBytes = sample_rows_bytes(sample.columns, sample.rowsPerGroup, 0);
  } else if (kernel.name == "cholesky_batch") {
    const auto batch = read<CholeskyBatchParams>(params);
    sizeBytes = cholesky_batch_bytes(batch.columns, batch.modelsPerGroup);
  }
  if (kernel.name == "densities" || kernel.name == "densities_by_columns")
    sizeBytes = sizeof(float) * densities_elements(read<DensitiesParams>(params).columns, static_cast<uint>(lanes));
  checkThreadgroupMemory(kernel.name, sizeBytes, mostBytes);
}

MTLSize sizeOf(Size3 size) { return MTLSizeMake(size[0], size[1], size[2]); }

}  // namespace

void MetalCommandBuffer::launch(const std::string& name, std::vector<Operand> operands, Size3 grid, Size3 threadgroup) {
  const AutoreleasePool pool;
  const Pipeline& kernel = engine_.gpu.shaders().pipeline(name);
  const auto off = engine_.gpu.off.find(name);
  if (off != engine_.gpu.off.end())
    throw Failure("ERR_UNSUPPORTED", "Kernel (" + name + ") is off on this GPU: " + off->second + ".");
  // Kernels with threadgroup memory reduce.
  checkLaunch({name, kernel.buffers, kernel.paramsBytes, kernel.hasThreadgroupMemory}, operands, grid, threadgroup,
              [kernel.state.get() maxTotalThreadsPerThreadgroup]);
  checkMemory(kernel, operands.back().data(), threadgroup[0],
              [engine_.gpu.device() maxThreadgroupMemoryLength] - [kernel.state.get() staticThreadgroupMemoryLength]);
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return;
  std::vector<uint8_t> params(kernel.paramsBytes);
  memcpy(params.data(), operands.back().data(), params.size());
  operands.pop_back();
  refuseSharedParts(name, operands);
  GpuPart& part = onGpu(operands);
  std::vector<View> views;
  // A kernel may read what it writes.
  for (const Operand& operand : operands) views.push_back(part.view(operand, Access::readAndWrite));
  part.add([&kernel, views, params, grid, threadgroup](Encoding& encoding) {
    encoding.launch(kernel, views, params.data(), sizeOf(grid), sizeOf(threadgroup));
  });
}

}  // namespace covarium::metal
