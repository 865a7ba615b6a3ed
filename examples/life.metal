#include <metal_stdlib>
using namespace metal;

// One generation of Conway's game of life; what leaves at an edge comes in at the other.
kernel void life(device const uchar* cells [[buffer(0)]], device uchar* born [[buffer(1)]],
                 uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  uint sum = 0;
  for (uint dy = 0; dy < 3; ++dy)
    for (uint dx = 0; dx < 3; ++dx)
      sum += cells[(at.y + dy + size.y - 1) % size.y * size.x + (at.x + dx + size.x - 1) % size.x];
  const uint here = at.y * size.x + at.x;
  born[here] = sum == 3 || (sum == 4 && cells[here] == 1) ? 1 : 0;
}
