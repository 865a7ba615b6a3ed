#pragma once

#import <Metal/Metal.h>

namespace covarium::metal {

// Records what a queue does from now on to the file that COVARIUM_CAPTURE names (.gputrace, for Xcode), where it names
// one and no capture goes on yet; MTL_CAPTURE_ENABLED=1 must be set, too. Whether it does. Throws ERR_UNSUPPORTED where
// the capture is not possible.
bool startCapture(id<MTLCommandQueue> queue);
void stopCapture();

}  // namespace covarium::metal
