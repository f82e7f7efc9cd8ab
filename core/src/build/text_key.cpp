#include "build/text_key.hpp"

#include "support/file.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

std::string without_places(std::string text, const Places& places) {
  for (const auto& [folder, name] : places) text = replace_all(std::move(text), folder.string(), name);
  return text;
}

}  // namespace

Places places_of(const StepContext& context, const NvccCommands& commands) {
  Places places{{commands.folder, ""}, {context.work, "{work}"}, {context.source.root, "{source}"}};
  // Headers that nvcc adds by itself are below it, in line markers, too.
  if (const auto top = commands.environment.find("TOP"); top != commands.environment.end())
    places.emplace_back(top->second, "{nvcc}");
  return places;
}

void add_mapped_places(const CommandLine& argv, Places& places) {
  constexpr std::string_view k_map = "-ffile-prefix-map=";
  for (const auto& word : argv)
    if (const auto to = word.rfind('='); word.starts_with(k_map) && to > k_map.size())
      places.emplace_back(word.substr(k_map.size(), to - k_map.size()), "{" + word.substr(to + 1) + "}");
}

bool names_a_place(std::string_view text, const Places& places) {
  return std::ranges::any_of(
      places, [&](const auto& place) { return text.find(place.first.native()) != std::string_view::npos; });
}

std::string device_text_key(const SymbolTable& symbols, const std::string& nvcc, const DeviceCommands& device,
                            const Places& places) {
  Sha256 hash;
  hash.field("sagekit device text 2");
  for (const auto& [name, identity] : symbols.identities({nvcc})) hash.field(identity);
  const auto text = read_file(device.text);
  hash.field(text ? without_places(*text, places) : std::string());
  const auto folder = device.text.parent_path().string();
  // Who calls and what the files are named is not what they do.
  const auto doing = [&](CommandLine argv, const char* program) {
    argv.front() = program;
    for (const auto& word : argv)
      hash.field(word.starts_with(folder) ? fs::path(word).extension().string() : without_places(word, places));
    hash.field("");
  };
  doing(device.compile, "cicc");
  for (const auto& argv : device.assemble) doing(argv, "ptxas");
  for (const auto& image : device.images) hash.field(image.role);
  return hash.hex();
}

std::string host_source_key(const SymbolTable& symbols, const std::vector<std::string>& argv, const CommandLine& words,
                            std::string_view text, std::string_view stub, const Places& places) {
  Sha256 hash;
  hash.field("sagekit host source 1");
  for (const auto& [name, identity] : symbols.identities(argv)) hash.field(identity);
  hash.field(without_places(std::string(text), places));
  hash.field(without_places(std::string(stub), places));
  for (const auto& word : words) hash.field(without_places(word, places));
  return hash.hex();
}

std::string host_text_key(const SymbolTable& symbols, const std::string& cxx, const CommandLine& compile,
                          std::string_view text, const Places& places) {
  Sha256 hash;
  hash.field("sagekit host text 1");
  for (const auto& [name, identity] : symbols.identities({cxx})) hash.field(identity);
  hash.field(without_places(std::string(text), places));
  // The program is what its identity says.
  for (std::size_t i = 1; i < compile.size(); ++i) hash.field(without_places(compile[i], places));
  return hash.hex();
}

}  // namespace sagekit
