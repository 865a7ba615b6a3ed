#pragma once

#include <memory>
#include <string>

#include "../device.h"

namespace covarium::addon {

// Has the process cancel what `device` runs, and wait for it, before it ends. process.exit(), an uncaught exception and
// an unhandled rejection end the process without Node-API's cleanup hooks; the system's loader then runs the
// destructors of the libraries, and OpenBLAS takes its buffers away from the threads that still multiply.
// `kind` is the device's: what its driver runs at the end of the process comes after this.
void closeAtExit(const std::shared_ptr<Device>& device, const std::string& kind);

}  // namespace covarium::addon
