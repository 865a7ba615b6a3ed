#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace covarium {

// Memory that commands read and write. Commands in flight share the ownership, so that a buffer outlives its close().
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual void* contents() const = 0;
  virtual size_t sizeBytes() const = 0;
  // Says that nothing writes to these bytes from now on: a GPU with its own memory may keep a copy.
  virtual void settle(size_t /*offsetBytes*/, size_t /*sizeBytes*/) {}
  // Says that the host is about to read or write the buffer: what only a GPU has is copied to the contents. Any
  // thread may call it.
  virtual void fetch() {}
};

enum class Dtype : uint8_t { float32, float64, int32, uint32, uint8 };

// Bytes of one element.
inline size_t bytesOf(Dtype dtype) { return dtype == Dtype::float64 ? 8 : dtype == Dtype::uint8 ? 1 : 4; }

// `length` elements of a buffer from `offsetBytes` on. Dense and row-major; the shape comes with each command.
struct Operand {
  std::shared_ptr<Buffer> buffer;
  size_t offsetBytes;
  size_t length;
  Dtype dtype;

  size_t sizeBytes() const { return length * bytesOf(dtype); }
  // The address of the operand, whether its numbers are there or not; it tells operands from each other.
  char* address() const { return static_cast<char*>(buffer->contents()) + offsetBytes; }
  // For the host to read and write.
  void* data() const {
    buffer->fetch();
    return address();
  }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data());
  }
};

}  // namespace covarium
