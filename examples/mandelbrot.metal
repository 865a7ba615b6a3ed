#include <metal_stdlib>
using namespace metal;

// Nothing may fuse: then the counts are those of any machine that rounds as IEEE 754 says.
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct View {
  float left, top, step;
  uint most;
};

// How many steps of z = z z + c stay within a distance of 2, up to view.most.
kernel void mandelbrot(device uint* counts [[buffer(0)]], constant View& view [[buffer(1)]],
                       uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  const float real = view.left + float(at.x) * view.step;
  const float imaginary = view.top - float(at.y) * view.step;
  float x = 0, y = 0;
  uint count = 0;
  for (; count < view.most; ++count) {
    const float xx = x * x, yy = y * y;
    if (xx + yy > 4.0f) break;
    y = 2.0f * x * y + imaginary;
    x = xx - yy + real;
  }
  counts[at.y * size.x + at.x] = count;
}
