#include "generate/quote.hpp"

#include "generate/head.hpp"
#include "generate/tools.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sagekit;

TEST_SUITE("quote") {
  const std::string k_hostile = R"(a'b"c\d$(id)`id`${HOME}${{ secrets.X }}%{ for }{{ x }}#!&*é)";

  TEST_CASE("a word is what it was, in each language") {
    CHECK(yaml_text("on") == R"("on")");
    CHECK(yaml_text("a\"b\\c") == R"("a\"b\\c")");
    CHECK(yaml_text("line\xc2\x85"
                    "end\xe2\x80\xa8") == R"("line\u0085end\u2028")");
    CHECK(yaml_text("\xf0\x9f\x98\x80") == "\"\xf0\x9f\x98\x80\"");
    CHECK(workflow_text("x ${{ github.token }}") == R"("x ${{ '${{' }} github.token }}")");
    CHECK(hcl_text("$${a} %{b}") == R"("\u0024\u0024{a} \u0025{b}")");
    CHECK(shell_text("sage3-pytorch27-cu128-python310") == "sage3-pytorch27-cu128-python310");
    CHECK(shell_text("a'b c") == R"('a'\''b c')");
    CHECK(shell_text("") == "''");
    CHECK(shell_text("8.0;9.0+PTX") == "'8.0;9.0+PTX'");
    CHECK(shell_text("~") == "'~'");
    CHECK(dockerfile_text("8.6 9.0 $X\\\"") == R"("8.6 9.0 \$X\\\"")");
    CHECK(exec_form({"a", "b\"c"}) == R"(["a", "b\"c"])");
    CHECK(jinja_text("plain") == R"("plain")");
    CHECK(jinja_text("{{ x }}") == R"(!unsafe "{{ x }}")");
    CHECK(comment_text("a\nRUN id") == "a\\nRUN id");
    CHECK(target_name("sage2-pytorch211-cu130-python312-sm80.sm90a") == "sage2-pytorch211-cu130-python312-sm80_sm90a");
  }

  TEST_CASE("an address with a secret is no word for a file, and is not shown") {
    for (const char* text : {"https://me:s3cret@host/x", "https://s3cret@host/x", "http://me:s3/cret@host/x",
                             "https://me:@host", "https://@host", "ssh://git:s3cret@host/x",
                             "sagekit @ git+https://s3cret@host/x", "https://host/a https://s3cret@host"}) {
      const auto checked = check_no_secret("--source", text);
      REQUIRE_MESSAGE(!checked, text);
      CHECK(checked.error().code == "GEN003");
      CHECK(checked.error().message.find("s3") == std::string::npos);
    }
    for (const char* text :
         {"", "://", "a folder", "me@host:x", "https://host", "https://host:8443/a:b@c", "https://host/@x",
          "ssh://git@host/x", "git+ssh://git@host:22/x", "https://[::1]:80/x", "sagekit @ https://host/x"})
      CHECK_MESSAGE(check_no_secret("--source", text), text);
  }

  TEST_CASE("no shell expands what is quoted for it") {
    const auto quoted = shell_text(k_hostile);
    CHECK(quoted.front() == '\'');
    CHECK(quoted.back() == '\'');
  }

  TEST_CASE("what no line can hold is refused") {
    CHECK(check_word("the profile", k_hostile));
    using namespace std::string_view_literals;
    for (const auto bad : {"a\nb"sv, "a\rb"sv, "a\0b"sv, "\x1b[31m"sv, "\xff"sv, "\x7f"sv}) {
      const auto checked = check_word("the profile", bad);
      REQUIRE_FALSE(checked);
      CHECK(checked.error().code == "GEN003");
      CHECK(checked.error().kind == ErrorKind::usage);
      CHECK(checked.error().message.find("the profile") == 0);
    }
  }

  TEST_CASE("values take the place of their names, once") {
    CHECK(fill_template("a @x@ actions/checkout@v1 @y@", {{"x", "@y@"}, {"y", "2"}}) == "a @y@ actions/checkout@v1 2");
  }
}

