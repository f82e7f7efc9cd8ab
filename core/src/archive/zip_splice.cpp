#include "archive/zip_splice.hpp"

#include "archive/zip_format.hpp"
#include "support/byte_writer.hpp"
#include "support/try.hpp"

namespace sagekit {

namespace {

constexpr std::size_t k_offset_in_record = 42;  ///< of the member's header (APPNOTE 4.3.12)

/// Records of central directories, put together.
class Table {
 public:
  /// Those of `archive` whose members stand before `end`; what they are pointed to lies `shift` bytes further now.
  void add(std::string_view archive, const zip::Directory& directory, std::uint64_t end, std::uint64_t shift) {
    Problems ignored("");
    auto rest = Bytes(archive).slice(directory.offset, directory.size).value_or(Bytes());
    while (const auto header = zip::read_central(rest, ignored)) {
      if (header->local_offset < end) {
        m_records.text(rest.view().substr(0, header->length));
        m_records.patch(m_records.size() - header->length + k_offset_in_record, header->local_offset + shift, 4);
        ++m_count;
      }
      rest = rest.from(header->length);
    }
  }

  /// With the record that ends an archive whose members take `members` bytes.
  const std::string& finish(std::uint64_t members) {
    const auto size = m_records.size();
    return m_records.u32(zip::k_end).u32(0).u16(m_count).u16(m_count).u32(size).u32(members).u16(0).bytes();
  }

 private:
  ByteWriter m_records;
  std::uint64_t m_count = 0;
};

}  // namespace

Status write_zip_after(const std::filesystem::path& file, const WheelArchive& archive, std::uint64_t end,
                       const std::vector<ZipEntry>& entries, DosTime time) {
  const auto tail_file = file.parent_path() / (file.filename().string() + ".tail");
  TRY(write_zip(tail_file, entries, time));
  TRY_ASSIGN(const auto mapped, MappedFile::open(tail_file));
  remove_quietly(tail_file);
  const auto front = archive.bytes(), tail = mapped.bytes();
  Problems ignored("");
  const auto front_table = zip::find_directory(Bytes(front), front.size(), ignored);
  const auto tail_table = zip::find_directory(Bytes(tail), tail.size(), ignored);
  if (!front_table || !tail_table)
    return fail(ErrorKind::machine, "PKG002", file.string() + " cannot be written: an archive changed under way");
  Table table;
  table.add(front, *front_table, end, 0);
  table.add(tail, *tail_table, UINT64_MAX, end);
  return write_file(file,
                    {front.substr(0, end), tail.substr(0, tail_table->offset), table.finish(end + tail_table->offset)});
}

}  // namespace sagekit
