#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "../device.h"
#include "cublas.h"
#include "cusolver.h"
#include "driver.h"

namespace covarium::cuda {

class Gpu;

// True if the GPU is fast enough in float64 to be worth the way there; `rate` says how many times as fast its float32
// is.
inline bool isGoodAtFloat64(int rate) { return rate <= 4; }

// Pages of the host that the driver has pinned.
class Pinned : public Buffer {
 public:
  Pinned(std::shared_ptr<Gpu> gpu, void* contents, size_t sizeBytes, size_t keptBytes)
      : gpu_(std::move(gpu)), contents_(contents), sizeBytes_(sizeBytes), keptBytes_(keptBytes) {}
  ~Pinned() override;
  void* contents() const override { return contents_; }
  size_t sizeBytes() const override { return sizeBytes_; }

 private:
  std::shared_ptr<Gpu> gpu_;
  void* contents_;
  size_t sizeBytes_, keptBytes_;
};

// Memory of the GPU, which returns to its pool, or memory of the host that the GPU reads and writes in place.
class Block {
 public:
  Block(std::shared_ptr<Gpu> gpu, DevicePointer address, size_t sizeBytes);
  explicit Block(void* ofHost);
  // A part of another block.
  Block(std::shared_ptr<Block> whole, size_t offsetBytes);
  ~Block();
  Block(const Block&) = delete;
  DevicePointer address() const { return address_; }
  // From now on it is a copy of the host's memory, which the caller counts already.
  void becomesCopy();

 private:
  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<Block> whole_;
  DevicePointer address_;
  size_t sizeBytes_;
  bool isCopy_ = false;
};

// One opened GPU: its context, which all devices of a process share; two streams of our own, one to copy to the GPU
// and compute, the other to copy to the host; the kernels; and the memory that is kept for reuse. Any thread may
// allocate.
class Gpu : public std::enable_shared_from_this<Gpu> {
 public:
  // Throws ERR_DEVICE_UNAVAILABLE, ERR_DEVICE_FAILED, ERR_OUT_OF_MEMORY.
  static std::shared_ptr<Gpu> open(const Driver& driver, DeviceNumber device, const OpenOptions& options);
  ~Gpu();

  const Driver& driver() const { return driver_; }
  DeviceNumber device() const { return device_; }
  Context context() const { return context_; }
  bool isGoodAtFloat64() const { return isGoodAtFloat64_; }
  // True if the GPU and the host have one memory, so that it reads and writes pinned memory of the host as fast as
  // its own.
  bool isIntegrated() const { return isIntegrated_; }
  unsigned multiprocessors() const { return multiprocessors_; }
  Stream compute() const { return compute_; }
  Stream download() const { return download_; }
  // Loads the kernel when it is first asked for.
  Function kernel(const std::string& name);
  // True if some kernels are those of msl/cuda/tensor-kernels.cu.
  bool usesTensorCores() const { return !tensorPtx_.empty(); }
  // From now on all are those of kernels.cu. Nothing may be in flight.
  void leaveTensorCores();
  // Loads a module of a user's kernel; close() unloads it if unloadModule() has not. Null, with the driver's reason,
  // if the driver does not accept the text; that is not a failure of the GPU.
  Module loadModule(const std::string& ptx, std::string& reason);
  void unloadModule(Module module);
  // NVIDIA's library of products, opened at the first call, with the context current; null if there is none or it
  // does not start. Only the queue's thread may call it.
  const Cublas* cublas();
  // NVIDIA's library of decompositions, likewise.
  const Cusolver* cusolver();
  // Throws if the result of a call is not a success. A GPU that is lost, or whose context an error has damaged, stays
  // unusable.
  void require(Result result, const char* what);
  void requireAlive() const;

  // Contents unspecified. Throws ERR_OUT_OF_MEMORY.
  std::shared_ptr<Block> allocate(size_t sizeBytes);
  // Memory of the host that the GPU copies from and to at the full rate of the bus; null if the system gives none.
  std::shared_ptr<Buffer> allocatePinned(size_t sizeBytes);
  // The most bytes that are kept, and that one block may have.
  size_t mostPinnedBytes() const { return mostPinned_; }
  // A buffer whose copy is kept only if the buffer is settled when the next part begins. Only the queue's thread uses
  // it.
  std::weak_ptr<Buffer> unsettled;
  // Returns when the numbers are there.
  void download(void* to, DevicePointer from, size_t sizeBytes);
  // Sums over memory on the GPU and pinned memory.
  std::pair<size_t, size_t> liveAndPooledBytes() const;
  size_t liveBytesOnGpu() const;
  // Keeps no memory from now on. Nothing may be in flight.
  void close();

 private:
  friend class Block;
  friend class Pinned;
  Gpu(const Driver& driver, DeviceNumber device) : driver_(driver), device_(device) {}
  Result load(const std::string& ptx, const std::string& name, Function* kernel);
  struct Kept {
    void* memory;
    uint64_t turn;  // the later it was given back, the higher
  };
  struct Pool {
    std::multimap<size_t, Kept> kept;  // by size
    size_t keptBytes = 0, liveBytes = 0;
    uint64_t turns = 0;
  };
  void* take(Pool& pool, size_t& sizeBytes);
  void recycle(Pool& pool, void* memory, size_t sizeBytes, size_t mostBytes);
  void drain(Pool& pool);
  void free(const Pool& pool, void* memory);

  const Driver& driver_;
  DeviceNumber device_;
  std::atomic<size_t> copiedBytes_{0};  // of live memory on the GPU, copies of the host's
  Context context_ = nullptr;
  Stream compute_ = nullptr, download_ = nullptr;
  // Texts whose registers msl/cuda/embed.mjs has coded.
  std::string ptx_;
  std::string tensorPtx_;  // empty if the GPU or the driver does not run it
  std::map<std::string, Function> kernels_;
  std::unique_ptr<Cublas> cublas_;
  std::unique_ptr<Cusolver> cusolver_;
  bool hasAskedForCublas_ = false, hasAskedForCusolver_ = false;
  std::set<Module> modules_;
  std::atomic<bool> isLost_{false};
  mutable std::mutex mutex_;
  Pool onGpu_, pinned_;
  size_t mostOnGpu_ = 0, mostPinned_ = 0;  // the most bytes that are kept
  bool isClosed_ = false, isGoodAtFloat64_ = false, isIntegrated_ = false;
  unsigned multiprocessors_ = 0;
};

// Makes the GPU's context current on this thread while the object lives.
class Current {
 public:
  explicit Current(const Gpu& gpu);
  ~Current();
  Current(const Current&) = delete;

 private:
  const Driver& driver_;
  bool isPushed_;  // if the driver failed to push, another context must not be popped
};

}  // namespace covarium::cuda
