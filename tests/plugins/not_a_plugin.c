/* PLG003: an ordinary library. */
#include "descriptor.h"

EXPORTED int sagekit_plugins(void);
int sagekit_plugins(void) { return 1; }
