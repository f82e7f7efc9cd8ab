#include "build/host_half.hpp"

#include "build/device_outputs.hpp"
#include "build/text_key.hpp"
#include "compile/fatbin_include.hpp"
#include "compile/kernel_interface.hpp"
#include "compile/windows_host.hpp"
#include "compile/windows_kernels.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_assembly = "assembly", k_read_list = "read.d";

/// nvcc's fatbinary for one of its architectures.
CommandLine with_images_of(const DeviceCommands& device, CommandLine fatbinary) {
  std::erase_if(fatbinary, [&](const std::string& word) {
    return word.starts_with("--image") && std::ranges::none_of(device.images, [&](const DeviceImage& image) {
             return word.find("file=" + image.file.string()) != std::string::npos;
           });
  });
  return fatbinary;
}

/// A line marker of the stub has the name that nvcc gave to it, for one architecture or the last of several.
std::string with_host_markers(std::string stub) {
  constexpr std::string_view k_end = ".cudafe1.stub.c\"";
  for (auto at = stub.find(k_end); at != std::string::npos; at = stub.find(k_end, at + 1)) {
    const auto name = stub.rfind('"', at) + 1;
    stub.replace(name, at + k_end.size() - 1 - name, k_host_stub);
    at = name + k_host_stub.size() - 1;
  }
  return stub;
}

/// CUB and Thrust have namespaces named after all architectures, "CUB_300001_SM_800_900_NS", so that every text of
/// torch's headers has them. Where their names come into the assembly it is not kept, as with folders.
void add_arch_list(const CommandLine& preprocess, Places& places) {
  constexpr std::string_view k_list = "-D__CUDA_ARCH_LIST__=";
  for (const auto& word : preprocess)
    if (word.starts_with(k_list) && word.size() > k_list.size())
      places.emplace_back("_SM_" + replace_all(word.substr(k_list.size()), ",", "_"), "{_SM_architectures}");
}

}  // namespace

Result<HostHalf> HostHalf::prepare(const StepContext& context, const Step& step, const Command& whole,
                                   const NvccCommands& commands, std::stop_token stop) {
  TRY_ASSIGN(auto folder, TemporaryFolder::create(context.work / "tmp", "host"));
  auto all = in_folder(commands, folder.path());
  if (!word_after(whole.argv, "-MF").empty()) {
    const auto listed = (folder.path() / k_read_list).string();
    all.preprocess.insert(all.preprocess.end(), {"-MD", "-MF", listed, "-MT", word_after(whole.argv, "-o")});
  }
  return HostHalf(context, step, whole, std::move(all), std::move(folder), std::move(stop));
}

/// Images and stub into the folder, after all of them were found to belong together.
Result<std::string> HostHalf::take_gpu_code(const std::vector<DeviceCommands>& wanted,
                                            const std::vector<MadeDevice>& devices) {
  std::optional<KernelInterface> kernels;
  if (m_begun) kernels = m_kernels;
  std::string stub;
  for (const auto& device : wanted) {
    const auto made = std::ranges::find(devices, device.arch, &MadeDevice::arch);
    if (made == devices.end()) return "no GPU code was made for " + device.arch;
    const auto text_of = [&](std::string_view name) -> Result<std::string> {
      const auto* object = output_of(*made->record, name);
      if (object == nullptr) return std::string();
      TRY(m_context.store.place(*object, m_folder.path() / "kept.txt"));
      return read_file(m_folder.path() / "kept.txt");
    };
    for (const auto& image : device.images) {
      const auto* object = output_of(*made->record, image.role);
      if (object == nullptr) return fmt::format("the GPU code for {} has no {}", device.arch, image.role);
      TRY(m_context.store.place(*object, image.file));
    }
    TRY_ASSIGN(const auto kept, text_of(k_kernels));
    auto interface = parse_interface(kept);
    if (!interface) return "the store's list of kernels is not understood";
    if (kernels && kernels->entries != interface->entries) return "the architectures do not have the same kernels";
    kernels = std::move(interface);
    TRY_ASSIGN(const auto id, text_of(k_module_id));
    if (!m_module_id.empty() && id != m_module_id) return "the architectures do not have the same module id";
    m_module_id = id;
    if (device.stub != m_all.stub) continue;
    TRY_ASSIGN(stub, text_of(k_stub));
  }
  if (kernels) m_kernels = *kernels;
  if (m_begun || is_windows_host(m_step)) return std::string();  // clang writes the launches itself
  const auto asserted = with_size_assertions(with_host_markers(std::move(stub)), *kernels);
  if (!asserted) return "its launches are not understood";
  m_all = with_host_names(std::move(m_all));
  TRY(write_file(m_all.stub, *asserted));
  return std::string();
}

