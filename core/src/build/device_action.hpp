#pragma once
// The graph's small steps: GPU code of one source for one virtual architecture, whichever compile steps use it.

#include <sagekit/plan.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace sagekit {

struct DeviceAction {
  Step step;                       ///< kind `device`; its argv asks for this architecture alone
  std::vector<std::string> argv;   ///< symbolic, for all architectures: what nvcc is asked about
  std::vector<std::string> plain;  ///< what nvcc would be given without any of this, with torch's own headers and
                                   ///< without threads of ptxas; empty where there is no such way: for Windows
  std::vector<std::string> words;  ///< what of it decides about GPU code: no output, CPU, Python or architecture
  std::string arch;                ///< "compute_90a"
  std::string arch_list;           ///< all of the source's: headers may ask for __CUDA_ARCH_LIST__
  std::string platform;            ///< of the first user; this machine's own if there is one such user
  std::vector<std::size_t> users;  ///< compile steps, as indices
  bool for_windows = false;        ///< one of them is: its compiler writes the launches itself
};

/// The architectures' actions of those of these steps that nvcc makes, in the order of the steps; equal ones are one.
/// CPUs share GPU code (docs/decisions/0008), and so do Pythons.
std::vector<DeviceAction> device_actions(const std::vector<const Step*>& steps, const std::string& own_platform);

/// An argv without -o, -MD and -MF.
std::vector<std::string> without_outputs(const std::vector<std::string>& argv);

}  // namespace sagekit
