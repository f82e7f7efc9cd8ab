#include "build/nvcc_compile.hpp"

#include "build/device_half.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_place = "{work}/half/";  ///< where a record says that its files lie

void add(CommandResult& sum, const CommandResult& one) {
  sum.cpu_seconds += one.cpu_seconds;
  sum.wall_seconds += one.wall_seconds;
  sum.peak_memory_bytes = std::max(sum.peak_memory_bytes, one.peak_memory_bytes);
}

std::unexpected<Error> not_done(const std::string& why) { return fail(ErrorKind::failed, "BLD009", why); }

}  // namespace

std::optional<DeviceStep> device_step(const Step& step, const std::vector<std::string>& argv) {
  constexpr std::string_view k_nvcc = "{nvcc-exe-", k_cxx = "{cxx-";
  if (step.kind != StepKind::compile || argv.empty() || !argv.front().starts_with(k_nvcc)) return std::nullopt;
  const auto host = word_after(argv, "-ccbin");
  if (!host.starts_with(k_cxx) || !host.ends_with('}')) return std::nullopt;
  DeviceStep device;
  device.platform = host.substr(k_cxx.size(), host.size() - k_cxx.size() - 1);
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (argv[i] == "-o" || argv[i] == "-MF")
      ++i;
    else
      device.argv.push_back(replace_all(argv[i], "-" + device.platform + "}", "}"));
  }
  return device;
}

Result<CommandResult> NvccCompile::run(const Command& command, CommandRunner& runner, std::stop_token stop) {
  if (m_known) {
    auto half = run_host_half(command, runner, stop);
    if (half || half.error().kind == ErrorKind::interrupted) return half;
    m_why_whole = half.error().message;
    return runner.run(command, stop);
  }
  TRY(make_directories(m_scratch));
  TRY_ASSIGN(auto folder, TemporaryFolder::create(m_scratch, "nvcc"));
  m_kept.emplace(std::move(folder));
  auto whole = command;
  whole.argv.insert(whole.argv.end(), {"--keep", "--keep-dir", m_kept->path().string()});
  return runner.run(whole, stop);
}

Result<CommandResult> NvccCompile::run_host_half(const Command& command, CommandRunner& runner,
                                                 const std::stop_token& stop) {
  TRY(make_directories(m_scratch));
  TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create(m_scratch, "half"));
  auto dry = command;
  dry.output_file.clear();
  dry.argv.insert(dry.argv.end(), {"--dryrun", "--keep", "--keep-dir", folder.path().string()});
  TRY_ASSIGN(auto sum, runner.run(dry, stop));
  if (!sum.ok()) return not_done("nvcc's dry run failed: " + trim(sum.output));
  TRY_ASSIGN(auto half, read_dryrun(sum.output));
  sum.output.clear();
  for (const auto& file : {half.stub, half.fatbin}) {
    const auto made =
        std::ranges::find(m_known->outputs, std::string(k_place) + file.filename().string(), &RecordedOutput::path);
    if (file.parent_path() != folder.path() || made == m_known->outputs.end())
      return not_done(fmt::format("the store's device code has no {}", file.filename().string()));
    TRY(m_store.place(made->object, file));
  }
  if (const auto depfile = word_after(command.argv, "-MF"); !depfile.empty())
    half.preprocess.insert(half.preprocess.end(), {"-MD", "-MF", depfile, "-MT", word_after(command.argv, "-o")});
  for (auto* part : {&half.preprocess, &half.split, &half.compile}) {
    auto one = command;
    one.argv = std::move(*part);
    TRY_ASSIGN(const auto result, runner.run(one, stop));
    add(sum, result);
    if (!result.ok()) return not_done(fmt::format("the host's half failed in {}", one.argv.front()));
  }
  return sum;
}

Status NvccCompile::keep(const std::string& key, const ActionRecord& read) const {
  if (!m_kept) return {};
  std::vector<fs::path> stubs, fatbins;  // a stub for each arch; the host's half takes the last one's
  std::vector<std::string> ptx;
  std::error_code error;
  for (fs::directory_iterator walk(m_kept->path(), error), end; !error && walk != end; walk.increment(error)) {
    const auto name = walk->path().filename().string();
    if (name.ends_with(".cudafe1.stub.c")) stubs.push_back(walk->path());
    if (name.ends_with(".fatbin.c")) fatbins.push_back(walk->path());
    if (!name.ends_with(".ptx")) continue;
    TRY_ASSIGN(auto text, read_file(walk->path()));
    ptx.push_back(std::move(text));
  }
  if (stubs.empty() || fatbins.size() != 1 || ptx.empty()) return {};
  ActionRecord record;
  record.headers = read.headers;
  record.epoch = read.epoch;
  const auto put = [&](const fs::path& file) -> Status {
    TRY_ASSIGN(auto object, m_store.put(file));
    record.outputs.push_back({std::string(k_place) + file.filename().string(), std::move(object)});
    return {};
  };
  TRY(put(fatbins.front()));
  for (const auto& stub : stubs) {
    TRY_ASSIGN(const auto text, read_file(stub));
    if (!same_kernels(text, ptx)) return {};
    TRY(put(stub));
  }
  std::ranges::sort(record.outputs, {}, &RecordedOutput::path);
  return m_store.add_record(key, record);
}

}  // namespace sagekit
