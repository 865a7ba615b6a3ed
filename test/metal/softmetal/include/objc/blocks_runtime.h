// GNUstep's Foundation includes this file if blocks are enabled.
#include <Block.h>
