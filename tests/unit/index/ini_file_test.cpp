#include "index/ini_file.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("pip's configuration files are read as Python reads them") {
  const auto entries = read_ini(
      "\xef\xbb\xbf# a comment\r\n"
      "[global]\n"
      "Index_URL = https://host/simple ; not a comment\n"
      "extra-index-url =\n"
      "    https://one/simple\n"
      "\n"
      "    # between\n"
      "    https://two/simple\n"
      "proxy: http://me:pw@proxy:3128\n"
      "; another\n"
      "[download]\n"
      "  timeout=60\n"
      "  retries = 2\n"
      "empty =\n");
  REQUIRE(entries);
  REQUIRE(entries->size() == 6);
  CHECK(entries->at(0).section == "global");
  CHECK(entries->at(0).key == "index-url");
  CHECK(entries->at(0).value == "https://host/simple ; not a comment");
  CHECK(entries->at(0).line == 3);
  CHECK(entries->at(1).value == "https://one/simple\nhttps://two/simple");
  CHECK(entries->at(2).key == "proxy");
  CHECK(entries->at(2).value == "http://me:pw@proxy:3128");
  CHECK(entries->at(3).section == "download");
  CHECK(entries->at(3).value == "60");
  CHECK(entries->at(4).key == "retries");
  CHECK(entries->at(5).value.empty());
}

TEST_CASE("what Python refuses is refused with its line") {
  const auto line = [](const char* text) {
    const auto entries = read_ini(text);
    return entries ? 0 : entries.error().line;
  };
  CHECK(line("a = b\n") == 1);
  CHECK(line("[global]\nwords without sense\n") == 2);
  CHECK(line("[global]\na=1\n\nA = 2\n") == 4);
  CHECK(line("[global]\n[global]\n") == 2);
  CHECK(line("[global]\n= value\n") == 2);
  CHECK(line("") == 0);
}
