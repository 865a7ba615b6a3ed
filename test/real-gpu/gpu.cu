#include "gpu.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  printf("%s fails (%s)\n", call, cudaGetErrorString(error));
  exit(2);
}

struct Slots {
  float* at[5];
};
struct Params {
  alignas(8) char bytes[48];
};
extern __shared__ float groupMemory[];

#include "batch.metal"
#include "log-density.metal"
#include "multiply-lower.metal"
#include "normal.metal"
#include "row.metal"
#include "sample.metal"
#include "triangle.metal"
#undef inline
#undef kernel
#undef device
#undef constant
#undef thread
#undef threadgroup

// The position of a thread, in Metal's terms.
#define POSITION_X (blockIdx.x * blockDim.x + threadIdx.x)
#define POSITION make_uint2(POSITION_X, blockIdx.y* blockDim.y + threadIdx.y)
#define LANE blockIdx.x, threadIdx.x, blockDim.x
#define PARAMS(Type) *reinterpret_cast<const Type*>(params.bytes)

#define WORDS(slot) reinterpret_cast<uint*>(slots.at[slot])

#define RUN(kernel, ...) \
  static __global__ void run_##kernel(Slots slots, Params params) { kernel(__VA_ARGS__); }

RUN(fill_normal, slots.at[0], PARAMS(NormalParams), POSITION_X)
RUN(add_row, slots.at[0], slots.at[1], PARAMS(RowParams), POSITION)
RUN(scale_columns, slots.at[0], slots.at[1], PARAMS(MatrixParams), POSITION)
RUN(zero_upper, slots.at[0], PARAMS(MatrixParams), POSITION)
RUN(copy_lower, slots.at[0], slots.at[1], PARAMS(MatrixParams), POSITION)
RUN(antitranspose, slots.at[0], PARAMS(MatrixParams), POSITION)
RUN(squared_norms, slots.at[0], slots.at[1], PARAMS(MatrixParams), groupMemory, LANE, 32)
RUN(log_density, slots.at[0], slots.at[1], PARAMS(LogDensityParams), groupMemory, LANE, 32)
RUN(multiply_lower, slots.at[0], slots.at[1], slots.at[2], slots.at[3], PARAMS(MultiplyLowerParams), groupMemory, LANE,
    32)
RUN(sample_rows, slots.at[0], slots.at[1], slots.at[2], PARAMS(SampleParams), groupMemory, LANE)
RUN(sample_batch, slots.at[0], slots.at[1], slots.at[2], PARAMS(SampleBatchParams), groupMemory, LANE)
RUN(cholesky_batch, slots.at[0], WORDS(1), PARAMS(CholeskyBatchParams), groupMemory, LANE)
RUN(keep_first_failed, slots.at[0], WORDS(1), WORDS(2), slots.at[3], PARAMS(CholeskyBatchParams), groupMemory, LANE, 32)

static const std::map<std::string, void (*)(Slots, Params)> kernels = {
    {"fill_normal", run_fill_normal},
    {"add_row", run_add_row},
    {"scale_columns", run_scale_columns},
    {"zero_upper", run_zero_upper},
    {"copy_lower", run_copy_lower},
    {"antitranspose", run_antitranspose},
    {"squared_norms", run_squared_norms},
    {"log_density", run_log_density},
    {"multiply_lower", run_multiply_lower},
    {"sample_rows", run_sample_rows},
    {"sample_batch", run_sample_batch},
    {"cholesky_batch", run_cholesky_batch},
    {"keep_first_failed", run_keep_first_failed},
};

static COVARIUM_ON_GPU uint64_t mixed(uint word, float value) {
  uint64_t x = uint64_t{word} << 32 | as_type<uint>(value);
  x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 29)) * 0xd1342543de82ef95ull;
  return x ^ (x >> 32);
}

