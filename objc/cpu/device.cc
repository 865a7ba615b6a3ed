// The CPU device: BLAS, installed or our own, for the large products, our own kernels for the rest.
#include "../device.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "command-buffer.h"
#include "library-kernel.h"
#include "memory.h"
#include "processor.h"

namespace covarium::cpu {

namespace {

class HostMemory : public Buffer {
 public:
  HostMemory(void* contents, size_t sizeBytes) : contents_(contents), sizeBytes_(sizeBytes) {}
  void* contents() const override { return contents_; }
  size_t sizeBytes() const override { return sizeBytes_; }

 private:
  void* contents_;
  size_t sizeBytes_;
};

std::string lackOf(const Blas& blas) {
  return blas.lapackLacks.empty() ? ""
                                  : (blas.lapackName.empty() ? blas.name : blas.lapackName) +
                                        " lacks the LAPACK routine " + blas.lapackLacks;
}

class CpuDevice : public Device {
 public:
  CpuDevice(unsigned threads, const KernelTable& kernels, const Blas& blas)
      : engine_(std::make_shared<Engine>(threads, kernels, blas)),
        memory_(std::make_shared<Memory>()),
        promised_(threads) {}
  ~CpuDevice() override { close(); }

  std::string name() const override { return engine_->blas.name; }
  unsigned threads() const override { return engine_->pool.threads(); }
  std::vector<Dtype> dtypes() const override { return {Dtype::float32, Dtype::float64}; }
  std::string lacksDecompositions() const override { return lackOf(engine_->blas); }
  std::shared_ptr<Buffer> allocate(size_t sizeBytes) override { return memory_->allocate(sizeBytes); }
  size_t deviceMemoryFromBytes() const override { return 1 << 20; }  // a smaller one is outweighed by its finalizer
  std::shared_ptr<Buffer> borrow(void* contents, size_t sizeBytes) override {
    return std::make_shared<HostMemory>(contents, sizeBytes);
  }
  std::shared_ptr<CommandBuffer> commandBuffer() override { return std::make_shared<CpuCommandBuffer>(engine_); }
  std::shared_ptr<const covarium::Kernel> compile(const KernelSource& source) override {
    return std::make_shared<LibraryKernel>(source);
  }
  std::pair<size_t, size_t> liveAndPooledBytes() const override {
    return {memory_->liveBytes(), memory_->pooledBytes()};
  }

  // Ordinary memory is as good, except that it does not come from the pool.
  size_t mostOpenBytes() const override { return std::min(usableMemoryBytes() / 4, size_t{1} << 30); }

  void close() override {
    engine_->close();
    engine_->queue.close();
    returnThreads(engine_->blas, promised_.exchange(0));
  }

 private:
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Memory> memory_;
  std::atomic<unsigned> promised_;
};

std::string advice(const Blas& library, InstructionSet core) {
  const bool obeys = library.lapackName.find("OpenBLAS") != std::string::npos;
  const char* forced = obeys ? getenv("OPENBLAS_CORETYPE") : nullptr;
  return library.lapackName + " takes this processor for a (" + library.coreType + ") and uses " + nameOf(core) +
         ", but it has " + nameOf(processor().instructionSet) + ": " +
         (library.isBuiltIn ? "decompositions" : "products and decompositions") + " run below its rate" +
         (forced != nullptr ? " (OPENBLAS_CORETYPE is set to " + std::string(forced) + ")." : ".");
}

}  // namespace

Candidate candidate() {
  Candidate cpu;
  cpu.name = "CPU with BLAS";
  cpu.facts.push_back({"processor", processor().name});
  cpu.facts.push_back({"processor instruction set", nameOf(processor().instructionSet)});
  cpu.facts.push_back({"threads", std::to_string(processorCount())});
  cpu.facts.push_back({"kernels", kernels().instructionSet});
  const char* wanted = getenv("COVARIUM_INSTRUCTION_SET");
  if (wanted != nullptr && *wanted != '\0' && strcmp(wanted, "avx2") != 0 && strcmp(wanted, "baseline") != 0)
    cpu.warnings.push_back("COVARIUM_INSTRUCTION_SET is (" + std::string(wanted) +
                           "), not avx2 or baseline, and changes nothing.");
  const Blas* library = blas(kernels(), cpu.reason);
  const std::string passedOver = cpu.reason;
  if (library == nullptr || promiseThreads(*library, 1, cpu.reason) == 0) return cpu;
  returnThreads(*library, 1);
  cpu.reason.clear();
  cpu.available = true;
  cpu.name = library->name;
  cpu.facts.push_back({"products", library->name});
  cpu.facts.push_back({"decompositions", library->lapackLacks.empty() ? library->lapackName : "TypeScript"});
  if (!library->path.empty()) cpu.facts.push_back({"library file", library->path});
  if (!library->lapackLacks.empty())
    cpu.warnings.push_back(lackOf(*library) + ": eigenvalues, singular values and QR are computed in TypeScript." +
                           (passedOver.empty() ? "" : " " + passedOver));
  if (!library->coreType.empty()) {
    cpu.facts.push_back(
        {"library core type",
         library->coreType + (library->isCoreAsked ? " (asked for: by itself it took an older one)" : "")});
    const InstructionSet core = instructionSetOfCore(library->coreType);
    if (core != InstructionSet::none && core < processor().instructionSet)
      cpu.warnings.push_back(advice(*library, core));
  }
  return cpu;
}

std::shared_ptr<Device> open(unsigned threads) {
  std::string reason;
  const Blas* library = blas(kernels(), reason);
  if (library == nullptr) throw Failure("ERR_DEVICE_UNAVAILABLE", reason);
  threads = promiseThreads(*library, threads == 0 ? processorCount() : threads, reason);
  if (threads == 0) throw Failure("ERR_DEVICE_UNAVAILABLE", reason);
  return std::make_shared<CpuDevice>(threads, kernels(), *library);
}

}  // namespace covarium::cpu
