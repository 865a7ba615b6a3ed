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
  device Quad<T>* four = (device Quad<T>*)to;
  four->at0 = from[0];
  four->at1 = from[1];
  four->at2 = from[2];
  four->at3 = from[3];
}
