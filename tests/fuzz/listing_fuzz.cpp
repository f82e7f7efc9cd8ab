// A release's manifest or page, whoever wrote it, and the machine that somebody typed.
#include "fuzz_target.hpp"

#include <sagekit/resolve.hpp>

#include <cstdint>
#include <string_view>

SAGEKIT_FUZZ_TARGET(listing) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* base : {"https://example.org/simple/x/", "/tmp"}) {
    auto wheels = sagekit::read_listing(text, "", base);
    if (!wheels) continue;
    sagekit::ResolveOptions options;
    options.read_files = false;
    const auto runner = sagekit::make_local_runner();
    const auto target = sagekit::parse_target("gpu=H100,torch=2.9.1+cu130,python=3.12,platform=linux_x86_64", {});
    (void)sagekit::resolve(std::move(*wheels), *target, options, *runner);
  }
  (void)sagekit::parse_target(text, {});
  return 0;
}
