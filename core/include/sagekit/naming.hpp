#pragma once
// Wheel file names (PEP 427, PEP 440, packaging's rules) and the schemes that fill them.

#include <sagekit/error.hpp>
#include <sagekit/spec.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagekit {

/// `{distribution}-{version}(-{build})?-{python}-{abi}-{platform}(-{variant})?.whl`, split.
struct WheelName {
  std::string distribution, version, build;
  std::vector<std::string> python, abi, platform;  ///< compressed tag sets, as written
  std::string variant = {};                        ///< label of a wheel variant (PEP 825); "" = none

  std::string file_name() const;          ///< joined again
  std::vector<std::string> tags() const;  ///< every element of the product, sorted
};

/// Reads any wheel file name; says which rule it breaks (code NAM...).
SAGEKIT_API Result<WheelName> parse_wheel_name(std::string_view file_name);
/// "tiny-1.0-py3-none-any (1).whl", as browsers name a second download -> "tiny-1.0-py3-none-any.whl"; "" = no browser
/// named it.
SAGEKIT_API std::string without_copy_number(std::string_view file_name);

/// PEP 503 normal form ("Sage_Attention" -> "sage-attention") and the file-name form ("sage_attention").
SAGEKIT_API std::string normalized_project(std::string_view name);
SAGEKIT_API std::string file_name_project(std::string_view name);

/// Is it a PEP 440 version in normal form?
SAGEKIT_API bool is_normal_version(std::string_view version);

/// The values a naming template may use.
struct NamingValues {
  std::string version, torch, cuda, date, commit;  ///< "2.2.0" "2.11.0" "13.0" "20260117" 40 hex digits
  std::vector<Arch> arches;
  std::string arch_set = {};   ///< "sm90a.sm120ptx": an arch set that is not the spec's default one (Cell::arch_set)
  std::string torch_min = {};  ///< "2.10.0": this torch and every newer one (torch's stable ABI)
  std::string cxx11_abi = {};  ///< "true", "false"
  std::string release = {};    ///< the maker's own word for its source: "post6", "sm90fix1"
  std::string python = {};     ///< "312"
};

/// Replaces {version} {torch} ("2.11.0") {torch_minor} ("2.11") {torch_digits} ("2110") {torch_minor_digits} ("211")
/// {torch_min} {cuda} ("13.0") {cuda_digits} ("130") {cuda_major} ("13") {date} {commit7} {sms} ("sm90a.sm120a",
/// always) {arches} ("sm90a", where the arch set is not the default one) {cxx11_abi} {post} ("post6") {fix} (another
/// word for the maker's source) {python} ("312"). An unknown word is an error (NAM010). An empty value (a variant
/// without torch has no {torch}) takes along the literal text directly before its word; of the pieces between `+` and
/// `.` one that had words and lost them all goes whole, with its separator:
/// "{version}+cu{cuda_digits}.torch{torch_minor}.{date}" is "2.2.0+cu130.20260117" without torch.
SAGEKIT_API Result<std::string> expand_template(std::string_view text, const NamingValues& values);

/// The schemes every spec has: build-tag, local-version, plain, default.
SAGEKIT_API const std::vector<NamingScheme>& builtin_schemes();
/// Those that other makers' wheels are named by.
SAGEKIT_API const std::vector<NamingScheme>& published_schemes();

/// What a file name says of its wheel. Empty = it does not say; nothing here is guessed.
struct WheelNameReading {
  std::string package;                ///< normal form: "flash-attn"
  std::string version;                ///< public version in normal form: "2.2.0"
  std::string local;                  ///< local version in normal form: "cu128torch2.7.1.post3"
  std::string build;                  ///< build tag as written
  std::string torch;                  ///< exact "2.7.1", or a minor "2.7"
  std::string torch_min;              ///< this torch and higher
  std::string cuda;                   ///< "12.8", or a major "12"
  std::optional<bool> cxx11_abi;      ///< _GLIBCXX_USE_CXX11_ABI
  std::string python, abi, platform;  ///< tag sets as written: "cp310", "abi3", "win_amd64"
  std::vector<ArchRequest> arches;    ///< empty = it does not say
  bool ptx_unsaid = false;            ///< `arches` by {sms}, which never says which of them carry PTX
  bool default_arches = false;        ///< it names none, and its scheme names those that are not the default ones
  std::string revision;               ///< of the source: a commit's digits, or the maker's word: "post6"
  std::string date;                   ///< "20260117"
  std::string variant;                ///< label of a wheel variant (PEP 825)
  std::string scheme;                 ///< the row that reads it; "" = none does
  std::string unread;                 ///< what of the local version no row reads: "mengqin"

  bool operator==(const WheelNameReading&) const = default;
};

/// Reads names by rows of naming schemes. Made once, for reading many.
class SAGEKIT_API WheelNameReader {
 public:
  /// Errors: NAM010 for a template that is none.
  static Result<WheelNameReader> make(std::span<const NamingScheme> schemes);

  /// `file` is a file name, a path or a URL; `%2B` is read as `+`. One reading, or several when the rows that say most
  /// disagree (the caller says so, and does not choose). Errors: parse_wheel_name's.
  Result<std::vector<WheelNameReading>> read(std::string_view file) const;
  /// Of a name that was parsed, in a folder whose name may say something.
  std::vector<WheelNameReading> read(const WheelName& name, const std::string& folder = {}) const;

 private:
  struct Forms;
  explicit WheelNameReader(std::shared_ptr<const Forms> forms) : m_forms(std::move(forms)) {}
  std::shared_ptr<const Forms> m_forms;
};

/// One name by `schemes`: WheelNameReader for those who read one.
SAGEKIT_API Result<std::vector<WheelNameReading>> read_wheel_name(std::string_view file,
                                                                  std::span<const NamingScheme> schemes);

/// The built-in rows, the published ones, and `more` (a plugin's, a configuration's) before them.
SAGEKIT_API std::vector<NamingScheme> naming_schemes(std::span<const NamingScheme> more = {});

/// What a template may use of what a name said.
SAGEKIT_API NamingValues naming_values(const WheelNameReading& facts);

/// The name that `scheme` gives a wheel of these facts (`facts.build`, `local` and `scheme` are not used), with its
/// folder before it where the scheme has one. It reads back as what it was written of, as far as the scheme says it;
/// NAM011 (usage) when it would not: a scheme for "and higher" cannot name a wheel for one torch.
SAGEKIT_API Result<std::string> write_wheel_name(const NamingScheme& scheme, const WheelNameReading& facts);
/// With other values than the facts' own: a cell's arch set is said only where it is not the default one.
SAGEKIT_API Result<std::string> write_wheel_name(const NamingScheme& scheme, const WheelNameReading& facts,
                                                 const NamingValues& values);

/// One scheme's name of a wheel, or why it has none.
struct WrittenName {
  std::string scheme, wheel, why_not;
};

/// `sagekit name FILE` (docs/json.md).
SAGEKIT_API std::string name_json(std::string_view file, const std::vector<WheelNameReading>& readings);
/// `sagekit name CELL`.
SAGEKIT_API std::string name_json(std::string_view cell, const WheelNameReading& facts,
                                  const std::vector<WrittenName>& names);

}  // namespace sagekit
