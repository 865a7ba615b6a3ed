// The inverse of the standard normal's distribution function: PPND16 of Wichura (AS 241, Applied Statistics 37, 1988),
// as lib/probability/standard-normal.ts has it, with the logarithm of radial-scale.h. Written over the types of a
// number and of a 64-bit word, as normal-float64.h is.
#pragma once

#include "radial-scale.h"

namespace covarium::normal_quantile {

using namespace radial_scale;

static inline bool isAny(uint64_t mask) { return mask != 0; }

// Numerator and denominator, highest power first.
struct Ratio {
  double top[8], bottom[8];
};

constexpr Ratio centre = {{2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987,
                           13731.69376550946, 1971.5909503065513, 133.14166789178438, 3.3871328727963665},
                          {5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597,
                           5394.196021424751, 687.1870074920579, 42.31333070160091, 1}};
constexpr Ratio tails = {{0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684,
                          3.6478483247632045, 5.769497221460691, 4.630337846156546, 1.4234371107496835},
                         {1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008,
                          0.6897673349851, 1.6763848301838038, 2.053191626637759, 1}};
constexpr Ratio extremes = {{2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124,
                             0.29656057182850487, 1.7848265399172913, 5.463784911164114, 6.657904643501103},
                            {2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 0.0007868691311456133,
                             0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1}};

template <typename Real>
static inline Real polynomial(const double (&coefficients)[8], Real x) {
  Real sum = Real(coefficients[0]);
  for (int i = 1; i < 8; ++i) sum = sum * x + Real(coefficients[i]);
  return sum;
}

// ln x of a positive x; a subnormal one is made larger first.
template <typename Real>
static inline Real anyLogarithm(Real x) {
  const auto small = lessThan(x, Real(0x1p-1000));
  return logarithm(select(x, x * Real(0x1p64), small)) - select(Real(0), Real(64 * (log2High + log2Low)), small);
}

// The z below which a standard normal lies with probability p, which is between 0 and 1.
template <typename Real>
static inline Real normalQuantile(Real p) {
  const Real q = p - Real(0.5);
  const auto below = lessThan(q, Real(0));
  const auto inTail = lessThan(Real(0.425), select(q, Real(0) - q, below));
  const Real inside = Real(0.180625) - q * q;
  Real top = q * polynomial(centre.top, inside);
  Real bottom = polynomial(centre.bottom, inside);
  if (isAny(inTail)) {
    const Real r = squareRoot(Real(0) - anyLogarithm(select(Real(1) - p, p, below)));
    Real tailTop = polynomial(tails.top, r - Real(1.6));
    Real tailBottom = polynomial(tails.bottom, r - Real(1.6));
    const auto isExtreme = lessThan(Real(5), r) & inTail;
    if (isAny(isExtreme)) {
      tailTop = select(tailTop, polynomial(extremes.top, r - Real(5)), isExtreme);
      tailBottom = select(tailBottom, polynomial(extremes.bottom, r - Real(5)), isExtreme);
    }
    top = select(top, select(tailTop, Real(0) - tailTop, below), inTail);
    bottom = select(bottom, tailBottom, inTail);
  }
  return top / bottom;
}

}  // namespace covarium::normal_quantile
