#pragma once

#import <Metal/Metal.h>

#include <vector>

#include "execute.h"
#include "object.h"

struct SoftTexture : softmetal::Counted {
  SoftTexture() : Counted("MTLTexture") {}

  // Each cube has six faces, also in an array.
  size_t slices() const { return type == 5 || type == 6 ? 6 * layers : layers; }
  char* bytes() const { return texels.get(); }
  // In the form that a kernel takes.
  softmetal::Bound bound(bool readOnly) const;

  softmetal::Ref<id<MTLDevice>> device;
  softmetal::Ref<NSString*> label;
  MTLTextureType type = MTLTextureType2D;
  MTLPixelFormat format = MTLPixelFormatInvalid;
  MTLTextureUsage usage = MTLTextureUsageUnknown;
  size_t width = 1, height = 1, depth = 1, layers = 1, texelBytes = 0;
  uint32_t component = 0, count = 0;  // as msl/cpu/library/texel.h numbers them
  std::unique_ptr<char[]> texels;
};

@interface SoftMetalTexture : NSObject <MTLTexture> {
 @public
  SoftTexture* state_;
}
@end

namespace softmetal {

// The state of a texture that is handed to `call`; refuses nil and one that has been released.
SoftTexture& textureOf(id<MTLTexture> texture, const Call& call);

// Nil if a fault is set.
id<MTLTexture> newTexture(id<MTLDevice> device, MTLTextureDescriptor* descriptor, const Call& call);

}  // namespace softmetal
