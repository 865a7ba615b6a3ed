// Long work is made in slices: a cancelled commit soon stops, and what one slice has made is copied while the GPU makes
// the next.
#pragma once

#include <algorithm>
#include <cstddef>

namespace covarium::gpu {

// Of an H100 and of an H200, for which the numbers of groups that keep a GPU busy were chosen.
constexpr size_t processorsOfH100 = 132;

// Calls body(first, count) for slices of at most `most`, in order.
template <typename Body>
void forSlices(size_t count, size_t most, const Body& body) {
  for (size_t first = 0; first < count; first += most) body(first, std::min(most, count - first));
}

// Groups of at most `size`.
inline size_t groupsOf(size_t count, size_t size) { return (count + size - 1) / size; }

}  // namespace covarium::gpu
