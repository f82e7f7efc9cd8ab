#include "archive/wheel_archive.hpp"

#include "archive/inflate.hpp"
#include "archive/zip_format.hpp"
#include "support/file_kind.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

/// A module in place of a wheel, by its first bytes; "" = none.
std::string_view module_kind(std::string_view bytes) {
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return "a Linux module (ELF: .so or cubin)";
  if (bytes.starts_with("MZ")) return "a Windows module (PE: .pyd or .dll)";
  if (bytes.starts_with("\x50\xed\x55\xba")) return "a fatbin";
  return {};
}

}  // namespace

Result<Bytes> read_zip_member(Bytes file, const ZipMember& member, Inflater& inflater) {
  const std::string name = zip::printable(member.name);
  const auto compressed = file.slice(member.data_offset, member.compressed_size);
  if (!member.readable || !compressed)
    return fail(ErrorKind::failed, "ZIP029", name + " was not inflated: its place in the archive is not trusted", {},
                name);
  std::optional<std::string_view> content = compressed->view();
  if (member.method != k_zip_stored) content = inflater.whole(compressed->view(), member.size);
  if (!content || content->size() != member.size)
    return fail(ErrorKind::failed, "ZIP022",
                fmt::format("{} does not inflate to the {} bytes that it claims", name, member.size), {}, name);
  if (crc32_of(*content) != member.crc32)
    return fail(ErrorKind::failed, "ZIP023", name + " does not have the CRC that the archive records", {}, name);
  return Bytes(*content);
}

Result<std::string> read_zip_member(Bytes file, const ZipMember& member) {
  Inflater inflater;
  TRY_ASSIGN(const Bytes content, read_zip_member(file, member, inflater));
  return std::string(content.view());
}

Result<WheelArchive> WheelArchive::open(const std::filesystem::path& path) {
  TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  return from(path, std::move(file));
}

Result<WheelArchive> WheelArchive::from(const std::filesystem::path& path, MappedFile file) {
  WheelArchive archive(path, std::move(file));
  Problems problems(path.filename().string());
  auto members = read_zip(Bytes(archive.bytes()), problems);
  if (!members) {
    const Diagnostic& why = problems.list().back();
    const bool whole_start = archive.bytes().starts_with("PK");
    if (const auto module = module_kind(archive.bytes()); why.code == "ZIP001" && !module.empty())
      return fail(ErrorKind::failed, "INS057", fmt::format("this is no wheel but {}", module),
                  "verify judges wheels and packages; sagekit inspect reads a module", path.string());
    if (why.code == "ZIP001" || !whole_start)
      if (const auto kind = other_kind(Bytes(archive.bytes())))
        return fail(ErrorKind::failed, std::string(kind->code), "this is no wheel but " + kind->what,
                    std::string(kind->hint), path.string());
    return fail(ErrorKind::failed, why.code, why.message, why.hint, path.string());
  }
  archive.m_members = std::move(*members);
  std::sort(archive.m_members.begin(), archive.m_members.end(), [](const ZipMember& a, const ZipMember& b) {
    return a.name != b.name ? a.name < b.name : a.header_offset < b.header_offset;
  });
  archive.m_problems = problems.take();
  return archive;
}

const ZipMember* WheelArchive::find(std::string_view name) const {
  const auto found = std::lower_bound(m_members.begin(), m_members.end(), name,
                                      [](const ZipMember& member, std::string_view key) { return member.name < key; });
  return found == m_members.end() || found->name != name ? nullptr : &*found;
}

std::vector<std::string> WheelArchive::dist_info_folders() const {
  std::set<std::string> folders;
  for (const auto& member : m_members) {
    const auto top = member.name.substr(0, member.name.find('/'));
    if (top.size() < member.name.size() && top.ends_with(".dist-info")) folders.insert(top);
  }
  return {folders.begin(), folders.end()};
}

Result<std::string> WheelArchive::read(const ZipMember& member) const {
  return read_zip_member(Bytes(bytes()), member);
}

Result<Bytes> WheelArchive::read(const ZipMember& member, Inflater& inflater) const {
  return read_zip_member(Bytes(bytes()), member, inflater);
}

Result<std::string> WheelArchive::read(std::string_view name) const {
  if (const ZipMember* const member = find(name)) return read(*member);
  std::vector<std::string> names;
  for (const ZipMember& member : m_members) names.push_back(member.name);
  return fail(ErrorKind::no_match, "INS003",
              fmt::format("{} has no member {}", m_path.filename().string(), zip::printable(name)),
              suggestion(name, nearest_words(name, names, 5)), m_path.string());
}

}  // namespace sagekit
