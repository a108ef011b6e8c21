/*
 * Models on a hub: "hf:ORG/NAME[@REVISION][:FILE]". What is needed of them (config.json, indexes,
 * the headers of weight files) is put into a folder under $XDG_CACHE_HOME, which is then read like
 * any other. HF_ENDPOINT names another hub, HF_TOKEN opens what is gated.
 */
#ifndef VC_HUB_H
#define VC_HUB_H

#include "errors.h"

/* Whether a SPEC names a model on a hub. */
bool vc_hub_is_name(const char *name);

/*
 * The folder or the file that holds the model, owned. Nothing is fetched when the revision is in
 * the cache already, nor when `offline`. NULL after adding an error.
 */
char *vc_hub_fetch(const char *name, bool offline, struct vc_error_list *errors);

#endif
