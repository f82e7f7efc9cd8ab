// What the store keeps, loses and takes in: levels, trims, checks and packs.
#include "archive/tar_writer.hpp"
#include "store/housekeeping.hpp"
#include "store/store.hpp"
#include "support/file.hpp"
#include "support/run_owner.hpp"
#include "support/scratch_files.hpp"
#include "support/sha256.hpp"
#include "support/zstd.hpp"

#include <sagekit/cache.hpp>
#include <sagekit/shards.hpp>

#include <chrono>
#include <set>
#include <stop_token>
#include <thread>

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// A record of one object, used `hours` ago.
StoredObject fill(const Store& store, const std::string& name, std::size_t size, int hours) {
  // Bytes that do not compress, so that sizes mean something.
  std::string bytes;
  for (int i = 0; bytes.size() < size; ++i) bytes += sha256_hex(name + std::to_string(i));
  const auto object = store.put_bytes(bytes, true);
  REQUIRE(object);
  const auto key = sha256_hex(name);
  REQUIRE(store.add_record(key, {{}, {{"{work}/" + name, *object}}, {}, false, {}}));
  const auto then = fs::file_time_type::clock::now() - std::chrono::hours(hours);
  for (const auto& file : fs::directory_iterator(store.folder("actions") / key.substr(0, 2) / key))
    fs::last_write_time(file, then);
  return *object;
}

bool knows(const Store& store, const std::string& name) { return !store.records(sha256_hex(name)).empty(); }

std::string packed_object(const std::string& content) { return zstd_frame(content, 3); }

}  // namespace

