#pragma once

#import <Metal/MTLTypes.h>

@protocol MTLDevice;

typedef NS_ENUM(NSUInteger, MTLSamplerMinMagFilter) {
  MTLSamplerMinMagFilterNearest = 0,
  MTLSamplerMinMagFilterLinear = 1,
};

typedef NS_ENUM(NSUInteger, MTLSamplerAddressMode) {
  MTLSamplerAddressModeClampToEdge = 0,
  MTLSamplerAddressModeMirrorClampToEdge = 1,
  MTLSamplerAddressModeRepeat = 2,
  MTLSamplerAddressModeMirrorRepeat = 3,
  MTLSamplerAddressModeClampToZero = 4,
  MTLSamplerAddressModeClampToBorderColor = 5,
};

typedef NS_ENUM(NSUInteger, MTLSamplerBorderColor) {
  MTLSamplerBorderColorTransparentBlack = 0,
  MTLSamplerBorderColorOpaqueBlack = 1,
  MTLSamplerBorderColorOpaqueWhite = 2,
};

typedef NS_ENUM(NSUInteger, MTLCompareFunction) {
  MTLCompareFunctionNever = 0,
  MTLCompareFunctionLess = 1,
  MTLCompareFunctionEqual = 2,
  MTLCompareFunctionLessEqual = 3,
  MTLCompareFunctionGreater = 4,
  MTLCompareFunctionNotEqual = 5,
  MTLCompareFunctionGreaterEqual = 6,
  MTLCompareFunctionAlways = 7,
};

@interface MTLSamplerDescriptor : NSObject {
 @private
  struct SoftSamplerDescriptor* state_;
}
@property(nonatomic) MTLSamplerMinMagFilter minFilter;
@property(nonatomic) MTLSamplerMinMagFilter magFilter;
@property(nonatomic) MTLSamplerAddressMode sAddressMode;
@property(nonatomic) MTLSamplerAddressMode tAddressMode;
@property(nonatomic) MTLSamplerAddressMode rAddressMode;
@property(nonatomic) MTLSamplerBorderColor borderColor;
@property(nonatomic) BOOL normalizedCoordinates;
@property(nonatomic) MTLCompareFunction compareFunction;
@end

@protocol MTLSamplerState <NSObject>
@property(readonly) NSString* label;
@property(readonly) id<MTLDevice> device;
@end
