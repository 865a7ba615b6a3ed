#pragma once

#include "part.h"

namespace covarium::gpu {

// Commands that the CPU runs, over the bytes that the GPU sees too.
class HostPart : public Part {
 public:
  explicit HostPart(std::shared_ptr<CommandBuffer> commands) : commands_(std::move(commands)) {}
  CommandBuffer& commands() { return *commands_; }

  double run() override { return commands_->commitAndWait().deviceMs; }
  void cancel() override { commands_->cancel(); }

 private:
  std::shared_ptr<CommandBuffer> commands_;
};

}  // namespace covarium::gpu
