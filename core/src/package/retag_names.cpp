#include "package/retag_names.hpp"

#include "inspect/provenance.hpp"
#include "inspect/system_needs.hpp"
#include "pypa/platform_tag.hpp"
#include "pypa/version_order.hpp"
#include "pypa/wheel_paths.hpp"
#include "spec/arch_names.hpp"
#include "spec/data.hpp"
#include "spec/libc_floor.hpp"
#include "spec/name_readings.hpp"
#include "spec/name_values.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace sagekit {

namespace {

/// Of a wheel for one torch it is torch's.
void add_string_abi(WheelNameReading& facts, const WheelName& name) {
  if (!facts.cxx11_abi && facts.torch_min.empty() && !name.platform.empty())
    facts.cxx11_abi = torch_has_new_strings(facts.torch, facts.cuda, name.platform.front());
}

/// Either says less than the other, or the same.
bool fits(std::string_view one, std::string_view other) {
  const auto begins = [](std::string_view whole, std::string_view start) {
    return whole == start || (whole.starts_with(start) && whole[start.size()] == '.');
  };
  return one.empty() || other.empty() || begins(one, other) || begins(other, one);
}

std::unexpected<Error> bad_value(std::string message, std::string hint) {
  return fail(ErrorKind::usage, "RTG007", std::move(message), std::move(hint));
}

/// Tags as the file name has them: sorted, each once.
std::vector<std::string> tag_set(std::string_view text) {
  auto tags = split(text, '.');
  std::ranges::sort(tags);
  tags.erase(std::ranges::unique(tags).begin(), tags.end());
  return tags;
}

Status apply_naming(WheelName& name, const NamingScheme& scheme, const KnownFacts& known) {
  const auto& facts = known.facts;
  const auto says = [&](std::string_view word) {
    return (scheme.version + scheme.build).find(fmt::format("{{{}", word)) != std::string::npos;
  };
  // Without provenance nobody knows whether there is no torch or nobody said which.
  std::vector<std::string> unknown;
  if (says("torch") && facts.torch.empty() && facts.torch_min.empty()) unknown.emplace_back("torch");
  if (says("cuda") && facts.cuda.empty()) unknown.emplace_back("CUDA");
  if (known.from.empty() && !unknown.empty())
    return fail(ErrorKind::usage, "RTG005",
                fmt::format("the naming scheme {} says {}, and nothing says which {} is for", scheme.name,
                            join(unknown, " and "), name.file_name()),
                "sagekit retag with --local or --build in place of --naming says what is not known");
  auto values = naming_values(facts);
  if (!known.built.empty()) {
    values.arches.clear();
    for (const auto& arch : known.built) values.arches.push_back({arch.capability, arch.suffix});
  }
  auto whole = facts;
  if (!known.built.empty()) whole.arches = known.built;
  auto written = write_wheel_name(scheme, whole, values);
  if (!written) {
    written.error().where = name.file_name();  // of a folder of wheels it is one that cannot be named
    return std::unexpected(std::move(written.error()));
  }
  TRY_ASSIGN(const WheelName named, parse_wheel_name(after_last(*written, '/')));
  name.version = named.version;
  name.build = named.build;
  return {};
}

/// What one reading of `after` says, against what is known.
Status check_reading(const WheelNameReading& said, const WheelName& after, const KnownFacts& known) {
  const auto lie = [&](std::string_view what, std::string_view word, std::string_view is, const std::string& from) {
    return fail(
        ErrorKind::failed, "RTG004",
        fmt::format("{} would say {} {}, and {} says {}", after.file_name(), what, word,
                    from.empty() || from == k_said_by_name ? "the name it has" : from, is.empty() ? "none" : is),
        "a name cannot change what a wheel was built for: build it");
  };
  const auto& facts = known.facts;
  if (!said.torch_min.empty() && said.torch_min != facts.torch_min)
    return lie("torch", said.torch_min + " and higher", facts.torch_min.empty() ? facts.torch : facts.torch_min,
               known.torch_from);
  if (!fits(said.torch, facts.torch) || (!said.torch.empty() && !facts.torch_min.empty()))
    return lie("torch", said.torch, facts.torch_min.empty() ? facts.torch : facts.torch_min + " and higher",
               known.torch_from);
  if (!fits(said.cuda, facts.cuda)) return lie("CUDA", said.cuda, facts.cuda, known.cuda_from);
  if (known.from.empty()) return {};
  // A build without torch or CUDA, and a source of its own.
  if (!said.torch.empty() && facts.torch.empty()) return lie("torch", said.torch, "", known.from);
  if (!said.cuda.empty() && facts.cuda.empty()) return lie("CUDA", said.cuda, "", known.from);
  const bool commit = said.revision.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (commit && !facts.revision.starts_with(said.revision))
    return lie("commit", said.revision, facts.revision, known.from);
  if (!said.date.empty() && !facts.date.empty() && said.date != facts.date)
    return lie("date", said.date, facts.date, known.from);
  if (!said.arches.empty() && !known.built.empty() && !says_arches(said.arches, known.built))
    return lie("arches", arch_names(said.arches), arch_names(known.built), known.from);
  return {};
}

}  // namespace

