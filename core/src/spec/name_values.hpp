#pragma once
// What the words of naming templates can stand for in a name: the digits of a torch, an arch set, a commit.

#include <sagekit/arch.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What a word of a template may stand for. `text` in small letters; the values come out as facts are written: "12.8"
/// of "128" for cuda_digits. Nothing = the word cannot stand for it, two = nobody can tell which
/// ("2111": 2.11.1, 2.1.11).
std::vector<std::string> word_values(std::string_view word, std::string_view text);

/// What each value of the word begins with; "" for most words.
std::string_view first_letters(std::string_view word);

/// No value of the word reaches further into `text`, which is not empty.
std::size_t longest_value(std::string_view word, std::string_view text);

/// "sm90a.sm120ptx"; nothing when it is no arch set.
std::optional<std::vector<ArchRequest>> read_sms(std::string_view text);

/// Are these arches of a name all of `built`? A name need not say which of them carry PTX.
bool says_arches(const std::vector<ArchRequest>& said, const std::vector<ArchRequest>& built);

/// Seven hex digits or more, at most a whole commit.
bool is_commit(std::string_view text);

}  // namespace sagekit
