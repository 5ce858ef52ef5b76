/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A virtio network device behind virtio-mmio (Virtio 1.1: 4.2 the registers, 2.6 the split queues,
 * 5.1 the device), as QEMU's virt machine has it. The device must support version 1.0 or later
 * (QEMU: -global virtio-mmio.force-legacy=false).
 *
 * Owns: the device whose registers are virtio_net_offset bytes into the page `mkperf_nic_regs`, and
 * the memory `mkperf_nic_dma`, which it reads and writes by physical address. The driver does not
 * trust the device, and bounds a buffer's number and length before it uses them. Names contain
 * virtio, so that a profile shows the driver's share.
 */
#include <microkit.h>

#include "nic.h"
#include "virtio_regs.h"

uintptr_t mkperf_nic_regs;     /* a page of up to eight devices, uncached (setvar_vaddr) */
uintptr_t mkperf_nic_dma;      /* MKPERF_NIC_DMA_BYTES (setvar_vaddr) */
uint64_t mkperf_nic_dma_paddr; /* where that is (setvar region_paddr) */

enum registers {
    MAGIC = 0x000,
    VERSION = 0x004,
    DEVICE_ID = 0x008,
    DRIVER_FEATURES = 0x020,
    DRIVER_FEATURES_SEL = 0x024,
    DEVICE_FEATURES = 0x010,
    DEVICE_FEATURES_SEL = 0x014,
    QUEUE_SEL = 0x030,
    QUEUE_NUM_MAX = 0x034,
    QUEUE_NUM = 0x038,
    QUEUE_READY = 0x044,
    QUEUE_NOTIFY = 0x050,
    INTERRUPT_STATUS = 0x060,
    INTERRUPT_ACK = 0x064,
    STATUS = 0x070,
    QUEUE_DESC = 0x080, /* This and the next two have a low and a high word. */
    QUEUE_DRIVER = 0x090,
    QUEUE_DEVICE = 0x0a0,
    CONFIG = 0x100,
    DEVICES_PAGE = 0x1000,
    DEVICE_BYTES = 0x200,
};

enum values {
    MAGIC_VALUE = 0x74726976, /* "virt" */
    MODERN = 2,
    NETWORK = 1,
    ACKNOWLEDGE = 1,
    DRIVER = 2,
    DRIVER_OK = 4,
    FEATURES_OK = 8,
    FEATURE_MAC = 1 << 5,
    FEATURE_VERSION_1 = 1 << 0, /* a bit of the features' upper word */
    DESC_WRITE = 2,
    NO_INTERRUPT = 1,
};

/* This PD's channels: the device's interrupt, and the ticker. */
enum channels { CHANNEL_DEVICE = 0, CHANNEL_TICK = 2 };

enum sizes {
    ENTRIES = 64, /* entries of each queue; a power of two */
    BUFFER = 2048,
    HEADER = 12, /* struct virtio_net_hdr; nothing of it is used */
    SHIFT = 6,   /* Frames begin at lwIP's offset (ETH_PAD_SIZE), so that copies are by words. */
    QUEUE_BYTES = 4096,
    RX = 0,
    TX = 1,
};

struct descriptor {
    uint64_t address;
    uint32_t bytes;
    uint16_t flags;
    uint16_t next;
};

struct available {
    uint16_t flags;
    uint16_t index;
    uint16_t ring[ENTRIES];
};

struct used {
    uint16_t flags;
    uint16_t index;
    struct {
        uint32_t id;
        uint32_t bytes;
    } ring[ENTRIES];
};

/* A page: the three parts where the device expects them, by our choice of addresses. */
struct queue {
    struct descriptor descriptor[ENTRIES];
    struct used used;
    struct available available;
};

_Static_assert(sizeof(struct queue) <= QUEUE_BYTES, "queue");
_Static_assert(2 * QUEUE_BYTES + 2 * ENTRIES * BUFFER <= MKPERF_NIC_DMA_BYTES, "DMA region");

static uintptr_t device; /* address of the device's registers */
static uint16_t seen[2]; /* used entries taken */
static uint16_t sent;    /* frames given to the device */
static int held = -1;    /* the received buffer that must be given back */

static struct queue *queue(unsigned q)
{
    return (struct queue *)(mkperf_nic_dma + q * (uintptr_t)QUEUE_BYTES);
}

static uint32_t buffer_offset(unsigned q, unsigned i)
{
    return 2 * QUEUE_BYTES + (q * ENTRIES + i) * BUFFER + SHIFT;
}

static uint8_t *buffer(unsigned q, unsigned i)
{
    return (uint8_t *)(mkperf_nic_dma + buffer_offset(q, i));
}

static void set_address(unsigned reg, const void *part)
{
    uint64_t at = mkperf_nic_dma_paddr + ((uintptr_t)part - mkperf_nic_dma);

    virtio_set(device, reg, (uint32_t)at);
    virtio_set(device, reg + 4, (uint32_t)(at >> 32));
}

static void make_available(unsigned q, unsigned i)
{
    struct available *a = &queue(q)->available;

    a->ring[a->index % ENTRIES] = (uint16_t)i;
    __atomic_store_n(&a->index, (uint16_t)(a->index + 1), __ATOMIC_RELEASE);
}

