#include "exit.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

namespace covarium::addon {

namespace {

// A kernel of the user's may never return; the process ends all the same.
constexpr auto longestWait = std::chrono::seconds(5);

struct OpenDevices {
  std::mutex mutex;
  std::vector<std::weak_ptr<Device>> devices;
  std::set<std::string> kinds;
};

// Never destroyed: the handler below runs among the destructors of static objects.
OpenDevices& openDevices() {
  static auto* const devices = new OpenDevices;
  return *devices;
}

void closeAll() {
  static std::atomic<bool> begun(false);
  if (begun.exchange(true)) return;
  std::vector<std::shared_ptr<Device>> open;
  {
    const std::lock_guard<std::mutex> lock(openDevices().mutex);
    for (const auto& each : openDevices().devices)
      if (auto device = each.lock()) open.push_back(std::move(device));
  }
  if (open.empty()) return;
  static std::atomic<bool> closed(false);  // static: the thread may write it after the wait below gave up
  const auto close = [open] {
    for (const auto& device : open) device->close();
    closed = true;
  };
  try {
    std::thread(close).detach();
  } catch (const std::system_error&) {  // the system gives no more threads
    close();
  }
  const auto end = std::chrono::steady_clock::now() + longestWait;
  while (!closed && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

}  // namespace

// What is registered last runs first. A driver that is loaded with the first device of a kind registers its own end, so
// closeAll() is registered behind each of them, and its first run closes all devices.
void closeAtExit(const std::shared_ptr<Device>& device, const std::string& kind) {
  auto& [mutex, devices, kinds] = openDevices();
  const std::lock_guard<std::mutex> lock(mutex);
  if (kinds.insert(kind).second) std::atexit(closeAll);
  for (auto each = devices.begin(); each != devices.end();) each = each->expired() ? devices.erase(each) : each + 1;
  devices.push_back(device);
}

}  // namespace covarium::addon
