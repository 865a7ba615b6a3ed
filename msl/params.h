// Parameters of the kernels, shared by host and kernel: fixed-width fields, no padding, 64-bit values as two words.
#pragma once

struct NormalParams {
  uint seedLow, seedHigh;
  uint streamLow, streamHigh;
  uint firstLow, firstHigh;  // element of the stream that out[0] is
  uint count;                // elements of out
};

struct MatrixParams {
  uint rows, columns;
};

struct RowParams {
  uint rows, columns;
  float scale;
};
