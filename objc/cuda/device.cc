// The CUDA device: an NVIDIA GPU, and the CPU beside it.
#include "../device.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "choose.h"
#include "command-buffer.h"
#include "mirror.h"
#include "open.h"
#include "nvrtc.h"
#include "self-test.h"
#include "user-kernel.h"

namespace covarium::cuda {

namespace {

constexpr int leastMajor = 7;  // of the compute capability: msl/cuda/embed.mjs makes the kernels for it

std::string capabilityOf(const GpuFacts& facts) {
  return std::to_string(facts.major) + "." + std::to_string(facts.minor);
}

// Version of the driver's kernel module, as nvidia-smi shows it; '' if the system does not say it (WSL). The driver
// API gives only the version of CUDA.
std::string driverVersion() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  file >> version;
  return version;
}

// Waits for its turn, then brings a buffer to the host.
class Fetching : public gpu::Part {
 public:
  explicit Fetching(std::shared_ptr<Buffer> buffer) : buffer_(std::move(buffer)) {}
  double run() override {
    buffer_->fetch();
    return 0;
  }

 private:
  std::shared_ptr<Buffer> buffer_;
};

class CudaDevice : public Device {
 public:
  CudaDevice(GpuFacts facts, std::shared_ptr<Gpu> gpu, const std::shared_ptr<Device>& cpu, const OpenOptions& options)
      : engine_(std::make_shared<Engine>(std::move(gpu), cpu)), facts_(std::move(facts)) {
    const auto test = [&] {
      return selfTest(facts_.uuid + (engine_->gpu->usesTensorCores() ? " with tensor cores" : ""), *this, *cpu);
    };
    std::string wrong = test();
    // The order of their sums is not promised.
    if (!wrong.empty() && engine_->gpu->usesTensorCores()) {
      engine_->gpu->leaveTensorCores();
      wrong = test();
    }
    if (!wrong.empty())
      throw Failure("ERR_DEVICE_UNAVAILABLE", "GPU (" + facts_.name + ") fails its self-test: " + wrong + ".");
    const std::string known = facts_.name + ", " + facts_.uuid + ", driver " + driverVersion() + ", " +
                              (engine_->gpu->usesTensorCores() ? "tensor cores, " : "") +
                              std::to_string(cpu->threads()) + " threads of " + cpu->name();
    engine_->routing.learn(*this, *cpu, {known, true, false, true}, options);
  }
  ~CudaDevice() override { close(); }

  std::string name() const override { return facts_.name; }
  unsigned threads() const override { return engine_->cpu->threads(); }
  std::vector<Dtype> dtypes() const override { return engine_->cpu->dtypes(); }
  std::string lacksDecompositions() const override { return engine_->cpu->lacksDecompositions(); }
  bool triesEigenvalues() const override { return true; }
  std::shared_ptr<Buffer> allocate(size_t sizeBytes) override {
    auto pinned = sizeBytes < leastPinnedBytes ? nullptr : engine_->gpu->allocatePinned(sizeBytes);
    const bool isPinned = pinned != nullptr;
    return mirror(isPinned ? pinned : engine_->cpu->allocate(sizeBytes), false, isPinned);
  }
  // Ordinary memory: if the host never touches it, the system gives it no pages.
  std::shared_ptr<Buffer> allocateOnGpu(size_t sizeBytes) override {
    return mirror(engine_->cpu->allocate(sizeBytes), true, false);
  }
  bool hasOwnMemory() const override { return true; }
  void fetch(const std::shared_ptr<Buffer>& buffer) override {
    if (keptOf(buffer) == nullptr) return;
    const auto commit = std::make_shared<gpu::Commit>();
    commit->parts.push_back(std::make_unique<Fetching>(buffer));
    engine_->queue.runHere(commit, 0);
  }
  size_t deviceMemoryFromBytes() const override { return engine_->cpu->deviceMemoryFromBytes(); }
  std::shared_ptr<Buffer> borrow(void* contents, size_t sizeBytes) override {
    return engine_->cpu->borrow(contents, sizeBytes);
  }
  std::shared_ptr<CommandBuffer> commandBuffer() override { return std::make_shared<CudaCommandBuffer>(engine_); }
  // A kernel that was compiled for the CPU runs on the CPU beside the GPU.
  std::shared_ptr<const Kernel> compile(const KernelSource& source) override {
    if (!source.isForGpu) return engine_->cpu->compile(source);
    return std::make_shared<UserKernel>(engine_->gpu, source);
  }
  std::string translator() const override {
    const std::string nvrtc = nvrtcName();
    return nvrtc.empty() ? "" : nvrtc + " for " + capabilityOf(facts_);
  }
  std::string translate(const std::string& text, const std::vector<std::string>& folders) const override {
    return nvrtcPtx(text, folders, facts_.major * 10 + facts_.minor);
  }
  Explanation explain(const Question& question) const override {
    return cuda::explain(*engine_->gpu, engine_->routing, question);
  }
  std::string rates() const { return engine_->routing.words(); }
  std::pair<size_t, size_t> liveAndPooledBytes() const override {
    const auto [live, pooled] = engine_->cpu->liveAndPooledBytes();
    const auto [ofGpu, kept] = engine_->gpu->liveAndPooledBytes();
    return {live + ofGpu, pooled + kept};
  }
  // Beyond this limit results are in memory that the driver has not pinned, which takes four times as long over the
  // bus. Memory on the GPU, and as much beside it on the host, does not count: nobody can have forgotten it.
  size_t mostOpenBytes() const override {
    const size_t most = std::max(engine_->cpu->mostOpenBytes(), engine_->gpu->mostPinnedBytes());
    return most + 2 * engine_->gpu->liveBytesOnGpu();
  }

