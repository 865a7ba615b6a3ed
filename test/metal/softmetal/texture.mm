#include "texture.h"

#include <cstring>
#include <memory>

#include "../../../objc/kernel.h"
#include "ledger.h"
#include "settings.h"

using softmetal::Call;

struct SoftTextureDescriptor : softmetal::Counted {
  SoftTextureDescriptor() : Counted("MTLTextureDescriptor") {}
  MTLTextureType type = MTLTextureType2D;
  MTLPixelFormat format = MTLPixelFormatInvalid;
  NSUInteger width = 1, height = 1, depth = 1, layers = 1;
  MTLStorageMode storage = MTLStorageModeShared;
  MTLTextureUsage usage = MTLTextureUsageShaderRead;
};

@implementation MTLTextureDescriptor
SOFT_LIFETIME("MTLTextureDescriptor")
- (instancetype)init {
  if ((self = [super init]) != nil) state_ = new SoftTextureDescriptor;
  return self;
}
SOFT_SETTING("MTLTextureDescriptor", MTLTextureType, textureType, setTextureType, type)
SOFT_SETTING("MTLTextureDescriptor", MTLPixelFormat, pixelFormat, setPixelFormat, format)
SOFT_SETTING("MTLTextureDescriptor", NSUInteger, width, setWidth, width)
SOFT_SETTING("MTLTextureDescriptor", NSUInteger, height, setHeight, height)
SOFT_SETTING("MTLTextureDescriptor", NSUInteger, depth, setDepth, depth)
SOFT_SETTING("MTLTextureDescriptor", NSUInteger, arrayLength, setArrayLength, layers)
SOFT_SETTING("MTLTextureDescriptor", MTLStorageMode, storageMode, setStorageMode, storage)
SOFT_SETTING("MTLTextureDescriptor", MTLTextureUsage, usage, setUsage, usage)
@end

namespace {

struct Format {
  uint32_t component, count;  // as msl/cpu/library/texel.h numbers them
};

// Apple numbers the formats of one size consecutively: unorm, two kinds that are not used, snorm, uint, sint, float.
Format formatOf(MTLPixelFormat format, const Call& call) {
  if (format == MTLPixelFormatBGRA8Unorm) return {0, 4};
  if (format == MTLPixelFormatDepth32Float) return {11, 1};
  struct Row {
    NSUInteger base;
    uint32_t bits, count;
  };
  static constexpr Row rows[] = {{10, 8, 1},   {30, 8, 2},  {70, 8, 4},   {20, 16, 1}, {60, 16, 2},
                                 {110, 16, 4}, {50, 32, 1}, {100, 32, 2}, {120, 32, 4}};
  for (const Row& row : rows) {
    const NSUInteger kind = format - row.base;
    if (format < row.base || kind > 5 || kind == 1) continue;
    if (row.bits == 8 && kind != 5) return {static_cast<uint32_t>(kind == 0 ? 0 : kind - 1), row.count};
    if (row.bits == 16) return {static_cast<uint32_t>(kind == 0 ? 4 : kind + 3), row.count};
    if (row.bits == 32 && kind >= 3) return {static_cast<uint32_t>(kind + 6), row.count};
  }
  call.refuse("is asked for pixel format (%zu), which the stand-in does not have.", size_t{format});
}

void check(const SoftTextureDescriptor& asked, const Call& call) {
  const bool isOneRow = asked.type == MTLTextureType1D || asked.type == MTLTextureType1DArray;
  const bool isArray = asked.type == MTLTextureType1DArray || asked.type == MTLTextureType2DArray || asked.type == 6;
  const bool isSolid = asked.type == MTLTextureType3D;
  const NSUInteger most = isSolid ? 2048 : 16384;
  if (asked.type == 9) call.refuse("is asked for a texture buffer, which needs a buffer.");
  if (asked.width == 0 || asked.height == 0 || asked.depth == 0 || asked.layers == 0 || asked.width > most ||
      asked.height > most || asked.depth > 2048 || asked.layers > 2048)
    call.refuse("is asked for a texture of (%zu, %zu, %zu) texels and (%zu) layers.", size_t{asked.width},
                size_t{asked.height}, size_t{asked.depth}, size_t{asked.layers});
  if ((isOneRow && asked.height != 1) || (!isSolid && asked.depth != 1) || (!isArray && asked.layers != 1))
    call.refuse("is asked for sizes (%zu, %zu, %zu, %zu) that texture type (%zu) does not have.", size_t{asked.width},
                size_t{asked.height}, size_t{asked.depth}, size_t{asked.layers}, size_t{asked.type});
  if (asked.storage != MTLStorageModePrivate)
    call.refuse("is asked for storage mode (%zu); textures are the GPU's own here (2).", size_t{asked.storage});
}

}  // namespace

