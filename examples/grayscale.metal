#include <metal_stdlib>
using namespace metal;

// Luma of red, green and blue by ITU-R BT.709 in 256ths: whole numbers, so that every device gives the same bytes.
kernel void grayscale(device const uchar4* pixels [[buffer(0)]], device uchar* gray [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  const uint4 pixel = uint4(pixels[i]);
  gray[i] = uchar((54 * pixel.x + 183 * pixel.y + 19 * pixel.z + 128) >> 8);
}
