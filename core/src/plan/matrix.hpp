#pragma once
// The matrix of a spec as points over four axes of interned words: cheap to sort, compare and memoise by.

#include <sagekit/spec.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// The words of one axis, sorted; what each stands for, and adds to a cell id, lies beside it. "" = the axis is not
/// used.
struct Axis {
  std::vector<std::string> words;     ///< as the spec writes them: "2.8.0", ">=2.9,stable", "abi3>=3.10"
  std::vector<std::string> values;    ///< what is compiled with: the word, "2.11.0" (stable_headers), "3.10"
  std::vector<std::string> least;     ///< "2.9", "3.10": of words that mean every later release too; "" = just this one
  std::vector<std::string> id_parts;  ///< "pytorch28", "cu129", "python312", "-win_amd64"; "" = adds nothing

  std::size_t size() const { return values.size(); }
};

/// Positions on the axes.
struct Point {
  std::uint16_t torch = 0, cuda = 0, platform = 0, python = 0;
  auto operator<=>(const Point&) const = default;
};

struct Matrix {
  Axis torch, cuda, python, platform;
  std::vector<Point> points;  ///< every combination once, sorted

  /// Dense numbers of what points share, to memoise by.
  std::size_t pair(Point p) const { return p.torch * cuda.size() + p.cuda; }
  std::size_t triple(Point p) const { return pair(p) * platform.size() + p.platform; }
};

/// The union of the products of all include rows. An axis that a row leaves empty holds "" (no torch), for the platform
/// "linux_x86_64".
Matrix expand_matrix(const MatrixSpec& spec);

/// "sage2-pytorch28-cu129-python312": the id that profiles select over.
std::string base_id(std::string_view plugin, const Matrix& matrix, Point point);

/// Does the written version name this one or a prefix of it? "2.11" names "2.11.0", not "2.1.0".
bool names_version(std::string_view written, std::string_view version);

/// Does a written version mean a value of the axis? Of one that goes on, any version from its least on: those run it.
bool names_value(std::string_view written, const Axis& axis, std::size_t at);

/// The exclude rows of a spec, answered in a few table look-ups for each point.
class ExcludeRules {
 public:
  ExcludeRules(const MatrixSpec& spec, const Matrix& matrix);
  /// The first row that takes the point out; null = none. Points into the spec.
  const MatrixExclude* find(Point point) const;

 private:
  struct Rule {
    const MatrixExclude* row;
    std::vector<bool> torch, cuda, python, platform;  ///< by position on the axis
  };
  std::vector<Rule> m_rules;
};

}  // namespace sagekit
