#include "gpu.h"

#include <algorithm>
#include <utility>

#include "../cpu/memory.h"
#include "registers.h"

namespace covarium::cuda {

namespace {

constexpr unsigned nonBlockingStream = 1;
constexpr unsigned portable = 1;  // pinned for every context
constexpr size_t largestKept = size_t{4} << 30;
constexpr int firstWithTensorKernels = 9;  // of the compute capability: msl/cuda/embed.mjs makes them for it

// Sizes are rounded up, so that a block can be reused for about the same size.
size_t roundedUp(size_t sizeBytes) {
  const size_t step = sizeBytes < (1 << 20) ? 1 << 12 : 1 << 21;
  return (std::max<size_t>(sizeBytes, 1) + step - 1) / step * step;
}

void* memoryAt(DevicePointer address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }
DevicePointer addressOf(void* memory) { return reinterpret_cast<uintptr_t>(memory); }

// How a kernel begins in PTX. No kernel of ours calls another, and before the first stands what all need.
constexpr char anyEntry[] = ".visible .entry ";
std::string entryOf(const std::string& name) { return anyEntry + name + "("; }

// The PTX within the text, whose first line names the sources it was made from.
std::string ownKernels(const std::string& text) {
  const std::string line = "//" COVARIUM_CUDA_KERNELS "\n";
  if (text.compare(0, line.size(), line) != 0)
    throw Failure("ERR_DEVICE_UNAVAILABLE",
                  "Its kernels were made from other sources than this addon. Install covarium again, and if you built "
                  "the addon, build it again: `covarium build-native`, or `npm run build` in a clone.");
  return text.substr(line.size());
}

}  // namespace

Pinned::~Pinned() { gpu_->recycle(gpu_->pinned_, contents_, keptBytes_, gpu_->mostPinned_); }

Block::Block(std::shared_ptr<Gpu> gpu, DevicePointer address, size_t sizeBytes)
    : gpu_(std::move(gpu)), address_(address), sizeBytes_(sizeBytes) {}

Block::Block(std::shared_ptr<Block> whole, size_t offsetBytes)
    : whole_(std::move(whole)), address_(whole_->address() + offsetBytes), sizeBytes_(0) {}

Block::Block(void* ofHost) : address_(addressOf(ofHost)), sizeBytes_(0) {}

void Block::becomesCopy() {
  if (gpu_ == nullptr || std::exchange(isCopy_, true)) return;
  gpu_->copiedBytes_ += sizeBytes_;
}

Block::~Block() {
  if (isCopy_) gpu_->copiedBytes_ -= sizeBytes_;
  if (gpu_ != nullptr) gpu_->recycle(gpu_->onGpu_, memoryAt(address_), sizeBytes_, gpu_->mostOnGpu_);
}

Current::Current(const Gpu& gpu) : driver_(gpu.driver()), isPushed_(driver_.contextPush(gpu.context()) == 0) {}

Current::~Current() {
  Context popped;
  if (isPushed_) driver_.contextPop(&popped);
}

// If this fails half-way, the destructor gives back what was made.
std::shared_ptr<Gpu> Gpu::open(const Driver& driver, DeviceNumber device, const OpenOptions& options) {
  const std::shared_ptr<Gpu> gpu(new Gpu(driver, device));
  gpu->ptx_ = ownKernels(options.kernels());
  const size_t forTensorCores = std::min(gpu->ptx_.find(".version", 1), gpu->ptx_.size());
  gpu->require(driver.primaryContextRetain(&gpu->context_, device), "Opening the GPU");
  const Current current(*gpu);
  gpu->require(driver.streamCreate(&gpu->compute_, nonBlockingStream), "Making a stream");
  gpu->require(driver.streamCreate(&gpu->download_, nonBlockingStream), "Making a stream");
  gpu->kernel("fill_normal");  // shows whether the driver reads the text
  int rate = 0, processors = 0, isIntegrated = 0, major = 0;
  gpu->require(driver.deviceGetAttribute(&rate, singleToDoubleRate, device), "Asking for the rate of float64");
  gpu->require(driver.deviceGetAttribute(&processors, multiprocessorCount, device), "Asking for the multiprocessors");
  gpu->require(driver.deviceGetAttribute(&isIntegrated, integrated, device), "Asking whose memory it has");
  gpu->require(driver.deviceGetAttribute(&major, computeCapabilityMajor, device), "Asking for its compute capability");
  if (major >= firstWithTensorKernels && cuda::isGoodAtFloat64(rate))
    gpu->tensorPtx_ = gpu->ptx_.substr(forTensorCores);
  gpu->ptx_.resize(forTensorCores);
  gpu->isIntegrated_ = isIntegrated != 0;
  gpu->multiprocessors_ = static_cast<unsigned>(processors);
  gpu->isGoodAtFloat64_ = cuda::isGoodAtFloat64(rate);
  size_t all = 0;
  gpu->require(driver.deviceTotalMem(&all, device), "Asking for the GPU's memory");
  gpu->mostOnGpu_ = std::min(all / 8, largestKept);
  gpu->mostPinned_ = std::min(cpu::usableMemoryBytes() / 8, largestKept);
  return gpu;
}

Gpu::~Gpu() {
  close();
  if (context_ != nullptr) driver_.primaryContextRelease(device_);
}

// A module of one kernel: the driver compiles a text when it is loaded, and all kernels would take seconds.
Result Gpu::load(const std::string& ptx, const std::string& name, Function* kernel) {
  const size_t begin = ptx.find(entryOf(name)), first = ptx.find(anyEntry);
  if (begin == std::string::npos) throw Failure("ERR_INTERNAL", "There is no kernel (" + name + ").");
  const size_t end = std::min(ptx.find(anyEntry, begin + 1), ptx.size());
  const std::string own = withRegisters(ptx.substr(0, first) + ptx.substr(begin, end - begin));
  Module module = nullptr;
  const Result result = driver_.moduleLoadData(&module, own.c_str());
  if (result != 0) return result;
  std::lock_guard<std::mutex> lock(mutex_);
  modules_.insert(module);
  return driver_.moduleGetFunction(kernel, module, name.c_str());
}

Function Gpu::kernel(const std::string& name) {
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second;
  Function found;
  if (tensorPtx_.find(entryOf(name)) != std::string::npos) {
    if (load(tensorPtx_, name, &found) == 0) return kernels_[name] = found;
    tensorPtx_.clear();  // an older driver does not read it
  }
  require(load(ptx_, name, &found), "Loading the kernels");
  return kernels_[name] = found;
}

void Gpu::leaveTensorCores() {
  tensorPtx_.clear();
  kernels_.clear();
}

const Cublas* Gpu::cublas() {
  if (!std::exchange(hasAskedForCublas_, true)) {
    std::string reason;
    cublas_ = Cublas::open(compute_, reason);
  }
  return cublas_.get();
}

const Cusolver* Gpu::cusolver() {
  if (!std::exchange(hasAskedForCusolver_, true)) {
    std::string reason;
    cusolver_ = Cusolver::open(compute_, reason);
  }
  return cusolver_.get();
}

Module Gpu::loadModule(const std::string& ptx, std::string& reason) {
  requireAlive();
  std::lock_guard<std::mutex> lock(mutex_);
  if (isClosed_) throw Failure("ERR_CLOSED", "The device is closed.");
  const Current current(*this);
  Module module = nullptr;
  const Result result = driver_.moduleLoadData(&module, ptx.c_str());
  if (result != 0) {
    reason = textOf(driver_, result);
    return nullptr;
  }
  modules_.insert(module);
  return module;
}

void Gpu::unloadModule(Module module) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (modules_.erase(module) == 0) return;
  const Current current(*this);
  driver_.moduleUnload(module);
}

