#include "platform.h"

#include "nearest.h"
#include "quantity.h"

#include <stdio.h>
#include <string.h>

struct vc_platform_score vc_platform_score(const struct vc_platform *platform,
                                           const uint64_t weights_ppm[VC_CRITERIA])
{
	struct vc_platform_score score = { 0 };
	uint64_t sum = 0, divisor = 0;

	for (size_t i = 0; i < VC_CRITERIA; i++) {
		const struct vc_platform_cell *cell = &platform->cells[i];

		score.weighted += weights_ppm[i] > 0;
		if (cell->scored && weights_ppm[i] > 0) {
			score.known++;
			sum += weights_ppm[i] * cell->score_ppm;
			divisor += weights_ppm[i];
		}
	}
	if (divisor) {
		score.scored = true;
		score.score_ppm = (uint32_t)((sum + divisor / 2) / divisor);
	}
	return score;
}

bool vc_platform_has(const struct vc_platform *platform, enum vc_platform_trait trait,
                     const char *word)
{
	for (const char *const *have = platform->traits[trait]; *have; have++) {
		if (strcmp(*have, word) == 0) {
			return true;
		}
	}
	return false;
}

bool vc_platform_sells(const struct vc_platform *platform, const char *vendor)
{
	for (size_t i = 0; i < platform->size_count; i++) {
		if (strcmp(platform->sizes[i].vendor, vendor) == 0) {
			return true;
		}
	}
	return false;
}

/* The criterion of this name, or VC_CRITERIA with a problem. */
static size_t find_criterion(const char *name, char problem[VC_WEIGHTS_PROBLEM])
{
	struct vc_nearest nearest = { .wanted = name };

	for (size_t i = 0; i < VC_CRITERIA; i++) {
		if (strcmp(vc_criteria[i].id, name) == 0) {
			return i;
		}
		vc_nearest_offer(&nearest, vc_criteria[i].id);
	}
	if (nearest.best) {
		snprintf(problem, VC_WEIGHTS_PROBLEM, "no criterion is named %s (did you mean %s?)",
		         name, nearest.best);
	} else {
		snprintf(problem, VC_WEIGHTS_PROBLEM,
		         "no criterion is named %s (memory, billing, slicing, interconnect, "
		         "frameworks or support)",
		         name);
	}
	return VC_CRITERIA;
}

/* One "memory=3", ended in place. */
static bool read_weight(char *item, uint64_t weights_ppm[VC_CRITERIA], bool given[VC_CRITERIA],
                        char problem[VC_WEIGHTS_PROBLEM])
{
	enum {
		MOST_PPM = 1000000000
	};
	char *value = strchr(item, '=');
	size_t criterion;

	if (value) {
		*value++ = '\0';
	}
	criterion = find_criterion(item, problem);
	if (criterion == VC_CRITERIA) {
		return false;
	}
	if (given[criterion]) {
		snprintf(problem, VC_WEIGHTS_PROBLEM, "%s has two weights (one each)", item);
		return false;
	}
	given[criterion] = true;
	if (!value ||
	    vc_quantity_parse(VC_QUANTITY_PPM, value, &weights_ppm[criterion]) != VC_QUANTITY_OK ||
	    weights_ppm[criterion] > MOST_PPM) {
		snprintf(problem, VC_WEIGHTS_PROBLEM,
		         "the weight of %s is not a number from 0 to 1000 (such as %s=3)", item,
		         item);
		return false;
	}
	return true;
}

bool vc_platform_weights(const char *text, uint64_t weights_ppm[VC_CRITERIA],
                         char problem[VC_WEIGHTS_PROBLEM])
{
	bool given[VC_CRITERIA] = { false };
	char item[40];

	memset(weights_ppm, 0, VC_CRITERIA * sizeof *weights_ppm);
	for (;;) {
		size_t length = strcspn(text, ",");

		snprintf(item, sizeof item, "%.*s",
		         length < sizeof item ? (int)length : (int)sizeof item - 1, text);
		if (!read_weight(item, weights_ppm, given, problem)) {
			return false;
		}
		if (!text[length]) {
			break;
		}
		text += length + 1;
	}
	for (size_t i = 0; i < VC_CRITERIA; i++) {
		if (weights_ppm[i]) {
			return true;
		}
	}
	snprintf(problem, VC_WEIGHTS_PROBLEM, "all weights are 0 (one at least above 0)");
	return false;
}
