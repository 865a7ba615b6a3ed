// msl/normal.h on a real GPU, by CUDA: the hashes of test/answers/normal-words.json over all 2^32 words, a hash of the first 4,096
// normals of seed 42, stream 7 (test/normal-reference.test.ts expects the same), and the rate.
//
//     nvcc -O3 --fmad=false -std=c++17 -I msl test/normal-words.cu -o normal-words && ./normal-words
#include <cstdint>
#include <cstdio>
#include <cstring>

using uint = uint32_t;

// MSL's words.
template <typename To, typename From>
__host__ __device__ __forceinline__ To as_type(From from) {
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
__device__ __forceinline__ uint mulhi(uint a, uint b) { return __umulhi(a, b); }
__device__ __forceinline__ float select(float no, float yes, bool condition) { return condition ? yes : no; }

#define inline __device__ __forceinline__
#include "normal.h"
#undef inline

// As in test/exhaustive-hashes.h: a sum, so that the order of the threads does not matter.
__device__ uint64_t mixed(uint word, float value) {
  uint64_t x = uint64_t{word} << 32 | as_type<uint>(value);
  x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 29)) * 0xd1342543de82ef95ull;
  return x ^ (x >> 32);
}

__global__ void hashWords(unsigned long long* sums) {
  unsigned long long radius = 0, x = 0, y = 0;
  const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t w = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; w < (uint64_t{1} << 32); w += threads) {
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

__global__ void fillNormal(float4* out, uint64_t blocks) {
  const uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i >= blocks) return;
  const PhiloxBlock<uint> place = {static_cast<uint>(i), static_cast<uint>(i >> 32), 7u, 0u};
  const NormalBlock<float> z = normal_block<float, int, uint>(philox4x32_10(place, 42u, 0u));
  out[i] = make_float4(z.z0, z.z1, z.z2, z.z3);
}

int main() {
  unsigned long long* sums;
  cudaMallocManaged(&sums, 3 * sizeof *sums);
  memset(sums, 0, 3 * sizeof *sums);
  hashWords<<<4096, 256>>>(sums);
  cudaDeviceSynchronize();
  printf("radius %016llx, directionX %016llx, directionY %016llx\n", sums[0], sums[1], sums[2]);

  const uint64_t blocks = uint64_t{1} << 28;
  float4* out;
  cudaMalloc(&out, blocks * sizeof *out);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float best = 1e9f;
  for (int run = 0; run < 5; ++run) {
    cudaEventRecord(begin);
    fillNormal<<<blocks / 256, 256>>>(out, blocks);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float milliseconds;
    cudaEventElapsedTime(&milliseconds, begin, end);
    best = milliseconds < best ? milliseconds : best;
  }
  static float first[4096];
  cudaMemcpy(first, out, sizeof first, cudaMemcpyDeviceToHost);
  uint hash = 0;
  for (const float z : first) hash = hash * 31 + as_type<uint>(z);
  printf("first 4096 normals %08x; %.0f normals a microsecond; %s\n", hash, 4 * blocks / best * 1e-3,
         cudaGetErrorString(cudaGetLastError()));
}
