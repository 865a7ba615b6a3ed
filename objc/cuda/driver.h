// NVIDIA's driver API, loaded at its first use: no header and no toolkit of NVIDIA's is needed, and a system without
// a driver loses nothing. Names and numbers are those of cuda.h, version 11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace covarium::cuda {

using Result = int;  // CUresult
using DevicePointer = unsigned long long;
using DeviceNumber = int;
using Context = struct ContextObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;
struct Uuid {
  unsigned char bytes[16];
};

enum DeviceAttribute {
  multiprocessorCount = 16,
  integrated = 18,  // the host and the GPU have one memory
  pciBusId = 33,
  pciDeviceId = 34,
  pciDomainId = 50,
  computeCapabilityMajor = 75,
  computeCapabilityMinor = 76,
  singleToDoubleRate = 87
};

enum FunctionAttribute { maxThreadsPerBlock = 0, staticSharedBytes = 1, localBytes = 3 };

struct Driver {
  Result (*init)(unsigned flags);
  Result (*driverGetVersion)(int* version);
  Result (*getErrorString)(Result error, const char** text);
  Result (*deviceGetCount)(int* count);
  Result (*deviceGet)(DeviceNumber* device, int ordinal);
  Result (*deviceGetName)(char* name, int length, DeviceNumber device);
  Result (*deviceGetUuid)(Uuid* uuid, DeviceNumber device);
  Result (*deviceGetAttribute)(int* value, int attribute, DeviceNumber device);
  Result (*deviceTotalMem)(size_t* bytes, DeviceNumber device);
  Result (*primaryContextRetain)(Context* context, DeviceNumber device);
  Result (*primaryContextRelease)(DeviceNumber device);
  Result (*contextPush)(Context context);
  Result (*contextPop)(Context* context);
  Result (*memAlloc)(DevicePointer* address, size_t bytes);
  Result (*memFree)(DevicePointer address);
  Result (*memHostAlloc)(void** contents, size_t bytes, unsigned flags);
  Result (*memFreeHost)(void* contents);
  Result (*copyToDevice)(DevicePointer to, const void* from, size_t bytes, Stream stream);
  Result (*copyOnDevice)(DevicePointer to, DevicePointer from, size_t bytes, Stream stream);
  Result (*copyToHost)(void* to, DevicePointer from, size_t bytes, Stream stream);
  Result (*streamCreate)(Stream* stream, unsigned flags);
  Result (*streamDestroy)(Stream stream);
  Result (*streamSynchronize)(Stream stream);
  Result (*streamWaitEvent)(Stream stream, Event event, unsigned flags);
  Result (*eventCreate)(Event* event, unsigned flags);
  Result (*eventDestroy)(Event event);
  Result (*eventRecord)(Event event, Stream stream);
  Result (*eventSynchronize)(Event event);
  Result (*eventElapsedTime)(float* milliseconds, Event begin, Event end);
  Result (*moduleLoadData)(Module* module, const void* image);
  Result (*moduleUnload)(Module module);
  Result (*moduleGetFunction)(Function* function, Module module, const char* name);
  Result (*functionGetAttribute)(int* value, int attribute, Function function);
  Result (*functionSetAttribute)(Function function, int attribute, int value);
  Result (*launchKernel)(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                         unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void** parameters,
                         void** extra);
};

// The initialised driver; null, with the reason, if there is no usable one. After a failure the next call tries
// again.
const Driver* driver(std::string& reason);

// The driver's own text for a result.
std::string textOf(const Driver& driver, Result result);

// Throws ERR_OUT_OF_MEMORY or ERR_DEVICE_FAILED; `what` is what was done, as the subject of a sentence.
void require(const Driver& driver, Result result, const char* what);

}  // namespace covarium::cuda
