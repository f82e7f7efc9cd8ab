#include "release/index_pages.hpp"
#include "support/file.hpp"
#include "support/wheel_builder.hpp"

#include <sagekit/release_index.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace sagekit;
using namespace sagekit::test;
namespace fs = std::filesystem;

namespace {

TemporaryFolder index_scratch() {
  return std::move(*TemporaryFolder::create(fs::temp_directory_path(), "sagekit-index"));
}

void put(const fs::path& path, std::string_view bytes) { REQUIRE(write_file(path, bytes)); }

WheelBuilder wheel_of(const std::string& version, const std::string& project = "tiny_kernels") {
  WheelBuilder wheel;
  wheel.file_name = project + "-" + version + "-cp312-cp312-linux_x86_64.whl";
  wheel.folder = project + "-" + version + ".dist-info";
  wheel.metadata = "Metadata-Version: 2.4\nName: " + project + "\nVersion: " + version + "\nRequires-Python: >=3.9\n\n";
  return wheel;
}

void put_wheel(const fs::path& folder, const WheelBuilder& wheel) {
  put(folder / wheel.file_name, wheel.zip().build());
}

std::string text_of(const fs::path& path) {
  auto text = read_file(path);
  return text ? *text : "";
}

std::string refusals(const Scan& scan) {
  std::string codes;
  for (const auto& one : scan.refused) codes += one.code + " ";
  return codes;
}

}  // namespace

TEST_CASE("an index has every file once with its hash, its metadata beside it, and the same bytes each time") {
  const auto folder = index_scratch();
  put_wheel(folder.path(), wheel_of("1.2.0+cu130.torch2.11"));
  put_wheel(folder.path() / "other", wheel_of("1.0", "Alpha.x"));
  auto scan = scan_wheels(folder.path(), {.with_metadata = true});
  REQUIRE(scan);
  CHECK(refusals(*scan) == "");
  IndexOptions options{.output = folder.path() / "simple", .wheels = folder.path()};
  options.yanked = {{"Alpha*", "bad <one>", 1}, {"nothing*", "x", 2}};
  options.metadata = std::move(scan->metadata);
  const auto made = write_index(scan->release, options);
  REQUIRE(made);
  CHECK(made->written == 6);
  REQUIRE(made->warnings.size() == 1);
  CHECK(made->warnings[0].find("nothing*") != std::string::npos);
  const auto html = text_of(folder.path() / "simple/tiny-kernels/index.html");
  CHECK(html.find("href=\"../../tiny_kernels-1.2.0%2Bcu130.torch2.11-cp312-cp312-linux_x86_64.whl#sha256=" +
                  scan->release.wheels[1].sha256) != std::string::npos);
  CHECK(html.find("data-requires-python=\"&gt;=3.9\"") != std::string::npos);
  CHECK(text_of(folder.path() / "simple/alpha-x/index.html").find("data-yanked=\"bad &lt;one&gt;\"") !=
        std::string::npos);
  CHECK(text_of(folder.path() / "simple/alpha-x/index.json").find("\"yanked\": \"bad <one>\"") != std::string::npos);
  CHECK(text_of(folder.path() / "tiny_kernels-1.2.0+cu130.torch2.11-cp312-cp312-linux_x86_64.whl.metadata") ==
        wheel_of("1.2.0+cu130.torch2.11").metadata);
  CHECK(text_of(folder.path() / "simple/index.json").find("\"alpha-x\"") != std::string::npos);

  const auto again = write_index(scan_wheels(folder.path(), {.with_metadata = true})->release, options);
  REQUIRE(again);
  CHECK(again->written == 0);
  CHECK(again->unchanged == 6);

  fs::remove_all(folder.path() / "other");
  const auto less = write_index(scan_wheels(folder.path(), {.skip = {options.output}})->release, options);
  REQUIRE(less);
  CHECK(less->removed == 2);
  CHECK_FALSE(fs::exists(folder.path() / "simple/alpha-x"));
}

