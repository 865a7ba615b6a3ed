#pragma once

#include "execution.h"

namespace covarium::cpu {

// Encoder.meanAndCovariance of lib/backend.ts. The same bits with any number of threads: rows are cut into a fixed
// number of chunks, whose float64 sums are added in order.
template <typename T>
void meanAndCovariance(const Execution& execution, const T* rows, T* mean, T* covariance, size_t count, size_t n,
                       double ddof);

// Encoder.addMoments, likewise; weights and products may be null.
template <typename T>
void addMoments(const Execution& execution, const T* rows, const double* weights, const double* centre, double* sums,
                double* products, size_t count, size_t n);

// Encoder.addPowers, likewise.
template <typename T>
void addPowers(const Execution& execution, const T* rows, const double* weights, const double* centre, double* sums,
               size_t count, size_t n);

extern template void addPowers(const Execution&, const float*, const double*, const double*, double*, size_t, size_t);
extern template void addPowers(const Execution&, const double*, const double*, const double*, double*, size_t, size_t);
extern template void addMoments(const Execution&, const float*, const double*, const double*, double*, double*, size_t,
                                size_t);
extern template void addMoments(const Execution&, const double*, const double*, const double*, double*, double*, size_t,
                                size_t);
extern template void meanAndCovariance(const Execution&, const float*, float*, float*, size_t, size_t, double);
extern template void meanAndCovariance(const Execution&, const double*, double*, double*, size_t, size_t, double);

}  // namespace covarium::cpu
