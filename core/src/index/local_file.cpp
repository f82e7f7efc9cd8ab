#include "index/remote_file.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/try.hpp"

#include <atomic>
#include <utility>

namespace sagekit {

namespace {

class LocalFile final : public RandomAccess {
 public:
  LocalFile(MappedFile file, std::string name) : m_file(std::move(file)), m_name(std::move(name)) {}

  std::uint64_t size() const override { return m_file.bytes().size(); }
  Result<std::string> read(std::uint64_t offset, std::uint64_t length, std::stop_token) override {
    if (offset > size() || length > size() - offset)
      return fail(ErrorKind::failed, "IDX018",
                  fmt::format("{} has {} bytes, {} from {} on were asked for", m_name, size(), length, offset));
    ++m_requests;
    m_bytes += length;
    return std::string(m_file.bytes().substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(length)));
  }
  std::uint64_t bytes_read() const override { return m_bytes; }
  std::uint64_t requests() const override { return m_requests; }

 private:
  const MappedFile m_file;
  const std::string m_name;
  std::atomic<std::uint64_t> m_bytes = 0, m_requests = 0;
};

}  // namespace

Result<std::unique_ptr<RandomAccess>> open_local_file(const std::filesystem::path& path) {
  TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  return std::make_unique<LocalFile>(std::move(file), path.string());
}

}  // namespace sagekit
