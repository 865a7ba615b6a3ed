// Commands over rows of vectors, by kernels of msl/. Each reports by Encoding::worked what it costs.
#pragma once

#include "../device.h"
#include "../gpu/cost.h"
#include "../gpu/slices.h"
#include "encoding.h"

namespace covarium::metal {

// Rows of a block of scratch: enough to keep the GPU busy, and few enough that two blocks take little memory. If
// there are more than a tile of a product has, they are whole tiles, so that no few rows are left over.
size_t rowsPerBlock(size_t columns);

void fillNormal(Encoding& encoding, View out, size_t count, NormalCounter counter);
void addRow(Encoding& encoding, View rows, View row, float scale, size_t count, size_t n);
// out = rows - mean, of at most rowsPerBlock rows.
void lessMean(Encoding& encoding, View rows, View mean, View out, size_t count, size_t n);
void scaleColumns(Encoding& encoding, View rows, View row, size_t count, size_t n);
void squaredNorms(Encoding& encoding, View rows, View out, size_t count, size_t n);
// out[r] = constant - |row r|^2 / 2.
void logDensityOfNorms(Encoding& encoding, View rows, View out, float constant, size_t count, size_t n);

}  // namespace covarium::metal