/// False: it failed, and m_why says how.
Result<bool> HostHalf::run(const CommandLine& argv, const fs::path& working_directory, CommandResult& sum) {
  auto command = m_whole;
  command.argv = argv;
  command.working_directory = working_directory;
  for (const auto& [name, value] : m_all.environment) command.environment[name] = value;
  TRY_ASSIGN(const auto result, m_context.runner.run(command, m_stop));
  add(sum, result);
  if (result.ok()) return true;
  sum.exit_code = result.exit_code;
  sum.signal = result.signal;
  sum.timed_out = result.timed_out;
  m_why = fmt::format("{} failed: {}", argv.front(), last_lines(m_whole.output_file));
  return false;
}

/// What fatbinary makes beside the file for the compiler; "" = it makes none.
fs::path HostHalf::made_fatbin() const {
  constexpr std::string_view k_create = "--create=";
  const auto create = std::ranges::find_if(m_all.fatbinary, [&](const auto& w) { return w.starts_with(k_create); });
  return create == m_all.fatbinary.end() ? fs::path() : fs::path(create->substr(k_create.size()));
}

/// False: nvcc's file is not as it is expected, and stays.
Result<bool> HostHalf::include_fatbin() const {
  const auto made = made_fatbin();
  std::error_code error;
  if (made.empty()) return false;
  fs::rename(made, m_folder.path() / k_host_fatbin, error);
  if (error) return false;
  std::optional<std::string> text;
  {
    TRY_ASSIGN(const auto fatbin, MappedFile::open(m_folder.path() / k_host_fatbin));
    TRY_ASSIGN(const auto written, MappedFile::open(m_all.fatbin));
    text = with_included_fatbin(written.bytes(), fatbin.bytes(), k_host_fatbin);
  }
  if (text) TRY(write_file(m_all.fatbin, *text));
  return text.has_value();
}

/// For the next that has this text.
Status HostHalf::keep(const std::string& key, const fs::path& assembly) const {
  TRY_ASSIGN(const auto text, read_file(assembly));
  if (names_a_place(text, m_places)) return {};
  TRY(m_context.tools.unchanged());
  ActionRecord record;
  TRY_ASSIGN(auto object, m_context.store.put(assembly));
  record.outputs.push_back({output_path(k_assembly), std::move(object)});
  return m_context.store.add_record(key, record);
}

bool HostHalf::take_assembly(const std::string& key) const {
  const auto has = [&](const ActionRecord& record) {
    const auto* object = output_of(record, k_assembly);
    return object != nullptr && m_context.store.has(*object);
  };
  const auto record = m_context.store.find(key, has);
  return record && m_context.store.place(*output_of(*record, k_assembly), m_folder.path() / k_host_assembly);
}

void HostHalf::say(std::string_view what) const {
  log_line(m_context.log, LogLevel::info, [&] { return fmt::format("{}: the host's code: {}", m_step.id, what); });
}

