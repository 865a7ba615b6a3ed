#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "../failure.h"

namespace covarium::cpu {

namespace {

constexpr size_t hugePageBytes = size_t{2} << 20;

size_t roundUp(size_t bytes) {
  const size_t grain = bytes >= hugePageBytes ? hugePageBytes : 4096;
  return (std::max<size_t>(bytes, 1) + grain - 1) / grain * grain;
}

size_t poolLimitBytes() { return std::min(usableMemoryBytes() / 8, size_t{1} << 30); }

void* map(size_t bytes) {
  // One huge page more, so that the block can start at a huge page; the excess goes back.
  const bool huge = bytes >= hugePageBytes;
  const size_t extra = huge ? hugePageBytes : 0;
  void* mapped = mmap(nullptr, bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (!huge) return mapped;
  char* begin = static_cast<char*>(mapped);
  const size_t lead = (hugePageBytes - reinterpret_cast<uintptr_t>(begin) % hugePageBytes) % hugePageBytes;
  if (lead != 0) munmap(begin, lead);
  if (extra != lead) munmap(begin + lead + bytes, extra - lead);
#ifdef MADV_HUGEPAGE
  madvise(begin + lead, bytes, MADV_HUGEPAGE);
#endif
  return begin + lead;
}

}  // namespace

size_t usableMemoryBytes() {
  static const size_t bytes = [] {
    size_t machine = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
    for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
      std::ifstream file(path);
      size_t limit;
      if (file >> limit) machine = std::min(machine, limit);  // "max" does not read as a number
    }
    return machine;
  }();
  return bytes;
}

class Memory::Block : public Buffer {
 public:
  Block(std::shared_ptr<Memory> memory, void* contents, size_t sizeBytes, size_t mappedBytes)
      : memory_(std::move(memory)), contents_(contents), sizeBytes_(sizeBytes), mappedBytes_(mappedBytes) {}
  ~Block() override { memory_->recycle(contents_, mappedBytes_); }
  void* contents() const override { return contents_; }
  size_t sizeBytes() const override { return sizeBytes_; }

 private:
  std::shared_ptr<Memory> memory_;
  void* contents_;
  size_t sizeBytes_, mappedBytes_;
};

Memory::~Memory() {
  for (const auto& [bytes, contents] : pool_) munmap(contents, bytes);
}

void* Memory::takePooled(size_t& sizeBytes) {
  const auto found = pool_.lower_bound(sizeBytes);
  if (found == pool_.end() || found->first > sizeBytes + sizeBytes / 4) return nullptr;
  void* contents = found->second;
  sizeBytes = found->first;
  pooledBytes_ -= sizeBytes;
  pool_.erase(found);
  return contents;
}

std::shared_ptr<Buffer> Memory::allocate(size_t sizeBytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto refuse = [&] {
    throw Failure("ERR_OUT_OF_MEMORY", "Memory for (" + std::to_string(sizeBytes) + ") bytes is not to be had: (" +
                                           std::to_string(usableMemoryBytes()) + ") in all, (" +
                                           std::to_string(liveBytes_) + ") in use.");
  };
  if (sizeBytes > usableMemoryBytes() || liveBytes_ > usableMemoryBytes() - sizeBytes) refuse();
  size_t mappedBytes = roundUp(sizeBytes);
  void* contents = takePooled(mappedBytes);
  if (contents == nullptr) contents = map(mappedBytes);
  if (contents == nullptr) {  // pooled memory may be what is missing
    for (const auto& [bytes, pooled] : pool_) munmap(pooled, bytes);
    pool_.clear();
    pooledBytes_ = 0;
    contents = map(mappedBytes);
  }
  if (contents == nullptr) refuse();
  liveBytes_ += mappedBytes;
  return std::make_shared<Block>(shared_from_this(), contents, sizeBytes, mappedBytes);
}

void Memory::recycle(void* contents, size_t sizeBytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  liveBytes_ -= sizeBytes;
  if (pooledBytes_ + sizeBytes > poolLimitBytes()) {
    munmap(contents, sizeBytes);
    return;
  }
  pool_.emplace(sizeBytes, contents);
  pooledBytes_ += sizeBytes;
}

size_t Memory::liveBytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return liveBytes_;
}

size_t Memory::pooledBytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return pooledBytes_;
}

}  // namespace covarium::cpu
