// The handful of BLAS and LAPACK routines that the CPU device uses. Fortran's calling convention, which every library
// has. blas-dlopen.cc finds a library at run time; blas-accelerate.cc is Apple's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace covarium::cpu {

template <typename T>
struct BlasRoutines {
  void (*gemm)(const char* transA, const char* transB, const int* m, const int* n, const int* k, const T* alpha,
               const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c, const int* ldc) = nullptr;
  void (*gemv)(const char* trans, const int* m, const int* n, const T* alpha, const T* a, const int* lda, const T* x,
               const int* incx, const T* beta, T* y, const int* incy) = nullptr;
  void (*syrk)(const char* uplo, const char* trans, const int* n, const int* k, const T* alpha, const T* a,
               const int* lda, const T* beta, T* c, const int* ldc) = nullptr;
  void (*trmm)(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
               const T* alpha, const T* a, const int* lda, T* b, const int* ldb) = nullptr;
  void (*trsm)(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
               const T* alpha, const T* a, const int* lda, T* b, const int* ldb) = nullptr;
  void (*potrf)(const char* uplo, const int* n, T* a, const int* lda, int* info) = nullptr;
};

struct Blas {
  std::string name;      // "OpenBLAS 0.3.21"
  std::string path;      // the file that answered
  std::string coreType;  // what it takes the processor for; empty where it doesn't say
  BlasRoutines<float> float32;
  BlasRoutines<double> float64;
  // Accelerate has a unit for matrices that all cores share: its own factorization, solve and products beat ours.
  bool hasMatrixUnit = false;
  // Takes and gives back the memory that OpenBLAS keeps for each thread that calls it; null in other libraries.
  void* (*takeBuffer)(int) = nullptr;
  void (*returnBuffer)(void*) = nullptr;

  template <typename T>
  const BlasRoutines<T>& of() const;
};

template <>
inline const BlasRoutines<float>& Blas::of<float>() const {
  return float32;
}
template <>
inline const BlasRoutines<double>& Blas::of<double>() const {
  return float64;
}

// The library, loaded once a process; null where there is none, with `reason` saying what to install, or what this
// process lacks now: the next call looks again.
const Blas* blas(std::string& reason);

// How many of `threads` may call the library at once, beside those that were promised before: fewer where the address
// space is limited, 0 where there is none for a single one, with the reason.
unsigned promiseThreads(const Blas& blas, unsigned threads, std::string& reason);
void returnThreads(unsigned threads);

}  // namespace covarium::cpu