/// Before cudafe++: with an architecture more this is all that the host's half reads again. "" = there is none.
Result<std::string> HostHalf::key_of_source(const HostCommands& commands) const {
  constexpr std::string_view k_arch = "__CUDA_ARCH";
  TRY_ASSIGN(const auto text, MappedFile::open(word_after(m_all.preprocess, "-o")));
  TRY_ASSIGN(const auto stub, MappedFile::open(m_all.stub));
  // What is left of architectures are macros for a pass behind cudafe++: nothing there asks for them
  // (crt/host_runtime.h and what it includes, 13.0 to 13.5), and this text must not either.
  for (const auto& file : {text.bytes(), stub.bytes()})
    if (file.find(k_arch) != std::string_view::npos) return std::string();
  auto words = m_all.split;
  words.front() = "cudafe++";    // which one says nvcc's identity
  words.push_back(m_module_id);  // that of this GPU code; cudafe++ gave it to what is found by it, too
  words.insert(words.end(), m_all.compile.begin(), m_all.compile.end());
  words.insert(words.end(), commands.compile.begin(), commands.compile.end());
  std::erase_if(words, [&](const std::string& word) {
    return word.starts_with("-D__CUDA_ARCH") || word == word_after(m_all.compile, "-o");
  });
  return host_source_key(m_context.symbols, m_step.argv, words, text.bytes(), stub.bytes(), m_places);
}

/// The pass of cudafe++.
Result<bool> HostHalf::split(CommandResult& sum) {
  TRY_ASSIGN(const bool done, run(m_all.split, m_whole.working_directory, sum));
  if (!done || m_module_id.empty()) return done;
  TRY_ASSIGN(const auto now, read_file(m_all.module_id));
  return now == m_module_id || not_made("the host's pass gives another module id");
}

/// The host's assembly, from the store or made, of a unit that takes in the GPU code as a file.
Result<bool> HostHalf::make_assembly(const HostCommands& commands, CommandResult& sum) {
  add_mapped_places(commands.compile, m_places);
  add_arch_list(m_all.preprocess, m_places);
  TRY_ASSIGN(const auto source_key, key_of_source(commands));
  const auto take = [&] { return !source_key.empty() && take_assembly(source_key); };
  bool waited = false;
  m_reused = take();
  const auto claim = m_reused || source_key.empty() ? std::nullopt : m_context.store.claim(source_key, m_stop, waited);
  if (waited) m_reused = take();
  if (m_reused) {
    say("reused from the store, by its source");
    return true;
  }
  TRY_ASSIGN(const bool apart, split(sum));
  if (!apart) return false;
  TRY_ASSIGN(const bool read, run(commands.preprocess, m_whole.working_directory, sum));
  if (!read) return false;
  const auto text_file = m_folder.path() / k_host_text;
  TRY_ASSIGN(auto text, read_file(text_file));
  text = replace_all(std::move(text), m_folder.path().string() + "/", "");  // line markers
  TRY(write_file(text_file, text));

  TRY_ASSIGN(const bool compiled, assembly_of(commands.compile, text, word_after(m_step.argv, "-ccbin"), sum));
  if (compiled && !source_key.empty()) TRY(keep(source_key, m_folder.path() / k_host_assembly));
  return compiled;
}

/// The same by clang, which embeds a file of GPU code: while it compiles another one stands there, so that its assembly
/// is that of every GPU code.
Result<bool> HostHalf::compile_for_windows(CommandResult& sum) {
  const auto commands = take_apart_clang(m_whole.argv, m_folder.path());
  if (!commands) return not_made("clang's command is not understood");
  TRY_ASSIGN(auto fatbin, read_file(made_fatbin()));
  const auto marked = with_windows_host(std::move(fatbin));
  if (!marked) return not_made("fatbinary's file is not understood");
  TRY(write_file(m_folder.path() / k_host_fatbin, *marked));
  TRY(write_file(m_folder.path() / k_fatbin_place_file, k_fatbin_place));

  TRY_ASSIGN(const bool read, run(commands->preprocess, m_whole.working_directory, sum));
  if (!read) return false;
  const auto text_file = m_folder.path() / k_host_text, assembly = m_folder.path() / k_host_assembly;
  TRY_ASSIGN(auto text, read_file(text_file));
  text += size_assertions(m_kernels);
  TRY(write_file(text_file, text));
  add_mapped_places(commands->preprocess, m_places);
  TRY_ASSIGN(const bool compiled, assembly_of(commands->compile, text, m_step.argv.front(), sum));
  if (!compiled) return false;
  TRY_ASSIGN(const auto made, read_file(assembly));
  TRY(check_registrations(made, m_kernels));
  const auto whole = with_fatbin_file(made, k_host_fatbin);
  if (!whole) return not_made("clang's assembly has no place for the GPU code");
  remove_quietly(assembly);  // it may be linked into the store
  TRY(write_file(assembly, *whole));
  return run(commands->assemble, m_folder.path(), sum);
}

