// One wheel per fault: each differs from a right one in a single place, and that place must be named.
#include "archive/zip_reader.hpp"
#include "support/file.hpp"
#include "support/wheel_builder.hpp"

#include <sagekit/inspect.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

using namespace sagekit;
using test::WheelBuilder;
using test::ZipBuilder;

namespace {

struct Fault {
  const char* name;
  const char* code;
  std::function<void(WheelBuilder&)> wheel;
  std::function<void(ZipBuilder&)> zip;
};

Fault in_zip(const char* name, const char* code, std::function<void(ZipBuilder&)> change) {
  return {name, code, {}, std::move(change)};
}
Fault in_text(const char* name, const char* code, std::function<void(WheelBuilder&)> change) {
  return {name, code, std::move(change), {}};
}

std::string extra(std::uint16_t id, const std::string& data) {
  return ByteWriter().u16(id).u16(data.size()).text(data).bytes();
}
std::string other_name_extra() { return extra(0x7075, ByteWriter().u8(1).u32(0).text("other.py").bytes()); }

constexpr const char* k_init = "tiny_kernels/__init__.py";

std::vector<Fault> framing_faults() {
  return {
      in_zip("end record missing", "INS055",
             [](auto& z) {
               z.suffix.clear();
               z.entries.clear();
               z.prefix = "PK\x03\x04";
               z.comment.clear();
               z.directory_size = 0xfffffff0;
             }),
      in_zip("bytes before the archive", "ZIP002", [](auto& z) { z.prefix = "#!/bin/sh\n"; }),
      in_zip("bytes after the archive", "ZIP003", [](auto& z) { z.suffix = "more"; }),
      in_zip("archive comment", "ZIP030", [](auto& z) { z.comment = "hello"; }),
      in_zip("several disks", "ZIP004", [](auto& z) { z.disk = 1; }),
      in_zip("member on another disk", "ZIP004", [](auto& z) { z.entries[0].disk = 3; }),
      in_zip("zip64 record of another length", "ZIP005",
             [](auto& z) {
               z.zip64 = true;
               z.zip64_length = 60;
             }),
      in_zip("zip64 record that disagrees", "ZIP005",
             [](auto& z) {
               z.zip64 = true;
               z.zip64_entries = 99;
             }),
      in_zip("zip64 record announced but absent", "ZIP005", [](auto& z) { z.entry_count = 0xffff; }),
      in_zip("too many members announced", "ZIP006", [](auto& z) { z.entry_count = 99; }),
      in_zip("too few members announced", "ZIP006", [](auto& z) { z.entry_count = 1; }),
      in_zip("directory too large", "ZIP006", [](auto& z) { z.directory_size = 0x7fffffff; }),
      in_zip("bytes between directory and end", "ZIP006", [](auto& z) { z.before_end = "hidden"; }),
      in_zip("damaged directory entry", "ZIP007", [](auto& z) { z.central_signature_of_first = 0; }),
      in_zip("member beyond the end", "ZIP008", [](auto& z) { z.entries[0].local_offset = 0x7ffffff0; }),
      in_zip("member header missing", "ZIP008", [](auto& z) { z.entries[0].local_signature = 7; }),
      in_zip("data reach into the directory", "ZIP008", [](auto& z) { z.entries.back().compressed_size = 100000; }),
      in_zip("other name in the member header", "ZIP009",
             [](auto& z) { z.entries[0].local_name = "tiny_kernels/__evil__.py"; }),
      in_zip("other method in the member header", "ZIP031", [](auto& z) { z.entries[0].local_method = 0; }),
      in_zip("other flags in the member header", "ZIP031", [](auto& z) { z.entries[0].local_flags = 2; }),
      in_zip("other CRC in the member header", "ZIP031", [](auto& z) { z.entries[0].local_crc = 1; }),
      in_zip("other size in the member header", "ZIP009", [](auto& z) { z.entries[0].local_size = 1; }),
      in_zip("other compressed size in the member header", "ZIP009",
             [](auto& z) { z.entries[0].local_compressed_size = 1; }),
      in_zip("the same name twice", "ZIP010", [](auto& z) { z.add(k_init, "answer = 43\n"); }),
      in_zip("names that differ by case", "ZIP011", [](auto& z) { z.add("tiny_kernels/__INIT__.py", ""); }),
      in_zip("names that differ by the form of an accent", "ZIP011",
             [](auto& z) {
               z.add("tiny_kernels/\xc3\xa9.txt", "").flags = 0x800;
               z.add("tiny_kernels/E\xcc\x81.txt", "").flags = 0x800;
             }),
      in_zip("end record in the comment", "ZIP003",
             [](auto& z) { z.comment = std::string("PK\x05\x06") + std::string(10, 'x'); }),
      in_zip("no date", "ZIP036", [](auto& z) { z.entries[0].date = 0; }),
      in_zip("different times", "ZIP037", [](auto& z) { z.entries[0].date = 0x22; }),
      in_zip("mode for the owner alone", "ZIP038", [](auto& z) { z.entries[0].mode = 0100600; }),
      in_zip("mode for everybody to write", "ZIP038", [](auto& z) { z.entries[0].mode = 0100666; }),
      in_zip("name with ..", "ZIP012", [](auto& z) { z.add("tiny_kernels/../../evil.py", ""); }),
      in_zip("absolute name", "ZIP012", [](auto& z) { z.add("/etc/evil", ""); }),
      in_zip("name with backslash", "ZIP012", [](auto& z) { z.add("tiny_kernels\\evil.py", ""); }),
      in_zip("name with NUL", "ZIP032", [](auto& z) { z.add(std::string("tiny.py\0.txt", 12), ""); }),
      in_zip("name with newline", "ZIP032", [](auto& z) { z.add("tiny\n.py", ""); }),
      in_zip("drive name", "ZIP012", [](auto& z) { z.add("C:/evil.py", ""); }),
      in_zip("name with an empty part", "ZIP012", [](auto& z) { z.add("tiny_kernels//evil.py", ""); }),
      in_zip("empty name", "ZIP012", [](auto& z) { z.add("", ""); }),
      in_zip("name that is not UTF-8", "ZIP013", [](auto& z) { z.add("tiny\xff.py", "").flags = 0x800; }),
      in_zip("UTF-8 name without the mark", "ZIP013", [](auto& z) { z.add("tiny\xc3\xa9.py", ""); }),
      in_zip("data descriptor", "ZIP014", [](auto& z) { z.entries[0].descriptor = true; }),
      in_zip("encrypted member", "ZIP015", [](auto& z) { z.entries[0].flags = 1; }),
      in_zip("bzip2 member", "ZIP016", [](auto& z) { z.entries[0].method = 12; }),
      in_zip("unknown flag", "ZIP033", [](auto& z) { z.entries[0].flags = 0x20; }),
      in_zip("symbolic link", "ZIP017", [](auto& z) { z.entries[0].mode = 0120777; }),
      in_zip("set-user-id", "ZIP034", [](auto& z) { z.entries[0].mode = 0104755; }),
      in_zip("members that share bytes", "ZIP018",
             [](auto& z) {
               z.entries[1] = z.entries[0];
               z.entries[1].local_offset = 0;
               z.entries[1].gap_before.clear();
             }),
      in_zip("bytes between members", "ZIP019", [](auto& z) { z.entries[1].gap_before = "hidden"; }),
      in_zip("bytes before the directory", "ZIP019", [](auto& z) { z.before_directory = "hidden"; }),
      in_zip("member comment", "ZIP020", [](auto& z) { z.entries[0].comment = "hello"; }),
      in_zip("extra field cut off", "ZIP021", [](auto& z) { z.entries[0].central_extra = "\x01"; }),
      in_zip("two zip64 fields", "ZIP021", [](auto& z) { z.entries[0].central_extra = extra(1, "") + extra(1, ""); }),
      in_zip("zip64 field of odd length", "ZIP021", [](auto& z) { z.entries[0].local_extra = extra(1, "12345"); }),
      in_zip("another name in an extra field", "ZIP035",
             [](auto& z) { z.entries[0].central_extra = other_name_extra(); }),
      in_zip("deflated data damaged", "ZIP022", [](auto& z) { z.entries[0].data = "\x07garbage"; }),
      in_zip("bytes behind the deflated data", "ZIP022",
             [](auto& z) { z.entries[0].data = test::deflate_stored(z.entries[0].content) + "x"; }),
      in_zip("claims more than it holds", "ZIP022", [](auto& z) { z.entries[0].size = 500; }),
      in_zip("claims less than it holds", "ZIP022", [](auto& z) { z.entries[0].size = 2; }),
      in_zip("stored with two sizes", "ZIP022",
             [](auto& z) {
               z.entries[0].method = 0;
               z.entries[0].size = 2;
             }),
      in_zip("wrong CRC", "ZIP023", [](auto& z) { z.entries[0].crc = 1; }),
      in_zip("impossible ratio", "ZIP024", [](auto& z) { z.entries[0].size = 0x70000000; }),
      in_zip("folder with data", "ZIP025", [](auto& z) { z.add("tiny_kernels/sub/", "data").mode = 040755; }),
      in_zip("file and folder of one name", "ZIP026", [](auto& z) { z.add("tiny_kernels", ""); }),
      in_zip("endless name", "ZIP027", [](auto& z) { z.add(std::string(2000, 'x'), ""); }),
      in_zip("tar as well", "ZIP028",
             [](auto& z) {
               z.entries[0].method = 0;
               z.entries[0].content = std::string(257 - 30 - z.entries[0].name.size(), ' ') + "ustar";
             }),
  };
}

std::vector<Fault> text_faults() {
  return {
      in_text("file name without tags", "NAM", [](auto& w) { w.file_name = "tiny.whl"; }),
      in_text("no dist-info", "INF001", [](auto& w) { w.folder = "tiny_kernels-1.2.0.egg-info"; }),
      in_text("two dist-info", "INF002",
              [](auto& w) {
                w.files.push_back({"other-1.dist-info/METADATA", "x"});
              }),
      in_text("folder in another spelling", "INF003", [](auto& w) { w.folder = "Tiny.Kernels-1.2.0.dist-info"; }),
      in_text("renamed file", "INF025",
              [](auto& w) { w.file_name = "tiny_kernels-1.3.0-cp312-cp312-linux_x86_64.whl"; }),
      in_text("no METADATA", "INF004", [](auto& w) { w.with_metadata = false; }),
      in_text("METADATA without Version", "INF005",
              [](auto& w) { w.metadata = "Metadata-Version: 2.1\nName: tiny-kernels\n"; }),
      in_text("METADATA with a line that is no header", "INF005",
              [](auto& w) { w.metadata = "garbage\n" + w.metadata; }),
      in_text("METADATA that is not UTF-8", "INF005", [](auto& w) { w.metadata += "\xff\n"; }),
      in_text("METADATA of a future version", "INF005",
              [](auto& w) { w.metadata.replace(w.metadata.find("2.4"), 3, "3.0"); }),
      in_text("other name in METADATA", "INF006",
              [](auto& w) { w.metadata.replace(w.metadata.find("tiny-kernels"), 12, "huge-kernels"); }),
      in_text("other version in METADATA", "INF006",
              [](auto& w) { w.metadata.replace(w.metadata.find("1.2.0"), 5, "1.2.1"); }),
      in_text("no WHEEL", "INF007", [](auto& w) { w.with_wheel = false; }),
      in_text("WHEEL of a future version", "INF008", [](auto& w) { w.wheel.replace(w.wheel.find("1.0"), 3, "2.0"); }),
      in_text("WHEEL without Root-Is-Purelib", "INF008",
              [](auto& w) { w.wheel.replace(w.wheel.find("false"), 5, "maybe"); }),
      in_text("other tag in WHEEL", "INF009", [](auto& w) { w.wheel.replace(w.wheel.find("cp312"), 5, "cp311"); }),
      in_text("build tag only in the file name", "INF010",
              [](auto& w) { w.file_name = "tiny_kernels-1.2.0-280.129-cp312-cp312-linux_x86_64.whl"; }),
      in_text("no RECORD", "INF011", [](auto& w) { w.with_record = false; }),
      in_text("RECORD row of two fields", "INF012", [](auto& w) { w.extra_record = "a,b\n"; }),
      in_text("RECORD with an open quote", "INF012", [](auto& w) { w.extra_record = "\"a,,\n"; }),
      in_text("file that RECORD does not list", "INF013", [](auto& w) { w.record = w.folder + "/RECORD,,\n"; }),
      in_text("RECORD lists a file that is not there", "INF014",
              [](auto& w) { w.extra_record = "gone.py,sha256=x,1\n"; }),
      in_text("RECORD lists a file twice", "INF015", [](auto& w) { w.extra_record = w.folder + "/RECORD,,\n"; }),
      in_text("wrong hash in RECORD", "INF016",
              [](auto& w) {
                w.record = w.right_record();
                w.files[0].second = "answer = 43\n";
              }),
      in_text("wrong size in RECORD", "INF017",
              [](auto& w) {
                w.record = w.right_record();
                w.record.insert(w.record.find('\n'), "0");
              }),
      in_text("wrong SHA-512 in RECORD", "INF016",
              [](auto& w) {
                w.record = w.right_record();
                w.record.replace(w.record.find("sha256"), 6, "sha512");
              }),
      in_text("wrong SHA3-256 in RECORD", "INF016",
              [](auto& w) {
                w.record = w.right_record();
                w.record.replace(w.record.find("sha256"), 6, "sha3_256");
              }),
      in_text("hash that RECORD may not have", "INF018",
              [](auto& w) {
                w.record = w.right_record();
                w.record.replace(w.record.find("sha256"), 6, "crc32");
              }),
      in_text("weak hash in RECORD", "INF018",
              [](auto& w) {
                w.record = w.right_record();
                w.record.replace(w.record.find("sha256"), 6, "md5");
              }),
      in_text("RECORD hashes itself", "INF026",
              [](auto& w) {
                w.record = w.right_record();
                w.record.replace(w.record.find("RECORD,,"), 8, "RECORD,sha256=x,1");
              }),
      in_text("RECORD does not list itself", "INF019",
              [](auto& w) {
                w.record = w.right_record();
                w.record.resize(w.record.find(w.folder + "/RECORD"));
              }),
      in_text("compiled Python", "INF022",
              [](auto& w) {
                w.files.push_back({"tiny_kernels/x.pyc", "x"});
              }),
      in_text("installer's file", "INF022",
              [](auto& w) {
                w.files.push_back({w.folder + "/direct_url.json", "{}"});
              }),
      in_text("signature of RECORD", "INF027",
              [](auto& w) {
                w.files.push_back({w.folder + "/RECORD.jws", "{}"});
              }),
      in_text("licence file missing", "INF023", [](auto& w) { w.licence_path = "licenses/COPYING"; }),
      in_text("License-File before its time", "INF024",
              [](auto& w) { w.metadata.replace(w.metadata.find("2.4"), 3, "2.1"); }),
      in_text("METADATA far from the end", "INF021",
              [](auto& w) {
                w.files.insert(w.files.begin(), {"a", ""});
              }),
  };
}

Diagnostics problems_of(const Result<FileFacts>& facts) {
  if (!facts) return {{Severity::error, facts.error().code, facts.error().message, {}, {}}};
  Diagnostics all = facts->wheel->problems;
  for (const MemberFacts& member : facts->members)
    all.insert(all.end(), member.problems.begin(), member.problems.end());
  return all;
}

std::string described(const Diagnostics& problems) {
  std::string text;
  for (const auto& one : problems) text += one.code + " " + one.message + "\n";
  return text;
}

Diagnostics inspect_built(const TemporaryFolder& folder, const std::string& name, const std::string& bytes) {
  const auto path = folder.path() / name;
  REQUIRE(write_file_atomic(path, bytes));
  return problems_of(inspect_file(path));
}

bool names(const Diagnostics& problems, std::string_view code) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const Diagnostic& one) { return one.code.starts_with(code); });
}

}  // namespace