void Gpu::require(Result result, const char* what) {
  constexpr Result outOfMemory = 2;
  if (result != 0 && result != outOfMemory) isLost_ = true;
  cuda::require(driver_, result, what);
}

void Gpu::requireAlive() const {
  if (isLost_)
    throw Failure(
        "ERR_DEVICE_FAILED",
        "The GPU failed in an earlier commit: close the device and open it again, or if that fails too, start the "
        "process again.");
}

void* Gpu::take(Pool& pool, size_t& sizeBytes) {
  sizeBytes = roundedUp(sizeBytes);
  const auto found = pool.kept.lower_bound(sizeBytes);
  if (found == pool.kept.end() || found->first > sizeBytes + sizeBytes / 4) return nullptr;
  void* memory = found->second.memory;
  sizeBytes = found->first;
  pool.keptBytes -= sizeBytes;
  pool.kept.erase(found);
  return memory;
}

void Gpu::recycle(Pool& pool, void* memory, size_t sizeBytes, size_t mostBytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  pool.liveBytes -= sizeBytes;
  if (isClosed_ || sizeBytes > mostBytes) {
    free(pool, memory);
    return;
  }
  // What nobody has taken for the longest time makes room: it may be of sizes that nobody asks for any more.
  while (pool.keptBytes + sizeBytes > mostBytes) {
    const auto oldest = std::min_element(pool.kept.begin(), pool.kept.end(),
                                         [](const auto& a, const auto& b) { return a.second.turn < b.second.turn; });
    free(pool, oldest->second.memory);
    pool.keptBytes -= oldest->first;
    pool.kept.erase(oldest);
  }
  pool.keptBytes += sizeBytes;
  pool.kept.insert({sizeBytes, {memory, ++pool.turns}});
}

