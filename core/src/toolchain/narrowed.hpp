#pragma once
// What --toolchain left out was not looked at: of the machine as a whole nothing can be said then.

#include "support/format.hpp"

#include <sagekit/environment.hpp>

#include <string>

namespace sagekit {

/// " from --toolchain wheels"; `whole` when nothing was left out.
inline std::string looked_at(const Environment& environment, std::string whole) {
  return environment.narrowed_to.empty() ? whole : " from --toolchain " + environment.narrowed_to;
}

inline std::string none_there(const Environment& environment, std::string none) {
  return environment.narrowed_to.empty() ? none : "there is none from there";
}

inline std::string mend_there(const Environment& environment, std::string how) {
  if (!environment.store_mend.empty()) how = environment.store_mend + "; then " + how;
  if (environment.narrowed_to.empty()) return how;
  const auto both = environment.pinned_in.empty()
                        ? "installed and fetched ones"
                        : fmt::format("installed ones and fetched ones that {} pins", environment.pinned_in);
  return fmt::format("without --toolchain {} count, too; where there is none, {}", both, how);
}

}  // namespace sagekit
