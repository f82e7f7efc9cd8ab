#include "build/cuda_stub.hpp"

#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <cctype>
#include <set>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_driver_function(std::string_view word) {
  return word.size() > 2 && word.starts_with("cu") && std::isupper(static_cast<unsigned char>(word[2])) != 0;
}

}  // namespace

std::string cuda_stub_text(std::string_view header) {
  std::set<std::string> names;
  for (std::size_t at = 0; at < header.size();) {
    if (!is_word(header[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < header.size() && is_word(header[end])) ++end;
    if (const auto word = header.substr(at, end - at); is_driver_function(word)) names.emplace(word);
    at = end;
  }
  std::string text;
  for (const auto& name : names) text += fmt::format("extern \"C\" void {}() {{}}\n", name);
  return text;
}

Result<fs::path> make_cuda_stub(const Nvcc& nvcc, const HostCompiler& compiler, const Store& store,
                                CommandRunner& runner, const std::map<std::string, std::string>& child_environment) {
  const auto cannot = [](const std::string& why) {
    return fail(ErrorKind::machine, "BLD005", "cannot make a libcuda.so to link against: " + why,
                "it needs include/cuda.h of the CUDA toolkit");
  };
  const auto header = read_file(nvcc.include_dir / "cuda.h");
  if (!header) return cannot(header.error().message);
  const auto text = cuda_stub_text(*header);
  const auto folder = store.folder("stubs") / sha256_hex("cuda stub 1\n" + compiler.target + "\n" + text).substr(0, 32);
  std::error_code error;
  if (fs::exists(folder / "libcuda.so", error)) return folder;

  TRY_ASSIGN(const TemporaryFolder scratch, store.temporary());
  const fs::path made = scratch.path() / "stub", source = scratch.path() / "cuda.cpp";
  TRY(make_directories(made));
  TRY(write_file_atomic(source, text));
  Command command;
  command.argv = {compiler.executable.string(),
                  "-shared",
                  "-nostdlib",
                  "-fPIC",
                  "-O1",
                  "-fno-asynchronous-unwind-tables",
                  "-Wl,-soname,libcuda.so.1",
                  "-Wl,--build-id=none",
                  "-o",
                  (made / "libcuda.so").string(),
                  "cuda.cpp"};
  command.environment = child_environment;
  command.working_directory = scratch.path();
  TRY_ASSIGN(const auto result, runner.run(command));
  if (!result.ok()) return cannot(trim(result.output));
  TRY(publish_folder(made, folder));
  return folder;
}

}  // namespace sagekit
