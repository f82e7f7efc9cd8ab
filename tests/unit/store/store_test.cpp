#include "store/store.hpp"

#include "store/run_journal.hpp"
#include "support/scratch_files.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

#include <sagekit/cache.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

using namespace sagekit;
using namespace sagekit::test;

TEST_CASE("an object comes back as it was put, read-only, and overwriting the place does not change it") {
  const auto folder = temporary();
  const auto store = Store::open(folder.path() / "store");
  REQUIRE(store);
  write(folder.path() / "x.o", "object");
  const auto object = store->put(folder.path() / "x.o");
  REQUIRE(object);
  CHECK(object->sha256 == sha256_hex("object"));
  CHECK(object->size_bytes == 6);
  CHECK(store->has(*object));
  const auto place = folder.path() / "work" / "x.o";
  REQUIRE(store->place(*object, place));
  CHECK(text_of(place) == "object");
  CHECK((fs::status(place).permissions() & fs::perms::owner_write) == fs::perms::none);
  write(folder.path() / "y.o", "another");
  const auto other = store->put(folder.path() / "y.o");
  REQUIRE(store->place(*other, place));  // replaces a hard link into the store
  CHECK(text_of(place) == "another");
  REQUIRE(store->place(*object, place));
  CHECK(text_of(place) == "object");
}

TEST_CASE("a damaged object is refused and removed, a missing one refused") {
  const auto folder = temporary();
  const auto store = Store::open(folder.path() / "store");
  write(folder.path() / "x.o", "object");
  const auto object = store->put(folder.path() / "x.o");
  const auto file = folder.path() / "store/objects" / object->sha256.substr(0, 2) / (object->sha256 + ".zst");
  write(file, "OBJECT");
  CHECK(store->place(*object, folder.path() / "out").error().code == "STO001");
  CHECK_FALSE(fs::exists(file));
  CHECK_FALSE(fs::exists(folder.path() / "out"));
  CHECK_FALSE(store->has(*object));
  CHECK(store->place(*object, folder.path() / "out").error().code == "STO001");
}

TEST_CASE("an object that was cut short is removed and said where it is asked for") {
  const auto folder = temporary();
  std::vector<std::string> said;
  const auto store =
      Store::open(folder.path() / "store", {.say = [&](const std::string& text) { said.push_back(text); }});
  for (const std::string name : {"x.o", "x.so"}) {
    said.clear();
    write(folder.path() / name, "object of " + name);
    const auto object = store->put(folder.path() / name);
    const auto file = folder.path() / "store/objects" / object->sha256.substr(0, 2) /
                      (object->sha256 + (name == "x.o" ? ".zst" : ""));
    REQUIRE(fs::remove(file));
    write(file, name == "x.o" ? "" : "obj");
    CHECK_FALSE(store->has(*object));
    CHECK_FALSE(fs::exists(file));
    REQUIRE(said.size() == 1);
    CHECK(said.front().starts_with(file.string() + " is damaged: it is discarded"));
    CHECK_FALSE(store->has(*object));
    CHECK(said.size() == 1);
  }
}

