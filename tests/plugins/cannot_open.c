/* PLG002: needs a function that no library has. */
#include "descriptor.h"

void function_that_nobody_defines(const sagekit_artifact* artifact, const sagekit_report* report);
DESCRIPTOR(SAGEKIT_PLUGIN_ABI, VALID_SPEC("cannot-open"), function_that_nobody_defines);
