#pragma once
// Choosing a wheel for a machine: what `resolve` and `install` share.

#include "session.hpp"

#include <sagekit/resolve.hpp>

#include <memory>

namespace sagekit::host {

struct ResolvingArguments {
  std::string from, target, interpreter;
  std::string place;  ///< --from without its flag
  std::vector<std::string> packages;
};

/// --for, which may be given in parts: what is advised is added to what stands there.
void declare_machine(Flags& flags, std::string& machine, std::string what);
void declare_resolving(Flags& flags, ResolvingArguments& arguments, bool other_machines);
/// PLACE where people write it: behind the verb.
void declare_place(Flags& flags, ResolvingArguments& arguments);
Status take_place(ResolvingArguments& arguments);

/// The --interpreter word as a program: a path from the current folder, or a name that PATH has. Without a word the
/// active virtual environment's Python, else PATH's; a folder is an environment's; empty when there is none. Error
/// VFY019 (usage).
Result<std::filesystem::path> chosen_interpreter(const Session& session, const std::string& word);

/// The machine that --for and --interpreter say, asked only for what --for leaves open.
Result<Target> chosen_target(const Session& session, const ResolvingArguments& arguments);

/// Everything that choosing needs, kept alive together.
struct Resolving {
  LoadedPlugins plugins;
  ResolveOptions options;
};
Result<std::unique_ptr<Resolving>> make_resolving(const Session& session, const ResolvingArguments& arguments);

/// Finds and judges the wheels.
Result<Resolution> resolve_wheels(const Session& session, const ResolvingArguments& arguments, const Target& target,
                                  const Resolving& resolving, std::stop_token stop);

std::string target_text(const Target& target);
/// `all`: every refused wheel, else the first of them.
std::string resolution_text(const Console& console, const Resolution& resolution, bool all);

}  // namespace sagekit::host
