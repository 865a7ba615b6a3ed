// The data objects of Grand Central Dispatch, which are NSData on Apple's systems too.
#pragma once

#import <Foundation/Foundation.h>

typedef NSObject* dispatch_data_t;
typedef NSObject* dispatch_queue_t;
typedef void (^dispatch_block_t)(void);

// A copy of the bytes.
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT nil

static inline dispatch_data_t dispatch_data_create(const void* buffer, size_t size, dispatch_queue_t queue,
                                                   dispatch_block_t destructor) NS_RETURNS_RETAINED {
  (void)queue;
  (void)destructor;
  return [[NSData alloc] initWithBytes:buffer length:size];
}

static inline void dispatch_release(NSObject* object) { [object release]; }
