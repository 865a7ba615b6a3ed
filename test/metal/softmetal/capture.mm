#import <Metal/Metal.h>

#include <atomic>

#include "ledger.h"
#include "object.h"

using softmetal::Call;

NSErrorDomain const MTLCaptureErrorDomain = @"MTLCaptureError";

struct SoftCaptureDescriptor : softmetal::Counted {
  SoftCaptureDescriptor() : Counted("MTLCaptureDescriptor") {}
  softmetal::Ref<id> object;
  softmetal::Ref<NSURL*> url;
  MTLCaptureDestination destination = MTLCaptureDestinationDeveloperTools;
};

namespace {

std::atomic<bool> capturing{false};

BOOL fail(NSError** error, MTLCaptureError code, const char* why) {
  if (error != nullptr) *error = softmetal::errorOf(MTLCaptureErrorDomain, code, why);
  return NO;
}

}  // namespace

@implementation MTLCaptureDescriptor
SOFT_LIFETIME("MTLCaptureDescriptor")
- (instancetype)init {
  if ((self = [super init]) != nil) state_ = new SoftCaptureDescriptor;
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  const SoftCaptureDescriptor& from = used(state_, Call{"MTLCaptureDescriptor", _cmd});
  MTLCaptureDescriptor* copy = [[MTLCaptureDescriptor allocWithZone:zone] init];
  copy->state_->object = from.object;
  copy->state_->url = from.url;
  copy->state_->destination = from.destination;
  return copy;
}
- (id)captureObject {
  return used(state_, Call{"MTLCaptureDescriptor", _cmd}).object.get();
}
- (void)setCaptureObject:(id)object {
  used(state_, Call{"MTLCaptureDescriptor", _cmd}).object = softmetal::Ref<id>(object);
}
- (MTLCaptureDestination)destination {
  return used(state_, Call{"MTLCaptureDescriptor", _cmd}).destination;
}
- (void)setDestination:(MTLCaptureDestination)destination {
  used(state_, Call{"MTLCaptureDescriptor", _cmd}).destination = destination;
}
- (NSURL*)outputURL {
  return used(state_, Call{"MTLCaptureDescriptor", _cmd}).url.get();
}
- (void)setOutputURL:(NSURL*)url {
  used(state_, Call{"MTLCaptureDescriptor", _cmd}).url = softmetal::Ref<NSURL*>::adopt([url copy]);
}
@end

@implementation MTLCaptureManager
+ (MTLCaptureManager*)sharedCaptureManager {
  static MTLCaptureManager* const shared = [[MTLCaptureManager alloc] init];
  return shared;
}
// As on a Mac with MTL_CAPTURE_ENABLED=1 and without Xcode.
- (BOOL)supportsDestination:(MTLCaptureDestination)destination {
  return destination == MTLCaptureDestinationGPUTraceDocument && getenv("MTL_CAPTURE_ENABLED") != nullptr;
}
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(__autoreleasing NSError**)error {
  const Call call{"MTLCaptureManager", _cmd};
  if (descriptor == nil) call.refuse("is given a nil descriptor.");
  if (![self supportsDestination:[descriptor destination]])
    return fail(error, MTLCaptureErrorNotSupported, "Capturing is not supported.");
  if ([descriptor captureObject] == nil || [descriptor outputURL] == nil)
    return fail(error, MTLCaptureErrorInvalidDescriptor, "The descriptor has no object or no URL.");
  NSString* path = [[descriptor outputURL] path];
  if ([[NSFileManager defaultManager] fileExistsAtPath:path])
    return fail(error, MTLCaptureErrorInvalidDescriptor, "Output URL already exists.");
  if (capturing.exchange(true)) return fail(error, MTLCaptureErrorAlreadyCapturing, "Already capturing.");
  const char text[] = "software Metal trace\n";
  [[NSFileManager defaultManager] createFileAtPath:path
                                          contents:[NSData dataWithBytes:text length:sizeof text - 1]
                                        attributes:nil];
  softmetal::count("captures");
  return YES;
}
- (void)stopCapture {
  const Call call{"MTLCaptureManager", _cmd};
  if (!capturing.exchange(false)) call.refuse("is called while nothing is captured.");
}
- (BOOL)isCapturing {
  return capturing;
}
@end
