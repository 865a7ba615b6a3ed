#include "compute-encoder.h"

#include <algorithm>
#include <map>
#include <set>

#include "device.h"
#include "encoder.h"
#include "execute.h"
#include "pipeline.h"
#include "sampler.h"
#include "texture.h"

using softmetal::Argument;
using softmetal::Call;

namespace {

constexpr NSUInteger slots = 31;         // Apple's table of buffers
constexpr NSUInteger bytesLimit = 4096;  // of setBytes

// What is bound at a buffer index: a buffer, or bytes.
struct Binding {
  id<MTLBuffer> buffer = nil;  // the command buffer holds it
  size_t offset = 0;
  std::shared_ptr<std::vector<uint8_t>> bytes;  // commands hold them
};

}  // namespace

struct SoftComputeEncoder : SoftEncoder {
  using SoftEncoder::SoftEncoder;
  MTLDispatchType type = MTLDispatchTypeSerial;
  SoftPipeline* pipeline = nullptr;
  std::map<NSUInteger, Binding> bindings;
  std::map<NSUInteger, size_t> threadgroupBytes;
  std::map<NSUInteger, id<MTLTexture>> textures;       // the command buffer holds them
  std::map<NSUInteger, id<MTLSamplerState>> samplers;  // likewise

  // What a concurrent encoder has read and written since its last barrier.
  std::set<const void*> read, written;

  void record(MTLSize threads, MTLSize group, const Call& call);
  void refuseRaces(const Call& call);
  softmetal::Dispatch dispatchOf(MTLSize threads, MTLSize group, const Call& call) const;
  size_t lengthFor(const Argument& argument, const Call& call) const;
  softmetal::Bound objectFor(const Argument& argument, const Call& call) const;
};

namespace {

void checkSizes(MTLSize threads, MTLSize group, const SoftPipeline& pipeline, const Call& call) {
  if (group.width == 0 || group.height == 0 || group.depth == 0)
    call.refuse("is given threadgroups of (%zu, %zu, %zu) threads.", size_t{group.width}, size_t{group.height},
                size_t{group.depth});
  if (threads.width == 0 || threads.height == 0 || threads.depth == 0)
    call.refuse("is given a grid of (%zu, %zu, %zu).", size_t{threads.width}, size_t{threads.height},
                size_t{threads.depth});
  const NSUInteger total = group.width * group.height * group.depth;
  if (group.width > pipeline.maximumGroup || group.height > pipeline.maximumGroup ||
      group.depth > pipeline.maximumGroup || total > pipeline.maximumGroup)
    call.refuse("is given threadgroups of (%zu) threads, more than maxTotalThreadsPerThreadgroup (%zu) of (%s).",
                size_t{total}, size_t{pipeline.maximumGroup}, pipeline.signature.name.c_str());
  // Positions are 32-bit unsigned.
  for (const NSUInteger size : {threads.width, threads.height, threads.depth})
    if (size > UINT32_MAX) call.refuse("is given a grid of (%zu) threads, more than (%u).", size_t{size}, UINT32_MAX);
}

std::array<uint32_t, 3> arrayOf(MTLSize size) {
  return {static_cast<uint32_t>(size.width), static_cast<uint32_t>(size.height), static_cast<uint32_t>(size.depth)};
}

}  // namespace

// Bytes from the binding's offset to its end. Refuses an argument that is not bound, or is too short.
size_t SoftComputeEncoder::lengthFor(const Argument& argument, const Call& call) const {
  const char *kernel = pipeline->signature.name.c_str(), *name = argument.name.c_str();
  const auto found = bindings.find(static_cast<NSUInteger>(argument.index));
  if (found == bindings.end())
    call.refuse("finds nothing bound at buffer index (%d), argument (%s) of (%s).", argument.index, name, kernel);
  const Binding& binding = found->second;
  const size_t length =
      binding.buffer == nil ? binding.bytes->size() : softmetal::bufferOf(binding.buffer, call).length - binding.offset;
  if (length < argument.dataBytes)
    call.refuse("finds (%zu) bytes bound at buffer index (%d), argument (%s) of (%s), which takes (%zu).", length,
                argument.index, name, kernel, argument.dataBytes);
  return length;
}