TEST_CASE("a right wheel has no problem") {
  const auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "inspect");
  REQUIRE(folder);
  const WheelBuilder wheel;
  SUBCASE("plain") { CHECK(described(inspect_built(*folder, wheel.file_name, wheel.zip().build())) == ""); }
  SUBCASE("with zip64 records") {
    ZipBuilder zip = wheel.zip();
    zip.zip64 = true;
    CHECK(described(inspect_built(*folder, wheel.file_name, zip.build())) == "");
  }
  SUBCASE("with an end record that refers to them") {
    ZipBuilder zip = wheel.zip();
    zip.zip64 = true;
    zip.entry_count = 0xffff;
    zip.directory_offset = 0xffffffff;
    CHECK(described(inspect_built(*folder, wheel.file_name, zip.build())) == "");
  }
  SUBCASE("with a member's sizes in its zip64 field") {
    ZipBuilder zip = wheel.zip();
    auto& entry = zip.entries[0];
    const auto size = entry.content.size();
    const auto packed = test::deflate_stored(entry.content).size();
    entry.local_size = entry.local_compressed_size = 0xffffffff;
    entry.local_extra = extra(1, ByteWriter().u64(size).u64(packed).bytes());
    CHECK(described(inspect_built(*folder, wheel.file_name, zip.build())) == "");
  }
  SUBCASE("with stored members, folders and a UTF-8 name") {
    WheelBuilder other;
    other.files.push_back({"tiny_kernels/gr\xc3\xbc\xc3\x9f.txt", "\xc3\xa9"});
    ZipBuilder zip = other.zip();
    for (auto& entry : zip.entries) entry.method = 0, entry.flags = 0x800;
    zip.entries.insert(zip.entries.begin(), test::ZipEntry{.name = "tiny_kernels/", .method = 0, .mode = 040755});
    CHECK(described(inspect_built(*folder, other.file_name, zip.build())) == "");
  }
  SUBCASE("with a quoted name in RECORD") {
    WheelBuilder other;
    other.files = {{"tiny_kernels/a,b.txt", "x"}};
    other.record = other.right_record();
    other.record.replace(0, other.files[0].first.size(), "\"" + other.files[0].first + "\"");
    CHECK(described(inspect_built(*folder, other.file_name, other.zip().build())) == "");
  }
}

