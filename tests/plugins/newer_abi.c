/* PLG004: built for an ABI of the future, where nothing but the first two fields is known. */
#include "descriptor.h"

extern EXPORTED const uint32_t sagekit_plugin[2];
const uint32_t sagekit_plugin[2] = {SAGEKIT_PLUGIN_ABI + 1, 8};
