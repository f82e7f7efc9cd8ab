/* Builds one small plugin for the tests; each .c and .cpp here says how its plugin is wrong. */
#ifndef SAGEKIT_TEST_DESCRIPTOR_H
#define SAGEKIT_TEST_DESCRIPTOR_H

#include <sagekit/plugin/abi.h>

#define EXPORTED __attribute__((visibility("default")))

/* The least spec that is valid, for a plugin of that name. */
#define SPEC_HEAD(name)                       \
  "schema = 1\n"                              \
  "[plugin]\n"                                \
  "name = \"" name                            \
  "\"\n"                                      \
  "version = \"1.0.0\"\n"                     \
  "description = \"a plugin of the tests\"\n" \
  "license = \"Apache-2.0\"\n"
#define SPEC_TAIL                                            \
  "[source]\n"                                               \
  "url = \"https://example.invalid/tests\"\n"                \
  "subdir = \"\"\n"                                          \
  "default = \"1111111111111111111111111111111111111111\"\n" \
  "[[source.revision]]\n"                                    \
  "commit = \"1111111111111111111111111111111111111111\"\n"  \
  "tree = \"2222222222222222222222222222222222222222\"\n"    \
  "date = \"2026-01-01T00:00:00Z\"\n"                        \
  "version = \"1.0.0\"\n"                                    \
  "source = \"made up\"\n"                                   \
  "[[arch]]\n"                                               \
  "capability = \"9.0\"\n"                                   \
  "gencode = [\"9.0\"]\n"                                    \
  "cuda = \">=12.0\"\n"                                      \
  "source = \"made up\"\n"                                   \
  "[[kernel]]\n"                                             \
  "module = \"tiny._kernels\"\n"                             \
  "capabilities = [\"9.0\"]\n"                               \
  "sources = [\"kernels.cu\"]\n"                             \
  "python_free = true\n"                                     \
  "torch_free = true\n"                                      \
  "plain_module = true\n"                                    \
  "source = \"made up\"\n"                                   \
  "[[matrix.include]]\n"                                     \
  "torch = []\n"                                             \
  "cuda = [\"13.0\"]\n"                                      \
  "python = [\"3.12\"]\n"                                    \
  "platform = [\"linux_x86_64\"]\n"                          \
  "source = \"made up\"\n"                                   \
  "[[profile]]\n"                                            \
  "name = \"default\"\n"                                     \
  "description = \"one cell\"\n"                             \
  "cells = [\"*\"]\n"                                        \
  "[metadata]\n"                                             \
  "name = \"tiny\"\n"                                        \
  "summary = \"a package of the tests\"\n"                   \
  "license = \"Apache-2.0\"\n"                               \
  "requires_python = \">=3.9\"\n"
#define VALID_SPEC(name) SPEC_HEAD(name) SPEC_TAIL

/* DESCRIPTOR(SAGEKIT_PLUGIN_ABI, VALID_SPEC("x"), NULL); once, at file scope. */
#define DESCRIPTOR(abi_number, text, judge)                                                                \
  static const char spec_text[] = text;                                                                    \
  extern EXPORTED const sagekit_descriptor sagekit_plugin;                                                 \
  const sagekit_descriptor sagekit_plugin = {abi_number,           sizeof(sagekit_descriptor),  spec_text, \
                                             sizeof spec_text - 1, "tests/plugins/plugin.toml", judge}

#endif
