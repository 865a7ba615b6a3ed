#pragma once

#include <memory>
#include <vector>

#include "../device.h"

namespace covarium::gpu {

enum class Access { read, write, readAndWrite };

// Memory of the host with a copy on which the GPU works: copied in before the commands of a part run, and out after
// them.
struct HostCopy {
  std::shared_ptr<Buffer> host;
  char* data;
  size_t sizeBytes;
  bool read, written;
};

// The copies of a part. Memory may lie within memory that has a copy, but must not straddle or enclose it. Nor may it
// lie in two copies (operands of one command may overlap), because one of them is out of date.
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
  // The index of the first copy in which the operand lies; the number of copies if there is none.
  size_t indexOf(const Operand& operand) const;

  std::vector<HostCopy> copies_;
};

}  // namespace covarium::gpu
