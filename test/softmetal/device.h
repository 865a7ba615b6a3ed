#pragma once

#import <Metal/Metal.h>

#include "object.h"

// A device is its number: each MTLCreateSystemDefaultDevice gives an object of its own, and those with the same
// registryID are the same machine.
struct SoftDevice : softmetal::Counted {
  explicit SoftDevice(unsigned index) : Counted("MTLDevice"), index(index) {}
  const unsigned index;  // 0: the default
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
