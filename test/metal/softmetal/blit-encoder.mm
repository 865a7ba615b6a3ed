#include "blit-encoder.h"

#include <cstring>

#include "encoder.h"
#include "ledger.h"
#include "texture.h"

using softmetal::Call;

@interface SoftMetalBlitEncoder : NSObject <MTLBlitCommandEncoder> {
 @public
  SoftEncoder* state_;
}
@end

namespace softmetal {

id<MTLBlitCommandEncoder> blitEncoderOf(SoftMetalCommandBuffer* buffer, const Call& call) {
  SoftMetalBlitEncoder* encoder = [SoftMetalBlitEncoder alloc];
  encoder->state_ = new SoftEncoder("MTLBlitCommandEncoder", buffer, call);
  return [encoder autorelease];
}

}  // namespace softmetal

namespace {

// macOS requires offsets and sizes to be multiples of 4 bytes.
void checkRange(const SoftBuffer& buffer, const char* which, size_t offset, size_t size, const Call& call) {
  if (offset % 4 != 0 || size % 4 != 0)
    call.refuse("is given %s offset (%zu) and size (%zu), not both multiples of (4).", which, offset, size);
  if (size == 0 || offset > buffer.length || size > buffer.length - offset)
    call.refuse("is given (%zu) bytes from %s offset (%zu) of a buffer of (%zu).", size, which, offset, buffer.length);
}

// The arguments of a copy between a buffer and a texture: whole slices, because covarium copies nothing else.
struct Layers {
  NSUInteger slice, level;
  MTLOrigin origin;
  MTLSize size;
  size_t offset, rowBytes, imageBytes;
};

void recordCopy(SoftEncoder& encoder, id<MTLBuffer> buffer, id<MTLTexture> given, const Layers& layers, bool toTexture,
                const Call& call) {
  encoder.checkOpen(call);
  const SoftTexture& texture = softmetal::textureOf(given, call);
  const SoftBuffer& memory = softmetal::bufferOf(buffer, call);
  const bool isSolid = texture.type == MTLTextureType3D;
  if (layers.level != 0 || layers.origin.x != 0 || layers.origin.y != 0 || layers.origin.z != 0)
    call.refuse("is given a level or an origin that is not 0.");
  if (layers.size.width != texture.width || layers.size.height != texture.height ||
      layers.size.depth != texture.depth || layers.slice >= texture.slices())
    call.refuse("is given (%zu, %zu, %zu) texels of slice (%zu) of a texture of (%zu, %zu, %zu) and (%zu) slices.",
                size_t{layers.size.width}, size_t{layers.size.height}, size_t{layers.size.depth}, size_t{layers.slice},
                texture.width, texture.height, texture.depth, texture.slices());
  if (layers.offset % texture.texelBytes != 0 || layers.rowBytes % texture.texelBytes != 0)
    call.refuse("is given offset (%zu) and rows of (%zu) bytes, not multiples of (%zu).", layers.offset,
                layers.rowBytes, texture.texelBytes);
  if (layers.rowBytes != texture.width * texture.texelBytes || layers.imageBytes != layers.rowBytes * texture.height)
    call.refuse("is given rows of (%zu) and images of (%zu) bytes; the stand-in copies whole ones only.",
                layers.rowBytes, layers.imageBytes);
  const size_t bytes = layers.imageBytes * (isSolid ? texture.depth : 1);
  if (layers.offset > memory.length || bytes > memory.length - layers.offset)
    call.refuse("is given (%zu) bytes from offset (%zu) of a buffer of (%zu).", bytes, layers.offset, memory.length);
  encoder.commandBuffer().uses(buffer, call);
  encoder.commandBuffer().keeps(given);
  encoder.commandBuffer().pass().resources.insert(given);
  char* host = memory.bytes + layers.offset;
  char* texels = texture.bytes() + layers.slice * layers.imageBytes;
  encoder.commandBuffer().pass().commands.push_back([=] {
    softmetal::count("textureCopies");
    toTexture ? memcpy(texels, host, bytes) : memcpy(host, texels, bytes);
  });
}

}  // namespace