TEST_CASE("records of one key are kept beside each other; what is no record is no record") {
  const auto folder = temporary();
  const auto store = Store::open(folder.path());
  const std::string key(64, 'a');
  CHECK(store->records(key).empty());
  const ActionRecord one{
      {{"{source}/a.h", "1"}}, {{"{work}/a.o", {std::string(64, 'b'), 7}}}, {1.5, 2.5, 1024}, true, "1768671808"};
  auto two = one;
  two.headers = {{"{source}/a.h", "2"}};
  REQUIRE(store->add_record(key, one));
  REQUIRE(store->add_record(key, two));
  REQUIRE(store->add_record(key, two));
  const auto records = store->records(key);
  REQUIRE(records.size() == 2);
  CHECK(std::ranges::count(records, one) == 1);
  CHECK(std::ranges::count(records, two) == 1);
  for (const auto* text : {"", "{", "{\"schema\":\"sagekit.action/2\"}", "sagekit.action/3\n", "end\n"})
    CHECK_FALSE(parse_action(text));
  // Cut off anywhere, and with more behind it.
  const auto whole = action_text(one);
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(parse_action(whole.substr(0, size)));
  CHECK_FALSE(parse_action(whole + "read 1 {source}/b.h\n"));
  // Names with blanks; a file that was looked for and not found; a line break, which is refused.
  auto odd = one;
  odd.headers = {{"{source}/a \"b\\ü.h", "1"}, {"{source}/c.h", "2"}};
  CHECK(parse_action(action_text(odd)) == odd);
  odd.headers.emplace_back("{source}/absent.h", "");
  CHECK(parse_action(action_text(odd)) == odd);
  odd.headers.emplace_back("{source}/a\nb.h", "3");
  CHECK_FALSE(parse_action(action_text(odd)));
  auto none = one;
  none.headers.clear();
  CHECK(parse_action(action_text(none)) == none);
  for (const auto& [was, is] : {std::pair("read 1 ", "read 1"),
                                {"fallback 1", "fallback x"},
                                {"measured 1.5", "measured nan"},
                                {"1024", "-1"},
                                {" 7 {work}", " 7x {work}"},
                                {"{work}/a.o", "{work}/../a.o"},
                                {"epoch ", "epoch"}})
    CHECK_FALSE(parse_action(replace_all(action_text(one), was, is)));
  CHECK_FALSE(store->history(key));
  store->remember(key, one.measured);
  CHECK(store->history(key) == one.measured);
}

TEST_CASE("a finished folder appears whole; the second of two equal ones changes nothing") {
  const auto folder = temporary();
  write(folder.path() / "one/file", "first");
  write(folder.path() / "two/file", "second");
  REQUIRE(publish_folder(folder.path() / "one", folder.path() / "names/x"));
  REQUIRE(publish_folder(folder.path() / "two", folder.path() / "names/x"));
  CHECK(text_of(folder.path() / "names/x/file") == "first");
}

TEST_CASE("processes that share a store and are killed at any moment leave nothing half-written") {
  const auto folder = temporary();
  const auto root = folder.path() / "store";
  REQUIRE(Store::open(root));
  for (int round = 0; round < 12; ++round) {
    std::vector<pid_t> children;
    for (int child = 0; child < 2; ++child) {
      const pid_t pid = ::fork();
      REQUIRE(pid >= 0);
      if (pid == 0) {  // no doctest, no exit handlers in here
        const auto store = Store::open(root);
        for (int i = 0; store; ++i) {
          const auto file = folder.path() / ("in" + std::to_string(child));
          fs::remove(file);
          std::string bytes(200'000, static_cast<char>('a' + i % 26));
          bytes += std::to_string(i % 50);
          if (!write_file_atomic(file, bytes)) ::_exit(1);
          if (const auto object = store->put(file))
            (void)store->add_record(sha256_hex(std::to_string(i % 50)), {{}, {{"{work}/o", *object}}, {}, false, {}});
        }
        ::_exit(1);
      }
      children.push_back(pid);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(15 + 11 * round));
    for (const auto pid : children) {
      ::kill(pid, SIGKILL);
      int status = 0;
      ::waitpid(pid, &status, 0);
      CHECK(WIFSIGNALED(status));
    }
  }
  const auto store = Store::open(root);
  int records = 0;
  const auto checked = cache_verify(root);
  REQUIRE(checked);
  CHECK(checked->damaged.empty());
  for (int i = 0; i < 50; ++i)
    for (const auto& record : store->records(sha256_hex(std::to_string(i)))) {
      ++records;
      CHECK(store->place(record.outputs.front().object, folder.path() / "out"));
    }
  CHECK(checked->objects > 0);
  CHECK(records > 0);
}

TEST_CASE("the run that began last is the last, over the turn of a second too") {
  const auto folder = temporary();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1100);
  for (int begun = 0; std::chrono::steady_clock::now() < end; ++begun) {
    const auto what = std::to_string(begun);
    const auto journal = RunJournal::begin(folder.path(), what);
    REQUIRE(journal);
    journal->ended(0, 0, 0);
    const auto last = last_run(folder.path());
    REQUIRE((last && *last));
    REQUIRE((*last)->what == what);
  }
}
