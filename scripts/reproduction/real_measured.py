"""Statistics of real drives, quoted with their source. Medians over the passes of a measurement; nothing of the measurement files themselves.

HAAS: G. Haas, B. Lee, P. Bonnet, V. Leis, "SSD-iq: Uncovering the Hidden Side of SSD Performance", PVLDB 18(11), 2025; data: github.com/gabriel-haas/ssdiq-pub,
snapshot 8a0a3f4336. STONET: data of a study of I/O schedulers, github.com/stonet-research/icpe24_io_scheduler_study_artifact, snapshot 013f1e1569.
REVIEWS: texts of TechPowerUp and KitGuru, the page beside each figure.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Latency:
    """Under an offered rate: writes a second that were carried out; reads and writes in microseconds; largest over smallest of the passes."""

    writes: float
    read_mean: float
    read_p50: float
    read_p99: float
    write_mean: float
    write_p50: float
    write_p99: float
    repeats_mean: float
    repeats_p99: float


SATURATED = 200_000  # so much was offered where the drive was saturated

# HAAS: thousand writes a second offered; at 10,000 probes a second beside them, half of them reads.
MICRON_7450 = {
    10: Latency(9953, 73, 65, 160, 10, 9, 14, 1.00, 1.01),
    20: Latency(19843, 79, 65, 260, 33, 9, 873, 1.01, 1.04),
    30: Latency(29771, 85, 74, 316, 120, 9, 2797, 1.00, 1.01),
    40: Latency(39667, 98, 75, 371, 388, 9, 6577, 1.08, 1.07),
    50: Latency(49566, 136, 76, 1594, 663, 10, 9049, 1.03, 1.45),
    60: Latency(59421, 262, 84, 3983, 1192, 10, 10611, 1.12, 1.02),
    70: Latency(69337, 115, 106, 413, 1255, 10, 5957, 1.02, 1.01),
    80: Latency(79242, 122, 108, 423, 1614, 10, 5231, 1.01, 1.00),
    90: Latency(89140, 132, 116, 440, 1921, 1063, 4645, 1.01, 1.00),
    100: Latency(99075, 142, 123, 457, 2343, 3656, 4200, 1.03, 1.02),
    110: Latency(108934, 156, 138, 482, 2898, 3512, 3707, 1.02, 1.01),
    200: Latency(116978, 166, 144, 490, 3306, 3308, 3368, 1.00, 1.01),
}
SOLIDIGM_P5520 = {
    10: Latency(9950, 72, 70, 256, 9, 8, 26, 1.01, 1.03),
    20: Latency(19846, 113, 116, 364, 10, 8, 56, 1.01, 1.03),
    30: Latency(29751, 129, 116, 400, 11, 8, 85, 1.01, 1.03),
    40: Latency(39636, 137, 117, 414, 10, 8, 54, 1.01, 1.01),
    50: Latency(49555, 144, 118, 424, 10, 8, 39, 1.01, 1.01),
    60: Latency(59440, 152, 124, 436, 10, 8, 41, 1.01, 1.00),
    70: Latency(69364, 160, 134, 450, 11, 8, 43, 1.01, 1.01),
    80: Latency(79234, 167, 142, 460, 12, 8, 54, 1.01, 1.01),
    90: Latency(89165, 170, 145, 466, 13, 9, 64, 1.01, 1.01),
    100: Latency(99046, 167, 140, 466, 14, 9, 74, 1.01, 1.01),
    110: Latency(108973, 164, 135, 462, 22, 9, 115, 1.01, 1.00),
    200: Latency(121267, 531, 408, 2021, 2333, 2090, 6684, 1.12, 1.22),
}
SAMSUNG_PM9A3 = {
    10: Latency(9954, 75, 64, 237, 11, 11, 14, 1.00, 1.03),
    20: Latency(19860, 84, 71, 277, 12, 11, 14, 1.01, 1.01),
    30: Latency(29739, 95, 73, 317, 12, 11, 14, 1.00, 1.01),
    40: Latency(39642, 105, 89, 349, 12, 11, 14, 1.00, 1.01),
    50: Latency(49552, 116, 104, 370, 14, 12, 43, 1.00, 1.02),
    60: Latency(59418, 127, 108, 387, 20, 14, 80, 1.00, 1.01),
    70: Latency(69325, 135, 114, 381, 44, 23, 296, 1.01, 1.02),
    200: Latency(76544, 956, 904, 2204, 3356, 3373, 4047, 1.00, 1.00),
}

# HAAS, uniform writes of 4 KiB within a span of the 7450 MAX, the rest empty: GiB to (write amplification of the last fifth by the media counter,
# thousand writes a second). Runs of 372 GiB: 1.10 and 1.11, 313 and 307.
MICRON_SPANS = {745: (1.89, 159), 670: (1.60, 192), 596: (1.41, 224), 521: (1.28, 258), 447: (1.18, 281), 372: (1.105, 310)}
MICRON_MEDIA = 1.0245  # media bytes over host bytes while it is filled in order

# HAAS, skewed writes to a full drive, shuffled over it: fio's words of the distribution (or the part of the drive that gets all) to thousand writes a second.
MICRON_SKEW = {
    "zoned:40/60:60/40": 158.0, "zoned:30/70:70/30": 150.1, "zoned:20/80:80/20": 140.2, "zoned:10/90:90/10": 135.7, "zoned:5/95:95/5": 110.5, "50 %": 157.7,
    "zipf:0.4": 154.8, "zipf:0.6": 149.6, "zipf:0.8": 143.4,
}
SOLIDIGM_SKEW = {"zipf:0.8": 123.6}


@dataclass(frozen=True)
class Course:
    """HAAS: a drive filled in order and then overwritten uniformly. Bandwidths in MB/s, means over 1.2 % of the capacity, places in drives overwritten;
    `points`: means around places of the course."""

    media: float  # factor of the media counter that the emulator has nothing for
    fill: float
    amplification: float
    before: float
    cliff: float
    trough: float
    final: float
    depth: float
    shortest_depth: float
    shortest: float  # share of the drive that these means are over
    recovered: float
    highest: float
    highest_at: float
    points: dict


MICRON_COURSE = Course(
    MICRON_MEDIA, 1459, 1.89, 1452, 0.443, 459, 653, 0.70, 0.70, 0.005, 0.76, 724, 0.98,
    {0.05: 1453, 0.15: 1450, 0.25: 1448, 0.35: 1447, 0.40: 1458, 0.42: 1458, 0.44: 1219, 0.46: 539, 0.48: 462, 0.50: 462, 0.52: 476, 0.54: 490, 0.56: 504, 0.58: 516,
     0.60: 529, 0.65: 554, 0.70: 605, 0.75: 616, 0.80: 645, 0.85: 674, 0.90: 695, 0.95: 719, 1.00: 713, 1.05: 696, 1.10: 676, 1.15: 650, 1.20: 628, 1.25: 633,
     1.30: 640, 1.40: 653, 1.60: 656, 1.80: 653},
)  # fmt: skip
SOLIDIGM_COURSE = Course(
    1.0, 2030, 3.53, 1699, 0.180, 340, 493, 0.69, 0.57, 0.005, 0.35, 586, 0.46,
    {0.05: 1699, 0.10: 1698, 0.15: 1699, 0.17: 1701, 0.18: 696, 0.19: 353, 0.20: 372, 0.22: 398, 0.24: 349, 0.26: 361, 0.28: 379, 0.30: 402, 0.32: 425, 0.34: 448,
     0.36: 480, 0.38: 492, 0.40: 521, 0.42: 546, 0.44: 565, 0.46: 585, 0.48: 572, 0.50: 523, 0.52: 488, 0.55: 466, 0.60: 474, 0.65: 484, 0.70: 491, 0.80: 501,
     0.90: 499, 1.00: 493, 1.20: 493, 1.40: 492},
)  # fmt: skip

# STONET: 4 KiB random reads of a 980 PRO 1 TB; outstanding reads to (thousand reads a second, mean, p50, p99 in microseconds of completion
# latency). The figures of the set with several jobs (one day) with the fewest reads per job, because one job reaches the limit of its core at 380,000 a second.
SAMSUNG_980PRO = {
    1: (14.5, 66.0, 64.3, 78),
    2: (29.3, 65.4, 64.3, 89),
    4: (59.0, 65.4, 61.7, 102),
    8: (116.1, 66.8, 62.2, 115),
    16: (218.8, 71.1, 66.0, 136),
    32: (379.9, 82.3, 74.2, 187),
    64: (574.7, 109.6, 89.6, 297),
    128: (728.7, 173.6, 138.2, 569),
    256: (775.2, 328.4, 264.2, 1122),
}
# The same job on another day: outstanding reads to thousand reads a second (the set over block sizes).
SAMSUNG_980PRO_ANOTHER_DAY = {1: 18.2, 2: 39.8, 4: 64.2, 8: 95.5, 16: 141.7, 32: 259.1}
DAYS = 1.47  # largest ratio between the two days
