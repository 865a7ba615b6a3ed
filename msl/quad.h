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
  threadgroup const Quad<T>* quad = (threadgroup const Quad<T>*)from;
  to[0] = quad->at0;
  to[1] = quad->at1;
  to[2] = quad->at2;
  to[3] = quad->at3;
}

template <typename T>
inline void put_quad(thread const T* from, threadgroup T* to) {
  threadgroup Quad<T>* quad = (threadgroup Quad<T>*)to;
  quad->at0 = from[0];
  quad->at1 = from[1];
  quad->at2 = from[2];
  quad->at3 = from[3];
}

template <typename T>
inline void write_quad(thread const T* from, device T* to) {
  device Quad<T>* quad = (device Quad<T>*)to;
  quad->at0 = from[0];
  quad->at1 = from[1];
  quad->at2 = from[2];
  quad->at3 = from[3];
}
