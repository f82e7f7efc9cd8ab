/* PLG005: the ABI is right, the object ends after its first two fields. */
#include "descriptor.h"

extern EXPORTED const uint32_t sagekit_plugin[2];
const uint32_t sagekit_plugin[2] = {SAGEKIT_PLUGIN_ABI, 8};
