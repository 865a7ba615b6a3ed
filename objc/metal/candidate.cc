#include "../gpu/candidate.h"

#include "open.h"

namespace covarium::metal {

Candidate candidate() { return gpu::candidateBy(describe, "Metal"); }

}  // namespace covarium::metal
