#pragma once
// What every source of trees works with: the client, the options, the pins, and one place to count bytes.

#include "index/http.hpp"
#include "toolchain/lock.hpp"
#include "toolchain/tree_store.hpp"

#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>

namespace sagekit {

/// Counts requests and bytes and tells the observer, at most ten times a second. Thread-safe.
class TransferMeter {
 public:
  TransferMeter(std::string what, ProvisionObserver& observer) : m_observer(observer) {
    m_state.what = std::move(what);
  }

  void expect(std::uint64_t bytes);
  void count_request();
  void count_bytes(std::uint64_t bytes);  ///< of an answer
  TransferState state() const;

 private:
  using Clock = std::chrono::steady_clock;
  ProvisionObserver& m_observer;
  mutable std::mutex m_mutex;
  TransferState m_state;
  Clock::time_point m_began = Clock::now(), m_told;
};

/// Counts every answer, pages and files alike, whoever asks for it.
class MeteredClient final : public HttpClient {
 public:
  MeteredClient(HttpClient& inner, TransferMeter& meter) : m_inner(inner), m_meter(meter) {}
  Result<HttpResponse> get(const HttpRequest& request, std::stop_token stop = {}) override;

 private:
  HttpClient& m_inner;
  TransferMeter& m_meter;
};

struct Fetch {
  HttpClient& http;
  const ProvisionOptions& options;
  const TreeNeed& need;
  const LockedTree* pinned;  ///< the lock's entry; null = trusted on first use
  TreeStage& stage;
  TransferMeter& meter;
  std::stop_token stop;

  /// The lock's row for a project's file; null when nothing is pinned. An entry without the row is a lock that does not
  /// fit: PRV006.
  Result<const LockedFile*> pin(std::string_view project) const;
};

/// PRV006 (failed): what came is not what the lock pins. `what` is the thing that differs: "its RECORD".
std::unexpected<Error> not_pinned(const std::string& file, std::string_view what);

/// Below which path of the tree licence texts are kept.
std::string license_path(std::string_view project, std::string_view file_name);

/// One of core's sources. Each fills the stage and says what it was made of; `id` is left to the stage. PRV002
/// (machine) when it does not have what is needed.
Result<LockedTree> fetch_nvcc_from_wheels(Fetch& fetch);
Result<LockedTree> fetch_torch_from_wheels(Fetch& fetch);
Result<LockedTree> fetch_nvcc_from_redist(Fetch& fetch);

}  // namespace sagekit
