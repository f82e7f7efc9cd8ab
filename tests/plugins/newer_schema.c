/* PLG007: a spec of the future. */
#include "descriptor.h"

DESCRIPTOR(SAGEKIT_PLUGIN_ABI, "schema = 99\n[plugin]\nname = \"newer-schema\"\n", NULL);
