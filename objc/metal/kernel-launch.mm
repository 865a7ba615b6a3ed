// MetalCommandBuffer::launch of a user's kernel. Nothing is recorded unless all of it fits.
#include "../launch.h"
#include "command-buffer.h"
#include "kernel.h"

namespace covarium::metal {

namespace {

using Kind = KernelParameter::Kind;

// The lengths of Metal's tables.
constexpr uint32_t bufferIndices = 31, textureIndices = 128, samplerIndices = 16;
constexpr uint32_t textureBuffer = 9;  // Metal's number for this type of texture

// Metal takes only multiples of 16 bytes.
size_t roundedUp(size_t sizeBytes) { return (sizeBytes + 15) / 16 * 16; }

void requireSizes(const MetalKernel& kernel, const std::vector<KernelOperand>& operands, Size3 grid, Size3 threadgroup,
                  MTLSize largest) {
  size_t memoryBytes = kernel.staticThreadgroupMemoryBytes;
  for (const KernelOperand& operand : operands) memoryBytes += roundedUp(operand.threadgroupBytes);
  checkThreadgroupMemory(kernel.name, memoryBytes, kernel.maxThreadgroupMemoryBytes);
  const uint64_t lanes = uint64_t{threadgroup[0]} * threadgroup[1] * threadgroup[2];
  if (lanes == 0 || lanes > kernel.maxTotalThreadsPerThreadgroup)
    throw Failure("ERR_OUT_OF_RANGE", "`threadgroup` is (" + textOf(threadgroup) + "), not of 1 to (" +
                                          std::to_string(kernel.maxTotalThreadsPerThreadgroup) + ") threads.");
  if (threadgroup[0] > largest.width || threadgroup[1] > largest.height || threadgroup[2] > largest.depth)
    throw Failure("ERR_OUT_OF_RANGE",
                  "`threadgroup` is (" + textOf(threadgroup) + "), larger than this GPU's largest (" +
                      textOf({static_cast<uint32_t>(largest.width), static_cast<uint32_t>(largest.height),
                              static_cast<uint32_t>(largest.depth)}) +
                      ").");
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    throw Failure("ERR_OUT_OF_RANGE", "`grid` is (" + textOf(grid) + "), which has no threads.");
}

void requireObject(const std::string& called, const KernelParameter& parameter, const KernelOperand& given) {
  const uint32_t most = parameter.isTexture() ? textureIndices : samplerIndices;
  if (parameter.index >= most)
    throw Failure("ERR_OUT_OF_RANGE", called + " has index (" + std::to_string(parameter.index) + "), but there are (" +
                                          std::to_string(most) + ").");
  if (!parameter.isTexture()) return;
  const TextureHeader header = TextureHeader::of(given.bytes);
  if (header.textureType == textureBuffer)
    throw Failure("ERR_UNSUPPORTED", called + " is a texture_buffer, which this device has no memory for: pass a " +
                                         "buffer (device T*) instead.");
  if (given.operand.offsetBytes % header.texelBytes() != 0)
    throw Failure("ERR_INVALID_ARGUMENT", called + " begins at byte (" + std::to_string(given.operand.offsetBytes) +
                                              ") of its memory, but the GPU takes multiples of (" +
                                              std::to_string(header.texelBytes()) + ").");
}

void requireOperand(const MetalKernel& kernel, const KernelParameter& parameter, const KernelOperand& given) {
  const std::string called = "Argument (" + parameter.name + ") of kernel (" + kernel.name + ")";
  if (parameter.kind == Kind::threadgroup) {
    if (given.threadgroupBytes == 0)
      throw Failure("ERR_OUT_OF_RANGE", called + " has (0) bytes of threadgroup memory.");
    return;
  }
  if (parameter.isTexture() || parameter.kind == Kind::sampler) return requireObject(called, parameter, given);
  if (parameter.kind == Kind::written && given.operand.buffer == nullptr)
    throw Failure("ERR_INVALID_ARGUMENT", called + " is written, and is given bytes that nobody would see.");
  if (parameter.index >= bufferIndices)
    throw Failure("ERR_OUT_OF_RANGE", called + " has buffer index (" + std::to_string(parameter.index) +
                                          "), but there are (" + std::to_string(bufferIndices) + ").");
  const size_t sizeBytes = given.operand.buffer == nullptr ? given.bytes.size() : given.operand.sizeBytes();
  const size_t alignment = kernel.alignmentBytes(parameter.index);
  if (given.operand.buffer != nullptr && given.operand.offsetBytes % alignment != 0)
    throw Failure("ERR_INVALID_ARGUMENT", called + " begins at byte (" + std::to_string(given.operand.offsetBytes) +
                                              ") of its memory, but the GPU takes multiples of (" +
                                              std::to_string(alignment) + ").");
  if (sizeBytes == 0 || sizeBytes < parameter.sizeBytes)
    throw Failure("ERR_SHAPE", called + " takes (" + std::to_string(parameter.sizeBytes) + ") bytes or more, not (" +
                                   std::to_string(sizeBytes) + ").");
}

Encoding::Bound::Table tableOf(const KernelParameter& parameter) {
  using Table = Encoding::Bound::Table;
  if (parameter.kind == Kind::sampler) return Table::samplers;
  if (!parameter.isTexture()) return Table::buffers;
  return parameter.isWritten() ? Table::writtenTextures : Table::textures;
}

MTLSize sizeOf(Size3 size) { return MTLSizeMake(size[0], size[1], size[2]); }

}  // namespace

void MetalCommandBuffer::launch(const std::shared_ptr<const Kernel>& given, std::vector<KernelOperand> operands,
                                Size3 grid, Size3 threadgroup) {
  const AutoreleasePool pool;
  const auto kernel = std::dynamic_pointer_cast<const MetalKernel>(given);
  if (kernel == nullptr || !engine_.gpu.kernels().owns(*kernel))
    throw Failure("ERR_INVALID_ARGUMENT", "Kernel (" + given->name + ") belongs to another device.");
  if (!kernel->compiled()->state) throw Failure("ERR_CLOSED", "Device of kernel (" + kernel->name + ") is closed.");
  requireSizes(*kernel, operands, grid, threadgroup, [engine_.gpu.device() maxThreadsPerThreadgroup]);
  std::vector<Operand> buffers;
  for (size_t i = 0; i < operands.size(); ++i) {
    requireOperand(*kernel, kernel->parameters[i], operands[i]);
    if (operands[i].operand.buffer != nullptr) buffers.push_back(operands[i].operand);
  }
  refuseSharedParts(kernel->name, buffers);
  GpuPart& part = onGpu(buffers);
  std::vector<Encoding::Bound> arguments;
  Encoding::ThreadgroupMemory memory;
  for (size_t i = 0; i < operands.size(); ++i) {
    const KernelParameter& parameter = kernel->parameters[i];
    if (parameter.kind == Kind::threadgroup) {
      memory.emplace_back(parameter.index, roundedUp(operands[i].threadgroupBytes));
    } else if (operands[i].operand.buffer == nullptr) {
      arguments.push_back({tableOf(parameter), parameter.index, {}, std::move(operands[i].bytes)});
    } else {
      const Access access = parameter.isWritten() ? Access::readAndWrite : Access::read;
      const View view = part.view(operands[i].operand, access);
      arguments.push_back({tableOf(parameter), parameter.index, view, std::move(operands[i].bytes)});
    }
  }
  part.add([compiled = kernel->compiled(), arguments = std::move(arguments), memory = std::move(memory), grid,
            threadgroup](Encoding& encoding) {
    encoding.launch(compiled->state.get(), arguments, memory, sizeOf(grid), sizeOf(threadgroup));
  });
}

}  // namespace covarium::metal
