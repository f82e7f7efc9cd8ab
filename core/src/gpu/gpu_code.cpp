#include "gpu/gpu_code.hpp"

#include "gpu/gpu_image.hpp"
#include "support/parallel.hpp"

#include <sagekit/version_number.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

namespace sagekit {

namespace {

/// An image and its number among those of all areas.
struct Numbered {
  GpuImage image;
  std::size_t container = 0;
};

std::vector<Numbered> list_images(const std::vector<GpuArea>& areas, const PassedBytes& passed,
                                  std::vector<Bytes>& containers, Problems& problems) {
  std::vector<Numbered> images;
  std::size_t first = 0;
  for (const GpuArea& area : areas) {
    if (area.form == GpuArea::Form::fatbins) {
      const FatbinList list = read_fatbins(area.bytes, problems, passed);
      for (const FatbinImage& header : list.images) {
        images.push_back({{.header = header, .loaded = area.loaded}, first + header.container});
        if (header.kind == ImageKind::ptx)
          images.back().image.toolkit = toolkit_of_ptx(header.version_major, header.version_minor);
      }
      first += list.containers.size();
      if (area.loaded)
        for (const std::uint64_t offset : list.containers) containers.push_back(area.bytes.from(offset));
      continue;
    }
    GpuImage image{.loaded = area.loaded, .bare = true};
    image.header.kind = area.form == GpuArea::Form::ptx ? ImageKind::ptx : ImageKind::cubin;
    image.header.stored = area.bytes;
    image.header.size = area.bytes.size();
    images.push_back({std::move(image), first++});
  }
  return images;
}

void read_contents(std::vector<Numbered>& images, const GpuReading& reading, const std::string& where) {
  const bool whole = reading.kernels || reading.resources;
  std::vector<std::size_t> packed;
  std::vector<std::uint64_t> costs;
  ImageDecoder unused;
  std::set<std::pair<Arch, ImageKind>> told;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const FatbinImage& header = images[i].image.header;
    const bool raw = header.compression == ImageCompression::none;
    if (!whole && (raw || !header.readable || !reading.beginnings)) {
      if (reading.beginnings || images[i].image.bare || (raw && told.emplace(header.arch, header.kind).second))
        read_gpu_image(images[i].image, reading, unused, where);
      continue;
    }
    packed.push_back(i);
    // Of an image that is not compressed only the facts need memory of ours.
    costs.push_back(!header.readable ? 0 : !whole ? 1 << 18 : raw ? header.size / 8 : header.size);
  }
  run_with_workers(costs, reading.memory_bytes, reading.threads, [&]() -> std::function<void(std::size_t)> {
    return [&, decoder = std::make_shared<ImageDecoder>()](std::size_t i) {
      read_gpu_image(images[packed[i]].image, reading, *decoder, where);
    };
  });
}

/// Of two toolkit names the newer one.
void keep_newer(std::string& known, const std::string& other) {
  if (known == other) return;
  const auto a = parse_version_number(known);
  const auto b = parse_version_number(other);
  if (b && (!a || *a < *b)) known = other;
}

/// A kernel that a container has for an arch.
struct Holding {
  Arch arch;
  std::size_t name = 0;  ///< hash
  std::size_t container = 0;
  auto operator<=>(const Holding&) const = default;
};

std::uint64_t count_repeated(std::vector<Holding> holdings) {
  std::sort(holdings.begin(), holdings.end());
  std::uint64_t repeated = 0;
  for (std::size_t i = 0; i < holdings.size();) {
    std::size_t end = i + 1;
    while (end < holdings.size() && holdings[end].arch == holdings[i].arch && holdings[end].name == holdings[i].name)
      ++end;
    if (holdings[end - 1].container != holdings[i].container) ++repeated;
    i = end;
  }
  return repeated;
}

void add_image(GpuCode& sum, GpuImage& image) {
  const FatbinImage& header = image.header;
  sum.ptx = header.kind == ImageKind::ptx;
  sum.lto = header.kind == ImageKind::lto;
  sum.arch = header.arch;
  sum.loaded = image.loaded;
  ++sum.count;
  sum.bytes += header.stored.size();
  if (header.compression == ImageCompression::zstd) ++sum.zstd;
  sum.mislabelled += image.mislabelled;
  sum.unreadable += image.unreadable;
  keep_newer(sum.toolkit, image.toolkit);
  if (image.compiled_from && (!sum.compiled_from || *image.compiled_from < *sum.compiled_from))
    sum.compiled_from = image.compiled_from;
  sum.kernels += image.kernels.size() + image.resources.size();
  for (const KernelResources& kernel : image.resources) sum.names.push_back(kernel.name);
  std::move(image.kernels.begin(), image.kernels.end(), std::back_inserter(sum.names));
  std::move(image.resources.begin(), image.resources.end(), std::back_inserter(sum.resources));
}

void sort_kernels(GpuCode& sum) {
  std::sort(sum.names.begin(), sum.names.end());
  sum.names.erase(std::unique(sum.names.begin(), sum.names.end()), sum.names.end());
  std::sort(sum.resources.begin(), sum.resources.end());
  sum.resources.erase(std::unique(sum.resources.begin(), sum.resources.end()), sum.resources.end());
}

}  // namespace

GpuReading gpu_reading(const InspectOptions& options, unsigned threads, const PassedBytes& passed) {
  const bool kernels = options.kernels || options.resources;
  return {options.whole_file || kernels, kernels, options.resources, threads, options.memory_bytes, passed};
}

GpuCodeFacts read_gpu_code(const std::vector<GpuArea>& areas, const GpuReading& reading, Problems& problems) {
  GpuCodeFacts facts;
  std::vector<Numbered> images = list_images(areas, reading.passed, facts.containers, problems);
  read_contents(images, reading, problems.where());

  std::map<std::tuple<Arch, ImageKind, bool>, GpuCode> sums;
  std::vector<Holding> holdings;
  for (auto& [image, container] : images) {
    problems.add(std::move(image.problems));
    if (image.dropped) continue;
    if (image.loaded && image.header.kind == ImageKind::cubin)
      for (const std::size_t name : image.global_names) holdings.push_back({image.header.arch, name, container});
    add_image(sums[{image.header.arch, image.header.kind, !image.loaded}], image);
  }
  facts.repeated = count_repeated(std::move(holdings));
  for (auto& [key, sum] : sums) {
    sort_kernels(sum);
    facts.code.push_back(std::move(sum));
  }
  return facts;
}

}  // namespace sagekit
