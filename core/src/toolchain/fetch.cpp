#include "toolchain/fetch.hpp"

#include "support/format.hpp"

#include <algorithm>

namespace sagekit {

void TransferMeter::expect(std::uint64_t bytes) {
  const std::lock_guard lock(m_mutex);
  m_state.expected_bytes += bytes;
}

void TransferMeter::count_bytes(std::uint64_t bytes) {
  TransferState now;
  {
    const std::lock_guard lock(m_mutex);
    m_state.bytes += bytes;
    const auto time = Clock::now();
    const double seconds = std::chrono::duration<double>(time - m_began).count();
    if (seconds > 0) m_state.bytes_per_second = static_cast<double>(m_state.bytes) / seconds;
    if (time - m_told < std::chrono::milliseconds(100)) return;
    m_told = time;
    now = m_state;
  }
  m_observer.on_transfer(now);
}

void TransferMeter::count_request() {
  const std::lock_guard lock(m_mutex);
  ++m_state.requests;
}

Result<HttpResponse> MeteredClient::get(const HttpRequest& request, std::stop_token stop) {
  m_meter.count_request();
  HttpRequest counted = request;
  if (request.sink)
    counted.sink = [&](std::string_view piece) {
      m_meter.count_bytes(piece.size());
      return request.sink(piece);
    };
  auto answer = m_inner.get(counted, std::move(stop));
  if (answer && !request.sink) m_meter.count_bytes(answer->body.size());
  return answer;
}

TransferState TransferMeter::state() const {
  const std::lock_guard lock(m_mutex);
  return m_state;
}

Result<const LockedFile*> Fetch::pin(std::string_view project) const {
  if (pinned == nullptr) return nullptr;
  const auto found = std::ranges::find(pinned->files, project, &LockedFile::project);
  if (found != pinned->files.end()) return &*found;
  return fail(
      ErrorKind::failed, "PRV006",
      fmt::format("{} pins nothing of {} for this {} tree", options.lock.string(), project, to_string(need.kind)),
      "it was written by another sagekit: remove the entry, and it is written anew");
}

std::unexpected<Error> not_pinned(const std::string& file, std::string_view what) {
  return fail(ErrorKind::failed, "PRV006", fmt::format("{} is not the file that the lock pins: {} differs", file, what),
              "it was replaced where it is published, or altered on its way; if it was replaced on purpose, remove its "
              "tree from the lock");
}

std::string license_path(std::string_view project, std::string_view file_name) {
  return fmt::format("licenses/{}/{}", project, file_name);
}

}  // namespace sagekit
