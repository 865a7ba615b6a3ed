#pragma once

#include "../device.h"
#include "encoding.h"

namespace covarium::metal {

// CommandBuffer::sample of device.h. Up to fusedColumns one kernel does it all; beyond it, by blocks of rows, the
// normals, the means and one product, or the normals and one solve.
void sample(Encoding& encoding, View factor, View mean, View out, size_t count, size_t n, bool inverse,
            NormalCounter counter);
// CommandBuffer::logDensity.
void logDensity(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n, bool inverse,
                double constant);

constexpr size_t fusedColumns = 64;

}  // namespace covarium::metal
