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

Result<std::vector<RecordedOutput>> keep_outputs(const Store& store, const DeviceCommands& device,
                                                 const fs::path& folder, const std::string& module_id,
                                                 std::string& why) {
  TRY_ASSIGN(const auto ptx, read_file(device.ptx));
  TRY_ASSIGN(auto stub, read_file(device.stub));
  const auto interface = read_interface(ptx);
  const auto registered = read_registered(stub);
  std::vector<RecordedOutput> outputs;
  if (!interface || !registered) {
    why = "its kernels' parameters are not understood";
    return outputs;
  }
  why = stub_differs(*registered, *interface);
  if (!why.empty()) return outputs;
  // The compiler names its folder in a line marker.
  stub = replace_all(std::move(stub), folder.string() + "/", "");
  const auto put = [&](std::string_view name, const fs::path& file) -> Status {
    TRY_ASSIGN(auto object, store.put(file));
    outputs.push_back({output_path(name), std::move(object)});
    return {};
  };
  const auto put_text = [&](std::string_view name, std::string_view text) -> Status {
    const auto file = folder / "kept.txt";
    remove_quietly(file);  // it may be linked into the store
    TRY(write_file(file, text));
    return put(name, file);
  };
  TRY(put_text(k_stub, stub));
  TRY(put_text(k_kernels, interface_text(*interface)));
  if (!module_id.empty()) TRY(put_text(k_module_id, module_id));
  for (const auto& image : device.images) TRY(put(image.role, image.file));
  std::ranges::sort(outputs, {}, &RecordedOutput::path);
  return outputs;
}

}  // namespace sagekit
