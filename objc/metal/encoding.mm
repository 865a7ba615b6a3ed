#include "encoding.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "../failure.h"
#include "gpu-part.h"
#include "gpu.h"
#include "text.h"

namespace covarium::metal {

namespace {

// A command buffer that takes seconds freezes the screen, and the system ends it. The stand-in for Metal is slower,
// so its build cuts shorter slices.
#ifndef COVARIUM_SLICE_SECONDS
#define COVARIUM_SLICE_SECONDS 0.1
#endif
constexpr double sliceSeconds = COVARIUM_SLICE_SECONDS;
constexpr size_t lanesAimedAt = 256;
constexpr size_t mostBytesByValue = 4096;  // Metal's limit of setBytes

// Metal's own wait sleeps, and a thread takes some tens of microseconds to wake: as long as the GPU takes for a short
// commit. So this function polls for about as long before it sleeps.
void waitUntilCompleted(id<MTLCommandBuffer> commandBuffer) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::microseconds(50);
  while ([commandBuffer status] < MTLCommandBufferStatusCompleted && Clock::now() < end) {
  }
  [commandBuffer waitUntilCompleted];
}

}  // namespace

double millisecondsOf(id<MTLCommandBuffer> commandBuffer, double& ended) {
  if ([commandBuffer status] == MTLCommandBufferStatusCompleted) {
    const double begin = std::max<double>(ended, [commandBuffer GPUStartTime]);
    ended = std::max<double>(begin, [commandBuffer GPUEndTime]);
    return (ended - begin) * 1e3;
  }
  NSError* error = [commandBuffer error];
  const auto code = static_cast<MTLCommandBufferError>([error code]);
  const std::string what = reasonOf(error) + " (MTLCommandBufferError " + std::to_string(code) + ").";
  if (code == MTLCommandBufferErrorOutOfMemory)
    throw Failure("ERR_OUT_OF_MEMORY",
                  "The GPU runs out of memory: " + what + " Close what else uses the GPU, or open the device cpu.");
  if (code == MTLCommandBufferErrorDeviceRemoved)
    throw Failure("ERR_DEVICE_FAILED",
                  "The GPU is removed: " + what + " Close the device, and open it again once the GPU is back.");
  throw Failure("ERR_DEVICE_FAILED",
                "The GPU ends the commit with an error: " + what + " Close the device and open it again.");
}

Encoding::Encoding(Gpu& gpu, GpuPart& part) : gpu_(gpu), part_(part) {}

Encoding::~Encoding() {
  endEncoder();
  // If an exception passes, the memory that these command buffers use is about to be given back.
  for (const auto& earlier : earlier_) [earlier.get() waitUntilCompleted];
}

void Encoding::open() {
  if (commandBuffer_) return;
  commandBuffer_ = Owned<id<MTLCommandBuffer>>::retain([gpu_.queue() commandBuffer]);  // retains what it uses
  if (!commandBuffer_) throw Failure("ERR_DEVICE_FAILED", "The GPU gives no command buffer.");
  [commandBuffer_.get() setLabel:@"covarium commit"];
}

void Encoding::endEncoder() {
  if (!compute_) return;
  [compute_.get() endEncoding];
  compute_ = {};
  hasThreadgroupMemory_ = false;
}

id<MTLCommandBuffer> Encoding::commandBuffer() {
  endEncoder();
  open();
  return commandBuffer_.get();
}

// Dispatches of one encoder run one after another, each seeing what those before it wrote.
id<MTLComputeCommandEncoder> Encoding::compute(id<MTLComputePipelineState> state) {
  if (!compute_) {
    open();
    compute_ = Owned<id<MTLComputeCommandEncoder>>::retain([commandBuffer_.get() computeCommandEncoder]);
    if (!compute_) throw Failure("ERR_DEVICE_FAILED", "The GPU gives no command encoder.");
    [compute_.get() setLabel:@"covarium kernels"];
  }
  [compute_.get() setComputePipelineState:state];
  return compute_.get();
}

View Encoding::scratch(size_t elements) { return {part_.scratch(elements * sizeof(float)), 0}; }

View Encoding::readable(size_t elements) { return {part_.readable(elements * sizeof(float)), 0}; }

void Encoding::afterwards(std::function<void()> check) { part_.afterwards(std::move(check)); }

