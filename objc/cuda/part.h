#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../gpu/host-copies.h"
#include "../gpu/part.h"
#include "gpu.h"

namespace covarium::cuda {

class Run;
struct Draws;

// What a command reads or writes: an element of a copy on the GPU.
struct View {
  size_t copy, offsetBytes;
};

// Commands for the GPU between two commands for the CPU, or all there are. All memory that others see is the host's:
// the GPU works on copies, which it fetches before the commands run; what is written goes back as it is made.
class Part : public gpu::Part {
 public:
  Part(std::shared_ptr<Gpu> gpu, gpu::Commit& commit) : gpu_(std::move(gpu)), commit_(commit) {}

  bool takes(const Operand& operand) const;
  // For the next command.
  View view(const Operand& operand, gpu::Access access);
  void add(std::function<void(Run&)> command);
  // Whether the GPU has it, or will have it, from the commands so far.
  bool holds(const Operand& operand) const;
  // What the last command draws; null where it draws nothing.
  std::shared_ptr<Draws> draws;

  void start(std::function<void(const Outcome&)>) override;
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
  // Waits for the GPU, whatever has happened: it may still work on memory that is given back now.
  ~Run();
  Run(const Run&) = delete;

  // Runs everything; milliseconds on the GPU.
  double all();

  DevicePointer address(View view, size_t element = 0) const {
    return copied_[view.copy]->address() + view.offsetBytes + element * sizeof(float);
  }
  unsigned multiprocessors() const { return gpu_.multiprocessors(); }
  // Whether what is written is not on its way to the host.
  bool staysOnGpu(View view) const;
  // Memory of the GPU until the part is over.
  DevicePointer scratch(size_t elements);
  // NVIDIA's products, if there are any: then the timings name them.
  const Cublas* cublas();
  // Its decompositions, likewise.
  const Cusolver* cusolver();
  // Throws ERR_DEVICE_FAILED; `what` the library was to do, as the subject of a sentence.
  void requireStarted(bool isStarted, const char* what) const;
  // A kernel over a row of groups of `lanes` threads; its arguments are addresses and the params by value.
  template <typename Params>
  void launch(const char* kernel, std::initializer_list<DevicePointer> buffers, Params params, size_t groups,
              size_t lanes, size_t memoryBytes = 0) {
    launchGroups(kernel, buffers, &params, groups, lanes, memoryBytes);
  }
  // A user's kernel, with the addresses of its arguments.
  void launch(Function function, void** arguments, Size3 groups, size_t lanes, size_t memoryBytes);
  // Whoever recorded the part may settle the buffer next, whose copy then need not go to the GPU again.
  void keep(View view);
  // On the GPU.
  void copy(DevicePointer to, DevicePointer from, size_t sizeBytes);
  // Copies what is kept until the part is over.
  void upload(DevicePointer to, std::vector<char> bytes);
  // Where a command makes these elements, a slice of what it writes, in their order. What no other command uses is
  // never on the GPU as a whole.
  DevicePointer slice(View view, size_t first, size_t count);
  // Throws ERR_ABORTED where nobody wants more; the GPU is not far behind then.
  void waitForEarlier();
  // `check` gets the word at this address once everything has run.
  void afterwards(DevicePointer word, std::function<void(uint32_t)> check);
  // The slice is made: it goes to the host while the GPU works on, if this is the last command that uses it. Throws
  // ERR_ABORTED where nobody wants more.
  void made(View view, size_t first, size_t count);

 private:
  void launchGroups(const char* kernel, std::initializer_list<DevicePointer> buffers, void* params, size_t groups,
                    size_t lanes, size_t memoryBytes);
  // Whether the GPU works on the host's own memory.
  bool isShared(const gpu::HostCopy& copy) const;
  // Whether one command alone uses the copy, and only writes it for the host.
  bool isPassing(View view) const;
  std::shared_ptr<Block>* lastingCopy(const gpu::HostCopy& copy) const;
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
  struct Slice {
    std::shared_ptr<Block> block;
    size_t sizeBytes = 0;
    Event delivered = nullptr;
  };
  Slice passing_[3];  // in turns
  size_t turn_ = 0;
  std::vector<Event> slices_;  // the ends of what waitForEarlier() was told of
  struct Check {
    std::unique_ptr<uint32_t> word;
    std::function<void(uint32_t)> check;
  };
  std::vector<Check> checks_;
  std::vector<std::vector<char>> uploads_;
  size_t command_ = 0;
};

}  // namespace covarium::cuda
