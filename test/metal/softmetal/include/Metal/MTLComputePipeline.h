#pragma once

#import <Metal/MTLArgument.h>
#import <Metal/MTLLibrary.h>

typedef NS_OPTIONS(NSUInteger, MTLPipelineOption) {
  MTLPipelineOptionNone = 0,
  MTLPipelineOptionArgumentInfo = 1 << 0,
  MTLPipelineOptionBindingInfo = 1 << 0,
  MTLPipelineOptionBufferTypeInfo = 1 << 1,
};

@interface MTLComputePipelineReflection : NSObject {
 @private
  struct SoftReflection* state_;
}
@property(readonly) NSArray<id<MTLBinding>>* bindings;
@end

typedef __autoreleasing MTLComputePipelineReflection* MTLAutoreleasedComputePipelineReflection;

@interface MTLComputePipelineDescriptor : NSObject <NSCopying> {
 @private
  struct SoftPipelineDescriptor* state_;
}
@property(copy, nonatomic) NSString* label;
@property(readwrite, nonatomic, strong) id<MTLFunction> computeFunction;
@property(readwrite, nonatomic) BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
@property(readwrite, nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
- (void)reset;
@end

@protocol MTLComputePipelineState <NSObject>
@property(readonly) NSString* label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger threadExecutionWidth;
@property(readonly) NSUInteger staticThreadgroupMemoryLength;
@end
