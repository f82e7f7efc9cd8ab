#include "causes/log_text.hpp"

#include "support/utf8.hpp"

#include <iconv.h>

#include <algorithm>
#include <cstdint>

namespace sagekit {

namespace {

constexpr std::size_t k_unpacked = 1 << 18;  // at a time
constexpr std::size_t k_magic_bytes = 3;     // of gzip
constexpr std::size_t k_form_bytes = 64;     // that tell UTF-16 from text
constexpr std::uint32_t k_surrogates = 0xd800, k_low_surrogates = 0xdc00, k_behind_surrogates = 0xe000;

/// Is every second byte of a text without a mark zero, as in English UTF-16?
bool zeros_at(std::string_view bytes, std::size_t first) {
  std::size_t zeros = 0, all = 0;
  for (std::size_t i = first; i < bytes.size(); i += 2, ++all) zeros += bytes[i] == 0 ? 1u : 0u;
  return all > 1 && zeros * 10 >= all * 9;
}

bool converted(std::string_view text, const char* from, std::string& result) {
  const iconv_t converter = iconv_open("UTF-8", from);
  if (converter == reinterpret_cast<iconv_t>(-1)) return false;
  result.assign(text.size() * 4 + 4, '\0');
  char* in = const_cast<char*>(text.data());
  char* out = result.data();
  std::size_t in_left = text.size(), out_left = result.size();
  const bool done = iconv(converter, &in, &in_left, &out, &out_left) != static_cast<std::size_t>(-1);
  iconv_close(converter);
  result.resize(result.size() - out_left);
  return done;
}

}  // namespace

void LogDecoder::feed(std::string_view bytes, std::string& text) {
  if (m_begun) return unpack(bytes, text);
  m_first += bytes;
  if (m_first.size() < k_magic_bytes) return;
  m_begun = true;
  if (Gunzip::begins(m_first)) m_gunzip.emplace();
  unpack(m_first, text);
}

void LogDecoder::finish(std::string& text) {
  if (!m_begun) take(m_first, text);
  if (m_form == Form::unknown) decode(m_held, text);
  if (m_return) text += '\v';
  m_return = false;
}

void LogDecoder::unpack(std::string_view bytes, std::string& text) {
  if (!m_gunzip) return take(bytes, text);
  std::string piece;
  while (!bytes.empty() && !m_gunzip->damaged()) {
    piece.clear();
    bytes.remove_prefix(std::min(bytes.size(), m_gunzip->feed(bytes, piece, k_unpacked)));
    take(piece, text);
  }
}

void LogDecoder::take(std::string_view bytes, std::string& text) {
  if (m_form != Form::unknown) return decode(bytes, text);
  m_held += bytes;
  if (m_held.size() < k_form_bytes) return;
  const std::string first = std::move(m_held);
  m_held.clear();
  decode(first, text);
}

void LogDecoder::decode(std::string_view bytes, std::string& text) {
  if (m_form == Form::unknown) {
    const bool little = bytes.starts_with("\xff\xfe"), big = bytes.starts_with("\xfe\xff");
    m_form = little || zeros_at(bytes.substr(0, k_form_bytes), 1) ? Form::utf16_little
             : big || zeros_at(bytes.substr(0, k_form_bytes), 0)  ? Form::utf16_big
                                                                  : Form::plain;
    if (little || big) bytes.remove_prefix(2);
    if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  }
  if (m_form == Form::plain)
    clean(bytes, text);
  else
    from_utf16(bytes, text);
}

void LogDecoder::from_utf16(std::string_view bytes, std::string& text) {
  m_held += bytes;
  const auto unit = [&](std::size_t i) {
    const auto a = static_cast<unsigned char>(m_held[i]), b = static_cast<unsigned char>(m_held[i + 1]);
    return static_cast<std::uint32_t>(m_form == Form::utf16_little ? a | (b << 8) : b | (a << 8));
  };
  std::string decoded;
  std::size_t at = 0;
  for (; at + 2 <= m_held.size(); at += 2) {
    std::uint32_t c = unit(at);
    if (c >= k_surrogates && c < k_low_surrogates) {
      if (at + 4 > m_held.size()) break;  // its other half comes
      const std::uint32_t low = unit(at + 2);
      if (low >= k_low_surrogates && low < k_behind_surrogates) {
        c = 0x10000 + ((c - k_surrogates) << 10) + (low - k_low_surrogates);
        at += 2;
      } else {
        c = 0xfffd;
      }
    }
    append_utf8(decoded, c);
  }
  m_held.erase(0, at);
  clean(decoded, text);
}

void LogDecoder::clean(std::string_view bytes, std::string& text) {
  const auto is_plain = [&](char c) { return bytes.find(c) == std::string_view::npos; };
  if (m_state == State::text && !m_return && is_plain('\x1b') && is_plain('\r') && is_plain('\0') && is_plain('\v')) {
    text += bytes;
    return;
  }
  for (const char c : bytes) clean_character(c, text);
}

void LogDecoder::clean_character(char c, std::string& text) {
  switch (m_state) {
    case State::escape:  // ECMA-48
      m_state = c == '[' ? State::control : c == ']' || c == 'P' || c == '_' ? State::title : State::text;
      return;
    case State::control:
      if (c >= '@' && c <= '~')
        m_state = State::text;
      else if (c == '\n')
        m_state = State::text, text += c;
      return;
    case State::title:
      if (c == '\a')
        m_state = State::text;
      else if (c == '\x1b')
        m_state = State::title_end;
      else if (c == '\n')
        m_state = State::text, text += c;
      return;
    case State::title_end: m_state = c == '\\' ? State::text : State::title; return;
    case State::text: break;
  }
  if (c == '\r') {
    m_return = true;
    return;
  }
  if (m_return && c != '\n') text += '\v';
  m_return = false;
  if (c == '\x1b')
    m_state = State::escape;
  else if (c != '\0')
    text += c;
}

std::string readable(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string result;
  if (converted(text, "GBK", result) || converted(text, "WINDOWS-1252", result)) return result;
  result.clear();
  for (const char c : text) result += static_cast<unsigned char>(c) < 0x80 ? std::string(1, c) : "\xef\xbf\xbd";
  return result;
}

}  // namespace sagekit
