/* Its rule ends the process with a success. */
#include "descriptor.h"

#include <stdlib.h>

static void judge(const sagekit_artifact* artifact, const sagekit_report* report) {
  (void)artifact;
  (void)report;
  exit(0);
}
DESCRIPTOR(SAGEKIT_PLUGIN_ABI, VALID_SPEC("leaving"), judge);
