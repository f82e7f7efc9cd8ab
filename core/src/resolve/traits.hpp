#pragma once
// What is known of one wheel that decides where it runs, and who says it: its name, its metadata, its record, its code.

#include <sagekit/naming.hpp>
#include <sagekit/resolve.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sagekit {

/// The torch that a wheel's C++ is for.
struct TorchTrait {
  enum class Kind {
    unsaid,
    none,      ///< it uses no torch library
    exact,     ///< "2.9.1": its C++ ABI is that of 2.9
    minor,     ///< "2.9"
    at_least,  ///< torch's stable C interface, from that version on
  } kind = Kind::unsaid;
  std::string version;
  std::string from;                 ///< "its name", "sagekit.json", "its symbols"
  std::string missing_symbol = {};  ///< that the target's torch lacks
  bool measured = false;            ///< its modules were read
};

struct Traits {
  WheelName name;
  TorchTrait torch;
  std::string cuda, cuda_from;             ///< "13.0", "13"; "" = nobody says
  std::vector<std::string> cuda_runtimes;  ///< "11", "12": several, of which nobody says which it takes
  std::optional<bool> cxx11_abi;
  bool has_metadata = false;
  std::vector<std::string> requires_dist;
  std::string requires_python;
  bool native = true;  ///< has machine code, as far as is known
  std::string glibc;   ///< newest symbol version that its modules want; "" = not measured or none
  std::string libc;    ///< "glibc", "musl": what its modules were linked with; "" = not measured
  bool modules_read = false;
  std::optional<std::vector<RunsOn>> runs_on;  ///< measured now, or when it was published
  std::string runs_on_from;
  std::vector<ArchRequest> arches;  ///< only said
  bool ptx_unsaid = false;          ///< and not which of them carry PTX
  std::string arches_from;
  std::string date;  ///< of the source's commit, "20260117"; "" = not known
  std::string commit;
  std::string contradiction;  ///< two that should agree and do not; "" = none
  std::string sha256;         ///< of the file here; "" = it was not read
  std::string damage;         ///< why nobody should install it; "" = nothing is known
  std::string experimental;   ///< what nobody has tried yet, "built, not run on Windows"; "" = nothing is known
  std::vector<std::string> notes;
  bool has_cases = false;   ///< a loaded plugin can call it on a GPU of the machine; of this run, not of the wheel
  std::vector<Capability> without_modules;  ///< GPUs on which its package can do without any, by a loaded plugin
  bool names_only = false;  ///< nobody wants its file read; of this run, too

  bool may_have_gpu_code() const { return native && !(modules_read && runs_on && runs_on->empty()); }
};

/// The name's parts, which are all that most wheels are refused by. Error: the name is none of a wheel.
Result<Traits> traits_of(const Candidate& candidate);
/// Adds what the name's words and the page or manifest say.
void add_said(Traits& traits, const Candidate& candidate, const WheelNameReader& reader);

/// Adds METADATA's lines and, where it has one, the text of sagekit.json.
void add_metadata(Traits& traits, std::string_view metadata, const std::string& from);
void add_record(Traits& traits, std::string_view provenance);

/// Sets the torch, and says when another statement contradicts it. Measured wins over said.
void state_torch(Traits& traits, TorchTrait torch);
void state_cuda(Traits& traits, const std::string& cuda, const std::string& from);
/// The CUDA releases whose runtime its modules load. With several the package has modules for each, as bitsandbytes.
void state_runtimes(Traits& traits, const std::vector<std::string>& majors);

}  // namespace sagekit
