#include "building_in.hpp"

#include "json_text.hpp"
#include "log_follower.hpp"
#include "output_file.hpp"
#include "output_lock.hpp"

#include <sagekit/generate.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;

// What docker and podman themselves end with when the container's program had no say (docker run, "Exit status").
constexpr int k_engine_failed = 125, k_cannot_start = 126, k_not_found = 127;

/// A folder that goes with everything in it.
class Scratch {
 public:
  explicit Scratch(const fs::path& parent) {
    auto name = (parent / ".sagekit-in-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) m_path = name;
  }
  ~Scratch() {
    std::error_code error;
    if (!m_path.empty() && !m_kept) fs::remove_all(m_path, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return m_path; }
  void keep() { m_kept = true; }

 private:
  fs::path m_path;
  bool m_kept = false;
};

/// The folder that an engine is given, made before it; where nothing came it goes again.
class OutputFolder {
 public:
  explicit OutputFolder(fs::path path) : m_path(std::move(path)) {
    std::error_code error;  // the lock says why not
    m_made = fs::create_directories(m_path, error);
  }
  ~OutputFolder() {
    std::error_code error;
    if (m_made) fs::remove(m_path, error);  // an empty one only
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  fs::path m_path;
  bool m_made = false;
};

std::string last_lines(std::string text) {
  text.resize(text.find_last_not_of(" \r\n") + 1);
  auto at = text.size();
  for (int lines = 0; lines < 6 && at != std::string::npos && at > 0; ++lines) at = text.rfind('\n', at - 1);
  const auto first = text.find_first_not_of("\r\n", at == std::string::npos ? 0 : at);
  return first == std::string::npos ? "" : text.substr(first);
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// What an engine would make itself, as root and empty, when it is not there.
Status source_is_there(const std::string& source) {
  std::error_code error;
  if (source.empty() || source.find("://") != std::string::npos || fs::exists(source, error)) return {};
  return fail(ErrorKind::usage, "SRC006", fmt::format("the source at {}: there is no such file or folder", source),
              "give a folder, a git repository, an archive or a url");
}

/// Of a file that may not be there.
std::string said_in(const fs::path& path) { return file_text(path).value_or(""); }

class Engine {
 public:
  Engine(Session& session, const EngineBuild& build, std::stop_token stop)
      : m_session(session), m_build(build), m_stop(std::move(stop)) {}

  /// Is it here, and does it answer?
  Status look() {
    const auto& engine = m_build.engine;
    const auto question = engine == "docker"
                              ? std::vector<std::string>{"docker", "version", "--format", "{{.Server.Version}}"}
                          : engine == "podman"  ? std::vector<std::string>{"podman", "info"}
                          : engine == "buildah" ? std::vector<std::string>{"buildah", "info"}
                                                : std::vector<std::string>{"sinfo", "--noheader"};
    const auto answer = m_session.runner->run(command(question), m_stop);
    if (!answer && answer.error().kind == ErrorKind::interrupted) return std::unexpected(answer.error());
    if (!answer)
      return fail(ErrorKind::machine, "GEN010", fmt::format("{} is not on this machine", question.front()),
                  fmt::format("install {}, or build here: leave --in out", engine));
    if (answer->ok()) return {};
    auto error = failed(fmt::format("{} is here and does not answer", engine), answer->output);
    error.error().hint = fmt::format("{} {} must end well in this shell; {} says where it is", question[0], question[1],
                                     engine == "slurm"    ? "SLURM_CONF"
                                     : engine == "docker" ? "DOCKER_HOST"
                                                          : "CONTAINERS_CONF");
    return error;
  }

  Result<int> in_container(const Generated& made) {
    const Scratch scratch(fs::temp_directory_path());
    const auto context = scratch.path() / "context";
    if (const auto written = write_generated(made, context, false); !written) return std::unexpected(written.error());
    auto image = fmt::format("localhost/sagekit-{}", scratch.path().filename().string().substr(12));
    std::ranges::transform(image, image.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    m_session.console.say(fmt::format("making the image with {}", m_build.engine));
    // docker and podman keep layers for the next time by themselves. With a name that is taken away again buildah
    // removes them, too, so there the image has none.
    const bool nameless = m_build.engine == "buildah";
    const auto container = image.substr(image.rfind('/') + 1) + "-working", id = (scratch.path() / "id").string();
    std::vector<std::string> making{m_build.engine, "build"};
    const auto named = nameless ? std::vector<std::string>{"--layers", "--iidfile", id} : std::vector{"-t"s, image};
    making.insert(making.end(), named.begin(), named.end());
    making.insert(making.end(), {"--target", "builder", context.string()});
    if (auto ran = run_logged(making, scratch.path() / "image.log", false); !ran)
      return std::unexpected(ran.error());
    else if (*ran != 0)
      return std::unexpected(
          failed(fmt::format("{} could not make the image", m_build.engine), said_in(scratch.path() / "image.log"))
              .error());
    if (nameless) image = words_of(said_in(id)).empty() ? "" : words_of(said_in(id)).front();
    auto code = run_logged(run_words(image, container), scratch.path() / "build.log", true);
    // The name goes, and what only it had; the layers below it are the next image's.
    (void)m_session.runner->run(command(nameless ? std::vector<std::string>{"buildah", "rm", container}
                                                 : std::vector{m_build.engine, "rmi"s, "--no-prune"s, image}));
    if (!code) return code;
    const auto document = m_json;
    if (document.empty() && (*code == 0 || *code == k_engine_failed || *code == k_cannot_start || *code == k_not_found))
      return std::unexpected(
          failed(fmt::format("{} could not run the image", m_build.engine), said_in(scratch.path() / "build.log"))
              .error());
    return show(document, "/out/", *code);
  }

  Result<int> in_slurm(const Generated& made) {
    // Where the nodes see it, as they see this folder.
    std::error_code error;
    Scratch scratch(fs::current_path(error));
    if (const auto written = write_generated(made, scratch.path() / "jobs", false); !written)
      return std::unexpected(written.error());
    m_session.console.say(
        fmt::format("submitted from {}; the end of the last job is waited for", (scratch.path() / "jobs").string()));
    const auto log = scratch.path() / "submit.log";
    const auto submitted = scratch.path() / "jobs" / "logs" / "submitted";
    const auto code = run_logged({(scratch.path() / "jobs" / "submit.sh").string(), "--wait"}, log, false);
    if (!code) {
      // Their folder goes, and who stopped a build wants none.
      std::vector<std::string> cancelling{"scancel"};
      for (auto& id : words_of(said_in(submitted))) cancelling.push_back(id.substr(0, id.find(';')));
      if (cancelling.size() > 1) (void)m_session.runner->run(command(cancelling));
      return code;
    }
    if (words_of(said_in(submitted)).size() < 2)
      return std::unexpected(failed("Slurm did not take the jobs", said_in(log)).error());
    const auto document = said_in(scratch.path() / "jobs" / "build.json");
    if (document.empty()) {
      scratch.keep();
      const auto logs = scratch.path() / "jobs" / "logs";
      std::string said;
      for (const auto& entry : fs::directory_iterator(logs, error))
        if (entry.path().filename().string().starts_with("finish-")) said += said_in(entry.path());
      const bool began = !said.empty();
      const auto* const what =
          began ? "the last job ended without a result" : "Slurm did not come to the last job's end";
      return std::unexpected(
          failed(fmt::format("{} (logs in {})", what, logs.string()), began ? said : said_in(log)).error());
    }
    for (const auto& entry : fs::directory_iterator(scratch.path() / "jobs" / "dist", error)) {
      if (entry.path().extension() != ".whl") continue;
      const auto target = fs::path(m_build.output) / entry.path().filename();
      if (fs::exists(target) && file_text(target) != file_text(entry.path())) {
        scratch.keep();
        return fail(ErrorKind::failed, "PKG001",
                    fmt::format("{} is another wheel of that name, and stays; the new one is {}", target.string(),
                                entry.path().string()),
                    "move one of them");
      }
      fs::copy_file(entry.path(), target, fs::copy_options::overwrite_existing, error);
      if (error)
        return fail(ErrorKind::usage, "FIL002",
                    fmt::format("{} cannot be written: {}", target.string(), error.message()));
    }
    return show(document, "dist/", *code);
  }

 private:
  Command command(std::vector<std::string> words) const {
    Command command;
    command.argv = std::move(words);
    command.environment = m_session.settings.engine_environment;
    command.environment["SAGEKIT"] = m_session.settings.executable.string();
    if (m_build.engine == "docker") command.environment["DOCKER_BUILDKIT"] = "1";
    return command;
  }

  static std::unexpected<Error> failed(const std::string& what, const std::string& output) {
    const auto lines = last_lines(output);
    if (lines.empty()) return fail(ErrorKind::machine, "GEN011", what, "it said nothing; -v shows what was started");
    return fail(ErrorKind::machine, "GEN011", fmt::format("{}:\n{}", what, lines),
                "the lines above are its own; -v shows all of them, and sagekit explain - reads them");
  }

  /// Its output goes to a file and, line by line, to people; a build's document is kept apart.
  Result<int> run_logged(const std::vector<std::string>& words, const fs::path& log, bool is_build) {
    auto started = command(words);
    started.output_file = log;
    const LogFollower follower(m_session.console, log, is_build || m_session.global.verbose > 0);
    auto result = m_session.runner->run(started, m_stop);
    if (!result) return std::unexpected(result.error());
    if (is_build) m_json = build_document(said_in(log));
    return result->exit_code;
  }

  std::vector<std::string> run_words(const std::string& image, const std::string& container) {
    std::error_code error;
    const auto absolute = [&](const std::string& path) {
      return fs::absolute(path, error).lexically_normal().string();
    };
    const auto store = m_session.store(m_build.selection.tools.store);
    std::vector<std::string> mounts{"-v", absolute(m_build.output) + ":/out"};
    if (store) {
      fs::create_directories(*store, error);
      mounts.insert(mounts.end(), {"-v", store->string() + ":/cache"});
    }
    const bool folder = !m_build.source.empty() && m_build.source.find("://") == std::string::npos;
    if (folder) mounts.insert(mounts.end(), {"-v", absolute(m_build.source) + ":/source:ro"});
    const auto user = fmt::format("{}:{}", ::getuid(), ::getgid());
    auto words = m_build.build_words;
    words.emplace_back("--json");
    if (!m_build.source.empty()) words.insert(words.end(), {"--source", folder ? "/source" : m_build.source});

    std::vector<std::string> argv;
    if (m_build.engine == "buildah") {
      // It runs no entrypoint: the image's own words are given.
      (void)m_session.runner->run(command({"buildah", "from", "--name", container, image}));
      argv = {"buildah", "run", "--user", user};
      argv.insert(argv.end(), mounts.begin(), mounts.end());
      argv.insert(argv.end(), {container, "--"});
      argv.insert(argv.end(), m_entry.begin(), m_entry.end());
    } else {
      argv = {m_build.engine, "run", "--rm", "--user", user};
      argv.insert(argv.end(), mounts.begin(), mounts.end());
      argv.push_back(image);
    }
    argv.insert(argv.end(), m_selection.begin(), m_selection.end());
    argv.insert(argv.end(), words.begin(), words.end());
    return argv;
  }

  /// The document with paths as a build here has them. A daemon of another machine mounts that one's folders, and its
  /// wheels lie there: that is no success here.
  Result<int> show(std::string document, const std::string& there, int code) {
    const auto here = (fs::path(m_build.output) / "").generic_string();
    const std::string from = "\"path\": \"" + there;
    std::string paths;
    for (auto at = document.find(from); at != std::string::npos; at = document.find(from, at + 1)) {
      const auto end = document.find('"', at + from.size());
      const auto path = here + document.substr(at + from.size(), end - at - from.size());
      if (std::error_code error; !fs::exists(path, error))
        return fail(
            ErrorKind::machine, "GEN011",
            fmt::format("{} made {}, and it is not here: its folders are another machine's", m_build.engine, path),
            "DOCKER_HOST, CONTAINER_HOST and docker's context say which is asked: leave them out, or build on that "
            "one");
      paths += path + "\n";
      document.replace(at + 8, end + 1 - at - 8, json_string(path));
    }
    if (m_session.global.json)
      m_session.console.document(document);
    else
      m_session.console.result(paths);
    return code;
  }

  Session& m_session;
  const EngineBuild& m_build;
  std::stop_token m_stop;
  std::string m_json;

 public:
  std::vector<std::string> m_entry, m_selection;
};

}  // namespace

Result<int> build_in(Session& session, const EngineBuild& build, std::stop_token stop) {
  if (const auto there = source_is_there(build.source); !there) return std::unexpected(there.error());
  const OutputFolder output(build.output);
  // Let go at once: the build in there wants the lock itself.
  if (const auto lock = OutputLock::acquire(build.output, session.console, stop); !lock)
    return std::unexpected(lock.error());
  Engine engine(session, build, std::move(stop));
  if (const auto there = engine.look(); !there) return std::unexpected(there.error());
  auto arguments = build.generate;
  if (build.engine == "slurm") {
    std::error_code error;
    // The jobs run in a folder of their own, which goes with them: what is relative would be meant from there.
    const auto& shared = arguments.options.store;
    const auto store = session.store(shared.empty() ? build.selection.tools.store : shared);
    if (store) arguments.options.store = store->string();
    if (!build.source.empty())
      arguments.options.source =
          build.source.find("://") == std::string::npos ? fs::absolute(build.source, error).string() : build.source;
    arguments.options.json_output = true;
    const auto made = generate_files(session, "slurm", build.selection, arguments);
    if (!made) return std::unexpected(made.error());
    return engine.in_slurm(*made);
  }
  arguments.options.source.clear();
  const auto made = generate_files(session, "dockerfile", build.selection, arguments);
  if (!made) return std::unexpected(made.error());
  const auto words = container_words(*made);
  if (!words) return std::unexpected(words.error());
  engine.m_entry = words->entrypoint;
  engine.m_selection = words->selection;
  return engine.in_container(*made);
}

}  // namespace sagekit::host
