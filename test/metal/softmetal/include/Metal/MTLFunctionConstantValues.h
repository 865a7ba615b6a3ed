#pragma once

#import <Metal/MTLArgument.h>

@interface MTLFunctionConstantValues : NSObject <NSCopying> {
 @private
  struct SoftConstantValues* state_;
}
- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index;
- (void)setConstantValue:(const void*)value type:(MTLDataType)type withName:(NSString*)name;
- (void)reset;
@end
