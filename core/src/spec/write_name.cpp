#include "pypa/release_text.hpp"
#include "spec/name_values.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>
#include <array>

namespace sagekit {

namespace {

std::string sm_of(const ArchRequest& arch) {
  return without_dots("sm" + to_string(Arch{arch.capability, arch.suffix})) + (arch.ptx ? "ptx" : "");
}

/// A name may say less ("2.7" of 2.7.1), never something else.
bool is_part_of(std::string_view said, std::string_view fact) {
  return said.empty() || said == fact || (fact.starts_with(said) && fact[said.size()] == '.');
}

bool agrees(const WheelNameReading& said, const WheelNameReading& facts) {
  return said.package == facts.package && said.version == facts.version && is_part_of(said.torch, facts.torch) &&
         is_part_of(said.cuda, facts.cuda) && (said.torch_min.empty() || said.torch_min == facts.torch_min) &&
         (!said.cxx11_abi || said.cxx11_abi == facts.cxx11_abi) &&
         (said.arches.empty() || says_arches(said.arches, facts.arches)) &&
         (said.revision.empty() || facts.revision.starts_with(said.revision)) &&
         (said.date.empty() || said.date == facts.date) && said.python == facts.python && said.abi == facts.abi &&
         said.platform == facts.platform;
}

std::unexpected<Error> cannot_say(const NamingScheme& scheme, std::string_view why) {
  return fail(ErrorKind::usage, "NAM011",
              fmt::format("the naming scheme {} cannot name this wheel: {}", scheme.name, why), "another --naming");
}

/// Reading knows that a name may lack it; whoever writes one by such a scheme says it.
bool lacks_string_abi(const NamingScheme& scheme, const NamingValues& values) {
  return values.cxx11_abi.empty() && (scheme.version + scheme.build).find("{cxx11_abi}") != std::string::npos;
}

}  // namespace

NamingValues naming_values(const WheelNameReading& facts) {
  NamingValues values{.version = facts.version,
                      .torch = facts.torch,
                      .cuda = facts.cuda,
                      .date = facts.date,
                      .commit = {},
                      .arches = {}};
  values.torch_min = facts.torch_min;
  if (facts.cxx11_abi) values.cxx11_abi = *facts.cxx11_abi ? "true" : "false";
  (is_commit(facts.revision) ? values.commit : values.release) = facts.revision;
  std::vector<std::string> set;
  for (const auto& arch : facts.arches) {
    values.arches.push_back({arch.capability, arch.suffix});
    set.push_back(sm_of(arch));
  }
  values.arch_set = join(set, ".");
  if (facts.python.starts_with("cp")) values.python = facts.python.substr(2);
  return values;
}

Result<std::string> write_wheel_name(const NamingScheme& scheme, const WheelNameReading& facts) {
  return write_wheel_name(scheme, facts, naming_values(facts));
}

Result<std::string> write_wheel_name(const NamingScheme& scheme, const WheelNameReading& facts,
                                     const NamingValues& values) {
  if (lacks_string_abi(scheme, values))
    return cannot_say(scheme,
                      "it says whether torch has C++11's strings (_GLIBCXX_USE_CXX11_ABI), and nothing says "
                      "that of this wheel's torch");
  WheelName name;
  name.distribution = file_name_project(facts.package);
  TRY_ASSIGN(name.version, expand_template(scheme.version, values));
  TRY_ASSIGN(name.build, expand_template(scheme.build, values));
  TRY_ASSIGN(const std::string folder, expand_template(scheme.folder, values));
  name.version = lower(name.version);
  // A dash would begin the build tag; installers read a name by PEP 440's normal form.
  if (const auto normal = normal_version(name.version); normal.empty())
    return cannot_say(scheme, fmt::format("its version would be \"{}\", which is none (PEP 440)", name.version));
  else if (normal != name.version)
    return cannot_say(scheme, fmt::format("its version would be \"{}\", whose normal form, which names have, is \"{}\"",
                                          name.version, normal));
  name.python = split(facts.python, '.');
  name.abi = split(facts.abi, '.');
  name.platform = split(facts.platform, '.');
  name.variant = facts.variant;
  const std::string file = name.file_name();
  auto path = folder.empty() ? file : folder + '/' + file;
  const auto back = read_wheel_name(path, std::array{scheme});
  if (!back) return cannot_say(scheme, fmt::format("\"{}\" is no wheel's name", file));
  if (const auto& first = back->front(); !first.unread.empty())
    return cannot_say(scheme, fmt::format("it lacks what the scheme says, and would be \"{}\"", path));
  else if (first.scheme != scheme.name)
    return cannot_say(scheme,
                      fmt::format("it lacks what the scheme says (all numbers of torch's version, say): \"{}\" "
                                  "is {}",
                                  path, first.scheme.empty() ? "no scheme's" : "how " + first.scheme + " names"));
  for (const auto& reading : *back)
    if (agrees(reading, facts)) return path;
  return cannot_say(scheme, fmt::format("\"{}\" would be read as something else", path));
}

}  // namespace sagekit
