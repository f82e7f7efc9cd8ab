#pragma once
// Every table and key of plugin.toml, once. `describe(visitor, row)` names the keys of a row beside the members they
// fill; the parser reads through it, the JSON Schema is written through it, so the two cannot drift apart. A visitor is
// called as visitor(Key, member) and, for keys in other units, visitor.mib(), visitor.mib_pair() and
// visitor.dimensions().

#include "spec/spec_schema_forms.hpp"

#include <sagekit/spec.hpp>

#include <string_view>

namespace sagekit {

enum class Need {
  optional,  ///< absent and empty mean the default
  present,   ///< must be there, may be empty
  required,  ///< must be there and not be empty
};

struct Key {
  std::string_view name;
  std::string_view about;
  Need need = Need::optional;
  Form form = Form::line;  ///< of the string or of each string of the list
};

/// Tables whose members live in Spec itself.
struct PluginTable {
  Spec& spec;
};
struct NamingTable {
  Spec& spec;
};

inline constexpr std::string_view k_source_about = "where this is known from";

template <class V>
void describe(V& v, When& w) {
  v({"features", "the revision has all of these", Need::optional, Form::word}, w.features);
  v({"not_features", "the revision has none of these", Need::optional, Form::word}, w.not_features);
  v({"backends", "only for these build backends", Need::optional, Form::backend}, w.backends);
  v({"torch", "only for these torch versions"}, w.torch);
  v({"cuda", "only for these CUDA versions"}, w.cuda);
}

template <class V>
void describe(V& v, Cost& c) {
  v({"cpu_seconds", "CPU time"}, c.cpu_seconds);
  v.mib({"memory_mib", "peak memory in MiB"}, c.memory_bytes);
  v.mib({"device_memory_mib",
         "the same of GPU code that is made by itself, where that is not a third of it with `device_shim`"},
        c.device_memory_bytes);
}

template <class V>
void describe(V& v, PluginTable& p) {
  v({"name", "first part of every cell id", Need::required, Form::name}, p.spec.name);
  v({"version", "of the plugin itself", Need::required, Form::release}, p.spec.version);
  v({"description", "one line for people"}, p.spec.description);
  v({"license", "SPDX expression of the plugin"}, p.spec.license);
}

template <class V>
void describe(V& v, Revision& r) {
  v({"commit", "the commit's id", Need::required, Form::commit}, r.commit);
  v({"tree", "git tree id of the commit: checks any copy of it", Need::optional, Form::commit}, r.tree);
  v({"date", "commit time in UTC; SOURCE_DATE_EPOCH", Need::required, Form::date}, r.date);
  v({"version", "what the source calls itself", Need::required, Form::release}, r.version);
  v({"names", "tags and branches that mean it"}, r.names);
  v({"features", "what `when` can ask for", Need::optional, Form::word}, r.features);
  v({"defects", "ids of source.defect", Need::optional, Form::word}, r.defects);
  v({"source", k_source_about}, r.source);
}

template <class V>
void describe(V& v, Defect& d) {
  v({"id", "its name, for --allow-defect", Need::required, Form::word}, d.id);
  v({"message", "what goes wrong for the user of the wheel", Need::required}, d.message);
  v({"capabilities", "whom it hurts; empty = every GPU"}, d.capabilities);
  v({"refuse", "plan refuses these capabilities unless allowed or edited"}, d.refuse);
  v({"edit", "id of the source.edit that mends it", Need::optional, Form::word}, d.edit);
  v({"duplicate_def_file", "Python file that proves it by two top-level defs of one name", Need::optional, Form::path},
    d.duplicate_def_file);
  v({"source", k_source_about}, d.source);
}

template <class V>
void describe(V& t, Vendored& v) {
  t({"name", "its name", Need::required, Form::word}, v.name);
  t({"path", "folder below the source root", Need::required, Form::path}, v.path);
  t({"url", "git repository", Need::required, Form::url}, v.url);
  t({"commit", "the pin", Need::required, Form::commit}, v.commit);
  t({"tree", "git tree id of the commit", Need::optional, Form::commit}, v.tree);
  t({"include", "globs of what is needed; empty = all", Need::optional, Form::glob}, v.include);
  t({"license", "SPDX expression; its files are named in metadata.license_files"}, v.license);
  t({"source", k_source_about}, v.source);
}

template <class V>
void describe(V& v, SourceEdit& e) {
  v({"id", "its name", Need::required, Form::word}, e.id);
  v({"file", "below the source root", Need::required, Form::path}, e.file);
  v({"find", "exact text", Need::required, Form::text}, e.find);
  v({"replace", "text in its place; may be empty", Need::present, Form::text}, e.replace);
  v({"count", "how often the text must be there"}, e.count);
  v({"when", "when it applies"}, e.when);
  v({"reason", "why", Need::required}, e.reason);
  v({"source", k_source_about}, e.source);
}

template <class V>
void describe(V& v, SourceFingerprint& f) {
  v({"file", "in the wheel", Need::required, Form::path}, f.file);
  v({"text", "exact text", Need::required, Form::text}, f.text);
  v({"count", "how often the text is in it, no more and no less"}, f.count);
  v({"when", "revisions that have it"}, f.when);
  v({"source", k_source_about}, f.source);
}

template <class V>
void describe(V& v, SourceSpec& s) {
  v({"url", "git repository", Need::required, Form::url}, s.url);
  v({"subdir", "where the package's build starts; empty = the root", Need::optional, Form::path}, s.subdir);
  v({"default", "commit of the source.revision used unless told otherwise", Need::required, Form::commit},
    s.default_commit);
  v({"include", "globs of what a build needs of it, below its root; empty = all", Need::optional, Form::glob},
    s.include);
  v({"revision", "a source state that is known", Need::required}, s.revisions);
  v({"defect", "a known fault of revisions"}, s.defects);
  v({"vendored", "a tree the build expects inside the source"}, s.vendored);
  v({"edit", "an exact text replacement in a copy of the source"}, s.edits);
  v({"fingerprint", "what a file looks like in some revisions, to recognise wheels by"}, s.fingerprints);
}

template <class V>
void describe(V& v, ArchSpec& a) {
  v({"capability", "compute capability", Need::required}, a.capability);
  v({"gencode", "code made for it: \"9.0a\", \"8.0>9.0\", \"8.0+PTX\""}, a.gencode);
  v({"cuda", "nvcc versions that can"}, a.cuda);
  v({"when", "revisions that can"}, a.when);
  v({"on_request", "only when asked for by --arch"}, a.on_request);
  v({"ptx_allowed", "+PTX may be asked for"}, a.ptx_allowed);
  v({"warning", "shown when it is built"}, a.warning);
  v({"excluded", "the reason it is never built, in place of gencode"}, a.excluded);
  v({"source", k_source_about}, a.source);
}

template <class V>
void describe(V& v, StandardRule& s) {
  v({"standard", "language standard", Need::required, Form::standard}, s.standard);
  v({"torch", "for these torch versions; empty = all"}, s.torch);
}

template <class V>
void describe(V& v, Shim& s) {
  v({"name", "rows of one name make one include folder", Need::required, Form::word}, s.name);
  v({"file", "header it stands for", Need::required, Form::path}, s.file);
  v({"text", "content of the header", Need::required, Form::text}, s.text);
}

template <class V>
void describe(V& v, BuildSpec& b) {
  v({"cxx_flags", "flags of the host compiler"}, b.cxx_flags);
  v({"nvcc_flags", "flags of nvcc"}, b.nvcc_flags);
  v({"link_flags", "flags of the link"}, b.link_flags);
  v({"include_dirs", "folders below the subdir", Need::optional, Form::path}, b.include_dirs);
  v({"torch_libraries", "torch libraries every module links"}, b.torch_libraries);
  v({"standards", "first row whose torch range holds"}, b.standards);
  v({"shim", "a lean header put before torch's own"}, b.shims);
  v({"shim_fallback", "retry with torch's own header when a shimmed source does not compile"}, b.shim_fallback);
  v({"setup_py_environment", "NAME=VALUE for --backend setup-py; {arch_list} is replaced", Need::optional,
     Form::assignment},
    b.setup_py_environment);
  v({"link_cost", "cost of one link"}, b.link_cost);
  v({"glibc_floor", "no module for linux needs a newer glibc; empty = not judged", Need::optional, Form::number},
    b.glibc_floor);
}

template <class V>
void describe(V& v, KernelSpec& k) {
  v({"module", "dotted Python name of the extension", Need::required, Form::module}, k.module);
  v({"capabilities", "compiled for these of the cell's arches", Need::required}, k.capabilities);
  v({"sources", "CUDA sources below the subdir", Need::optional, Form::path}, k.sources);
  v({"bindings", "C++ sources below the subdir that need Python", Need::optional, Form::path}, k.bindings);
  v({"nvcc_flags", "besides [build]'s"}, k.nvcc_flags);
  v({"cxx_flags", "besides [build]'s"}, k.cxx_flags);
  v({"libraries", "linked libraries: \"cuda\" = -lcuda"}, k.libraries);
  v({"torch_libraries", "in place of [build].torch_libraries"}, k.torch_libraries);
  v({"python_free", "sources see no Python header: one object serves every Python"}, k.python_free);
  v({"torch_free", "needs no torch at all"}, k.torch_free);
  v({"plain_module", "a shared library for ctypes, named MODULE.so"}, k.plain_module);
  v({"ptx", "+PTX is meant for this module too"}, k.ptx);
  v({"source_shim", "build.shim for the sources; empty = torch's own headers", Need::optional, Form::word},
    k.source_shim);
  v({"binding_shim", "build.shim for the bindings", Need::optional, Form::word}, k.binding_shim);
  v({"device_shim", "build.shim where GPU code alone is made: no torch header then", Need::optional, Form::word},
    k.device_shim);
  v({"split_compile", "ptxas's --split-compile was seen to make the same machine code of the sources"}, k.split_compile);
  v({"source_cost", "one source for one arch"}, k.source_cost);
  v({"binding_cost", "one binding"}, k.binding_cost);
  v({"when", "when it is built"}, k.when);
  v({"source", k_source_about}, k.source);
}

template <class V>
void describe(V& v, DispatchSpec& d) {
  v({"capability", "the device", Need::required}, d.capability);
  v({"modules", "extension modules called there; empty = none", Need::optional, Form::module}, d.modules);
  v({"path", "the algorithm, in words"}, d.path);
  v({"refused", "why the package refuses this device"}, d.refused);
  v({"when", "when this row applies"}, d.when);
  v({"source", k_source_about}, d.source);
}

template <class V>
void describe(V& v, PackageFiles& p) {
  v({"from", "folder below the subdir; empty = the subdir", Need::optional, Form::path}, p.from);
  v({"to", "folder in the wheel; empty = its root", Need::optional, Form::path}, p.to);
  v({"include", "globs below from; ** crosses folders", Need::required, Form::glob}, p.include);
  v({"exclude", "globs below from that stay out", Need::optional, Form::glob}, p.exclude);
}

template <class V>
void describe(V& v, MatrixRow& m) {
  v({"torch", "torch versions; empty = the variant needs no torch", Need::present, Form::torch_word}, m.torch);
  v({"cuda", "CUDA versions", Need::required, Form::number}, m.cuda);
  v({"python", "Python versions", Need::required, Form::python_word}, m.python);
  v({"platform", "wheel platforms", Need::required, Form::platform}, m.platform);
  v({"source", k_source_about}, m.source);
}

template <class V>
void describe(V& v, MatrixExclude& m) {
  v({"torch", "torch versions; empty = any", Need::optional, Form::torch_word}, m.torch);
  v({"cuda", "CUDA versions; empty = any", Need::optional, Form::number}, m.cuda);
  v({"python", "Python versions; empty = any", Need::optional, Form::python_word}, m.python);
  v({"platform", "wheel platforms; empty = any", Need::optional, Form::platform}, m.platform);
  v({"reason", "why these cells are not made", Need::required}, m.reason);
  v({"source", k_source_about}, m.source);
}

template <class V>
void describe(V& v, MatrixSpec& m) {
  v({"include", "a product of the four axes", Need::required}, m.include);
  v({"exclude", "cells that are not made"}, m.exclude);
  v({"stable_headers", "torch whose headers cells of torch's stable interface are compiled with", Need::optional,
     Form::number},
    m.stable_headers);
}

template <class V>
void describe(V& v, Profile& p) {
  v({"name", "for --profile", Need::required, Form::word}, p.name);
  v({"description", "one line for people"}, p.description);
  v({"cells", "globs over cell ids without their platform; ! excludes", Need::required}, p.cells);
  v({"platforms", "wheel platforms; empty = linux_x86_64", Need::optional, Form::platform}, p.platforms);
  v({"revision", "commit or name; empty = the default"}, p.revision);
  v({"arches", "arch list; empty = all the nvcc can", Need::optional, Form::arch_list}, p.arches);
}

template <class V>
void describe(V& v, NamingScheme& n) {
  v({"name", "for --naming", Need::required, Form::word}, n.name);
  v({"version", "template of the whole version", Need::required, Form::naming}, n.version);
  v({"build", "template of the build tag; empty = none", Need::optional, Form::naming}, n.build);
}

template <class V>
void describe(V& v, NamingTable& n) {
  v({"default", "the scheme used unless told otherwise; empty = \"default\"", Need::optional, Form::word},
    n.spec.default_scheme);
  v({"scheme", "a scheme beside the built-in ones"}, n.spec.schemes);
}

template <class V>
void describe(V& v, MetadataSpec& m) {
  v({"name", "distribution name", Need::required, Form::project}, m.name);
  v({"summary", "one line for people"}, m.summary);
  v({"license", "SPDX expression"}, m.license);
  v({"license_files", "below the source root", Need::optional, Form::path}, m.license_files);
  v({"readme", "long description, below the source root", Need::optional, Form::path}, m.readme);
  v({"requires_python", "Python versions", Need::optional, Form::range}, m.requires_python);
  v({"requires_dist", "templates of requirements", Need::optional, Form::naming}, m.requires_dist);
  v({"classifiers", "trove classifiers"}, m.classifiers);
  v({"urls", "\"Label, https://...\"", Need::optional, Form::labelled_url}, m.urls);
}

template <class V>
void describe(V& v, GpuAxis& a) {
  v({"name", "what arguments, shapes and dtypes call it", Need::required, Form::identifier}, a.name);
  v({"values", "Python literals, or words that stand for themselves", Need::required}, a.values);
}

template <class V>
void describe(V& v, GpuInput& i) {
  v({"name", "what arguments call it", Need::required, Form::identifier}, i.name);
  v({"shape", "sizes: numbers, and names of axes", Need::required, Form::word}, i.shape);
  v({"dtype", "as torch calls it, or the name of an axis", Need::required, Form::word}, i.dtype);
  v({"distribution", "of its values; empty = normal", Need::optional, Form::distribution}, i.distribution);
}

template <class V>
void describe(V& v, GpuTransposed& t) {
  v({"axis", "name of an axis", Need::required, Form::identifier}, t.axis);
  v({"value", "where it has this value, the call's tensors have the two dimensions exchanged", Need::required},
    t.value);
  v.dimensions({"dims", "the two, counted from 0", Need::required}, t.dims);
}

template <class V>
void describe(V& v, GpuCase& c) {
  v({"id", "its name, for messages", Need::required, Form::word}, c.id);
  v({"capabilities", "GPUs it is for; empty = all"}, c.capabilities);
  v({"call", "the function of the package", Need::required, Form::callable}, c.call);
  v({"arguments", "inputs, axes or Python literals; NAME= in front passes one by name", Need::required}, c.arguments);
  v({"reference", "the function whose result is right; it gets float32", Need::optional, Form::callable}, c.reference);
  v({"reference_arguments", "as arguments"}, c.reference_arguments);
  v({"axis", "values that every combination is made of"}, c.axes);
  v({"input", "a tensor", Need::required}, c.inputs);
  v({"transposed", "the value of an axis for which two dimensions are exchanged"}, c.transposed);
  v({"outputs", "inputs that hold the results; empty = what the call returns", Need::optional, Form::identifier},
    c.outputs);
  v({"may_change", "inputs that the call is known to write to", Need::optional, Form::identifier}, c.may_change);
  v({"cosine_min", "of a whole result with the reference's; 0 = not judged"}, c.cosine_min);
  v({"row_cosine_min", "of its worst row (last dimension); 0 = not judged"}, c.row_cosine_min);
  v({"relative_l1_max", "sum of differences by sum of the reference; 0 = not judged"}, c.relative_l1_max);
  v({"absolute_max", "largest difference; 0 = not judged"}, c.absolute_max);
  v({"repetitions", "runs on the same inputs, each with other bytes in the GPU's free memory"}, c.repetitions);
  v({"deterministic", "repetitions give the same bits"}, c.deterministic);
  v({"seconds", "time limit of one combination"}, c.seconds);
  v({"when", "revisions it is for"}, c.when);
  v({"source", k_source_about}, c.source);
}

template <class V>
void describe(V& v, RanReport& r) {
  v({"platform", "where it ran", Need::required, Form::platform}, r.platform);
  v({"commit", "the source.revision that the wheel was built from", Need::required, Form::commit}, r.commit);
  v({"gpu", "its name", Need::required}, r.gpu);
  v({"torch", "its version", Need::required}, r.torch);
  v({"source", "where the report is", Need::required}, r.source);
}

template <class V>
void describe(V& v, VerifySpec& s) {
  v.mib_pair({"size_mib", "[least, most] MiB of the wheel; least for one arch"}, s.size_min_bytes, s.size_max_bytes);
  v({"import_modules", "imported one by one, after torch", Need::optional, Form::module}, s.import_modules);
  v({"needed_allowed", "globs of shared libraries a module may need"}, s.needed_allowed);
  v({"glibc_max", "highest glibc symbol version; empty = not judged", Need::optional, Form::number}, s.glibc_max);
  v({"local_bytes_max", "bytes of local memory that a kernel's instructions may move; 0 = not judged"},
    s.local_bytes_max);
  v({"gpu", "a function that verify --gpu calls, and what must come out"}, s.gpu);
  v({"ran", "somebody ran its wheels on a platform where they are built without being run"}, s.ran);
}

template <class V>
void describe(V& v, Companion& c) {
  v({"name", "the other package", Need::required, Form::project}, c.name);
  v({"url", "git repository", Need::optional, Form::url}, c.url);
  v({"commit", "the pin", Need::optional, Form::commit}, c.commit);
  v({"needed", "when, in words", Need::required}, c.needed);
  v({"not_needed", "when not, in words"}, c.not_needed);
  v({"requires_dist", "the requirement under which it is not needed"}, c.requires_dist);
  v({"source", k_source_about}, c.source);
}

template <class V>
void describe(V& v, Advice& a) {
  v({"capabilities", "shown when one of these is selected; empty = always"}, a.capabilities);
  v({"text", "a sentence for people", Need::required, Form::text}, a.text);
  v({"source", k_source_about}, a.source);
}

/// The root, but for `schema`, which is read before anything else.
template <class V>
void describe(V& v, Spec& s) {
  PluginTable plugin{s};
  NamingTable naming{s};
  v({"plugin", "the plugin itself", Need::required}, plugin);
  v({"source", "where the source comes from", Need::required}, s.source);
  v({"arch", "an arch the variant can be built for, or may not be", Need::required}, s.arches);
  v({"build", "flags and headers of every compile"}, s.build);
  v({"kernel", "one extension module"}, s.kernels);
  v({"dispatch", "what the package does on a device"}, s.dispatch);
  v({"package_files", "files copied into the wheel"}, s.package_files);
  v({"matrix", "the cells", Need::required}, s.matrix);
  v({"profile", "a named selection of cells"}, s.profiles);
  v({"naming", "how wheels are named"}, naming);
  v({"metadata", "METADATA of the wheel", Need::required}, s.metadata);
  v({"verify", "what a finished wheel must be"}, s.verify);
  v({"companion", "another package needed beside the wheel"}, s.companions);
  v({"advice", "a sentence for people about a capability"}, s.advice);
}

}  // namespace sagekit
