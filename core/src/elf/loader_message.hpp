#pragma once
// What the dynamic loader says when a module does not load, taken apart.

#include <string>
#include <string_view>

namespace sagekit {

struct LoaderMessage {
  enum class Kind { library, symbol, version, other };
  Kind kind = Kind::other;
  std::string name;    ///< "libcudart.so.13"; the symbol, mangled; "GLIBC_2.38"
  std::string object;  ///< the file that wanted or lacks it, as the message names it; "" = not said
};

/// glibc's and musl's words; anything else is `other`.
LoaderMessage read_loader_message(std::string_view message);

}  // namespace sagekit
