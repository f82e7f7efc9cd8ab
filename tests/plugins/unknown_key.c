/* PLG006: a key in line 7 that is nearly right. */
#include "descriptor.h"

DESCRIPTOR(SAGEKIT_PLUGIN_ABI, SPEC_HEAD("unknown-key") "licence = \"Apache-2.0\"\n" SPEC_TAIL, NULL);
