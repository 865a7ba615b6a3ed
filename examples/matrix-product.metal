#include <metal_stdlib>
using namespace metal;

// c = a b, where a is m x k and b is k x n, row after row.
struct Sizes {
  uint m, n, k, unused;
};

// One thread an element of c: a row of a by a column of b, which is read in steps of n.
kernel void naive(device const Sizes* sizes [[buffer(0)]], device const float* a [[buffer(1)]],
                  device const float* b [[buffer(2)]], device float* c [[buffer(3)]],
                  uint2 at [[thread_position_in_grid]]) {
  const uint n = sizes->n, k = sizes->k;
  float sum = 0;
  for (uint i = 0; i < k; ++i) sum += a[at.y * k + i] * b[i * n + at.x];
  c[at.y * n + at.x] = sum;
}

// The same of b transposed (n x k): both are read from one element to the next.
kernel void transposed(device const Sizes* sizes [[buffer(0)]], device const float* a [[buffer(1)]],
                       device const float* b [[buffer(2)]], device float* c [[buffer(3)]],
                       uint2 at [[thread_position_in_grid]]) {
  const uint n = sizes->n, k = sizes->k;
  float sum = 0;
  for (uint i = 0; i < k; ++i) sum += a[at.y * k + i] * b[at.x * k + i];
  c[at.y * n + at.x] = sum;
}

#define TILE 16

// A threadgroup makes a tile of c, of tiles of a and b that its threads fetch together: each element is read from the
// device's memory once for TILE threads. All threads reach every barrier, those beyond the edges of c too: they fetch
// zeros.
kernel void tiled(device const Sizes* sizes [[buffer(0)]], device const float* a [[buffer(1)]],
                  device const float* b [[buffer(2)]], device float* c [[buffer(3)]],
                  uint2 at [[thread_position_in_grid]], uint2 inside [[thread_position_in_threadgroup]]) {
  threadgroup float tileA[TILE][TILE];
  threadgroup float tileB[TILE][TILE];
  const uint m = sizes->m, n = sizes->n, k = sizes->k;
  float sum = 0;
  for (uint first = 0; first < k; first += TILE) {
    tileA[inside.y][inside.x] = at.y < m && first + inside.x < k ? a[at.y * k + first + inside.x] : 0.0f;
    tileB[inside.y][inside.x] = at.x < n && first + inside.y < k ? b[(first + inside.y) * n + at.x] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < TILE; ++i) sum += tileA[inside.y][i] * tileB[i][inside.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (at.y < m && at.x < n) c[at.y * n + at.x] = sum;
}
