#pragma once

#import <Metal/Metal.h>

namespace covarium::metal {

// Records what a queue does from now on to the file that COVARIUM_CAPTURE names (.gputrace, for Xcode). Returns false
// if it names none, or if there was or is a capture already. MTL_CAPTURE_ENABLED=1 must be set, too. Throws
// ERR_UNSUPPORTED if the capture is not possible.
bool startCapture(id<MTLCommandQueue> queue);
void stopCapture();

}  // namespace covarium::metal
