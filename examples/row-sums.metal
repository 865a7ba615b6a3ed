#include <metal_stdlib>
using namespace metal;

typedef struct {
  int w_in, h_in, d_in;
  int w_out, h_out, d_out;
} Params;

static int index_of(int x, int y, int z, int width, int height) { return (z * height + y) * width + x; }

kernel void process(device const Params* p, device const float* input, device float* output,
                    uint3 gridSize [[threads_per_grid]], uint3 gid [[thread_position_in_grid]]) {
  float sum = 0;
  for (int x = 0; x < p->w_in; ++x) sum += input[index_of(x, gid.y, gid.z, p->w_in, p->h_in)];
  output[index_of(gid.x, gid.y, gid.z, p->w_out, p->h_out)] = sum;
}
