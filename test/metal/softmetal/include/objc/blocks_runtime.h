// GNUstep's Foundation asks for this file where blocks are enabled.
#include <Block.h>
