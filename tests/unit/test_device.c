#include "serving_fixture.h"

#include "device.h"

/* CUDA's total where it is known; else 1 % less than the driver's: L4 22.05 of 22.49 GiB, H200
 * 139.81 of 140.40 (vLLM logs against nvidia-smi). */
static void test_usable(void **state)
{
	struct vc_gpu gpu = h100;

	(void)state;
	assert_u64(device_usable_bytes(&gpu), h100.usable_bytes);
	gpu.usable_bytes = 0;
	gpu.driver_bytes = 150754820096; /* 143,771 MiB */
	assert_near((double)device_usable_bytes(&gpu) / GIB, 139.81, 1.0);
	gpu.driver_bytes = 0;
	assert_u64(device_usable_bytes(&gpu), gpu.memory_bytes);
}

/* github.com/vllm-project/vllm/issues/24881: 1.84 GiB on each of four H100; 0.20 to 0.25 on PCIe,
 * issues/13061 and issues/15014. */
static void test_communication(void **state)
{
	(void)state;
	assert_u64(device_communication_bytes(&h100, 1), 0);
	assert_near((double)device_communication_bytes(&h100, 4) / GIB, 1.84, 1.0);
	for (uint32_t ranks = 2; ranks <= 16; ranks *= 2) {
		assert_near((double)device_communication_bytes(&rtx_4090, ranks) / GIB, 0.22, 10.0);
	}
	for (uint32_t ranks = 1; ranks < 64; ranks++) {
		assert_true(device_communication_bytes(&a100_80, ranks) <=
		            device_communication_bytes(&a100_80, ranks + 1));
		assert_true(device_communication_bytes(&rtx_4090, ranks) <=
		            device_communication_bytes(&a100_80, ranks));
	}
}

/* github.com/vllm-project/vllm/issues/35463: 510 MiB; a 4090 with 23.08 of 23.52 GiB free; an A10
 * with 21.83 of 22.06; PyTorch's default workspaces. */
static void test_process(void **state)
{
	struct vc_gpu a10 = { .compute_capability = 86, .usable_bytes = 23686000000 };

	(void)state;
	assert_u64(device_context_bytes(&h100), 510ull << 20);
	assert_near((double)device_context_bytes(&rtx_4090) / GIB, 0.44, 7.0);
	assert_near((double)device_context_bytes(&a10) / GIB, 0.26, 15.0);
	assert_u64(device_blas_workspace_bytes(&h100), 32ull << 20);
	assert_u64(device_blas_workspace_bytes(&a100_80), (8ull << 20) + (128 << 10));
	assert_u64(device_transformer_engine_workspace_bytes(&h100), 32ull << 20);
	assert_u64(device_transformer_engine_workspace_bytes(&a100_80), 4ull << 20);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usable),
		cmocka_unit_test(test_communication),
		cmocka_unit_test(test_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
