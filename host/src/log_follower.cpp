#include "log_follower.hpp"

#include <chrono>
#include <fstream>
#include <stop_token>

namespace sagekit::host {

namespace {

constexpr std::string_view k_begin = "{\n  \"schema\": \"sagekit.build/1\"", k_end = "\n}\n";

}  // namespace

LogFollower::LogFollower(const Console& console, std::filesystem::path file, bool shown)
    : m_console(console), m_file(std::move(file)) {
  if (shown) m_thread = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

LogFollower::~LogFollower() {
  if (!m_thread.joinable()) return;
  m_thread.request_stop();
  m_thread.join();
}

void LogFollower::follow(const std::stop_token& stop) {
  std::streamoff at = 0;
  std::string rest;
  for (bool last = false;;) {
    last = stop.stop_requested();
    if (std::ifstream file(m_file, std::ios::binary); file.seekg(at)) {
      const std::string more(std::istreambuf_iterator<char>(file), {});
      at += static_cast<std::streamoff>(more.size());
      rest += more;
      show(rest);
    }
    if (last) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  if (!rest.empty() && !m_in_document) m_console.say(rest);
}

void LogFollower::show(std::string& rest) const {
  for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
    const auto line = rest.substr(0, end);
    rest.erase(0, end + 1);
    if (line == "{") m_in_document = true;
    if (!m_in_document) m_console.say(line);
    if (line == "}") m_in_document = false;
  }
}

std::string build_document(const std::string& log) {
  const auto begin = log.rfind(k_begin);
  if (begin == std::string::npos) return "";
  const auto end = log.find(k_end, begin);
  return end == std::string::npos ? "" : log.substr(begin, end + k_end.size() - begin);
}

}  // namespace sagekit::host