TEST_SUITE("head") {
  TEST_CASE("a file knows whether it was changed by hand") {
    const auto text = with_head("FROM debian\n", "sagekit generate dockerfile");
    CHECK(text.starts_with("# Made by: sagekit generate dockerfile\n# sagekit-sha256: "));
    CHECK(is_as_generated(text));
    CHECK_FALSE(is_as_generated(text + "RUN id\n"));
    auto renamed = text;
    renamed.replace(renamed.find("dockerfile"), 10, "dockerfilE");
    CHECK_FALSE(is_as_generated(renamed));
    CHECK_FALSE(is_as_generated("FROM debian\n"));
    CHECK_FALSE(is_as_generated(""));
    CHECK_FALSE(is_as_generated(text.substr(0, 80)));
  }
  TEST_CASE("a script keeps its first line first") {
    const auto text = with_head("#!/bin/sh\nexit 0\n", "sagekit generate slurm");
    CHECK(text.starts_with("#!/bin/sh\n# Made by: sagekit generate slurm\n"));
    CHECK(is_as_generated(text));
  }
  TEST_CASE("a command with a line end stays in its comment") {
    CHECK(with_head("x\n", "a\nRUN id").starts_with("# Made by: a\\nRUN id\n# sagekit-sha256: "));
  }
}

TEST_SUITE("tools") {
  TEST_CASE("a platform that needs another compiler is a row") {
    for (const auto& row : generate_tools().cross) {
      CAPTURE(row.platform);
      CHECK(cross_platform(row.platform) == &row);
      CHECK_FALSE(row.packages.empty());
    }
    CHECK(cross_platform("linux_aarch64") != nullptr);
    CHECK(cross_platform("linux_x86_64") == nullptr);
  }
  TEST_CASE("the table is whole") {
    CHECK(generate_tools().problems.empty());
    for (const auto& [name, uses] : generate_tools().actions) {
      CAPTURE(name);
      const auto at = uses.find('@');
      CHECK(uses.find_first_not_of("0123456789abcdef", at + 1) == at + 41);
      CHECK(uses.find(" # v") == at + 41);
    }
  }
  TEST_CASE("the base image is the one for Python and CUDA") {
    Cell cell;
    cell.id = "x";
    const auto image = [&](const char* base, const char* python, const char* cuda) {
      cell.python = python, cell.cuda = cuda;
      const auto choice = ImageChoice::make(base, {});
      REQUIRE(choice);
      const auto found = choice->for_cell(cell);
      return found ? *found : found.error().code;
    };
    CHECK(image("auto", "3.12", "13.0") == "debian:12-slim");
    CHECK(image("auto", "3.12", "12.9") == "nvidia/cuda:12.9.1-devel-ubuntu22.04");
    CHECK(image("nvidia", "3.12", "12.8") == "nvidia/cuda:12.8.1-devel-ubuntu22.04");
    CHECK(image("runpod", "3.10", "12.8") == "runpod/pytorch:2.8.0-py3.10-cuda12.8.1-cudnn-devel-ubuntu22.04");
    CHECK(image("runpod", "3.12", "12.8") == "GEN006");
    CHECK(image("ghcr.io/me/base:1", "3.12", "12.8") == "ghcr.io/me/base:1");
    CHECK(ImageChoice::make("fedora", {}).error().code == "GEN006");
    CHECK(ImageChoice::make("debian:12\nRUN id", {}).error().code == "GEN006");
  }
  TEST_CASE("a digest pins its image, and no other") {
    const auto digest = "@sha256:" + std::string(64, 'a');
    const auto choice = ImageChoice::make("debian:12-slim", {"debian:12-slim" + digest});
    REQUIRE(choice);
    CHECK_FALSE(choice->all_pins_used());
    CHECK(choice->for_cell({}) == "debian:12-slim" + digest);
    CHECK(choice->all_pins_used());
    CHECK(ImageChoice::make("auto", {"debian:12-slim@sha256:1"}).error().code == "GEN006");
  }
}
