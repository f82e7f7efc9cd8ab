#include "build/text_key.hpp"

#include "support/sha256.hpp"
#include "support/text.hpp"

namespace sagekit {

namespace fs = std::filesystem;

std::string device_text_key(const SymbolTable& symbols, const std::string& nvcc, const DeviceCommands& device,
                            const fs::path& folder) {
  Sha256 hash;
  hash.field("sagekit device text 1");
  for (const auto& [name, identity] : symbols.identities({nvcc})) hash.field(identity);
  const auto text = sha256_file(device.text);
  hash.field(text ? *text : std::string());
  const auto words = [&](const CommandLine& argv) {
    for (const auto& word : argv) hash.field(replace_all(word, folder.string(), ""));
    hash.field("");
  };
  // Who calls and what the files are named is not what they do.
  const auto doing = [&](CommandLine argv, const char* program) {
    argv.front() = program;
    for (auto& word : argv)
      if (word.starts_with(folder.string())) word = fs::path(word).extension().string();
    words(argv);
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
  const auto field = [&](std::string part) {
    for (const auto& [folder, name] : places) part = replace_all(std::move(part), folder.string(), name);
    hash.field(part);
  };
  field(std::string(text));
  field(std::string(stub));
  for (const auto& word : words) field(word);
  return hash.hex();
}

std::string host_text_key(const SymbolTable& symbols, const std::string& cxx, const CommandLine& compile,
                          std::string_view text, const Places& places) {
  const auto field = [&](Sha256& hash, std::string words) {
    for (const auto& [folder, name] : places) words = replace_all(std::move(words), folder.string(), name);
    hash.field(words);
  };
  Sha256 hash;
  hash.field("sagekit host text 1");
  for (const auto& [name, identity] : symbols.identities({cxx})) hash.field(identity);
  field(hash, std::string(text));
  for (std::size_t i = 1; i < compile.size(); ++i) field(hash, compile[i]);  // the program is what its identity says
  return hash.hex();
}

}  // namespace sagekit
