/* PLG005: a whole descriptor without a spec. */
#include "descriptor.h"

extern EXPORTED const sagekit_descriptor sagekit_plugin;
const sagekit_descriptor sagekit_plugin = {SAGEKIT_PLUGIN_ABI, sizeof(sagekit_descriptor), NULL, 0, NULL, NULL};
