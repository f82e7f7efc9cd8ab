#include "store/second_level.hpp"

#include "store/store.hpp"

namespace sagekit {

namespace {

class ReadOnlyStore final : public SecondLevel {
 public:
  ReadOnlyStore(const std::filesystem::path& root, Say say) : m_store(Store::look_into(root, std::move(say))) {}

  std::vector<ActionRecord> records(const std::string& key) override { return m_store.records(key); }
  bool has(const StoredObject& object) override { return m_store.has_here(object); }
  std::optional<std::string> content(const StoredObject& object) override {
    auto content = m_store.content(object);
    return content ? std::optional(*std::move(content)) : std::nullopt;
  }
  void push(const std::string&, const ActionRecord&, const Content&) override {}

 private:
  Store m_store;
};

}  // namespace

std::shared_ptr<SecondLevel> read_only_store(const std::filesystem::path& root, Say say) {
  return std::make_shared<ReadOnlyStore>(root, std::move(say));
}

}  // namespace sagekit
