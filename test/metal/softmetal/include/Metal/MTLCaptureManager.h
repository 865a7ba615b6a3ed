#pragma once

#import <Metal/MTLTypes.h>

MTL_EXTERN NSErrorDomain const MTLCaptureErrorDomain;

typedef NS_ENUM(NSInteger, MTLCaptureError) {
  MTLCaptureErrorNotSupported = 1,
  MTLCaptureErrorAlreadyCapturing,
  MTLCaptureErrorInvalidDescriptor,
};

typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
  MTLCaptureDestinationDeveloperTools = 1,
  MTLCaptureDestinationGPUTraceDocument,
};

@interface MTLCaptureDescriptor : NSObject <NSCopying> {
 @private
  struct SoftCaptureDescriptor* state_;
}
@property(nonatomic, strong) id captureObject;
@property(nonatomic, assign) MTLCaptureDestination destination;
@property(nonatomic, copy) NSURL* outputURL;
@end

@interface MTLCaptureManager : NSObject
+ (MTLCaptureManager*)sharedCaptureManager;
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(__autoreleasing NSError**)error;
- (void)stopCapture;
@property(readonly) BOOL isCapturing;
@end
