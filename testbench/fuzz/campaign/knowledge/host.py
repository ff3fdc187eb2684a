"""Protocol, link and queues. `facts.lba` is the logical block, `facts.queues` the number of queue pairs."""


def draw(d):
    host, f = "ssd.host", d.facts
    sata = d.chance(0.2)
    if sata:
        d.put(host, "protocol", "sata")
        d.put(host, "link", d.pick("sata3", "sata6"))
    elif d.chance(0.5):
        d.put(host, "link", f"pcie{d.whole(1, 6)}x{d.pick(1, 2, 4, 8, 16)}")
    f.lba = d.put(host, "lba_size", d.pick(512, 4096, 4096))
    queues = d.put(host, "queues", d.whole(1, 6)) if d.chance(0.5) else d.get(host, "queues")
    f.queues = 1 if sata else queues
    if d.chance(0.2):
        d.put(host, "arbitration", "weighted")
        if d.chance(0.95):
            d.put(host, "weights", [d.whole(1, 16) for _ in range(f.queues)])
    d.section(host, 0.15, leave=("protocol", "link", "queues", "weights", "arbitration"),
              queue_depth=[1, 2, 8, 32, 64, 1024], max_transfer=[65536, 2**18, 2**20, 2**21],
              max_payload=[128, 256, 512], max_read_request=[128, 256, 512, 1024, 2048, 4096],
              outstanding_limit=[0, 1, 4, 64])
    f.max_transfer = d.get(host, "max_transfer")
