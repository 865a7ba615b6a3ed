#include "choose.h"

#include "../failure.h"
#include "text.h"

namespace covarium::metal {

std::vector<std::pair<std::string, std::string>> allGpus() {
  const auto devices = Owned<NSArray*>::adopt(MTLCopyAllDevices());
  std::vector<std::pair<std::string, std::string>> all;
  for (id<MTLDevice> device in devices.get())
    all.emplace_back(textOf([device name]), std::to_string([device registryID]));
  return all;
}

Owned<id<MTLDevice>> chooseGpu(const std::string& wanted) {
  const auto devices = Owned<NSArray*>::adopt(MTLCopyAllDevices());
  if (wanted.empty()) {
    auto device = Owned<id<MTLDevice>>::adopt(MTLCreateSystemDefaultDevice());
    if (device) return device;
    // Outside of a login session (a daemon, ssh) Macs with two GPUs have no default.
    if ([devices.get() count] > 0) return Owned<id<MTLDevice>>::retain([devices.get() objectAtIndex:0]);
    throw Failure("ERR_DEVICE_UNAVAILABLE", "This system has no GPU for Metal.");
  }
  for (id<MTLDevice> device in devices.get()) {
    if (textOf([device name]) == wanted || std::to_string([device registryID]) == wanted)
      return Owned<id<MTLDevice>>::retain(device);
  }
  std::string known;
  for (const auto& [name, registryId] : allGpus()) known += (known.empty() ? "" : ", ") + name + " = " + registryId;
  throw Failure("ERR_DEVICE_UNAVAILABLE",
                "No GPU has the name or registry id (" + wanted + "); there are (" + known + ").");
}

}  // namespace covarium::metal
