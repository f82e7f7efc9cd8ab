#pragma once
// Where results come from that this machine's store lacks: a folder or a server that others filled. Whatever it says is
// checked; when it fails, the build goes on without it.

#include "store/action_record.hpp"

#include <sagekit/error.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// Thread-safe.
class SecondLevel {
 public:
  virtual ~SecondLevel() = default;
  virtual std::vector<ActionRecord> records(const std::string& key) = 0;
  virtual bool has(const StoredObject& object) = 0;
  /// The object's bytes, hashed; nothing when it has none, or others.
  virtual std::optional<std::string> content(const StoredObject& object) = 0;
  /// `content`: the bytes of one of the record's outputs. Whatever goes wrong is said, and is no error of the build.
  using Content = std::function<Result<std::string>(const StoredObject&)>;
  virtual void push(const std::string& key, const ActionRecord& record, const Content& content) = 0;
};

using Say = std::function<void(const std::string&)>;

/// A store of sagekit that is only read; nothing is written below it.
std::shared_ptr<SecondLevel> read_only_store(const std::filesystem::path& root, Say say);

}  // namespace sagekit
