// Writes the seed inputs of the fuzz targets, made by the builders that the unit tests use: folder/<target>/<name>.
#include "support/fatbin_builder.hpp"
#include "support/pe_builder.hpp"
#include "support/tar_builder.hpp"
#include "support/wheel_builder.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace sagekit::test;
using sagekit::ByteWriter;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& bytes) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string fatbin(char compression) {
  CubinBuilder old;
  old.new_abi = false;
  FatbinBuilder builder;
  builder.cubin(90, 'a', CubinBuilder().build(), compression);
  builder.cubin(90, 'a', old.build(), compression);
  builder.ptx(90, 0, sample_ptx(), compression);
  builder.add({.kind = 8, .sm = 90, .image = "12345678"});
  return builder.build();
}

std::string module(bool sections, bool gnu_hash) {
  ModuleBuilder builder;
  builder.section_table = sections;
  builder.gnu_hash = gnu_hash;
  builder.more = {{".nv_fatbin", fatbin('z')}, {".rodata", std::string(16, 'x') + CubinBuilder().build()}};
  return builder.build();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fputs("usage: write_seeds FOLDER\n", stderr), 2;
  const fs::path folder = arguments[1];
  WheelBuilder wheel;
  write(folder / "zip/wheel", wheel.zip().build());
  ZipBuilder zip64 = wheel.zip();
  zip64.zip64 = true;
  write(folder / "zip/zip64", zip64.build());
  ZipBuilder odd = wheel.zip();
  odd.entries[0].descriptor = true;
  odd.entries[1].central_extra = ByteWriter().u16(0x7075).u16(5).u8(1).u32(0).bytes();
  odd.comment = "comment";
  write(folder / "zip/odd", odd.build());
  wheel.files.push_back({"tiny_kernels/_tiny.abi3.so", module(true, false)});
  write(folder / "zip/module", wheel.zip().build());
  const std::string tarball = tar({{"demo-1.0/setup.py", "x = 1\n"}, {"demo-1.0/_k.so", module(true, false)}});
  write(folder / "archive/tar", tarball);
  write(folder / "archive/deb", "!<arch>\n" + ar_member("debian-binary", "2.0\n") +
                                    ar_member("data.tar", tar({{"usr/lib/a.ptx", sample_ptx()}})));
  write(folder / "archive/zstd", zstd_raw_frame(tarball));
  write(folder / "elf/sections", module(true, false));
  write(folder / "elf/no_sections", module(false, true));
  write(folder / "pe/module", sample_pe(fatbin('l')));
  write(folder / "pe/module32", sample_pe(fatbin('l'), 0x14c));
  for (const char compression : {'r', 'l', 'z'})
    write(folder / "fatbin" / std::string(1, compression), fatbin(compression == 'r' ? '\0' : compression));
  CubinBuilder old;
  old.new_abi = false;
  write(folder / "cubin/new", CubinBuilder().build());
  write(folder / "cubin/old", old.build());
  write(folder / "cubin/ptx", sample_ptx());
  CubinBuilder bodies;
  bodies.bodies = {{.registers = 40, .shared = 2048},
                   {.name = "trap", .code = {sass::skip_one_if, sass::trap, sass::exit}}};
  write(folder / "cubin/bodies", bodies.build());
  ByteWriter code;
  for (const auto& one :
       {sass::set_stack, sass::exit_if, sass::skip_one_if, sass::trap, sass::call, sass::store_local_16,
        sass::load_local_4, sass::store, sass::exit, sass::endless, sass::padding})
    code.u64(one.first).u64(one.second);
  write(folder / "sass/code", code.bytes());
  const std::string image(600, 'x');
  write(folder / "image_codec/raw", ByteWriter().u8(0).u16(image.size()).u8(0).text(image).bytes());
  write(folder / "image_codec/lz4", ByteWriter().u8(1).u16(image.size()).u8(0).text(lz4_literal_block(image)).bytes());
  write(folder / "image_codec/zstd", ByteWriter().u8(2).u16(image.size()).u8(0).text(zstd_raw_frame(image)).bytes());
  const std::string name = wheel.file_name + "\n";
  write(folder / "metadata/metadata", name + wheel.metadata);
  write(folder / "metadata/wheel", name + wheel.wheel);
  write(folder / "metadata/record", name + WheelBuilder().right_record() + "\"a,\"\"b\",,\n");
  write(folder / "metadata/requirement",
        "Foo[a,b] (>=1,<2.*) ; (extra == 'c' and python_version not in \"3 4\") or os_name==\"nt\"\nx @ https://y ; a");
  write(folder / "metadata/entry_points", name + "[console_scripts]\nrun = a.b:c [d]\n# x\nlong =\n  a:b\n[g]\nx=y\n");
  write(folder / "metadata/variant",
        name + R"({"$schema":"https://x/v0.1.1.json","default-priorities":{"namespace":["nvidia"]},)" +
            R"("variants":{"cu130":{"nvidia":{"sm_arch":["90_real"]}}}})");
  write(folder / "metadata/accents", "e\xcc\x81\xc5\xa0.txt\nversion https://git-lfs.github.com/spec/v1\n");
  write(folder / "naming/variant", "tiny_kernels-1.2.0-cp312-cp312-linux_x86_64-cu130.whl");
  write(folder / "naming/wheel", wheel.file_name);
  write(folder / "naming/build_tag", "tiny_kernels-1.2.0+cu130.torch2.11-280.129-cp312.cp313-abi3-linux_x86_64.whl");
  write(folder / "naming/release", "sageattention-2.2.0%2Bcu130torch2.10.0andhigher.post6-cp310-abi3-win_amd64.whl");
  write(folder / "naming/folder", "cu128-torch271-py312-sm90/sageattention-2.2.0-cp312-cp312-linux_x86_64.whl");
  write(folder / "naming/two", "sageattention-2.2.0-2311.130-cp312-cp312-linux_x86_64.whl");
  write(folder / "naming/abi", "flash_attn-2.8.3+cu12torch2.8cxx11abiTRUE-cp312-cp312-linux_x86_64.whl");
  write(folder / "naming/arches", "8.0 sm_86;9.0a,compute_120f 12.1+PTX native");
  write(folder / "naming/template", "{version}+cu{cuda_digits}.torch{torch_minor}.g{commit7}");
  return 0;
}
