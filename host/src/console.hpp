#pragma once
// The only writer to the terminal: errors with carets, colours, sizes. Human text goes to stderr, results to stdout.
// What people read is made printable here, whatever file it came from.

#include <sagekit/diagnostic.hpp>
#include <sagekit/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sagekit::host {

class Console {
 public:
  Console(bool color, bool quiet) : m_color(color), m_quiet(quiet) {}

  bool color() const { return m_color; }
  bool quiet() const { return m_quiet; }

  void result(std::string_view text) const;    ///< stdout, for people; nothing when quiet
  void document(std::string_view text) const;  ///< stdout, for programs: as it is
  void say(std::string_view text) const;       ///< stderr with a newline, unless quiet
  /// stderr: the terminal's last lines anew; "" = none. The cursor waits on the first of them, so that all go from
  /// there on, however many rows a terminal that was narrowed since has made of them.
  void draw(std::string_view text) const;
  void show(const Error& error) const;
  void show(const Diagnostic& diagnostic) const;
  void warn(std::string_view message, std::string_view hint = {}) const;

  /// errno's value of the first write to stdout that failed; 0 = all of it is out.
  int lost() const { return m_lost; }

  std::string bold(std::string_view text) const { return paint("1", text); }
  std::string red(std::string_view text) const { return paint("1;31", text); }
  std::string green(std::string_view text) const { return paint("32", text); }
  std::string yellow(std::string_view text) const { return paint("33", text); }
  std::string dim(std::string_view text) const { return paint("2", text); }

 private:
  std::string paint(std::string_view code, std::string_view text) const;
  bool m_color;
  bool m_quiet;
  mutable std::atomic<int> m_lost = 0;
};

int exit_code(ErrorKind kind);

std::string human_bytes(std::uint64_t bytes);  ///< "9.3 MB", "1.04 GB" (decimal, as pip and ls -h --si)
std::string human_seconds(double seconds);     ///< "0.4 s", "3 min 05 s", "1 h 02 min"

}  // namespace sagekit::host
