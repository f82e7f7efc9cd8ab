#include "support/descriptor.hpp"
#include "support/file.hpp"
#include "support/format.hpp"

#include <sagekit/command.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace sagekit {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds k_grace{2};           // between SIGTERM and SIGKILL
constexpr double k_longest_timeout_seconds = 3.2e7;  // a year; keeps the arithmetic in range
constexpr auto k_never = Clock::time_point::max();

struct Pipe {
  Descriptor read, write;
};

std::unexpected<Error> cannot_start(const std::string& program, const std::string& why, std::string hint = {}) {
  return fail(ErrorKind::machine, "CMD001", fmt::format("cannot start {}: {}", program, why), std::move(hint));
}

std::unexpected<Error> cannot_start(const Command& command, const std::string& why) {
  return cannot_start(command.argv.empty() ? "(nothing)" : command.argv[0], why);
}

std::unexpected<Error> not_on_path(const std::string& name) {
  return cannot_start(name, "no such program on PATH", "install it, or put its folder on PATH");
}

// Only the parent's end is non-blocking: a child must see an ordinary pipe.
bool make_pipe(Pipe& pipe) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  pipe.read = Descriptor(ends[0]);
  pipe.write = Descriptor(ends[1]);
  return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

// Relative PATH entries are passed over: what runs must not depend on the current folder.
std::string find_program(const std::string& name, const std::map<std::string, std::string>& environment) {
  if (name.find('/') != std::string::npos) return name;
  const auto path = environment.find("PATH");
  if (path == environment.end()) return {};
  std::string_view rest = path->second;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path folder(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::error_code ignored;
    const fs::path candidate = folder / name;
    if (folder.is_absolute() && fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0)
      return candidate.string();
  }
  return {};
}

// What the child does between fork and exec: system calls alone, because other threads' locks are as they were.
[[noreturn]] void become(const Command& command, const char* program, char* const* argv, char* const* envp, int out,
                         int err, int report, pid_t parent) {
  const auto give_up = [&report] {
    const int error = errno;
    [[maybe_unused]] const ssize_t n = ::write(report, &error, sizeof error);
    ::_exit(127);
  };
  ::setpgid(0, 0);
  // However sagekit ends, a compiler of its does not write on into a later build.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(127);
  if (command.nice) ::setpriority(PRIO_PROCESS, 0, *command.nice);  // as much as is allowed
  for (const int signal :
       {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD, SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU})
    ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) give_up();
  const int nothing = ::open("/dev/null", O_RDONLY);  // last: `out` may be our 0
  if (nothing < 0 || (nothing != 0 && ::dup2(nothing, 0) < 0)) give_up();
  constexpr int k_report = 3;
  if (report != k_report && ::dup3(report, k_report, O_CLOEXEC) < 0) give_up();
  report = k_report;
  ::close_range(k_report + 1, ~0U, 0);
  if (!command.working_directory.empty() && ::chdir(command.working_directory.c_str()) != 0) give_up();
  ::execve(program, argv, envp);
  give_up();
  ::_exit(127);
}

