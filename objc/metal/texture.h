// Textures and samplers of one launch: made for it, filled from buffers, and copied back.
#pragma once

#import <Metal/Metal.h>

#include <cstdint>
#include <vector>

#include "../device.h"
#include "owned.h"

namespace covarium::metal {

struct MetalTexture {
  Owned<id<MTLTexture>> object;
  TextureHeader header;
  id<MTLBuffer> buffer;  // the caller holds it
  size_t offsetBytes;

  // Encode copies from the buffer to the texture, and from the texture back to the buffer.
  void fill(id<MTLBlitCommandEncoder> encoder) const;
  void copyBack(id<MTLBlitCommandEncoder> encoder) const;
};

// Throws ERR_OUT_OF_MEMORY if the GPU has no room for it, ERR_UNSUPPORTED for a texture buffer.
MetalTexture newTexture(id<MTLDevice> device, const TextureHeader& header, bool isWritten, id<MTLBuffer> buffer,
                        size_t offsetBytes);

// From the bytes that lib/kernel/texture.ts has written for a sampler.
Owned<id<MTLSamplerState>> newSampler(id<MTLDevice> device, const std::vector<uint8_t>& bytes);

}  // namespace covarium::metal
