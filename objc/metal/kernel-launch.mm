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

void requireSize(Size3 threadgroup, MTLSize largest) {
  if (threadgroup[0] <= largest.width && threadgroup[1] <= largest.height && threadgroup[2] <= largest.depth) return;
  throw Failure("ERR_OUT_OF_RANGE",
                "`threadgroup` is (" + textOf(threadgroup) + "), larger than this GPU's largest (" +
                    textOf({static_cast<uint32_t>(largest.width), static_cast<uint32_t>(largest.height),
                            static_cast<uint32_t>(largest.depth)}) +
                    ").");
}

// What Metal asks for besides checkUserLaunch().
void requireOperand(const MetalKernel& kernel, const KernelParameter& parameter, const KernelOperand& given) {
  if (parameter.kind == Kind::threadgroup) return;
  const std::string called = argumentText(kernel, parameter);
  const uint32_t most = parameter.isTexture()             ? textureIndices
                        : parameter.kind == Kind::sampler ? samplerIndices
                                                          : bufferIndices;
  if (parameter.index >= most)
    throw Failure("ERR_OUT_OF_RANGE", called + " has index (" + std::to_string(parameter.index) + "), but there are (" +
                                          std::to_string(most) + ").");
  if (given.operand.buffer == nullptr) return;
  size_t alignmentBytes = kernel.alignmentBytes(parameter.index);
  if (parameter.isTexture()) {
    const TextureHeader header = TextureHeader::of(given.bytes);
    if (header.textureType == textureBuffer)
      throw Failure("ERR_UNSUPPORTED", called + " is a texture_buffer, which this device has no memory for: pass a " +
                                           "buffer (device T*) instead.");
    alignmentBytes = header.texelBytes();
  }
  requireAligned(kernel, parameter, given.operand.offsetBytes, alignmentBytes);
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
  checkUserLaunch(*kernel, operands, grid, threadgroup);
  requireSize(threadgroup, [engine_.gpu.device() maxThreadsPerThreadgroup]);
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
