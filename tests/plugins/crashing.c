/* Its rule reads the first module without asking whether there is one. */
#include "descriptor.h"

static void judge(const sagekit_artifact* artifact, const sagekit_report* report) {
  const sagekit_module* first = artifact->modules_count > 0 ? artifact->modules : NULL;
  report->add(report->context, SAGEKIT_NOTE, (sagekit_str){"CRA001", 6}, ((const volatile sagekit_module*)first)->name,
              (sagekit_str){NULL, 0});
}
DESCRIPTOR(SAGEKIT_PLUGIN_ABI, VALID_SPEC("crashing"), judge);
