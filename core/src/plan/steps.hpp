#pragma once
// The steps of a plan, each once: a step is known by what its argv depends on, so that equal work has one number
// whichever cells need it, and the argv is written only for steps that are new.

#include "plan/arches.hpp"
#include "plan/argv.hpp"
#include "plan/matrix.hpp"

#include <sagekit/plan.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sagekit {

/// A module of the cells of one torch and CUDA.
struct ModulePart {
  const KernelSpec* kernel = nullptr;
  std::vector<Gencode> gencode;
  std::uint32_t gencode_number = 0;  ///< equal lists have equal numbers (StepTable::number)
};

class StepTable {
 public:
  /// `full` = false: steps are counted and their cost summed, nothing is kept of them.
  /// `microsoft`: modules for Windows are made with Microsoft's headers and libraries.
  StepTable(const Spec& spec, const Matrix& matrix, bool full, bool microsoft);

  std::uint32_t number(const std::vector<Gencode>& gencode);

  /// All steps of a module of a cell, the link step last. Valid until the next call.
  const std::vector<std::uint32_t>& module_steps(const ModulePart& part, Point point);
  /// The one step of a cell that upstream's setup.py builds.
  std::uint32_t setup_py_step(const Cell& cell, const std::vector<ModulePart>& parts);

  /// Names the cell as a user of its steps (with repetition) and returns their ids; full tables only.
  std::vector<std::string> use(const std::vector<std::uint32_t>& steps, const std::string& cell);
  const std::string& id(std::uint32_t step) const { return m_steps[step].id; }

  std::uint64_t count() const { return m_count; }
  double cpu_seconds() const { return m_cpu_seconds; }
  std::uint64_t peak_memory_bytes() const { return m_peak_memory_bytes; }
  std::vector<Step> take() { return std::move(m_steps); }

 private:
  /// What an argv depends on. 0xffff = does not depend on that axis.
  struct Key {
    std::uint32_t flavour = 0;  ///< of the kernel and source: see `flavour`
    std::uint32_t gencode = 0;
    std::uint16_t torch = 0, cuda = 0, platform = 0, python = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  /// A source file of a kernel, or its link.
  struct Work {
    StepKind kind = StepKind::compile;
    std::string source;
    std::uint32_t flavour = 0;
    bool sees_torch = false, sees_python = false;
    bool shared = true;  ///< may serve several cells: it does not see every axis, or several kernels have it
  };

  std::vector<Work> works_of(const KernelSpec& kernel);
  void mark_shared();
  std::uint32_t find_or_make(const Work& work, const ModulePart& part, Point point);
  Step make(const Work& work, const ModulePart& part, Point point);
  std::uint32_t add(const Work& work, const ModulePart& part, Point point);
  std::uint32_t tally(double cpu_seconds, std::uint64_t memory_bytes);
  double cpu_seconds_of(const Work& work, const ModulePart& part, Point point, const Cost& cost);
  Cost cost_of(const Work& work, const ModulePart& part) const;

  const Spec& m_spec;
  const Matrix& m_matrix;
  bool m_full, m_microsoft;
  std::vector<std::vector<Work>> m_works;  ///< by kernel
  std::unordered_map<std::string, std::uint32_t> m_flavours, m_gencodes;
  std::unordered_map<Key, std::uint32_t, KeyHash> m_known;
  std::unordered_set<Key, KeyHash> m_devices;  ///< GPU code that was counted
  std::vector<std::uint32_t> m_module_steps;
  std::vector<Step> m_steps;
  std::uint32_t m_count = 0;
  double m_cpu_seconds = 0;
  std::uint64_t m_peak_memory_bytes = 0;
};

}  // namespace sagekit
