#include "compile/kernel_interface.hpp"

#include "support/text.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

// As cicc 13.0 writes them for: a templated kernel with a structure, a kernel of an unnamed namespace, a constant
// array.
const std::string k_ptx_text = R"(.version 9.0
.target sm_90a
.address_size 64
.const .align 4 .b8 table[16];
.visible .entry _Z1kIfEvPT_3Bigsi(
	.param .u64 .ptr .align 1 _Z1kIfEvPT_3Bigsi_param_0,
	.param .align 8 .b8 _Z1kIfEvPT_3Bigsi_param_1[160],
	.param .u16 _Z1kIfEvPT_3Bigsi_param_2,
	.param .u32 _Z1kIfEvPT_3Bigsi_param_3
)
.maxntid 128, 1, 1
{
	.reg .b32 	%r<7>;
	ret;

}
.weak .entry plain()
{
	ret;
}
)";

const std::string k_stub_source =
    "static void __device_stub__Z1kIfEvPT_3Bigsi(float *, struct Big&, short, int);\n"
    "static void __device_stub__Z1kIfEvPT_3Bigsi(float *__restrict__ __par0, struct Big&__par1, short __par2, int "
    "__par3)"
    "{ float *__T1;\n__cudaLaunchPrologue(4);__T1 = __par0;__cudaSetupArgSimple(__T1, 0UL);__cudaSetupArg(__par1, "
    "8UL);__cudaSetupArgSimple(__par2, "
    "168UL);__cudaSetupArgSimple(__par3, 172UL);__cudaLaunch(((char *)((void ( *)(float *, struct Big, short, "
    "int))k<float> )), 0U);}\n"
    "void __device_stub__plain(void){__cudaLaunchPrologue(0);__cudaLaunch(((char *)((void ( *)(void))plain)), 0U);}\n"
    "static void __nv_cudaEntityRegisterCallback( void **__T0) { __cudaRegisterEntry(__T0, ((void ( *)(void))plain), "
    "plain, "
    "(-1)); __cudaRegisterEntry(__T0, ((void ( *)(float *, struct Big, short, int))k<float> ), _Z1kIfEvPT_3Bigsi, "
    "(-1)); "
    "__cudaRegisterVariable(__T0, __shadow_var(table,::table), 0, 16UL, 1, 0); }\n";

KernelInterface interface_of(const std::string& ptx) {
  const auto read = read_interface(ptx);
  REQUIRE(read);
  return *read;
}

Registered registered_of(const std::string& stub) {
  const auto read = read_registered(stub);
  REQUIRE(read);
  return *read;
}

}  // namespace

TEST_CASE("PTX tells kernels with the sizes of their parameters, and variables") {
  const auto read = interface_of(k_ptx_text);
  REQUIRE(read.entries.size() == 2);
  CHECK(read.entries[0].name == "_Z1kIfEvPT_3Bigsi");
  CHECK(read.entries[0].parameter_bytes == std::vector<std::uint64_t>{8, 160, 2, 4});
  CHECK(read.entries[1].name == "plain");
  CHECK(read.entries[1].parameter_bytes.empty());
  CHECK(read.variables == std::vector<std::string>{"table"});
  CHECK(parse_interface(interface_text(read)) == read);
  CHECK_FALSE(parse_interface("something else\n"));
  CHECK_FALSE(parse_interface(interface_text(read) + "entry a -1\n"));
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"_param_1[160]", "_param_1[x]"},
                                 {".param .u16", ".param .q16"},
                                 {".param .u32 _Z", "u32 _Z"},
                                 {"\n)\n.maxntid", "\n"}}) {
    CAPTURE(from);
    CHECK_FALSE(read_interface(replace_all(k_ptx_text, from, to)));
  }
}

TEST_CASE("a stub goes with GPU code of the same kernels that has its variables") {
  const auto kernels = interface_of(k_ptx_text);
  const auto stub = registered_of(k_stub_source);
  CHECK(stub.entries == std::vector<std::string>{"_Z1kIfEvPT_3Bigsi", "plain"});
  CHECK(stub.variables == std::vector<std::string>{"table"});
  CHECK(stub_differs(stub, kernels).empty());
  CHECK(stub_differs(stub, interface_of(replace_all(k_ptx_text, "entry plain", "entry other"))).find("same kernels") !=
        std::string::npos);
  CHECK(stub_differs(stub, interface_of(replace_all(k_ptx_text, "table", "tablet"))).find("table") !=
        std::string::npos);
  CHECK(stub_differs(registered_of(""), kernels).find("same kernels") != std::string::npos);
  CHECK_FALSE(read_registered("__cudaRegisterEntry(__T0"));
  CHECK_FALSE(read_registered("__cudaRegisterEntry(__T0;"));
  const auto bounded = read_registered("__cudaRegisterEntry(__T0, ((void ( *)(int, float))k), _Z1kif, (384)); ");
  REQUIRE(bounded);
  CHECK(bounded->entries == std::vector<std::string>{"_Z1kif"});
}

TEST_CASE("each launch asserts the sizes that the GPU code was made with") {
  const auto kernels = interface_of(k_ptx_text);
  const auto text = with_size_assertions(k_stub_source, kernels);
  REQUIRE(text);
  for (const std::string assertion :
       {"sizeof(__par0)==8,", "sizeof(__par1)==160,", "sizeof(__par2)==2,", "sizeof(__par3)==4,"})
    CHECK(text->find(assertion) != std::string::npos);
  CHECK(text->find("__cudaLaunchPrologue(4);static_assert(") != std::string::npos);
  auto without = *text;
  for (auto at = without.find("static_assert("); at != std::string::npos; at = without.find("static_assert("))
    without.erase(at, without.find(";", at) + 1 - at);
  CHECK(without == k_stub_source);

  CHECK_FALSE(with_size_assertions(replace_all(k_stub_source, "Prologue(4)", "Prologue(3)"), kernels));
  CHECK_FALSE(with_size_assertions(replace_all(k_stub_source, "__device_stub__plain(void){", "other(void){"), kernels));
  CHECK_FALSE(with_size_assertions("", kernels));
}

TEST_CASE("of a kernel without parameters the stub says that it has one, and nothing is asserted") {
  const KernelInterface kernels{{{"_Z5clearv", {}}}, {}};
  const std::string stub =
      "void __device_stub__Z5clearv(void){__cudaLaunchPrologue(1);__cudaLaunch(((char *)clear), 0U);}";
  CHECK(with_size_assertions(stub, kernels) == stub);
  CHECK_FALSE(with_size_assertions(replace_all(stub, "Prologue(1)", "Prologue(2)"), kernels));
}
