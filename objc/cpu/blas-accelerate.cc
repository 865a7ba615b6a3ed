// Apple's Accelerate, with the LAPACK interface of macOS 13.3.
#define ACCELERATE_NEW_LAPACK
#include <Accelerate/Accelerate.h>

#include "blas.h"

namespace covarium::cpu {

namespace {

CBLAS_TRANSPOSE transposeOf(const char* trans) { return *trans == 'N' ? CblasNoTrans : CblasTrans; }
CBLAS_UPLO triangleOf(const char* uplo) { return *uplo == 'U' ? CblasUpper : CblasLower; }
CBLAS_SIDE sideOf(const char* side) { return *side == 'L' ? CblasLeft : CblasRight; }
CBLAS_DIAG diagonalOf(const char* diag) { return *diag == 'N' ? CblasNonUnit : CblasUnit; }

// Apple's prototypes differ from ours in const and in annotations only.
template <typename Ours, typename Apples>
void take(Ours& routine, Apples apples) {
  routine = reinterpret_cast<Ours>(apples);
}

// One set of routines for each type: `prefix` is s or d.
#define COVARIUM_ROUTINES(T, prefix)                                                                                   \
  void prefix##Gemm(const char* ta, const char* tb, const int* m, const int* n, const int* k, const T* alpha,          \
                    const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c, const int* ldc) {     \
    cblas_##prefix##gemm(CblasColMajor, transposeOf(ta), transposeOf(tb), *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, \
                         c, *ldc);                                                                                     \
  }                                                                                                                    \
  void prefix##Gemv(const char* t, const int* m, const int* n, const T* alpha, const T* a, const int* lda, const T* x, \
                    const int* incx, const T* beta, T* y, const int* incy) {                                           \
    cblas_##prefix##gemv(CblasColMajor, transposeOf(t), *m, *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);           \
  }                                                                                                                    \
  void prefix##Syrk(const char* uplo, const char* t, const int* n, const int* k, const T* alpha, const T* a,           \
                    const int* lda, const T* beta, T* c, const int* ldc) {                                             \
    cblas_##prefix##syrk(CblasColMajor, triangleOf(uplo), transposeOf(t), *n, *k, *alpha, a, *lda, *beta, c, *ldc);    \
  }                                                                                                                    \
  void prefix##Trmm(const char* side, const char* uplo, const char* t, const char* diag, const int* m, const int* n,   \
                    const T* alpha, const T* a, const int* lda, T* b, const int* ldb) {                                \
    cblas_##prefix##trmm(CblasColMajor, sideOf(side), triangleOf(uplo), transposeOf(t), diagonalOf(diag), *m, *n,      \
                         *alpha, a, *lda, b, *ldb);                                                                    \
  }                                                                                                                    \
  void prefix##Trsm(const char* side, const char* uplo, const char* t, const char* diag, const int* m, const int* n,   \
                    const T* alpha, const T* a, const int* lda, T* b, const int* ldb) {                                \
    cblas_##prefix##trsm(CblasColMajor, sideOf(side), triangleOf(uplo), transposeOf(t), diagonalOf(diag), *m, *n,      \
                         *alpha, a, *lda, b, *ldb);                                                                    \
  }                                                                                                                    \
  void prefix##Potrf(const char* uplo, const int* n, T* a, const int* lda, int* info) {                                \
    prefix##potrf_(uplo, n, a, lda, info);                                                                             \
  }                                                                                                                    \
  LapackRoutines<T> prefix##Lapack() {                                                                                 \
    LapackRoutines<T> routines;                                                                                        \
    take(routines.syevd, prefix##syevd_);                                                                              \
    take(routines.sytrd, prefix##sytrd_);                                                                              \
    take(routines.stedc, prefix##stedc_);                                                                              \
    take(routines.gebrd, prefix##gebrd_);                                                                              \
    take(routines.bdsdc, prefix##bdsdc_);                                                                              \
    take(routines.geqrf, prefix##geqrf_);                                                                              \
    take(routines.orgqr, prefix##orgqr_);                                                                              \
    take(routines.gesdd, prefix##gesdd_);                                                                              \
    take(routines.gejsv, prefix##gejsv_);                                                                              \
    take(routines.pstrf, prefix##pstrf_);                                                                              \
    take(routines.getrf, prefix##getrf_);                                                                              \
    take(routines.getrs, prefix##getrs_);                                                                              \
    return routines;                                                                                                   \
  }

COVARIUM_ROUTINES(float, s)
COVARIUM_ROUTINES(double, d)

}  // namespace

const Blas* installedBlas(std::string& reason) {
  static const Blas accelerate = [] {
    Blas library;
    library.name = "Accelerate";
    library.lapackName = library.name;
    library.path = "Accelerate.framework";
    library.float32 = {sGemm, sGemv, sSyrk, sTrmm, sTrsm, sPotrf};
    library.float64 = {dGemm, dGemv, dSyrk, dTrmm, dTrsm, dPotrf};
    library.lapack32 = sLapack();
    library.lapack64 = dLapack();
    library.hasMatrixUnit = true;
    return library;
  }();
  reason.clear();
  return &accelerate;
}

unsigned promiseThreads(const Blas&, unsigned threads, std::string&) { return threads; }
void returnThreads(const Blas&, unsigned) {}

}  // namespace covarium::cpu