void Encoding::bind(id<MTLComputeCommandEncoder> encoder, const View* views, size_t count, const void* params,
                    size_t paramsBytes) {
  for (size_t i = 0; i < count; ++i)
    [encoder setBuffer:views[i].buffer->object() offset:views[i].offsetBytes atIndex:i];
  [encoder setBytes:params length:paramsBytes atIndex:count];
}

void Encoding::dispatchThreads(const char* kernel, std::initializer_list<View> buffers, const void* params,
                               size_t paramsBytes, size_t x, size_t y) {
  const Pipeline& pipeline = gpu_.shaders().pipeline(kernel);
  const auto encoder = compute(pipeline.state.get());
  bind(encoder, buffers.begin(), buffers.size(), params, paramsBytes);
  const size_t most = std::min<size_t>(lanesAimedAt, [pipeline.state.get() maxTotalThreadsPerThreadgroup]);
  const size_t wide =
      y == 1 ? std::min(x, most) : std::min({x, most, size_t{[pipeline.state.get() threadExecutionWidth]}});
  [encoder dispatchThreads:MTLSizeMake(x, y, 1) threadsPerThreadgroup:MTLSizeMake(wide, std::min(y, most / wide), 1)];
}

Encoding::Lanes Encoding::lanesFor(const char* kernel, size_t shares) {
  const Pipeline& pipeline = gpu_.shaders().pipeline(kernel);
  const size_t width = [pipeline.state.get() threadExecutionWidth];
  const size_t most = std::min<size_t>(lanesAimedAt, [pipeline.state.get() maxTotalThreadsPerThreadgroup]);
  const size_t lanes = std::max<size_t>(1, std::min(most, (shares + width - 1) / width * width));
  // Room for simdgroups as narrow as those of any GPU, even if this pipeline says that its own are wider.
  constexpr size_t narrowest = 8;
  return {static_cast<uint>(lanes), static_cast<uint>(std::min(width, narrowest))};
}

void Encoding::requireLanes(const char* kernel, size_t lanes) {
  const size_t most = [gpu_.shaders().pipeline(kernel).state.get() maxTotalThreadsPerThreadgroup];
  if (lanes > most)
    throw Failure("ERR_DEVICE_FAILED", "it takes threadgroups of (" + std::to_string(most) + ") threads, not of (" +
                                           std::to_string(lanes) + ")");
}

void Encoding::dispatchThreadgroups(const char* kernel, std::initializer_list<View> buffers, const void* params,
                                    size_t paramsBytes, size_t groups, size_t lanes, size_t memoryBytes) {
  const auto encoder = compute(gpu_.shaders().pipeline(kernel).state.get());
  bind(encoder, buffers.begin(), buffers.size(), params, paramsBytes);
  [encoder setThreadgroupMemoryLength:(memoryBytes + 15) / 16 * 16 atIndex:0];
  hasThreadgroupMemory_ = true;
  [encoder dispatchThreadgroups:MTLSizeMake(groups, 1, 1) threadsPerThreadgroup:MTLSizeMake(lanes, 1, 1)];
}

void Encoding::launch(const Pipeline& pipeline, const std::vector<View>& buffers, const void* params, MTLSize grid,
                      MTLSize threadgroup) {
  const auto encoder = compute(pipeline.state.get());
  bind(encoder, buffers.data(), buffers.size(), params, pipeline.paramsBytes);
  // The kernel doesn't say how much memory it needs, so it gets all there is.
  if (pipeline.hasThreadgroupMemory) {
    [encoder setThreadgroupMemoryLength:[gpu_.device() maxThreadgroupMemoryLength] -
                                        [pipeline.state.get() staticThreadgroupMemoryLength]
                                atIndex:0];
    hasThreadgroupMemory_ = true;
  }
  [encoder dispatchThreads:grid threadsPerThreadgroup:threadgroup];
}

