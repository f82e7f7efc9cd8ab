#include <sagekit/version.hpp>

namespace sagekit {
std::string_view version() { return SAGEKIT_VERSION; }
}  // namespace sagekit
