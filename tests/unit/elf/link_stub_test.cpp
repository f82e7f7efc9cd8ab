#include "elf/exports.hpp"
#include "support/bytes.hpp"
#include "unit/index/small_wheels.hpp"
#include "support/file.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

bool works(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()) == 0; }

constexpr const char* k_functions = R"(
#include <exception>
#include <stdexcept>
extern "C" {
int plain(int x) { return x; }
__attribute__((weak)) int weak_one(int x) { return x; }
__attribute__((weak)) int weak_object = 3;
int strong_object = 4;
double table[100] = {1};
thread_local int per_thread = 5;
int not_used() { return 1; }
}
template <class T> struct Held { static inline T value{}; virtual ~Held() {} };
template struct Held<int>;
namespace std { namespace __exception_ptr { class carrier { public: void hold(); }; void carrier::hold() {} } }
)";
constexpr const char* k_versioned = R"(
extern "C" {
int fresh() { return 1; }
int versioned_object[4] = {1};
int old_way() { return 2; }
__asm__(".symver old_way,way@LIB_1");
int new_way() { return 3; }
__asm__(".symver new_way,way@@LIB_2");
}
)";
constexpr const char* k_user = R"(
extern "C" {
int plain(int); __attribute__((weak)) int weak_one(int); extern int weak_object, strong_object; extern double table[100];
extern thread_local int per_thread; int fresh(); extern int versioned_object[4]; int way(); int choose();
}
template <class T> struct Held { static T value; virtual ~Held(); };
extern template struct Held<int>;
namespace std { namespace __exception_ptr { class carrier { public: void hold(); }; } }
int use() {
  Held<int> held; std::__exception_ptr::carrier carrier; carrier.hold();
  return plain(1) + weak_one(2) + weak_object + strong_object + static_cast<int>(table[3]) + per_thread + fresh() +
         versioned_object[1] + way() + choose() + Held<int>::value;
}
int (*pointers[])() = {fresh, choose};
)";
constexpr const char* k_chosen = R"(
extern "C" {
static int first() { return 1; }
typedef int choice();
static choice* resolve() { return first; }
int choose() __attribute__((ifunc("resolve")));
}
)";

struct Link {
  std::string compiler, options;
};

/// Links the same object against the real libraries and against their stubs.
void compare(const std::string& compiler, const std::vector<std::string>& linkers) {
  const auto folder = TemporaryFolder::create(fs::temp_directory_path(), "link stub ü");
  REQUIRE(folder);
  const fs::path at = folder->path();
  fs::create_directories(at / "real");
  fs::create_directories(at / "stubs");
  std::ofstream(at / "map") << "LIB_1 { global: way; }; LIB_2 { global: fresh; versioned_object; way; } LIB_1;\n";
  std::ofstream(at / "functions.cpp") << k_functions;
  std::ofstream(at / "versioned.cpp") << k_versioned;
  std::ofstream(at / "chosen.cpp") << k_chosen;
  std::ofstream(at / "user.cpp") << k_user;
  const std::string in = "cd '" + at.string() + "' && " + compiler + " -w -fPIC ";
  REQUIRE(std::system((in + "-shared functions.cpp -o real/libfunctions.so -Wl,-soname,libfunctions.so.2").c_str()) ==
          0);
  REQUIRE(
      std::system(
          (in + "-shared versioned.cpp -o real/libversioned.so -Wl,-soname,libversioned.so -Wl,--version-script=map")
              .c_str()) == 0);
  REQUIRE(std::system((in + "-shared chosen.cpp -o real/libchosen.so").c_str()) == 0);  // without soname
  REQUIRE(std::system((in + "-shared chosen.cpp -o real/libnotneeded.so -Wl,-soname,libnotneeded.so").c_str()) == 0);
  REQUIRE(std::system((in + "-c user.cpp -o user.o").c_str()) == 0);
  for (const auto* name : {"libfunctions.so", "libversioned.so", "libchosen.so", "libnotneeded.so"}) {
    const auto library = read_file(at / "real" / name);
    REQUIRE(library);
    const auto exports = read_exports(*library);
    REQUIRE(exports);
    const std::string stub = link_stub(*exports);
    CHECK(read_exports(stub) == *exports);
    CHECK(link_stub(*exports) == stub);
    REQUIRE(write_file_atomic(at / "stubs" / name, stub));
  }
  for (const std::string& linker : linkers) {
    for (const std::string needed : {"--as-needed", "--no-as-needed"}) {
      CAPTURE(linker);
      CAPTURE(needed);
      const std::string link = in + "-fuse-ld=" + linker + " -shared -Wl," + needed +
                               " -Wl,--build-id=sha1 user.o -lfunctions -lversioned -lchosen -lnotneeded -o ";
      REQUIRE(std::system((link + "real.so -Lreal").c_str()) == 0);
      REQUIRE(std::system((link + "stub.so -Lstubs").c_str()) == 0);
      const auto real = read_file(at / "real.so");
      const auto stub = read_file(at / "stub.so");
      REQUIRE(real);
      REQUIRE(stub);
      CHECK(*real == *stub);
      CHECK(real->find("libfunctions.so.2") != std::string::npos);
      CHECK(real->find("LIB_2") != std::string::npos);
    }
  }
}

}  // namespace

