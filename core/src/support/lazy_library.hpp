#pragma once
// Shared libraries that only some commands need: loaded when they are first used, so that nobody else waits for them
// and a machine without them can do the rest.

#include <string>

namespace sagekit {

/// Loaded by its file name from where the loader looks; never closed, for libraries keep threads and exit handlers.
class LazyLibrary {
 public:
  explicit LazyLibrary(const char* file);

  /// Sets `function`, a pointer to one, to the symbol of that name; a null pointer and a fault when there is none.
  template <class Function>
  void find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(address(symbol));
  }

  /// Why it cannot be used, in words: it is not there, or lacks a symbol that was asked for. "" = it can.
  const std::string& fault() const { return m_fault; }

 private:
  void* address(const char* symbol);

  std::string m_file;
  void* m_library;
  std::string m_fault;
};

}  // namespace sagekit
