#include "inspect/archive_reader.hpp"
#include "inspect/file_hash.hpp"
#include "support/file_kind.hpp"
#include "inspect/module_reader.hpp"
#include "archive/wheel_archive.hpp"
#include "inspect/wheel_reader.hpp"
#include "support/parallel.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/inspect.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace sagekit {

namespace {

constexpr std::string_view k_hint =
    "it reads wheels, .so, .pyd, .dll, .cubin, .fatbin and .ptx files, and archives of such files";

bool starts_like_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

Result<FileFacts> inspect_wheel(const std::filesystem::path& path, MappedFile file, const InspectOptions& options) {
  TRY_ASSIGN(const WheelArchive archive, WheelArchive::from(path, std::move(file)));
  const bool named = lower(path.extension().string()) == ".whl" || !options.wheel_name.empty();
  const bool has_folder = std::any_of(archive.members().begin(), archive.members().end(), [](const ZipMember& member) {
    return member.name.find(".dist-info/") != std::string::npos;
  });
  if (!named && !has_folder) return read_archive_file(path.string(), Bytes(archive.bytes()), options);
  return read_wheel(archive, options);
}

Result<FileFacts> inspect_module(const std::filesystem::path& path, const MappedFile& file,
                                 const InspectOptions& options) {
  const std::string_view bytes = file.bytes();
  // Headers lie far apart; without this each touch would read many neighbours from the disk. Only an advice.
  const bool headers_only = !options.whole_file && !options.kernels && !options.resources;
  if (headers_only && !bytes.empty()) ::madvise(const_cast<char*>(bytes.data()), bytes.size(), MADV_RANDOM);
  // The kernel maps the pages around each touch too; all of them are left again.
  const auto leave = [&](std::string_view part) {
    constexpr std::size_t around = 64 << 10;
    const auto begin = static_cast<std::size_t>(part.data() - bytes.data());
    const std::size_t from = begin - std::min(begin, around);
    file.forget(bytes.substr(from, begin - from + part.size() + around));
  };
  ModuleReading reading = read_module(path.filename().string(), Bytes(bytes), options, available_threads(), leave);
  if (reading.kind.empty() && looks_like_archive(Bytes(bytes))) {
    auto archive = read_archive_file(path.string(), Bytes(bytes), options);
    // That this machine lacks the reader says nothing of the file.
    if (archive || archive.error().kind == ErrorKind::machine) return archive;
  }
  if (reading.kind.empty())
    if (const auto kind = other_kind(Bytes(bytes)))
      return fail(ErrorKind::failed, std::string(kind->code), fmt::format("{} is {}", path.string(), kind->what),
                  std::string(kind->hint), path.string());
  if (reading.kind.empty())
    return fail(
        ErrorKind::failed, "INS001",
        fmt::format("{} is nothing that can be inspected ({} bytes, no known header)", path.string(), bytes.size()),
        std::string(k_hint), path.string());
  const MemberFacts& facts = reading.facts;
  if (!facts.elf && !facts.pe && facts.gpu.empty() && !facts.problems.empty()) {
    const Diagnostic& why = facts.problems.front();
    return fail(ErrorKind::failed, why.code, fmt::format("{} cannot be read: {}", path.string(), why.message), why.hint,
                path.string());
  }
  FileFacts result;
  result.path = path.string();
  result.kind = reading.kind;
  result.size_bytes = bytes.size();
  if (options.whole_file && options.file_hash) result.sha256 = sha256_of(file);
  reading.facts.sha256 = result.sha256;
  result.members.push_back(std::move(reading.facts));
  return result;
}

/// Memory that runs out is the machine's fault; nothing may be thrown out of core.
template <class Work>
auto without_exceptions(std::string_view what, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& error) {
    return fail(ErrorKind::machine, "INS004", fmt::format("reading {} failed: {}", what, error.what()),
                "free some memory, or inspect the file on a larger machine", std::string(what));
  }
}

}  // namespace

Result<FileFacts> inspect_file(const std::filesystem::path& path, const InspectOptions& options) {
  return without_exceptions(path.string(), [&]() -> Result<FileFacts> {
    TRY_ASSIGN(MappedFile file, MappedFile::open(path));
    const bool wheel = starts_like_zip(file.bytes()) || lower(path.extension().string()) == ".whl";
    if (wheel) return inspect_wheel(path, std::move(file), options);
    return inspect_module(path, file, options);
  });
}

Result<std::string> read_wheel_member(const std::filesystem::path& wheel, std::string_view member) {
  return without_exceptions(wheel.string(), [&]() -> Result<std::string> {
    TRY_ASSIGN(const WheelArchive archive, WheelArchive::open(wheel));
    return archive.read(member);
  });
}

Result<MemberFacts> inspect_bytes(std::string_view name, std::string_view bytes, const InspectOptions& options) {
  return without_exceptions(name, [&]() -> Result<MemberFacts> {
    ModuleReading reading = read_module(name, Bytes(bytes), options, available_threads());
    if (reading.kind.empty())
      return fail(ErrorKind::failed, "INS001",
                  fmt::format("{} is nothing that can be inspected ({} bytes, no known header)", name, bytes.size()),
                  std::string(k_hint), std::string(name));
    if (options.whole_file) reading.facts.sha256 = sha256_hex(bytes);
    return std::move(reading.facts);
  });
}

}  // namespace sagekit
