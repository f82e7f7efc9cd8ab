#pragma once
// Memory for large contents that are made one after the other.

#include <cstddef>

namespace sagekit {

/// Room that is used again and again, so that its pages are asked of the system once; large room in huge pages where
/// the system has them. Not for two threads at once.
class ScratchMemory {
 public:
  ScratchMemory() = default;
  ~ScratchMemory();
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

  /// Room for `size` bytes, not initialised; what was in it before is lost. Throws std::bad_alloc.
  char* room(std::size_t size);
  std::size_t capacity() const { return m_capacity; }

 private:
  void release();

  char* m_data = nullptr;
  std::size_t m_capacity = 0;
};

}  // namespace sagekit