// 0 or an errno. The child gets default signals, an empty mask, its own process group and no descriptor but 0, 1, 2,
// and is killed when the thread that started it ends.
int spawn(const Command& command, const std::string& program, int out, int err, pid_t& pid) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : command.environment) variables.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  // exec takes char* const[] for C's sake and writes to none of it.
  for (const auto& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
  for (auto& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
  const Descriptor read_end(ends[0]);
  Descriptor low(ends[1]), report(::fcntl(ends[1], F_DUPFD_CLOEXEC, 3));
  low.close();
  if (!report.open()) return errno;
  const pid_t parent = ::getpid();
  pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) become(command, program.c_str(), argv.data(), envp.data(), out, err, report.get(), parent);
  ::setpgid(pid, pid);  // by both, so that it is done for whoever comes first
  report.close();
  int error = 0;
  ssize_t n = 0;
  while ((n = ::read(read_end.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (n != sizeof error) return 0;  // closed by exec
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return error;
}

// Reads what is there; closes the pipe at its end.
void drain(Descriptor& pipe, std::string& into) {
  std::array<char, 65536> buffer;
  while (pipe.open()) {
    const ssize_t n = ::read(pipe.get(), buffer.data(), buffer.size());
    if (n > 0)
      into.append(buffer.data(), static_cast<std::size_t>(n));
    else if (n < 0 && errno == EINTR)
      continue;
    else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return;
    else
      pipe.close();
  }
}

void signal_event(int fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(fd, &one, sizeof one);
}

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

// One started child: watches it to its end. The end is seen by a thread in waitid(WNOWAIT), which works on every kernel
// and leaves a zombie behind: its process group's number stays ours until the last signal is sent.
class Child {
 public:
  Child(pid_t pid, Descriptor out, Descriptor err, Descriptor event)
      : m_pid(pid), m_out(std::move(out)), m_err(std::move(err)), m_event(std::move(event)) {}

  // True when it was stopped on request.
  bool watch(Clock::time_point start, const std::optional<double>& timeout, std::stop_token stop,
             CommandResult& result) {
    auto deadline = k_never;
    if (timeout) {
      const std::chrono::duration<double> limit(std::clamp(*timeout, 0.0, k_longest_timeout_seconds));
      deadline = start + std::chrono::duration_cast<Clock::duration>(limit);
    }
    std::jthread waiter([this] {
      siginfo_t info{};
      while (::waitid(P_PID, static_cast<id_t>(m_pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
      }
      m_ended = true;
      signal_event(m_event.get());
    });
    const std::stop_callback on_stop(stop, [this] { signal_event(m_event.get()); });

    bool stopped = false, terminating = false;
    while (!m_ended) {
      wait_for_news(deadline, result);
      if (m_ended) break;
      const bool late = Clock::now() >= deadline;
      if (late && terminating) {
        ::kill(-m_pid, SIGKILL);
        deadline = k_never;
      } else if (!terminating && (late || stop.stop_requested())) {
        stopped = stop.stop_requested();
        result.timed_out = !stopped;
        terminating = true;
        ::kill(-m_pid, SIGTERM);
        deadline = Clock::now() + k_grace;
      }
    }
    ::kill(-m_pid, SIGKILL);  // what it left behind in its group
    drain(m_out, result.output);
    drain(m_err, result.error_output);
    result.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return stopped;
  }

  void reap(CommandResult& result) {
    int status = 0;
    rusage usage{};
    while (::wait4(m_pid, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    result.peak_memory_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  }

 private:
  // Blocks until there is output, an event, or the deadline has passed. Closed pipes have fd -1, which poll passes
  // over.
  void wait_for_news(Clock::time_point deadline, CommandResult& result) {
    std::array<pollfd, 3> fds{pollfd{m_event.get(), POLLIN, 0}, pollfd{m_out.get(), POLLIN, 0},
                              pollfd{m_err.get(), POLLIN, 0}};
    int wait_ms = -1;
    if (deadline != k_never) {
      const double left = std::chrono::duration<double, std::milli>(deadline - Clock::now()).count();
      wait_ms = static_cast<int>(std::clamp(std::ceil(left), 0.0, double{std::numeric_limits<int>::max()}));
    }
    if (::poll(fds.data(), fds.size(), wait_ms) <= 0) return;
    if (fds[0].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t n = ::read(m_event.get(), &count, sizeof count);
    }
    if (fds[1].revents != 0) drain(m_out, result.output);
    if (fds[2].revents != 0) drain(m_err, result.error_output);
  }

  pid_t m_pid;
  Descriptor m_out, m_err, m_event;
  std::atomic<bool> m_ended = false;
};

class LocalRunner final : public CommandRunner {
 public:
  Result<CommandResult> run(const Command& command, std::stop_token stop) override {
    const std::string name = command.argv.empty() ? std::string{} : command.argv[0];
    const auto interrupted = [&] {
      return fail(ErrorKind::interrupted, "CMD002", fmt::format("{} was stopped", name));
    };
    if (stop.stop_requested()) return interrupted();
    if (name.empty()) return cannot_start(command, "the command is empty");
    const std::string program = find_program(name, command.environment);
    if (program.empty()) return not_on_path(name);
    std::error_code ignored;
    if (!command.working_directory.empty() && !fs::is_directory(command.working_directory, ignored))
      return cannot_start(command, fmt::format("its working folder {} is missing", command.working_directory.string()));

    Pipe out, err;
    Descriptor file;
    if (!command.output_file.empty()) {
      file = Descriptor(::open(command.output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
      if (!file.open())
        return cannot_start(command, fmt::format("cannot write {}: {}", command.output_file.string(), last_os_error()));
    } else if (!make_pipe(out) || (command.separate_stderr && !make_pipe(err))) {
      return cannot_start(command, last_os_error());
    }
    Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event.open()) return cannot_start(command, last_os_error());

    const int out_fd = file.open() ? file.get() : out.write.get();
    const int err_fd = err.write.open() ? err.write.get() : out_fd;
    pid_t pid = -1;
    const auto start = Clock::now();  // before the program runs: what it takes is never said to be less
    if (const int error = spawn(command, program, out_fd, err_fd, pid); error != 0)
      return cannot_start(command, std::strerror(error));
    out.write.close();
    err.write.close();

    CommandResult result;
    Child child(pid, std::move(out.read), std::move(err.read), std::move(event));
    bool stopped = false;
    try {
      stopped = child.watch(start, command.timeout_seconds, stop, result);
    } catch (const std::system_error& error) {  // no thread to be had
      ::kill(-pid, SIGKILL);
      child.reap(result);
      return cannot_start(command, error.what());
    }
    child.reap(result);
    if (stopped) return interrupted();
    return result;
  }
};

}  // namespace

Status check_program(const std::string& program, const std::map<std::string, std::string>& environment) {
  const std::string found = find_program(program, environment);
  if (found.empty()) return not_on_path(program);
  std::error_code ignored;
  if (fs::is_directory(found, ignored)) return cannot_start(program, std::strerror(EISDIR));
  if (::access(found.c_str(), X_OK) != 0) return cannot_start(program, last_os_error());
  return {};
}

std::unique_ptr<CommandRunner> make_local_runner() { return std::make_unique<LocalRunner>(); }

}  // namespace sagekit