  void close() override {
    engine_->queue.close();
    engine_->cpu->close();
    engine_->gpu->close();
  }

 private:
  std::shared_ptr<Buffer> mirror(std::shared_ptr<Buffer> host, bool isKept, bool isPinned) {
    return std::make_shared<Mirror>(engine_->gpu, std::move(host), isKept, isPinned);
  }

  std::shared_ptr<Engine> engine_;
  GpuFacts facts_;
};

const Driver& requireDriver() {
  std::string reason;
  const Driver* found = driver(reason);
  if (found == nullptr) throw Failure("ERR_DEVICE_UNAVAILABLE", reason);
  return *found;
}

std::string productsBy() {
  std::string reason;
  const std::string library = cublasName(reason);
  return library.empty() ? "our own kernels; " + reason : library;
}

std::string memoryOf(const GpuFacts& facts) { return std::to_string(facts.memoryBytes >> 20) + " MiB"; }

std::string decompositionsBy(const Device& device) {
  std::string reason;
  const std::string library = cusolverName(reason);
  if (!library.empty()) return library;
  return (device.lacksDecompositions().empty() ? "the CPU beside it; " : "TypeScript; ") + reason;
}

std::shared_ptr<CudaDevice> openOne(const Driver& driver, const GpuFacts& facts, const OpenOptions& options) {
  if (facts.major < leastMajor)
    throw Failure("ERR_DEVICE_UNAVAILABLE", "GPU (" + facts.name + ") is too old: it has compute capability (" +
                                                capabilityOf(facts) + "), not (" + std::to_string(leastMajor) +
                                                ".0) or a later one.");
  return std::make_shared<CudaDevice>(facts, Gpu::open(driver, facts.device, options), cpu::open(options.threads),
                                      options);
}

struct Opened {
  std::shared_ptr<CudaDevice> device;
  GpuFacts facts;
  std::vector<GpuFacts> all;
  std::map<DeviceNumber, std::string> reasons;  // why a GPU before it was not taken
};

// The first GPU that works, unless one is named. If none works, throws the reason of each.
Opened openCuda(const OpenOptions& options) {
  const Driver& driver = requireDriver();
  Opened opened;
  opened.all = allGpus(driver);
  std::string reasons;
  for (const GpuFacts& facts : wantedGpus(opened.all, options.gpu)) {
    try {
      opened.device = openOne(driver, facts, options);
      opened.facts = facts;
      return opened;
    } catch (const std::exception& failure) {
      const std::string reason = failure.what();
      opened.reasons[facts.device] = reason;
      if (reasons.find(reason) == std::string::npos) reasons += (reasons.empty() ? "" : " ") + reason;
    }
  }
  throw Failure("ERR_DEVICE_UNAVAILABLE", reasons);
}

std::string describeOthers(const Opened& opened) {
  std::string others;
  for (const GpuFacts& other : opened.all) {
    if (other.uuid == opened.facts.uuid) continue;
    others += (others.empty() ? "" : "; ") + other.name + " (" + other.uuid + ", PCI id " + other.pciId + ", " +
              memoryOf(other) + ", compute capability " + capabilityOf(other) + ")";
    const auto reason = opened.reasons.find(other.device);
    if (reason != opened.reasons.end()) others += ", not taken: " + reason->second;
  }
  return others;
}

}  // namespace

std::shared_ptr<Device> openGpu(const OpenOptions& options) { return openCuda(options).device; }

Candidate describe(const OpenOptions& options) {
  const Opened opened = openCuda(options);
  const auto& [device, facts, all, reasons] = opened;
  const Driver& driver = requireDriver();
  int version = 0;
  driver.driverGetVersion(&version);
  int rate = 0;
  driver.deviceGetAttribute(&rate, singleToDoubleRate, facts.device);
  const std::string types = isGoodAtFloat64(rate) ? "float32 and float64" : "float32";
  Candidate cuda;
  cuda.available = true;
  cuda.name = facts.name;
  cuda.facts = {{"GPU", facts.name},
                {"UUID", facts.uuid},
                {"PCI id", facts.pciId},
                {"memory", memoryOf(facts)},
                {"compute capability", capabilityOf(facts)},
                {"multiprocessors", std::to_string(facts.multiprocessors)},
                {"CUDA of the driver", std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10)},
                {"on the GPU", "normals, draws, products, factors, solves, densities and summaries in " + types +
                                   "; kernels of users, if NVRTC or clang++ makes them; the rest on the CPU beside it"},
                {"products", productsBy()},
                {"decompositions", decompositionsBy(*device)}};
  if (const std::string rates = device->rates(); !rates.empty()) cuda.facts.push_back({"measured", rates});
  const std::string release = driverVersion();
  if (!release.empty()) cuda.facts.push_back({"driver", release});
  cuda.facts.push_back({"GPUs", std::to_string(all.size())});
  if (const std::string others = describeOthers(opened); !others.empty()) cuda.facts.push_back({"other GPUs", others});
  device->close();
  return cuda;
}

}  // namespace covarium::cuda
