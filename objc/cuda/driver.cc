#include "driver.h"

#include <dlfcn.h>

#include <mutex>

#include "../failure.h"

namespace covarium::cuda {

namespace {

constexpr Result success = 0, outOfMemory = 2, noDevice = 100;
constexpr int oldestVersion = 11000;

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// The name of a symbol that is missing, or ''.
std::string findAll(void* library, Driver& found) {
  std::string missing;
  const auto find = [&](const char* symbol, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, symbol));
    if (function == nullptr && missing.empty()) missing = symbol;
  };
  find("cuInit", found.init);
  find("cuDriverGetVersion", found.driverGetVersion);
  find("cuGetErrorString", found.getErrorString);
  find("cuDeviceGetCount", found.deviceGetCount);
  find("cuDeviceGet", found.deviceGet);
  find("cuDeviceGetName", found.deviceGetName);
  // Only the second version gives a part of a GPU (MIG) its own UUID; drivers before CUDA 11.4 lack it.
  found.deviceGetUuid = reinterpret_cast<decltype(found.deviceGetUuid)>(dlsym(library, "cuDeviceGetUuid_v2"));
  if (found.deviceGetUuid == nullptr) find("cuDeviceGetUuid", found.deviceGetUuid);
  find("cuDeviceGetAttribute", found.deviceGetAttribute);
  find("cuDeviceTotalMem_v2", found.deviceTotalMem);
  find("cuDevicePrimaryCtxRetain", found.primaryContextRetain);
  find("cuDevicePrimaryCtxRelease_v2", found.primaryContextRelease);
  find("cuCtxPushCurrent_v2", found.contextPush);
  find("cuCtxPopCurrent_v2", found.contextPop);
  find("cuMemAlloc_v2", found.memAlloc);
  find("cuMemFree_v2", found.memFree);
  find("cuMemHostAlloc", found.memHostAlloc);
  find("cuMemFreeHost", found.memFreeHost);
  find("cuMemcpyHtoDAsync_v2", found.copyToDevice);
  find("cuMemcpyDtoDAsync_v2", found.copyOnDevice);
  find("cuMemcpyDtoHAsync_v2", found.copyToHost);
  find("cuStreamCreate", found.streamCreate);
  find("cuStreamDestroy_v2", found.streamDestroy);
  find("cuStreamSynchronize", found.streamSynchronize);
  find("cuStreamWaitEvent", found.streamWaitEvent);
  find("cuEventCreate", found.eventCreate);
  find("cuEventDestroy_v2", found.eventDestroy);
  find("cuEventRecord", found.eventRecord);
  find("cuEventSynchronize", found.eventSynchronize);
  find("cuEventElapsedTime", found.eventElapsedTime);
  find("cuModuleLoadData", found.moduleLoadData);
  find("cuModuleUnload", found.moduleUnload);
  find("cuModuleGetFunction", found.moduleGetFunction);
  find("cuFuncGetAttribute", found.functionGetAttribute);
  find("cuFuncSetAttribute", found.functionSetAttribute);
  find("cuLaunchKernel", found.launchKernel);
  return missing;
}

}  // namespace

const Driver* driver(std::string& reason) {
  static std::mutex mutex;
  static Driver known;
  static bool isKnown = false;
  std::lock_guard<std::mutex> lock(mutex);
  if (isKnown) return &known;
  // It is opened by this name because WSL has no libcuda.so, and never closed because the driver has its own threads.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    reason = "NVIDIA's driver can't be loaded (" + std::string(why == nullptr ? "libcuda.so.1" : why) + ").";
    return nullptr;
  }
  Driver found;
  const std::string missing = findAll(library, found);
  if (!missing.empty()) {
    reason = "NVIDIA's driver is too old: it lacks (" + missing + ").";
    return nullptr;
  }
  const Result begun = found.init(0);
  if (begun == noDevice) {
    reason = "NVIDIA's driver finds no GPU.";
    return nullptr;
  }
  if (begun != success) {
    reason = "NVIDIA's driver does not start (" + textOf(found, begun) + ").";
    return nullptr;
  }
  int version = 0;
  found.driverGetVersion(&version);
  if (version < oldestVersion) {
    reason = "NVIDIA's driver is too old: it serves CUDA (" + versionText(version) + "), not (" +
             versionText(oldestVersion) + ").";
    return nullptr;
  }
  known = found;
  isKnown = true;
  return &known;
}

std::string textOf(const Driver& driver, Result result) {
  const char* text = nullptr;
  driver.getErrorString(result, &text);
  return "error " + std::to_string(result) + (text == nullptr ? "" : ": " + std::string(text));
}

void require(const Driver& driver, Result result, const char* what) {
  if (result == success) return;
  if (result == outOfMemory)
    throw Failure(
        "ERR_OUT_OF_MEMORY",
        std::string(what) +
            " fails: the GPU has no memory left for it. Close what else uses the GPU, or open the device cpu.");
  throw Failure("ERR_DEVICE_FAILED", std::string(what) + " fails (" + textOf(driver, result) + ").");
}

}  // namespace covarium::cuda
