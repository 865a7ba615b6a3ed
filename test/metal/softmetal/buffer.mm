#include "buffer.h"

#include <Block.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "device.h"
#include "ledger.h"
#include "settings.h"

using softmetal::Call;

namespace {

// Living buffers by address.
struct Places {
  std::mutex mutex;
  std::multimap<const char*, const SoftBuffer*> byAddress;
};

Places& places() {
  static Places* one = new Places;
  return *one;
}

void enter(const SoftBuffer& buffer) {
  std::lock_guard<std::mutex> lock(places().mutex);
  places().byAddress.emplace(buffer.bytes, &buffer);
}

void leave(const SoftBuffer& buffer) {
  std::lock_guard<std::mutex> lock(places().mutex);
  auto [entry, end] = places().byAddress.equal_range(buffer.bytes);
  while (entry != end && entry->second != &buffer) ++entry;
  if (entry != end) places().byAddress.erase(entry);
}

size_t pageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

bool fails(size_t length) {
  const int64_t limit = softmetal::number("allocationFailsAbove");
  return softmetal::isTurn("allocationFailsAt") || softmetal::isOn("deviceRemoved") ||
         (limit != 0 && length > static_cast<size_t>(limit));
}

void checkLength(id<MTLDevice> device, size_t length, MTLResourceOptions options, const Call& call) {
  if (length == 0) call.refuse("is asked for a buffer of (0) bytes.");
  if (length > [device maxBufferLength])
    call.refuse("is asked for (%zu) bytes, more than maxBufferLength (%zu).", length, size_t{[device maxBufferLength]});
  if ((options >> 4 & 0xf) != MTLStorageModeShared)
    call.refuse("is asked for storage mode (%zu); the stand-in has shared storage (0) only.",
                size_t{options >> 4 & 0xf});
  if ((options & 0xf) != MTLCPUCacheModeDefaultCache)
    call.refuse("is asked for write-combined memory, which the host would read at a crawl.");
  if ((options >> 8 & 0x3) == MTLHazardTrackingModeUntracked)
    call.refuse("is asked for memory whose hazards nobody tracks; covarium has no fences.");
}

SoftMetalBuffer* made(id<MTLDevice> device, char* bytes, size_t length, MTLResourceOptions options, bool borrowed) {
  SoftMetalBuffer* buffer = [SoftMetalBuffer alloc];
  SoftBuffer* state = new SoftBuffer;
  state->device = softmetal::Ref<id<MTLDevice>>(device);
  state->deviceIndex = softmetal::deviceOf(device, Call { "MTLDevice", @selector(newBufferWithLength:options:) }).index;
  state->bytes = bytes;
  state->length = length;
  state->options = options;
  state->borrowed = borrowed;
  buffer->state_ = state;
  enter(*state);
  softmetal::count("buffers");
  if (!borrowed) softmetal::countLargest("largestAllocation", static_cast<int64_t>(length));
  return buffer;
}

}  // namespace

SoftBuffer::~SoftBuffer() {
  const Call call { "MTLBuffer", @selector(release) };
  if (inFlight > 0)
    call.refuse("is sent while (%d) unfinished command buffers use the buffer without retaining it.", inFlight.load());
  leave(*this);
  if (deallocator != nil) {
    deallocator(bytes, length);
    Block_release(deallocator);
  }
  if (!borrowed) free(bytes);
}

namespace softmetal {

SoftBuffer& bufferOf(id<MTLBuffer> buffer, const Call& call) {
  if (buffer == nil) call.refuse("is given a nil buffer.");
  SoftBuffer* state = static_cast<SoftMetalBuffer*>(buffer)->state_;
  if (state == nullptr) call.refuse("is given a buffer that has been released.");
  return *state;
}

id<MTLBuffer> newBuffer(id<MTLDevice> device, size_t length, MTLResourceOptions options, const Call& call) {
  checkLength(device, length, options, call);
  if (fails(length)) return nil;
  // Of the exact length, so that the address sanitizer sees what lies beyond.
  void* bytes = nullptr;
  if (posix_memalign(&bytes, pageBytes(), length) != 0) return nil;
  // Apple's new buffers are zero, but a program that relies on it is wrong as soon as memory is reused.
  if (isOn("poison")) memset(bytes, 0xff, length);
  return made(device, static_cast<char*>(bytes), length, options, false);
}

id<MTLBuffer> newBorrowedBuffer(id<MTLDevice> device, void* pointer, size_t length, MTLResourceOptions options,
                                void (^deallocator)(void*, NSUInteger), const Call& call) {
  checkLength(device, length, options, call);
  if (reinterpret_cast<uintptr_t>(pointer) % pageBytes() != 0)
    call.refuse("is given an address (%p) that is not a multiple of the page size (%zu).", pointer, pageBytes());
  if (length % pageBytes() != 0)
    call.refuse("is given a length (%zu) that is not a multiple of the page size (%zu).", length, pageBytes());
  if (fails(length)) return nil;
  SoftMetalBuffer* buffer = made(device, static_cast<char*>(pointer), length, options, true);
  if (deallocator != nil) buffer->state_->deallocator = Block_copy(deallocator);
  return buffer;
}

size_t allocatedBytes(unsigned deviceIndex) {
  std::lock_guard<std::mutex> lock(places().mutex);
  size_t bytes = 0;
  for (const auto& [address, buffer] : places().byAddress)
    if (buffer->deviceIndex == deviceIndex && !buffer->borrowed) bytes += buffer->length;
  return bytes;
}

bool ownsAddress(const void* address) {
  const char* at = static_cast<const char*>(address);
  std::lock_guard<std::mutex> lock(places().mutex);
  for (const auto& [begin, buffer] : places().byAddress)
    if (begin <= at && at < begin + buffer->length) return true;
  return false;
}

}  // namespace softmetal

@implementation SoftMetalBuffer
SOFT_LIFETIME("MTLBuffer")
SOFT_LABEL("MTLBuffer")
- (void*)contents {
  const Call call{"MTLBuffer", _cmd};
  const SoftBuffer& buffer = used(state_, call);
  if (buffer.inFlight > 0 && softmetal::isOn("checkContents"))
    call.refuse("is called while (%d) committed command buffers that use the buffer are unfinished.",
                buffer.inFlight.load());
  return buffer.bytes;
}
- (NSUInteger)length {
  return used(state_, Call{"MTLBuffer", _cmd}).length;
}
- (NSUInteger)allocatedSize {
  return used(state_, Call{"MTLBuffer", _cmd}).length;
}
- (id<MTLDevice>)device {
  return used(state_, Call{"MTLBuffer", _cmd}).device.get();
}
- (MTLResourceOptions)resourceOptions {
  return used(state_, Call{"MTLBuffer", _cmd}).options;
}
- (MTLStorageMode)storageMode {
  return static_cast<MTLStorageMode>(used(state_, Call{"MTLBuffer", _cmd}).options >> 4 & 0xf);
}
- (MTLCPUCacheMode)cpuCacheMode {
  return static_cast<MTLCPUCacheMode>(used(state_, Call{"MTLBuffer", _cmd}).options & 0xf);
}
- (MTLHazardTrackingMode)hazardTrackingMode {
  return static_cast<MTLHazardTrackingMode>(used(state_, Call{"MTLBuffer", _cmd}).options >> 8 & 0x3);
}
@end
