/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of the harness's model that PMUv2 and PMUv3 share: they have the same registers under
 * different names. Included by their tests after the model `m`, model_counts and model_misuse;
 * ARM_PMU is the back-end.
 */
#ifndef MKPERF_TEST_PMU_MODEL_ARM_H
#define MKPERF_TEST_PMU_MODEL_ARM_H

static bool model_enabled(unsigned counter)
{
    return m.enabled >> counter & 1 && m.pmcr & 1;
}

static void model_run(unsigned counter, uint32_t events)
{
    if (model_enabled(counter)) {
        uint32_t value = (uint32_t)m.value[counter];
        m.overflow |= value + events < value ? UINT32_C(1) << counter : 0;
        m.value[counter] = value + events;
    }
}

static uint32_t model_get(unsigned counter)
{
    return (uint32_t)m.value[counter];
}

static void model_set(unsigned counter, uint32_t value)
{
    m.value[counter] = value;
}

static uint32_t model_take_overflow(void)
{
    uint32_t taken = m.overflow & 0x7fffffff;

    m.overflow &= UINT32_C(0x80000000);
    return taken;
}

static const struct pmu_model model = {
    .pmu = &ARM_PMU,
    .counters = COUNTERS,
    .reset = reset,
    .run = model_run,
    .enabled = model_enabled,
    .counts = model_counts,
    .get = model_get,
    .set = model_set,
    .take_overflow = model_take_overflow,
    .misuse = model_misuse,
    .good = {0x11, 0x08},
    .bad = 0x04,
};

#endif
