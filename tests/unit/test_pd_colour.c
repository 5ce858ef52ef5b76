/* SPDX-License-Identifier: BSD-2-Clause */
/* The colours of PDs: stable, far apart for all eyes, and black text is legible on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "base/colour.h"

static double linear(uint32_t byte)
{
    double c = (double)byte / 255;

    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* How protanopes, deuteranopes and tritanopes see linear light (Machado and others, 2009). */
enum { EYES = 4 };
static const double sight[EYES][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868},
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968},
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779},
     {-0.078411, 0.930809, 0.147602},
     {0.004733, 0.691367, 0.303900}},
};

static double cube(double t)
{
    return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static void lab(uint32_t colour, unsigned eye, double out[3])
{
    double in[3] = {linear(colour >> 16), linear(colour >> 8 & 255), linear(colour & 255)}, c[3];

    for (int i = 0; i < 3; i++) {
        c[i] = 0;
        for (int k = 0; k < 3; k++) {
            c[i] += sight[eye][i][k] * in[k];
        }
        c[i] = fmin(1, fmax(0, c[i]));
    }
    double x = cube((0.4124 * c[0] + 0.3576 * c[1] + 0.1805 * c[2]) / 0.9505);
    double y = cube(0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]);
    double z = cube((0.0193 * c[0] + 0.1192 * c[1] + 0.9505 * c[2]) / 1.089);
    out[0] = 116 * y - 16;
    out[1] = 500 * (x - y);
    out[2] = 200 * (y - z);
}

static double distance(uint32_t a, uint32_t b, unsigned eye)
{
    double p[3], q[3];

    lab(a, eye, p);
    lab(b, eye, q);
    return sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
}

static void test_distinguishable(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MKPERF_PD_COLOURS; i++) {
        double light[3];

        lab(mkperf_pd_palette[i], 0, light);
        assert_true(light[0] > 55); /* contrast of black on it: at least 6 to 1 */
        for (unsigned k = 0; k < i; k++) {
            for (unsigned eye = 0; eye < EYES; eye++) {
                assert_true(distance(mkperf_pd_palette[i], mkperf_pd_palette[k], eye) > 9);
            }
        }
    }
}

/* A colour depends on the name, not on the place or on who is there. */
static void test_stable(void **state)
{
    const char *all[] = {"net", "driver", "idle", "storage"}, *other[] = {"storage", "net"};
    uint32_t a[4], b[2];

    (void)state;
    mkperf_pd_colours(all, 4, a);
    mkperf_pd_colours(other, 2, b);
    assert_int_equal(a[0], b[1]);
    assert_int_equal(a[3], b[0]);
    assert_int_equal(a[2], MKPERF_COLOUR_IDLE);
}

/* The PDs of a small system: colours are farther apart than any two of the palette are. */
static void test_few(void **state)
{
    const char *few[] = {"known",  "dummy1", "dummy2", "requester",
                         "server", "pacer",  "client", "profiler"};
    const unsigned n = sizeof few / sizeof *few;
    uint32_t colour[sizeof few / sizeof *few];

    (void)state;
    mkperf_pd_colours(few, n, colour);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < i; k++) {
            for (unsigned eye = 0; eye < EYES; eye++) {
                assert_true(distance(colour[i], colour[k], eye) > (eye == 0 ? 30 : 18));
            }
        }
    }
}

static void test_twenty(void **state)
{
    char name[60][16];
    const char *names[60];
    uint32_t colour[60];

    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        snprintf(name[i], sizeof name[i], "component%u", i);
        names[i] = name[i];
    }
    mkperf_pd_colours(names, MKPERF_PD_COLOURS, colour);
    for (unsigned i = 0; i < MKPERF_PD_COLOURS; i++) {
        for (unsigned k = 0; k < i; k++) {
            assert_int_not_equal(colour[i], colour[k]);
        }
    }
    mkperf_pd_colours(names, 60, colour); /* more than there are: each is used again */
    for (unsigned i = 0; i < MKPERF_PD_COLOURS; i++) {
        unsigned n = 0;
        for (unsigned k = 0; k < 60; k++) {
            n += colour[k] == mkperf_pd_palette[i];
        }
        assert_in_range(n, 2, 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distinguishable),
        cmocka_unit_test(test_stable),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_twenty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
