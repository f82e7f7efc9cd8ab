#pragma once
// A verb: its words, its flags and what it does. One file a verb in verbs/, one line in verbs.cpp.

#include "flags.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sagekit::host {

struct Session;

/// An exit code and when it comes.
struct Exit {
  int code = 0;
  std::string when;
};

/// What people read of a verb: --help and the man page are made of it.
struct VerbText {
  std::string name = {};                   ///< "plan", "toolchain fetch"
  std::string what = {};                   ///< one line
  std::vector<std::string> examples = {};  ///< two commands or more that work as they stand
  std::vector<Exit> exits = {};            ///< those that a script would tell apart
  bool hidden = false;                     ///< for sagekit itself: not listed
};

struct Verb {
  VerbText text;
  std::function<void(Flags&)> declare;
  std::function<int(Session&)> run;  ///< the exit code; empty = a group, whose verbs are named "GROUP VERB"
};

/// A verb with its arguments in a struct of its own; `declare` and `run` are functions of its file.
template <class Arguments>
Verb make_verb(VerbText text, void (*declare)(Flags&, Arguments&), int (*run)(Session&, const Arguments&)) {
  const auto arguments = std::make_shared<Arguments>();
  return {std::move(text), [=](Flags& flags) { declare(flags, *arguments); },
          [=](Session& session) { return run(session, *arguments); }};
}

/// A word that only groups verbs.
inline Verb make_group(VerbText text) {
  return {std::move(text), [](Flags&) {}, {}};
}

/// All of them, in the order of --help; a group stands before its verbs.
std::vector<Verb> all_verbs();

}  // namespace sagekit::host
