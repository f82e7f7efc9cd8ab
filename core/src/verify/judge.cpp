#include "verify/judge.hpp"

#include "support/try.hpp"
#include "verify/checks.hpp"
#include "verify/runs_on.hpp"

namespace sagekit {

Result<WheelReport> judge(const Subject& subject, Judgement judgement, const VerifyOptions& options,
                          CommandRunner& runner, std::string path, std::string sha256) {
  if (!subject.in_folder()) check_name(subject, judgement);
  check_paths(subject, judgement);
  check_dist_info(subject, judgement);
  check_metadata(subject, judgement);
  check_package_files(subject, judgement);
  check_variant(subject, judgement);
  check_content(subject, judgement);
  check_layout(subject, judgement);
  check_modules(subject, judgement);
  check_libc(subject, options.torches, judgement);
  check_symbols(subject, options.torches, judgement);
  check_gpu_code(subject, judgement);
  check_source(subject, options, judgement);
  ask_plugin(subject, judgement);
  TRY(check_imports(subject, options, runner, judgement));
  TRY(check_gpu(subject, options, runner, judgement));
  auto table = runs_on(subject, judgement.findings());
  check_runs_on(subject, table, judgement);
  auto report = std::move(judgement).report(std::move(path), std::move(sha256), std::move(table));
  report.kind = to_string(subject.kind);
  return report;
}

}  // namespace sagekit