TEST_CASE("an index for each CUDA and torch has the wheels that say so, and those for any") {
  const auto folder = index_scratch();
  put_wheel(folder.path(), wheel_of("1.2.0+cu130.torch2.11"));
  put_wheel(folder.path(), wheel_of("1.2.0+cu128.torch2.8"));
  put_wheel(folder.path(), wheel_of("1.2.0"));
  put_wheel(folder.path(), wheel_of("1.3.0+cu130torch2.10.0andhigher"));
  auto any = wheel_of("1.0", "anywhere");
  any.file_name = "anywhere-1.0-py3-none-any.whl";
  put_wheel(folder.path(), any);
  const auto scan = scan_wheels(folder.path());
  REQUIRE(scan);
  const auto made = write_index(
      scan->release, {.output = folder.path() / "simple", .wheels = folder.path(), .per = {"cuda", "torch"}});
  REQUIRE(made);
  CHECK(made->folders == std::vector<std::string>{"cu128/torch2.8", "cu130/torch2.10", "cu130/torch2.11"});
  REQUIRE(made->warnings.size() == 1);
  CHECK(made->warnings[0].find("tiny_kernels-1.2.0-cp312") != std::string::npos);
  const auto page = text_of(folder.path() / "simple/cu130/torch2.11/tiny-kernels/index.html");
  CHECK(page.find("../../../../tiny_kernels-1.2.0%2Bcu130") != std::string::npos);
  CHECK(page.find("cu128") == std::string::npos);
  CHECK(page.find("torch2.10.0andhigher") != std::string::npos);  // it is for 2.11, too
  CHECK(text_of(folder.path() / "simple/cu128/torch2.8/tiny-kernels/index.html").find("andhigher") ==
        std::string::npos);
  CHECK(fs::exists(folder.path() / "simple/cu128/torch2.8/anywhere/index.json"));
}

TEST_CASE("an index for each torch has the wheels whose METADATA pins it") {
  const auto folder = index_scratch();
  const auto pinned = [](WheelBuilder wheel) {
    wheel.metadata.insert(wheel.metadata.find("Requires-Python"), "Requires-Dist: torch==2.7.0\n");
    return wheel;
  };
  put_wheel(folder.path(), pinned(wheel_of("0.30")));
  put_wheel(folder.path(), wheel_of("0.35+cu128torch2.10.0"));
  auto any = pinned(wheel_of("1.0", "anywhere"));
  any.file_name = "anywhere-1.0-py3-none-any.whl";
  put_wheel(folder.path(), any);
  const auto made = [&](const std::vector<std::string>& per) {
    fs::remove_all(folder.path() / "simple");
    const auto scan = scan_wheels(folder.path(), {.skip = {folder.path() / "simple"}});
    REQUIRE(scan);
    const auto report =
        write_index(scan->release, {.output = folder.path() / "simple", .wheels = folder.path(), .per = per});
    REQUIRE(report);
    return report->folders;
  };
  CHECK(made({"torch"}) == std::vector<std::string>{"torch2.10", "torch2.7"});
  CHECK(text_of(folder.path() / "simple/torch2.7/tiny-kernels/index.html").find("0.35") == std::string::npos);
  CHECK(fs::exists(folder.path() / "simple/torch2.7/anywhere"));
  CHECK_FALSE(fs::exists(folder.path() / "simple/torch2.10/anywhere"));
  // Without a CUDA it is for all of them, and still for no other torch.
  CHECK(made({"cuda", "torch"}) == std::vector<std::string>{"cu128/torch2.10"});
  CHECK_FALSE(fs::exists(folder.path() / "simple/cu128/torch2.10/anywhere"));
  CHECK(made({"cuda"}) == std::vector<std::string>{"cu128"});
  CHECK(fs::exists(folder.path() / "simple/cu128/anywhere"));
}

TEST_CASE("what must not be published is refused, each wheel with its reason") {
  const auto folder = index_scratch();
  auto renamed = wheel_of("1.0");
  renamed.file_name = "tiny_kernels-2.0-cp312-cp312-linux_x86_64.whl";
  put_wheel(folder.path(), renamed);
  auto other_project = wheel_of("1.0");
  other_project.metadata = "Metadata-Version: 2.4\nName: other\nVersion: 1.0\n\n";
  put_wheel(folder.path(), other_project);
  auto no_metadata = wheel_of("3.0");
  no_metadata.with_metadata = false;
  put_wheel(folder.path(), no_metadata);
  auto cut = wheel_of("4.0").zip().build();
  put(folder.path() / "tiny_kernels-4.0-cp312-cp312-linux_x86_64.whl", cut.substr(0, cut.size() / 2));
  auto flipped = wheel_of("5.0").zip().build();
  flipped[flipped.find("answer") + 1] ^= 1;
  put(folder.path() / "tiny_kernels-5.0-cp312-cp312-linux_x86_64.whl", flipped);
  put_wheel(folder.path() / "a", wheel_of("6.0"));
  auto twin = wheel_of("6.0");
  twin.files[0].second = "answer = 43\n";
  put_wheel(folder.path() / "b", twin);
  put_wheel(folder.path() / "c", wheel_of("7.0"));
  put_wheel(folder.path() / "d", wheel_of("7.0"));  // the same wheel twice is one
  fs::create_symlink(folder.path() / "c" / wheel_of("7.0").file_name, folder.path() / "link-1-py3-none-any.whl");
  const auto scan = scan_wheels(folder.path());
  REQUIRE(scan);
  CHECK(scan->refused.size() == 7);
  const auto codes = refusals(*scan);
  for (const auto* code : {"REL010", "REL011", "REL012", "REL014", "ZIP023"})
    CHECK_MESSAGE(codes.find(code) != std::string::npos, codes);
  CHECK(std::ranges::count(scan->release.wheels, wheel_of("7.0").file_name, &ReleasedWheel::file) == 1);
}

