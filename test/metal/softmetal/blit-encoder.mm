#include "blit-encoder.h"

#include <cstring>

#include "encoder.h"
#include "ledger.h"

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

// macOS wants words.
void checkRange(const SoftBuffer& buffer, const char* which, size_t offset, size_t size, const Call& call) {
  if (offset % 4 != 0 || size % 4 != 0)
    call.refuse("is given %s offset (%zu) and size (%zu), not both multiples of (4).", which, offset, size);
  if (size == 0 || offset > buffer.length || size > buffer.length - offset)
    call.refuse("is given (%zu) bytes from %s offset (%zu) of a buffer of (%zu).", size, which, offset, buffer.length);
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
  encoder.commandBuffer().commands.push_back([=] {
    softmetal::count("blitCopies");
    memcpy(destination, source, size);
  });
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
  encoder.commandBuffer().commands.push_back([=] {
    softmetal::count("blitFills");
    memset(bytes, value, length);
  });
}
@end
