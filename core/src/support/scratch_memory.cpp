#include "support/scratch_memory.hpp"

#include <sys/mman.h>

#include <limits>
#include <new>

namespace sagekit {

namespace {
constexpr std::size_t k_huge_page = std::size_t{2} << 20;
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
  const std::size_t rounded = (size + k_huge_page) / k_huge_page * k_huge_page;  // more than nothing, even for nothing
  void* const data = ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  ::madvise(data, rounded, MADV_HUGEPAGE);  // only an advice
  m_data = static_cast<char*>(data);
  m_capacity = rounded;
  return m_data;
}

}  // namespace sagekit
