#include "texture.h"

#include <algorithm>
#include <cstring>

#include "../failure.h"

namespace covarium::metal {

namespace {

// Metal's numbers for types of textures, and for a usage that older SDKs do not name.
constexpr uint32_t cube = 5, cubeArray = 6;
constexpr NSUInteger shaderAtomic = 0x20;

// msl/cpu/library/sampler.h has the same fields.
struct SamplerFields {
  uint32_t isPixel, addresses[3], mag, min, mip, compare, border, unused;
  float leastLod, mostLod;
};

// One copy between a buffer and a texture: a slice, or all of a texture of three dimensions.
struct Region {
  size_t offsetBytes, rowBytes, imageBytes, slice;
  MTLSize size;
};

std::vector<Region> regionsOf(const MetalTexture& texture) {
  const TextureHeader& header = texture.header;
  const size_t rowBytes = header.width * header.texelBytes(), imageBytes = rowBytes * header.height;
  if (header.textureType == MTLTextureType3D)
    return {{texture.offsetBytes, rowBytes, imageBytes, 0, MTLSizeMake(header.width, header.height, header.slices)}};
  std::vector<Region> regions;
  for (size_t slice = 0; slice < header.slices; ++slice)
    regions.push_back({texture.offsetBytes + slice * imageBytes, rowBytes, imageBytes, slice,
                       MTLSizeMake(header.width, header.height, 1)});
  return regions;
}

}  // namespace

void MetalTexture::fill(id<MTLBlitCommandEncoder> encoder) const {
  for (const Region& region : regionsOf(*this))
    [encoder copyFromBuffer:buffer
               sourceOffset:region.offsetBytes
          sourceBytesPerRow:region.rowBytes
        sourceBytesPerImage:region.imageBytes
                 sourceSize:region.size
                  toTexture:object.get()
           destinationSlice:region.slice
           destinationLevel:0
          destinationOrigin:MTLOriginMake(0, 0, 0)];
}

void MetalTexture::copyBack(id<MTLBlitCommandEncoder> encoder) const {
  for (const Region& region : regionsOf(*this))
    [encoder copyFromTexture:object.get()
                     sourceSlice:region.slice
                     sourceLevel:0
                    sourceOrigin:MTLOriginMake(0, 0, 0)
                      sourceSize:region.size
                        toBuffer:buffer
               destinationOffset:region.offsetBytes
          destinationBytesPerRow:region.rowBytes
        destinationBytesPerImage:region.imageBytes];
}

MetalTexture newTexture(id<MTLDevice> device, const TextureHeader& header, bool isWritten, id<MTLBuffer> buffer,
                        size_t offsetBytes) {
  const auto type = static_cast<MTLTextureType>(header.textureType);
  const auto descriptor = Owned<MTLTextureDescriptor*>::adopt([[MTLTextureDescriptor alloc] init]);
  const bool isCube = header.textureType == cube || header.textureType == cubeArray;
  [descriptor.get() setTextureType:type];
  [descriptor.get() setPixelFormat:static_cast<MTLPixelFormat>(header.pixelFormat)];
  [descriptor.get() setWidth:header.width];
  [descriptor.get() setHeight:header.height];
  [descriptor.get() setDepth:type == MTLTextureType3D ? header.slices : 1];
  [descriptor.get() setArrayLength:type == MTLTextureType3D ? 1 : isCube ? header.slices / 6 : header.slices];
  [descriptor.get() setStorageMode:MTLStorageModePrivate];
  NSUInteger usage = MTLTextureUsageShaderRead | (isWritten ? MTLTextureUsageShaderWrite : 0);
  if (header.hasAtomics != 0) {
    if (@available(macOS 14.0, *)) {
      usage |= shaderAtomic;
    } else {
      throw Failure("ERR_UNSUPPORTED", "Textures that change by atomics need macOS 14.");
    }
  }
  [descriptor.get() setUsage:static_cast<MTLTextureUsage>(usage)];
  auto object = Owned<id<MTLTexture>>::adopt([device newTextureWithDescriptor:descriptor.get()]);
  if (!object)
    throw Failure("ERR_OUT_OF_MEMORY", "The GPU has no room for a texture of (" + std::to_string(header.width) + " x " +
                                           std::to_string(header.height) + " x " + std::to_string(header.slices) +
                                           ") texels.");
  return {std::move(object), header, buffer, offsetBytes};
}

Owned<id<MTLSamplerState>> newSampler(id<MTLDevice> device, const std::vector<uint8_t>& bytes) {
  SamplerFields fields;
  if (bytes.size() != sizeof fields) throw Failure("ERR_INTERNAL", "Sampler has no fields.");
  memcpy(&fields, bytes.data(), sizeof fields);
  const auto descriptor = Owned<MTLSamplerDescriptor*>::adopt([[MTLSamplerDescriptor alloc] init]);
  [descriptor.get() setSAddressMode:static_cast<MTLSamplerAddressMode>(fields.addresses[0])];
  [descriptor.get() setTAddressMode:static_cast<MTLSamplerAddressMode>(fields.addresses[1])];
  [descriptor.get() setRAddressMode:static_cast<MTLSamplerAddressMode>(fields.addresses[2])];
  [descriptor.get() setMagFilter:static_cast<MTLSamplerMinMagFilter>(fields.mag)];
  [descriptor.get() setMinFilter:static_cast<MTLSamplerMinMagFilter>(fields.min)];
  [descriptor.get() setCompareFunction:static_cast<MTLCompareFunction>(fields.compare)];
  [descriptor.get() setBorderColor:static_cast<MTLSamplerBorderColor>(fields.border)];
  [descriptor.get() setNormalizedCoordinates:fields.isPixel == 0];
  auto state = Owned<id<MTLSamplerState>>::adopt([device newSamplerStateWithDescriptor:descriptor.get()]);
  if (!state) throw Failure("ERR_DEVICE_FAILED", "The GPU gives no sampler.");
  return state;
}

}  // namespace covarium::metal
