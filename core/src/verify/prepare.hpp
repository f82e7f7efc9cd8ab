#pragma once
// What a wheel and a folder have in common before they are judged: claims, the plugin that knows the package.

#include "verify/policy/judgement.hpp"
#include "verify/subject.hpp"

#include <sagekit/verify.hpp>

#include <vector>

namespace sagekit {

/// How files are read for judging.
InspectOptions reading_options(const VerifyOptions& options);

/// Sets `revision` and `recorded` by the claims' commit, else by the spec's fingerprints of the files, else, where the
/// spec has none, by the version. Needs spec, claims, name, members and `read`.
void choose_revision(Subject& subject);

/// Fills in who made it and what it claims, from its name, its record and the plugins: claims, plugin, spec, revision.
/// `spec` set: that one, whatever the distribution's name. Needs name, members, wheel and `read`.
void prepare(Subject& subject, const std::vector<const Plugin*>& plugins, const Spec* spec, Judgement& judgement);

}  // namespace sagekit
