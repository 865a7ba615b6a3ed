#include "gpu-part.h"

#include <chrono>
#include <cstring>

#include "gpu.h"

namespace covarium::metal {

void refuseSharedParts(const std::string& kernel, const std::vector<Operand>& operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (dynamic_cast<MetalBuffer*>(operands[i].buffer.get()) != nullptr) continue;
    for (size_t j = 0; j < i; ++j) {
      if (dynamic_cast<MetalBuffer*>(operands[j].buffer.get()) != nullptr) continue;
      const char *a = operands[i].as<char>(), *b = operands[j].as<char>();
      const char *endOfA = a + operands[i].sizeBytes(), *endOfB = b + operands[j].sizeBytes();
      const bool apart = endOfA <= b || endOfB <= a, same = a == b && endOfA == endOfB;
      if (!apart && !same)
        throw Failure("ERR_INVALID_ARGUMENT", "Operands (" + std::to_string(j) + ") and (" + std::to_string(i) +
                                                  ") of kernel (" + kernel + ") share a part of the host's memory.");
    }
  }
}

bool GpuPart::takes(const Operand& operand) const {
  return dynamic_cast<MetalBuffer*>(operand.buffer.get()) != nullptr || copies_.takes(operand);
}

View GpuPart::view(const Operand& operand, Access access) {
  if (auto buffer = std::dynamic_pointer_cast<MetalBuffer>(operand.buffer)) return {buffer, operand.offsetBytes};
  // Memory is allocated first: if there is none, the part stays as it is.
  auto fresh = copies_.holds(operand) ? nullptr : gpu_.memory().allocate(operand.sizeBytes());
  const HostCopies::Place place = copies_.place(operand, access);
  if (place.isNew) copied_.push_back(std::move(fresh));
  return {copied_[place.copy], place.offsetBytes};
}

std::shared_ptr<MetalBuffer> GpuPart::scratch(size_t sizeBytes) {
  for (const auto& buffer : scratch_)
    if (buffer.use_count() == 1 && buffer->sizeBytes() >= sizeBytes) return buffer;
  return readable(sizeBytes);
}

std::shared_ptr<MetalBuffer> GpuPart::readable(size_t sizeBytes) {
  scratch_.push_back(gpu_.memory().allocate(sizeBytes));
  return scratch_.back();
}

void GpuPart::encode(Encoding& encoding) {
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& command : commands_) command(encoding);
  if (isSliced()) return;  // it waited for the GPU meanwhile
  encodeMs_ = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void GpuPart::check() const {
  for (const auto& check : checks_) check();
}

void GpuPart::start(std::function<void(const Outcome&)> ended) {
  const AutoreleasePool pool;
  Encoding encoding(gpu_, *this);
  encode(encoding);
  const auto commandBuffer = encoding.finish();
  [commandBuffer.get() addCompletedHandler:^(id<MTLCommandBuffer> completed) {
    const AutoreleasePool own;
    ended([this, completed] {
      double before = 0;
      const double milliseconds = millisecondsOf(completed, before);
      check();
      return milliseconds;
    });
  }];
  [commandBuffer.get() commit];
}

double GpuPart::run() {
  const AutoreleasePool pool;
  const auto& copies = copies_.all();
  for (size_t i = 0; i < copies.size(); ++i)
    if (copies[i].read) memcpy(copied_[i]->contents(), copies[i].data, copies[i].sizeBytes);
  double milliseconds = 0;
  {
    Encoding encoding(gpu_, *this);
    encode(encoding);
    const auto last = encoding.finish();
    [last.get() commit];
    milliseconds = encoding.waitFor(last.get());
  }
  check();
  for (size_t i = 0; i < copies.size(); ++i)
    if (copies[i].written) memcpy(copies[i].data, copied_[i]->contents(), copies[i].sizeBytes);
  return milliseconds;
}

}  // namespace covarium::metal