TEST_CASE("objects are compressed, modules are not, and both come back as they were") {
  const auto folder = temporary();
  const auto store = Store::open(folder.path() / "store");
  const std::string text(100'000, 'x');
  write(folder.path() / "a.cubin", text);
  write(folder.path() / "a.so", text + "module");
  const auto cubin = store->put(folder.path() / "a.cubin");
  const auto module = store->put(folder.path() / "a.so");
  REQUIRE((cubin && module));
  const auto objects = folder.path() / "store/objects";
  CHECK(fs::file_size(objects / cubin->sha256.substr(0, 2) / (cubin->sha256 + ".zst")) < 1000);
  CHECK(fs::file_size(objects / module->sha256.substr(0, 2) / module->sha256) == text.size() + 6);
  REQUIRE(store->place(*cubin, folder.path() / "out/a.cubin"));
  REQUIRE(store->place(*module, folder.path() / "out/a.so"));
  CHECK(text_of(folder.path() / "out/a.cubin") == text);
  CHECK(fs::hard_link_count(folder.path() / "out/a.so") > 1);
  // What an older sagekit left uncompressed is read too.
  const auto old = sha256_hex("old");
  write(objects / old.substr(0, 2) / old, "old");
  CHECK(store->has({old, 3}));
  CHECK(*store->content({old, 3}) == "old");
}

TEST_CASE("a flipped bit is found, said and removed") {
  const auto folder = temporary();
  std::vector<std::string> said;
  const auto store = Store::open(folder.path(), {[&](const std::string& text) { said.push_back(text); }});
  const auto object = store->put_bytes(std::string(5000, 'a') + "b");
  auto file = folder.path() / "objects" / object->sha256.substr(0, 2) / (object->sha256 + ".zst");
  auto bytes = text_of(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write(file, bytes);
  CHECK(store->content(*object).error().code == "STO001");
  REQUIRE(said.size() == 1);
  CHECK(said.front().find("is damaged") != std::string::npos);
  CHECK_FALSE(store->has(*object));
}

TEST_CASE("a second level gives what is not here; nothing of it is written, and what it gives is kept") {
  const auto folder = temporary();
  const auto far = Store::open(folder.path() / "far");
  const auto object = fill(*far, "a", 1000, 0);
  std::vector<std::string> said;
  const auto say = [&](const std::string& text) { said.push_back(text); };
  const auto before = fs::last_write_time(folder.path() / "far/objects");
  const auto near =
      Store::open(folder.path() / "near", {.say = say, .levels = {read_only_store(folder.path() / "far", say)}});
  CHECK(near->has(object));
  CHECK_FALSE(near->has_here(object));
  const auto none = near->find(sha256_hex("a"), [](const ActionRecord&) { return false; });
  CHECK_FALSE(none);
  CHECK_FALSE(knows(*near, "a"));
  const auto record = near->find(sha256_hex("a"), [](const ActionRecord&) { return true; });
  REQUIRE(record);
  CHECK(record->outputs.front().object == object);
  REQUIRE(near->place(object, folder.path() / "out.o"));
  CHECK(near->has_here(object));
  CHECK(knows(*near, "a"));
  CHECK(fs::last_write_time(folder.path() / "far/objects") == before);
  CHECK(said.empty());
}

TEST_CASE("a record leads nowhere but below the work folder") {
  const auto with = [](const std::string& path, const std::string& sha256) {
    return parse_action(action_text({{}, {{path, {sha256, 1}}}, {}, false, {}})).has_value();
  };
  const std::string good(64, 'a');
  CHECK(with("{work}/obj/a.o", good));
  for (const auto* path :
       {"{work}/../a", "/etc/passwd", "{source}/a.cu", "a", "{work}", "{work}/", "{work}/a/../../b", "{work}//a"})
    CHECK_FALSE(with(path, good));
  CHECK_FALSE(with("{work}/a", "../../../../etc/passwd"));
  CHECK_FALSE(with("{work}/a", std::string(64, 'A')));
}

TEST_CASE("a trim removes what was used least lately, and only as much as it must") {
  const auto folder = temporary();
  const auto store = Store::open(folder.path());
  const auto oldest = fill(*store, "oldest", 100'000, 30);
  const auto old = fill(*store, "old", 100'000, 20);
  const auto young = fill(*store, "young", 100'000, 1);
  const auto all = cache_stats(folder.path());
  REQUIRE(all);
  TrimOptions options;
  options.max_bytes = all->bytes - 50'000;
  options.dry_run = true;
  const auto would = cache_trim(folder.path(), options);
  REQUIRE(would);
  CHECK(would->records == 1);
  CHECK(knows(*store, "oldest"));
  options.dry_run = false;
  const auto done = cache_trim(folder.path(), options);
  CHECK(done->records == 1);
  CHECK(done->objects == 1);
  CHECK(done->bytes_after <= *options.max_bytes);
  CHECK(done->bytes_after == cache_stats(folder.path())->bytes);
  CHECK_FALSE(knows(*store, "oldest"));
  CHECK_FALSE(store->has(oldest));
  CHECK((knows(*store, "old") && store->has(old)));
  // A hit counts as a use.
  CHECK(store->find(sha256_hex("old"), [](const ActionRecord&) { return true; }));
  TrimOptions aged;
  aged.older_than_seconds = 1800;
  CHECK(cache_trim(folder.path(), aged)->records == 1);
  CHECK((knows(*store, "old") && !knows(*store, "young") && !store->has(young)));
}

TEST_CASE("what was learned on the way goes by its age") {
  const auto folder = temporary();
  REQUIRE(Store::open(folder.path()));
  const auto in = [&](const char* name) { return folder.path() / name / "kept"; };
  for (const auto* name : {"history", "looks", "specs"}) {
    REQUIRE(make_directories(folder.path() / name));
    REQUIRE(write_file(in(name), "{}"));
  }
  fs::last_write_time(in("looks"), fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::last_write_time(in("specs"), fs::file_time_type::clock::now() - std::chrono::hours(2));
  TrimOptions options;
  options.older_than_seconds = 3600;
  REQUIRE(cache_trim(folder.path(), options));
  CHECK((fs::exists(in("history")) && !fs::exists(in("looks")) && !fs::exists(in("specs"))));
}

TEST_CASE("an object of two records goes with the second; one without a record waits an hour") {
  const auto folder = temporary();
  const auto store = Store::open(folder.path());
  const auto shared = fill(*store, "one", 1000, 9);
  REQUIRE(store->add_record(sha256_hex("two"), {{}, {{"{work}/x", shared}}, {}, false, {}}));
  const auto orphan = store->put_bytes("nobody names me", true);
  TrimOptions options;
  options.older_than_seconds = 5 * 3600;
  CHECK(cache_trim(folder.path(), options)->objects == 0);
  CHECK((store->has(shared) && store->has(*orphan)));
  fs::last_write_time(folder.path() / "objects" / orphan->sha256.substr(0, 2) / orphan->sha256,
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  CHECK(cache_trim(folder.path(), options)->objects == 1);
  CHECK_FALSE(store->has(*orphan));
}

TEST_CASE("folders of dead processes go, those of living ones and of other machines stay") {
  const auto folder = temporary();
  const auto mark = own_mark();
  CHECK(owner_of("x@" + mark) == Owner::alive);
  CHECK(owner_of("x@" + mark + "-Ab12cd") == Owner::alive);
  const auto dead = mark.substr(0, mark.rfind('.')) + ".1";
  CHECK(owner_of("x@" + dead) == Owner::dead);
  CHECK(owner_of("x@other.1.2.3") == Owner::unknown);
  CHECK(owner_of("x") == Owner::unknown);
  for (const auto& name : {"a@" + mark, "b@" + dead, std::string("c@other.1.2.3"), std::string("d.lock")})
    write(folder.path() / "work" / name / "obj/x.o", "x");
  write(folder.path() / "work" / ("b@" + dead) / "logs/x.log", "why it failed");
  write(folder.path() / "tmp" / ("s@" + dead + "-Ab12cd") / "object", "x");
  clean_up(folder.path());
  std::set<std::string> left;
  for (const auto& work : fs::directory_iterator(folder.path() / "work")) left.insert(work.path().filename().string());
  CHECK(left == std::set{"a@" + mark, "b@" + dead, std::string("c@other.1.2.3"), std::string("d.lock")});
  CHECK_FALSE(fs::exists(folder.path() / "work" / ("b@" + dead) / "obj"));
  CHECK(fs::exists(folder.path() / "work" / ("b@" + dead) / "logs/x.log"));
  CHECK(fs::is_empty(folder.path() / "tmp"));
  CHECK(in_use(folder.path()));
  CHECK(abandoned(folder.path()).empty());
}

TEST_CASE("verify finds what is not what its name says") {
  const auto folder = temporary();
  const auto store = Store::open(folder.path());
  fill(*store, "good", 100, 0);
  const auto object = fill(*store, "bad", 100, 0);
  const auto file = folder.path() / "objects" / object.sha256.substr(0, 2) / object.sha256;
  fs::remove(file);
  write(file, "other");
  write(folder.path() / "objects/aa/stray", "x");
  write(folder.path() / "actions/aa/b/c.txt", "{");
  const auto check = cache_verify(folder.path());
  REQUIRE(check);
  CHECK(check->damaged.size() == 3);
  CHECK(check->objects == 1);
  CHECK(check->records == 2);
  CHECK_FALSE(fs::exists(file));
  CHECK(cache_verify(folder.path())->damaged.empty());
  CHECK(cache_verify(folder.path() / "objects").error().code == "STO005");
}

TEST_CASE("a pack carries records and objects to another store") {
  const auto folder = temporary();
  const auto journal = RunJournal::begin(folder.path() / "one/runs", "fake");
  const auto one = Store::open(folder.path() / "one", {.journal = journal});
  const auto object = fill(*one, "a", 3000, 0);
  write(folder.path() / "x.o", "packed");
  const auto other = one->put(folder.path() / "x.o");
  REQUIRE(one->add_record(sha256_hex("b"), {{}, {{"{work}/b", *other}}, {}, false, {}}));
  const auto file = folder.path() / "pack.tar";
  const auto packed = cache_export(folder.path() / "one", file, false);
  REQUIRE(packed);
  CHECK(packed->records == 2);
  CHECK(packed->objects == 2);
  const auto taken = cache_import(folder.path() / "two", file);
  REQUIRE(taken);
  CHECK(taken->records == 2);
  const auto two = Store::open(folder.path() / "two");
  CHECK(two->records(sha256_hex("a")) == one->records(sha256_hex("a")));
  CHECK(*two->content(*other) == "packed");
  CHECK(two->has(object));
  // Of the last run: what it made, not what was there.
  const auto next = Store::open(folder.path() / "one", {.journal = RunJournal::begin(folder.path() / "one/runs", "x")});
  fill(*next, "c", 10, 0);
  CHECK(cache_export(folder.path() / "one", file, true)->records == 1);
  CHECK(cache_export(folder.path() / "two", file, true).error().code == "STO006");
  // One that is stopped leaves what was there, and what a killed one left goes.
  const auto before = *read_file(file);
  const auto mark = own_mark();
  write(folder.path() / (".sagekit@" + mark.substr(0, mark.rfind('.')) + ".1-Ab12cd") / "tar", "half a pack");
  std::stop_source stop;
  stop.request_stop();
  CHECK(cache_export(folder.path() / "one", file, false, stop.get_token()).error().kind == ErrorKind::interrupted);
  CHECK(*read_file(file) == before);
  for (const auto& entry : fs::directory_iterator(folder.path()))
    CHECK_FALSE(entry.path().filename().string().starts_with(".sagekit"));
}

TEST_CASE("a hostile pack is refused, and none of its records is taken") {
  const auto folder = temporary();
  const std::string good = "content", sha = sha256_hex(good), key = sha256_hex("key");
  const auto record = action_text({{}, {{"{work}/o", {sha, good.size()}}}, {}, false, {}});
  const auto refused = [&](const std::string& where, const std::string& name, const std::string& content) {
    auto tar = TarWriter::create(folder.path() / "p.tar");
    REQUIRE(tar);
    REQUIRE(tar->add("actions/" + key.substr(0, 2) + "/" + key, "k.txt", record));
    REQUIRE(tar->add(where, name, content));
    REQUIRE(tar->finish());
    const auto store = folder.path() / "store";
    const auto done = cache_import(store, folder.path() / "p.tar");
    CHECK_FALSE(fs::exists(store / "actions" / key.substr(0, 2)));
    return !done && done.error().code == "STO007";
  };
  const auto shard = "objects/" + sha.substr(0, 2);
  CHECK(refused("../../etc", "passwd", "x"));
  CHECK(refused("/etc", "passwd", "x"));
  CHECK(refused(shard, "../" + sha, good));
  CHECK(refused("objects/zz", sha, good));
  CHECK(refused(shard, sha, "CONTENT"));
  CHECK(refused(shard, sha + ".zst", good));
  CHECK(refused(shard, sha + ".zst", packed_object("CONTENT")));
  // A frame that claims 512 GiB.
  CHECK(refused(shard, sha + ".zst", std::string("\x28\xb5\x2f\xfd\xe0\0\0\0\0\x80\0\0\0\x01\0\0", 16)));
  CHECK(refused("actions/" + key.substr(0, 2) + "/" + key, "l.txt", "{}"));
  CHECK(refused("toolchains/nvcc/bin", "nvcc", "#!/bin/sh"));
  write(folder.path() / "no.tar", "not an archive");
  CHECK(cache_import(folder.path() / "store", folder.path() / "no.tar").error().code == "STO007");
}

TEST_CASE("a claim is one process's at a time, and who waits can be stopped") {
  const auto folder = temporary();
  const auto store = Store::open(folder.path());
  bool waited = false;
  auto first = store->claim(sha256_hex("k"), {}, waited);
  REQUIRE(first);
  CHECK_FALSE(waited);
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    stop.request_stop();
  });
  CHECK_FALSE(store->claim(sha256_hex("k"), stop.get_token(), waited));
  CHECK(waited);
  first.reset();
  CHECK(store->claim(sha256_hex("k"), {}, waited));
}
