// A strict stand-in for NVIDIA's driver, libcuda.so.1, with the functions that objc/cuda calls, for a machine without
// a GPU. It runs PTX, of the addon and of user kernels, by ptx.h.
//
// Nothing runs before someone waits for it, and then only what the wait needs, so that a missing wait gives wrong
// numbers. An address of the GPU is in a page that the host can't touch. Its data have other pages, which only
// commands get, and end at the end of a page. Resources that are not released are reported at the end of the process.
//
//   SOFTCUDA_GPUS=2           as many GPUs (1)
//   SOFTCUDA_MIG=1            they are parts of GPUs
//   SOFTCUDA_INTEGRATED=1     they have the host's memory, of which they reach what is pinned
//   SOFTCUDA_MAJOR=6,9        the compute capability of the first GPU is 6.0, of the others 9.0 (9)
//   SOFTCUDA_FLOAT64=64       float32 is this many times as fast as float64 (2)
//   SOFTCUDA_VERSION=11000    the version of CUDA that the driver serves (13000)
//   SOFTCUDA_FAULT=name,code,n   the n-th call of that function, or each (0), gives this error; 700 to 799 break the
//                                context
//   SOFTCUDA_PINNED=1000000   so many bytes of the host can be pinned at a time (all), as on WSL
//   SOFTCUDA_MEMORY=8000000   the GPU has so many bytes (1 GiB)
//   SOFTCUDA_MATRIX=down      a product on tensor cores adds its four terms from the last to the first
//   SOFTCUDA_LEDGER=1         prints what is not released at the end of the process, the bytes copied to the GPU and
//                             back, the blocks that were made on the GPU, how often the host could not be pinned, and
//                             how many kernels each GPU ran
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cublas.h"
#include "faults.h"
#include "ptx.h"
#include "state.h"

namespace {

// Runs a stream up to a recording, and everything that it waits for.
void runUntil(StreamState& stream, uint64_t recording) {
  while (!stream.commands.empty()) {
    Command command = std::move(stream.commands.front());
    stream.commands.pop_front();
    if (command.waits != nullptr && events.count(command.waits) != 0 && !command.waits->isDone &&
        command.waits->recordedIn != nullptr && command.waits->recordedIn != &stream)
      runUntil(*static_cast<StreamState*>(command.waits->recordedIn), command.waitsFor);
    if (command.run) command.run();
    if (command.records != nullptr && events.count(command.records) != 0 &&
        command.records->recording == command.recording)
      command.records->isDone = true;
    if (command.recording != 0 && command.recording == recording) return;
  }
}

size_t memoryBytes() { return static_cast<size_t>(numberOf("SOFTCUDA_MEMORY", 1 << 30)); }
int blocksMade = 0;

struct Ledger {
  ~Ledger() {
    if (numberOf("SOFTCUDA_LEDGER", 0) == 0) return;
    int held = 0;
    for (const auto& [device, count] : retained) held += count;
    fprintf(stderr, "softcuda: blocks %zu, pinned %zu, streams %zu, events %zu, modules %zu, contexts %d\n",
            blocks.size(), pinned.size(), streams.size(), events.size(), modules.size(), held);
    fprintf(stderr, "softcuda: uploaded %llu bytes, downloaded %llu\n", static_cast<unsigned long long>(uploadedBytes),
            static_cast<unsigned long long>(downloadedBytes));
    fprintf(stderr, "softcuda: made %d blocks\n", blocksMade);
    fprintf(stderr, "softcuda: refused to pin %d times\n", pinsRefused);
    for (const auto& [context, count] : launches) fprintf(stderr, "softcuda: a GPU ran %d kernels\n", count);
    fprintf(stderr, "softcuda: products on tensor cores: %s\n", ptx::hasUsedTensorCores ? "some" : "none");
  }
} ledger;

}  // namespace

bool enqueue(const char* library, void* stream, const std::vector<uint64_t>& addresses,
             std::function<void(const std::vector<void*>&)> run) {
  std::lock_guard<std::mutex> lock(mutex);
  if (contexts.empty() || faultOf(library) != 0) return false;
  std::vector<void*> contents;
  for (const uint64_t address : addresses) {
    contents.push_back(contentsAt(address, 1));
    if (contents.back() == nullptr) return false;
  }
  static_cast<StreamState*>(stream)->commands.push_back({[=] { run(contents); }});
  return true;
}

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) {
  std::lock_guard<std::mutex> lock(mutex);
  if (const int fault = faultOf("cuInit")) return fault;
  if (numberOf("SOFTCUDA_GPUS", 1) == 0) return noDevice;
  isReady = true;
  return success;
}

