#include <metal_stdlib>
using namespace metal;

// Nothing may fuse: then the places are those of any machine that rounds as IEEE 754 says.
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

// One step of bodies that pull each other, place and speed in one vector. A thread moves one; the group reads the
// places of all by tiles, which its threads share.
kernel void step(device const float4* now [[buffer(0)]], device float4* next [[buffer(1)]],
                 constant float& time [[buffer(2)]], uint i [[thread_position_in_grid]],
                 uint lane [[thread_index_in_threadgroup]], uint count [[threads_per_grid]]) {
  threadgroup float2 tile[64];
  const float4 own = now[i];
  float2 pull = float2(0);
  for (uint first = 0; first < count; first += 64) {
    tile[lane] = now[first + lane].xy;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 64; ++k) {
      const float2 apart = tile[k] - own.xy;
      const float square = apart.x * apart.x + apart.y * apart.y + 0.01f;
      pull += apart * (1.0f / (square * precise::sqrt(square)));
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  const float2 speed = own.zw + pull * time;
  next[i] = float4(own.xy + speed * time, speed);
}
