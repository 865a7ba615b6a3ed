// The GPU's side, by CUDA (gpu.cu), for the C++ beside it. A call that fails ends the program with CUDA's message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpu {

using Size3 = std::array<uint32_t, 3>;

std::string name();

// Memory of the GPU, filled with 0xff.
class Memory {
 public:
  explicit Memory(size_t sizeBytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void put(const void* from);
  void get(void* to) const;
  float* data() const { return static_cast<float*>(data_); }

 private:
  size_t sizeBytes_;
  void* data_;
};

// One kernel of msl/, its params as bytes. The grid is in threads, rounded up to whole groups.
struct Launch {
  std::string kernel;
  std::vector<float*> buffers;
  std::vector<char> params;
  Size3 grid, group;
  size_t memoryBytes;  // of threadgroup memory
  void start() const;
  void wait() const;
};

// Microseconds of one call that starts work: the best of several rounds of several consecutive calls.
double microseconds(const std::function<void()>& start);

// The float32 rate of all lanes at the highest clock, a fused multiply-add as two operations, and the rate at which
// cudaMemcpy moves memory of the GPU, read and written.
struct Limits {
  double teraflops, terabytes;  // a second
};
Limits limits();

// Sums of test/msl/exhaustive-hashes.h's mixed(): of (first + i, values[i]) for all i, and of (word, f(word)) over all
// words for the radius and for both coordinates of the direction.
uint64_t hashOf(const float* values, uint64_t count, uint32_t first);
std::array<uint64_t, 3> hashesOfWords();

}  // namespace gpu
