#pragma once

#import <Metal/Metal.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../gpu/part.h"
#include "memory.h"
#include "owned.h"
#include "shaders.h"
#include "texture.h"

namespace covarium::metal {

// What all GPUs share is spoken of as if it were of this room.
using namespace gpu;

class Gpu;
class GpuPart;

// Elements of float32, or bytes of another type, of a buffer: what a GPU command reads or writes.
struct View {
  std::shared_ptr<MetalBuffer> buffer;
  size_t offsetBytes = 0;

  View from(size_t element) const { return {buffer, offsetBytes + element * sizeof(float)}; }
};

// One part of a commit while its commands are encoded: the command buffer, the encoder that is open in it, and the
// scratch that lives until all has run. Long work is cut into several command buffers, of which two are in flight.
class Encoding {
 public:
  Encoding(Gpu& gpu, GpuPart& part);
  ~Encoding();
  Encoding(const Encoding&) = delete;

  Gpu& gpu() const { return gpu_; }
  // For MPS, which opens encoders of its own.
  id<MTLCommandBuffer> commandBuffer();
  // Memory until the last View of it is gone and the GPU has done what it is used for; contents unspecified.
  View scratch(size_t elements);
  // Memory until all has run, that the host may write to before and read afterwards.
  View readable(size_t elements);
  // Called on the host when all has run; throws where the result is bad.
  void afterwards(std::function<void()> check);

  // One thread for each place of x by y.
  template <typename Params>
  void dispatch(const char* kernel, std::initializer_list<View> buffers, const Params& params, size_t x, size_t y = 1) {
    dispatchThreads(kernel, buffers, &params, sizeof params, x, y);
  }
  // One threadgroup for each of `groups`, of as many lanes as the kernel's simdgroups make a good group of, or of
  // fewer where there is less to share; memoryBytes(lanes, width of a simdgroup) of threadgroup memory.
  template <typename Params, typename MemoryBytes>
  void dispatchGroups(const char* kernel, std::initializer_list<View> buffers, const Params& params, size_t groups,
                      size_t shares, const MemoryBytes& memoryBytes) {
    const auto [lanes, width] = lanesFor(kernel, shares);
    dispatchThreadgroups(kernel, buffers, &params, sizeof params, groups, lanes, memoryBytes(lanes, width));
  }
  // The same of exactly `lanes` lanes, which the kernel counts on. Throws where the pipeline takes fewer.
  template <typename Params>
  void dispatchWholeGroups(const char* kernel, std::initializer_list<View> buffers, const Params& params, size_t groups,
                           size_t lanes, size_t memoryBytes) {
    requireLanes(kernel, lanes);
    dispatchThreadgroups(kernel, buffers, &params, sizeof params, groups, lanes, memoryBytes);
  }
  void launch(const Pipeline& pipeline, const std::vector<View>& buffers, const void* params, MTLSize grid,
              MTLSize threadgroup);
  // What a user's kernel takes, at an index of its table: a view, or bytes where that has no buffer; a view as a
  // texture, with its header in the bytes; a sampler, in bytes.
  struct Bound {
    enum class Table { buffers, textures, writtenTextures, samplers } table;
    uint32_t index;
    View view;
    std::vector<uint8_t> bytes;
    bool isTexture() const { return table == Table::textures || table == Table::writtenTextures; }
  };
  using ThreadgroupMemory = std::vector<std::pair<uint32_t, size_t>>;  // index and bytes
  void launch(id<MTLComputePipelineState> state, const std::vector<Bound>& arguments, const ThreadgroupMemory& memory,
              MTLSize grid, MTLSize threadgroup);
  void copy(View from, View to, size_t elements);

  // Says that the commands since the last call take about so long on a slow GPU. What is encoded is committed where it
  // has become long, where the part is sliced (gpu-part.h): any other is one command buffer. Throws ERR_ABORTED where
  // nobody wants it any more.
  void worked(double seconds);

  // The last command buffer, not committed yet; those before it are.
  Owned<id<MTLCommandBuffer>> finish();
  // Waits for the last, which is committed, and for those before it; milliseconds on the GPU. Throws what the GPU
  // reports.
  double waitFor(id<MTLCommandBuffer> last);

 private:
  void dispatchThreads(const char* kernel, std::initializer_list<View> buffers, const void* params, size_t paramsBytes,
                       size_t x, size_t y);
  void dispatchThreadgroups(const char* kernel, std::initializer_list<View> buffers, const void* params,
                            size_t paramsBytes, size_t groups, size_t lanes, size_t memoryBytes);
  void requireLanes(const char* kernel, size_t lanes);
  struct Lanes {
    uint lanes, width;
  };
  Lanes lanesFor(const char* kernel, size_t shares);
  id<MTLComputeCommandEncoder> compute(id<MTLComputePipelineState> state);
  void bind(id<MTLComputeCommandEncoder> encoder, const View* views, size_t count, const void* params,
            size_t paramsBytes);
  std::vector<MetalTexture> filledTextures(const std::vector<Bound>& arguments);
  void copyBack(const std::vector<Bound>& arguments, const std::vector<MetalTexture>& textures);
  // A command encoder for copies, with no other open; the caller ends it.
  Owned<id<MTLBlitCommandEncoder>> blit(NSString* label);
  void endEncoder();
  void open();

  Gpu& gpu_;
  GpuPart& part_;
  // Of the slice that is encoded, but for the first: without it all that Metal autoreleases for a long part, such as
  // its command buffers, would live until the part ends.
  std::optional<AutoreleasePool> slicePool_;
  Owned<id<MTLCommandBuffer>> commandBuffer_;
  Owned<id<MTLComputeCommandEncoder>> compute_;
  bool hasThreadgroupMemory_ = false;                 // in the table of compute_
  std::vector<Owned<id<MTLCommandBuffer>>> earlier_;  // committed, not yet waited for; at most one
  double earlierMs_ = 0;
  double ended_ = 0;  // of the last that was waited for, as millisecondsOf takes it
  double seconds_ = 0;
};

// True if work of this many seconds is cut into several command buffers.
bool isLong(double seconds);

// Milliseconds that a completed command buffer took on the GPU, of those after `ended`, which becomes its end, in
// seconds of the GPU's clock: those of a queue may overlap. Throws ERR_OUT_OF_MEMORY or ERR_DEVICE_FAILED where it
// ended in an error.
double millisecondsOf(id<MTLCommandBuffer> commandBuffer, double& ended);

}  // namespace covarium::metal
