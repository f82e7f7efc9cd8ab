#include "elf/elf_file.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/try.hpp"

#include <sagekit/reproducible.hpp>

#include <algorithm>

namespace sagekit {

namespace {

std::size_t first_differing_byte(std::string_view one, std::string_view other) {
  return static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
}

std::string differing_part(Bytes one, Bytes other) {
  Problems problems("");
  const auto a = ElfFile::read(one, problems), b = ElfFile::read(other, problems);
  if (!a || !b) return fmt::format("differs from byte {} on", first_differing_byte(one.view(), other.view()));
  constexpr std::string_view k_build_id = ".note.gnu.build-id";  // a hash of all others: it says nothing of where
  std::string build_id;
  for (const auto& section : a->sections()) {
    const auto* same = b->section(section.name);
    if (same == nullptr) return fmt::format("section {} is gone the second time", section.name);
    const auto x = a->content(section), y = b->content(*same);
    if (!x || !y || x->view() == y->view()) continue;
    auto text = fmt::format("section {} differs from byte {} on ({} and {} bytes)", section.name,
                            first_differing_byte(x->view(), y->view()), x->view().size(), y->view().size());
    if (section.name != k_build_id) return text;
    build_id = std::move(text);
  }
  for (const auto& section : b->sections())
    if (a->section(section.name) == nullptr) return fmt::format("section {} is new the second time", section.name);
  if (!build_id.empty()) return build_id;
  return fmt::format("differs outside of sections, from byte {} on", first_differing_byte(one.view(), other.view()));
}

}  // namespace

Result<std::string> first_difference(const CellBuild& one, const CellBuild& other) {
  for (const auto& file : one.files) {
    const auto same = std::ranges::find(other.files, file.archive_path, &StagedFile::archive_path);
    if (same == other.files.end()) return file.archive_path + ": was not made the second time";
    if (same->sha256 == file.sha256) continue;
    TRY_ASSIGN(const MappedFile a, MappedFile::open(file.file));
    TRY_ASSIGN(const MappedFile b, MappedFile::open(same->file));
    return file.archive_path + ": " + differing_part(Bytes(a.bytes()), Bytes(b.bytes()));
  }
  for (const auto& file : other.files)
    if (std::ranges::find(one.files, file.archive_path, &StagedFile::archive_path) == one.files.end())
      return file.archive_path + ": was made the second time only";
  return std::string();
}

}  // namespace sagekit
