#include "catalog.h"
#include "test.h"

#include "errors.h"
#include "gpu_name.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- What is built in ---- */

static const struct vc_catalog *const builtin = &vc_catalog_builtin;

static const struct vc_catalog_gpu *named(const struct vc_catalog *catalog, const char *name)
{
	const struct vc_gpu *gpu = NULL;

	if (vc_catalog_find(catalog, name, &gpu, 1) != 1) {
		fail_msg("%s does not name one GPU", name);
	}
	return vc_catalog_entry(gpu);
}

static void every_name_leads_to_its_gpu(void **state)
{
	(void)state;
	assert_int_equal(builtin->count, 83);
	for (size_t i = 0; i < builtin->count; i++) {
		const struct vc_gpu *gpu = &builtin->gpus[i].gpu;

		assert_ptr_equal(&named(builtin, gpu->id)->gpu, gpu);
		assert_ptr_equal(&named(builtin, gpu->name)->gpu, gpu);
		for (size_t j = 0; gpu->aliases[j]; j++) {
			assert_ptr_equal(&named(builtin, gpu->aliases[j])->gpu, gpu);
		}
	}
}

static void sizes_are_plausible(void **state)
{
	(void)state;
	for (size_t i = 0; i < builtin->count; i++) {
		const struct vc_catalog_gpu *entry = &builtin->gpus[i];
		const struct vc_gpu *gpu = &entry->gpu;
		double marketed_gib = (double)gpu->memory_bytes / 1e9;
		double driver_gib = (double)gpu->driver_bytes / 1073741824.0;
		double usable_gib = (double)gpu->usable_bytes / 1073741824.0;

		assert_u64(gpu->memory_bytes % 1000000000, 0);
		assert_true(driver_gib <= 1.02 * marketed_gib);
		assert_true(usable_gib > 0.6 * marketed_gib && usable_gib <= 1.02 * marketed_gib);
		assert_true(gpu->driver_bytes == 0 || gpu->usable_bytes <= gpu->driver_bytes);
		assert_true(*gpu->family && *gpu->architecture && gpu->link != VC_LINK_UNKNOWN);
		assert_int_equal(gpu->mig_capable, *entry->mig_table != 0);
		assert_true(!gpu->mig_capable || entry->mig_instances >= 2);
		assert_int_equal(gpu->unified_memory,
		                 strstr(entry->memory_type, "unified") != NULL);
		assert_true(gpu->vendor != VC_VENDOR_NVIDIA || gpu->compute_capability >= 52);
		assert_true(entry->devices_per_board >= 1);
	}
}

static const char *citation(const struct vc_catalog_gpu *entry, const char *field)
{
	for (uint32_t i = 0; i < entry->citation_count; i++) {
		if (strcmp(entry->citations[i].field, field) == 0) {
			return entry->citations[i].source;
		}
	}
	return "";
}

static void figures_name_their_source(void **state)
{
	(void)state;
	for (size_t i = 0; i < builtin->count; i++) {
		const struct vc_catalog_gpu *entry = &builtin->gpus[i];
		const struct vc_gpu *gpu = &entry->gpu;

		assert_true(gpu->driver_bytes == 0 || *citation(entry, "memory"));
		assert_true(*citation(entry, "usable"));
		assert_true(gpu->bandwidth_gbs == 0 || *citation(entry, "bandwidth"));
		assert_true(gpu->link_gbs == 0 || *citation(entry, "link"));
		assert_true(entry->tdp_watts == 0 || *citation(entry, "tdp"));
		if (gpu->verified) {
			assert_null(strstr(citation(entry, "memory"), "UNVERIFIED"));
			assert_null(strstr(citation(entry, "bandwidth"), "UNVERIFIED"));
		}
		assert_int_equal(entry->usable_derived,
		                 strstr(citation(entry, "usable"), "follows from") != NULL);
		for (uint32_t j = 0; j < entry->citation_count; j++) {
			/* a key that no source explains has no blank in it */
			assert_non_null(strpbrk(entry->citations[j].source, " /"));
		}
	}
}

