#pragma once
// A file that the user named, for a result or to be read.

#include <sagekit/error.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit::host {

/// All of it, of a pipe too; nothing when it cannot be read.
std::optional<std::string> file_text(const std::filesystem::path& path);

/// Why file_text has nothing, of kind usage.
Error read_error(const std::filesystem::path& path, std::string code, std::string hint);

/// What is written, and so may be replaced: a file of the same kind, by how it begins.
enum class OutputKind {
  page,      ///< a release's, of sagekit
  findings,  ///< SARIF
  timeline,  ///< of a build
  manual,    ///< a page of sagekit's manual
  own_name,  ///< what alone has that name in its folder: any text
};

/// What a result must not take the place of: a wheel's name, one of the command's `inputs`, a file of another kind that
/// is not empty. Asked before long work; write_output asks without the inputs. Error FIL002, kind usage.
Status check_output(const std::filesystem::path& path, OutputKind kind, const std::vector<std::string>& inputs = {});

/// Writes beside it and renames, so that a cut result never stands under its final name; what is there and no regular
/// file (/dev/stdout, a pipe) is written as it is. Error FIL002: kind machine when the disk is full, else usage.
Status write_output(const std::filesystem::path& path, OutputKind kind, std::string_view text);
/// The same of what may take a wheel's name: a wheel.
Status write_whole(const std::filesystem::path& path, std::string_view bytes);

/// FIL002 about `what`, from errno's value; `in_place`: a part of it may be there.
Error write_error(std::string_view what, int number, bool in_place = true);

}  // namespace sagekit::host
