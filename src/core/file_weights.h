/* When the bytes of a weight file hold for a request, and the core's view of them. */
#ifndef VC_FILE_WEIGHTS_H
#define VC_FILE_WEIGHTS_H

#include "ledger.h"

/* True when the weights are loaded as the file holds them: the request asks for no other
 * quantization, and for no other precision where loading would convert. */
bool file_weights_hold(const struct vc_model *model, enum vc_dtype precision,
                       const struct vc_quantization *quantization);

/* Says that a file was read, and where it and the shape differ. `counted` is the shape's count of
 * parameters, 0 where there is none. */
void file_weights_note(const struct vc_request *request, uint64_t counted,
                       struct vc_ledger *ledger);

#endif