TEST_CASE("a stub says what the library says") {
  const auto exports = read_exports(test::MovedLibrary{.middle = "code", .symbols = test::many_symbols()}.build());
  REQUIRE(exports);
  const std::string stub = link_stub(*exports);
  CHECK(read_exports(stub) == *exports);
  CHECK(link_stub(*exports) == stub);
  CHECK(link_stub(ExportList{}) == link_stub(ExportList{}));
  ExportList arm{"liba.so",
                 183,
                 {{"f", "A_1", 2, 1, 0x80, false, 0}, {"f", "A_0", 2, 1, 0, true, 0}, {"g", "", 1, 10, 3, false, 99}}};
  std::sort(arm.symbols.begin(), arm.symbols.end());
  CHECK(read_exports(link_stub(arm)) == arm);
  const ExportList nameless{"", 62, {{"f", "A_1", 2, 1, 0, false, 0}}};
  CHECK(read_exports(link_stub(nameless)) == nameless);
  const ExportList empty{"libempty.so", 62, {}};
  CHECK(read_exports(link_stub(empty)) == empty);
}

TEST_CASE("no two symbols of a stub share a place: linkers take that for two names of one object") {
  const auto exports = read_exports(test::MovedLibrary{.middle = "code", .symbols = test::many_symbols()}.build());
  const std::string stub = link_stub(*exports);
  const Bytes bytes(stub);
  const std::uint64_t sections = bytes.u64(40);
  const std::uint64_t symbols = bytes.u64(sections + 4 * 64 + 24);
  std::vector<std::pair<std::uint16_t, std::uint64_t>> places;
  for (std::uint64_t i = 1; i <= exports->symbols.size(); ++i)
    places.emplace_back(bytes.u16(symbols + 24 * i + 6), bytes.u64(symbols + 24 * i + 8));
  std::ranges::sort(places);
  CHECK(std::ranges::adjacent_find(places) == places.end());
}

TEST_CASE("links against stubs give the bytes of links against the libraries (x86_64)") {
  if (!works("g++ -dumpmachine | grep x86_64")) {
    MESSAGE("skipped: no g++ for x86_64 here");
    return;
  }
  std::vector<std::string> linkers = {"bfd"};
  if (works("ld.lld --version"))
    linkers.emplace_back("lld");
  else
    MESSAGE("skipped for lld: it is not here");
  compare("g++", linkers);
}

TEST_CASE("links against stubs give the bytes of links against the libraries (aarch64)") {
  if (!works("aarch64-linux-gnu-g++ --version")) {
    MESSAGE("skipped: no aarch64-linux-gnu-g++ here");
    return;
  }
  compare("aarch64-linux-gnu-g++", {"bfd"});
}

TEST_CASE("gold links against stubs as against the libraries") {
  // gold numbers every name of every library, undefined ones too, and orders symbols by these numbers: the same
  // symbols, not the same bytes.
  if (!works("ld.gold --version") || !works("g++ -dumpmachine | grep x86_64")) {
    MESSAGE("skipped: no gold or no g++ here");
    return;
  }
  const auto folder = TemporaryFolder::create(fs::temp_directory_path(), "gold");
  REQUIRE(folder);
  const fs::path at = folder->path();
  fs::create_directories(at / "stubs");
  std::ofstream(at / "map") << "LIB_1 { global: way; }; LIB_2 { global: fresh; versioned_object; way; } LIB_1;\n";
  std::ofstream(at / "versioned.cpp") << k_versioned;
  std::ofstream(at / "user.cpp") << "extern \"C\" { int fresh(); int way(); extern int versioned_object[4]; }\n"
                                    "int use() { return fresh() + way() + versioned_object[0]; }\n";
  const std::string in = "cd '" + at.string() + "' && g++ -w -fPIC -fuse-ld=gold ";
  REQUIRE(
      std::system((in + "-shared versioned.cpp -o libversioned.so -Wl,-soname,libversioned.so -Wl,--version-script=map")
                      .c_str()) == 0);
  const auto exports = read_exports(*read_file(at / "libversioned.so"));
  REQUIRE(exports);
  REQUIRE(write_file_atomic(at / "stubs" / "libversioned.so", link_stub(*exports)));
  REQUIRE(std::system((in + "-shared user.cpp -Wl,--as-needed -o real.so -L. -lversioned").c_str()) == 0);
  REQUIRE(std::system((in + "-shared user.cpp -Wl,--as-needed -o stub.so -Lstubs -lversioned").c_str()) == 0);
  const std::string list =
      "for f in real stub; do (readelf -d $f.so | grep NEEDED; readelf --dyn-syms -W $f.so | "
      "awk '{print $4,$5,$7,$8}' | sort) > $f.txt; done; cmp real.txt stub.txt";
  CHECK(works("cd '" + at.string() + "' && " + list));
  CHECK(read_file(at / "real.txt")->find("LIB_2") != std::string::npos);
}
