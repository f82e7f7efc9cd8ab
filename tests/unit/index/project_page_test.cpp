#include "index/html_links.hpp"
#include "index/package_index.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

const std::string k_hash(64, 'a');
const std::string k_base = "https://host.example/simple/torch/";

std::string code(const std::string& body, const char* type, const std::string& base = k_base) {
  const auto files = read_project_page(body, type, base);
  return files ? "" : files.error().code;
}

}  // namespace

TEST_CASE("an HTML page's links become files: names decoded, hashes, yanked, requires-python") {
  const auto files = read_project_page(
      "<!DOCTYPE html><html><head><title>Links for torch</title></head><body><h1>Links for torch</h1>"
      "<!-- <a href='commented-1.whl'> -->"
      "<script>var x = '<a href=\"script-1.whl\">';</script>"
      "<a href=\"../../files/torch-2.11.0%2Bcu130-py3-none-any.whl#sha256=" +
          std::string(64, 'A') +
          "\" data-requires-python=\"&gt;=3.10,&lt;4\" data-dist-info-metadata=true>torch</a>\n"
          "<A HREF='https://files.example/t-1.0.tar.gz?a=1&amp;b=2#md5=00' data-yanked>t</A>"
          "<a href=plain-1.zip data-yanked='bad'>p</a>"
          "<a href=\"http://plain.example/insecure-1.whl\">i</a><a href=\"x.whl.asc\">s</a><a href=\"/\">up</a>"
          "<a href=\"javascript:x.whl\">j</a><a>none</a>",
      "text/html", k_base);
  REQUIRE(files);
  REQUIRE(files->size() == 3);
  CHECK(files->at(0).name == "torch-2.11.0+cu130-py3-none-any.whl");
  CHECK(files->at(0).url == "https://host.example/files/torch-2.11.0%2Bcu130-py3-none-any.whl");
  CHECK(files->at(0).sha256 == k_hash);
  CHECK(files->at(0).requires_python == ">=3.10,<4");
  CHECK_FALSE(files->at(0).yanked);
  CHECK(files->at(1).name == "t-1.0.tar.gz");
  CHECK(files->at(1).url == "https://files.example/t-1.0.tar.gz?a=1&b=2");
  CHECK(files->at(1).sha256.empty());
  CHECK(files->at(1).yanked);
  CHECK(files->at(2).name == "plain-1.zip");
  CHECK(files->at(2).yanked);
}

TEST_CASE("a page may name another base, and an http page http files") {
  const auto files = read_project_page("<base href=\"/pool/\"><a href=\"a-1.whl\">a</a>", "text/html",
                                       "http://host.example/simple/a/");
  REQUIRE(files);
  CHECK(files->at(0).url == "http://host.example/pool/a-1.whl");
}

TEST_CASE("a JSON page's files, with sizes") {
  const auto files = read_project_page(
      R"({"meta": {"api-version": "1.4"}, "name": "torch", "files": [
        {"filename": "a-1-py3-none-any.whl", "url": "a-1-py3-none-any.whl", "hashes": {"sha256": ")" +
          k_hash + R"("},
         "size": 531, "requires-python": ">=3.9", "yanked": false, "new-key": {"a": [1]}},
        {"filename": "b-1.tar.gz", "url": "https://files.example/b-1.tar.gz", "hashes": {}, "yanked": "broken"},
        {"filename": "../c-1.whl", "url": "c", "hashes": {}},
        {"filename": "d-1.whl", "url": "ftp://host/d-1.whl", "hashes": {}}]})",
      "application/vnd.pypi.simple.v1+json", k_base);
  REQUIRE(files);
  REQUIRE(files->size() == 2);
  CHECK(files->at(0).url == k_base + "a-1-py3-none-any.whl");
  CHECK(files->at(0).sha256 == k_hash);
  CHECK(files->at(0).size == 531);
  CHECK(files->at(0).requires_python == ">=3.9");
  CHECK_FALSE(files->at(0).yanked);
  CHECK(files->at(1).yanked);
  CHECK(files->at(1).size == 0);
}

