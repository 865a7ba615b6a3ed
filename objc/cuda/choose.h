#pragma once

#include <string>
#include <vector>

#include "driver.h"

namespace covarium::cuda {

// What is reported of a GPU, and the names by which it can be chosen.
struct GpuFacts {
  DeviceNumber device;
  std::string name, uuid, pciId;
  int major, minor, multiprocessors;
  size_t memoryBytes;
};

// Every GPU of the driver, in its order, which CUDA_VISIBLE_DEVICES changes.
std::vector<GpuFacts> allGpus(const Driver& driver);

// Of these GPUs, that of this index, name, UUID or PCI id; all of them for ''. Throws ERR_DEVICE_UNAVAILABLE, with a
// list of them, if none has it.
std::vector<GpuFacts> wantedGpus(const std::vector<GpuFacts>& all, const std::string& wanted);

}  // namespace covarium::cuda
