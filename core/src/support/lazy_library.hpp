#pragma once
// Shared libraries that only some commands need: loaded when they are first used, so that nobody else waits for them
// and a machine without them can do the rest.

#include <sagekit/error.hpp>

#include <string>

namespace sagekit {

/// Loaded by its file name from where the loader looks; never closed, for libraries keep threads and exit handlers.
class LazyLibrary {
 public:
  explicit LazyLibrary(const char* file);

  /// The function of that name; a null pointer and a fault when there is none.
  template <class Function>
  Function find(const char* symbol) {
    return reinterpret_cast<Function>(address(symbol));
  }

  /// Why it cannot be used, in words: it is not there, or lacks a symbol that was asked for. "" = it can.
  const std::string& fault() const { return m_fault; }

 private:
  void* address(const char* symbol);

  std::string m_file;
  void* m_library;
  std::string m_fault;
};

/// A member of a struct that begins with `LazyLibrary library`: one of its functions, found when the struct is made.
/// Portable.cmake reads these lines.
#define SAGEKIT_LAZY(member, symbol) decltype(&::symbol) member = library.find<decltype(&::symbol)>(#symbol)

/// Such a struct, made once for the process. `code` (machine): the library is not there. Thread-safe.
template <class Library>
Result<const Library*> load_once(const char* code, const char* hint) {
  static const Library k_library;
  if (!k_library.library.fault().empty()) return fail(ErrorKind::machine, code, k_library.library.fault(), hint);
  return &k_library;
}

}  // namespace sagekit
