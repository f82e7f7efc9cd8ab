#pragma once
// Files that are neither wheel nor module, each with the code that names it.

#include "support/wheel_builder.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagekit::test {

inline std::vector<std::pair<std::string, std::string>> other_files() {
  using namespace std::string_view_literals;
  const std::string wheel = WheelBuilder().zip().build();
  return {
      {"INS050", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"},
      {"INS051", "\n<!DOCTYPE html>\n<html></html>"},
      {"INS051", "<!-- saved page --><HTML>"},
      {"INS052", "{\"message\": \"Not Found\"}"},
      {"INS052", "<?xml version=\"1.0\"?><Error/>"},
      {"INS053", "404: Not Found\n"},
      {"INS053", "gr\xc3\xbc\xc3\x9f"},
      {"INS054", ""},
      {"INS055", wheel.substr(0, wheel.size() / 2)},
      {"INS056", "\x1f\x8b\x08 rest"},
      {"INS056", "7z\xbc\xaf\x27\x1c rest"},
      {"INS056", std::string(257, '\0') + "ustar" + std::string(300, '\0')},
      {"INS057", "%PDF-1.7 \x80\x81"},
      {"INS057", std::string("L\0\0\0\x01\x14\x02\0 rest"sv)},
      {"INS058", std::string(5000, '\0')},
      {"INS059", std::string(100, '\x80') + wheel.substr(wheel.size() / 2)},
  };
}

}  // namespace sagekit::test
