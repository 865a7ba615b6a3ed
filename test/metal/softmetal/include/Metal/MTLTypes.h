#pragma once

#import <Foundation/Foundation.h>

// CoreFoundation's type, which GNUstep's Foundation does not declare.
typedef double CFTimeInterval;

#ifndef MTL_EXTERN
#define MTL_EXTERN extern "C" __attribute__((visibility("default")))
#endif

typedef struct {
  NSUInteger x, y, z;
} MTLOrigin;

typedef struct {
  NSUInteger width, height, depth;
} MTLSize;

static inline MTLOrigin MTLOriginMake(NSUInteger x, NSUInteger y, NSUInteger z) { return MTLOrigin{x, y, z}; }
static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
  return MTLSize{width, height, depth};
}
