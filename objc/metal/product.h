#pragma once

#include "../device.h"
#include "encoding.h"

namespace covarium::metal {

// CommandBuffer::product of device.h: a product of a matrix and a vector if the result is one row or one column, else
// by blocks of the result's rows.
void product(Encoding& encoding, View a, View b, View c, const ProductShape& shape);

}  // namespace covarium::metal
