// A user's kernel on the GPU: PTX, which lib/kernel/cuda had compiled.
#pragma once

#include "part.h"

namespace covarium::cuda {

class UserKernel : public Kernel {
 public:
  // Loads the PTX of the file `source.library`. Throws ERR_UNSUPPORTED with the reason if this GPU can't take it.
  UserKernel(std::shared_ptr<Gpu> gpu, const KernelSource& source);
  ~UserKernel() override;

  // Where an element of the parameter's type can begin, or a texel, whose texture has this header.
  size_t alignmentBytes(size_t parameter, const std::vector<uint8_t>& header) const {
    return parameters[parameter].isTexture() ? TextureHeader::of(header).componentBytes() : alignments_[parameter];
  }
  bool isOf(const Gpu& gpu) const { return gpu_.get() == &gpu; }

  // What a parameter takes: memory of the GPU, bytes that go there with the launch, or room in a group's own memory.
  struct Argument {
    bool isView;
    View view;
    std::vector<uint8_t> bytes;
    size_t threadgroupBytes;
  };
  void launch(Run& run, const std::vector<Argument>& arguments, Size3 grid, Size3 threadgroup) const;

 private:
  void readLayout(const std::string& ptx);

  std::shared_ptr<Gpu> gpu_;
  Module module_ = nullptr;
  Function function_ = nullptr;
  std::vector<size_t> alignments_;
};

}  // namespace covarium::cuda
