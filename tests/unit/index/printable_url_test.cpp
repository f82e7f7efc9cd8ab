#include <sagekit/index.hpp>

#include <doctest/doctest.h>

using sagekit::printable_url;

TEST_CASE("an address is printed without user, password, query and fragment") {
  CHECK(printable_url("https://me:secret@host.example:8443/simple/?token=x#frag") ==
        "https://host.example:8443/simple/");
  CHECK(printable_url("https://me:p%40ss@host.example") == "https://host.example");
  CHECK(printable_url("https://me:p@ss@host.example/a") == "https://host.example/a");
  CHECK(printable_url("https://host.example/a@b/c") == "https://host.example/a@b/c");
  CHECK(printable_url("host/only") == "host/only");
  CHECK(printable_url("").empty());
}
