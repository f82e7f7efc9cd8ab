#include "support/scratch_memory.hpp"

#include <sys/mman.h>

#include <limits>
#include <new>

namespace sagekit {

namespace {
constexpr std::size_t k_huge_page = std::size_t{2} << 20;
constexpr std::size_t k_small = std::size_t{64} << 10;
}  // namespace

ScratchMemory::~ScratchMemory() { release(); }

void ScratchMemory::release() {
  if (m_data != nullptr) ::munmap(m_data, m_capacity);
  m_data = nullptr;
  m_capacity = 0;
}

char* ScratchMemory::room(std::size_t size) {
  if (size <= m_capacity && m_data != nullptr) return m_data;
  release();
  if (size > std::numeric_limits<std::size_t>::max() - k_huge_page) throw std::bad_alloc();
  // A huge page is cleared before it is given: for a text of a kilobyte that is most of the work.
  const bool huge = size >= k_huge_page / 4;
  const std::size_t step = huge ? k_huge_page : k_small;
  const std::size_t rounded = (size + step) / step * step;  // more than nothing, even for nothing
  void* const data = ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  ::madvise(data, rounded, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // only an advice
  m_data = static_cast<char*>(data);
  m_capacity = rounded;
  return m_data;
}

}  // namespace sagekit
