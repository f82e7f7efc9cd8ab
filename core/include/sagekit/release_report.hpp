#pragma once
// A release as one page for people.

#include <sagekit/export.hpp>
#include <sagekit/release.hpp>

#include <string>

namespace sagekit {

/// One self-contained HTML page: each wheel against each GPU with the reasons, filters, sizes, findings, the line that
/// installs it. Nothing is fetched; what wheels say of themselves stays text. A function of the release alone.
SAGEKIT_API std::string report_html(const Release& release);

}  // namespace sagekit
