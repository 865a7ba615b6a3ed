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

// The names that all GPUs share are used here without their namespace.
using namespace gpu;

class Gpu;
class GpuPart;

// The part of a buffer that a GPU command reads or writes: elements of float32, or bytes of another type.
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
  // For MPS, which opens its own encoders.
  id<MTLCommandBuffer> commandBuffer();
  // Memory that lives until its last View is gone and the GPU has run the commands that use it. Its contents are
  // unspecified.
  View scratch(size_t elements);
  // Memory that lives until all commands have run. The host may write to it before that and read it afterwards.
  View readable(size_t elements);
  // `check` is called on the host when all commands have run; it throws if the result is bad.
  void afterwards(std::function<void()> check);

  // Runs one thread for each position of an x by y grid.
  template <typename Params>
  void dispatch(const char* kernel, std::initializer_list<View> buffers, const Params& params, size_t x, size_t y = 1) {
    dispatchThreads(kernel, buffers, &params, sizeof params, x, y);
  }
  // Runs `groups` threadgroups. Each has whole simdgroups, as many lanes as suit the kernel or fewer if there are
  // fewer `shares` of its work, and memoryBytes(lanes, width of a simdgroup) bytes of threadgroup memory.
  template <typename Params, typename MemoryBytes>
  void dispatchGroups(const char* kernel, std::initializer_list<View> buffers, const Params& params, size_t groups,
                      size_t shares, const MemoryBytes& memoryBytes) {
    const auto [lanes, width] = lanesFor(kernel, shares);
    dispatchThreadgroups(kernel, buffers, &params, sizeof params, groups, lanes, memoryBytes(lanes, width));
  }
  // The same with exactly `lanes` lanes, which the kernel relies on. Throws if the pipeline allows fewer.
  template <typename Params>
  void dispatchWholeGroups(const char* kernel, std::initializer_list<View> buffers, const Params& params, size_t groups,
                           size_t lanes, size_t memoryBytes) {
    requireLanes(kernel, lanes);
    dispatchThreadgroups(kernel, buffers, &params, sizeof params, groups, lanes, memoryBytes);
  }
  void launch(const Pipeline& pipeline, const std::vector<View>& buffers, const void* params, MTLSize grid,
              MTLSize threadgroup);
  // An argument of a user's kernel, at an index of its table: a view, or bytes if the view has no buffer; a texture,
  // as a view with a header in the bytes; a sampler, as bytes.
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

  // Says that the commands since the last call take about `seconds` on a slow GPU. If the part is sliced
  // (gpu-part.h), what is encoded is committed once it has become long; any other part is one command buffer. Throws
  // ERR_ABORTED if the commit is cancelled.
  void worked(double seconds);

  // Returns the last command buffer, which is not committed yet; those before it are.
  Owned<id<MTLCommandBuffer>> finish();
  // Waits for `last`, which is committed, and for the command buffers before it. Returns milliseconds on the GPU;
  // throws what the GPU reports.
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
  // An encoder for copies, with no other encoder open; the caller ends it.
  Owned<id<MTLBlitCommandEncoder>> blit(NSString* label);
  void endEncoder();
  void open();

  Gpu& gpu_;
  GpuPart& part_;
  // The pool of the slice that is being encoded; the first slice has none. Without it, the objects that Metal
  // autoreleases for a long part, such as its command buffers, would live until the part ends.
  std::optional<AutoreleasePool> slicePool_;
  Owned<id<MTLCommandBuffer>> commandBuffer_;
  Owned<id<MTLComputeCommandEncoder>> compute_;
  bool hasThreadgroupMemory_ = false;                 // in the table of compute_
  std::vector<Owned<id<MTLCommandBuffer>>> earlier_;  // committed, not yet waited for; at most one
  double earlierMs_ = 0;
  double ended_ = 0;  // end of the last one that was waited for, as millisecondsOf takes it
  double seconds_ = 0;
};

// True if work of this many seconds is cut into several command buffers.
bool isLong(double seconds);

// Milliseconds that a completed command buffer took on the GPU after `ended`, which is set to its end, in seconds of
// the GPU's clock: command buffers of a queue may overlap. Throws ERR_OUT_OF_MEMORY or ERR_DEVICE_FAILED if it ended
// in an error.
double millisecondsOf(id<MTLCommandBuffer> commandBuffer, double& ended);

}  // namespace covarium::metal
