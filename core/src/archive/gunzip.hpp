#pragma once
// gzip (RFC 1952), as it comes: pieces in, pieces out.

#include <memory>
#include <string>
#include <string_view>

namespace sagekit {

/// Inflates a gzip stream of one member or several.
class Gunzip {
 public:
  Gunzip();
  ~Gunzip();
  Gunzip(Gunzip&&) noexcept;
  Gunzip& operator=(Gunzip&&) = delete;

  /// Does a file that begins with `bytes` look like gzip?
  static bool begins(std::string_view bytes) { return bytes.starts_with("\x1f\x8b\x08"); }

  /// The next bytes of the stream. Inflates at most `room` bytes, appended to `content`, and says how many of `bytes`
  /// it took: the rest is to be given again. A stream that is damaged or cut ends where it is.
  std::size_t feed(std::string_view bytes, std::string& content, std::size_t room);
  bool damaged() const { return m_damaged; }

 private:
  struct Stream;
  std::unique_ptr<Stream> m_stream;
  bool m_damaged = false;
};

}  // namespace sagekit
