#include "arguments_wheels.hpp"

namespace sagekit::host {

void add_interpreters(CLI::App& verb, std::vector<std::string>& interpreters) {
  verb.add_option("--interpreter", interpreters, "Import check with this Python")
      ->type_name("PATH")
      ->allow_extra_args(false);
}

WheelVerbs::WheelVerbs(CLI::App& app) {
  add_verify(app);
  add_inspect(app);
  m_diff =
      add_verb(app, "diff", "What changed between two wheels",
               "  sagekit diff old/demo-1.0-cp312-cp312-linux_x86_64.whl new/demo-1.1-cp312-cp312-linux_x86_64.whl\n"
               "  sagekit diff --json old.whl new.whl");
  m_diff->add_option("first", m_diff_arguments.first, "The older one: a wheel, or a module")->required();
  m_diff->add_option("second", m_diff_arguments.second, "The newer one")->required();
}

void WheelVerbs::add_verify(CLI::App& app) {
  VerifyArguments& verify = m_verify_arguments;
  m_verify = add_verb(app, "verify", "Judge finished wheels, unpacked and installed packages, any maker's",
                      "  sagekit verify dist/*.whl\n"
                      "  sagekit verify --policy pypi --json dist/*.whl\n"
                      "  sagekit verify --policy wheels.toml --sarif findings.sarif dist/*.whl\n"
                      "  sagekit verify --installed sageattention --interpreter .venv/bin/python\n"
                      "  sagekit verify --explain ELF003");
  const auto list = [&](const char* flag, std::vector<std::string>& values, const char* what, const char* type) {
    return m_verify->add_option(flag, values, what)->type_name(type)->allow_extra_args(false);
  };
  m_verify->add_option("path", verify.paths,
                       "Wheels; folders of wheels; unpacked or installed packages; site-packages");
  m_verify
      ->add_option("--policy", verify.policy,
                   "own, others, pypi, or a policy file; without it own for what sagekit built, others else")
      ->type_name("NAME|FILE");
  list("--require", verify.require, "A check of this family that cannot be made fails: IMP, FAT, ...", "FAMILY")
      ->delimiter(',');
  add_interpreters(*m_verify, verify.interpreters);
  m_verify->add_flag("--gpu", verify.gpu, "Launch the package's own numeric cases on this machine's GPU");
  list("--package", verify.packages, "Of a folder with several packages only these", "NAME")->delimiter(',');
  list("--installed", verify.installed, "A package that --interpreter has installed", "NAME")->delimiter(',');
  m_verify->add_option("--sha256", verify.sha256_file, "Checksums to hold the wheels to, as sha256sum writes them")
      ->type_name("FILE");
  m_verify->add_option("--format", verify.format, "text, json, sarif, or github (annotations)")
      ->check(CLI::IsMember({"text", "json", "sarif", "github"}));
  m_verify->add_option("--sarif", verify.sarif_file, "Write SARIF 2.1.0 to this file too")->type_name("FILE");
  m_verify->add_flag("--all", verify.all, "List passes too");
  m_verify->add_option("--memory", m_memory, "Memory for members in flight; without it 2G")->type_name("SIZE");
  m_verify->add_option("--explain", verify.explain, "What a code means and how to mend it; a family lists its codes")
      ->type_name("CODE");
}

void WheelVerbs::add_inspect(CLI::App& app) {
  InspectArguments& inspect = m_inspect_arguments;
  m_inspect = add_verb(app, "inspect", "What is in a wheel, .so, .pyd, .dll, cubin or fatbin",
                       "  sagekit inspect dist/*.whl\n  sagekit inspect --kernels --json _fused.so");
  m_inspect->add_option("file", inspect.files, "Files")->required();
  m_inspect->add_flag("--kernels", inspect.kernels, "Read the kernels' names too");
  m_inspect->add_flag("--resources", inspect.resources, "And what each needs: registers, shared, local, stack memory");
  m_inspect->add_flag("--quick", inspect.quick,
                      "Of a module, read the known sections only: no SHA-256, no search for GPU code elsewhere");
  m_inspect->add_flag("--hashes", inspect.hashes,
                      "Hash every file of a wheel and compare with its RECORD, as verify does");
  m_inspect->add_option("--memory", m_memory, "Memory for what is inflated at a time; without it 2G")
      ->type_name("SIZE");
}

Result<bool> WheelVerbs::take(VerbArguments& verb) {
  if (!*m_verify && !*m_inspect && !*m_diff) return false;
  std::uint64_t memory = 0;
  if (!m_memory.empty()) {
    const auto bytes = parse_size(m_memory);
    if (!bytes) return std::unexpected(bytes.error());
    memory = *bytes;
  }
  if (*m_diff) {
    verb = m_diff_arguments;
  } else if (*m_inspect) {
    if (memory != 0) m_inspect_arguments.memory_bytes = memory;
    verb = m_inspect_arguments;
  } else {
    VerifyArguments& verify = m_verify_arguments;
    if (verify.paths.empty() && verify.installed.empty() && verify.explain.empty())
      return fail(ErrorKind::usage, "CLI001", "verify needs a wheel or a folder",
                  "sagekit verify dist/*.whl; see sagekit verify --help");
    if (!verify.installed.empty() && verify.interpreters.empty())
      return fail(ErrorKind::usage, "CLI001", "--installed needs to know which Python has the package",
                  "--interpreter .venv/bin/python");
    if (memory != 0) verify.memory_bytes = memory;
    verb = verify;
  }
  return true;
}

}  // namespace sagekit::host
