// Modules of PTX, and their kernels.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "ptx.h"
#include "state.h"

namespace {

bool hasKernel(Module& module, const std::string& name) {
  if (module.kernels.count(name) != 0) return true;
  try {
    module.kernels[name] = ptx::parse(module.text, name);
  } catch (const std::runtime_error& error) {
    fprintf(stderr, "softcuda: PTX that it does not run: %s\n", error.what());
    return false;
  }
  return true;
}

void runKernel(const ptx::Kernel& kernel, const ptx::Launch& launch) {
  if (spoilt != 0) return;
  try {
    ptx::run(kernel, launch, memoryAt);
  } catch (const std::runtime_error& error) {
    fprintf(stderr, "softcuda: %s\n", error.what());
    spoilt = illegalAddress;
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuModuleLoadData(void** module, const void* image) {
  IN_CONTEXT("cuModuleLoadData");
  Module loaded{static_cast<const char*>(image), {}};
  const std::string& text = loaded.text;
  const size_t target = text.find(".target sm_"), first = text.find(".entry ");
  const char* newest = getenv("SOFTCUDA_TARGET");
  if (newest != nullptr && target != std::string::npos && atoi(&text[target + 11]) > atoi(newest)) return newerText;
  if (text.find(".version") == std::string::npos || first == std::string::npos) return invalidImage;
  const std::string name = text.substr(first + 7, text.find('(', first) - first - 7);
  const char* refused = getenv("SOFTCUDA_REFUSED");
  if (refused != nullptr && name == refused) return invalidImage;
  // If there are several kernels, the stand-in reads those that are requested.
  if (text.find(".entry ", first + 1) == std::string::npos && !hasKernel(loaded, name)) return invalidImage;
  *module = *modules.insert(new Module(loaded)).first;
  return success;
}

int cuModuleUnload(void* module) {
  IN_CONTEXT("cuModuleUnload");
  auto* state = static_cast<Module*>(module);
  if (modules.erase(state) == 0) return invalidValue;
  delete state;
  return success;
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  IN_CONTEXT("cuModuleGetFunction");
  auto& state = *static_cast<Module*>(module);
  if (state.text.find(std::string(".entry ") + name + "(") == std::string::npos) return notFound;
  if (!hasKernel(state, name)) return invalidImage;
  *function = &state.kernels.at(name);
  return success;
}

int cuFuncGetAttribute(int* value, int attribute, void*) {
  IN_CONTEXT("cuFuncGetAttribute");
  *value = attribute == 0 ? 1024 : 0;
  return success;
}

int cuFuncSetAttribute(void* function, int attribute, int value) {
  IN_CONTEXT("cuFuncSetAttribute");
  if (attribute != 8 || value < 0 || value > 65536) return invalidValue;
  static_cast<ptx::Kernel*>(function)->mostSharedBytes = static_cast<unsigned>(value);
  return success;
}

int cuLaunchKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, void* stream, void** parameters, void**) {
  IN_CONTEXT("cuLaunchKernel");
  if (gridX == 0 || blockX == 0 || blockX > 1024 || blockY != 1 || blockZ != 1 || gridY == 0 || gridY > 65535 ||
      gridZ == 0 || gridZ > 65535)
    return invalidValue;
  // The module may be unloaded before the kernel runs.
  const ptx::Kernel kernel = *static_cast<const ptx::Kernel*>(function);
  if (sharedBytes > kernel.mostSharedBytes) return invalidValue;
  ptx::Launch launch{{gridX, gridY, gridZ}, blockX, sharedBytes, std::vector<char>(kernel.parameterBytes)};
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    memcpy(launch.parameters.data() + kernel.parameters[i].offset, parameters[i], kernel.parameters[i].sizeBytes);
  ++launches[contexts.back()];
  static_cast<StreamState*>(stream)->commands.push_back({[=] { runKernel(kernel, launch); }});
  return success;
}

}  // extern "C"
#pragma GCC visibility pop