// A texture or a sampler. Refuses one that is not bound, and a texture whose usage does not allow what the kernel
// does.
softmetal::Bound SoftComputeEncoder::objectFor(const Argument& argument, const Call& call) const {
  const char *kernel = pipeline->signature.name.c_str(), *name = argument.name.c_str();
  const auto index = static_cast<NSUInteger>(argument.index);
  if (argument.kind == Argument::Kind::sampler) {
    const auto found = samplers.find(index);
    if (found == samplers.end())
      call.refuse("finds nothing bound at sampler index (%d), argument (%s) of (%s).", argument.index, name, kernel);
    return softmetal::samplerOf(found->second, call).bound();
  }
  const auto found = textures.find(index);
  if (found == textures.end())
    call.refuse("finds nothing bound at texture index (%d), argument (%s) of (%s).", argument.index, name, kernel);
  const SoftTexture& texture = softmetal::textureOf(found->second, call);
  const MTLTextureUsage asked = argument.readOnly ? MTLTextureUsageShaderRead : MTLTextureUsageShaderWrite;
  if ((texture.usage & asked) == 0)
    call.refuse("finds a texture of usage (%zu) at index (%d), argument (%s) of (%s), which takes (%zu).",
                size_t{texture.usage}, argument.index, name, kernel, size_t{asked});
  return texture.bound(argument.readOnly);
}

softmetal::Dispatch SoftComputeEncoder::dispatchOf(MTLSize threads, MTLSize group, const Call& call) const {
  const char* kernel = pipeline->signature.name.c_str();
  softmetal::Dispatch dispatch;
  dispatch.kernel = pipeline->kernel;
  dispatch.threads = arrayOf(threads);
  dispatch.threadgroup = arrayOf(group);
  size_t memoryBytes = pipeline->signature.threadgroupBytes;
  for (const Argument& argument : pipeline->signature.arguments) {
    if (argument.kind == Argument::Kind::place) continue;
    if (argument.kind == Argument::Kind::threadgroup) {
      const auto set = threadgroupBytes.find(static_cast<NSUInteger>(argument.index));
      if (set == threadgroupBytes.end() || set->second == 0)
        call.refuse("finds no threadgroup memory at index (%d), argument (%s) of (%s).", argument.index,
                    argument.name.c_str(), kernel);
      dispatch.threadgroupBytes.push_back(set->second);
      memoryBytes += set->second;
      continue;
    }
    if (argument.kind == Argument::Kind::texture || argument.kind == Argument::Kind::sampler) {
      dispatch.arguments.push_back(objectFor(argument, call));
      continue;
    }
    const size_t length = lengthFor(argument, call);
    const Binding& binding = bindings.at(static_cast<NSUInteger>(argument.index));
    if (binding.buffer == nil && !argument.readOnly)
      call.refuse("finds bytes of setBytes at buffer index (%d), argument (%s) of (%s), which is written.",
                  argument.index, argument.name.c_str(), kernel);
    char* bytes = binding.buffer == nil ? reinterpret_cast<char*>(binding.bytes->data())
                                        : softmetal::bufferOf(binding.buffer, call).bytes + binding.offset;
    dispatch.arguments.push_back({bytes, length, argument.readOnly});
  }
  for (const auto& [index, length] : threadgroupBytes) {
    const auto isThere = [index = index](const Argument& argument) {
      return argument.kind == Argument::Kind::threadgroup && static_cast<NSUInteger>(argument.index) == index;
    };
    const auto& arguments = pipeline->signature.arguments;
    if (std::none_of(arguments.begin(), arguments.end(), isThere)) memoryBytes += length;  // it stays bound
  }
  if (memoryBytes > softmetal::maximumThreadgroupBytes)
    call.refuse("finds (%zu) bytes of threadgroup memory for (%s), more than maxThreadgroupMemoryLength (%zu).",
                memoryBytes, kernel, softmetal::maximumThreadgroupBytes);
  return dispatch;
}

