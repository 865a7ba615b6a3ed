#pragma once

#import <Metal/Metal.h>

#include <atomic>

#include "object.h"

struct SoftBuffer : softmetal::Counted {
  SoftBuffer() : Counted("MTLBuffer") {}
  ~SoftBuffer() override;

  softmetal::Ref<id<MTLDevice>> device;
  unsigned deviceIndex = 0;
  softmetal::Ref<NSString*> label;
  char* bytes = nullptr;
  size_t length = 0;
  MTLResourceOptions options = 0;
  bool borrowed = false;  // made by newBufferWithBytesNoCopy
  void (^deallocator)(void* pointer, NSUInteger length) = nil;
  std::atomic<int> inFlight{0};  // committed and unfinished command buffers that use it
};

@interface SoftMetalBuffer : NSObject <MTLBuffer> {
 @public
  SoftBuffer* state_;
}
@end

namespace softmetal {

// The state of a buffer that is handed to `call`; refuses nil and one that has been released.
SoftBuffer& bufferOf(id<MTLBuffer> buffer, const Call& call);

// Nil if a fault is set.
id<MTLBuffer> newBuffer(id<MTLDevice> device, size_t length, MTLResourceOptions options, const Call& call);
id<MTLBuffer> newBorrowedBuffer(id<MTLDevice> device, void* pointer, size_t length, MTLResourceOptions options,
                                void (^deallocator)(void*, NSUInteger), const Call& call);

// Bytes of all living buffers of a device that own their memory.
size_t allocatedBytes(unsigned deviceIndex);

// True if the address lies in a living buffer.
bool ownsAddress(const void* address);

}  // namespace softmetal
