#include "user-kernel.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "../launch.h"
#include "command-buffer.h"

namespace covarium::cuda {

namespace {

// msl/cuda/library/wrapper.h has the same struct.
struct GridSize {
  uint32_t threads[3], groupThreads[3], groups[3], firstGroup[3];
};

constexpr uint32_t mostGroups = 65535;  // of one launch along y and z
constexpr size_t threadgroupAlignment = 64;

size_t roomFor(size_t bytes) {
  return (bytes + threadgroupAlignment - 1) / threadgroupAlignment * threadgroupAlignment;
}

std::string contentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw Failure("ERR_INTERNAL", "Text of a kernel for the GPU can't be read (" + path + ").");
  return text.str();
}

}  // namespace

UserKernel::UserKernel(std::shared_ptr<Gpu> gpu, const KernelSource& source) : gpu_(std::move(gpu)) {
  name = source.name;
  parameters = source.parameters;
  const std::string ptx = contentsOf(source.library);
  readLayout(ptx);
  std::string reason;
  module_ = gpu_->loadModule(ptx, reason);
  if (module_ == nullptr) throw Failure("ERR_UNSUPPORTED", "The driver does not take the kernel (" + reason + ").");
  const Driver& driver = gpu_->driver();
  const Current current(*gpu_);
  gpu_->require(driver.moduleGetFunction(&function_, module_, "covarium_kernel"), "Finding a kernel");
  const auto attribute = [&](FunctionAttribute which) {
    int value = 0;
    gpu_->require(driver.functionGetAttribute(&value, which, function_), "Asking about a kernel");
    return static_cast<uint32_t>(value);
  };
  maxTotalThreadsPerThreadgroup = attribute(maxThreadsPerBlock);
  staticThreadgroupMemoryBytes = attribute(staticSharedBytes);
  constexpr uint32_t mostLocalBytes = 512 << 10;  // on all GPUs; a launch with more fails, and the device with it
  if (const uint32_t own = attribute(localBytes); own > mostLocalBytes) {
    gpu_->unloadModule(module_);
    throw Failure("ERR_KERNEL_COMPILE", "The arrays of a thread of kernel (" + name + ") take (" + std::to_string(own) +
                                            ") bytes, but a thread of this GPU has (" + std::to_string(mostLocalBytes) +
                                            ").");
  }
}

UserKernel::~UserKernel() { gpu_->unloadModule(module_); }

// The sizes, alignments and offsets that the compiler has written: `.b8 covarium_layout[12] = {8, 0, 0, 0, ...}`, by
// bytes or words, without zeros at the end.
void UserKernel::readLayout(const std::string& ptx) {
  const std::string word = " covarium_layout[";
  const size_t at = ptx.find(word);
  const size_t open = ptx.find('{', at), close = ptx.find('}', at), end = ptx.find(';', at);
  const auto wrong = [&] {
    return Failure("ERR_INTERNAL", "Text of kernel (" + name + ") for the GPU has no layout.");
  };
  if (at == std::string::npos || end == std::string::npos) throw wrong();
  const bool isBytes = ptx.compare(at - 3, 3, ".b8") == 0;
  const size_t count = std::stoul(ptx.substr(at + word.size())) / (isBytes ? sizeof(uint32_t) : 1);
  std::vector<uint32_t> words(count, 0);
  if (open < end) {
    std::stringstream numbers(ptx.substr(open + 1, close - open - 1));
    size_t i = 0;
    for (std::string each; std::getline(numbers, each, ','); ++i) {
      const auto value = static_cast<uint32_t>(std::stoul(each));
      const size_t place = isBytes ? i / sizeof(uint32_t) : i;
      if (place < count) words[place] |= isBytes ? value << (8 * (i % sizeof(uint32_t))) : value;
    }
  }
  size_t next = 0;
  for (KernelParameter& parameter : parameters) {
    if (next + 2 + parameter.members.size() > count) throw wrong();
    parameter.sizeBytes = words[next++];
    alignments_.push_back(std::max<size_t>(words[next++], 1));
    for (auto& [member, offsetBytes] : parameter.members) offsetBytes = words[next++];
  }
}

