/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver of UARTs, with a PL011, against a model of the device: with a FIFO of 16 bytes that the line empties,
 * and as QEMU has it, where the FIFO never fills and each write raises the transmit interrupt at
 * once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MKPERF_UART_MODEL
static uint32_t get(unsigned reg);
static void set(unsigned reg, uint32_t value);

#include "pd/client/uart_line.c" // NOLINT(bugprone-suspicious-include)

enum {
    UARTDR = 0x00,
    UARTFR = 0x18,
    UARTLCR_H = 0x2c,
    UARTCR = 0x30,
    UARTIFLS = 0x34,
    UARTIMSC = 0x38,
    UARTICR = 0x44,

    FR_RXFE = 1 << 4,
    FR_TXFF = 1 << 5,
    CR_UARTEN = 1 << 0,
    CR_TXE = 1 << 8,
    INT_RX = 1 << 4,
    INT_TX = 1 << 5,
    INT_RT = 1 << 6,
};

enum { DEPTH = 16, LEVEL = 2, STREAM = 5000 };

static struct {
    bool emulated;
    uint32_t raw, mask, control, line_control;
    unsigned tx, rx; /* bytes in the FIFOs */
    uint8_t rx_byte[DEPTH];
    uint8_t sent[STREAM];
    unsigned nsent;
    unsigned polls; /* reads of the flags since a byte moved */
} m;

static uint32_t get(unsigned reg)
{
    switch (reg) {
    case UARTFR:
        assert_true(m.polls++ < 3); /* a further poll would be waiting */
        return (uint32_t)(m.rx == 0 ? FR_RXFE : 0) |
               (uint32_t)(!m.emulated && m.tx == DEPTH ? FR_TXFF : 0);
    case UARTDR: {
        uint8_t byte = m.rx_byte[0];
        if (m.rx == 0) {
            assert_int_equal(m.mask, 0); /* only while it starts */
            return 0;
        }
        memmove(m.rx_byte, m.rx_byte + 1, --m.rx);
        m.polls = 0;
        return byte | 0x800; /* and an overrun, which is not part of the byte */
    }
    default:
        fail_msg("read of register 0x%x", reg);
        return 0;
    }
}

static void set(unsigned reg, uint32_t value)
{
    switch (reg) {
    case UARTDR:
        assert_true(m.emulated || m.tx < DEPTH);
        assert_true(m.control & CR_UARTEN && m.control & CR_TXE);
        m.sent[m.nsent++] = (uint8_t)value;
        m.tx++;
        m.polls = 0;
        if (m.emulated) {
            m.tx = 0;
            m.raw |= INT_TX;
        } else if (m.tx > LEVEL) {
            m.raw &= ~(uint32_t)INT_TX;
        }
        break;
    case UARTLCR_H:
        m.line_control = value;
        break;
    case UARTCR:
        m.control = value;
        break;
    case UARTIFLS:
        assert_int_equal(value, 0);
        break;
    case UARTIMSC:
        m.mask = value;
        break;
    case UARTICR:
        m.raw &= ~value;
        break;
    default:
        fail_msg("write of register 0x%x", reg);
    }
}

/* The line takes one byte. */
static void shift_out(void)
{
    if (m.tx > 0 && --m.tx == LEVEL) {
        m.raw |= INT_TX;
    }
}

static void shift_in(uint8_t byte)
{
    assert_true(m.rx < DEPTH);
    m.rx_byte[m.rx++] = byte;
    m.raw |= INT_RX;
}

static const struct mkperf_transport *const t = &mkperf_uart_line;

static int reset(void **state)
{
    (void)state;
    memset(&m, 0, sizeof m);
    m.mask = 0x7ff;
    m.raw = 0x7ff;
    t->init();
    return 0;
}

static void test_init(void **state)
{
    (void)state;
    assert_int_equal(m.mask, INT_RX | INT_RT);
    assert_int_equal(m.raw, 0);
    assert_int_equal(m.line_control, 0x70); /* 8 bits, FIFOs on */
    assert_int_equal(m.control, 0x301);
}

/* Sends a stream as main.c does, and finds all of it on the line. */
static unsigned send_all(void)
{
    uint8_t stream[STREAM];
    size_t at = 0;
    unsigned interrupts = 0;

    for (unsigned i = 0; i < STREAM; i++) {
        stream[i] = (uint8_t)(i * 7);
    }
    m.polls = 0;
    at += t->write(stream, STREAM);
    t->more(at < STREAM);
    while (at < STREAM) {
        if (!m.emulated) {
            shift_out();
        }
        if (m.raw & m.mask) {
            interrupts++;
            m.polls = 0;
            t->interrupt();
            at += t->write(stream + at, STREAM - at);
            t->more(at < STREAM);
        } else {
            assert_true(m.tx > 0); /* idle and no interrupt will come: stuck */
        }
    }
    assert_int_equal(m.nsent, STREAM);
    assert_memory_equal(m.sent, stream, STREAM);
    assert_false(m.mask & INT_TX); /* nothing to send, no interrupts */
    return interrupts;
}

static void test_slow_line(void **state)
{
    (void)state;
    assert_true(send_all() <= STREAM / (DEPTH - LEVEL) + 1);
}

static void test_emulated(void **state)
{
    (void)state;
    m.emulated = true;
    assert_true(send_all() <= STREAM / CHUNK + 1);
}

static void test_read(void **state)
{
    (void)state;
    m.polls = 0;
    assert_int_equal(t->read(), -1);
    for (unsigned i = 0; i < 10; i++) {
        shift_in((uint8_t)(0xf8 + i));
    }
    assert_true(m.raw & m.mask);
    t->interrupt();
    assert_int_equal(m.raw, 0);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(t->read(), (uint8_t)(0xf8 + i));
    }
    assert_int_equal(t->read(), -1);
    shift_in(1); /* after the last read: calls again */
    assert_true(m.raw & m.mask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_init, reset),
        cmocka_unit_test_setup(test_slow_line, reset),
        cmocka_unit_test_setup(test_emulated, reset),
        cmocka_unit_test_setup(test_read, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
