#include "store/http_level.hpp"

#include "index/curl_client.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace sagekit {

namespace {

constexpr std::string_view k_records_schema = "sagekit.actions/2";
constexpr std::size_t k_records_of_a_key = 16;
constexpr std::uint64_t k_largest_records = 16 << 20, k_largest_answer = std::uint64_t{1} << 30;
constexpr int k_failures = 2;  // in a row: then nobody waits for this server any more

std::vector<ActionRecord> parse_records(std::string_view text) {
  std::vector<ActionRecord> records;
  const auto json = parse_json(text);
  if (!json.is_object() || json.value("schema", Json()) != k_records_schema) return records;
  const auto list = json.find("records");
  if (list == json.end() || !list->is_array()) return records;
  for (const auto& one : *list)
    if (auto record = one.is_string() ? parse_action(one.get_ref<const std::string&>()) : std::nullopt)
      records.push_back(std::move(*record));
  return records;
}

std::string records_text(const std::vector<ActionRecord>& records) {
  Json list = Json::array();
  for (const auto& record : records) list.push_back(action_text(record));
  return json_text({{"schema", k_records_schema}, {"records", std::move(list)}});
}

class HttpLevel final : public SecondLevel {
 public:
  HttpLevel(HttpLevelOptions options, std::unique_ptr<HttpClient> client, Say say)
      : m_options(std::move(options)), m_client(std::move(client)), m_say(std::move(say)) {}

  std::vector<ActionRecord> records(const std::string& key) override {
    auto request = ask(HttpMethod::get, "/ac/" + key);
    request.max_bytes = k_largest_records;
    const auto answer = heard(send(request));
    return answer ? parse_records(answer->body) : std::vector<ActionRecord>();
  }

  bool has(const StoredObject& object) override {
    return heard(send(ask(HttpMethod::head, "/cas/" + object.sha256))).has_value();
  }

  std::optional<std::string> content(const StoredObject& object) override {
    auto request = ask(HttpMethod::get, "/cas/" + object.sha256);
    request.max_bytes = std::min(object.size_bytes, k_largest_answer);
    auto answer = heard(send(request));
    if (!answer) return std::nullopt;
    if (sha256_hex(answer->body) == object.sha256) return std::move(answer->body);
    tell(fmt::format("{}/cas/{} is damaged: it is discarded, and made again here", place(), object.sha256));
    return std::nullopt;
  }

  void push(const std::string& key, const ActionRecord& record, const Content& content) override {
    if (m_full || m_off) return;
    const auto pushed = push_all(key, record, content);
    if (pushed || m_full.exchange(true)) return;
    tell(fmt::format("nothing more is handed to {}: {}", place(), pushed.error().message));
  }

 private:
  std::string place() const { return printable_url(m_options.url); }
  void tell(const std::string& text) const {
    if (m_say) m_say(text);
  }

  HttpRequest ask(HttpMethod method, const std::string& path) const {
    HttpRequest request;
    request.method = method;
    request.url = m_options.url + path;
    request.token = m_options.token;
    return request;
  }

  Result<HttpResponse> send(const HttpRequest& request) const {
    if (m_off) return fail(ErrorKind::failed, "IDX004", "");
    return m_client->send(request);
  }

  /// The answer; nothing when it is "not there", which is no failure, or a failure, which is said.
  std::optional<HttpResponse> heard(Result<HttpResponse> answer) {
    if (answer) {
      m_failed = 0;
      return *std::move(answer);
    }
    const auto& error = answer.error();
    if (m_off || error.code == "IDX004") return std::nullopt;
    if (++m_failed < k_failures)
      tell(fmt::format("the second level does not answer: {}", error.message));
    else if (!m_off.exchange(true))
      tell(fmt::format("the build goes on without {}: {}", place(), error.message));
    return std::nullopt;
  }

  Status push_all(const std::string& key, const ActionRecord& record, const Content& content) {
    for (const auto& output : record.outputs) {
      const auto path = "/cas/" + output.object.sha256;
      if (m_client->send(ask(HttpMethod::head, path))) continue;
      TRY_ASSIGN(const auto bytes, content(output.object));
      auto request = ask(HttpMethod::put, path);
      request.content = bytes;
      TRY(m_client->send(request));
    }
    // Objects first: a record never names what is not there yet. Two writers at once may lose a record, which is then
    // made again.
    auto now = m_client->send(ask(HttpMethod::get, "/ac/" + key));
    if (!now && now.error().code != "IDX004") return std::unexpected(now.error());
    auto records = now ? parse_records(now->body) : std::vector<ActionRecord>();
    std::erase_if(records,
                  [&](const ActionRecord& one) { return one.headers == record.headers && one.epoch == record.epoch; });
    records.insert(records.begin(), record);
    if (records.size() > k_records_of_a_key) records.resize(k_records_of_a_key);
    const auto text = records_text(records);
    auto request = ask(HttpMethod::put, "/ac/" + key);
    request.content = text;
    TRY(m_client->send(request));
    return {};
  }

  const HttpLevelOptions m_options;
  const std::unique_ptr<HttpClient> m_client;
  const Say m_say;
  std::atomic<int> m_failed = 0;
  std::atomic<bool> m_off = false, m_full = false;
};

}  // namespace

Result<std::shared_ptr<SecondLevel>> http_level(HttpLevelOptions options, Say say) {
  while (options.url.ends_with('/')) options.url.pop_back();
  // A cache that keeps one waiting is none.
  options.settings.timeout_seconds = 10;
  options.settings.retries = 1;
  TRY_ASSIGN(auto client, make_http_client(options.settings));
  return std::make_shared<HttpLevel>(std::move(options), std::move(client), std::move(say));
}

}  // namespace sagekit
