#include "capture.h"

#include <atomic>
#include <cstdlib>

#include "../failure.h"
#include "owned.h"
#include "text.h"

namespace covarium::metal {

bool startCapture(id<MTLCommandQueue> queue) {
  const char* path = getenv("COVARIUM_CAPTURE");
  if (path == nullptr || *path == 0) return false;
  // The file exists from the first capture on, and a second capture is refused.
  static std::atomic<bool> taken{false};
  MTLCaptureManager* manager = [MTLCaptureManager sharedCaptureManager];
  if (taken || [manager isCapturing]) return false;
  if (![manager supportsDestination:MTLCaptureDestinationGPUTraceDocument])
    throw Failure("ERR_UNSUPPORTED",
                  "A capture to (" + std::string(path) + ") can't be had: MTL_CAPTURE_ENABLED=1 must be set.");
  NSString* name = textOf(path);
  if (name == nil) throw Failure("ERR_INVALID_ARGUMENT", "COVARIUM_CAPTURE is not a path in UTF-8.");
  const auto descriptor = Owned<MTLCaptureDescriptor*>::adopt([[MTLCaptureDescriptor alloc] init]);
  [descriptor.get() setCaptureObject:queue];
  [descriptor.get() setDestination:MTLCaptureDestinationGPUTraceDocument];
  [descriptor.get() setOutputURL:[NSURL fileURLWithPath:name]];
  NSError* error = nil;
  if (![manager startCaptureWithDescriptor:descriptor.get() error:&error])
    throw Failure("ERR_UNSUPPORTED", "A capture to (" + std::string(path) + ") can't be had: " + reasonOf(error));
  taken = true;
  return true;
}

void stopCapture() { [[MTLCaptureManager sharedCaptureManager] stopCapture]; }

}  // namespace covarium::metal
