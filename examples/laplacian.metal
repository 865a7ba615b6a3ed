#include "grayscale.metal"

// How much a pixel differs from its four neighbours; beyond the edge a picture goes on as it is at the edge.
kernel void laplacian(device const uchar* gray [[buffer(0)]], device uchar* edges [[buffer(1)]],
                      uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  const uint left = at.x == 0 ? 0 : at.x - 1;
  const uint right = min(at.x + 1, size.x - 1);
  const uint above = at.y == 0 ? 0 : at.y - 1;
  const uint below = min(at.y + 1, size.y - 1);
  const int sum = int(gray[at.y * size.x + left]) + int(gray[at.y * size.x + right]) +
                  int(gray[above * size.x + at.x]) + int(gray[below * size.x + at.x]);
  edges[at.y * size.x + at.x] = uchar(min(abs(4 * int(gray[at.y * size.x + at.x]) - sum), 255));
}