KnownFacts known_facts(const WheelName& name, std::string_view provenance,
                       const std::vector<std::string>& requires_dist, std::span<const NamingScheme> schemes) {
  auto record = read_provenance(provenance);
  const auto said = provenance_of(record ? std::optional(std::move(*record)) : std::nullopt,
                                  name_readings(name, schemes, {}), requires_dist);
  KnownFacts known{said.from, said.torch_from, said.cuda_from, said.named, {}};
  auto& facts = known.facts;
  facts.torch = said.torch;
  facts.torch_min = said.torch_min;
  facts.cuda = said.cuda;
  facts.variant.clear();
  if (!said.is_recorded()) {
    add_string_abi(facts, name);
    return known;
  }
  facts.revision = said.commit;
  facts.date = said.source_date;
  if (!said.source_version.empty()) facts.version = said.source_version;
  known.built = said.arches.value_or(std::vector<ArchRequest>());
  // A cell with the default arch set has no arches in its id, and none in its name.
  facts.arches = said.cell.find("-sm") == std::string::npos ? std::vector<ArchRequest>{} : known.built;
  add_string_abi(facts, name);
  return known;
}

Result<WheelName> retagged_name(const WheelName& before, const RetagRequest& request, const KnownFacts& known) {
  WheelName name = before;
  if (request.naming) {
    if (request.build || request.local)
      return bad_value("--naming sets the build tag and the local version, and so do --build and --local",
                       "give one of them");
    TRY(apply_naming(name, *request.naming, known));
  }
  if (request.local) {
    name.version = name.version.substr(0, name.version.find('+'));
    if (!request.local->empty()) name.version += '+' + lower(*request.local);
    if (!is_normal_version(name.version))
      return bad_value(fmt::format("\"{}\" makes no version in normal form: {}", *request.local, name.version),
                       "small letters and digits, with . between words (PEP 440): cu128torch2.7.1");
  }
  if (request.build) name.build = *request.build;
  if (!name.build.empty() && !is_digits(name.build.substr(0, 1)))
    return bad_value(fmt::format("\"{}\" is no build tag: it does not begin with a digit", name.build),
                     "for example --build 1 or --build 270.128");
  if (!request.python.empty()) name.python = tag_set(request.python);
  if (!request.abi.empty()) name.abi = tag_set(request.abi);
  if (!request.platform.empty() && request.platform != "auto") name.platform = tag_set(request.platform);
  if (request.variant && *request.variant != "auto") name.variant = *request.variant;
  const auto read = parse_wheel_name(name.file_name());
  if (!read || read->version != name.version || read->build != name.build || read->platform != name.platform ||
      read->variant != name.variant)
    return bad_value(
        fmt::format("\"{}\" would be no wheel's name", name.file_name()),
        read ? "a build tag begins with a digit, a tag holds letters, digits and _" : read.error().message);
  for (const auto& tag : name.platform)
    if (parse_platform_tag(tag).system == PlatformTag::System::unknown)
      return bad_value(fmt::format("\"{}\" is no platform tag that an installer knows", tag),
                       "auto, manylinux_2_28_x86_64, win_amd64");
  return name;
}

Status check_python(const WheelName& name, const std::string& requires_python) {
  constexpr int k_newest = 99;
  for (const auto& text : name.python)
    for (const auto& abi : name.abi) {
      const auto tag = read_python_tag(text);
      const bool newer = tag.minor < 0 || abi.starts_with("abi3") || (abi == "none" && tag.implementation == "py");
      const int first = std::max(tag.minor, 0), last = newer ? k_newest : first;
      for (int minor = first; minor <= last; ++minor)
        // What cannot be read is for verify to say.
        if (specifiers_allow_minor(requires_python, fmt::format("{}.{}", tag.major, minor)).value_or(true)) return {};
    }
  return fail(ErrorKind::failed, "RTG004",
              fmt::format("{} would be for {}, and its Requires-Python says {}: no Python could install it",
                          name.file_name(), join(name.python, "."), requires_python),
              "a tag of a Python that Requires-Python allows");
}

Status check_new_name(const WheelName& before, const WheelName& after, const KnownFacts& known,
                      std::span<const NamingScheme> schemes) {
  if (before.version == after.version && before.build == after.build) return {};
  // A build tag can speak of torch and CUDA beside a local version that does.
  WheelName tag_alone = after;
  tag_alone.version = after.version.substr(0, after.version.find('+'));
  for (const WheelName* const name : {&after, static_cast<const WheelName*>(&tag_alone)}) {
    TRY_ASSIGN(const auto readings, read_wheel_name(name->file_name(), naming_schemes(schemes)));
    for (const auto& said : readings) TRY(check_reading(said, after, known));
  }
  return {};
}

Result<std::string> platform_of_symbols(const std::vector<MemberFacts>& members) {
  const auto cannot = [](const std::string& why) {
    return fail(ErrorKind::failed, "RTG008", "the modules tell no platform tag: " + why, "name it with --platform");
  };
  std::set<std::string> machines;
  bool windows = false;
  for (const auto& member : members) {
    if (!is_native(member.path) || (!member.elf && !member.pe)) continue;
    windows = windows || member.pe.has_value();
    machines.insert(member.pe ? member.pe->machine : member.elf->machine);
    if (member.elf && member.elf->libc == "musl")
      return cannot(fmt::format("{} is for musl, whose symbols have no versions", member.path));
  }
  if (machines.empty()) return cannot("there are none");
  if (machines.size() > 1)
    return cannot("they are for several machines: " + join({machines.begin(), machines.end()}, ", "));
  const std::string& machine = *machines.begin();
  if (windows) return machine == "x86_64" ? "win_amd64" : machine == "aarch64" ? "win_arm64" : "win_" + machine;
  auto level = floor_on(machine, VersionNumber{{2, 5}});
  for (const auto& need : system_needs(members)) {
    // PEP 600: any glibc makes a tag; what other libraries have is known for some of them.
    const auto least = need.is_glibc() && need.number ? need.number : need.level;
    if (!least) return cannot(fmt::format("{} needs {}, which no known manylinux tag has", need.module, need.text()));
    level = std::max(level, *least);
  }
  return fmt::format("manylinux_{}_{}_{}", level.major(), level.minor(), machine);
}

}  // namespace sagekit
