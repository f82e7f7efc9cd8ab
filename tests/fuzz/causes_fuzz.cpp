// Any bytes as a log: a cause has a row with that code and a line that the log has, pieces are read as the whole is,
// and the document is UTF-8. clang++-19 -fsanitize=fuzzer,address,undefined; seeds: the logs in tests/causes.

#include "causes/cause_data.hpp"
#include "fuzz_target.hpp"
#include "support/utf8.hpp"

#include <sagekit/causes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

SAGEKIT_FUZZ_TARGET(causes) {
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  const auto whole = sagekit::explain_log_text(log);
  for (const auto& cause : whole.causes) {
    if (sagekit::cause_data().find(cause.code) == nullptr) std::abort();
    if (cause.where.line == 0 || cause.where.line > whole.lines) std::abort();
  }
  const auto document = sagekit::explanation_json(whole);
  if (!sagekit::is_utf8(document)) std::abort();
  std::string_view rest = log;
  const auto by_pieces = [&](char* room, std::size_t room_size) -> sagekit::Result<std::size_t> {
    const auto count = rest.copy(room, std::min<std::size_t>(room_size, 7));
    rest.remove_prefix(count);
    return count;
  };
  const auto pieces = sagekit::explain_log(by_pieces);
  if (!pieces || sagekit::explanation_json(*pieces) != document) std::abort();
  return 0;
}
