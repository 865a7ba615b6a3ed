// A stand-in for OpenBLAS that lies, for test/native/blas.test.ts: it is linked to the real OpenBLAS, which computes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// Takes every processor for a Prescott unless the environment says otherwise when it is loaded.
static char core[32] = "Prescott";
__attribute__((constructor)) static void look(void) {
  const char* asked = getenv("OPENBLAS_CORETYPE");
  if (asked != NULL) strncpy(core, asked, sizeof core - 1);
}
const char* openblas_get_corename(void) { return core; }

#ifdef WRONG
typedef void Gemm(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                  const int*, const double*, const int*, const double*, double*, const int*);

// Makes one entry at the edge of a tile wrong.
void dgemm_(const char* transA, const char* transB, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc) {
  ((Gemm*)dlsym(RTLD_NEXT, "dgemm_"))(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (*m > 16 && *m % 16 == 1) c[*m - 1] += 1;
}
#endif