void Gpu::free(const Pool& pool, void* memory) {
  const Current current(*this);
  if (&pool == &onGpu_)
    driver_.memFree(addressOf(memory));
  else
    driver_.memFreeHost(memory);
}

void Gpu::drain(Pool& pool) {
  for (const auto& [size, kept] : pool.kept) free(pool, kept.memory);
  pool.kept.clear();
  pool.keptBytes = 0;
}

std::shared_ptr<Block> Gpu::allocate(size_t sizeBytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  void* memory = take(onGpu_, sizeBytes);
  if (memory == nullptr) {
    const Current current(*this);
    DevicePointer address = 0;
    Result result = driver_.memAlloc(&address, sizeBytes);
    if (result != 0) {  // memory that is kept may be what is missing
      drain(onGpu_);
      result = driver_.memAlloc(&address, sizeBytes);
    }
    require(result, ("Memory on the GPU, (" + std::to_string(sizeBytes) + ") bytes,").c_str());
    memory = memoryAt(address);
  }
  onGpu_.liveBytes += sizeBytes;
  return std::make_shared<Block>(shared_from_this(), addressOf(memory), sizeBytes);
}

std::shared_ptr<Buffer> Gpu::allocatePinned(size_t sizeBytes) {
  // A block that is too large to be kept would be pinned anew each time. Pinning takes all its pages at once, though
  // the system may not have them; other memory takes its pages only as they are touched.
  if (roundedUp(sizeBytes) > mostPinned_) return nullptr;
  size_t keptBytes = sizeBytes;
  std::lock_guard<std::mutex> lock(mutex_);
  void* contents = take(pinned_, keptBytes);
  if (contents == nullptr) {
    const Current current(*this);
    if (driver_.memHostAlloc(&contents, keptBytes, portable) != 0) {
      drain(pinned_);
      if (driver_.memHostAlloc(&contents, keptBytes, portable) != 0) return nullptr;
    }
  }
  pinned_.liveBytes += keptBytes;
  return std::make_shared<Pinned>(shared_from_this(), contents, sizeBytes, keptBytes);
}

void Gpu::download(void* to, DevicePointer from, size_t sizeBytes) {
  requireAlive();
  const Current current(*this);
  require(driver_.copyToHost(to, from, sizeBytes, download_), "Copying from the GPU");
  require(driver_.streamSynchronize(download_), "Copying from the GPU");
}

std::pair<size_t, size_t> Gpu::liveAndPooledBytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  const size_t copies = copiedBytes_;
  return {pinned_.liveBytes + onGpu_.liveBytes - copies, pinned_.keptBytes + onGpu_.keptBytes + copies};
}

size_t Gpu::liveBytesOnGpu() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return onGpu_.liveBytes;
}

void Gpu::close() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (std::exchange(isClosed_, true) || context_ == nullptr) return;
  drain(onGpu_);
  drain(pinned_);
  const Current current(*this);
  cublas_ = nullptr;
  cusolver_ = nullptr;
  for (const Module module : modules_) driver_.moduleUnload(module);
  modules_.clear();
  if (download_ != nullptr) driver_.streamDestroy(download_);
  if (compute_ != nullptr) driver_.streamDestroy(compute_);
}

}  // namespace covarium::cuda