void UserKernel::launch(Run& run, const std::vector<Argument>& arguments, Size3 grid, Size3 threadgroup) const {
  // All bytes that are given with the launch go to the GPU in one copy.
  size_t givenBytes = 0, memoryBytes = 0;
  for (const Argument& each : arguments) givenBytes += roomFor(each.bytes.size());
  std::vector<char> given(givenBytes);
  const DevicePointer uploaded = givenBytes == 0 ? 0 : run.scratch(givenBytes / sizeof(float));
  std::vector<DevicePointer> slots;
  size_t next = 0;
  for (const Argument& each : arguments) {
    if (each.isView && each.bytes.empty()) {
      slots.push_back(run.address(each.view));
    } else if (each.threadgroupBytes != 0) {
      slots.push_back(memoryBytes);
      memoryBytes += roomFor(each.threadgroupBytes);
    } else {
      std::copy(each.bytes.begin(), each.bytes.end(), given.begin() + static_cast<std::ptrdiff_t>(next));
      // A texture's header begins with the address of its texels.
      const uint64_t texels = each.isView ? run.address(each.view) : 0;
      if (each.isView) memcpy(given.data() + next, &texels, sizeof texels);
      slots.push_back(uploaded + next);
      next += roomFor(each.bytes.size());
    }
  }
  if (givenBytes != 0) run.upload(uploaded, std::move(given));
  GridSize size = {};
  for (int i = 0; i < 3; ++i) {
    size.threads[i] = grid[i];
    size.groupThreads[i] = threadgroup[i];
    size.groups[i] = grid[i] / threadgroup[i] + (grid[i] % threadgroup[i] != 0);
  }
  std::vector<void*> parameters;
  for (DevicePointer& slot : slots) parameters.push_back(&slot);
  parameters.push_back(&size);
  const uint32_t lanes = threadgroup[0] * threadgroup[1] * threadgroup[2];
  for (size.firstGroup[2] = 0; size.firstGroup[2] < size.groups[2]; size.firstGroup[2] += mostGroups)
    for (size.firstGroup[1] = 0; size.firstGroup[1] < size.groups[1]; size.firstGroup[1] += mostGroups)
      run.launch(function_, parameters.data(),
                 {size.groups[0], std::min(size.groups[1] - size.firstGroup[1], mostGroups),
                  std::min(size.groups[2] - size.firstGroup[2], mostGroups)},
                 lanes, memoryBytes);
}

void CudaCommandBuffer::launch(const std::shared_ptr<const Kernel>& given, std::vector<KernelOperand> operands,
                               Size3 grid, Size3 threadgroup) {
  const auto kernel = std::dynamic_pointer_cast<const UserKernel>(given);
  if (kernel == nullptr) return Recorder::launch(given, std::move(operands), grid, threadgroup);
  if (!kernel->isOf(*engine_.gpu))
    throw Failure("ERR_INVALID_ARGUMENT", "Kernel (" + kernel->name + ") belongs to another device.");
  checkUserLaunch(*kernel, operands, grid, threadgroup);
  std::vector<Operand> buffers;
  for (const KernelOperand& each : operands)
    if (each.operand.buffer != nullptr) buffers.push_back(each.operand);
  Part& part = onGpu(buffers);
  std::vector<UserKernel::Argument> arguments;
  for (size_t i = 0; i < operands.size(); ++i) {
    KernelOperand& each = operands[i];
    UserKernel::Argument argument = {each.operand.buffer != nullptr, {}, std::move(each.bytes), each.threadgroupBytes};
    if (argument.isView) {
      const bool isWritten = kernel->parameters[i].isWritten();
      argument.view = part.view(each.operand, isWritten ? Access::readAndWrite : Access::read);
      requireAligned(*kernel, kernel->parameters[i], argument.view.offsetBytes,
                     kernel->alignmentBytes(i, argument.bytes));
    }
    arguments.push_back(std::move(argument));
  }
  part.add([=, arguments = std::move(arguments)](Run& run) {
    kernel->launch(run, arguments, grid, threadgroup);
    run.waitForEarlier();
  });
}

}  // namespace covarium::cuda