void Encoding::launch(id<MTLComputePipelineState> state, const std::vector<Bound>& arguments,
                      const ThreadgroupMemory& memory, MTLSize grid, MTLSize threadgroup) {
  // A length in the encoder's table of threadgroup memory stays there, and counts for every later kernel.
  if (hasThreadgroupMemory_) endEncoder();
  const std::vector<MetalTexture> textures = filledTextures(arguments);
  const auto encoder = compute(state);
  size_t texture = 0;
  for (const Bound& argument : arguments) {
    const auto& bytes = argument.bytes;
    View view = argument.view;
    if (argument.isTexture()) {
      [encoder setTexture:textures[texture++].object.get() atIndex:argument.index];
      continue;
    }
    if (argument.table == Bound::Table::samplers) {
      [encoder setSamplerState:newSampler(gpu_.device(), bytes).get() atIndex:argument.index];
      continue;
    }
    if (view.buffer == nullptr && bytes.size() <= mostBytesByValue) {
      [encoder setBytes:bytes.data() length:bytes.size() atIndex:argument.index];
      continue;
    }
    if (view.buffer == nullptr) {
      view = {part_.readable(bytes.size()), 0};
      memcpy(view.buffer->contents(), bytes.data(), bytes.size());
    }
    [encoder setBuffer:view.buffer->object() offset:view.offsetBytes atIndex:argument.index];
  }
  for (const auto& [index, sizeBytes] : memory) [encoder setThreadgroupMemoryLength:sizeBytes atIndex:index];
  [encoder dispatchThreads:grid threadsPerThreadgroup:threadgroup];
  if (!memory.empty()) endEncoder();
  copyBack(arguments, textures);
}

// Makes the textures of a launch, each filled with all of its memory, because a kernel may write only a part of it.
std::vector<MetalTexture> Encoding::filledTextures(const std::vector<Bound>& arguments) {
  std::vector<MetalTexture> textures;
  for (const Bound& argument : arguments)
    if (argument.isTexture())
      textures.push_back(newTexture(gpu_.device(), TextureHeader::of(argument.bytes),
                                    argument.table == Bound::Table::writtenTextures, argument.view.buffer->object(),
                                    argument.view.offsetBytes));
  if (textures.empty()) return textures;
  const auto encoder = blit(@"covarium textures");
  for (const MetalTexture& each : textures) each.fill(encoder.get());
  [encoder.get() endEncoding];
  return textures;
}

void Encoding::copyBack(const std::vector<Bound>& arguments, const std::vector<MetalTexture>& textures) {
  const auto isWritten = [](const Bound& each) { return each.table == Bound::Table::writtenTextures; };
  if (std::none_of(arguments.begin(), arguments.end(), isWritten)) return;
  const auto encoder = blit(@"covarium textures");
  size_t texture = 0;
  for (const Bound& argument : arguments) {
    if (!argument.isTexture()) continue;
    if (isWritten(argument)) textures[texture].copyBack(encoder.get());
    ++texture;
  }
  [encoder.get() endEncoding];
}

Owned<id<MTLBlitCommandEncoder>> Encoding::blit(NSString* label) {
  auto encoder = Owned<id<MTLBlitCommandEncoder>>::retain([commandBuffer() blitCommandEncoder]);
  if (!encoder) throw Failure("ERR_DEVICE_FAILED", "The GPU gives no command encoder.");
  [encoder.get() setLabel:label];
  return encoder;
}

void Encoding::copy(View from, View to, size_t elements) {
  const auto encoder = blit(@"covarium copy");
  [encoder.get() copyFromBuffer:from.buffer->object()
                   sourceOffset:from.offsetBytes
                       toBuffer:to.buffer->object()
              destinationOffset:to.offsetBytes
                           size:elements * sizeof(float)];
  [encoder.get() endEncoding];
}

// The GPU goes from one command buffer to the next while the one after that is encoded.
void Encoding::worked(double seconds) {
  if (!part_.isSliced()) return;  // an error of an earlier command buffer would be missed
  seconds_ += seconds;
  if (seconds_ < sliceSeconds) return;
  seconds_ = 0;
  endEncoder();
  part_.stopIfCancelled();
  [commandBuffer_.get() commit];
  earlier_.push_back(std::exchange(commandBuffer_, {}));
  slicePool_.emplace();
  if (earlier_.size() < 2) return;
  waitUntilCompleted(earlier_[0].get());
  earlierMs_ += millisecondsOf(earlier_[0].get(), ended_);
  earlier_.erase(earlier_.begin());
}

Owned<id<MTLCommandBuffer>> Encoding::finish() {
  endEncoder();
  open();
  return std::exchange(commandBuffer_, {});
}

double Encoding::waitFor(id<MTLCommandBuffer> last) {
  waitUntilCompleted(last);
  for (const auto& earlier : earlier_) earlierMs_ += millisecondsOf(earlier.get(), ended_);
  earlier_.clear();
  return earlierMs_ + millisecondsOf(last, ended_);
}

bool isLong(double seconds) { return seconds >= sliceSeconds; }

}  // namespace covarium::metal
