#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <thread>
#include <utility>

namespace sagekit::host {

std::stop_token stop_on_signals() {
  // Signals are blocked everywhere and taken by one thread, so that no handler runs in the middle of anything.
  static std::stop_source source;
  static sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A verb may run another: one thread takes the signals of both.
  static bool started = false;
  if (std::exchange(started, true)) return source.get_token();
  std::thread([] {
    int signal = 0;
    sigwait(&signals, &signal);
    source.request_stop();
    sigwait(&signals, &signal);
    _exit(128 + signal);
  }).detach();
  return source.get_token();
}

}  // namespace sagekit::host
