/* Its rule never ends. */
#include "descriptor.h"

#include <unistd.h>

static void judge(const sagekit_artifact* artifact, const sagekit_report* report) {
  (void)artifact;
  (void)report;
  for (;;) pause();
}
DESCRIPTOR(SAGEKIT_PLUGIN_ABI, VALID_SPEC("hanging"), judge);