TEST_CASE("every hash that pip checks is read, and one that is none is said") {
  const auto file = [](const std::string& fragment) {
    return read_project_page("<title>Links for a</title><a href='a-1-py3-none-any.whl" + fragment + "'>a</a>",
                             "text/html", k_base)
        .value()
        .at(0);
  };
  const std::string long_hash = k_hash + k_hash;
  CHECK(file("#sha512=" + long_hash).other_hash == "sha512=" + long_hash);
  CHECK(file("#egg=a&sha256=" + k_hash + "&sha512=" + long_hash).sha256 == k_hash);
  CHECK(file("#sha256=" + k_hash).hash_fault.empty());
  CHECK(file("#sha256=short").hash_fault == "\"sha256=short\" is no sha256, which has 64 digits of 0-9 and a-f");
  CHECK(file("#sha384=" + long_hash).hash_fault.find("96 digits") != std::string::npos);
  for (const auto* none : {"", "#sha256=", "#sha256", "#md5=00", "#"}) CHECK(file(none).hash_fault.empty());
  const auto json = read_project_page(R"({"meta": {"api-version": "1.0"}, "files": [
        {"filename": "a-1-py3-none-any.whl", "url": "a-1-py3-none-any.whl", "hashes": {"sha256": "00", "sha512": 5}},
        {"filename": "b-1-py3-none-any.whl", "url": "b-1-py3-none-any.whl", "hashes": {"sha512": ")" +
                                          long_hash + R"("}}]})",
                                      "application/json", k_base)
                        .value();
  CHECK(json.at(0).hash_fault.starts_with("\"sha256=00\""));
  CHECK(json.at(1).other_hash == "sha512=" + long_hash);
}

TEST_CASE("a login page, a proxy's page or an error text is no index page") {
  CHECK(code("<html><body><form action='/login'><input name=user></form></body></html>", "text/html") == "IDX011");
  CHECK(code("<html><a href='https://proxy/help.html'>help</a>", "text/html") == "IDX011");
  CHECK(code("please log in", "text/plain") == "IDX011");
  CHECK(code("", "") == "IDX011");
  CHECK(code("<meta name='pypi:repository-version' content='2.0'><a href='a-1.whl'>a</a>", "text/html") == "IDX011");
  const auto page = read_project_page("<html>", "text/html", "https://me:secret@host.example/simple/?token=x");
  CHECK(page.error().message.starts_with("https://host.example/simple/ is no page of a package index"));
}

TEST_CASE("a simple page that names no file is an empty project") {
  CHECK(code("<meta name=\"pypi:repository-version\" content=\"1.1\">", "text/html").empty());
  CHECK(code("<title>Links for torch</title>", "text/html").empty());
  CHECK(code(R"({"meta": {"api-version": "1.0"}, "files": []})", "application/json").empty());
}

TEST_CASE("JSON of another form is refused") {
  for (const char* body :
       {"[]", "{", "nonsense", R"({"files": []})", R"({"meta": {"api-version": "2.0"}, "files": []})",
        R"({"meta": {"api-version": "1.0"}})", R"({"meta": {"api-version": "1.0"}, "files": [1]})",
        R"({"meta": {"api-version": "1.0"}, "files": [{"filename": "a-1.whl"}]})", R"({"message": "log in"})"})
    CHECK_MESSAGE(code(body, "application/vnd.pypi.simple.v1+json") == "IDX012", body);
  CHECK(code(std::string(100'000, '['), "application/json") == "IDX012");
  CHECK(code(R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}", "application/json") == "IDX012");
}

TEST_CASE("entities are decoded, what is none stays") {
  CHECK(entities_decoded("&lt;a&amp;b&gt; &#43;&#x2B;&quot;&apos;") == "<a&b> ++\"'");
  CHECK(entities_decoded("a&b; &unknown; &#; &#xzz; &") == "a&b; &unknown; &#; &#xzz; &");
  CHECK(entities_decoded("&#233;&#x20ac;&#x1f600;&#0;") == "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd");
}

TEST_CASE("half tags end with the page") {
  for (const char* page :
       {"<", "<a", "<a href", "<a href=", "<a href='", "<a href='x", "<!--", "<script>", "<a href=x"})
    CHECK(read_html_links(page).links.size() <= 1);
}
