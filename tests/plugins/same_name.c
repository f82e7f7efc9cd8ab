/* PLG008: has the name of good.c's plugin. */
#include "descriptor.h"

DESCRIPTOR(SAGEKIT_PLUGIN_ABI, VALID_SPEC("good"), NULL);
