#include "support/file.hpp"

#include <sagekit/command.hpp>

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

Command shell(const std::string& script) {
  Command command;
  command.argv = {"sh", "-c", script};
  command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  return command;
}

Result<CommandResult> run(const Command& command, std::stop_token stop = {}) {
  return make_local_runner()->run(command, std::move(stop));
}

std::ptrdiff_t open_descriptors() { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); }

// /proc's files say they are empty: read_file, which maps, cannot read them.
bool alive(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string status;
  std::getline(file, status);
  // A zombie that init has not collected yet is dead for us.
  return !status.empty() && status.find(") Z ") == std::string::npos;
}

bool gone_within(const std::string& pid, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (alive(pid)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::string wait_for_text(const fs::path& file) {
  for (int i = 0; i < 1000; ++i) {
    std::error_code ignored;
    if (fs::exists(file, ignored))
      if (const auto text = read_file(file); text && text->ends_with('\n')) return text->substr(0, text->size() - 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

}  // namespace

TEST_CASE("a program's output is captured in the order it was written") {
  const auto result = run(shell("echo one; echo two >&2; echo three"));
  REQUIRE(result);
  CHECK(result->ok());
  CHECK(result->output == "one\ntwo\nthree\n");
}

TEST_CASE("stderr can be kept apart") {
  Command command = shell("echo one; echo two >&2; echo three");
  command.separate_stderr = true;
  const auto result = run(command);
  REQUIRE(result);
  CHECK(result->output == "one\nthree\n");
  CHECK(result->error_output == "two\n");
}

TEST_CASE("ten megabytes on both streams arrive whole") {
  Command command = shell("head -c 10485760 /dev/zero; head -c 10485760 /dev/zero >&2");
  command.separate_stderr = true;
  const auto result = run(command);
  REQUIRE(result);
  CHECK(result->output.size() == 10485760);
  CHECK(result->error_output.size() == 10485760);
}

TEST_CASE("an exit code and a signal are told apart") {
  const auto code = run(shell("exit 7"));
  CHECK(code->exit_code == 7);
  CHECK(code->signal == 0);
  CHECK_FALSE(code->ok());
  const auto signal = run(shell("kill -SEGV $$"));
  CHECK(signal->exit_code == 128 + SIGSEGV);
  CHECK(signal->signal == SIGSEGV);
}

TEST_CASE("a program that cannot be started is an error that names it") {
  Command command = shell("");
  command.argv = {"sagekit-no-such-program"};
  const auto missing = run(command);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == "CMD001");
  CHECK(missing.error().kind == ErrorKind::machine);
  CHECK(missing.error().message == "cannot start sagekit-no-such-program: no such program on PATH");

  command.argv = {"/etc/passwd"};
  CHECK(run(command).error().message == "cannot start /etc/passwd: Permission denied");
  command.argv = {};
  CHECK(run(command).error().code == "CMD001");
  command = shell("true");
  command.working_directory = "/nonexistent";
  CHECK(run(command).error().message == "cannot start sh: its working folder /nonexistent is missing");
  command = shell("true");
  command.environment.clear();
  CHECK(run(command).error().code == "CMD001");
}

TEST_CASE("paths may hold spaces and other scripts, and relative PATH entries are passed over") {
  const auto folder = TemporaryFolder::create("/tmp", "sage kit \xe9\xa3\x9f \xc3\xa9");
  REQUIRE(folder);
  REQUIRE(write_file_atomic(folder->path() / "a tool", "#!/bin/sh\npwd\nprintf '%s|' \"$@\"\n", true));
  Command command = shell("");
  command.argv = {"a tool", "x y", "", "\xc3\xbc"};
  command.environment["PATH"] = "/nonexistent:" + folder->path().string() + ":/usr/bin:/bin";
  command.working_directory = folder->path();
  const auto result = run(command);
  REQUIRE(result);
  CHECK(result->output == folder->path().string() + "\nx y||\xc3\xbc|");
  command.environment["PATH"] = ".::/usr/bin:/bin";
  CHECK(run(command).error().code == "CMD001");
}

TEST_CASE("the child sees its environment and nothing of ours, and an empty stdin") {
  Command command = shell("env; cat");
  command.environment["ONE"] = "1 2";
  const auto result = run(command);
  REQUIRE(result);
  CHECK(result->output.find("ONE=1 2\n") != std::string::npos);
  CHECK(result->output.find("HOME=") == std::string::npos);
}

TEST_CASE("output goes whole into a file when one is named") {
  const auto folder = TemporaryFolder::create("/tmp", "sagekit-run");
  Command command = shell("echo one; echo two >&2; exit 3");
  command.output_file = folder->path() / "log of it";
  REQUIRE(write_file_atomic(command.output_file, "old text that is longer than the new one"));
  const auto result = run(command);
  REQUIRE(result);
  CHECK(result->exit_code == 3);
  CHECK(result->output.empty());
  CHECK(read_file(command.output_file).value() == "one\ntwo\n");
  command.output_file = "/nonexistent/log";
  CHECK(run(command).error().code == "CMD001");
}

TEST_CASE("a timeout ends the program and what it wrote is kept") {
  Command command = shell("echo begun; exec sleep 60");
  command.timeout_seconds = 0.2;
  const auto result = run(command);
  REQUIRE(result);
  CHECK(result->timed_out);
  CHECK_FALSE(result->ok());
  CHECK(result->signal == SIGTERM);
  CHECK(result->output == "begun\n");
  CHECK(result->wall_seconds < 1.9);
}

TEST_CASE("a program that ignores SIGTERM is killed two seconds later") {
  Command command = shell("trap '' TERM; sleep 60; sleep 60");
  command.timeout_seconds = 0.1;
  const auto result = run(command);
  REQUIRE(result);
  CHECK(result->signal == SIGKILL);
  CHECK(result->wall_seconds > 2.0);
  CHECK(result->wall_seconds < 10.0);
}

TEST_CASE("a stop request ends grandchildren too") {
  const auto folder = TemporaryFolder::create("/tmp", "sagekit-run");
  const fs::path note = folder->path() / "pid";
  Command command = shell("(trap '' TERM; sh -c 'echo $$ > \"$NOTE\"; exec sleep 60') & wait");
  command.environment["NOTE"] = note.string();
  std::stop_source source;
  std::string grandchild;
  std::jthread stopper([&] {
    grandchild = wait_for_text(note);
    source.request_stop();
  });
  const auto result = run(command, source.get_token());
  stopper.join();
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == ErrorKind::interrupted);
  CHECK(result.error().code == "CMD002");
  REQUIRE_FALSE(grandchild.empty());
  CHECK(gone_within(grandchild, std::chrono::seconds(2)));
}

TEST_CASE("nothing is started after a stop request") {
  const auto folder = TemporaryFolder::create("/tmp", "sagekit-run");
  std::stop_source source;
  source.request_stop();
  Command command = shell("echo started > \"$NOTE\"");
  command.environment["NOTE"] = (folder->path() / "note").string();
  CHECK(run(command, source.get_token()).error().kind == ErrorKind::interrupted);
  CHECK_FALSE(fs::exists(folder->path() / "note"));
}

TEST_CASE("a background process does not outlive its command nor hold its end up") {
  CHECK(alive(std::to_string(::getpid())));
  const auto result = run(shell("sleep 60 & echo $!"));
  REQUIRE(result);
  CHECK(result->wall_seconds < 5);
  CHECK(gone_within(result->output.substr(0, result->output.size() - 1), std::chrono::seconds(2)));
}

TEST_CASE("time and memory of the whole tree are measured") {
  // The work is done by a grandchild that the shell waits for.
  const auto result = run(shell("(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done); true"));
  REQUIRE(result);
  CHECK(result->cpu_seconds > 0.01);
  CHECK(result->peak_memory_bytes > 500'000);
  CHECK(result->wall_seconds > 0);
  const auto idle = run(shell("sleep 0.3"));
  CHECK(idle->wall_seconds >= 0.3);
  CHECK(idle->cpu_seconds < 0.2);
}

TEST_CASE("waiting costs no CPU") {
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  CHECK(run(shell("sleep 0.5"))->ok());
  ::getrusage(RUSAGE_SELF, &after);
  const auto microseconds = [](const rusage& u) {
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1'000'000 + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
  };
  CHECK(microseconds(after) - microseconds(before) < 100'000);
}

TEST_CASE("many threads run commands at once, and neither a process nor a descriptor is left over") {
  const auto before = open_descriptors();
  const auto runner = make_local_runner();
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const std::string word = std::to_string(t) + "." + std::to_string(i);
          const auto result = runner->run(shell("echo " + word + "; ls /proc/self/fd | wc -l"));
          // 0, 1, 2 and the one that ls reads the folder with.
          if (result && result->output == word + "\n4\n") ++right;
        }
      });
  }
  CHECK(right == 16 * 20);
  CHECK(open_descriptors() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}
