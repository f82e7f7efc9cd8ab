#pragma once
// The verbs about finished wheels, as the argument parser knows them. Belongs to arguments.cpp: nothing else includes
// it.

#include "arguments.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace sagekit::host {

/// A verb whose help ends with `examples`, two commands that work as they stand.
CLI::App* add_verb(CLI::App& parent, const std::string& name, const std::string& what, const std::string& examples);
void add_interpreters(CLI::App& verb, std::vector<std::string>& interpreters);

/// verify, inspect and diff. What they were given is read back with `take` after parsing.
class WheelVerbs {
 public:
  explicit WheelVerbs(CLI::App& app);
  WheelVerbs(const WheelVerbs&) = delete;

  std::vector<CLI::App*> verbs() const { return {m_verify, m_inspect, m_diff}; }
  /// Puts the chosen one into `verb`; false when another verb was meant. Errors CLI001, CLI002 (usage).
  Result<bool> take(VerbArguments& verb);

 private:
  void add_verify(CLI::App& app);
  void add_inspect(CLI::App& app);

  CLI::App *m_verify = nullptr, *m_inspect = nullptr, *m_diff = nullptr;
  VerifyArguments m_verify_arguments;
  InspectArguments m_inspect_arguments;
  DiffArguments m_diff_arguments;
  std::string m_memory;
};

}  // namespace sagekit::host
