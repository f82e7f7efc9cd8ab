#include "environment/probes.hpp"
#include "environment/search.hpp"
#include "environment/source_rank.hpp"
#include "support/parallel.hpp"
#include "support/run_owner.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr unsigned k_threads = 8;  // probes mostly wait for a program to start

void run_all(const std::vector<std::function<void()>>& tasks) {
  run_in_parallel(tasks.size(), k_threads, [&](std::size_t i) { tasks[i](); });
}

// Probes every place at once; results keep the order of the places.
template <class Value, class Probe>
void add_tasks(const std::vector<Found>& places, std::vector<Value>& results, std::vector<std::function<void()>>& tasks,
               Probe probe) {
  results.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    tasks.emplace_back([&results, &places, i, probe] { results[i] = probe(places[i]); });
}

// Keeps the first of equals.
template <class Value, class Key>
void drop_repeated(std::vector<Value>& values, Key key) {
  std::set<decltype(key(values[0]))> seen;
  std::erase_if(values, [&](const Value& value) { return !seen.insert(key(value)).second; });
}

// The order people and choose_toolchain read: what is ready, by source, newest; equals as they were found, which is
// PATH's order.
template <class Value>
void sort_by_use(std::vector<Value>& values) {
  std::vector<std::tuple<bool, int, std::vector<int>, std::size_t>> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto version = version_numbers(values[i].version);
    for (auto& number : version) number = -number;
    version.push_back(1);  // "3.12" after "3.12.1"
    order.emplace_back(!values[i].ready, source_rank(values[i].source), std::move(version), i);
  }
  std::ranges::sort(order);
  std::vector<Value> sorted;
  for (const auto& [broken, rank, version, i] : order) sorted.push_back(std::move(values[i]));
  values = std::move(sorted);
}

// What the started interpreters' package folders hold, for the second round of probes.
Candidates packages_of(const std::vector<ProbedPython>& pythons, std::vector<const Python*>& owners) {
  Candidates all;
  std::set<fs::path> seen;
  for (const auto& probed : pythons)
    for (const auto& site : probed.site_packages) {
      if (!seen.insert(real_path(site)).second) continue;
      auto found = find_packages(site, probed.python.source);
      owners.insert(owners.end(), found.torches.size(), &probed.python);
      std::ranges::move(found.nvcc, std::back_inserter(all.nvcc));
      std::ranges::move(found.torches, std::back_inserter(all.torches));
      std::ranges::move(found.notes, std::back_inserter(all.notes));
    }
  return all;
}

}  // namespace

Environment probe_environment(const ProbeOptions& given, CommandRunner& runner) {
  // nvcc writes temporary files even to answer a question, and leaves them when it is killed: the next run removes
  // them.
  auto options = given;
  const auto tmpdir = given.child_environment.find("TMPDIR");
  const fs::path parent = tmpdir == given.child_environment.end() ? "/tmp" : tmpdir->second;
  std::optional<TemporaryFolder> scratch;
  if (is_folder(parent))
    if (auto made = own_temporary(parent, "sagekit-probe")) scratch.emplace(std::move(*made));
  if (scratch) options.child_environment["TMPDIR"] = scratch->path().string();
  const ProbeContext context{options, runner};
  Environment environment;
  read_machine(options, environment);
  auto candidates = find_candidates(options);
  const auto ask_nvcc = [&](const Found& found) { return probe_nvcc(found, context); };

  std::vector<ProbedPython> pythons;
  std::vector<std::function<void()>> tasks;
  add_tasks(candidates.pythons, pythons, tasks, [&](const Found& found) { return probe_python(found, context); });
  add_tasks(candidates.nvcc, environment.nvcc, tasks, ask_nvcc);
  add_tasks(candidates.host_compilers, environment.host_compilers, tasks,
            [&](const Found& found) { return probe_host_compiler(found, context); });
  add_tasks(candidates.torches, environment.torches, tasks, read_torch);
  tasks.emplace_back([&] { environment.gpus = probe_gpus(context); });
  run_all(tasks);

  // Two names of one interpreter that does not start stay two: their reasons may differ.
  drop_repeated(pythons, [](const ProbedPython& p) {
    return std::tuple(p.place.prefix.empty() ? p.python.executable : p.place.prefix, p.python.version, p.python.abi);
  });
  find_python_commands(options, pythons, environment);
  std::vector<const Python*> owners;
  auto packages = packages_of(pythons, owners);
  std::vector<Nvcc> packaged_nvcc;
  std::vector<TorchSysroot> installed;
  tasks.clear();
  add_tasks(packages.nvcc, packaged_nvcc, tasks, ask_nvcc);
  add_tasks(packages.torches, installed, tasks, read_torch);
  run_all(tasks);
  for (std::size_t i = 0; i < installed.size(); ++i) {
    installed[i].python = owners[i]->minor;
    installed[i].interpreter = owners[i]->executable;
  }

  std::ranges::move(packaged_nvcc, std::back_inserter(environment.nvcc));
  std::ranges::move(installed, std::back_inserter(environment.torches));
  for (auto& probed : pythons) environment.pythons.push_back(std::move(probed.python));
  for (const auto& found : candidates.python_headers)
    std::ranges::move(read_python_headers(found), std::back_inserter(environment.pythons));
  environment.notes = std::move(candidates.notes);
  std::ranges::move(packages.notes, std::back_inserter(environment.notes));

  drop_repeated(environment.nvcc, [](const Nvcc& n) { return real_path(n.executable); });
  drop_repeated(environment.torches, [](const TorchSysroot& t) { return real_path(t.root); });
  sort_by_use(environment.nvcc);
  sort_by_use(environment.host_compilers);
  sort_by_use(environment.pythons);
  sort_by_use(environment.torches);
  return environment;
}

}  // namespace sagekit