TEST_CASE("a manifest that lists another wheel under a name stops everything") {
  const auto folder = index_scratch();
  put_wheel(folder.path(), wheel_of("1.0"));
  auto release = scan_wheels(folder.path())->release;
  release.wheels[0].uploaded = "2026-01-01T00:00:00.000000Z";
  put(folder.path() / k_manifest_file, release_json(release));
  auto scan = scan_wheels(folder.path());
  REQUIRE(scan);
  CHECK(scan->refused.empty());
  CHECK(scan->release.wheels[0].uploaded == "2026-01-01T00:00:00.000000Z");
  release.wheels[0].sha256 = std::string(64, '0');
  put(folder.path() / k_manifest_file, release_json(release));
  scan = scan_wheels(folder.path());
  REQUIRE(scan);
  CHECK(refusals(*scan) == "REL013 ");
}

TEST_CASE("wheels that are known are not read again until they change") {
  const auto folder = index_scratch(), store = index_scratch();
  put_wheel(folder.path(), wheel_of("1.0"));
  const ScanOptions options{.cache = store.path() / "facts.tsv"};
  CHECK(scan_wheels(folder.path(), options)->read == 1);
  // Changed a moment ago: another change in the same tick of the clock would not be seen, so it is read again.
  CHECK(scan_wheels(folder.path(), options)->read == 1);
  timespec pause{1, 200'000'000};
  ::nanosleep(&pause, nullptr);
  CHECK(scan_wheels(folder.path(), options)->read == 1);
  const auto known = scan_wheels(folder.path(), options);
  CHECK(known->read == 0);
  CHECK(known->release.wheels[0].sha256 == scan_wheels(folder.path())->release.wheels[0].sha256);
  put_wheel(folder.path(), wheel_of("2.0"));
  CHECK(scan_wheels(folder.path(), options)->read == 1);
  put(store.path() / "facts.tsv", "sagekit.wheel-facts/1\nnonsense\n");
  CHECK(scan_wheels(folder.path(), options)->read == 2);
}

TEST_CASE("pages of others are not written over, and wheels without an address not listed") {
  const auto folder = index_scratch();
  put_wheel(folder.path(), wheel_of("1.0"));
  auto release = scan_wheels(folder.path())->release;
  put(folder.path() / "site/index.html", "<html>My site</html>");
  const auto taken = write_index(release, {.output = folder.path() / "site", .wheels = folder.path()});
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code == "REL017");
  CHECK(text_of(folder.path() / "site/index.html") == "<html>My site</html>");
  const auto lost = write_index(release, {.output = folder.path() / "simple"});
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == "REL018");
  const auto odd = write_index(release, {.output = folder.path() / "simple", .base_url = "ftp://x"});
  REQUIRE_FALSE(odd);
  CHECK(odd.error().code == "REL019");
  CHECK_FALSE(fs::exists(folder.path() / "simple"));
  release.wheels[0].url = "https://example.org/x.whl";
  release.wheels[0].path.clear();
  REQUIRE(write_index(release, {.output = folder.path() / "simple"}));
  const auto page = text_of(folder.path() / "simple/tiny-kernels/index.html");
  CHECK(page.find("href=\"https://example.org/x.whl#sha256=") != std::string::npos);
  CHECK(page.find("core-metadata") == std::string::npos);
}

TEST_CASE("yanked.toml is read strictly") {
  const auto good = parse_yanked("[[yanked]]\nfiles = \"a-*\"\nreason = \"broken\"\n", "yanked.toml");
  REQUIRE(good);
  CHECK(*good == std::vector<YankedFiles>{{"a-*", "broken", 1}});
  CHECK(parse_yanked("", "yanked.toml")->empty());
  const auto bad = parse_yanked("[[yanked]]\nfile = \"a-*\"\nreason = 1\n", "yanked.toml");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().size() >= 2);
  CHECK(bad.error()[0].where.line > 0);
}

TEST_CASE("hostile names stay text") {
  CHECK(html_text("<b a='\"'>&") == "&lt;b a=&#39;&quot;&#39;&gt;&amp;");
  CHECK(url_path("a b/c+d%\"<") == "a%20b/c%2Bd%25%22%3C");
  const auto html = project_html("x", {{.file = "a\"><script>", .url = "\"><script>", .sha256 = "0"}});
  CHECK(html.find("<script>") == std::string::npos);
}
