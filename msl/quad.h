// Four neighbours that are read or written at once: in threadgroup memory they lie at multiples of four elements, and
// in the device's at multiples of 16 bytes.
#pragma once

#include "dialect.h"

template <typename T>
struct alignas(16) Quad {
  T at0, at1, at2, at3;
};

template <typename T>
inline void take_quad(threadgroup const T* from, thread T* to) {
  threadgroup const Quad<T>* four = (threadgroup const Quad<T>*)from;
  to[0] = four->at0;
  to[1] = four->at1;
  to[2] = four->at2;
  to[3] = four->at3;
}

template <typename T>
inline void put_quad(thread const T* from, threadgroup T* to) {
  threadgroup Quad<T>* four = (threadgroup Quad<T>*)to;
  four->at0 = from[0];
  four->at1 = from[1];
  four->at2 = from[2];
  four->at3 = from[3];
}

template <typename T>
inline void write_quad(thread const T* from, device T* to) {
#ifdef __CUDA__
  // One instruction: of a structure's members clang makes four where two branches end in the same stores.
  typedef T Vector __attribute__((vector_size(4 * sizeof(T)), aligned(16)));
  *(device Vector*)to = Vector{from[0], from[1], from[2], from[3]};
#else
  device Quad<T>* four = (device Quad<T>*)to;
  four->at0 = from[0];
  four->at1 = from[1];
  four->at2 = from[2];
  four->at3 = from[3];
#endif
}

// The same at any place of the device's memory.
template <typename T>
inline void write_four(thread const T* from, device T* to) {
#ifndef __METAL_VERSION__
  if ((ulong)to % 16u == 0u) {
    write_quad(from, to);
    return;
  }
#endif
  to[0] = from[0];
  to[1] = from[1];
  to[2] = from[2];
  to[3] = from[3];
}

// Where the entries of columns 4 q to 4 q + 3 of the factor begin, of `quads` quads of columns: each column is stored
// from row 4 q on.
inline uint narrow_entries(uint quads, uint q) { return 16u * q * quads - 8u * q * (q - 1u); }

// The factor's lower triangle by columns, in quads; what is above its diagonal and behind its last row is 0.
template <typename Real>
inline void pack_quads(device const Real* factor, threadgroup Real* entries, uint n, uint quads, uint lane,
                       uint lanes) {
  for (uint e = lane; e < 16u * quads * quads; e += lanes) {
    const uint i = e / (4u * quads), k = e - i * 4u * quads, q = k / 4u;
    if (i < 4u * q) continue;
    threadgroup Real* column = entries + narrow_entries(quads, q) + k % 4u * 4u * (quads - q);
    column[i - 4u * q] = k <= i && i < n ? factor[i * n + k] : Real(0);
  }
}