int cuDriverGetVersion(int* version) { return *version = numberOf("SOFTCUDA_VERSION", 13000), success; }

int cuGetErrorString(int error, const char** text) {
  *text = error == outOfMemory      ? "out of memory"
          : error == illegalAddress ? "an illegal memory access was encountered"
                                    : "an error of the stand-in";
  return success;
}

int cuDeviceGetCount(int* count) {
  ENTER("cuDeviceGetCount");
  *count = numberOf("SOFTCUDA_GPUS", 1);
  return success;
}

int cuDeviceGet(int* device, int ordinal) {
  ENTER("cuDeviceGet");
  *device = ordinal;
  return success;
}

int cuDeviceGetName(char* name, int length, int device) {
  ENTER("cuDeviceGetName");
  snprintf(name, static_cast<size_t>(length),
           numberOf("SOFTCUDA_MIG", 0) == 0 ? "Soft GPU %d" : "Soft GPU %d MIG 1g.5gb", device);
  return success;
}

int cuDeviceGetUuid_v2(void* uuid, int device) {
  ENTER("cuDeviceGetUuid_v2");
  memset(uuid, 0xab, 16);
  static_cast<char*>(uuid)[15] = static_cast<char>(device);
  return success;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  ENTER("cuDeviceGetAttribute");
  *value = attribute == 75   ? numberOf("SOFTCUDA_MAJOR", device, 9)
           : attribute == 33 ? device + 1
           : attribute == 16 ? 2
           : attribute == 18 ? numberOf("SOFTCUDA_INTEGRATED", 0)
           : attribute == 87 ? numberOf("SOFTCUDA_FLOAT64", 2)
                             : 0;
  return success;
}

int cuDeviceTotalMem_v2(size_t* bytes, int) {
  ENTER("cuDeviceTotalMem_v2");
  *bytes = memoryBytes();
  return success;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  ENTER("cuDevicePrimaryCtxRetain");
  ++retained[device];
  *context = reinterpret_cast<void*>(uintptr_t{0x1000} + static_cast<uintptr_t>(device));
  return success;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER("cuDevicePrimaryCtxRelease_v2");
  if (--retained[device] < 0) return invalidContext;
  return success;
}

int cuCtxPushCurrent_v2(void* context) {
  ENTER("cuCtxPushCurrent_v2");
  if (context == nullptr) return invalidContext;
  contexts.push_back(context);
  return success;
}

int cuCtxPopCurrent_v2(void** context) {
  ENTER("cuCtxPopCurrent_v2");
  if (contexts.empty()) return invalidContext;
  *context = contexts.back();
  contexts.pop_back();
  return success;
}

