// Queues as in Metal: asynchronous, in order, limited; and the faults of a GPU. Prints what is wrong; ends with 0 if
// nothing is. With the argument `race`, it makes a mistake that only the thread sanitizer finds.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "checks.h"
#include "fixture.h"

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Autoreleased: a command buffer that fills `out`.
id<MTLCommandBuffer> filling(Fixture& fixture, id<MTLBuffer> out) {
  id<MTLCommandBuffer> buffer = [fixture.queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = fixture.encoderOver(buffer, out, 4);
  [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder endEncoding];
  return buffer;
}

void asynchronous() {
  Fixture fixture;
  id<MTLBuffer> out = fixture.newFloats({0, 0, 0, 0});
  softmetal_set("delayMs", "50");
  @autoreleasepool {
    __block std::atomic<int> calls{0};
    const double begin = now();
    id<MTLCommandBuffer> buffer = filling(fixture, out);
    check([buffer status] == MTLCommandBufferStatusNotEnqueued, "not enqueued");
    std::atomic<int>* counted = &calls;
    [buffer addScheduledHandler:^(id<MTLCommandBuffer>) {
      counted->fetch_add(1);
    }];
    [buffer addCompletedHandler:^(id<MTLCommandBuffer> done) {
      if ([done status] == MTLCommandBufferStatusCompleted) counted->fetch_add(10);
    }];
    [buffer commit];
    check(now() - begin < 0.04 && [buffer status] < MTLCommandBufferStatusCompleted, "commit returns at once");
    while ([buffer status] < MTLCommandBufferStatusCompleted) std::this_thread::yield();
    check(now() - begin >= 0.05 && [buffer GPUEndTime] > 0, "the work takes its time, and can be polled");
    [buffer waitUntilCompleted];
    for (int i = 0; i < 1000 && calls != 11; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    check(calls == 11, "both handlers are called");
    check(static_cast<float*>([out contents])[0] != 0, "and the work is done");
  }
  softmetal_reset();
  [out release];
}

void inOrder() {
  Fixture fixture;
  id<MTLBuffer> out = fixture.newFloats({0, 0, 0, 0});
  std::mutex mutex;
  std::vector<int> order;
  std::mutex* lock = &mutex;
  std::vector<int>* seen = &order;
  @autoreleasepool {
    id<MTLCommandBuffer> first = filling(fixture, out), last = nil;
    [first enqueue];
    [first addCompletedHandler:^(id<MTLCommandBuffer>) {
      std::lock_guard<std::mutex> guard(*lock);
      seen->push_back(0);
    }];
    for (int i = 1; i < 20; ++i) {
      last = filling(fixture, out);
      [last addCompletedHandler:^(id<MTLCommandBuffer>) {
        std::lock_guard<std::mutex> guard(*lock);
        seen->push_back(i);
      }];
      [last commit];
    }
    [first commit];
    [last waitUntilCompleted];
  }
  softmetal_ledger([](const char*, int64_t, void*) {}, nullptr);  // waits for the handlers
  check(order.size() == 20, "every handler is called");
  for (int i = 0; i < static_cast<int>(order.size()); ++i) check(order[static_cast<size_t>(i)] == i, "in order");
  [out release];
}

// Commits what `record` records, side by side: it waits behind a command buffer that runs until all are committed.
template <typename Record>
void commitTogether(Fixture& fixture, id<MTLBuffer> slow, Record record) {
  std::atomic<bool> committed{false};
  std::atomic<bool>* goesOn = &committed;
  softmetal_reset();
  softmetal_set("sideBySide", "1");
  @autoreleasepool {
    id<MTLCommandBuffer> first = filling(fixture, slow);
    [first addScheduledHandler:^(id<MTLCommandBuffer>) {
      while (!goesOn->load()) std::this_thread::yield();
    }];
    [first commit];
    // The first one must begin alone, before the others are committed.
    while ([first status] < MTLCommandBufferStatusScheduled) std::this_thread::yield();
    id<MTLCommandBuffer> last = record();
    committed = true;
    [last waitUntilCompleted];
  }
}

int64_t passesSideBySide() {
  int64_t passes = 0;
  softmetal_counters(
      [](const char* name, int64_t value, void* found) {
        if (std::string(name) == "passesSideBySide") *static_cast<int64_t*>(found) = value;
      },
      &passes);
  return passes;
}

// Command buffers that share no buffer; the last one waits for what it reads.
void sideBySide() {
  Fixture fixture;
  id<MTLBuffer> slow = fixture.newFloats({0, 0, 0, 0}), one = fixture.newFloats({0, 0, 0, 0}),
                two = fixture.newFloats({0, 0, 0, 0}), copy = fixture.newFloats({0, 0, 0, 0});
  commitTogether(fixture, slow, [&] {
    [filling(fixture, one) commit];
    [filling(fixture, two) commit];
    id<MTLCommandBuffer> last = [fixture.queue commandBuffer];
    id<MTLBlitCommandEncoder> blit = [last blitCommandEncoder];
    [blit copyFromBuffer:two sourceOffset:0 toBuffer:copy destinationOffset:0 size:16];
    [blit endEncoding];
    [last commit];
    return last;
  });
  check(passesSideBySide() == 2, "two encoders run side by side");
  const auto* copied = static_cast<float*>([copy contents]);
  check(copied[0] != 0 && copied[0] == static_cast<float*>([one contents])[0], "and the copy waits for what it reads");
  softmetal_reset();
  for (id<MTLBuffer> each : {slow, one, two, copy}) [each release];
}

// Two buffers over the same memory: Metal tracks hazards by buffer, so nothing orders the writes of two encoders.
void race() {
  Fixture fixture;
  const size_t bytes = size_t{1} << 18, count = bytes / sizeof(float);
  void* memory = aligned_alloc(1 << 14, bytes);
  id<MTLBuffer> slow = fixture.newFloats({0, 0, 0, 0});
  id<MTLBuffer> buffers[2];
  for (id<MTLBuffer>& each : buffers)
    each = [fixture.device newBufferWithBytesNoCopy:memory
                                             length:bytes
                                            options:MTLResourceStorageModeShared
                                        deallocator:nil];
  commitTogether(fixture, slow, [&] {
    id<MTLCommandBuffer> last = nil;
    for (id<MTLBuffer> each : buffers) {
      last = [fixture.queue commandBuffer];
      id<MTLComputeCommandEncoder> encoder = fixture.encoderOver(last, each, static_cast<uint32_t>(count));
      [encoder dispatchThreads:MTLSizeMake(count / 4, 1, 1) threadsPerThreadgroup:MTLSizeMake(256, 1, 1)];
      [encoder endEncoding];
      [last commit];
    }
    return last;
  });
  check(passesSideBySide() == 2, "the two writers run side by side");
  softmetal_reset();
  for (id<MTLBuffer> each : {slow, buffers[0], buffers[1]}) [each release];
  free(memory);
}

// More commits than command buffers may exist, from two threads.
void limited() {
  Fixture fixture;
  id<MTLBuffer> out = fixture.newFloats({0, 0, 0, 0});
  const auto commits = [&] {
    for (int i = 0; i < 500; ++i) {
      @autoreleasepool {
        [filling(fixture, out) commit];
      }
    }
  };
  std::thread other(commits);
  commits();
  other.join();
  [out release];
}

void dropped() {
  id<MTLBuffer> out = nil;
  softmetal_set("delayMs", "20");
  @autoreleasepool {
    Fixture fixture;
    out = fixture.newFloats({0, 0, 0, 0});
    filling(fixture, out);  // never committed
    [filling(fixture, out) commit];
    [out release];
  }  // only work in flight still holds references
  softmetal_reset();
}

void faults() {
  Fixture fixture;
  id<MTLBuffer> out = fixture.newFloats({0, 0, 0, 0});
  for (const int code : {1, 2, 3, 4, 7, 8, 9, 10, 11, 12}) {
    @autoreleasepool {
      softmetal_set("commandBufferError", std::to_string(code).c_str());
      softmetal_set("commandBufferErrorAt", "2");
      id<MTLCommandBuffer> good = filling(fixture, out), bad = filling(fixture, out), next = filling(fixture, out);
      [good commit];
      [bad commit];
      [next commit];
      [next waitUntilCompleted];
      check([good error] == nil && [next error] == nil, "the others succeed");
      check([bad status] == MTLCommandBufferStatusError && [[bad error] code] == code &&
                [[[bad error] domain] isEqual:MTLCommandBufferErrorDomain] &&
                [[[bad error] localizedDescription] length] > 0,
            "the second fails by its code");
    }
  }
  softmetal_set("allocationFailsAt", "2");
  id<MTLBuffer> one = fixture.newFloats({1}), two = fixture.newFloats({1}), three = fixture.newFloats({1});
  check(one != nil && two == nil && three != nil, "the second allocation fails");
  [one release];
  [three release];
  softmetal_set("allocationFailsAbove", "8");
  check(fixture.newFloats({1, 2, 3}) == nil, "large allocations fail");
  softmetal_set("compileFails", "1");
  softmetal_set("pipelineFails", "add_row");
  softmetal_set("missingFunction", "fill_normal");
  softmetal_set("queueFails", "1");
  softmetal_set("commandBufferFails", "1");
  @autoreleasepool {
    NSError* error = nil;
    check([fixture.device newLibraryWithSource:kernelText() options:nil error:&error] == nil &&
              [error code] == MTLLibraryErrorCompileFailure &&
              [[error localizedDescription] rangeOfString:@"error: use of undeclared"].length > 0,
          "a compiler's complaint");
    check(fixture.newPipeline(@"add_row") == nil, "a pipeline fails");
    check([fixture.library newFunctionWithName:@"fill_normal"] == nil, "a function is missing");
    check([fixture.device newCommandQueue] == nil && [fixture.queue commandBuffer] == nil, "no queue, no buffer");
  }
  softmetal_reset();
  softmetal_set("deviceRemoved", "1");
  @autoreleasepool {
    id<MTLCommandBuffer> late = filling(fixture, out);
    [late commit];
    [late waitUntilCompleted];
    check([[late error] code] == MTLCommandBufferErrorDeviceRemoved, "a removed device fails its work");
    check(MTLCreateSystemDefaultDevice() == nil && fixture.newFloats({1}) == nil, "and gives nothing");
  }
  softmetal_reset();
  [out release];
}

void devices() {
  softmetal_set("secondDevice", "1");
  NSArray<id<MTLDevice>>* all = MTLCopyAllDevices();
  check([all count] == 2 && [[all objectAtIndex:1] isRemovable] &&
            [[all objectAtIndex:0] registryID] != [[all objectAtIndex:1] registryID],
        "two devices");
  [all release];
  softmetal_set("noDevice", "1");
  check(MTLCreateSystemDefaultDevice() == nil, "no device");
  softmetal_reset();
}

void capture() {
  Fixture fixture;
  @autoreleasepool {
    MTLCaptureManager* manager = [MTLCaptureManager sharedCaptureManager];
    NSString* path = [NSTemporaryDirectory() stringByAppendingPathComponent:@"softmetal.gputrace"];
    [[NSFileManager defaultManager] removeItemAtPath:path error:nullptr];
    MTLCaptureDescriptor* descriptor = [[[MTLCaptureDescriptor alloc] init] autorelease];
    [descriptor setCaptureObject:fixture.device];
    [descriptor setDestination:MTLCaptureDestinationGPUTraceDocument];
    [descriptor setOutputURL:[NSURL fileURLWithPath:path]];
    NSError* error = nil;
    check(![manager startCaptureWithDescriptor:descriptor error:&error] && [error code] == MTLCaptureErrorNotSupported,
          "a capture must be allowed");
    setenv("MTL_CAPTURE_ENABLED", "1", 1);
    check([manager startCaptureWithDescriptor:descriptor error:&error] && [manager isCapturing], "a capture starts");
    [manager stopCapture];
    check([[NSFileManager defaultManager] fileExistsAtPath:path] && ![manager isCapturing], "and leaves a file");
    check(![manager startCaptureWithDescriptor:descriptor error:&error], "that it does not write over");
    [[NSFileManager defaultManager] removeItemAtPath:path error:nullptr];
  }
}

}  // namespace

int main(int count, char** words) {
  if (count > 1 && strcmp(words[1], "race") == 0) {
    @autoreleasepool {
      race();
    }
    checkNothingLives();
    return failures() == 0 ? 0 : 1;
  }
  @autoreleasepool {
    asynchronous();
    inOrder();
    sideBySide();
    limited();
    dropped();
    faults();
    devices();
    capture();
  }
  checkNothingLives();
  return failures() == 0 ? 0 : 1;
}
