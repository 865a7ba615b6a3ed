#pragma once

#import <Metal/Metal.h>

#include "object.h"

// A device is its number: each MTLCreateSystemDefaultDevice gives an object of its own, and those with the same number
// are the same machine. Its registryID is another after each change of a setting: a GPU that does otherwise is another.
struct SoftDevice : softmetal::Counted {
  SoftDevice(unsigned index, uint64_t registryID) : Counted("MTLDevice"), index(index), registryID(registryID) {}
  const unsigned index;  // 0: the default
  const uint64_t registryID;
};

@interface SoftMetalDevice : NSObject <MTLDevice> {
 @public
  SoftDevice* state_;
}
@end

namespace softmetal {

// Refuses nil and one that has been released.
SoftDevice& deviceOf(id<MTLDevice> device, const Call& call);

// Refuses an object of another device.
void checkSameDevice(id<MTLDevice> device, id<MTLDevice> other, const char* what, const Call& call);

}  // namespace softmetal
