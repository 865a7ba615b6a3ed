#pragma once

#import <Metal/Metal.h>

#include "object.h"

// A device is identified by its number: each MTLCreateSystemDefaultDevice returns a new object, and objects with the
// same number are the same GPU. Each change of a setting changes the registryID, because a GPU that behaves
// differently is another GPU.
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
