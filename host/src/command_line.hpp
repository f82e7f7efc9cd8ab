#pragma once
// The command line, parsed. command_line.cpp is the only file that knows the argument parser.

#include "verb.hpp"

#include <sagekit/error.hpp>

#include <set>
#include <string>
#include <vector>

namespace sagekit::host {

/// What every verb takes, before and after its name.
struct GlobalArguments {
  std::vector<std::string> plugins;  ///< names or files
  std::vector<std::string> plugin_dirs;
  std::string color = "auto";  ///< auto, always, never
  std::string directory;       ///< -C
  std::string config;          ///< --config; "" = the one that is found
  bool json = false;
  bool quiet = false;
  int verbose = 0;
  bool version = false, help = false;
  std::string typed;            ///< the words behind the program's name, as a shell reads them
  std::set<std::string> given;  ///< long names of the flags that stood on the command line
};
void declare_globals(Flags& flags, GlobalArguments& global);

/// Reads the command line into the places that the globals and the chosen verb declared, and returns the verb; null
/// when none was named. With --help or --version nothing else is required. Error CLI001 or CLI002 (usage) quotes what
/// was typed and names the nearest right word.
Result<const Verb*> parse_command_line(int argc, const char* const* argv, const std::vector<Verb>& verbs,
                                       GlobalArguments& global);

}  // namespace sagekit::host
