#include "build/device_outputs.hpp"

#include "compile/kernel_interface.hpp"
#include "support/file.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

std::string output_path(std::string_view name) { return "{work}/" + std::string(name); }

const StoredObject* output_of(const ActionRecord& record, std::string_view name) {
  const auto found = std::ranges::find(record.outputs, output_path(name), &RecordedOutput::path);
  return found == record.outputs.end() ? nullptr : &found->object;
}

Result<DeviceTexts> read_device_texts(const DeviceCommands& device, bool launches) {
  const auto refused = [](std::string why) { return fail(ErrorKind::failed, "BLD009", std::move(why)); };
  TRY_ASSIGN(auto ptx, read_file(device.ptx));
  TRY_ASSIGN(auto stub, read_file(device.stub));
  const auto interface = read_interface(ptx);
  const auto registered = read_registered(stub);
  if (!interface || !registered) return refused("its kernels' parameters are not understood");
  if (auto why = stub_differs(*registered, *interface); !why.empty()) return refused(std::move(why));
  if (launches && !with_size_assertions(stub, *interface)) return refused("its launches are not understood");
  // The compiler names its folder in a line marker.
  stub = replace_all(std::move(stub), device.stub.parent_path().string() + "/", "");
  return DeviceTexts{std::move(ptx), std::move(stub), interface_text(*interface)};
}

Result<std::vector<RecordedOutput>> keep_outputs(const Store& store, const DeviceCommands& device,
                                                 const DeviceTexts& texts, const std::string& module_id) {
  std::vector<RecordedOutput> outputs;
  const auto put = [&](std::string_view name, const fs::path& file) -> Status {
    TRY_ASSIGN(auto object, store.put(file));
    outputs.push_back({output_path(name), std::move(object)});
    return {};
  };
  const auto put_text = [&](std::string_view name, std::string_view text) -> Status {
    TRY_ASSIGN(auto object, store.put_bytes(text));
    outputs.push_back({output_path(name), std::move(object)});
    return {};
  };
  TRY(put_text(k_stub, texts.stub));
  TRY(put_text(k_kernels, texts.kernels));
  if (!module_id.empty()) TRY(put_text(k_module_id, module_id));
  for (const auto& image : device.images) TRY(put(image.role, image.file));
  std::ranges::sort(outputs, {}, &RecordedOutput::path);
  return outputs;
}

}  // namespace sagekit