bool HostHalf::not_made(std::string why) {
  m_why = std::move(why);
  return false;
}

/// The host's assembly from the store, or made of the text.
Result<bool> HostHalf::assembly_of(const CommandLine& argv, const std::string& text, const std::string& cxx,
                                   CommandResult& sum) {
  const auto assembly = m_folder.path() / k_host_assembly;
  const auto key = host_text_key(m_context.symbols, cxx, argv, text, m_places);
  bool waited = false, reused = take_assembly(key);
  const auto claim = reused ? std::nullopt : m_context.store.claim(key, m_stop, waited);
  if (waited) reused = take_assembly(key);
  say(reused ? "reused from the store" : "not in the store");
  m_reused = reused;
  if (!reused) {
    TRY_ASSIGN(const bool compiled, run(argv, m_folder.path(), sum));
    if (!compiled) return false;
    TRY(keep(key, assembly));
  }
  return true;
}

Result<bool> HostHalf::begin(const MadeDevice& last, CommandResult& sum) {
  const auto device = std::ranges::find(m_all.devices, last.arch, &DeviceCommands::arch);
  if (device == m_all.devices.end() || device->stub != m_all.stub || is_windows_host(m_step)) return false;
  TRY_ASSIGN(const auto apart, take_gpu_code({*device}, {last}));
  if (!apart.empty()) return false;
  const auto commands = take_apart(m_all.compile, m_folder.path());
  if (!commands) return false;
  for (const auto& argv : {m_all.preprocess, with_images_of(*device, m_all.fatbinary)}) {
    TRY_ASSIGN(const bool done, run(argv, m_whole.working_directory, sum));
    if (!done) return false;
  }
  TRY_ASSIGN(const bool included, include_fatbin());
  if (!included) return false;
  TRY_ASSIGN(m_begun, make_assembly(*commands, sum));
  return m_begun;
}

Result<std::string> HostHalf::make(const std::vector<MadeDevice>& devices, CommandResult& sum) {
  TRY_ASSIGN(const auto apart, take_gpu_code(m_all.devices, devices));
  if (!apart.empty()) return apart;
  const auto& source = m_whole.working_directory;
  if (is_windows_host(m_step)) {
    TRY(check_kernels_for_windows(m_kernels, m_module_id));
    TRY_ASSIGN(const bool done, run(m_all.fatbinary, source, sum));
    if (!done) return m_why;
    TRY_ASSIGN(const bool compiled, compile_for_windows(sum));
    return compiled ? std::string() : m_why;
  }
  if (!m_begun) {
    TRY_ASSIGN(const bool read, run(m_all.preprocess, source, sum));
    if (!read) return m_why;
  }
  if (const auto depfile = word_after(m_whole.argv, "-MF"); !depfile.empty()) {
    TRY_ASSIGN(const auto listed, read_file(m_folder.path() / k_read_list));
    TRY(write_file(depfile, listed));
  }
  TRY_ASSIGN(const bool joined, run(m_all.fatbinary, source, sum));
  if (!joined) return m_why;
  const auto commands = take_apart(m_all.compile, m_folder.path());
  bool included = false;
  if (commands) {
    TRY_ASSIGN(included, include_fatbin());
  }
  if (included && !m_begun) {
    TRY_ASSIGN(m_begun, make_assembly(*commands, sum));
    if (!m_begun) return m_why;
  }
  if (included) {  // here the assembler finds the GPU code by its name
    TRY_ASSIGN(const bool assembled, run(commands->assemble, m_folder.path(), sum));
    return assembled ? std::string() : m_why;
  }
  TRY_ASSIGN(const bool done, split(sum));
  if (!done) return m_why;
  TRY_ASSIGN(const bool compiled, run(m_all.compile, source, sum));
  return compiled ? std::string() : m_why;
}

}  // namespace sagekit
