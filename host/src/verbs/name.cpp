#include "naming_rows.hpp"
#include "render/table.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/plan.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace sagekit::host {

namespace {

struct NameArguments {
  std::string what, naming, arches, revision;
};

void declare(Flags& flags, NameArguments& arguments) {
  flags.argument("file or cell", arguments.what, "A wheel's file name, path or URL; or a cell's id");
  flags.value("--naming", "SCHEME", arguments.naming, "Read or write by this naming scheme only");
  flags.value("--arch", "LIST", arguments.arches, "Of a cell: its arches, as for plan");
  flags.value("--revision", "COMMIT", arguments.revision, "Of a cell: the source, as for plan");
}

std::string arches_text(const std::vector<ArchRequest>& arches) {
  std::vector<std::string> names;
  for (const auto& arch : arches) names.push_back(to_string(arch));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What is said, a line each.
std::string reading_text(const Console& console, const WheelNameReading& reading) {
  Rows rows = {{console.bold("says"), console.bold("value")}};
  const auto put = [&](const char* what, const std::string& value) {
    if (!value.empty()) rows.push_back({what, value});
  };
  put("package", reading.package);
  put("version", reading.version);
  put("build tag", reading.build);
  put("torch", reading.torch.empty() && !reading.torch_min.empty() ? reading.torch_min + " and higher" : reading.torch);
  put("CUDA", reading.cuda);
  if (reading.cxx11_abi) put("C++11 ABI", *reading.cxx11_abi ? "yes" : "no");
  put("Python", reading.python);
  put("ABI", reading.abi);
  put("platform", reading.platform);
  put("arches", arches_text(reading.arches));
  put("revision", reading.revision);
  put("date", reading.date);
  put("variant", reading.variant);
  put("scheme", reading.scheme.empty() ? "none that is known" : reading.scheme);
  put("not read", reading.unread);
  return table(rows, "  ", terminal_width());
}

int read_file_name(const Session& session, const NameArguments& arguments, const std::vector<NamingScheme>& schemes) {
  const auto readings = read_wheel_name(arguments.what, schemes);
  if (!readings) return report(session, readings.error());
  if (session.global.json)
    session.console.document(name_json(arguments.what, *readings));
  else
    for (const auto& reading : *readings) session.console.result(reading_text(session.console, reading));
  if (readings->size() == 1) return 0;
  session.console.show(Error{ErrorKind::failed, "NAM012",
                             fmt::format("the name can be read in {} ways", readings->size()), arguments.what,
                             "its provenance, or its maker, knows; --naming SCHEME reads it by one scheme"});
  return exit_code(ErrorKind::failed);
}

std::vector<std::string> platforms_of(const Spec& spec) {
  std::vector<std::string> all;
  for (const auto& row : spec.matrix.include)
    for (const auto& platform : row.platform)
      if (std::ranges::find(all, platform) == all.end()) all.push_back(platform);
  return all;
}

/// The plan that has this cell: of the default selection, of the whole matrix, of another profile.
Result<Plan> plan_of_cell(const Spec& spec, const NameArguments& arguments) {
  Request request;
  request.cells = {arguments.what};
  request.platforms = platforms_of(spec);
  request.arches = arguments.arches;
  request.revision = arguments.revision;
  request.with_steps = false;
  auto first = make_plan(spec, request, {});
  if (first && !first->cells.empty()) return first;
  Spec whole = spec;
  whole.profiles.clear();
  auto plan = make_plan(whole, request, {});
  if (plan && !plan->cells.empty()) return plan;
  for (const auto& profile : spec.profiles) {
    request.profile = profile.name;
    auto other = make_plan(spec, request, {});
    if (other && !other->cells.empty()) return other;
  }
  return plan ? plan : first;
}

/// The --arch list that a cell's id ends with: "8.0;9.0+PTX" stands there as "-sm80-sm90ptx". "" = the usual ones.
std::string arches_said(std::string_view id) {
  std::string arches;
  for (auto dash = id.rfind('-'); dash != std::string_view::npos; dash = id.rfind('-')) {
    auto word = id.substr(dash + 1);
    if (!word.starts_with("sm") || word.find_first_of("0123456789") != 2) break;
    const bool ptx = word.ends_with("ptx");
    if (ptx) word.remove_suffix(3);
    arches = fmt::format("{}{}{}{}", word, ptx ? "+PTX" : "", arches.empty() ? "" : ";", arches);
    id = id.substr(0, dash);
  }
  return arches;
}

int write_cell_names(const Session& session, const NameArguments& arguments, const std::vector<NamingScheme>& schemes) {
  if (session.global.plugins.empty() && arguments.what.find('-') == std::string::npos)
    return report(session, {ErrorKind::usage, "CLI001",
                            fmt::format("\"{}\" is neither a wheel's file name nor a cell", arguments.what), "",
                            "a file name ends in .whl; the wheels of a project: sagekit resolve --package NAME PLACE"});
  const auto plugin = session.plugin();
  if (!plugin) return report(session, plugin.error());
  auto plan = plan_of_cell(plugin->spec(), arguments);
  if (!plan && !arguments.arches.empty()) {  // an id says arches only where they are not the usual ones
    NameArguments with_arches = arguments;
    with_arches.what += "-sm*";
    if (auto other = plan_of_cell(plugin->spec(), with_arches)) plan = std::move(other);
  }
  if (const auto said = arches_said(arguments.what); !plan && arguments.arches.empty() && !said.empty()) {
    NameArguments with_arches = arguments;
    with_arches.arches = said;
    if (auto other = plan_of_cell(plugin->spec(), with_arches)) plan = std::move(other);
  }
  if (!plan) return report(session, plan.error());
  if (plan->cells.size() != 1) {
    const auto excluded = std::ranges::find(plan->excluded, arguments.what, &ExcludedCell::id);
    const bool is_excluded = plan->cells.empty() && excluded != plan->excluded.end();
    return report(session,
                  Error{ErrorKind::no_match,
                        "NAM013",
                        is_excluded ? fmt::format("{} is no cell: {}", arguments.what, excluded->reason)
                                    : fmt::format("\"{}\" is {} cells, not one", arguments.what, plan->cells.size()),
                        {},
                        "sagekit plan lists the cells"});
  }
  const auto& cell = plan->cells.front();
  const auto facts = name_facts(cell, plan->revision);
  auto values = naming_values(cell, plan->revision);
  values.python = naming_values(facts).python;
  std::vector<WrittenName> names;
  for (const auto& scheme : schemes) {
    // Of one name the first is what --naming takes.
    if (std::ranges::find(names, scheme.name, &WrittenName::scheme) != names.end()) continue;
    auto name = write_wheel_name(scheme, facts, values);
    if (!name && !arguments.naming.empty()) {
      name.error().where = cell.id;
      name.error().hint += ", or none: that shows what each scheme says";
      return report(session, name.error());
    }
    names.push_back({scheme.name, name.value_or(""), name ? "" : name.error().message});
  }
  if (session.global.json) {
    session.console.document(name_json(cell.id, facts, names));
  } else {
    Rows rows = {{session.console.bold("scheme"), session.console.bold("name")}};
    for (const auto& name : names)
      rows.push_back({name.scheme, name.why_not.empty() ? name.wheel : session.console.dim("cannot say it")});
    session.console.result(table(rows));
  }
  return 0;
}

int run(Session& session, const NameArguments& arguments) {
  const auto schemes = known_schemes(session, arguments.naming);
  if (!schemes) return report(session, schemes.error());
  const bool is_file = arguments.what.find_first_of("./\\+%") != std::string::npos;
  return is_file ? read_file_name(session, arguments, *schemes) : write_cell_names(session, arguments, *schemes);
}

}  // namespace

std::vector<Verb> name_verbs() {
  return {make_verb<NameArguments>(
      {.name = "name",
       .what = "What a wheel's file name says, by every naming scheme; or a cell's name in each",
       .examples = {"sagekit name sageattention-2.2.0+cu130torch2.10.0andhigher.post6-cp310-abi3-win_amd64.whl",
                    "sagekit --plugin sage3 name sage3-pytorch28-cu129-python312"},
       .exits = {{0, "one reading; a scheme or a rest that nobody knows is said"},
                 {1, "no wheel's name, or two readings: both are shown"},
                 {2, "no such scheme, or it cannot name the cell"},
                 {4, "no such cell"}}},
      declare, run)};
}

}  // namespace sagekit::host
