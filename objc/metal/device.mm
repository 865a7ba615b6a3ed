// The Metal device: an Apple GPU, and the CPU beside it over the same memory.
#include "../device.h"

#include <sys/utsname.h>

#include <algorithm>

#include "capture.h"
#include "cholesky.h"
#include "choose.h"
#include "command-buffer.h"
#include "open.h"
#include "../gpu/routing.h"
#include "../gpu/self-test.h"
#include "text.h"

namespace covarium::metal {

namespace {

void switchMpsOff(std::map<std::string, std::string>& off) {
  for (const char* name : {"MPSMatrixMultiplication", "MPSMatrixVectorMultiplication", "MPSMatrixSum", "MPSMatrixCopy",
                           "MPSMatrixDecompositionCholesky"})
    off.emplace(name, "Metal Performance Shaders don't support this GPU");
}

// A GPU that has passed under this name passes again. Metal's compiler and driver come with the system, whose kernel
// version names the build.
std::string nameOfTested(id<MTLDevice> gpu) {
  utsname system = {};
  uname(&system);
  return textOf([gpu name]) + ", " + system.version;
}

class MetalDevice : public Device {
 public:
  // Throws ERR_DEVICE_UNAVAILABLE for a GPU that covarium can't use.
  MetalDevice(Owned<id<MTLDevice>> gpu, const std::shared_ptr<Device>& cpu, const OpenOptions& options)
      : engine_(std::make_shared<Engine>(std::move(gpu), cpu)), name_(textOf([engine_->gpu.device() name])) {
    auto& off = engine_->gpu.off;
    if (!MPSSupportsMTLDevice(engine_->gpu.device())) switchMpsOff(off);
    const std::string tested = nameOfTested(engine_->gpu.device());
    const bool isKnown = options.known && options.known(tested) != nullptr;
    const bool passes = selfTest([engine_->gpu.device() registryID], *this, *cpu, off, isKnown);
    const auto normals = off.find("fill_normal");
    if (normals != off.end())
      throw Failure("ERR_DEVICE_UNAVAILABLE",
                    "GPU (" + name_ + ") does not give the normal stream: " + normals->second + ".");
    engine_->gpu.routing.learn(*this, *cpu, {tested, passes, true, makesByTiles(engine_->gpu)}, options);
  }
  ~MetalDevice() override { close(); }

  std::string name() const override { return name_; }
  unsigned threads() const override { return engine_->gpu.cpu().threads(); }
  std::vector<Dtype> dtypes() const override { return {Dtype::float32}; }
  std::string lacksDecompositions() const override { return engine_->gpu.cpu().lacksDecompositions(); }
  std::shared_ptr<Buffer> allocate(size_t sizeBytes) override { return engine_->gpu.memory().allocate(sizeBytes); }
  std::shared_ptr<Buffer> borrow(void* contents, size_t sizeBytes) override {
    return engine_->gpu.cpu().borrow(contents, sizeBytes);
  }
  std::shared_ptr<CommandBuffer> commandBuffer() override { return std::make_shared<MetalCommandBuffer>(engine_); }
  std::shared_ptr<const Kernel> compile(const KernelSource& source) override {
    return engine_->gpu.kernels().compile(source);
  }
  Explanation explain(const Question& question) const override { return metal::explain(engine_->gpu, question); }
  std::pair<size_t, size_t> liveAndPooledBytes() const override {
    return {engine_->gpu.memory().liveBytes(), engine_->gpu.memory().pooledBytes()};
  }
  // The GPU must copy ordinary memory to read and write it, so open results may hold more of the GPU's own memory.
  size_t mostOpenBytes() const override { return engine_->gpu.memory().limitBytes() / 4; }
  // A buffer for a small result costs less than a commit, so small results too are placed where the GPU sees them.
  size_t deviceMemoryFromBytes() const override { return 0; }

  void close() override {
    const AutoreleasePool pool;
    engine_->queue.close();
    if (std::exchange(captures_, false)) stopCapture();
    engine_->gpu.close();
  }

  Candidate describe() const;
  void capture() { captures_ = startCapture(engine_->gpu.queue()); }

 private:
  std::shared_ptr<Engine> engine_;
  std::string name_;
  bool captures_ = false;
};

std::string mebibytes(size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

Candidate MetalDevice::describe() const {
  Gpu& gpu = engine_->gpu;
  Candidate metal;
  metal.available = true;
  metal.name = name_;
  metal.facts = {
      {"GPU", name_},
      {"registry id", std::to_string([gpu.device() registryID])},
      {"memory", [gpu.device() hasUnifiedMemory] ? "shared with the CPU" : "its own, reached over the bus"},
      {"working set", mebibytes(gpu.memory().limitBytes())},
      {"largest buffer", mebibytes([gpu.device() maxBufferLength])},
      {"simdgroup",
       std::to_string([gpu.shaders().pipeline("fill_normal").state.get() threadExecutionWidth]) + " threads"},
      {"factor", "by the faster of the CPU (" + gpu.cpu().name() + ") and our kernels from 512 columns on"}};
  if (const std::string rates = gpu.routing.words(); !rates.empty()) metal.facts.push_back({"measured", rates});
  for (const auto& [other, registryId] : allGpus())
    if (registryId != metal.facts[1].second)
      metal.facts.push_back({"other GPU", other + " (registry id " + registryId + ")"});
  for (const auto& [name, reason] : gpu.off)
    metal.warnings.push_back(name + " is off, and the CPU does its work: " + reason + ".");
  return metal;
}

std::shared_ptr<MetalDevice> openMetal(const OpenOptions& options) {
  return std::make_shared<MetalDevice>(chooseGpu(options.gpu), cpu::open(options.threads), options);
}

}  // namespace

std::shared_ptr<Device> open(const OpenOptions& options) {
  const AutoreleasePool pool;
  auto device = openMetal(options);
  device->capture();
  return device;
}

Candidate describe(const OpenOptions& options) {
  const AutoreleasePool pool;
  return openMetal(options)->describe();
}

}  // namespace covarium::metal