TEST_CASE("each fault of the framing is named") {
  const auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "inspect");
  REQUIRE(folder);
  for (const Fault& fault : framing_faults()) {
    CAPTURE(fault.name);
    const WheelBuilder wheel;
    ZipBuilder zip = wheel.zip();
    fault.zip(zip);
    std::string bytes = zip.build();
    if (std::string_view(fault.code) == "INS055") bytes.resize(bytes.size() - 22);
    const auto problems = inspect_built(*folder, wheel.file_name, bytes);
    CAPTURE(described(problems));
    CHECK(names(problems, fault.code));
  }
}

TEST_CASE("each fault of the texts is named") {
  const auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "inspect");
  REQUIRE(folder);
  for (const Fault& fault : text_faults()) {
    CAPTURE(fault.name);
    WheelBuilder wheel;
    fault.wheel(wheel);
    ZipBuilder zip = wheel.zip();
    if (std::string_view(fault.code) == "INF021")
      zip.at("/METADATA").content += std::string(1, '\n') + std::string(20000, 'x');
    const auto problems = inspect_built(*folder, wheel.file_name, zip.build());
    CAPTURE(described(problems));
    // A long METADATA pushes its own header beyond the last 16 KiB; its hash differs then, too.
    CHECK(names(problems, fault.code));
  }
}

TEST_CASE("a dist-info folder that is not last is a warning") {
  const auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "inspect");
  REQUIRE(folder);
  const WheelBuilder wheel;
  ZipBuilder zip = wheel.zip();
  std::rotate(zip.entries.begin(), zip.entries.begin() + 2, zip.entries.end());
  const auto problems = inspect_built(*folder, wheel.file_name, zip.build());
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].code == "INF020");
  CHECK(problems[0].severity == Severity::warning);
}

TEST_CASE("a wheel cut off anywhere is an error and never a crash") {
  const WheelBuilder wheel;
  const std::string whole = wheel.zip().build();
  for (std::size_t size = 0; size < whole.size(); size += 3) {
    Problems problems("x.whl");
    const auto members = read_zip(Bytes(std::string_view(whole).substr(0, size)), problems);
    CAPTURE(size);
    CHECK(problems.has_errors());
  }
}
