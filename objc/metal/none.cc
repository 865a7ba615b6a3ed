// The metal device on platforms without Metal: it is never available.
#include "../device.h"

namespace covarium::metal {

Candidate candidate() {
  Candidate none;
  none.name = "Metal";
#ifdef __APPLE__
  none.reason = "This build of covarium has no Metal device.";
#else
  none.reason = "Metal is Apple's: this system is not macOS.";
#endif
  return none;
}

std::shared_ptr<Device> open(const OpenOptions&) { throw Failure("ERR_DEVICE_UNAVAILABLE", candidate().reason); }

}  // namespace covarium::metal