static bool set_queue(unsigned q)
{
    virtio_set(device, QUEUE_SEL, q);
    if (virtio_get(device, QUEUE_NUM_MAX) < ENTRIES) {
        return false;
    }
    virtio_set(device, QUEUE_NUM, ENTRIES);
    *queue(q) = (struct queue){0}; /* after a warm reset, memory has its old contents */
    for (unsigned i = 0; i < ENTRIES; i++) {
        queue(q)->descriptor[i] = (struct descriptor){
            .address = mkperf_nic_dma_paddr + buffer_offset(q, i),
            .bytes = BUFFER - SHIFT,
            .flags = q == RX ? DESC_WRITE : 0,
        };
    }
    /* Sent buffers are reclaimed when they are needed. */
    queue(q)->available.flags = q == TX ? NO_INTERRUPT : 0;
    set_address(QUEUE_DESC, queue(q)->descriptor);
    set_address(QUEUE_DRIVER, &queue(q)->available);
    set_address(QUEUE_DEVICE, &queue(q)->used);
    virtio_set(device, QUEUE_READY, 1);
    return true;
}

/* Finds the first network device of the page. Returns whether there is one. */
static bool find_device(void)
{
    for (uintptr_t at = 0; at < DEVICES_PAGE; at += DEVICE_BYTES) {
        device = mkperf_nic_regs + at;
        if (virtio_get(device, MAGIC) == MAGIC_VALUE && virtio_get(device, VERSION) == MODERN &&
            virtio_get(device, DEVICE_ID) == NETWORK) {
            return true;
        }
    }
    return false;
}

static bool negotiate(void)
{
    virtio_set(device, STATUS, 0);
    virtio_set(device, STATUS, ACKNOWLEDGE | DRIVER);
    virtio_set(device, DEVICE_FEATURES_SEL, 0);
    uint32_t offered = virtio_get(device, DEVICE_FEATURES);
    virtio_set(device, DRIVER_FEATURES_SEL, 0);
    virtio_set(device, DRIVER_FEATURES, offered & FEATURE_MAC);
    virtio_set(device, DRIVER_FEATURES_SEL, 1);
    virtio_set(device, DRIVER_FEATURES, FEATURE_VERSION_1);
    virtio_set(device, STATUS, ACKNOWLEDGE | DRIVER | FEATURES_OK);
    return (offered & FEATURE_MAC) != 0 && (virtio_get(device, STATUS) & FEATURES_OK) != 0;
}

static bool virtio_init(uint8_t mac[6])
{
    if (!find_device() || !negotiate() || !set_queue(RX) || !set_queue(TX)) {
        return false;
    }
    for (unsigned i = 0; i < 6; i++) {
        mac[i] = virtio_get8(device, CONFIG + i);
    }
    for (unsigned i = 0; i < ENTRIES; i++) {
        make_available(RX, i);
    }
    virtio_set(device, STATUS, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK);
    virtio_set(device, QUEUE_NOTIFY, RX);
    return true;
}

/* Buffers are sent in turn, and come back in turn. */
static uint8_t *virtio_room(void)
{
    uint16_t done = __atomic_load_n(&queue(TX)->used.index, __ATOMIC_ACQUIRE);

    return (uint16_t)(sent - done) < ENTRIES ? buffer(TX, sent % ENTRIES) + HEADER : NULL;
}

static void virtio_send(size_t n)
{
    unsigned i = sent % ENTRIES;
    uint8_t *header = buffer(TX, i);

    for (unsigned b = 0; b < HEADER; b++) {
        header[b] = 0;
    }
    queue(TX)->descriptor[i].bytes = (uint32_t)(HEADER + n);
    make_available(TX, i);
    sent++;
}

static void virtio_kick(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    virtio_set(device, QUEUE_NOTIFY, TX);
}

static const uint8_t *virtio_receive(size_t *n)
{
    struct used *u = &queue(RX)->used;

    if (held >= 0) {
        make_available(RX, (unsigned)held);
        held = -1;
    }
    if (seen[RX] == __atomic_load_n(&u->index, __ATOMIC_ACQUIRE)) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        virtio_set(device, QUEUE_NOTIFY, RX);
        return NULL;
    }
    uint32_t id = u->ring[seen[RX] % ENTRIES].id % ENTRIES;
    uint32_t bytes = u->ring[seen[RX] % ENTRIES].bytes;
    seen[RX]++;
    held = (int)id;
    *n = bytes < HEADER ? 0 : (bytes < BUFFER - SHIFT ? bytes : BUFFER - SHIFT) - HEADER;
    return buffer(RX, id) + HEADER;
}

static void virtio_interrupt(void)
{
    virtio_set(device, INTERRUPT_ACK, virtio_get(device, INTERRUPT_STATUS));
}

static enum mkperf_nic_event virtio_event(unsigned channel)
{
    if (channel == CHANNEL_TICK) {
        return MKPERF_NIC_TICK;
    }
    return channel == CHANNEL_DEVICE ? MKPERF_NIC_FRAMES : MKPERF_NIC_NOTHING;
}

static void virtio_done(unsigned channel)
{
    if (channel == CHANNEL_DEVICE) {
        microkit_irq_ack(channel);
    }
}

const struct mkperf_nic mkperf_nic = {
    .tick_ms = 1000,
    .event = virtio_event,
    .done = virtio_done,
    .init = virtio_init,
    .room = virtio_room,
    .send = virtio_send,
    .kick = virtio_kick,
    .receive = virtio_receive,
    .interrupt = virtio_interrupt,
};