static __global__ void hashValues(const float* values, uint64_t count, uint first, unsigned long long* sum) {
  unsigned long long own = 0;
  for (uint64_t i = POSITION_X; i < count; i += uint64_t{gridDim.x} * blockDim.x) {
    own += mixed(first + static_cast<uint>(i), values[i]);
  }
  atomicAdd(sum, own);
}

static __global__ void hashWords(unsigned long long* sums) {
  unsigned long long radius = 0, x = 0, y = 0;
  for (uint64_t w = POSITION_X; w < (uint64_t{1} << 32); w += uint64_t{gridDim.x} * blockDim.x) {
    const uint word = static_cast<uint>(w);
    const NormalDirection<float> direction = normal_direction<float, int, uint>(word);
    radius += mixed(word, normal_radius<float, int, uint>(word));
    x += mixed(word, direction.x);
    y += mixed(word, direction.y);
  }
  atomicAdd(sums, radius);
  atomicAdd(sums + 1, x);
  atomicAdd(sums + 2, y);
}

namespace gpu {

std::string name() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  int version;
  CHECK(cudaRuntimeGetVersion(&version));
  return std::string(properties.name) + ", CUDA " + std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

Memory::Memory(size_t sizeBytes) : sizeBytes_(sizeBytes) {
  CHECK(cudaMalloc(&data_, sizeBytes));
  CHECK(cudaMemset(data_, 0xff, sizeBytes));
}
Memory::~Memory() { cudaFree(data_); }
void Memory::put(const void* from) { CHECK(cudaMemcpy(data_, from, sizeBytes_, cudaMemcpyHostToDevice)); }
void Memory::get(void* to) const { CHECK(cudaMemcpy(to, data_, sizeBytes_, cudaMemcpyDeviceToHost)); }

void Launch::start() const {
  Slots slots = {};
  Params bytes;
  std::copy(buffers.begin(), buffers.end(), slots.at);
  memcpy(bytes.bytes, params.data(), params.size());
  const auto groups = [&](int axis) { return (grid[axis] + group[axis] - 1) / group[axis]; };
  if (grid[0] == 0 || grid[1] == 0) return;
  kernels.at(kernel)<<<dim3(groups(0), groups(1)), dim3(group[0], group[1]), memoryBytes>>>(slots, bytes);
  CHECK(cudaGetLastError());
}

void Launch::wait() const { CHECK(cudaDeviceSynchronize()); }

double microseconds(const std::function<void()>& start) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  constexpr int calls = 20;
  float best = 1e9f;
  for (int round = 0; round < 6; ++round) {
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < calls; ++i) start();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    if (round > 0) best = std::min(best, milliseconds);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return double{best} * 1e3 / calls;
}

Limits limits() {
  int processors, kilohertz;
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  constexpr size_t sizeBytes = size_t{1} << 30;
  const Memory from(sizeBytes), to(sizeBytes);
  const auto copy = [&] { CHECK(cudaMemcpyAsync(to.data(), from.data(), sizeBytes, cudaMemcpyDeviceToDevice)); };
  constexpr double lanesOfProcessor = 128;
  return {processors * lanesOfProcessor * 2 * kilohertz / 1e9, 2.0 * sizeBytes / microseconds(copy) / 1e6};
}

uint64_t hashOf(const float* values, uint64_t count, uint32_t first) {
  Memory sum(sizeof(uint64_t));
  uint64_t result = 0;
  sum.put(&result);
  hashValues<<<4096, 256>>>(values, count, first, reinterpret_cast<unsigned long long*>(sum.data()));
  sum.get(&result);
  return result;
}

std::array<uint64_t, 3> hashesOfWords() {
  std::array<uint64_t, 3> results = {};
  Memory sums(sizeof results);
  sums.put(results.data());
  hashWords<<<4096, 256>>>(reinterpret_cast<unsigned long long*>(sums.data()));
  sums.get(results.data());
  return results;
}

}  // namespace gpu
