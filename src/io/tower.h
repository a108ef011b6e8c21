/* What towers and models that hold one share: sides of images, patches, the sizes of a stack. */
#ifndef VC_TOWER_H
#define VC_TOWER_H

#include "block.h"

/* A key that is one number or a list of two, as image_size is: its index-th side. */
uint64_t config_side(struct config *config, const char *names, uint64_t fallback, int index);
/* How many patches an image has. */
uint64_t config_patches(struct config *config);
/* Elements that one patch has over all channels. */
uint64_t config_patch_size(struct config *config);

/* The feed-forward width: its own key, or mlp_ratio (a decimal) times the width, or `times`. */
uint64_t config_ffn(struct config *config, uint64_t width, uint64_t times);

/* Reads a sub-config by its own model_type, or as `fallback` where it has none or repeats the
 * whole's; returns the stack that it made. */
uint32_t config_part(struct config *config, const char *names, const char *fallback);
/* Likewise; a model_type that no row knows is read as `fallback` too, with known_family false. */
uint32_t config_tower(struct config *config, const char *names, const char *fallback);

#endif
