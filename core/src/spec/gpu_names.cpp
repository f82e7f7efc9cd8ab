#include "spec/data.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/nearest.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace sagekit {

namespace {

using NameWords = std::vector<std::string>;

constexpr std::size_t k_nearest = 3;

/// "NVIDIA A100-SXM4-80GB" -> a100 sxm4 80gb
NameWords words_of(std::string_view name) {
  auto words = split_words(lower(name), " -_()");
  std::erase(words, "nvidia");
  return words;
}

/// "GeForce RTX 5090" -> "RTX 5090", as people say it.
std::string without_brand(const std::string& name) {
  for (const auto& brand : gpu_data().brands)
    if (name.starts_with(brand + " ")) return name.substr(brand.size() + 1);
  return name;
}

bool begins_with(const NameWords& words, const NameWords& start) {
  return words.size() >= start.size() && std::equal(start.begin(), start.end(), words.begin());
}

bool has_digit(std::string_view text) { return text.find_first_of("0123456789") != std::string_view::npos; }

/// Is the rest of a name only the form that the GPU is sold in: "80GB", "SXM5", "Laptop GPU"?
bool is_form(NameWords::const_iterator begin, NameWords::const_iterator end) {
  const auto& forms = gpu_data().forms;
  return std::all_of(begin, end, [&](const std::string& word) {
    const bool memory = word.ends_with("gb") && word.find_first_not_of("0123456789.g") == word.size() - 1;
    return memory || std::ranges::find(forms, word) != forms.end();
  });
}

/// May `typed` mean the GPU that is called `name`? A part of the name will do, if a number is in it: "RTX PRO 6000".
bool means(const NameWords& typed, const NameWords& name) {
  if (begins_with(typed, name)) return is_form(typed.begin() + static_cast<std::ptrdiff_t>(name.size()), typed.end());
  return begins_with(name, typed) && std::ranges::any_of(typed, has_digit);
}

/// "5090", "4070 Ti", "rtx5090", "4070ti": from the number on, as people say it, and names written in one word.
bool means_loosely(const NameWords& typed, const NameWords& name) {
  const auto in_one_word = join(typed, "");
  if (in_one_word == join(name, "")) return true;
  if (typed.empty() || !has_digit(typed.front())) return false;
  if (typed.size() == 1 && in_one_word == join(NameWords(std::ranges::find_if(name, has_digit), name.end()), ""))
    return true;
  const auto number = std::ranges::find(name, typed.front());
  return number != name.end() && means(typed, NameWords(number, name.end()));  // "4070 Ti" of "RTX 4070 Ti"
}

/// "did you mean RTX 5090 or RTX 5080? "; "" when nothing is near: another generation's name helps nobody.
std::string near_names(const std::string& typed, const NameWords& known) {
  NameWords near;
  for (const auto& name : nearest_words(typed, known, k_nearest))
    if (!nearest_word(join(split_words(typed, " "), ""), {join(words_of(name), "")}).empty()) near.push_back(name);
  return near.empty() ? "" : fmt::format("did you mean {}? ", join(near, " or "));
}

/// "GB10 (DGX Spark)" is called either.
NameWords names_of(const std::string& entry) {
  const auto open = entry.find(" (");
  if (open == std::string::npos) return {entry};
  return {entry.substr(0, open), entry.substr(open + 2, entry.size() - open - 3)};
}

}  // namespace

Result<Capability> find_gpu(std::string_view name) {
  const auto typed = words_of(name);
  // The driver says "Tesla T4" and NVIDIA's list "T4".
  const auto is_brand = [&](const std::string& brand) { return !typed.empty() && lower(brand) == typed.front(); };
  const NameWords bare(typed.begin() + std::ranges::any_of(gpu_data().brands, is_brand), typed.end());
  std::map<Capability, std::string> meant, loosely;
  NameWords known;
  for (const auto& row : gpu_data().models)
    for (const auto& entry : row.names)
      for (const auto& model : names_of(entry)) {
        if (typed == words_of(model) || typed == words_of(entry))
          return row.capability;  // its whole name, brand and all
        const auto usual = without_brand(model);
        if (!typed.empty() && (means(typed, words_of(usual)) || means(typed, words_of(model))))
          meant.try_emplace(row.capability, model);
        if (!bare.empty() && (means(bare, words_of(usual)) || means_loosely(bare, words_of(usual))))
          loosely.try_emplace(row.capability, model);
        known.push_back(usual);
      }
  if (meant.empty()) meant = std::move(loosely);
  if (meant.size() == 1) return meant.begin()->first;
  if (meant.empty())
    return fail(
        ErrorKind::usage, "ARC002", fmt::format("no GPU is called \"{}\"", name),
        near_names(join(typed, " "), known) +
            "its compute capability does as well, such as 8.9: nvidia-smi --query-gpu=compute_cap --format=csv");
  std::vector<std::string> choices;
  for (const auto& [capability, model] : meant) choices.push_back(fmt::format("{} ({})", model, to_string(capability)));
  return fail(ErrorKind::usage, "ARC006", fmt::format("\"{}\" may mean {}", name, join(choices, " or ")),
              "write the whole name, or the capability");
}

}  // namespace sagekit
