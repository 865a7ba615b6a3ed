// The normal stream on the GPU: every word through the map, and 2^32 consecutive elements through fill_normal.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "cpu.h"
#include "gpu.h"

using uint = uint32_t;
#include "params.h"

namespace {

uint64_t mixed(uint word, float value) {
  uint bits;
  memcpy(&bits, &value, sizeof bits);
  uint64_t x = uint64_t{word} << 32 | bits;
  x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 29)) * 0xd1342543de82ef95u;
  return x ^ (x >> 32);
}

constexpr uint64_t seed = 42, stream = 7;

uint64_t hashOnCpu(Cpu& cpu, uint64_t first, uint64_t count) {
  constexpr uint64_t piece = 1 << 16;
  std::atomic<uint64_t> sum{0};
  cpu.pool.run(count / piece, [&](size_t i, unsigned) {
    static thread_local float z[piece];
    const uint64_t at = first + i * piece;
    cpu.table.float32.fillNormal(z, piece, {seed, stream, at});
    uint64_t own = 0;
    for (uint64_t k = 0; k < piece; ++k) own += mixed(static_cast<uint>(at + k), z[k]);
    sum += own;
  });
  return sum;
}

gpu::Launch fill(const gpu::Memory& out, uint64_t first, uint count) {
  const NormalParams params = {seed, 0, stream, 0, static_cast<uint>(first), static_cast<uint>(first >> 32), count};
  gpu::Launch launch = {"fill_normal",         {out.data()}, std::vector<char>(sizeof params),
                        {count / 4 + 1, 1, 1}, {256, 1, 1},  0};
  memcpy(launch.params.data(), &params, sizeof params);
  return launch;
}

}  // namespace

int checkWords(const char* answersPath) {
  std::ifstream file(answersPath);
  const std::string answers((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const char* const names[] = {"radius", "directionX", "directionY"};
  int wrong = 0;
  for (int f = 0; const uint64_t hash : gpu::hashesOfWords()) {
    char text[100];
    snprintf(text, sizeof text, "\"%s\": \"%016llx\"", names[f++], static_cast<unsigned long long>(hash));
    const bool right = answers.find(text) != std::string::npos;
    printf("words: %s, %s\n", text, right ? "as the CPU's" : "WRONG");
    wrong += !right;
  }
  return wrong;
}

int checkStream(Cpu& cpu) {
  int wrong = 0;
  constexpr uint chunk = 1u << 30;
  const gpu::Memory out(size_t{chunk} * sizeof(float));
  // The block's number carries into its high word on the way.
  const uint64_t first = (uint64_t{1} << 34) - (uint64_t{1} << 31);
  uint64_t hash = 0;
  for (uint64_t part = 0; part < 4; ++part) {
    const uint64_t at = first + part * chunk;
    const gpu::Launch launch = fill(out, at, chunk);
    launch.start();
    launch.wait();
    hash += gpu::hashOf(out.data(), chunk, static_cast<uint>(at));
  }
  const uint64_t expected = hashOnCpu(cpu, first, 4 * uint64_t{chunk});
  printf("stream: 2^32 elements from (%llu), hash %016llx, %s\n", static_cast<unsigned long long>(first),
         static_cast<unsigned long long>(hash), hash == expected ? "as the CPU's" : "WRONG");
  wrong += hash != expected;

  const gpu::Memory head(4096 * sizeof(float));
  fill(head, 0, 4096).start();
  uint normals[4096], short_hash = 0;
  head.get(normals);
  for (const uint bits : normals) short_hash = short_hash * 31 + bits;
  // test/stream/fill-normal.test.ts expects the same.
  printf("stream: first 4096 of seed 42, stream 7, hash %08x, %s\n", short_hash,
         short_hash == 0xf40dc0a5u ? "as TypeScript's" : "WRONG");
  wrong += short_hash != 0xf40dc0a5u;

  const gpu::Launch whole = fill(out, 0, chunk);
  printf("rate: (%.0f) normals a nanosecond, 2^30 by fill_normal\n",
         chunk / gpu::microseconds([&] { whole.start(); }) / 1e3);
  return wrong;
}
