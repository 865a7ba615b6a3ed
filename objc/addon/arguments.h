// Arguments of a call from JavaScript, as C++ values. The face has checked them; what is checked here again would touch
// memory that is not the operand's.
#pragma once

#include <napi.h>

#include <initializer_list>

#include "../device.h"

namespace covarium::addon {

double numberAt(const Napi::CallbackInfo& info, size_t index);
bool booleanAt(const Napi::CallbackInfo& info, size_t index);
// From 1 to 2^53.
size_t sizeAt(const Napi::CallbackInfo& info, size_t index);
// 'auto', 'cpu', 'gpu' or 'mps'.
FactorOn factorOnAt(const Napi::CallbackInfo& info, size_t index);
// Six words: seed, stream, first, the low word before the high.
NormalCounter counterAt(const Napi::CallbackInfo& info, size_t index);
// Up to three numbers of 32 bits; those left out are 1.
Size3 sizeTripleAt(const Napi::CallbackInfo& info, size_t index);

void requireLength(const Operand& operand, size_t length);
void requireLength(const Operand& operand, size_t rows, size_t columns);
void requireSquare(const Operand& operand, size_t n);
// Whole matrices of n x n; returns how many.
size_t requireSquares(const Operand& operand, size_t n);
// Whole rows of n.
void requireRows(const Operand& operand, size_t n);
void requireSameType(std::initializer_list<const Operand*> operands);

}  // namespace covarium::addon
