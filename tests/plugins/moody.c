/* Exports more than it should, keeps its descriptor writable, says something else each time, with a code that is none.
 */
#include "descriptor.h"

EXPORTED int calls;

static void judge(const sagekit_artifact* artifact, const sagekit_report* report) {
  (void)artifact;
  ++calls;
  report->add(report->context, calls % 3, (sagekit_str){"no code", 7}, (sagekit_str){"words", 5},
              (sagekit_str){NULL, 0});
  if (calls % 2 == 0)
    report->add(report->context, 0, (sagekit_str){"EVEN", 4}, (sagekit_str){"x", 1}, (sagekit_str){NULL, 0});
}
static const char spec_text[] = VALID_SPEC("moody");
extern EXPORTED sagekit_descriptor sagekit_plugin;
sagekit_descriptor sagekit_plugin = {SAGEKIT_PLUGIN_ABI,   sizeof(sagekit_descriptor),  spec_text,
                                     sizeof spec_text - 1, "tests/plugins/plugin.toml", judge};
