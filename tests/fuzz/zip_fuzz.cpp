// A zip archive: framing, every member, and what lies in it.
#include "archive/wheel_archive.hpp"
#include "fuzz_target.hpp"
#include "inspect/module_reader.hpp"
#include "support/file_kind.hpp"

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(zip) {
  const Bytes file(std::string_view(reinterpret_cast<const char*>(data), size));
  Problems problems("fuzz.whl");
  other_kind(file);
  const auto members = read_zip(file, problems);
  if (!members) return 0;
  for (const ZipMember& member : *members)
    if (const auto content = read_zip_member(file, member)) read_module(member.name, Bytes(*content), {}, 1);
  return 0;
}