int cuMemAlloc_v2(uint64_t* address, size_t sizeBytes) {
  IN_CONTEXT("cuMemAlloc_v2");
  size_t used = 0;
  for (const auto& [at, range] : blocks) used += range.sizeBytes;
  if (sizeBytes == 0) return invalidValue;
  if (used + sizeBytes > memoryBytes()) return outOfMemory;
  const size_t page = 4096, halfBytes = (sizeBytes + 2 * page - 1) / page * page;
  auto* mapped = static_cast<char*>(mmap(nullptr, 2 * halfBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (mapped == MAP_FAILED) return outOfMemory;
  // The last page is never opened.
  const size_t openBytes = halfBytes - page;
  if (mprotect(mapped + halfBytes, openBytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapped, 2 * halfBytes);
    return outOfMemory;
  }
  *address = reinterpret_cast<uint64_t>(mapped) + (openBytes - sizeBytes) / 16 * 16;
  blocks[*address] = {sizeBytes, halfBytes, mapped};
  ++blocksMade;
  return success;
}

int cuMemFree_v2(uint64_t address) {
  IN_CONTEXT("cuMemFree_v2");
  const auto found = blocks.find(address);
  if (found == blocks.end()) return invalidValue;
  munmap(found->second.mapped, 2 * found->second.halfBytes);
  blocks.erase(found);
  return success;
}

int cuMemHostAlloc(void** contents, size_t sizeBytes, unsigned) {
  IN_CONTEXT("cuMemHostAlloc");
  if (const int most = numberOf("SOFTCUDA_PINNED", 0); most != 0) {
    size_t all = sizeBytes;
    for (const auto& [memory, bytes] : pinned) all += bytes;
    if (all > static_cast<size_t>(most)) return ++pinsRefused, outOfMemory;
  }
  *contents = aligned_alloc(4096, (sizeBytes + 4095) / 4096 * 4096);
  pinned[*contents] = sizeBytes;
  return success;
}

int cuMemFreeHost(void* contents) {
  IN_CONTEXT("cuMemFreeHost");
  if (pinned.erase(contents) == 0) return invalidValue;
  free(contents);
  return success;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t sizeBytes, void* stream) {
  IN_CONTEXT("cuMemcpyHtoDAsync_v2");
  void* contents = contentsAt(to, sizeBytes);
  if (contents == nullptr) return invalidValue;
  uploadedBytes += sizeBytes;
  static_cast<StreamState*>(stream)->commands.push_back({[=] { memcpy(contents, from, sizeBytes); }});
  return success;
}

int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t sizeBytes, void* stream) {
  IN_CONTEXT("cuMemcpyDtoHAsync_v2");
  const void* contents = contentsAt(from, sizeBytes);
  if (contents == nullptr) return invalidValue;
  downloadedBytes += sizeBytes;
  static_cast<StreamState*>(stream)->commands.push_back({[=] { memcpy(to, contents, sizeBytes); }});
  return success;
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t sizeBytes, void* stream) {
  IN_CONTEXT("cuMemcpyDtoDAsync_v2");
  void* contents = contentsAt(to, sizeBytes);
  const void* source = contentsAt(from, sizeBytes);
  if (contents == nullptr || source == nullptr) return invalidValue;
  static_cast<StreamState*>(stream)->commands.push_back({[=] { memcpy(contents, source, sizeBytes); }});
  return success;
}

int cuStreamCreate(void** stream, unsigned) {
  IN_CONTEXT("cuStreamCreate");
  auto* made = new StreamState;
  streams.insert(made);
  *stream = made;
  return success;
}

int cuStreamDestroy_v2(void* stream) {
  IN_CONTEXT("cuStreamDestroy_v2");
  auto* state = static_cast<StreamState*>(stream);
  if (streams.erase(state) == 0) return invalidValue;
  runUntil(*state, 0);
  delete state;
  return success;
}

int cuStreamSynchronize(void* stream) {
  IN_CONTEXT("cuStreamSynchronize");
  runUntil(*static_cast<StreamState*>(stream), 0);
  return spoilt;
}

int cuEventCreate(void** event, unsigned flags) {
  IN_CONTEXT("cuEventCreate");
  auto* made = new EventState{(flags & 2u) == 0};
  events.insert(made);
  *event = made;
  return success;
}

int cuEventDestroy_v2(void* event) {
  IN_CONTEXT("cuEventDestroy_v2");
  auto* state = static_cast<EventState*>(event);
  if (events.erase(state) == 0) return invalidValue;
  delete state;
  return success;
}

int cuEventRecord(void* event, void* stream) {
  IN_CONTEXT("cuEventRecord");
  auto* state = static_cast<EventState*>(event);
  state->isDone = false;
  state->recordedIn = stream;
  state->recording = ++recordings;
  Command command;
  command.records = state;
  command.recording = state->recording;
  static_cast<StreamState*>(stream)->commands.push_back(command);
  return success;
}

int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  IN_CONTEXT("cuStreamWaitEvent");
  Command command;
  command.waits = static_cast<EventState*>(event);
  command.waitsFor = command.waits->recording;
  static_cast<StreamState*>(stream)->commands.push_back(command);
  return success;
}

int cuEventSynchronize(void* event) {
  IN_CONTEXT("cuEventSynchronize");
  auto* state = static_cast<EventState*>(event);
  if (!state->isDone && state->recordedIn != nullptr)
    runUntil(*static_cast<StreamState*>(state->recordedIn), state->recording);
  return spoilt;
}

int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  IN_CONTEXT("cuEventElapsedTime");
  for (void* event : {begin, end}) {
    const auto* state = static_cast<EventState*>(event);
    if (!state->isTimed || !state->isDone) return invalidValue;
  }
  *milliseconds = 0.5f;
  return success;
}

}  // extern "C"
#pragma GCC visibility pop