@implementation SoftMetalBlitEncoder
SOFT_ENCODER("MTLBlitCommandEncoder")
- (void)copyFromBuffer:(id<MTLBuffer>)sourceBuffer
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destinationBuffer
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size {
  const Call call{"MTLBlitCommandEncoder", _cmd};
  SoftEncoder& encoder = used(state_, call);
  encoder.checkOpen(call);
  const SoftBuffer& from = softmetal::bufferOf(sourceBuffer, call);
  const SoftBuffer& to = softmetal::bufferOf(destinationBuffer, call);
  checkRange(from, "source", sourceOffset, size, call);
  checkRange(to, "destination", destinationOffset, size, call);
  if (&from == &to && sourceOffset < destinationOffset + size && destinationOffset < sourceOffset + size)
    call.refuse("is given ranges of (%zu) bytes that overlap, at (%zu) and (%zu).", size_t{size}, size_t{sourceOffset},
                size_t{destinationOffset});
  encoder.commandBuffer().uses(sourceBuffer, call);
  encoder.commandBuffer().uses(destinationBuffer, call);
  const char* source = from.bytes + sourceOffset;
  char* destination = to.bytes + destinationOffset;
  encoder.commandBuffer().pass().commands.push_back([=] {
    softmetal::count("blitCopies");
    memcpy(destination, source, size);
  });
}
- (void)copyFromBuffer:(id<MTLBuffer>)sourceBuffer
           sourceOffset:(NSUInteger)sourceOffset
      sourceBytesPerRow:(NSUInteger)sourceBytesPerRow
    sourceBytesPerImage:(NSUInteger)sourceBytesPerImage
             sourceSize:(MTLSize)sourceSize
              toTexture:(id<MTLTexture>)destinationTexture
       destinationSlice:(NSUInteger)destinationSlice
       destinationLevel:(NSUInteger)destinationLevel
      destinationOrigin:(MTLOrigin)destinationOrigin {
  const Call call{"MTLBlitCommandEncoder", _cmd};
  const Layers layers = {destinationSlice, destinationLevel,  destinationOrigin,  sourceSize,
                         sourceOffset,     sourceBytesPerRow, sourceBytesPerImage};
  recordCopy(used(state_, call), sourceBuffer, destinationTexture, layers, true, call);
}
- (void)copyFromTexture:(id<MTLTexture>)sourceTexture
                 sourceSlice:(NSUInteger)sourceSlice
                 sourceLevel:(NSUInteger)sourceLevel
                sourceOrigin:(MTLOrigin)sourceOrigin
                  sourceSize:(MTLSize)sourceSize
                    toBuffer:(id<MTLBuffer>)destinationBuffer
           destinationOffset:(NSUInteger)destinationOffset
      destinationBytesPerRow:(NSUInteger)destinationBytesPerRow
    destinationBytesPerImage:(NSUInteger)destinationBytesPerImage {
  const Call call{"MTLBlitCommandEncoder", _cmd};
  const Layers layers = {sourceSlice,
                         sourceLevel,
                         sourceOrigin,
                         sourceSize,
                         destinationOffset,
                         destinationBytesPerRow,
                         destinationBytesPerImage};
  recordCopy(used(state_, call), destinationBuffer, sourceTexture, layers, false, call);
}
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
  const Call call{"MTLBlitCommandEncoder", _cmd};
  SoftEncoder& encoder = used(state_, call);
  encoder.checkOpen(call);
  const SoftBuffer& to = softmetal::bufferOf(buffer, call);
  checkRange(to, "range", range.location, range.length, call);
  encoder.commandBuffer().uses(buffer, call);
  char* bytes = to.bytes + range.location;
  const size_t length = range.length;
  encoder.commandBuffer().pass().commands.push_back([=] {
    softmetal::count("blitFills");
    memset(bytes, value, length);
  });
}
@end
