#include "inspect/gpu_code.hpp"

#include "inspect/cubin_reader.hpp"
#include "inspect/ptx_reader.hpp"
#include "inspect/work_pool.hpp"
#include "support/format.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace sagekit {

namespace {

constexpr std::uint64_t k_memory_budget = std::uint64_t{1} << 30;

struct Image {
  FatbinImage header = {};
  bool loaded = true;
  bool bare = false;  ///< not in a fatbin: only its content says what it is
  // What its content says:
  std::string toolkit = {};
  std::vector<std::string> kernels = {};
  Diagnostics problems = {};
  bool dropped = false;  ///< unreadable and without a header that would say what it is
};

std::vector<Image> list_images(const std::vector<GpuArea>& areas, Problems& problems) {
  std::vector<Image> images;
  for (const GpuArea& area : areas) {
    if (area.form == GpuArea::Form::fatbins) {
      for (const FatbinImage& header : read_fatbins(area.bytes, problems))
        images.push_back({.header = header, .loaded = area.loaded});
      continue;
    }
    Image image{.loaded = area.loaded, .bare = true};
    image.header.kind = area.form == GpuArea::Form::ptx ? ImageKind::ptx : ImageKind::cubin;
    image.header.stored = area.bytes;
    image.header.size = area.bytes.size();
    images.push_back(std::move(image));
  }
  return images;
}

/// Does the content contradict the header? Cubins of some kinds (device-link stubs) do not record their suffix.
bool contradicts(const Arch& header, const Arch& content, bool suffix_known) {
  return header.capability != content.capability || (suffix_known && header.suffix != content.suffix);
}

void read_cubin_content(Image& image, Bytes content, bool kernels, Problems& problems) {
  auto facts = read_cubin(content, kernels, problems);
  if (!facts) {
    image.dropped = image.bare;
    return;
  }
  if (image.bare)
    image.header.arch = facts->arch;
  else if (contradicts(image.header.arch, facts->arch, facts->suffix_known))
    problems.error("FAT008", fmt::format("a fatbin entry for {} holds machine code for {}", sm_name(image.header.arch),
                                         sm_name(facts->arch)));
  image.toolkit = std::move(facts->toolkit);
  image.kernels = std::move(facts->kernels);
}

void read_ptx_content(Image& image, Bytes content, bool kernels, Problems& problems) {
  auto facts = read_ptx(content.view(), kernels);
  if (!facts) {
    image.dropped = image.bare;
    problems.error("FAT009", "a PTX image has no readable .version and .target");
    return;
  }
  if (image.bare)
    image.header.arch = facts->arch;
  else if (contradicts(image.header.arch, facts->arch, true))
    problems.error("FAT008", fmt::format("a fatbin entry for {} holds PTX for {}", sm_name(image.header.arch),
                                         sm_name(facts->arch)));
  image.toolkit = toolkit_of_ptx(facts->version_major, facts->version_minor);
  image.kernels = std::move(facts->kernels);
}

void read_content(Image& image, bool kernels, Problems& problems) {
  const FatbinImage& header = image.header;
  if (header.kind == ImageKind::ptx && !image.bare)
    image.toolkit = toolkit_of_ptx(header.version_major, header.version_minor);
  const bool raw = header.compression == ImageCompression::none;
  if (!header.readable || (!kernels && !raw)) return;
  std::string decompressed;
  Bytes content = header.stored;
  if (!raw) {
    auto made = decompress_image(header.stored.view(), header.compression, header.size);
    if (!made)
      return problems.error("FAT005", fmt::format("the image for {} ({} bytes) does not decompress to {} bytes",
                                                  sm_name(header.arch), header.stored.size(), header.size));
    decompressed = std::move(*made);
    content = Bytes(decompressed);
  }
  if (header.kind == ImageKind::cubin)
    read_cubin_content(image, content, kernels, problems);
  else
    read_ptx_content(image, content, kernels, problems);
}

void read_contents(std::vector<Image>& images, bool kernels, unsigned threads, const std::string& where) {
  const auto read_one = [&](std::size_t i) {
    Problems problems(where);
    read_content(images[i], kernels, problems);
    images[i].problems = problems.take();
  };
  if (!kernels) {
    for (std::size_t i = 0; i < images.size(); ++i) read_one(i);
    return;
  }
  std::vector<std::uint64_t> costs;
  costs.reserve(images.size());
  for (const Image& image : images) costs.push_back(image.header.readable ? image.header.size : 0);
  run_within_budget(costs, k_memory_budget, threads, read_one);
}

/// Of two toolkit names the newer one.
void keep_newer(std::string& known, const std::string& other) {
  const auto a = parse_version_number(known);
  const auto b = parse_version_number(other);
  if (b && (!a || *a < *b)) known = other;
}

}  // namespace

std::vector<GpuCode> read_gpu_code(const std::vector<GpuArea>& areas, bool kernels, unsigned threads,
                                   Problems& problems) {
  std::vector<Image> images = list_images(areas, problems);
  read_contents(images, kernels, threads, problems.where());

  std::map<std::tuple<Arch, ImageKind, bool>, GpuCode> sums;
  for (Image& image : images) {
    problems.add(std::move(image.problems));
    if (image.dropped) continue;
    const FatbinImage& header = image.header;
    GpuCode& sum = sums[{header.arch, header.kind, !image.loaded}];
    sum.ptx = header.kind == ImageKind::ptx;
    sum.lto = header.kind == ImageKind::lto;
    sum.arch = header.arch;
    sum.loaded = image.loaded;
    ++sum.count;
    sum.bytes += header.stored.size();
    if (header.compression == ImageCompression::zstd) ++sum.zstd;
    keep_newer(sum.toolkit, image.toolkit);
    sum.kernels += image.kernels.size();
    std::move(image.kernels.begin(), image.kernels.end(), std::back_inserter(sum.names));
  }
  std::vector<GpuCode> result;
  for (auto& [key, sum] : sums) {
    std::sort(sum.names.begin(), sum.names.end());
    sum.names.erase(std::unique(sum.names.begin(), sum.names.end()), sum.names.end());
    result.push_back(std::move(sum));
  }
  return result;
}

}  // namespace sagekit
