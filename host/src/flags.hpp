#pragma once
// The flags and arguments of a verb, as values: the parser, --help, the man pages and the completions read them here.

#include <sagekit/error.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sagekit::host {

/// One flag or positional argument.
struct Flag {
  std::string names = {};  ///< "-o,--output"; of a positional argument its name alone
  std::string type = {};   ///< what its value is: "DIR"; "" = it takes none
  std::string what = {};
  std::string preset = {};                ///< what holds without it, for --help; may be empty
  std::vector<std::string> choices = {};  ///< the only values; empty = any
  bool repeatable = false;
  bool commas = false;  ///< a value may be several: "3.11,3.12"
  bool required = false;
  bool may_be_stdout = false;                           ///< a "DIR" that may be "-"
  bool bare = false;                                    ///< its value may be left out: then "" is stored
  std::function<Status(const std::string&)> take = {};  ///< stores one value; an Error of kind usage says what is wrong

  bool positional() const { return !names.starts_with('-'); }
  std::string long_name() const;  ///< "--output", "-C"; of a positional argument its name
};

/// An environment variable that a verb listens to.
struct Variable {
  std::string name, what;
};

/// Where a verb declares what it takes. The places given must outlive it: they are written while parsing.
class Flags {
 public:
  Flag& on(std::string names, bool& value, std::string what);
  Flag& count(std::string names, int& value, std::string what);
  Flag& value(std::string names, std::string type, std::string& value, std::string what);
  Flag& list(std::string names, std::string type, std::vector<std::string>& values, std::string what);
  Flag& number(std::string names, std::size_t& value, std::string what, std::size_t least = 1);
  Flag& memory(std::string names, std::uint64_t& bytes, std::string what);  ///< "12G", "512M"; at least 1 MiB
  Flag& duration(std::string names, double& seconds, std::string what);     ///< "330m", "90s", "1.5h"; above 0
  Flag& argument(std::string name, std::string& value, std::string what);   ///< required
  Flag& arguments(std::string name, std::vector<std::string>& values, std::string what);
  void reads(std::string variable, std::string what);

  const std::vector<Flag>& flags() const { return m_flags; }
  const std::vector<Variable>& variables() const { return m_variables; }

 private:
  Flag& add(Flag flag);
  std::vector<Flag> m_flags;
  std::vector<Variable> m_variables;
};

/// "12G", "512M", "1.5GiB", "2000000" -> bytes. Error CLI002.
Result<std::uint64_t> parse_size(const std::string& text);
/// "90s", "330m", "1.5h", "30d" -> seconds; a number alone is not taken, because nobody knows of what. Error CLI002.
Result<double> parse_duration(const std::string& text);

}  // namespace sagekit::host