// A dispatch must not read or write what a concurrent dispatch writes.
void SoftComputeEncoder::refuseRaces(const Call& call) {
  std::set<const void*> reads, writes;
  for (const Argument& argument : pipeline->signature.arguments) {
    const auto found = bindings.find(static_cast<NSUInteger>(argument.index));
    const bool isBuffer = argument.kind == Argument::Kind::buffer || argument.kind == Argument::Kind::constant;
    if (!isBuffer || found == bindings.end() || found->second.buffer == nil) continue;
    const void* buffer = found->second.buffer;
    if (written.count(buffer) != 0 || (!argument.readOnly && read.count(buffer) != 0))
      call.refuse(
          "may run beside an earlier dispatch that shares the buffer of argument (%s) of (%s), with no barrier.",
          argument.name.c_str(), pipeline->signature.name.c_str());
    (argument.readOnly ? reads : writes).insert(buffer);
  }
  read.insert(reads.begin(), reads.end());
  written.insert(writes.begin(), writes.end());
}

void SoftComputeEncoder::record(MTLSize threads, MTLSize group, const Call& call) {
  checkOpen(call);
  if (pipeline == nullptr) call.refuse("is called without a pipeline state.");
  checkSizes(threads, group, *pipeline, call);
  if (type == MTLDispatchTypeConcurrent) refuseRaces(call);
  // Bytes of setBytes live as long as the command.
  std::vector<std::shared_ptr<std::vector<uint8_t>>> own;
  for (const auto& [index, binding] : bindings)
    if (binding.buffer == nil) own.push_back(binding.bytes);
  // The system ends a kernel that never ends.
  SoftCommandBuffer& recorded = commandBuffer();
  recorded.pass().commands.push_back([dispatch = dispatchOf(threads, group, call), own = std::move(own), &recorded] {
    if (!softmetal::execute(dispatch)) recorded.fault = MTLCommandBufferErrorTimeout;
  });
}

@interface SoftMetalComputeEncoder : NSObject <MTLComputeCommandEncoder> {
 @public
  SoftComputeEncoder* state_;
}
@end

namespace softmetal {

id<MTLComputeCommandEncoder> computeEncoderOf(SoftMetalCommandBuffer* buffer, MTLDispatchType type, const Call& call) {
  SoftMetalComputeEncoder* encoder = [SoftMetalComputeEncoder alloc];
  encoder->state_ = new SoftComputeEncoder("MTLComputeCommandEncoder", buffer, call);
  encoder->state_->type = type;
  return [encoder autorelease];
}

}  // namespace softmetal

namespace {

SoftComputeEncoder& openOf(SoftComputeEncoder* state, const Call& call) {
  SoftComputeEncoder& encoder = used(state, call);
  encoder.checkOpen(call);
  return encoder;
}

Binding& slotOf(SoftComputeEncoder& encoder, NSUInteger index, const Call& call) {
  if (index >= slots) call.refuse("is given index (%zu), but there are (%zu).", size_t{index}, size_t{slots});
  return encoder.bindings[index];
}

void checkOffset(NSUInteger offset, size_t length, const Call& call) {
  if (offset >= length) call.refuse("is given offset (%zu) of a buffer of (%zu) bytes.", size_t{offset}, length);
  if (offset % 4 != 0) call.refuse("is given offset (%zu), not a multiple of (4).", size_t{offset});
}

}  // namespace

