#pragma once

#import <Metal/MTLTypes.h>

typedef NS_ENUM(NSUInteger, MTLDataType) {
  MTLDataTypeNone = 0,
  MTLDataTypeStruct = 1,
  MTLDataTypeArray = 2,
  MTLDataTypeFloat = 3,
  MTLDataTypeFloat2 = 4,
  MTLDataTypeFloat3 = 5,
  MTLDataTypeFloat4 = 6,
  MTLDataTypeHalf = 16,
  MTLDataTypeHalf2 = 17,
  MTLDataTypeHalf3 = 18,
  MTLDataTypeHalf4 = 19,
  MTLDataTypeInt = 29,
  MTLDataTypeInt2 = 30,
  MTLDataTypeInt3 = 31,
  MTLDataTypeInt4 = 32,
  MTLDataTypeUInt = 33,
  MTLDataTypeUInt2 = 34,
  MTLDataTypeUInt3 = 35,
  MTLDataTypeUInt4 = 36,
  MTLDataTypeShort = 37,
  MTLDataTypeShort2 = 38,
  MTLDataTypeShort3 = 39,
  MTLDataTypeShort4 = 40,
  MTLDataTypeUShort = 41,
  MTLDataTypeUShort2 = 42,
  MTLDataTypeUShort3 = 43,
  MTLDataTypeUShort4 = 44,
  MTLDataTypeChar = 45,
  MTLDataTypeChar2 = 46,
  MTLDataTypeChar3 = 47,
  MTLDataTypeChar4 = 48,
  MTLDataTypeUChar = 49,
  MTLDataTypeUChar2 = 50,
  MTLDataTypeUChar3 = 51,
  MTLDataTypeUChar4 = 52,
  MTLDataTypeBool = 53,
  MTLDataTypeBool2 = 54,
  MTLDataTypeBool3 = 55,
  MTLDataTypeBool4 = 56,
  MTLDataTypeLong = 81,
  MTLDataTypeLong2 = 82,
  MTLDataTypeLong3 = 83,
  MTLDataTypeLong4 = 84,
  MTLDataTypeULong = 85,
  MTLDataTypeULong2 = 86,
  MTLDataTypeULong3 = 87,
  MTLDataTypeULong4 = 88,
};

@interface MTLType : NSObject
@end

@interface MTLStructMember : NSObject {
 @private
  struct SoftStructMember* state_;
}
@property(readonly) NSString* name;
@property(readonly) NSUInteger offset;
@end

@interface MTLStructType : MTLType {
 @private
  struct SoftStructType* state_;
}
@property(readonly) NSArray<MTLStructMember*>* members;
- (MTLStructMember*)memberByName:(NSString*)name;
@end

typedef NS_ENUM(NSInteger, MTLBindingType) {
  MTLBindingTypeBuffer = 0,
  MTLBindingTypeThreadgroupMemory = 1,
  MTLBindingTypeTexture = 2,
  MTLBindingTypeSampler = 3,
};

typedef NS_ENUM(NSUInteger, MTLBindingAccess) {
  MTLBindingAccessReadOnly = 0,
  MTLBindingAccessReadWrite = 1,
  MTLBindingAccessWriteOnly = 2,
};

@protocol MTLBinding <NSObject>
@property(readonly) NSString* name;
@property(readonly) MTLBindingType type;
@property(readonly) MTLBindingAccess access;
@property(readonly) NSUInteger index;
@property(readonly, getter=isUsed) BOOL used;
@property(readonly, getter=isArgument) BOOL argument;
@end

@protocol MTLBufferBinding <MTLBinding>
@property(readonly) NSUInteger bufferAlignment;
@property(readonly) NSUInteger bufferDataSize;
@property(readonly) MTLStructType* bufferStructType;
@end

@protocol MTLThreadgroupBinding <MTLBinding>
@property(readonly) NSUInteger threadgroupMemoryAlignment;
@property(readonly) NSUInteger threadgroupMemoryDataSize;
@end
