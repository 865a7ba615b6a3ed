#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../gpu/host-copies.h"
#include "../gpu/params.h"
#include "../gpu/part.h"
#include "../gpu/slices.h"
#include "gpu.h"

namespace covarium::cuda {

using gpu::Access;

class Run;
struct Draws;

// The kernel with this name for numbers of one of the two types.
inline std::string kernelFor(const std::string& name, Dtype dtype) {
  return dtype == Dtype::float64 ? name + "_float64" : name;
}

// What a command reads or writes: a place in one of the copies on the GPU.
struct View {
  size_t copy, offsetBytes;

  View from(size_t element) const { return {copy, offsetBytes + element * sizeof(float)}; }
};

// Consecutive commands for the GPU: those between two commands for the CPU, or all commands of the commit. All memory
// that callers see is the host's. The GPU works on copies, which are fetched before the commands run; what a command
// writes is copied back as it is made.
class Part : public gpu::Part {
 public:
  Part(std::shared_ptr<Gpu> gpu, gpu::Commit& commit) : gpu_(std::move(gpu)), commit_(commit) {}

  bool takes(const Operand& operand) const;
  // For the next command.
  View view(const Operand& operand, Access access);
  void add(std::function<void(Run&)> command);
  // True if the GPU has the operand, or will have it after the commands so far.
  bool holds(const Operand& operand) const;
  // What the last command draws; null if it draws nothing.
  std::shared_ptr<Draws> draws;

  double run() override;

 private:
  friend class Run;
  std::shared_ptr<Gpu> gpu_;
  gpu::Commit& commit_;
  gpu::HostCopies copies_;
  struct Uses {
    size_t first, last;  // the numbers of the commands
  };
  std::vector<Uses> uses_;  // of each copy
  std::vector<std::function<void(Run&)>> commands_;
};

// One part while its commands are given to the GPU.
class Run {
 public:
  explicit Run(Part& part);
  // Waits for the GPU, even after an error, because the GPU may still use memory that is given back now.
  ~Run();
  Run(const Run&) = delete;

  // Runs all commands; returns milliseconds on the GPU.
  double all();

  DevicePointer address(View view, size_t element = 0) const {
    return copied_[view.copy]->address() + view.offsetBytes + element * sizeof(float);
  }
  unsigned multiprocessors() const { return gpu_.multiprocessors(); }
  // True if what is written to the view stays on the GPU and is not copied to the host.
  bool staysOnGpu(View view) const;
  // Memory of the GPU that lives until the part ends.
  DevicePointer scratch(size_t elements);
  // NVIDIA's library of products, which the timings then name; null if there is none.
  const Cublas* cublas();
  // NVIDIA's library of decompositions, likewise.
  const Cusolver* cusolver();
  // Throws ERR_DEVICE_FAILED unless `isStarted`; `what` is the library's work, as the subject of a sentence.
  void requireStarted(bool isStarted, const char* what) const;
  // Launches a kernel over a row of groups of `lanes` threads; its arguments are addresses, then the params by value.
  template <typename Params>
  void launch(const std::string& kernel, std::initializer_list<DevicePointer> buffers, Params params, size_t groups,
              size_t lanes, size_t memoryBytes = 0) {
    launchGroups(kernel, buffers, &params, groups, lanes, memoryBytes);
  }
  // The same with this many threads or a few more.
  template <typename Params>
  void launchThreads(const std::string& kernel, std::initializer_list<DevicePointer> buffers, Params params,
                     size_t threads) {
    constexpr size_t lanes = 256;
    launch(kernel, buffers, params, gpu::groupsOf(threads, lanes), lanes);
  }
  // The same for a kernel of tiles.
  template <typename Params>
  void launchTiles(const std::string& kernel, std::initializer_list<DevicePointer> buffers, Params params,
                   size_t groups) {
    launch(kernel, buffers, params, groups, gpu::tile_lanes, gpu::cuda_tile_bytes());
  }
  // Launches a user's kernel; `arguments` are the addresses of its arguments.
  void launch(Function function, void** arguments, Size3 groups, size_t lanes, size_t memoryBytes);
  // Keeps the copy of the view's buffer for now: if the caller settles the buffer next, it need not be copied to the
  // GPU again.
  void keep(View view);
  // From one address on the GPU to another.
  void copy(DevicePointer to, DevicePointer from, size_t sizeBytes);
  // Copies `bytes` to the GPU and keeps them until the part ends.
  void upload(DevicePointer to, std::vector<char> bytes);
  // The address at which a command writes these elements of its result; a command writes its slices in order. A
  // result that no other command uses is never on the GPU as a whole.
  DevicePointer slice(View view, size_t first, size_t count);
  // Waits until the GPU is not far behind. Throws ERR_ABORTED if the commit is cancelled.
  void waitForEarlier();
  // `check` gets the word at this address once everything has run.
  void afterwards(DevicePointer word, std::function<void(uint32_t)> check);
  // Says that the slice is made. If this is the last command that uses the buffer, the slice is copied to the host
  // while the GPU works on. Throws ERR_ABORTED if the commit is cancelled.
  void made(View view, size_t first, size_t count);

 private:
  void launchGroups(const std::string& kernel, std::initializer_list<DevicePointer> buffers, void* params,
                    size_t groups, size_t lanes, size_t memoryBytes);
  // Whether the GPU works on the host's own memory.
  bool isShared(const gpu::HostCopy& copy) const;
  // True if only one command uses the copy, and only writes it for the host.
  bool isPassing(View view) const;
  std::shared_ptr<Block> lasting(const gpu::HostCopy& copy);
  void upload(DevicePointer to, const void* from, size_t sizeBytes);
  void forgetUnsettled();
  void fetch();
  void deliver(size_t copy, size_t firstByte, size_t bytes, DevicePointer from);
  void name(const std::string& library);
  Event newEvent(unsigned flags);
  void record(Event event, Stream stream);
  void wait(Stream stream, Event event);

  Part& part_;
  Gpu& gpu_;
  const Driver& driver_;
  const Current current_;
  std::vector<std::shared_ptr<Block>> copied_, scratch_;
  std::vector<size_t> delivered_;  // bytes of each copy that went back already, from its beginning
  std::vector<Event> events_;
  bool isDownloading_ = false;  // the stream of downloads has work of this part
  bool isOver_ = false;         // the GPU has done all of it
  struct Slice {
    std::shared_ptr<Block> block;
    size_t sizeBytes = 0;
    Event delivered = nullptr;
  };
  Slice passing_[3];  // used in turn
  size_t turn_ = 0;
  std::vector<Event> slices_;  // ends of the slices that waitForEarlier() waits for
  struct Check {
    std::unique_ptr<uint32_t> word;
    std::function<void(uint32_t)> check;
  };
  std::vector<Check> checks_;
  std::vector<std::vector<char>> uploads_;
  size_t command_ = 0;
};

}  // namespace covarium::cuda