softmetal::Bound SoftTexture::bound(bool readOnly) const {
  covarium::TextureHeader header = {};
  header.width = static_cast<uint32_t>(width);
  header.height = static_cast<uint32_t>(height);
  header.slices = static_cast<uint32_t>(type == MTLTextureType3D ? depth : slices());
  header.component = component;
  header.count = count;
  header.isBgra = format == MTLPixelFormatBGRA8Unorm ? 1 : 0;
  std::vector<uint8_t> bytes(sizeof header);
  memcpy(bytes.data(), &header, sizeof header);
  const size_t length = size_t{header.width} * header.height * header.slices * texelBytes;
  return {texels.get(), length, readOnly, std::move(bytes)};
}

namespace softmetal {

SoftTexture& textureOf(id<MTLTexture> texture, const Call& call) {
  if (texture == nil) call.refuse("is given a nil texture.");
  SoftTexture* state = static_cast<SoftMetalTexture*>(texture)->state_;
  if (state == nullptr) call.refuse("is given a texture that has been released.");
  return *state;
}

}  // namespace softmetal

@interface MTLTextureDescriptor (Software)
- (SoftTextureDescriptor*)asked;
@end
@implementation MTLTextureDescriptor (Software)
- (SoftTextureDescriptor*)asked {
  return state_;
}
@end

namespace softmetal {

id<MTLTexture> newTexture(id<MTLDevice> device, MTLTextureDescriptor* descriptor, const Call& call) {
  if (descriptor == nil) call.refuse("is given a nil descriptor.");
  const SoftTextureDescriptor& asked = used([descriptor asked], call);
  check(asked, call);
  const Format format = formatOf(asked.format, call);
  constexpr NSUInteger shaderAtomic = 0x20;
  if ((asked.usage & shaderAtomic) != 0 && number("system") < 14)
    call.refuse("is asked for atomics (%zu), which macOS (14) brought.", size_t{asked.usage});
  if (isTurn("allocationFailsAt") || isOn("deviceRemoved")) return nil;
  SoftMetalTexture* texture = [SoftMetalTexture alloc];
  auto* state = new SoftTexture;
  texture->state_ = state;
  state->device = Ref<id<MTLDevice>>(device);
  state->type = asked.type;
  state->format = asked.format;
  state->usage = asked.usage;
  state->width = asked.width, state->height = asked.height, state->depth = asked.depth, state->layers = asked.layers;
  state->component = format.component;
  state->count = format.count;
  state->texelBytes = format.count * (format.component <= 3 ? 1 : format.component <= 8 ? 2 : 4);
  const size_t bytes = state->width * state->height * state->depth * state->slices() * state->texelBytes;
  state->texels = std::make_unique<char[]>(bytes);
  memset(state->bytes(), 0xff, bytes);  // private memory has arbitrary contents at first
  count("textures");
  return texture;
}

}  // namespace softmetal

@implementation SoftMetalTexture
SOFT_LIFETIME("MTLTexture")
SOFT_LABEL("MTLTexture")
- (id<MTLDevice>)device {
  return used(state_, Call{"MTLTexture", _cmd}).device.get();
}
- (MTLStorageMode)storageMode {
  used(state_, Call{"MTLTexture", _cmd});
  return MTLStorageModePrivate;
}
- (MTLCPUCacheMode)cpuCacheMode {
  used(state_, Call{"MTLTexture", _cmd});
  return MTLCPUCacheModeDefaultCache;
}
- (MTLHazardTrackingMode)hazardTrackingMode {
  used(state_, Call{"MTLTexture", _cmd});
  return MTLHazardTrackingModeTracked;
}
- (MTLResourceOptions)resourceOptions {
  used(state_, Call{"MTLTexture", _cmd});
  return MTLResourceStorageModePrivate;
}
- (NSUInteger)allocatedSize {
  return used(state_, Call{"MTLTexture", _cmd}).bound(true).length;
}
- (MTLTextureType)textureType {
  return used(state_, Call{"MTLTexture", _cmd}).type;
}
- (MTLPixelFormat)pixelFormat {
  return used(state_, Call{"MTLTexture", _cmd}).format;
}
- (NSUInteger)width {
  return used(state_, Call{"MTLTexture", _cmd}).width;
}
- (NSUInteger)height {
  return used(state_, Call{"MTLTexture", _cmd}).height;
}
- (NSUInteger)depth {
  return used(state_, Call{"MTLTexture", _cmd}).depth;
}
- (NSUInteger)arrayLength {
  return used(state_, Call{"MTLTexture", _cmd}).layers;
}
- (MTLTextureUsage)usage {
  return used(state_, Call{"MTLTexture", _cmd}).usage;
}
@end
