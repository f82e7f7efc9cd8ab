#pragma once
// What a retagged wheel will be called, and whether that is true of it.

#include <sagekit/inspect.hpp>
#include <sagekit/naming.hpp>
#include <sagekit/retag.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What is known of a wheel (provenance_of), as its name would say it.
struct KnownFacts {
  std::string from;                   ///< "sagekit.json"; "" = it has no record
  std::string torch_from, cuda_from;  ///< "sagekit.json", "its name", "Requires-Dist"; "" = not known
  WheelNameReading facts;             ///< `arches` only where its name should say them
  std::vector<ArchRequest> built;     ///< all arches of the build; empty = not known
};

/// `provenance`: the text of sagekit.json, "" = there is none. `schemes`, here and below: rows that names are read by
/// before those that are always there.
KnownFacts known_facts(const WheelName& name, std::string_view provenance,
                       const std::vector<std::string>& requires_dist, std::span<const NamingScheme> schemes = {});

/// The name with what the request changes, but `platform` "auto" and `variant` "auto". Errors: RTG001, RTG005, RTG007.
Result<WheelName> retagged_name(const WheelName& name, const RetagRequest& request, const KnownFacts& known);

/// The same of a file, of which only texts are read. Errors: those, RTG002, RTG003, and RTG004 of its new name.
Result<WheelName> retagged_name(const std::filesystem::path& wheel, const RetagRequest& request,
                                const RetagOptions& options, CommandRunner& runner);

/// Is what the new name says of torch, CUDA, source and arches what is known of the wheel? RTG004 (failed).
Status check_new_name(const WheelName& before, const WheelName& after, const KnownFacts& known,
                      std::span<const NamingScheme> schemes = {});

/// Is there a Python that a tag of the name is for and `requires_python` allows? RTG004 (failed).
Status check_python(const WheelName& name, const std::string& requires_python);

/// The tag that modules allow: "manylinux_2_17_x86_64", "win_amd64". Errors: RTG008 (failed).
Result<std::string> platform_of_symbols(const std::vector<MemberFacts>& members);

}  // namespace sagekit