@implementation SoftMetalComputeEncoder
SOFT_ENCODER("MTLComputeCommandEncoder")
- (MTLDispatchType)dispatchType {
  return used(state_, Call{"MTLComputeCommandEncoder", _cmd}).type;
}
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  const Call call{"MTLComputeCommandEncoder", _cmd};
  SoftComputeEncoder& encoder = openOf(state_, call);
  if (state == nil) call.refuse("is given a nil pipeline state.");
  SoftPipeline& pipeline = used(static_cast<SoftMetalPipeline*>(state)->state_, call);
  softmetal::checkSameDevice([self device], pipeline.device.get(), "pipeline state", call);
  encoder.pipeline = &pipeline;
  encoder.commandBuffer().keeps(state);
}
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
  const Call call{"MTLComputeCommandEncoder", _cmd};
  SoftComputeEncoder& encoder = openOf(state_, call);
  if (bytes == nullptr || length == 0) call.refuse("is given (%zu) bytes at (%p).", size_t{length}, bytes);
  if (length > bytesLimit) call.refuse("is given (%zu) bytes, more than (%zu).", size_t{length}, size_t{bytesLimit});
  Binding& binding = slotOf(encoder, index, call);
  binding.buffer = nil;
  const auto* first = static_cast<const uint8_t*>(bytes);
  binding.bytes = std::make_shared<std::vector<uint8_t>>(first, first + length);
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  const Call call{"MTLComputeCommandEncoder", _cmd};
  SoftComputeEncoder& encoder = openOf(state_, call);
  Binding& binding = slotOf(encoder, index, call);
  if (buffer == nil) {
    encoder.bindings.erase(index);
    return;
  }
  checkOffset(offset, softmetal::bufferOf(buffer, call).length, call);
  encoder.commandBuffer().uses(buffer, call);
  binding.buffer = buffer;
  binding.offset = offset;
}
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index {
  const Call call{"MTLComputeCommandEncoder", _cmd};
  Binding& binding = slotOf(openOf(state_, call), index, call);
  if (binding.buffer == nil) call.refuse("finds no buffer at index (%zu).", size_t{index});
  checkOffset(offset, softmetal::bufferOf(binding.buffer, call).length, call);
  binding.offset = offset;
}
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index {
  const Call call{"MTLComputeCommandEncoder", _cmd};
  SoftComputeEncoder& encoder = openOf(state_, call);
  if (index >= 128) call.refuse("is given index (%zu), but there are (128).", size_t{index});
  softmetal::textureOf(texture, call);
  encoder.textures[index] = texture;
  encoder.commandBuffer().keeps(texture);
  encoder.commandBuffer().pass().resources.insert(texture);
}
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index {
  const Call call{"MTLComputeCommandEncoder", _cmd};
  SoftComputeEncoder& encoder = openOf(state_, call);
  if (index >= 16) call.refuse("is given index (%zu), but there are (16).", size_t{index});
  softmetal::samplerOf(sampler, call);
  encoder.samplers[index] = sampler;
  encoder.commandBuffer().keeps(sampler);
}
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
  const Call call{"MTLComputeCommandEncoder", _cmd};
  SoftComputeEncoder& encoder = openOf(state_, call);
  if (index >= slots) call.refuse("is given index (%zu), but there are (%zu).", size_t{index}, size_t{slots});
  if (length % 16 != 0) call.refuse("is given length (%zu), not a multiple of (16).", size_t{length});
  if (length > softmetal::maximumThreadgroupBytes)
    call.refuse("is given length (%zu), more than maxThreadgroupMemoryLength (%zu).", size_t{length},
                softmetal::maximumThreadgroupBytes);
  encoder.threadgroupBytes[index] = length;
}
- (void)dispatchThreadgroups:(MTLSize)threadgroupsPerGrid threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup {
  const Call call{"MTLComputeCommandEncoder", _cmd};
  const MTLSize threads = MTLSizeMake(threadgroupsPerGrid.width * threadsPerThreadgroup.width,
                                      threadgroupsPerGrid.height * threadsPerThreadgroup.height,
                                      threadgroupsPerGrid.depth * threadsPerThreadgroup.depth);
  used(state_, call).record(threads, threadsPerThreadgroup, call);
}
- (void)dispatchThreads:(MTLSize)threadsPerGrid threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup {
  const Call call{"MTLComputeCommandEncoder", _cmd};
  used(state_, call).record(threadsPerGrid, threadsPerThreadgroup, call);
}
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
  const Call call{"MTLComputeCommandEncoder", _cmd};
  SoftComputeEncoder& encoder = openOf(state_, call);
  if (scope == 0) call.refuse("is given no scope.");
  encoder.read.clear();
  encoder.written.clear();
}
@end
