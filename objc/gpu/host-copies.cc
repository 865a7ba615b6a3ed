#include "host-copies.h"

namespace covarium::gpu {

bool HostCopies::takes(const Operand& operand) const {
  const char *begin = operand.address(), *end = begin + operand.sizeBytes();
  int holders = 0;
  for (const HostCopy& copy : copies_) {
    const bool apart = end <= copy.data || copy.data + copy.sizeBytes <= begin;
    const bool inside = copy.data <= begin && end <= copy.data + copy.sizeBytes;
    if (!apart && !inside) return false;
    if (inside) ++holders;
  }
  return holders <= 1;
}

size_t HostCopies::indexOf(const Operand& operand) const {
  const char *begin = operand.address(), *end = begin + operand.sizeBytes();
  size_t index = 0;
  while (index < copies_.size() &&
         (begin < copies_[index].data || copies_[index].data + copies_[index].sizeBytes < end))
    ++index;
  return index;
}

HostCopies::Place HostCopies::place(const Operand& operand, Access access) {
  char* begin = operand.address();
  const size_t index = indexOf(operand);
  if (index < copies_.size()) {
    HostCopy& copy = copies_[index];
    copy.written |= access != Access::read;
    return {index, static_cast<size_t>(begin - copy.data), false};
  }
  copies_.push_back({operand.buffer, begin, operand.sizeBytes(), access != Access::write, access != Access::read});
  return {copies_.size() - 1, 0, true};
}

}  // namespace covarium::gpu
