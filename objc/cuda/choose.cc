#include "choose.h"

#include <cstdio>

#include "../failure.h"

namespace covarium::cuda {

namespace {

// A UUID as nvidia-smi writes it. That of a part of a GPU, whose name has MIG and its profile, begins with MIG.
std::string textOf(const Uuid& uuid, const std::string& name) {
  std::string text = name.find(" MIG ") == std::string::npos ? "GPU-" : "MIG-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", uuid.bytes[i]);
    text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
  }
  return text;
}

std::string lowerCase(std::string text) {
  for (char& each : text)
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  return text;
}

}  // namespace

std::vector<GpuFacts> allGpus(const Driver& driver) {
  int count = 0;
  require(driver, driver.deviceGetCount(&count), "Counting the GPUs");
  std::vector<GpuFacts> all;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    GpuFacts gpu;
    require(driver, driver.deviceGet(&gpu.device, ordinal), "Finding a GPU");
    char name[256] = "";
    require(driver, driver.deviceGetName(name, sizeof name, gpu.device), "Asking for a GPU's name");
    gpu.name = name;
    Uuid uuid;
    require(driver, driver.deviceGetUuid(&uuid, gpu.device), "Asking for a GPU's UUID");
    gpu.uuid = textOf(uuid, gpu.name);
    require(driver, driver.deviceTotalMem(&gpu.memoryBytes, gpu.device), "Asking for a GPU's memory");
    const auto attribute = [&](DeviceAttribute which) {
      int value = 0;
      require(driver, driver.deviceGetAttribute(&value, which, gpu.device), "Asking about a GPU");
      return value;
    };
    char pciId[32];
    snprintf(pciId, sizeof pciId, "%04x:%02x:%02x.0", attribute(pciDomainId), attribute(pciBusId),
             attribute(pciDeviceId));
    gpu.pciId = pciId;
    gpu.major = attribute(computeCapabilityMajor);
    gpu.minor = attribute(computeCapabilityMinor);
    gpu.multiprocessors = attribute(multiprocessorCount);
    all.push_back(gpu);
  }
  return all;
}

std::vector<GpuFacts> wantedGpus(const std::vector<GpuFacts>& all, const std::string& wanted) {
  if (all.empty()) throw Failure("ERR_DEVICE_UNAVAILABLE", "NVIDIA's driver finds no GPU.");
  if (wanted.empty()) return all;
  std::string known;
  for (size_t i = 0; i < all.size(); ++i) {
    const GpuFacts& gpu = all[i];
    const std::string index = std::to_string(i);
    const std::string id = lowerCase(wanted);
    // nvidia-smi writes eight digits of the domain.
    const bool isNamed = id == lowerCase(gpu.uuid) || id == gpu.pciId || id == "0000" + gpu.pciId;
    if (wanted == index || wanted == gpu.name || isNamed) return {gpu};
    known += (known.empty() ? "" : ", ") + index + " = " + gpu.name + " = " + gpu.uuid + " = " + gpu.pciId;
  }
  throw Failure("ERR_DEVICE_UNAVAILABLE",
                "No GPU has the index, name, UUID or PCI id (" + wanted + "); there are (" + known + ").");
}

}  // namespace covarium::cuda
