// The texts of a dist-info folder and the file name: the input's first line is the name, the rest serves as every text.
#include "archive/name_fold.hpp"
#include "fuzz_target.hpp"
#include "inspect/record_judge.hpp"
#include "inspect/wheel_reader.hpp"
#include "pypa/entry_points_reader.hpp"
#include "pypa/requirement_reader.hpp"
#include "pypa/variant_reader.hpp"
#include "support/file_kind.hpp"

#include <algorithm>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(metadata) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string name(input.substr(0, line));
  const std::string text(input.substr(std::min(line + 1, input.size())));
  MemberFacts member;
  member.path = "tiny_kernels/__init__.py";
  member.sha256 = std::string(64, 'a');
  WheelFacts facts;
  const ReadMember content = [&](const std::string&) -> Result<std::string> { return text; };
  const std::string folder = "tiny_kernels-1.2.0.dist-info";
  judge_dist_info({folder, text, text, text, text, {folder}, content}, name, {member}, facts);
  // The other texts, each its own grammar; what is read must be readable again.
  if (const auto requirement = read_requirement(name)) {
    if (!is_project_name(requirement->name) && !requirement->name.ends_with('_')) __builtin_trap();
    if (!specifier_fault(requirement->specifiers).empty()) __builtin_trap();
  }
  specifier_fault(name);
  for (const auto& entry : read_entry_points(text).entries) is_object_reference(entry.value);
  read_variant(text);
  if (folded_name(folded_name(name)) != folded_name(name)) __builtin_trap();
  other_kind(Bytes(text));
  return 0;
}
