/* PLG006: no TOML at all, from line 2 on. */
#include "descriptor.h"

DESCRIPTOR(SAGEKIT_PLUGIN_ABI, "schema = 1\n[plugin\nname = \"bad-toml\"\n", NULL);
