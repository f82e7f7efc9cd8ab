#pragma once
// Makes small wheels: right by default, wrong where a test changes a text.

#include "support/sha256.hpp"
#include "support/zip_builder.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sagekit::test {

struct WheelBuilder {
  std::string file_name = "tiny_kernels-1.2.0-cp312-cp312-linux_x86_64.whl";
  std::string folder = "tiny_kernels-1.2.0.dist-info";
  std::vector<std::pair<std::string, std::string>> files = {{"tiny_kernels/__init__.py", "answer = 42\n"},
                                                            {"tiny_kernels/data.txt", "some text\n"}};
  std::string metadata =
      "Metadata-Version: 2.4\nName: tiny-kernels\nVersion: 1.2.0\nRequires-Python: >=3.9\n"
      "Requires-Dist: torch==2.11.*\nRequires-Dist: numpy\nLicense-File: LICENSE\n\nA test.\n";
  std::string wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: cp312-cp312-linux_x86_64\n";
  std::string licence_path = "licenses/LICENSE";
  std::string record;        ///< "" = the right one
  std::string extra_record;  ///< rows added to the right one
  bool with_metadata = true, with_wheel = true, with_record = true;

  std::vector<std::pair<std::string, std::string>> all_but_record() const {
    auto all = files;
    all.emplace_back(folder + "/" + licence_path, "Do what you like.\n");
    if (with_metadata) all.emplace_back(folder + "/METADATA", metadata);
    if (with_wheel) all.emplace_back(folder + "/WHEEL", wheel);
    return all;
  }

  std::string right_record() const {
    std::string text;
    for (const auto& [name, content] : all_but_record()) {
      if (name.ends_with('/')) continue;
      text += name + "," + sha256_record(content) + "," + std::to_string(content.size()) + "\n";
    }
    return text + folder + "/RECORD,,\n" + extra_record;
  }

  ZipBuilder zip() const {
    ZipBuilder zip;
    for (const auto& [name, content] : all_but_record()) zip.add(name, content);
    if (with_record) zip.add(folder + "/RECORD", record.empty() ? right_record() : record);
    return zip;
  }
};

}  // namespace sagekit::test
