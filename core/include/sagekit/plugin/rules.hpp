#pragma once
// C++ comfort for rule authors: views over plugin/abi.h and SAGEKIT_RULES. Header-only, C++17, links nothing.
//
//   void judge(const sagekit::rules::Artifact& wheel, const sagekit::rules::Reporter& report) {
//     for (const auto module : wheel.modules())
//       if (module.gpu().empty()) report.error("ABC001", "holds no GPU code", module.path());
//   }
//   SAGEKIT_RULES(judge)
//
// Every view is valid during the call and no longer.

#include <sagekit/plugin/abi.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <string_view>

namespace sagekit::rules {

inline std::string_view text(sagekit_str s) { return s.data ? std::string_view(s.data, s.size) : std::string_view(); }
inline sagekit_str text(std::string_view s) { return {s.data(), s.size()}; }

/// A C array seen through `View`: what a range-for over it yields.
template <class Item, class View>
class Sequence {
 public:
  class Iterator {
   public:
    explicit Iterator(const Item* at) : m_at(at) {}
    View operator*() const { return View(*m_at); }
    Iterator& operator++() {
      ++m_at;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return m_at != other.m_at; }

   private:
    const Item* m_at;
  };

  Sequence(const Item* items, std::size_t size) : m_items(items), m_size(items ? size : 0) {}
  Iterator begin() const { return Iterator(m_items); }
  Iterator end() const { return Iterator(m_items + m_size); }
  std::size_t size() const { return m_size; }
  bool empty() const { return m_size == 0; }

 private:
  const Item* m_items;
  std::size_t m_size;
};

/// A string of the boundary that reads as a std::string_view.
struct Text : std::string_view {
  explicit Text(const sagekit_str& s) : std::string_view(text(s)) {}
};
using Texts = Sequence<sagekit_str, Text>;

inline bool contains(const Texts& texts, std::string_view wanted) {
  for (const std::string_view item : texts)
    if (item == wanted) return true;
  return false;
}

using GpuCode = sagekit_gpu_code;  ///< of one kind; `capability` is 10 * major + minor: 90, 121

/// What was measured about one extension module.
class Module {
 public:
  explicit Module(const sagekit_module& module) : m_module(&module) {}
  std::string_view name() const { return text(m_module->name); }  ///< dotted: "sageattention._fused"
  std::string_view path() const { return text(m_module->path); }  ///< in the wheel
  Texts needed() const { return {m_module->needed, m_module->needed_count}; }
  Texts exports() const { return {m_module->exports, m_module->exports_count}; }
  Texts undefined() const { return {m_module->undefined, m_module->undefined_count}; }
  Sequence<sagekit_gpu_code, GpuCode> gpu() const { return {m_module->gpu, m_module->gpu_count}; }

 private:
  const sagekit_module* m_module;
};

/// One wheel, or the files it will be made of.
class Artifact {
 public:
  explicit Artifact(const sagekit_artifact& artifact) : m_artifact(&artifact) {}
  std::string_view distribution() const { return text(m_artifact->distribution); }
  std::string_view version() const { return text(m_artifact->version); }
  std::string_view python() const { return text(m_artifact->python); }      ///< "3.12"; empty = not known
  std::string_view torch() const { return text(m_artifact->torch); }        ///< "2.11.0"; empty = not known
  std::string_view cuda() const { return text(m_artifact->cuda); }          ///< "13.0"; empty = not known
  std::string_view platform() const { return text(m_artifact->platform); }  ///< "linux_x86_64"
  Sequence<sagekit_module, Module> modules() const { return {m_artifact->modules, m_artifact->modules_count}; }
  Texts files() const { return {m_artifact->files, m_artifact->files_count}; }

  std::optional<Module> module(std::string_view name) const {
    for (const Module item : modules())
      if (item.name() == name) return item;
    return std::nullopt;
  }
  /// The text of one file; nothing when the wheel has no such file.
  std::optional<std::string_view> read_file(std::string_view path) const {
    const sagekit_str found = m_artifact->read_file(m_artifact->context, text(path));
    return found.data ? std::optional(text(found)) : std::nullopt;
  }

 private:
  const sagekit_artifact* m_artifact;
};

/// How a judge speaks. `code` is a stable word of the plugin: letters, digits, `-`, `_` and `.`, such as "HOP001".
/// `where` is the wheel's member it is about; empty = the whole wheel.
class Reporter {
 public:
  explicit Reporter(const sagekit_report& report) : m_report(&report) {}
  void error(std::string_view code, std::string_view message, std::string_view where = {}) const {
    add(SAGEKIT_ERROR, code, message, where);
  }
  void warning(std::string_view code, std::string_view message, std::string_view where = {}) const {
    add(SAGEKIT_WARNING, code, message, where);
  }
  void note(std::string_view code, std::string_view message, std::string_view where = {}) const {
    add(SAGEKIT_NOTE, code, message, where);
  }

 private:
  void add(std::int32_t severity, std::string_view code, std::string_view message, std::string_view where) const {
    m_report->add(m_report->context, severity, text(code), text(message), text(where));
  }
  const sagekit_report* m_report;
};

/// Calls `judge`; an exception becomes the error finding `rule-threw`, for it must not cross the boundary.
template <class Judge>
void run(Judge judge, const sagekit_artifact& artifact, const sagekit_report& report) noexcept {
  const Reporter reporter(report);
  try {
    judge(Artifact(artifact), reporter);
  } catch (const std::exception& error) {
    reporter.error("rule-threw", error.what());
  } catch (...) {
    reporter.error("rule-threw", "something that is not a std::exception");
  }
}

}  // namespace sagekit::rules

/// Makes `function(const Artifact&, const Reporter&)` this plugin's judge; once, at namespace scope.
#define SAGEKIT_RULES(function)                                                                                   \
  extern "C" void sagekit_plugin_rules(const sagekit_artifact*, const sagekit_report*) noexcept;                  \
  extern "C" void sagekit_plugin_rules(const sagekit_artifact* artifact, const sagekit_report* report) noexcept { \
    ::sagekit::rules::run(function, *artifact, *report);                                                          \
  }
