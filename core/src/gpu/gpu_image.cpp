#include "gpu/gpu_image.hpp"

#include "gpu/cubin_reader.hpp"
#include "gpu/ptx_reader.hpp"
#include "support/format.hpp"

namespace sagekit {

namespace {

constexpr std::size_t k_beginning = 1 << 10;  // holds a cubin's header, and .version and .target of PTX

/// Does the content contradict the header? Cubins of some kinds (device-link stubs) do not record their suffix.
bool contradicts(const Arch& header, const Arch& content, bool suffix_known) {
  return header.capability != content.capability || (suffix_known && header.suffix != content.suffix);
}

void judge_arch(GpuImage& image, const Arch& content, bool suffix_known, Problems& problems) {
  if (image.bare || !contradicts(image.header.arch, content, suffix_known)) return;
  image.mislabelled = true;
  problems.error("FAT008", fmt::format("a fatbin entry for {} holds {} for {}", sm_name(image.header.arch),
                                       image.header.kind == ImageKind::ptx ? "PTX" : "machine code", sm_name(content)));
}

void read_cubin_content(GpuImage& image, Bytes content, CubinDetail detail, Problems& problems) {
  auto facts = read_cubin(content, detail, problems);
  if (!facts) {
    image.unreadable = true;
    image.dropped = image.bare;
    return;
  }
  judge_arch(image, facts->arch, facts->suffix_known, problems);
  if (image.bare) image.header.arch = facts->arch;
  image.toolkit = std::move(facts->toolkit);
  image.compiled_from = facts->compiled_from;
  image.kernels = std::move(facts->kernels);
  image.resources = std::move(facts->resources);
  image.global_names = std::move(facts->global_names);
}

void read_ptx_content(GpuImage& image, Bytes content, bool kernels, Problems& problems) {
  auto facts = read_ptx(content.view(), kernels);
  if (!facts) {
    image.unreadable = true;
    image.dropped = image.bare;
    problems.error("FAT009", "a PTX image has no readable .version and .target");
    return;
  }
  judge_arch(image, facts->arch, true, problems);
  if (image.bare) image.header.arch = facts->arch;
  image.toolkit = toolkit_of_ptx(facts->version_major, facts->version_minor);
  image.kernels = std::move(facts->kernels);
}

/// What can be held against the header without the rest. Text in which the target comes later is left to whoever reads
/// it whole.
void read_beginning(GpuImage& image, Bytes content, Problems& problems) {
  if (image.header.kind == ImageKind::ptx) {
    if (const auto facts = read_ptx(content.view(), false)) judge_arch(image, facts->arch, true, problems);
  } else if (const auto capability = cubin_capability(content)) {
    judge_arch(image, {*capability, ArchSuffix::none}, false, problems);
  } else {
    image.unreadable = true;
    problems.error("FAT007", "an image that should be machine code is no cubin of a known ABI");
  }
}

void read_content(GpuImage& image, const GpuReading& reading, ImageDecoder& decoder, Problems& problems) {
  const FatbinImage& header = image.header;
  const bool raw = header.compression == ImageCompression::none;
  const bool whole = reading.kernels || reading.resources;
  image.unreadable = !header.readable && header.kind != ImageKind::lto;
  if (!header.readable || (!whole && !raw && !reading.beginnings)) return;
  const std::string_view stored = header.stored.view();
  const auto made = whole || raw ? decoder.whole(stored, header.compression, header.size)
                                 : decoder.beginning(stored, header.compression, header.size, k_beginning);
  image.unreadable = !made;
  if (!made)
    return problems.error("FAT005", fmt::format("the image for {} ({} bytes) does not decompress to {} bytes",
                                                sm_name(header.arch), stored.size(), header.size));
  const Bytes content(*made);
  if (!whole && !raw) return read_beginning(image, content, problems);
  if (header.kind == ImageKind::ptx) return read_ptx_content(image, content, whole, problems);
  const CubinDetail detail = reading.resources ? CubinDetail::resources
                             : whole           ? CubinDetail::kernels
                                               : CubinDetail::header;
  read_cubin_content(image, content, detail, problems);
}

}  // namespace

void read_gpu_image(GpuImage& image, const GpuReading& reading, ImageDecoder& decoder, const std::string& where) {
  Problems problems(where);
  read_content(image, reading, decoder, problems);
  image.problems = problems.take();
  if (reading.passed) reading.passed(image.header.stored.view());
}

}  // namespace sagekit
