#include "support/lazy_library.hpp"

#include <dlfcn.h>

namespace sagekit {

LazyLibrary::LazyLibrary(const char* file) : m_file(file), m_library(::dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (m_library == nullptr) m_fault = m_file + " is not on this machine";
}

void* LazyLibrary::address(const char* symbol) {
  if (m_library == nullptr) return nullptr;
  void* const found = ::dlsym(m_library, symbol);
  if (found == nullptr && m_fault.empty()) m_fault = m_file + " is too old: it has no " + symbol;
  return found;
}

}  // namespace sagekit
