#pragma once
// The writers of each language's literals: whatever goes into a generated file goes through its writer, so that a name
// changes nothing but itself. All take valid UTF-8 without control characters (check_word).

#include <sagekit/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// GEN003 when no target, job or line can hold the text: control characters, no UTF-8. `what` names it for people.
Status check_word(std::string_view what, std::string_view text);

/// Refuses (GEN003) a text with an address that holds a password, or a user where that is how a token is written
/// ("https://ghp_...@host"); "ssh://git@host" holds none. The message does not show it.
Status check_no_secret(std::string_view what, std::string_view text);

std::string yaml_text(std::string_view text);        ///< a double-quoted scalar of YAML 1.2; also JSON's
std::string workflow_text(std::string_view text);    ///< the same for GitHub, which evaluates ${{ }} in every scalar
std::string hcl_text(std::string_view text);         ///< a quoted template of HCL 2 without interpolation
std::string toml_text(std::string_view text);        ///< a basic string
std::string shell_text(std::string_view text);       ///< one word of a POSIX shell; plain when it needs no quotes
std::string dockerfile_text(std::string_view text);  ///< a value of ENV, ARG and LABEL
std::string jinja_text(std::string_view text);       ///< a YAML scalar for Ansible, which expands {{ }} in all of them
std::string comment_text(std::string_view text);     ///< behind "# " of any of these languages: one line

std::string exec_form(const std::vector<std::string>& words);  ///< ["a", "b"] of Dockerfile and HCL lists of plain text

/// A name for jobs, targets and stages: other characters than letters, digits, "_" and "-" become "_".
std::string target_name(std::string_view text);

/// Puts values in the place of @name@; a template that names others, or leaves one out, is a bug of ours.
struct TemplateValue {
  std::string_view name;
  std::string text;
};
std::string fill_template(std::string_view text, const std::vector<TemplateValue>& values);

}  // namespace sagekit
