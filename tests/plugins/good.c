/* Nothing is wrong with this one. */
#include "descriptor.h"

DESCRIPTOR(SAGEKIT_PLUGIN_ABI, VALID_SPEC("good"), NULL);
