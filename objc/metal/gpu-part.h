#pragma once

#include <functional>
#include <string>
#include <vector>

#include "encoding.h"
#include "../gpu/host-copies.h"
#include "../gpu/part.h"

namespace covarium::metal {

// Throws ERR_INVALID_ARGUMENT if two operands of a kernel partly overlap in the host's memory. The GPU has a copy of
// each array there, so each copy would hold half of what the kernel writes.
void refuseSharedParts(const std::string& kernel, const std::vector<Operand>& operands);

// Consecutive commands for the GPU: those between two commands for the CPU, or all commands of the commit. Operands
// in the host's memory have copies in buffers of the GPU, which are copied in before the commands run and out after
// them.
class GpuPart : public Part {
 public:
  GpuPart(Gpu& gpu, const Commit& commit) : gpu_(gpu), commit_(commit) {}

  // Whether the part can take this operand (HostCopies).
  bool takes(const Operand& operand) const;
  View view(const Operand& operand, Access access);
  void add(std::function<void(Encoding&)> command) { commands_.push_back(std::move(command)); }
  // Says about what the last command takes on a slow GPU.
  void takesSeconds(double seconds) { seconds_ += seconds; }

  // Called by the encoding while it goes on.
  // The GPU runs one command after another, so scratch that nobody holds any more is reused.
  std::shared_ptr<MetalBuffer> scratch(size_t sizeBytes);
  // Memory that no command has used, for the host to write to before the commit.
  std::shared_ptr<MetalBuffer> readable(size_t sizeBytes);
  void afterwards(std::function<void()> check) { checks_.push_back(std::move(check)); }
  void stopIfCancelled() const { commit_.stopIfCancelled(); }
  // Whether it is cut into several command buffers, which someone must wait for.
  bool isSliced() const { return isLong(seconds_); }

  bool isShort() const override { return copies_.all().empty() && !isSliced(); }
  void start(std::function<void(const Outcome&)> ended) override;
  double run() override;

 private:
  void encode(Encoding& encoding);
  void check() const;

  Gpu& gpu_;
  const Commit& commit_;
  std::vector<std::function<void(Encoding&)>> commands_;
  HostCopies copies_;
  std::vector<std::shared_ptr<MetalBuffer>> copied_;  // one for each of copies_
  std::vector<std::shared_ptr<MetalBuffer>> scratch_;
  std::vector<std::function<void()>> checks_;
  double seconds_ = 0;
};

}  // namespace covarium::metal
