#include "archive/archive.hpp"
#include "archive/tar_writer.hpp"
#include "archive/ustar.hpp"
#include "store/action_record.hpp"
#include "store/store.hpp"
#include "store/store_files.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "support/zstd.hpp"

#include <sagekit/cache.hpp>

#include <algorithm>
#include <set>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_largest_packed = std::uint64_t{1} << 30;
constexpr std::uint64_t k_largest_record = 16 << 20;

/// actions/ab/KEY/K2.txt, and nothing else.
bool is_record_name(const std::vector<std::string>& parts) {
  return parts.size() == 4 && parts[0] == "actions" && object_name(parts[2]) == parts[2] &&
         parts[1] == parts[2].substr(0, 2) && parts[3].ends_with(k_record_suffix);
}

Result<std::vector<fs::path>> records_to_export(const fs::path& store, const std::optional<Run>& run) {
  std::vector<fs::path> records;
  if (!run) {
    TRY(each_file(store / "actions", [&](const fs::path& file) {
      if (file.extension() == k_record_suffix) records.push_back(file.lexically_relative(store));
    }));
  } else {
    for (const auto& record : run->made)
      if (is_record_name(split(record, '/'))) records.emplace_back(record);
  }
  std::ranges::sort(records);
  const auto [first, last] = std::ranges::unique(records);
  records.erase(first, last);
  return records;
}

std::unexpected<Error> no_pack(const fs::path& file, const std::string& why) {
  return fail(ErrorKind::failed, "STO007", fmt::format("{} is no pack of a store: {}", file.string(), why),
              "make one with sagekit cache export; nothing of this one is used");
}

/// Nothing for one that is not there, as after a trim; STO003 for one that is and stays closed.
Result<std::optional<MappedFile>> part_of_store(const fs::path& file) {
  if (auto part = MappedFile::open(file)) return std::move(*part);
  if (const auto closed = cannot_read(file)) return std::unexpected(store_problem("cannot read", file, closed));
  return std::nullopt;
}

/// An export takes no wheel's name, and no place of a file that does not begin as a pack does.
Status check_place(const fs::path& file) {
  const auto stays = [&](std::string_view why) {
    return fail(ErrorKind::usage, "FIL002", fmt::format("cannot write {}: {}", file.string(), why),
                "name another file");
  };
  std::error_code error;
  if (file == "-") return stays("a pack goes into a file, not to stdout");
  if (file.extension() == ".whl") return stays("that is a wheel's name");
  if (!fs::is_regular_file(file, error) || fs::is_empty(file, error)) return {};
  TRY_ASSIGN(const MappedFile there, MappedFile::open(file));
  const auto bytes = there.bytes();
  // Its first member's folder; a pack of nothing is a tar file's end.
  for (const std::size_t at : {0, 345})
    for (const std::string_view folder : {"objects/", "actions/"})
      if (bytes.size() > at && bytes.substr(at).starts_with(folder)) return {};
  return bytes == ustar_end() ? Status() : stays("what is there is no pack of a store, and stays");
}

/// What a pack says, checked member by member.
class Import {
 public:
  Import(const fs::path& file, const Store& store) : m_file(file), m_store(store) {}

  Status take(const std::string& path, std::string_view content) {
    const auto parts = split(path, '/');
    if (is_record_name(parts)) return take_record(parts[2], path, content);
    if (parts.size() == 3 && parts[0] == "objects" && object_name(parts[2]) && parts[1] == parts[2].substr(0, 2))
      return take_object(fs::path(parts[2]), content);
    return no_pack(m_file, fmt::format("it holds \"{}\"", path.substr(0, 200)));
  }

  Result<Packed> finish() {
    for (const auto& [key, record] : m_records) TRY(m_store.add_record(key, record));
    m_packed.records = m_records.size();
    return m_packed;
  }

 private:
  Status take_object(const fs::path& name, std::string_view stored) {
    const bool packed = name.extension() == ".zst";
    const auto content = packed ? zstd_content(stored, k_largest_packed) : std::optional(std::string(stored));
    const auto wanted = object_name(name);
    if (!content || sha256_hex(*content) != *wanted)
      return no_pack(m_file, fmt::format("the content of {} is not what its name says", name.string()));
    TRY(m_store.put_bytes(*content, !packed));
    ++m_packed.objects;
    m_packed.bytes += stored.size();
    return {};
  }

  Status take_record(const std::string& key, const std::string& path, std::string_view text) {
    auto record = text.size() <= k_largest_record ? parse_action(text) : std::nullopt;
    if (!record) return no_pack(m_file, fmt::format("{} is no record", path));
    m_packed.bytes += text.size();
    m_records.emplace_back(key, std::move(*record));
    return {};
  }

  const fs::path& m_file;
  const Store& m_store;
  std::vector<std::pair<std::string, ActionRecord>> m_records;
  Packed m_packed;
};

}  // namespace

Result<Packed> cache_export(const fs::path& store, const fs::path& file, bool since_run, const std::stop_token& stop) {
  TRY(check_is_store(store));
  std::optional<Run> run;
  if (since_run) {
    TRY_ASSIGN(run, last_run(store / "runs"));
  }
  if (since_run && !run)
    return fail(ErrorKind::no_match, "STO006", fmt::format("no build has run with {}", store.string()),
                "leave --since-run out to export everything");
  TRY_ASSIGN(const auto records, records_to_export(store, run));
  TRY(check_place(file));
  TRY_ASSIGN(auto tar, TarWriter::create(file));
  Packed packed;
  std::set<std::string> taken;
  for (const auto& name : records) {
    TRY_ASSIGN(const auto text, part_of_store(store / name));
    const auto record = text ? parse_action(text->bytes()) : std::nullopt;
    if (!record) continue;
    for (const auto& output : record->outputs) {
      if (stop.stop_requested())
        return fail(ErrorKind::interrupted, "BLD006", fmt::format("stopped; {} was not written", file.string()),
                    "run it again");
      const auto& sha256 = output.object.sha256;
      if (!taken.insert(sha256).second) continue;
      for (const auto* suffix : {"", ".zst"}) {
        TRY_ASSIGN(const auto object, part_of_store(store / "objects" / sha256.substr(0, 2) / (sha256 + suffix)));
        if (!object) continue;
        TRY(tar.add("objects/" + sha256.substr(0, 2), sha256 + suffix, object->bytes()));
        ++packed.objects;
        break;
      }
    }
    TRY(tar.add(name.parent_path().string(), name.filename().string(), text->bytes()));
    ++packed.records;
  }
  TRY(tar.finish());
  packed.bytes = tar.bytes();
  return packed;
}

Result<Packed> cache_import(const fs::path& root, const fs::path& file) {
  TRY_ASSIGN(const MappedFile pack, MappedFile::open(file));
  TRY_ASSIGN(const Store store, Store::open(root));
  Import import(file, store);
  ArchiveLimits limits;
  limits.entries = 2'000'000;
  const auto read = read_archive(pack.bytes(), limits, [&](const std::string& path, std::string_view content) {
    return import.take(path, content);
  });
  if (!read && read.error().code == "INS060") return no_pack(file, read.error().message);
  TRY(read);
  return import.finish();
}

}  // namespace sagekit
