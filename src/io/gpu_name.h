/* Names of hardware, compared as people write them. */
#ifndef VC_GPU_NAME_H
#define VC_GPU_NAME_H

#include <stdbool.h>

/* Without case, blanks and punctuation: "A100-80GB" is "a100 80gb". */
bool vc_names_equal(const char *a, const char *b);

/* Past words that only say whose product it is: "NVIDIA GeForce RTX 3090" gives "RTX 3090". */
const char *vc_name_without_maker(const char *name);

#endif
