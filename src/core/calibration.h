/* A ledger shifted by what the user's own runs showed. docs/verify.md#calibration */
#ifndef VC_CALIBRATION_H
#define VC_CALIBRATION_H

#include "vramcalc/vramcalc.h"

/* Does nothing without residuals for the request's engine; else changes lines, sums and range. */
void calibrate(const struct vc_request *request, struct vc_ledger *ledger);

#endif
