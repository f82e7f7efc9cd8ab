#include "archive/ustar.hpp"

#include "support/format.hpp"

namespace sagekit {

std::optional<std::string> ustar_header(const UstarMember& member) {
  constexpr std::uint64_t k_largest = 077777777777;
  if (member.name.size() > 99 || member.folder.size() > 154 || member.link.size() > 99 || member.size > k_largest ||
      member.time > k_largest)
    return std::nullopt;
  std::string block(k_tar_block, '\0');
  const auto put = [&block](std::size_t at, std::string_view text) { block.replace(at, text.size(), text); };
  put(0, member.name);
  put(100, member.executable ? "0000755" : "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", member.size));
  put(136, fmt::format("{:011o}", member.time));
  put(148, "        ");
  put(156, member.link.empty() ? "0" : "2");
  put(157, member.link);
  put(257, "ustar");
  put(263, "00");
  put(345, member.folder);
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  block[154] = '\0';
  return block;
}

std::optional<std::string> ustar_member(std::string_view path, UstarMember member, std::string_view bytes) {
  member.name = path;
  // The longest folder that leaves a name: readers join the two with a slash.
  if (path.size() > 99) {
    const auto slash = path.rfind('/', 154);
    if (slash == path.npos || slash == 0) return std::nullopt;
    member.folder = path.substr(0, slash);
    member.name = path.substr(slash + 1);
  }
  member.size = bytes.size();
  auto block = ustar_header(member);
  if (!block) return std::nullopt;
  *block += bytes;
  block->append((k_tar_block - bytes.size() % k_tar_block) % k_tar_block, '\0');
  return block;
}

std::string ustar_end() { return std::string(2 * k_tar_block, '\0'); }

}  // namespace sagekit
