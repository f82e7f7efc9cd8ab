// Its rule throws through the boundary, which no rule may.
#include "descriptor.h"

extern "C" {
static void judge(const sagekit_artifact*, const sagekit_report*) { throw 1; }
DESCRIPTOR(SAGEKIT_PLUGIN_ABI, VALID_SPEC("throwing-raw"), judge);
}
