// File names read back: a table of published ones, and every scheme's writing against its own reading.
#include <sagekit/naming.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace sagekit;

namespace {

const WheelNameReader& all_schemes() {
  static const auto reader = WheelNameReader::make(naming_schemes()).value();
  return reader;
}

std::vector<WheelNameReading> readings(std::string_view name) { return all_schemes().read(name).value(); }

/// "key=value" of what is said, as the table has them.
std::map<std::string, std::string> said(const WheelNameReading& reading) {
  std::map<std::string, std::string> out;
  const auto put = [&](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  put("package", reading.package);
  put("version", reading.version);
  put("build", reading.build);
  put("torch", reading.torch);
  put("torch_min", reading.torch_min);
  put("cuda", reading.cuda);
  if (reading.cxx11_abi) out["cxx11_abi"] = *reading.cxx11_abi ? "true" : "false";
  put("python", reading.python);
  put("abi", reading.abi);
  put("platform", reading.platform);
  put("revision", reading.revision);
  put("date", reading.date);
  put("variant", reading.variant);
  put("scheme", reading.scheme);
  put("unread", reading.unread);
  std::string arches;
  for (const auto& arch : reading.arches) arches += (arches.empty() ? "" : ";") + to_string(arch);
  put("arches", arches);
  return out;
}

std::map<std::string, std::string> expected(const std::string& text) {
  std::map<std::string, std::string> out;
  std::istringstream words(text);
  for (std::string word; words >> word;) out[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return out;
}

std::string shown(const std::map<std::string, std::string>& facts) {
  std::string out;
  for (const auto& [key, value] : facts) out += key + "=" + value + " ";
  return out;
}

WheelNameReading cell(std::string torch, std::string cuda) {
  WheelNameReading facts;
  facts.package = "sageattention";
  facts.version = "2.2.0";
  facts.torch = std::move(torch);
  facts.cuda = std::move(cuda);
  facts.python = facts.abi = "cp312";
  facts.platform = "linux_x86_64";
  facts.date = "20260117";
  facts.revision = "d1a57a5";
  return facts;
}

}  // namespace

TEST_CASE("published names are read for what they say") {
  std::ifstream table(SAGEKIT_SOURCE_DIR "/tests/golden/names.tsv");
  std::size_t rows = 0;
  std::set<std::string> schemes = {"cuda-major"};  // reads what "cuda" reads, which comes before it
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    const auto first = line.find('\t'), second = line.find('\t', first + 1);
    REQUIRE(second != std::string::npos);
    const auto name = line.substr(0, first);
    const auto found = all_schemes().read(name);
    REQUIRE_MESSAGE(found.has_value(), name);
    CHECK_MESSAGE(found->size() == 1, name);
    CHECK_MESSAGE(shown(said(found->front())) == shown(expected(line.substr(first + 1, second - first - 1))), name);
    schemes.insert(found->front().scheme);
    ++rows;
  }
  CHECK(rows >= 120);
  for (const auto& scheme : naming_schemes()) CHECK_MESSAGE(schemes.contains(scheme.name), scheme.name);
}

TEST_CASE("two readings of one name are both given") {
  const auto two = readings("sageattention-2.2.0-2311.130-cp312-cp312-linux_x86_64.whl");  // 2.31.1 or 2.3.11
  REQUIRE(two.size() == 2);
  CHECK(two[0].torch == "2.3.11");
  CHECK(two[1].torch == "2.31.1");
  CHECK(two[0].cuda == "13.0");
  // One of them was published, the other never was.
  const auto one = readings("sageattention-2.2.0-2110.130-cp312-cp312-linux_x86_64.whl");
  REQUIRE(one.size() == 1);
  CHECK(one[0].torch == "2.11.0");
  // Two rows of one form that mean different things.
  const std::vector<NamingScheme> rows = {{"torch", "{version}+t{torch_minor}"}, {"cuda", "{version}+t{cuda}"}};
  CHECK(read_wheel_name("a-1.0+t12.8-cp312-cp312-linux_x86_64.whl", rows).value().size() == 2);
}

TEST_CASE("what a name does not say stays unknown") {
  const auto number = readings("sageattention-2.2.0-12-cp312-cp312-linux_x86_64.whl").front();
  CHECK(number.build == "12");
  CHECK(number.cuda.empty());
  const auto digit = readings("sageattention-2.2.0+cu128torch2.7.0andh-cp312-cp312-win_amd64.whl").front();
  CHECK(digit.torch.empty());
  CHECK(digit.unread == "cu128torch2.7.0andh");
  const auto rest = readings("sageattention-2.2.0+cu128torch2.7.1.mine.too-cp312-cp312-win_amd64.whl").front();
  CHECK(rest.torch == "2.7.1");
  CHECK(rest.unread == "mine.too");
  // A folder of another Python than the tags says nothing about this file.
  const auto other = readings("cu128-torch271-py311-sm90/sageattention-2.2.0-cp312-cp312-linux_x86_64.whl").front();
  CHECK(other.torch.empty());
  CHECK(other.scheme == "plain");
}

TEST_CASE("a commit without its g is no date") {
  const auto commit = [](const std::string& local) {
    return readings("a-1.0+" + local + "-cp312-cp312-linux_x86_64.whl").front().revision;
  };
  CHECK(commit("5d4b92a5.d20251029") == "5d4b92a5");
  CHECK(commit("5d4b92a5") == "5d4b92a5");
  for (const char* none : {"20251029", "d20251029", "20251029.d20251029", "1234567890", "local"})
    CHECK_MESSAGE(commit(none).empty(), none);
  CHECK(commit("cu130.torch2.11.20260117.g12345678") == "12345678");
}

TEST_CASE("a name by a word that never says PTX leaves it open") {
  const std::string start = "sageattention-2.2.0+cu130.", end = "-cp312-cp312-linux_x86_64.whl";
  const auto open = [&](const std::string& local, const std::vector<NamingScheme>& rows) {
    const auto found = read_wheel_name(start + local + end, rows).value();
    REQUIRE_MESSAGE(found.size() == 1, local);
    return found.front().ptx_unsaid;
  };
  const NamingScheme sms{"sms", "{version}+cu{cuda_digits}.{sms}"};
  const NamingScheme arches{"arches", "{version}+cu{cuda_digits}.{arches}"};
  CHECK(open("sm80.sm90", {sms}));
  CHECK_FALSE(open("sm80.sm90", {arches}));
  CHECK_FALSE(open("sm80.sm90ptx", {sms}));  // whoever wrote it says it
  CHECK_FALSE(open("torch2.9.1", naming_schemes()));
  // Rows that differ in nothing else are one reading, which says no more than each.
  CHECK(open("sm80.sm90", {sms, arches}));
  CHECK(open("sm80.sm90", {arches, sms}));
  // Where both words stand, the one that says PTX is heard.
  const NamingScheme both{"both", "{version}+cu{cuda_digits}.{sms}{arches}"};
  CHECK_FALSE(open("sm80.sm90sm80.sm90ptx", {both}));
  const auto read = read_wheel_name(start + "sm80.sm90sm80.sm90ptx" + end, std::vector{both}).value().front();
  CHECK(said(read).at("arches") == "8.0;9.0+PTX");
}

TEST_CASE("a name without a word of {arches} says the default set, where no other row could have written it") {
  const auto is_default = [](const std::string& local, const std::vector<NamingScheme>& rows) {
    return read_wheel_name("a-1.0+" + local + "-cp312-cp312-linux_x86_64.whl", rows).value().front().default_arches;
  };
  const NamingScheme none{"none", "{version}+cu{cuda_digits}"};
  const NamingScheme arches{"arches", "{version}+cu{cuda_digits}.{arches}"};
  CHECK(is_default("cu130", {arches}));
  CHECK_FALSE(is_default("cu130.sm90", {arches}));
  CHECK_FALSE(is_default("cu130.mine", {arches}));
  CHECK_FALSE(is_default("cu130", {none}));
  CHECK_FALSE(is_default("cu130", {none, arches}));
  CHECK_FALSE(is_default("cu130", {arches, none}));
  CHECK(is_default("cu130.torch2.11.20260117.gd1a57a5", naming_schemes()));
}

TEST_CASE("what is no wheel's name is said to be none") {
  for (const char* name : {"sageattention-2.2.0+cu130torch2.9.0.whl", "sageattention-2.2.0.tar.gz", "",
                           "sageattention-2.2.0-cp312-cp312-win_amd64 (1).whl", "a%2Fb-1.0-py3-none-any.whl"}) {
    const auto found = all_schemes().read(name);
    REQUIRE_FALSE_MESSAGE(found.has_value(), name);
    CHECK(found.error().code.starts_with("NAM"));
  }
}

TEST_CASE("what a scheme writes, it reads back") {
  std::vector<WheelNameReading> cells;
  for (const char* torch : {"2.5.1", "2.7.0", "2.8.0", "2.10.0", "2.11.0", "2.12.1", ""})
    for (const char* cuda : {"11.8", "12.4", "12.8", "13.0", ""})
      for (const char* revision : {"d1a57a5", "post3", "sm90fix1", ""})
        for (const auto& arches : {std::vector<ArchRequest>{}, std::vector<ArchRequest>{{{9, 0}, true, ArchSuffix::a}},
                                   std::vector<ArchRequest>{{{8, 9}}, {{12, 0}, false, ArchSuffix::none, true}}}) {
          auto facts = cell(torch, cuda);
          facts.revision = revision;
          facts.arches = arches;
          cells.push_back(facts);
          facts.cxx11_abi = true;
          cells.push_back(facts);
          facts.torch.clear();
          facts.torch_min = "2.10.0";
          cells.push_back(facts);
        }
  for (const auto& scheme : naming_schemes()) {
    std::size_t written = 0;
    for (const auto& facts : cells) {
      const auto name = write_wheel_name(scheme, facts);
      if (!name) {
        CHECK(name.error().code == "NAM011");
        continue;
      }
      ++written;
      const auto back = readings(*name);  // by every scheme: no other one reads it as something else
      REQUIRE_MESSAGE(back.size() == 1, *name);
      const auto& said = back.front();
      CHECK_MESSAGE((said.torch.empty() || said.torch == facts.torch || facts.torch.starts_with(said.torch + ".")),
                    *name);
      CHECK_MESSAGE((said.cuda.empty() || said.cuda == facts.cuda || facts.cuda.starts_with(said.cuda + ".")), *name);
      CHECK_MESSAGE((said.torch_min.empty() || said.torch_min == facts.torch_min), *name);
      CHECK_MESSAGE((said.arches.empty() || said.arches.size() == facts.arches.size()), *name);
      CHECK_MESSAGE((said.revision.empty() || said.revision == facts.revision), *name);
      CHECK_MESSAGE(said.unread.empty(), *name);
    }
    CHECK_MESSAGE(written > 0, scheme.name);
  }
}

TEST_CASE("every shipped scheme reads of its own names all that it writes") {
  std::vector<WheelNameReading> cells;
  for (const char* torch : {"2.5.1", "2.7.0", "2.8.0", "2.11.0", ""})
    for (const char* cuda : {"12.8", "13.0", ""})
      for (const char* revision : {"d1a57a5", "post3", "fast1"})
        for (const auto& arches : {std::vector<ArchRequest>{}, std::vector<ArchRequest>{{{9, 0}, true, ArchSuffix::a}},
                                   std::vector<ArchRequest>{{{8, 9}}, {{12, 0}}}})
          for (const auto abi : {std::optional<bool>(), std::optional(true), std::optional(false)}) {
            auto facts = cell(torch, cuda);
            facts.revision = revision;
            facts.arches = arches;
            facts.cxx11_abi = abi;
            cells.push_back(facts);
            facts.torch.clear();
            facts.torch_min = "2.10.0";
            cells.push_back(facts);
          }
  for (const auto& scheme : naming_schemes()) {
    const auto has = [&](std::string_view word) {
      return (scheme.version + scheme.build + scheme.folder).find('{' + std::string(word)) != std::string::npos;
    };
    for (const auto& facts : cells) {
      const auto name = write_wheel_name(scheme, facts);
      if (!name) continue;
      const auto own = read_wheel_name(*name, std::vector{scheme}).value();
      REQUIRE_MESSAGE(own.size() == 1, *name);
      const auto& said = own.front();
      CHECK_MESSAGE(said.scheme == scheme.name, *name);
      CHECK_MESSAGE(said.torch.empty() == (facts.torch.empty() || !has("torch")), *name);
      CHECK_MESSAGE(said.torch_min.empty() == (facts.torch_min.empty() || !has("torch_min}")), *name);
      CHECK_MESSAGE(said.cuda.empty() == (facts.cuda.empty() || !has("cuda")), *name);
      CHECK_MESSAGE(said.date.empty() == (facts.date.empty() || !has("date}")), *name);
      if (has("commit7}") || has("post}") || has("fix}"))
        CHECK_MESSAGE((said.revision == facts.revision || said.revision.empty()), *name);
      if (has("sms}") || has("arches}")) CHECK_MESSAGE(said.arches == facts.arches, *name);
      if (has("cxx11_abi}")) CHECK_MESSAGE((said.cxx11_abi && said.cxx11_abi == facts.cxx11_abi), *name);
      // No other scheme reads more or less of it.
      const auto all = readings(*name);
      REQUIRE_MESSAGE(all.size() == 1, *name);
      auto same = all.front();
      same.scheme = said.scheme;
      same.ptx_unsaid = said.ptx_unsaid;
      CHECK_MESSAGE(shown(::said(same)) == shown(::said(said)), *name);
    }
  }
}

TEST_CASE("a scheme that cannot say a wheel is refused, not bent") {
  const auto row = [](std::string_view name) {
    const auto rows = naming_schemes();
    return *std::ranges::find(rows, name, &NamingScheme::name);
  };
  const auto name = write_wheel_name(row("and-higher"), cell("2.9.1", "13.0"));
  REQUIRE_FALSE(name);
  CHECK(name.error().code == "NAM011");
  const auto why = [&](const std::string& version) {
    NamingScheme scheme;
    scheme.name = "own";
    scheme.version = version;
    const auto written = write_wheel_name(scheme, cell("2.9.1", "13.0"));
    return written ? *written : written.error().message;
  };
  CHECK(why("{version}-{cuda}").find("its version would be \"2.2.0-13.0\", which is none") != std::string::npos);
  CHECK(why("{version}+CU_{cuda}").find("normal form, which names have, is \"2.2.0+cu.13.0\"") != std::string::npos);
  CHECK(write_wheel_name(row("build-tag"), cell("2.8.0", "12.9")).value() ==
        "sageattention-2.2.0-280.129-cp312-cp312-linux_x86_64.whl");
  CHECK(write_wheel_name(row("default"), cell("2.11.0", "13.0")).value() ==
        "sageattention-2.2.0+cu130.torch2.11.20260117.gd1a57a5-cp312-cp312-linux_x86_64.whl");
  CHECK(write_wheel_name(row("folder-torch-cuda"), cell("2.11.0", "13.0")).value() ==
        "colab-torch-cp312-2.11.0+cu130/sageattention-2.2.0-cp312-cp312-linux_x86_64.whl");
}

TEST_CASE("every naming scheme has a name of its own and a source") {
  std::vector<std::string> names;
  for (const auto& scheme : naming_schemes()) {
    names.push_back(scheme.name);
    CHECK_MESSAGE(!scheme.source.empty(), scheme.name);
  }
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
  CHECK_FALSE(WheelNameReader::make(std::vector<NamingScheme>{{"bad", "{vrsion}"}}));
}
