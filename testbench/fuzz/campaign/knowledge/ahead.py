"""What is fetched ahead of reads in order."""


def draw(d):
    f, ahead = d.facts, "firmware.read_ahead"
    if not d.chance(0.25):
        d.leave_out(ahead)
        return
    d.choose(ahead)
    d.section(ahead, 0.7, window=[2 * f.unit, 7 * f.unit, 32 * f.unit], streams=[1, 3, 16], after=[1, 2, 5])
