#include "verify/policy/standard.hpp"

#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {

namespace {

Weight weight_of(std::string_view word) {
  if (word == "error") return Weight::error;
  if (word == "warning") return Weight::warning;
  return word == "note" ? Weight::note : Weight::off;
}

Status check_families(const std::vector<std::string>& words) {
  const auto families = judged_families();
  for (const auto& word : words)
    if (std::ranges::count(families, word) == 0)
      return fail(ErrorKind::usage, "VFY003", fmt::format("--require {}: there is no such family of checks", word),
                  suggestion(word, families));
  return {};
}

}  // namespace

Weight Standard::weight(std::string_view code, Weight usual) const {
  if (file == nullptr) return usual;
  if (const auto found = file->weight.find(std::string(code)); found != file->weight.end())
    return weight_of(found->second);
  const auto found = file->weight.find(std::string(family(code)));
  return found == file->weight.end() || usual == Weight::off ? usual : weight_of(found->second);
}

std::string Standard::name() const {
  if (file != nullptr) return file->origin;
  return policy == Policy::own ? "own" : policy == Policy::others ? "others" : "pypi";
}

Result<Standard> choose_standard(const VerifyOptions& options, std::string_view generator, std::string wheel) {
  Standard standard;
  standard.policy = generator.starts_with("sagekit ") ? Policy::own : Policy::others;
  standard.today = options.today;
  standard.wheel = std::move(wheel);
  standard.require = options.require;
  std::string word = options.policy;
  if (options.policy_file) {
    standard.file = &*options.policy_file;
    word = standard.file->base;
    standard.require.insert(standard.require.end(), standard.file->require.begin(), standard.file->require.end());
  }
  if (!word.empty()) {
    TRY_ASSIGN(standard.policy, parse_policy(word));
  }
  TRY(check_families(standard.require));
  return standard;
}

}  // namespace sagekit
