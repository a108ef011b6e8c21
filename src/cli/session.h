/* What every command that judges a spec needs: the catalog, the GPUs that are meant, the spec
 * itself. */
#ifndef VC_CLI_SESSION_H
#define VC_CLI_SESSION_H

#include "arguments.h"
#include "catalog.h"
#include "local_catalog.h"
#include "output.h"
#include "report.h"
#include "spec.h"

/* Zero-initialize but for `arguments`; session_close() is due at the end. */
struct session {
	const struct arguments *arguments;
	struct vc_catalog catalog;
	struct local_catalog
	        *local; /* --gpu local: this machine's GPUs are in the catalog; else NULL */
	struct open_catalog *opened; /* by currency, until the end: results keep their GPUs */
	struct own_runs *own_runs;   /* --calibration, once a spec was read; NULL: not given */
};

/* Each says on standard error what is wrong and returns false. */

/* Opens the catalog with prices in this currency, unless it is open so already. What an earlier one
 * had stays valid until session_close(). */
bool session_catalog(struct session *session, const char *currency);
/* --gpu, else with --all all, else the spec's, else those that are shown unasked. */
bool session_choose(const struct session *session, const struct vc_spec *spec,
                    struct gpu_list *list);
/* The one GPU that a question is about: --gpu or the spec's, which must name exactly one. */
const struct vc_gpu *session_one_gpu(const struct session *session, const struct vc_spec *spec);
/* Reads a spec with the command line's overrides; what is wrong with it goes to `errors`. */
bool session_read_spec(const struct session *session, const char *source, struct vc_spec *spec,
                       struct vc_error_list *errors);
/* The same, with the errors on standard error. */
bool session_read(const struct session *session, const char *source, struct vc_spec *spec);

/* Puts the method, the rule's options and --calibration into a request. */
void session_request(const struct session *session, struct vc_request *request);

/* Reports an error of the core, in the spec's name and at its field's place; returns false. */
bool session_refuse(const struct vc_spec *spec, struct vc_error *error);

void session_close(struct session *session);

/* A command about one spec: reads it, asks, and closes everything. Returns the exit status. */
typedef enum exit_status session_question(struct session *session, struct output *out,
                                          const struct vc_spec *spec);
int session_run(const struct arguments *arguments, session_question *question);

#endif
