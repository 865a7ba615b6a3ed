#pragma once

#include <memory>
#include <vector>

#include "../device.h"

namespace covarium::gpu {

enum class Access { read, write, readAndWrite };

// Memory of the host that the GPU works on copies of: copied in before the commands of a part run, and out after them.
struct HostCopy {
  std::shared_ptr<Buffer> host;
  char* data;
  size_t sizeBytes;
  bool read, written;
};

// The copies of a part. Memory may lie in what there is a copy of, but must not straddle or enclose it, nor lie in two
// copies (operands of one command may overlap), of which one is out of date.
class HostCopies {
 public:
  bool takes(const Operand& operand) const;
  // Whether place() needs no new copy.
  bool holds(const Operand& operand) const { return indexOf(operand) < copies_.size(); }
  struct Place {
    size_t copy, offsetBytes;
    bool isNew;
  };
  Place place(const Operand& operand, Access access);
  const std::vector<HostCopy>& all() const { return copies_; }

 private:
  // Of the first copy in which it lies; behind the last where there is none.
  size_t indexOf(const Operand& operand) const;

  std::vector<HostCopy> copies_;
};

}  // namespace covarium::gpu