static void links_join_so_many(void **state)
{
	/* 600 GB/s both ways together; the PCIe card has it in bridged pairs alone */
	static const struct {
		const char *name;
		enum vc_link link;
		uint32_t gbs, gpus;
	} rows[] = {
		{ "a100-80gb-sxm", VC_LINK_NVSWITCH, 600, 8 },
		{ "a100-80gb-pcie", VC_LINK_NVLINK, 600, 2 },
		{ "h100-80gb-sxm", VC_LINK_NVSWITCH, 900, 8 },
		{ "gb200-186gb", VC_LINK_NVSWITCH, 1800, 72 },
		{ "a10", VC_LINK_NONE, 0, 0 },
		{ "t4", VC_LINK_NONE, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct vc_gpu *gpu = &named(builtin, rows[i].name)->gpu;

		assert_int_equal(gpu->link, rows[i].link);
		assert_int_equal(gpu->link_gbs, rows[i].gbs);
		assert_int_equal(gpu->link_gpus, rows[i].gpus);
	}
	for (size_t i = 0; i < builtin->count; i++) {
		const struct vc_gpu *gpu = &builtin->gpus[i].gpu;

		assert_true(gpu->link_gpus == 0 || gpu->link != VC_LINK_NONE);
	}
}

/* Tencent's GN7 is T4, GN10X and GN10Xp V100 32GB; A100 is GT4 (its instance-type documentation).
 * Host memory: AWS g5.48xlarge has 768 GiB for 192 GB on GPUs, Huawei's p3.16xlarge.8 512 for 640.
 */
static void instances_are_what_clouds_state(void **state)
{
	static const struct {
		const char *instance, *gpu;
		uint64_t gpus, host_gib;
	} rows[] = {
		{ "GN7.2XLARGE32", "t4", 1, 32 },
		{ "GN10X.2XLARGE40", "v100-32gb", 1, 40 },
		{ "GN10Xp.20XLARGE320", "v100-32gb", 8, 320 },
		{ "GT4.41XLARGE948", "a100-40gb-sxm", 8, 948 },
		{ "g5.48xlarge", "a10g", 8, 768 },
		{ "p3.16xlarge.8", "a100-80gb-pcie", 8, 512 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct vc_offer *found = NULL;

		for (size_t j = 0; j < builtin->offer_count && !found; j++) {
			if (strcmp(builtin->offers[j].instance, rows[i].instance) == 0) {
				found = &builtin->offers[j];
			}
		}
		assert_non_null(found);
		assert_string_equal(found->gpu_id, rows[i].gpu);
		assert_u64(found->gpus_micros, rows[i].gpus * 1000000);
		assert_u64(found->host_bytes, rows[i].host_gib << 30);
	}
}

static void readings_are_what_drivers_print(void **state)
{
	static const struct {
		const char *name;
		uint64_t marketed_gb, driver_mib;
	} rows[] = {
		{ "T4", 16, 15360 },           { "A10", 24, 23028 },
		{ "L4", 24, 23034 },           { "V100-32GB", 32, 32768 },
		{ "A100-40GB", 40, 40960 },    { "A100-80GB", 80, 81920 },
		{ "H100-80GB", 80, 81559 },    { "RTX 4090", 24, 24564 },
		{ "H200-141GB", 141, 143771 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct vc_gpu *gpu = &named(builtin, rows[i].name)->gpu;

		assert_u64(gpu->memory_bytes, rows[i].marketed_gb * 1000000000);
		assert_u64(gpu->driver_bytes, rows[i].driver_mib << 20);
	}
	/* an A10 without ECC would be 24564 MiB; torch sees 22.06 GiB of the 22.49 */
	assert_u64(named(builtin, "A10")->gpu.usable_bytes, UINT64_C(22589) << 20);
}

static const struct vc_mig_profile *profile(const char *gpu, const char *name)
{
	const struct vc_mig_table *table = vc_catalog_mig(named(builtin, gpu));

	for (size_t i = 0; table && i < table->profile_count; i++) {
		if (strcmp(table->profiles[i].name, name) == 0) {
			return &table->profiles[i];
		}
	}
	fail_msg("no profile %s on %s", name, gpu);
	return NULL;
}

static void partitions_are_what_nvidia_smi_lists(void **state)
{
	const struct vc_mig_profile *wanted[3];
	uint8_t starts[VC_MAX_MIG_INSTANCES];

	(void)state;
	for (size_t i = 0; i < builtin->count; i++) {
		assert_int_equal(builtin->gpus[i].gpu.mig_capable,
		                 vc_catalog_mig(&builtin->gpus[i]) != NULL);
	}
	/* nvidia-smi mig -lgip prints 39.25, 19.50 and 5.81 GiB */
	assert_u64(profile("A100-80GB", "3g.40gb")->memory_bytes, UINT64_C(40192) << 20);
	assert_u64(profile("A100-80GB", "2g.20gb")->memory_bytes, UINT64_C(19968) << 20);
	assert_u64(profile("A30", "1g.6gb")->memory_bytes, UINT64_C(5952) << 20);
	/* 3g + 2g + 2g only fit with the 3g on the right half */
	wanted[0] = profile("A100-80GB", "3g.40gb");
	wanted[1] = wanted[2] = profile("A100-80GB", "2g.20gb");
	assert_true(vc_mig_place(vc_catalog_mig(named(builtin, "A100-80GB")), wanted, 3, starts));
	assert_int_equal(starts[0], 4);
}

/* ---- Names ---- */

static void case_and_separators_do_not_matter(void **state)
{
	static const char *const same[] = { "a100-80gb-sxm", "A100 80GB", "NVIDIA A100-SXM4-80GB",
		                            "a100_80gb",     "A100-80GB", "nvidia a100 sxm4 80gb" };

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
		assert_string_equal(named(builtin, same[i])->gpu.id, "a100-80gb-sxm");
	}
	assert_string_equal(named(builtin, "Tesla T4")->gpu.id, "t4");
	assert_string_equal(named(builtin, "RTX4090")->gpu.id, "rtx-4090");
	assert_string_equal(named(builtin, "MI300X")->gpu.id, "mi300x");
	assert_string_equal(named(builtin, "GeForce RTX 3060")->gpu.id, "rtx-3060-12gb");
	assert_string_equal(named(builtin, "A10")->gpu.id, "a10");
	assert_string_equal(vc_name_without_maker("NVIDIA GeForce RTX 3090"), "RTX 3090");
	assert_string_equal(vc_name_without_maker("NVIDIA"), "NVIDIA");
}

static void a_bare_family_names_all_sizes(void **state)
{
	const struct vc_gpu *gpus[8];

	(void)state;
	assert_int_equal(vc_catalog_find(builtin, "A100", gpus, 8), 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(gpus[i]->family, "A100");
	}
	assert_int_equal(vc_catalog_find(builtin, "v100", gpus, 8), 2);
	assert_string_equal(gpus[0]->id, "v100-16gb");
	assert_string_equal(gpus[1]->id, "v100-32gb");
	assert_int_equal(vc_catalog_find(builtin, "nvidia h100", gpus, 1), 4);
}

static void unknown_names_get_the_nearest(void **state)
{
	const struct vc_gpu *gpu;

	(void)state;
	assert_int_equal(vc_catalog_find(builtin, "A1000", &gpu, 1), 0);
	assert_int_equal(vc_catalog_find(builtin, "", &gpu, 1), 0);
	assert_string_equal(vc_catalog_nearest(builtin, "A1000"), "A100");
	assert_string_equal(vc_catalog_nearest(builtin, "RTX 4091"), "RTX 4090");
	assert_null(vc_catalog_nearest(builtin, "a potato of some size"));
}

/* ---- Prices ---- */

static uint64_t per_gpu_micros(const struct vc_offer *offer)
{
	return (offer->on_demand_micros * 1000000 + offer->gpus_micros / 2) / offer->gpus_micros;
}

static void aws_prices_are_the_documents(void **state)
{
	/* AWS us-east-1 on demand per GPU-hour, in hundredths of a cent */
	static const struct {
		const char *instance;
		uint64_t micros;
	} rows[] = {
		{ "g4dn.xlarge", 526000 },    { "g5.xlarge", 1006000 },
		{ "p3.2xlarge", 3060000 },    { "p4d.24xlarge", 2744705 },
		{ "p4de.24xlarge", 3430881 }, { "p5.4xlarge", 6880000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t found = 0;

		for (size_t j = 0; j < builtin->offer_count; j++) {
			const struct vc_offer *offer = &builtin->offers[j];

			if (strcmp(offer->cloud, "aws") == 0 &&
			    strcmp(offer->region, "us-east-1") == 0 &&
			    strcmp(offer->instance, rows[i].instance) == 0) {
				assert_u64(per_gpu_micros(offer), rows[i].micros);
				assert_string_equal(offer->as_of, "2026-07-20");
				found++;
			}
		}
		assert_int_equal(found, 1);
	}
}

/* docs/market.md and docs/faq.md give these shares of the on-demand price, in percent. */
static void spot_prices_lie_where_the_documents_say(void **state)
{
	static const struct {
		const char *cloud;
		double least, most;
	} ranges[] = {
		{ "aws", 11, 42 }, { "gcp", 39, 60 }, { "runpod", 49, 98 }, { "vast", 49, 98 }
	};
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < builtin->offer_count; i++) {
		const struct vc_offer *offer = &builtin->offers[i];
		double share = offer->on_demand_micros ? 100.0 * (double)offer->spot_micros /
		                                                 (double)offer->on_demand_micros
		                                       : 0;

		for (size_t r = 0; share > 0 && r < sizeof ranges / sizeof *ranges; r++) {
			if (strcmp(offer->cloud, ranges[r].cloud) == 0) {
				/* to the whole percent */
				assert_true(share > ranges[r].least - 0.5);
				assert_true(share < ranges[r].most + 0.5);
				found++;
			}
		}
	}
	assert_int_equal(found, 45); /* all that have both prices */
}

static void no_offer_is_cheaper_than_the_price(void **state)
{
	(void)state;
	for (size_t i = 0; i < builtin->offer_count; i++) {
		const struct vc_offer *offer = &builtin->offers[i];
		const struct vc_catalog_gpu *entry = named(builtin, offer->gpu_id);
		bool known = false;

		assert_string_equal(entry->gpu.id, offer->gpu_id);
		assert_true(offer->spot_micros < offer->on_demand_micros ||
		            offer->on_demand_micros == 0);
		if (offer->on_demand_micros == 0 || offer->kind == VC_OFFER_FRACTION ||
		    offer->kind == VC_OFFER_QUOTED) {
			continue;
		}
		for (uint32_t j = 0; j < entry->price_count; j++) {
			if (strcmp(entry->prices[j].currency, offer->currency) == 0) {
				assert_true(entry->prices[j].per_hour_micros <=
				            per_gpu_micros(offer));
				known = true;
			}
		}
		assert_true(known);
	}
	assert_string_equal(named(builtin, "T4")->gpu.price.offer, "aws g4dn.xlarge us-east-1");
	assert_string_equal(named(builtin, "T4")->gpu.price.currency, "USD");
	assert_false(named(builtin, "TITAN RTX")->gpu.price.known);
}

/* ---- Users' files ---- */

static char folder[] = "/tmp/vramcalc-catalog-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) && setenv("XDG_CONFIG_HOME", folder, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "wb");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Opens the built-in catalog with one file of this text over it. */
static enum vc_status open_with(const char *name, const char *text, struct vc_catalog *catalog,
                                struct vc_error_list *errors)
{
	const char *files[1];
	struct vc_catalog_options options = { .files = files, .file_count = 1 };
	enum vc_status status;

	*errors = (struct vc_error_list){ .count = 0 };
	write_file(name, text);
	files[0] = path_of(name);
	status = vc_catalog_open(catalog, &options, errors);
	(void)unlink(files[0]);
	return status;
}

static void keys_are_laid_over_the_built_in_ones(void **state)
{
	struct vc_catalog catalog;
	struct vc_error_list errors;
	const struct vc_catalog_gpu *t4;

	(void)state;
	assert_int_equal(open_with("site.yaml",
	                           "gpus:\n"
	                           "  - id: T4\n"
	                           "    driver_mib: 15109\n"
	                           "    usable_mib: 15100\n"
	                           "    price_per_hour: 0.11\n"
	                           "  - id: lab-card\n"
	                           "    memory_gb: 20\n"
	                           "    supports: [bf16]\n"
	                           "  - id: tpu-v5e\n"
	                           "    hidden: true\n",
	                           &catalog, &errors),
	                 VC_OK);
	t4 = named(&catalog, "nvidia-tesla-t4");
	assert_u64(t4->gpu.driver_bytes, UINT64_C(15109) << 20);
	assert_u64(t4->gpu.memory_bytes, UINT64_C(16000000000));
	assert_u64(t4->gpu.price.per_hour_micros, 110000);
	assert_int_equal(t4->origin.line, 2);
	assert_non_null(strstr(t4->gpu.price.offer, "site.yaml:2"));
	assert_u64(named(&catalog, "T4")->gpu.bandwidth_gbs, 320);
	/* no driver total: 20 GiB less the 461 MiB of its size */
	assert_u64(named(&catalog, "Lab Card")->gpu.usable_bytes, (UINT64_C(20480) - 461) << 20);
	assert_true(named(&catalog, "Lab Card")->gpu.supports_bf16);
	assert_int_equal(catalog.count, 83);
	assert_int_equal(vc_catalog_find(&catalog, "tpu-v5e", NULL, 0), 0);
	vc_catalog_close(&catalog);
}

static void what_a_users_file_names_is_shown(void **state)
{
	struct vc_catalog catalog;
	struct vc_error_list errors;

	(void)state;
	assert_int_equal(open_with("site.yaml",
	                           "gpus:\n"
	                           "  - {id: lab-card, memory_gb: 20}\n"
	                           "  - {id: spare-card, memory_gb: 20, documented: false}\n"
	                           "  - {id: l4, price_per_hour: 0.3}\n"
	                           "  - {id: t4, documented: false, price_per_hour: 0.3}\n",
	                           &catalog, &errors),
	                 VC_OK);
	assert_true(named(&catalog, "lab-card")->documented);
	assert_false(named(&catalog, "spare-card")->documented);
	assert_true(named(&catalog, "l4")->documented);
	assert_false(named(&catalog, "t4")->documented);
	assert_false(named(&catalog, "l40s")->documented);
	vc_catalog_close(&catalog);
	assert_int_equal(open_with("prices.csv",
	                           "cloud,instance,gpu,on_demand,kind\n"
	                           "here,box,l40s,1,own\n"
	                           "here,part,h20,1,fraction\n",
	                           &catalog, &errors),
	                 VC_OK);
	assert_true(named(&catalog, "l40s")->documented);
	assert_false(named(&catalog, "h20")->documented);
	assert_false(named(&catalog, "l4")->documented);
	vc_catalog_close(&catalog);
}

static void offers_are_added_and_replaced(void **state)
{
	struct vc_catalog catalog;
	struct vc_error_list errors;

	(void)state;
	assert_int_equal(open_with("prices.csv",
	                           "cloud,region,instance,gpu,gpus,on_demand,currency,as_of\r\n"
	                           "here,,box,A100-80GB,4,\"2.50\",USD,2026-11-01\r\n"
	                           "aws,us-east-1,g4dn.xlarge,t4,1,0.6,USD,2026-11-01\r\n",
	                           &catalog, &errors),
	                 VC_OK);
	/* 2.50 for four */
	assert_u64(named(&catalog, "A100-80GB")->gpu.price.per_hour_micros, 625000);
	assert_string_equal(named(&catalog, "A100-80GB")->gpu.price.offer, "here box");
	/* what Azure asks is now the cheapest */
	assert_u64(named(&catalog, "T4")->gpu.price.per_hour_micros, 526000);
	assert_non_null(strstr(named(&catalog, "T4")->gpu.price.offer, "azure"));
	vc_catalog_close(&catalog);
}

/* What a later file says of an offer holds, wherever the files with GPUs lie between. */
static void offers_of_several_files(void **state)
{
	static const char *const names[] = { "1.csv", "2.yaml", "3.csv" };
	struct vc_error_list errors = { .count = 0 };
	struct vc_catalog_options options = { .file_count = 3 };
	const char *files[3];
	char paths[3][256], text[60 * 64] = "cloud,instance,gpu,on_demand,kind\n";
	struct vc_catalog catalog;
	size_t length = strlen(text), before = vc_catalog_builtin.offer_count;

	(void)state;
	for (int i = 0; i < 60; i++) {
		length += (size_t)snprintf(text + length, sizeof text - length,
		                           "here,box%d,l4,%d,list\n", i, i + 1);
	}
	write_file(names[0], text);
	write_file(names[1], "gpus: [{id: lab-card, memory_gb: 20, price_per_hour: 3},"
	                     " {id: tpu-v5e, hidden: true}]\n");
	write_file(names[2], "cloud,instance,gpu,on_demand\nhere,box7,lab-card,2\nhere,new,t4,5\n");
	for (size_t i = 0; i < 3; i++) {
		snprintf(paths[i], sizeof paths[i], "%s", path_of(names[i]));
		files[i] = paths[i];
	}
	options.files = files;
	assert_int_equal(vc_catalog_open(&catalog, &options, &errors), VC_OK);
	for (size_t i = 0; i < catalog.offer_count; i++) {
		assert_string_not_equal(catalog.offers[i].gpu_id, "tpu-v5e");
	}
	for (size_t i = 0; i < vc_catalog_builtin.offer_count; i++) {
		before -= strcmp(vc_catalog_builtin.offers[i].gpu_id, "tpu-v5e") == 0;
	}
	/* 60 of the first, the price of the second, one new of the third */
	assert_int_equal(catalog.offer_count, before + 62);
	assert_string_equal(named(&catalog, "lab-card")->gpu.price.origin,
	                    strcat(strcpy(text, paths[1]), ":1"));
	vc_catalog_close(&catalog);

	/* a row is checked although a later one takes its place */
	write_file(names[0], "cloud,instance,gpu,on_demand\nhere,box7,lab-crad,2\n");
	assert_int_not_equal(vc_catalog_open(&catalog, &options, &errors), VC_OK);
	assert_int_equal(errors.count, 1);
	assert_non_null(strstr(errors.errors[0].file, "1.csv"));
	for (size_t i = 0; i < 3; i++) {
		(void)unlink(paths[i]);
	}
}

static void what_the_user_pays_outranks_offers(void **state)
{
	struct vc_catalog catalog;
	struct vc_error_list errors;

	(void)state;
	assert_int_equal(open_with("prices.csv",
	                           "cloud,instance,gpu,gpus,on_demand,kind\n"
	                           "here,rack,t4,4,40,own\n"
	                           "here,bench,t4,1,9,own\n"
	                           "here,desk,t4,1,11,own\n"
	                           "there,cheap,t4,1,0.01,list\n",
	                           &catalog, &errors),
	                 VC_OK);
	/* of what is paid the least: 40 / 4 = 10, 9, 11; the cheaper offer is another's */
	assert_u64(named(&catalog, "T4")->gpu.price.per_hour_micros, 9000000);
	assert_string_equal(named(&catalog, "T4")->gpu.price.offer, "here bench");
	vc_catalog_close(&catalog);
}

static void a_wished_currency_is_preferred(void **state)
{
	struct vc_catalog_options options = { .currency = "CNY" };
	struct vc_error_list errors = { .count = 0 };
	struct vc_catalog catalog;

	(void)state;
	assert_int_equal(vc_catalog_open(&catalog, &options, &errors), VC_OK);
	assert_string_equal(named(&catalog, "T4")->gpu.price.currency, "CNY");
	assert_u64(named(&catalog, "T4")->gpu.price.per_hour_micros, 5223000);
	assert_string_equal(named(&catalog, "L4")->gpu.price.currency, "USD");
	vc_catalog_close(&catalog);
}

static void the_users_directory_is_read_in_byte_order(void **state)
{
	struct vc_error_list errors = { .count = 0 };
	struct vc_catalog catalog;

	(void)state;
	assert_int_equal(mkdir(path_of("vramcalc"), 0700), 0);
	write_file("vramcalc/20.yaml", "gpus: [{id: t4, tdp_watts: 20}]\n");
	write_file("vramcalc/10.yaml", "gpus: [{id: t4, tdp_watts: 10, pcie_lanes: 8}]\n");
	write_file("vramcalc/notes.txt", "not a catalog\n");
	assert_int_equal(vc_catalog_open(&catalog, NULL, &errors), VC_OK);
	assert_int_equal(named(&catalog, "t4")->tdp_watts, 20);
	assert_int_equal(named(&catalog, "t4")->gpu.pcie_lanes, 8);
	vc_catalog_close(&catalog);
	(void)unlink(path_of("vramcalc/20.yaml"));
	(void)unlink(path_of("vramcalc/10.yaml"));
	(void)unlink(path_of("vramcalc/notes.txt"));
	assert_int_equal(rmdir(path_of("vramcalc")), 0);
}

static void without_files_nothing_is_built(void **state)
{
	struct vc_error_list errors = { .count = 0 };
	struct vc_catalog catalog;

	(void)state;
	assert_int_equal(vc_catalog_open(&catalog, NULL, &errors), VC_OK);
	assert_ptr_equal(catalog.gpus, builtin->gpus);
	vc_catalog_close(&catalog);
}

static void mistakes_are_named_at_their_place(void **state)
{
	static const struct {
		const char *file, *text, *field, *message;
		uint32_t line, column;
	} rows[] = {
		{ "a.yaml", "gpus:\n  - id: x\n", "gpus[0]", "memory_gb is missing", 2, 5 },
		{ "a.yaml", "gpus:\n  - id: t4\n    memory_gb: 0\n", "gpus[0].memory_gb",
		  "out of range", 3, 16 },
		{ "a.yaml", "gpus:\n  - id: t4\n    driver_mib: 17000\n", "gpus[0].driver_mib",
		  "more than 2 %", 3, 17 },
		{ "a.yaml", "gpus:\n  - id: t4\n    usable_mib: 15361\n", "gpus[0].usable_mib",
		  "more than the GPU has", 3, 17 },
		{ "a.yaml", "gpus:\n  - {id: t4, aliases: [L4]}\n", "gpus[0]", "already names l4",
		  2, 5 },
		{ "a.yaml", "gpus:\n  - id: t4\n    price_per_hour: 0\n", "gpus[0].price_per_hour",
		  "positive number", 3, 21 },
		{ "a.yaml", "gpus:\n  - id: t4\n    memory_bg: 16\n", "gpus[0].memory_bg",
		  "memory_gb", 3, 5 },
		{ "a.yaml", "gpus:\n  - id: t4\n    compute_capability: eight\n",
		  "gpus[0].compute_capability", "such as", 3, 25 },
		{ "a.yaml", "gpus:\n  - id: t4\n    vendor: nvida\n", "gpus[0].vendor",
		  "unknown 'nvida' (did you mean nvidia?)", 3, 13 },
		{ "a.yaml", "gpus:\n  - {id: t4, tdp_watts: 1}\n  - {id: T4}\n", "gpus[1].id",
		  "in this file already", 3, 10 },
		{ "a.yaml", "gpus:\n", "gpus", "is empty", 1, 6 },
		{ "a.yaml", "gpus: [{id: t4, aliases: ~}]\n", "gpus[0].aliases", "is empty", 1,
		  26 },
		{ "a.yaml", "gpus: [{id: t4, mig_table: a100-80bg}]\n", "gpus[0].mig_table",
		  "unknown 'a100-80bg' (did you mean a100-80gb", 1, 28 },
		{ "a.yaml", "gpus: [{id: local-0, memory_gb: 1}]\n", "gpus[0]",
		  "names this machine's GPUs", 1, 8 },
		{ "a.yaml", "gpus: [{id: \"--\", memory_gb: 1}]\n", "gpus[0]",
		  "without a letter or digit", 1, 8 },
		{ "a.yaml", "gpus: [{id: x, aliases: [A100], memory_gb: 1}]\n", "gpus[0]",
		  "'A100' already names all GPUs of that family", 1, 8 },
		{ "a.yaml", "as_of: \"2026-11-30\"\n", "", "neither gpus nor platforms", 1, 1 },
		{ "b.csv", "cloud,instance,gpu,on_demand\nx,y,L40X,1\n", "gpu",
		  "unknown GPU 'L40X' (did you mean L40", 2, 5 },
		{ "b.csv", "cloud,instance,gpu,on_demand\nx,y,A100,1\n", "gpu",
		  "names several GPUs", 2, 5 },
		/* columns count characters as they stand in the file, quotes and all */
		{ "b.csv", "cloud,instance,gpu,on_demand\n\"x\"\"y\",云,L40X,1\n", "gpu",
		  "unknown GPU 'L40X'", 2, 10 },
		{ "b.csv", "cloud,instance,gpu,gpus,on_demand\n\"云,\",y,t4,,x\n", "on_demand",
		  "'x' is not a positive number", 2, 12 },
		{ "b.csv", "cloud,instance,gpu,on_demand,kind\nx,y,t4,1,\"ow\"\n", "kind",
		  "unknown 'ow'", 2, 10 },
		{ "b.csv", "cloud,instance,gpu,on_demand,currency\nx,y,t4,1,usd\n", "currency",
		  "'usd' is no currency", 2, 10 },
		/* what is missing at a row's end belongs there */
		{ "b.csv", "cloud,instance,gpu,on_demand\nx,y\n", "gpu", "is empty", 2, 4 },
		{ "b.csv", "cloud,instance,gpu,on_demand\nx,,t4,1\n", "instance", "is empty", 2,
		  3 },
		{ "b.csv", "cloud,instance,gpu,on_demand\nx,y,t4,0\n", "on_demand",
		  "not a positive number", 2, 8 },
		{ "b.csv", "cloud,instance,gpu,on_demand\nx,y,t4,9000000.000001\n", "on_demand",
		  "is too much (9000000 an hour at most)", 2, 8 },
		{ "b.csv", "cloud,instance,gpu,on_demand,spot\nx,y,t4,1,1e7\n", "spot",
		  "'1e7' is too much", 2, 10 },
		{ "a.yaml", "gpus:\n  - id: t4\n    price_per_hour: 9000001\n",
		  "gpus[0].price_per_hour", "up to 9000000", 3, 21 },
		{ "b.csv", "cloud,instance,gpu,on_demand\nx,y,t4,-1\n", "on_demand",
		  "not a positive number", 2, 8 },
		{ "b.csv", "cloud,instance,gpu,on_demand\nx,y,t4,1,2\n", "", "more values", 2, 10 },
		{ "b.csv", "cloud,instance,gpu,on_demand\nx,y,t4,1\nx,z,t4,1\nx,y,l4,1\n",
		  "instance", "of line 2 (each once in a file)", 4, 3 },
		{ "b.csv", "cloud,instance,gpu\n", "on_demand", "column is missing", 1, 1 },
		{ "b.csv", "cloud,instance,gpu,on_demnd\n", "on_demnd", "did you mean on_demand", 1,
		  20 },
		{ "b.csv", "cloud,instance,gpu,on_demand\nx,\"y,t4,1\n", "", "quote is not closed",
		  2, 3 },
		{ "b.csv", "", "", "empty", 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct vc_catalog catalog;
		struct vc_error_list errors;
		char text[VC_ERROR_TEXT];

		assert_int_equal(open_with(rows[i].file, rows[i].text, &catalog, &errors),
		                 VC_INVALID);
		assert_true(errors.count >= 1);
		if (!strstr(errors.errors[0].message, rows[i].message)) {
			fail_msg("row %zu: %s", i, vc_error_format(&errors.errors[0], text));
		}
		assert_string_equal(errors.errors[0].field, rows[i].field);
		assert_u64(errors.errors[0].line, rows[i].line);
		assert_u64(errors.errors[0].column, rows[i].column);
		assert_non_null(strstr(errors.errors[0].file, rows[i].file));
	}
}

static void files_that_cannot_be_read_say_so(void **state)
{
	const char *const files[] = { folder };
	struct vc_catalog_options options = { .files = files, .file_count = 1 };
	struct vc_error_list errors = { .count = 0 };
	struct vc_catalog catalog;

	(void)state;
	assert_int_not_equal(vc_catalog_open(&catalog, &options, &errors), VC_OK);
	assert_string_equal(errors.errors[0].file, folder);
	assert_non_null(strstr(errors.errors[0].message, "folder"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_leads_to_its_gpu),
		cmocka_unit_test(sizes_are_plausible),
		cmocka_unit_test(figures_name_their_source),
		cmocka_unit_test(links_join_so_many),
		cmocka_unit_test(instances_are_what_clouds_state),
		cmocka_unit_test(readings_are_what_drivers_print),
		cmocka_unit_test(partitions_are_what_nvidia_smi_lists),
		cmocka_unit_test(case_and_separators_do_not_matter),
		cmocka_unit_test(a_bare_family_names_all_sizes),
		cmocka_unit_test(unknown_names_get_the_nearest),
		cmocka_unit_test(aws_prices_are_the_documents),
		cmocka_unit_test(spot_prices_lie_where_the_documents_say),
		cmocka_unit_test(no_offer_is_cheaper_than_the_price),
		cmocka_unit_test(keys_are_laid_over_the_built_in_ones),
		cmocka_unit_test(what_a_users_file_names_is_shown),
		cmocka_unit_test(offers_are_added_and_replaced),
		cmocka_unit_test(offers_of_several_files),
		cmocka_unit_test(what_the_user_pays_outranks_offers),
		cmocka_unit_test(a_wished_currency_is_preferred),
		cmocka_unit_test(the_users_directory_is_read_in_byte_order),
		cmocka_unit_test(without_files_nothing_is_built),
		cmocka_unit_test(mistakes_are_named_at_their_place),
		cmocka_unit_test(files_that_cannot_be_read_say_so),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
