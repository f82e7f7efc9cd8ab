#pragma once
// Looks into wheels whose names leave something open: files whole, others by their byte ranges.

#include "index/http.hpp"
#include "resolve/traits.hpp"
#include "support/file.hpp"

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace sagekit {

class Looker {
 public:
  Looker(const Target& target, const ResolveOptions& options, CommandRunner& runner, std::stop_token stop)
      : m_target(target), m_options(options), m_runner(runner), m_stop(std::move(stop)) {}

  /// Adds what is in the wheel. What keeps it from being read is `traits.damage` (it is no wheel, or not the published
  /// one) or an Error (the server, the disk: nothing is known). Interrupts are errors of that kind.
  Status look(const Candidate& candidate, Traits& traits);
  /// PEP 658: METADATA beside the wheel. Several threads may ask at once.
  Status ask_for_metadata(const Candidate& candidate, Traits& traits);

 private:
  Status look_here(const Candidate& candidate, Traits& traits);
  Status look_there(const Candidate& candidate, Traits& traits);
  Result<HttpClient*> http();

  const Target& m_target;
  const ResolveOptions& m_options;
  CommandRunner& m_runner;
  std::stop_token m_stop;
  std::mutex m_mutex;  ///< of making the client
  std::unique_ptr<HttpClient> m_http;
  std::optional<TemporaryFolder> m_scratch;
};

}  // namespace sagekit
