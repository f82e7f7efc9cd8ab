#include "build/read_files.hpp"

#include "compile/depfile.hpp"
#include "support/file.hpp"

namespace sagekit {

namespace fs = std::filesystem;

namespace {

bool is_below(const fs::path& file, const fs::path& folder) { return file.string().starts_with(folder.string() + "/"); }

}  // namespace

std::string ReadFiles::difference(const ActionRecord& record) const {
  if (!record.epoch.empty() && record.epoch != m_context.epoch) return "SOURCE_DATE_EPOCH, which what it read names";
  const auto differs = [](const std::string& name, const std::string& now) {
    return "header " + name + (now.empty() ? ", which is not there" : "");
  };
  // A rerun compares a thousand headers a step, and most of them are the same ones.
  std::vector<const std::pair<std::string, std::string>*> unknown;
  {
    const std::shared_lock lock(m_mutex);
    for (const auto& header : record.headers) {
      const auto known = m_known.find(header.first);
      if (known == m_known.end())
        unknown.push_back(&header);
      else if (known->second.empty() || known->second != header.second)
        return differs(header.first, known->second);
    }
  }
  for (const auto* header : unknown) {
    const auto content = m_hashes.of(m_context.real_path(header->first));
    const auto now = content ? content->sha256 : std::string();
    {
      const std::unique_lock lock(m_mutex);
      m_known.emplace(header->first, now);
    }
    if (now.empty() || now != header->second) return differs(header->first, now);
  }
  return {};
}

bool ReadFiles::add_listed(const fs::path& depfile, List& list) const {
  const auto text = read_file(depfile);
  if (!text) return false;
  const auto& source = m_context.source;
  const auto& symbols = m_context.symbols;
  for (const auto& file : parse_depfile(*text)) {
    const fs::path path = (source.folder / file).lexically_normal();  // an absolute one stays itself
    std::error_code error;
    const auto canonical = fs::weakly_canonical(path, error);
    const auto content = m_hashes.of(path);
    if (content) list.names_time |= content->names_time;
    if (symbols.covers(path) || symbols.covers(canonical)) continue;
    if (!content) return false;
    auto name = is_below(path, source.root) ? "{source}/" + path.lexically_relative(source.folder).generic_string()
                                            : symbols.name_by_role(path);
    if (name.empty()) name = symbols.name_by_role(canonical);
    list.headers[name.empty() ? path.string() : name] = content->sha256;
  }
  return true;
}

void ReadFiles::add_record(const ActionRecord& record, List& list) const {
  list.headers.insert(record.headers.begin(), record.headers.end());
  list.names_time |= !record.epoch.empty();
}

void ReadFiles::put_into(ActionRecord& record, const List& list) const {
  record.headers.assign(list.headers.begin(), list.headers.end());
  if (list.names_time) record.epoch = m_context.epoch;
}

}  // namespace sagekit
