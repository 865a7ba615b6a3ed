// The BLAS and LAPACK routines that the CPU device uses, in Fortran's calling convention, which every library has.
// blas-dlopen.cc finds a library at run time; blas-accelerate.cc is Apple's; simd/product.inc is ours.
#pragma once

#include <cstddef>
#include <cstring>
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

// LAPACK's decompositions. If one is missing, none is used.
template <typename T>
struct LapackRoutines {
  void (*syevd)(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work, const int* lwork,
                int* iwork, const int* liwork, int* info) = nullptr;
  void (*sytrd)(const char* uplo, const int* n, T* a, const int* lda, T* d, T* e, T* tau, T* work, const int* lwork,
                int* info) = nullptr;
  void (*stedc)(const char* compz, const int* n, T* d, T* e, T* z, const int* ldz, T* work, const int* lwork,
                int* iwork, const int* liwork, int* info) = nullptr;
  void (*gebrd)(const int* m, const int* n, T* a, const int* lda, T* d, T* e, T* tauq, T* taup, T* work,
                const int* lwork, int* info) = nullptr;
  void (*bdsdc)(const char* uplo, const char* compq, const int* n, T* d, T* e, T* u, const int* ldu, T* vt,
                const int* ldvt, T* q, int* iq, T* work, int* iwork, int* info) = nullptr;
  void (*geqrf)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork,
                int* info) = nullptr;
  void (*orgqr)(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work, const int* lwork,
                int* info) = nullptr;
  void (*gesdd)(const char* jobz, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu, T* vt,
                const int* ldvt, T* work, const int* lwork, int* iwork, int* info) = nullptr;
  void (*gejsv)(const char* joba, const char* jobu, const char* jobv, const char* jobr, const char* jobt,
                const char* jobp, const int* m, const int* n, T* a, const int* lda, T* sva, T* u, const int* ldu, T* v,
                const int* ldv, T* work, const int* lwork, int* iwork, int* info) = nullptr;
  void (*pstrf)(const char* uplo, const int* n, T* a, const int* lda, int* piv, int* rank, const T* tol, T* work,
                int* info) = nullptr;
  // Accelerate's alone: simd/lu.inc is faster than other libraries.
  void (*getrf)(const int* m, const int* n, T* a, const int* lda, int* ipiv, int* info) = nullptr;
  void (*getrs)(const char* trans, const int* n, const int* nrhs, const T* a, const int* lda, const int* ipiv, T* b,
                const int* ldb, int* info) = nullptr;
};

struct Blas {
  std::string name;          // "OpenBLAS 0.3.21"
  std::string path;          // the file that answered
  std::string coreType;      // what it takes the processor for; empty if it doesn't say
  bool isCoreAsked = false;  // we asked for that core type, because the library itself had taken an older one
  BlasRoutines<float> float32;
  BlasRoutines<double> float64;
  LapackRoutines<float> lapack32;
  LapackRoutines<double> lapack64;
  std::string lapackLacks;  // the first routine that is missing; empty if all are there
  bool isBuiltIn = false;   // its products are ours, its LAPACK the installed library's
  std::string lapackName;   // whose LAPACK; empty without one
  // Accelerate has a matrix unit that all cores share: its own factorization, solve and products are faster than
  // ours.
  bool hasMatrixUnit = false;
  // Takes and gives back the memory that OpenBLAS keeps for each thread that calls it; null in other libraries.
  void* (*takeBuffer)(int) = nullptr;
  void (*returnBuffer)(void*) = nullptr;

  template <typename T>
  const BlasRoutines<T>& of() const;
  template <typename T>
  const LapackRoutines<T>& lapack() const;
};

template <>
inline const BlasRoutines<float>& Blas::of<float>() const {
  return float32;
}
template <>
inline const BlasRoutines<double>& Blas::of<double>() const {
  return float64;
}

template <>
inline const LapackRoutines<float>& Blas::lapack<float>() const {
  return lapack32;
}
template <>
inline const LapackRoutines<double>& Blas::lapack<double>() const {
  return lapack64;
}

struct KernelTable;

// The BLAS that the device uses; `reason` says why no installed library is a part of it. Null if the library that
// COVARIUM_BLAS names can't be used.
const Blas* blas(const KernelTable& kernels, std::string& reason);

// The value of COVARIUM_BLAS for our own products alone. installedBlas() still finds an installed library.
constexpr const char* noLibrary = "none";
// The value of COVARIUM_BLAS for our own products and the installed library's LAPACK, for any library and processor.
constexpr const char* ownProducts = "own";

// True if COVARIUM_BLAS is the name of a library.
inline bool namesLibrary(const char* wanted) {
  return wanted != nullptr && *wanted != 0 && strcmp(wanted, noLibrary) != 0 && strcmp(wanted, ownProducts) != 0;
}

// The installed library, loaded once in a process. Null if there is none: `reason` then says what to install, or what
// this process lacks now, and the next call looks again.
const Blas* installedBlas(std::string& reason);

// The calling thread's own memory, with what was left in it, or new. Numbers 0 to 2 are for our products, 1 also for
// callers of those that do not use it, 3 for callers of any product, 4 for what all threads of a command share.
void* productScratch(int which, size_t sizeBytes);

// How many of `threads` a device may have in addition to those that were promised before. Fewer if the address space
// for products and a library is limited; 0, with the reason, if it does not suffice for one thread.
unsigned promiseThreads(const Blas& blas, unsigned threads, std::string& reason);
void returnThreads(const Blas& blas, unsigned threads);

}  // namespace covarium::cpu
